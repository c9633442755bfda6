"""The statistics of agreement: a module each, found by discovery.

A module says its `name`, `title` and `source`, and has `estimate` and `resampling` as
`coding.Statistic` wants them.
"""
