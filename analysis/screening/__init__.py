"""What became of papers, from the records of searches to those that are included."""
