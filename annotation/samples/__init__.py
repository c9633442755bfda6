"""Samples: what is drawn, from what, by which rule."""
