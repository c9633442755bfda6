"""Writes a round as a sheet: a column for each rater, or a row for each answer."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from faultatlas.annotation import labels
from faultatlas.annotation.labels import Stage
from faultatlas.annotation.settling import settlements
from faultatlas.annotation.sheets.layout import AFTER, BEFORE, LEGEND, LONG
from faultatlas.data.errors import StudyError
from faultatlas.data.identity import url_of
from faultatlas.data.sheets import WORKBOOKS, csv_text, safe_cell, workbook_text
from faultatlas.data.taxonomy_changes import version_key

if TYPE_CHECKING:
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader

_LONGEST_CELL = 32_767  # of a workbook
_BEGINNING = (1980, 1, 1, 0, 0, 0)  # of time, to zip files


class About(NamedTuple):
    """Which item a row is about."""

    item: str
    url: str
    title: str
    stratum: str


@dataclass(frozen=True)
class Exported:
    """What stands in a sheet."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    legend: tuple[tuple[str, ...], ...] = ()  # a second sheet of a workbook: the codes
    choices: tuple[str, ...] = ()  # offered in the column `codes`, where one may be chosen


def wide(reader: Reader, of: Round, stage: Stage, version: str) -> Exported:
    """A row for each item: who it is, what each rater said at a stage, what became final.

    All of it in one version of the taxonomy: what was said and settled in others is elsewhere.
    """
    said = {
        (row["item_id"], row["rater"]): ";".join(row["codes"])
        for row in _answers(reader, of, (stage,))
        if row["taxonomy_version"] == version
    }
    items = items_of(reader, of)
    raters = [*of.raters, *sorted({rater for _item, rater in said} - {*of.raters})]
    finals = _finals(reader, of, version)
    taken = sorted({*BEFORE, *AFTER} & {*raters})
    if taken:
        raise StudyError(
            f"a rater is called {taken[0]!r}, as a column of the sheet is", "Export it with --long."
        )
    rows = [
        (
            *about,
            stage,
            *(said.get((about.item, rater), "") for rater in raters),
            *finals.get(about.item, ("", "")),
        )
        for about in items
    ]
    return Exported((*BEFORE, *raters, *AFTER), tuple(rows))


def elsewhere(reader: Reader, of: Round, stage: Stage, version: str) -> int:
    """How many answers of a stage were given in other versions of the taxonomy."""
    rows = _answers(reader, of, (stage,))
    return sum(row["taxonomy_version"] != version for row in rows)


def _finals(reader: Reader, of: Round, version: str) -> dict[str, tuple[str, str]]:
    rows = reader.rows(
        "SELECT item_id, codes, settled_by FROM store.settlement "
        f"WHERE round = ? AND taxonomy = ? AND taxonomy_version = ? AND {settlements.HOLDS}",
        [of.name, of.taxonomy, version],
    )
    return {
        row["item_id"]: (";".join(row["codes"]), row["settled_by"]) for row in rows if row["codes"]
    }


def long(reader: Reader, of: Round, stages: Sequence[Stage]) -> Exported:
    """A row for each answer that holds, with all that was noted."""
    return Exported(LONG, tuple(long_rows(reader, of, stages)))


def long_rows(reader: Reader, of: Round, stages: Sequence[Stage]) -> list[tuple[str, ...]]:
    """The rows of such a sheet."""
    about = {row.item: row for row in items_of(reader, of)}
    return [
        (
            *about[row["item_id"]],
            row["rater"],
            row["stage"],
            ";".join(row["codes"]),
            "" if row["confidence"] is None else _digits(row["confidence"]),
            row["comment"] or "",
            row["proposed"] or "",
            row["labelled_at"].isoformat() if row["labelled_at"] else "",
            row["taxonomy_version"],
        )
        for row in _answers(reader, of, stages)
    ]


def _digits(value: float) -> str:
    """A number as short as it can be without losing any of it."""
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


def write_sheet(exported: Exported, path: Path, *, replace: bool | None = None) -> None:
    """Write a sheet by the end of the file's name; one that may be filled in is not replaced.

    With None the command has no option `--replace` that could be proposed.
    """
    suffix = path.suffix.lower()
    if suffix not in {".csv", *WORKBOOKS[:1]}:
        raise StudyError(
            f"{path} is neither .csv nor .xlsx", "Name the file sheet.csv or sheet.xlsx."
        )
    if path.exists() and not replace:
        raise StudyError(
            f"{path} is there already",
            "Somebody may have filled it in: choose another name"
            + ("." if replace is None else ", or add --replace."),
        )
    table = (exported.columns, *exported.rows)
    content = _csv(table) if suffix == ".csv" else _workbook(table, exported)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def items_of(reader: Reader, of: Round) -> list[About]:
    """The items of a round, in its order."""
    rows = reader.rows(
        "SELECT item_id, item.artifact_id, any_value(title) AS title, stratum FROM store.item "
        "LEFT JOIN artifacts ON artifacts.artifact_id = item.artifact_id WHERE round = ? "
        "GROUP BY item_id, item.artifact_id, stratum, position ORDER BY position",
        [of.name],
    )
    return [
        About(
            row["item_id"],
            url_of(row["artifact_id"]) or "",
            " ".join((row["title"] or "").split()),
            row["stratum"],
        )
        for row in rows
    ]


def _answers(reader: Reader, of: Round, stages: Sequence[Stage]) -> list[dict[str, Any]]:
    """The answers that hold, with the versions of one in their order."""
    rows = reader.rows(
        "SELECT answer.* EXCLUDE (run_id) FROM store.answer JOIN store.item "
        "USING (round, item_id) LEFT JOIN store.round_rater r USING (round, rater) "
        f"WHERE round = ? AND list_contains(?, stage) AND len(codes) > 0 AND {labels.HOLDS} "
        "ORDER BY item.position, stage, r.position, rater",
        [of.name, list(stages)],
    )
    order = {key: number for number, key in enumerate(dict.fromkeys(map(_whose, rows)))}
    return sorted(rows, key=lambda row: (order[_whose(row)], version_key(row["taxonomy_version"])))


def _whose(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["item_id"], row["stage"], row["rater"]


def _csv(table: Iterable[Sequence[str]]) -> bytes:
    # With a byte order mark, without which Excel takes UTF-8 for something else.
    return csv_text(table).encode("utf-8-sig", errors="backslashreplace")


def _workbook(table: Sequence[Sequence[str]], exported: Exported) -> bytes:
    from openpyxl import Workbook
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook(write_only=True)
    sheet = book.create_sheet("labels")
    sheet.freeze_panes = "B2"
    for row in table:
        for cell in row:
            if len(safe_cell(cell)) > _LONGEST_CELL:
                raise StudyError(
                    f"a text has more than {_LONGEST_CELL:,} characters, too many for a workbook",
                    "Export as .csv.",
                )
        sheet.append([workbook_text(safe_cell(cell)) for cell in row])
    if exported.legend:
        codes = book.create_sheet(LEGEND)
        for row in exported.legend:
            codes.append([workbook_text(safe_cell(cell)) for cell in row])
    if exported.choices:
        # A list that a cell offers may have 255 characters; so it is taken from the other sheet.
        offered = DataValidation(
            "list", formula1=f"={LEGEND}!$A$2:$A${len(exported.legend)}", showErrorMessage=False
        )
        column = get_column_letter(exported.columns.index("codes") + 1)
        offered.add(f"{column}2:{column}{len(table)}")
        sheet.data_validations.append(offered)
    written = io.BytesIO()
    book.save(written)
    return _timeless(written)


def _timeless(written: io.BytesIO) -> bytes:
    """The workbook without the time of writing: the same labels give the same bytes."""
    result = io.BytesIO()
    with (
        zipfile.ZipFile(written) as source,
        zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for member in sorted(
            source.namelist(), key=lambda name: (name != "[Content_Types].xml", name)
        ):
            content = source.read(member)
            if member == "docProps/core.xml":
                content = re.sub(rb">\d{4}-\d\d-\d\dT[\d:.]+Z<", b">1980-01-01T00:00:00Z<", content)
            target.writestr(
                zipfile.ZipInfo(member, _BEGINNING), content, compress_type=zipfile.ZIP_DEFLATED
            )
    return result.getvalue()
