"""One file a study question, found by discovery: `NAME`, `run(...) -> Result`, `command`."""
