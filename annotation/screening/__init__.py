"""Papers: screened step by step, then coded, with the places that bear the codes out."""
