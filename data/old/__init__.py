"""What packages that are not rewritten yet still need."""
