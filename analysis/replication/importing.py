"""Brings the public package of a study into the study: its rows as they are, then its rounds.

A folder stands for the whole package: what is no longer in it is no longer in the study.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.analysis.replication.locating import located
from faultatlas.analysis.replication.package import Package
from faultatlas.annotation.sheets.command import import_sheets
from faultatlas.annotation.sheets.confirming import table_path
from faultatlas.annotation.sheets.spellings import Proposal, table_text
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.sheets import MOST_BYTES, RawRow, raw_rows
from faultatlas.report.formatting import counted, plain

if TYPE_CHECKING:
    from faultatlas.analysis.replication.figures import PublishedStudy, RoundPlan, Wanted
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Study, Writer


@dataclass
class Imported:
    """What an import did."""

    files: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    problems: list[str] = field(default_factory=list)  # rounds that could not be brought in
    notes: list[str] = field(default_factory=list)

    @property
    def is_anything_new(self) -> bool:
        """Whether the study changed."""
        return bool(self.new or self.changed or self.gone)

    def told(self) -> Iterator[str]:
        """For people."""
        words = {"changed": self.changed, "no longer there": self.gone}
        said = [f"{len(self.new):,} new"] if self.new else []
        said += [f"{word}: {', '.join(names)}" for word, names in words.items() if names]
        yield f"{counted(len(self.files), 'file')} of the package: {'; '.join(said) or 'as before'}"
        yield from self.notes


@dataclass(frozen=True)
class _File:
    path: Path
    wanted: Wanted
    digest: str
    size: int


def import_package(study: Study, of: PublishedStudy, folder: Path) -> Imported:
    """Store the files of a package that are new or changed, then its rounds of labels."""
    found = {name: _opened(*each) for name, each in located(folder, of.files).items()}
    if not found:
        raise StudyError(
            f"{folder} has no file of {of.name}",
            "It looks for: " + ", ".join(each.places[0] for each in of.files) + ".",
        )
    run = provenance.begin(
        "analysis replicate", {"study": of.name, "from": str(folder), "files": sorted(found)}
    )
    before = _stored(study, of.name)
    done = Imported(
        files=tuple(sorted(found)),
        new=tuple(sorted(found.keys() - before.keys())),
        changed=tuple(
            sorted(name for name in found.keys() & before if found[name].digest != before[name])
        ),
        gone=tuple(sorted(before.keys() - found.keys())),
    )
    if done.is_anything_new:
        rows = {
            name: raw_rows(found[name].path, encoding=found[name].wanted.encoding)
            for name in (*done.new, *done.changed)
        }
        with study.writing() as writer:
            provenance.record(writer, run, "ok")
            for name in (*done.changed, *done.gone):
                _remove(writer, of.name, name)
            for name, lines in rows.items():
                _put(writer, of.name, name, found[name], lines, run=run)
    _import_rounds(study, of, found, done)
    return done


def _import_rounds(
    study: Study, of: PublishedStudy, found: Mapping[str, _File], done: Imported
) -> None:
    """Labels, as `annotation import` takes them.

    What was settled or decided is never overwritten: a round that refuses what is new stays as it
    is, and is named.
    """
    for plan in of.rounds:
        raters = [each.rpartition("=") for each in plan.files]
        if not all(name in found for _rater, _sign, name in raters):
            continue
        paths = [f"{rater}{sign}{found[name].path}" for rater, sign, name in raters]
        try:
            _put_spellings(study, of, plan)
            said = import_sheets(
                study, plan.name, paths, plan.asked,
                taxonomy_name=plan.taxonomy, otherwise=plan.otherwise, stage=plan.stage,
                accept=plan.accept,
            )  # fmt: skip
        except StudyError as error:
            done.problems.append(f"{plan.name}: {error.message}")
            continue
        done.notes += said.notes


def _put_spellings(study: Study, of: PublishedStudy, plan: RoundPlan) -> None:
    """The table of spellings of a round, where the study has one: it is there to be looked at."""
    if plan.spellings is None:
        return
    with study.reading() as reader:
        meant = plan.spellings(Package(reader, of.name))
    rows = [Proposal(text, 0, code, "as the package has it") for text, code in meant.items()]
    table = table_path(study.directory, plan.name)
    table.parent.mkdir(parents=True, exist_ok=True)
    table.write_text(table_text(rows), encoding="utf-8", newline="")


def _opened(path: Path, wanted: Wanted) -> _File:
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise StudyError(
                f"{path} is larger than {MOST_BYTES // 1024**2} MB",
                "It is none of the published files: name the folder of the package.",
            )
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise StudyError(
            f"{plain(path)} cannot be read: {error.strerror}", "Check the folder."
        ) from error
    return _File(path, wanted, digest, size)


def _stored(study: Study, package: str) -> dict[str, str]:
    if not study.exists:
        return {}
    with study.reading() as reader:
        rows = reader.rows("SELECT file, digest FROM package_files WHERE package = ?", [package])
    return {row["file"]: row["digest"] for row in rows}


def _remove(writer: Writer, package: str, file: str) -> None:
    for table in ("store.package_row", "store.package_file"):
        writer.execute(f"DELETE FROM {table} WHERE package = ? AND file = ?", [package, file])


def _put(
    writer: Writer, package: str, name: str, file: _File, lines: list[RawRow], *, run: Run
) -> None:
    import pyarrow as pa

    writer.execute(
        "INSERT INTO store.package_file VALUES (?, ?, ?, ?, ?)",
        [package, name, file.digest, file.size, run.run_id],
    )
    if lines:
        sheets, numbers, cells = zip(*lines, strict=True)
        columns = {
            "sheet": list(sheets),
            "line": pa.array(numbers, pa.int32()),
            "cells": [json.dumps(each, ensure_ascii=False) for each in cells],
        }
        same = {"package": package, "file": name, "run_id": run.run_id}
        columns |= {key: [value] * len(lines) for key, value in same.items()}
        arrow_rows.insert(writer, "store.package_row", pa.table(columns))
