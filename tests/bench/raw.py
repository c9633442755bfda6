"""The raw numbers of a run as JSON, and the parts of an earlier run out of it.

A run takes long: with `--json FILE` a part can be measured again, and the others are taken from
the file. Both ways of a line are always of the same run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.measured import Line, Target
from bench.parts import PARTS, Part, Untold


def document(parts: Sequence[Part], facts: Mapping[str, str], version: str) -> dict[str, Any]:
    """All numbers."""
    return {"version": version, "machine": dict(facts), "parts": [asdict(each) for each in parts]}


def earlier(file: Path, facts: Mapping[str, str], version: str) -> dict[str, Part]:
    """The parts of a file by their names; none of another version or another machine."""
    if not file.exists():
        return {}
    found = json.loads(file.read_text(encoding="utf-8"))
    if (found["version"], found["machine"]) != (version, dict(facts)):
        return {}
    return {each["name"]: _part(each) for each in found["parts"]}


def joined(new: Sequence[Part], old: Mapping[str, Part]) -> list[Part]:
    """Each part once, the new one if there is one, in the order of the table."""
    known = {**old, **{part.name: part for part in new}}
    return sorted(known.values(), key=lambda part: list(PARTS).index(part.name))


def _part(row: dict[str, Any]) -> Part:
    return Part(**{**row, "lines": [_line(each) for each in row["lines"]]})


def _line(row: dict[str, Any]) -> Line | Untold:
    if "reason" in row:
        return Untold(**row)
    figures = {"ours": tuple(row["ours"]), "other": tuple(row["other"])}
    target = Target(**row["target"]) if row["target"] else None
    return Line(**{**row, **figures, "target": target})
