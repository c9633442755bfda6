"""What a study is made of: store, identities, taxonomies, evidence.

Knows no network and no command line.
"""
