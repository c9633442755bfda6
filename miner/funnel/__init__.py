"""The funnel: named steps that turn what was mined into the population of a study."""
