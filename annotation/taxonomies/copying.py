"""Copies a shipped taxonomy into the study, where it can be changed."""

from __future__ import annotations

from pathlib import Path

from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy_library import TaxonomyLibrary


def copy_shipped(directory: Path, name: str) -> Path:
    """The file in the study; one that is there already is left as it is."""
    shipped = TaxonomyLibrary()
    if name not in shipped.names:
        if name in TaxonomyLibrary(directory).names:
            raise StudyError(
                f"{name!r} is the study's own taxonomy: taxonomies/{name}.yaml",
                "It can be changed where it is.",
            )
        raise StudyError(f"no taxonomy {name!r} is shipped", f"Known: {', '.join(shipped.names)}.")
    text = shipped.taxonomy(name).path.read_bytes()
    path = directory / "taxonomies" / f"{name}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as file:
            file.write(text)
    except FileExistsError:
        raise StudyError(
            f"{path} is there already",
            f"Change that one; what differs from the shipped one: annotation taxonomy diff {name}",
        ) from None
    return path


def next_steps(name: str, path: Path) -> list[str]:
    """What is done with a copy."""
    return [
        f"1. change {path} and raise its `version`",
        f"2. annotation taxonomy diff {name}     proposes the `changes` lines",
        f"3. annotation taxonomy migrate {name}  takes the study there",
        "until it is changed, it counts as the shipped one",
    ]
