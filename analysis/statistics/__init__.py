"""Pure functions on numbers and arrays. Imports nothing of ours, so that everyone may use it."""
