"""Environments: interpreters of this host, and what a bug's requirements install into them."""
