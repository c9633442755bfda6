"""Claims, the numbers of reports: listed, checked, named in LaTeX, exported."""
