"""Which types of defects testing tools find, and which none finds."""
