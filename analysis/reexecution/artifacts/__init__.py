"""Bugs on disk: a folder each, with `bug.toml`; read, written, validated, hashed."""
