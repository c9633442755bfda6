"""Studies without figures: to draw them is most of the time that a report takes."""

from __future__ import annotations

from pathlib import Path

SETTINGS = "[report]\nfigures = false\n"


def undrawn(study: Path) -> Path:
    """This study's pages and reports have no drawings."""
    study.mkdir(parents=True, exist_ok=True)
    (study / "study.toml").write_text(SETTINGS, encoding="utf-8")
    return study
