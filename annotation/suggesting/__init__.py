"""What a model makes of the labels so far."""
