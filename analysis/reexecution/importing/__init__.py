"""What importers share: copying, reading scripts without running them, labels, versions."""
