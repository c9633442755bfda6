"""A new study from the rows and files of a package."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data import provenance, result_store
from faultatlas.data.database import STATEMENT_ERRORS
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.old.results import Result
from faultatlas.data.provenance import Run
from faultatlas.data.settings import SETTINGS, Settings
from faultatlas.data.study import Study
from faultatlas.report.formatting import plain
from faultatlas.report.package.policy import TABLES

if TYPE_CHECKING:
    import pyarrow as pa

_AT = datetime(2000, 1, 1)  # noqa: DTZ001  (UTC, as in the study; no clock may show in a package)


@dataclass(frozen=True)
class Content:
    """What a study in a package is made of: its rows by table, and its files by path."""

    tables: Mapping[str, pa.Table]
    files: Mapping[str, str] = field(default_factory=dict)  # study.toml, taxonomies/x.yaml


def load(directory: Path, content: Content) -> Study:
    """A new study there with this content."""
    for name, text in content.files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    study = Study(directory)
    try:
        with study.writing() as writer:
            for table in sorted(content.tables.keys() & TABLES.keys()):
                arrow_rows.insert(writer, f"store.{table}", content.tables[table])
    except STATEMENT_ERRORS as error:
        said = plain(str(error).partition("\n")[0])
        raise StudyError(
            f"the rows of the package do not fit a study: {said}",
            "It may be damaged, or made by another version: get it again.",
        ) from error
    return study


def store(study: Study, result: Result) -> None:
    """Store a result in such a study; who did it and when is always the same."""
    version = provenance.program_version()
    result_store.save(study, result, Run("package", "report package", {}, version, _AT))


def settings_text(settings: Settings) -> str:
    """What of the study's choices its results need."""
    lines = []
    if settings.title:
        lines += ["[study]", f"title = {_quoted(settings.title)}", ""]
    agreement: dict[str, str | float | None] = {
        "statistic": settings.statistic,
        "threshold": settings.threshold,
        "scale": settings.scale,
    }
    lines.append("[agreement]")
    lines += [
        f"{key} = {_quoted(value) if isinstance(value, str) else value}"
        for key, value in agreement.items()
        if value is not None
    ]
    return "\n".join([*lines, ""])


def own_files(directory: Path, settings: Settings) -> dict[str, str]:
    """The study's choices, its taxonomies and crosswalks."""
    found = {SETTINGS: settings_text(settings)}
    for folder in ("taxonomies", "crosswalks"):
        for path in sorted((directory / folder).glob("*.yaml")):
            try:
                found[f"{folder}/{path.name}"] = path.read_text(encoding="utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                raise StudyError(
                    f"{path} cannot be read: {plain(error)}", "It is a text file in UTF-8."
                ) from None
    return found


def _quoted(text: str) -> str:
    """A basic string of TOML: that of JSON, but for one sign."""
    return json.dumps(text).replace("\x7f", "\\u007f")
