"""What the package of the high-priority defects gives: labels, found defects, mutations."""
