"""Looking after what a study has: forgetting, copying, joining."""
