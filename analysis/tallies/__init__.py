"""Counts, shares and groups: what distribution, association, comparison and trend are made of."""
