"""Searches of repositories beyond the 1,000 results that a source gives."""
