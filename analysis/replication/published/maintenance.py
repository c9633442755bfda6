"""Maintaining neural networks: interviews. It has no public data that gives its counts."""

from __future__ import annotations

from faultatlas.analysis.replication.figures import PrintedOnly, PublishedStudy

STUDY = PublishedStudy(
    name="maintenance",
    title="Maintaining neural networks: challenges and tools, interviews",
    source="maintenance",
    figures=(PrintedOnly("K114"),),
)
