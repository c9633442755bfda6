"""Files of reference managers and indexes: BibTeX, RIS, CSV."""
