"""Class names in the glossary are in the code, but for those with a star."""

from __future__ import annotations

import ast
import re

from documenting import ROOT

_PACKAGES = ("analysis", "annotation", "data", "miner", "report")
_CLASS = re.compile(r"`([A-Z]\w+)`(?!\*)")


def _defined() -> set[str]:
    """Classes, and names of types such as `Ratings = Mapping[...]`."""
    names = set()
    for package in _PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    names.add(node.name)
                elif isinstance(node, ast.Assign):
                    names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def test_class_names_of_the_glossary_are_in_the_code() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    named = {
        name
        for row in glossary.splitlines()
        if row.startswith("|")
        for name in _CLASS.findall(row.rstrip("| ").rpartition("|")[2])
    }
    assert len(named) > 30
    assert named - _defined() == set()
