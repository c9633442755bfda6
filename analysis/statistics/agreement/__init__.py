"""Agreement between raters, as functions of arrays."""
