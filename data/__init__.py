"""What a study is made of: store, identities, taxonomies, shipped evidence. No network, no command line."""
