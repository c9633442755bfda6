"""Replication packages: what a reader needs to check every number, and nothing about people."""
