"""The report of a whole study: one page, LaTeX, Markdown, CSV and JSON of its sections."""
