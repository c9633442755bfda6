"""The package of the taxonomy of real faults: what its sheets have, and what follows from it."""
