"""Rounds before the first label: who labels what, in which order, and what must hold before."""
