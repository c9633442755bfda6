"""`miner commits`: what a git repository's history says, read from a clone."""
