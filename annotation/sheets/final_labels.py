"""Brings settled labels of earlier work into a study: one sheet, one code an item.

What raters said one by one is not read here, only the column with the final code.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from data import provenance
from data.errors import StudyError
from data.identity import artifact_id
from data.taxonomy import Taxonomy

if TYPE_CHECKING:
    from data.provenance import Run
    from data.store import Study

_MOST_SHOWN = 5
_AS_CSV = "Save it as CSV in UTF-8."
_SEPARATOR = ";"  # between codes in a cell, where the taxonomy allows several


@dataclass(frozen=True)
class FinalLabel:
    """The code that an item ended with."""

    item_id: str
    artifact_id: str
    code: str


@dataclass(frozen=True)
class Sheet:
    """What sheets say: labels, and what is remarkable about them."""

    labels: tuple[FinalLabel, ...]
    rows: int
    unlabelled: int  # rows without a final code
    repeated: tuple[str, ...]  # artifacts that stand in several rows


@dataclass(frozen=True)
class Imported:
    """What an import did."""

    stored: int
    known: int  # labels that the round had already


def read_sheets(
    paths: Sequence[Path], *, item_column: str, final_column: str, taxonomy: Taxonomy
) -> Sheet:
    """Read and check sheets; every wrong cell is named with file and line, all at once.

    An artifact that stands in several rows of one sheet becomes several items; in several
    sheets it is the same item, as if the sheets were imported one after another.
    """
    labels: dict[str, list[FinalLabel]] = {}
    problems: list[str] = []
    repeated: set[str] = set()
    rows = unlabelled = 0
    for path in dict.fromkeys(paths):
        seen: Counter[str] = Counter()
        for line, row in _rows(path, (item_column, final_column)):
            rows += 1
            try:
                codes = _codes((row[final_column] or "").strip(), taxonomy)
                if not codes:
                    unlabelled += 1
                    continue
                artifact = artifact_id((row[item_column] or "").strip())
                seen[artifact] += 1
                item = artifact if seen[artifact] == 1 else f"{artifact}~{seen[artifact]}"
                _put_item(labels, item, [FinalLabel(item, artifact, code) for code in codes])
            except StudyError as error:
                problems.append(f"{path}:{line}: {error.message}")
        repeated.update(artifact for artifact, count in seen.items() if count > 1)
    if problems:
        more = len(problems) - _MOST_SHOWN
        shown = problems[:_MOST_SHOWN] + ([f"... and {more:,} more"] if more > 0 else [])
        raise StudyError(
            "\n".join(shown),
            f"Mend the sheet; the codes: annotation taxonomy show {taxonomy.name}; the items: "
            "annotation import --help. Nothing was stored.",
        )
    every = tuple(label for found in labels.values() for label in found)
    return Sheet(every, rows, unlabelled, tuple(sorted(repeated)))


def _put_item(labels: dict[str, list[FinalLabel]], item: str, found: list[FinalLabel]) -> None:
    if labels.setdefault(item, found) != found:
        raise StudyError(f"{item} has another code in another sheet")


def checked_round(name: str) -> str:
    """The name of a round, if it is one: it is typed, shown and chosen by."""
    if not name.strip() or name != name.strip() or not name.isprintable():
        raise StudyError(
            f"{name!r} is no name for a round", "Use letters and digits, such as pilot or round-1."
        )
    return name


def store_final_labels(
    study: Study, round_name: str, taxonomy: Taxonomy, labels: Iterable[FinalLabel], run: Run
) -> Imported:
    """Append labels to a round. What is there stays: another code for an item is refused."""
    import pyarrow as pa

    incoming = {(label.item_id, label.code): label for label in labels}
    said = _codes_of_items(incoming)
    with study.writing() as writer:
        rows = writer.rows(
            "SELECT item_id, code FROM final_labels WHERE round = ? AND taxonomy = ?",
            [round_name, taxonomy.name],
        )
        there = _codes_of_items((row["item_id"], row["code"]) for row in rows)
        for item, codes in said.items():
            if item in there and there[item] != codes:
                raise StudyError(
                    f"{item} has the final code {', '.join(sorted(there[item]))} in round "
                    f"{round_name!r}; the sheet says {', '.join(sorted(codes))}",
                    "Labels are never overwritten: choose another round name. Nothing was stored.",
                )
        new = [label for label in incoming.values() if label.item_id not in there]
        if new:
            provenance.record(writer, run, "ok")
            count = len(new)
            columns = {
                "round": [round_name] * count,
                "item_id": [label.item_id for label in new],
                "artifact_id": [label.artifact_id for label in new],
                "taxonomy": [taxonomy.name] * count,
                "taxonomy_version": [taxonomy.version] * count,
                "code": [label.code for label in new],
                "settled_by": ["imported"] * count,
                "run_id": [run.run_id] * count,
            }
            writer.insert("store.final_label", pa.table(columns))
    return Imported(len(new), len(incoming) - len(new))


def _codes_of_items(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    codes: dict[str, set[str]] = {}
    for item, code in pairs:
        codes.setdefault(item, set()).add(code)
    return codes


def _codes(text: str, taxonomy: Taxonomy) -> list[str]:
    """The codes that a cell names; one that is unknown or may not be chosen is refused."""
    parts = text.split(_SEPARATOR) if taxonomy.choice == "multiple" else [text]
    selectable = {node.code for node in taxonomy.selectable}
    codes = []
    for part in filter(None, map(str.strip, parts)):
        code = taxonomy.find(part)
        if code is None:
            raise StudyError(f"{part!r} is no code of {taxonomy.name}")
        if code not in selectable:
            raise StudyError(f"{part!r} is a category of {taxonomy.name}: a leaf is wanted")
        codes.append(code)
    return codes


def _rows(path: Path, columns: Sequence[str]) -> Iterable[tuple[int, dict[str, str | None]]]:
    reader = csv.DictReader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        there = list(reader.fieldnames or ())
        missing = [column for column in columns if column not in there]
        if missing:
            raise StudyError(
                f"{path}:1: there is no column {', '.join(map(repr, missing))}",
                f"Its columns: {', '.join(there) or 'none'}. Columns are separated by commas.",
            )
        for column in columns:
            if there.count(column) > 1:
                raise StudyError(
                    f"{path}:1: the column {column!r} stands twice", "Rename one of them."
                )
        for row in reader:
            yield reader.line_num, row
        if reader.line_num <= 1:
            raise StudyError(f"{path} has no rows below its header", "Check the file.")
    except csv.Error as error:
        line = reader.line_num + 1  # where the row starts: an open quote runs to the file's end
        raise StudyError(f"{path}:{line}: is no CSV: {error}", _AS_CSV) from error


def _text(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StudyError(f"{path} cannot be read: {error.strerror}", "Check the path.") from error
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise StudyError(f"{path}:{line}: is not UTF-8", _AS_CSV) from error
