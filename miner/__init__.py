"""Fetches issues, commits, posts and papers into a study."""
