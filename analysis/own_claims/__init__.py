"""Own claims: numbers that the user of a study binds in SQL."""
