"""Labels from and to spreadsheets."""
