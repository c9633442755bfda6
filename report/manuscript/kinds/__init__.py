"""The kinds of checks: a module each, found by discovery.

A module says its `NAME`, what it is `ABOUT` and its `FIELDS`, has an `EXAMPLE` (an entry that is
consistent), and `check(entry) -> Outcome`, which knows nothing but the entry.
"""
