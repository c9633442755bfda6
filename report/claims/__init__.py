"""List, check and export the numbers of reports."""
