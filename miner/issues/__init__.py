"""Issues with their comments and events: planned, fetched, verified."""
