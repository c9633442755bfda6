"""From what raters said to what the study uses."""
