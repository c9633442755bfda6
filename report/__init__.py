"""How anything is shown: console, tables, figures, pages."""
