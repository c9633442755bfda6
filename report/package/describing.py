"""What each file of a package is, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from faultatlas.report.package import archive, metadata, rows

# What the README lists, in its order.
FOLDERS: Mapping[str, str] = {
    "claims.json": "every number with its interval, its query and how it is computed again",
    "claims.csv": "the same numbers as a table",
    "report/": "the report of the study, as a page, Markdown, LaTeX and data",
    "data/": "the rows behind the numbers, for readers: Parquet and CSV",
    "study/": "the rows as the verification loads them, with own taxonomies and choices",
    "taxonomies/": "the taxonomies that labels were given with",
    "codebook.md": "categories with definitions; the columns of all tables",
    rows.IDS: "ids and addresses of all artifacts",
    "REFETCH.md": "commands that fetch their texts again",
    "ATTRIBUTION.md": "whose texts are in the package, and their licences",
    "datasheet.md": "Datasheets for Datasets, answered as far as the study can",
    "LICENSE": "under which licence all this is",
    metadata.CITATION: "how to cite it",
    metadata.ZENODO: "what Zenodo fills its form with",
    metadata.CRATE: "the package as an RO-Crate 1.1",
    archive.SUMS: "checksums of all files",
}


def described(names: Iterable[str], views: Mapping[str, str]) -> dict[str, str]:
    """By the name of each file what it is."""
    return {name: _said(name, views) for name in (*names, archive.SUMS)}


def _said(name: str, views: Mapping[str, str]) -> str:
    if name in FOLDERS:
        return FOLDERS[name].capitalize()
    path = PurePosixPath(name)
    folder = path.parts[0]
    if folder == "data":
        return views.get(path.stem, "")
    if folder == "study" and path.suffix == ".parquet":
        return f"Rows of the table {path.stem}, as the verification loads them"
    if folder == "taxonomies":
        return f"The taxonomy {path.stem}"
    said = {
        "README.md": "What the package is, how to verify it, and its claims",
        "report/index.html": "The report of the study as one page",
    }
    return said.get(name, FOLDERS.get(f"{folder}/", "").capitalize())
