"""faultatlas: empirical studies of machine-learning bugs.

This module imports nothing heavy: every command starts with it.
"""
