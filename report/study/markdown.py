"""The report as Markdown (CommonMark with tables), for a repository or an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from faultatlas.data.old.results import Claim, Table
from faultatlas.report import formatting
from faultatlas.report.formatting import NUMERIC_KINDS
from faultatlas.report.sections import Point
from faultatlas.report.study.layout import PlacedSection, glance
from faultatlas.report.tables import filled

MOST_ROWS = 100  # of a table; its file has them all
LONGEST_CELL = 300

# Whatever could become markup, a link or HTML. Dots and hyphens matter only at a line's start.
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~&$@])")


def escape(text: str) -> str:
    """A text of strangers as Markdown that shows it."""
    plain = formatting.plain(text)
    # An address of ours stands alone; one of strangers must not become a link by itself.
    inert = re.sub(r"(?i)\b(https?|ftp|www)(?=[:.])", "\\1\N{ZERO WIDTH NON-JOINER}", plain)
    escaped = _SPECIAL.sub(r"\\\1", inert)
    # A rule or a list only at the start of a line.
    return re.sub(r"^(\s*)(-|=|\d+(?=[.)]\s))", _apart, escaped)


def _apart(found: re.Match[str]) -> str:
    blank, mark = found.groups()
    return f"{blank}{mark}\N{ZERO WIDTH NON-JOINER}" if mark.isdigit() else f"{blank}\\{mark}"


def render(title: str, lead: Sequence[str], sections: Sequence[PlacedSection]) -> str:
    """The whole report."""
    lines = [f"# {escape(title)}", ""]
    for sentence in lead:
        lines += [_sentence(sentence), ""]
    seen = glance(sections)
    lines += _items(f"**{escape(each.title)}**: {_sentence(each.text)}" for each in seen)
    for placed in sections:
        lines += _section(placed, 2)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(placed: PlacedSection, level: int) -> Iterator[str]:
    section = placed.section
    yield from (f"{'#' * level} {escape(section.title)}", "")
    for sentence in section.text:
        yield from (_sentence(sentence), "")
    yield from _items(_point(each.point) for each in placed.points)
    if placed.claims:
        yield from _claims([each.claim for each in placed.claims])
    for figure in placed.figures:
        words = escape(f"Figure {figure.number}. {figure.figure.title}")
        told = escape(figure.figure.description)
        yield from (f"![{told}]({figure.file}.svg)", "", f"{words}.", "")
    for table in placed.tables:
        yield from (f"**Table {table.number}.** {escape(table.table.title)}", "")
        yield from _table(table.table, table.file)
    yield from _items(map(_sentence, (*section.notes, *section.sources)))
    for part in placed.parts:
        yield from _section(part, level + 1)


def _items(items: Iterable[str]) -> Iterator[str]:
    lines = [f"- {item}" for item in items]
    yield from (*lines, "") if lines else ()


def _point(point: Point) -> str:
    command = f" Next: {_code(point.command)}." if point.command else ""
    return f"**{escape(point.title)}**: {_sentence(point.text)}{command}"


def _claims(claims: Sequence[Claim]) -> Iterator[str]:
    yield from ("| Number | Value | Interval | Id |", "|---|--:|--:|---|")
    for claim in claims:
        value = formatting.measure(claim.value, claim.unit)
        if counts := formatting.counts(claim):
            value += f" ({counts})"
        ends = formatting.interval(claim.low, claim.high, claim.unit)
        cells = (_cell(claim.statement), _cell(value), _cell(ends), _code(claim.claim_id))
        yield f"| {' | '.join(cells)} |"
    yield ""


def _table(table: Table, file: str) -> Iterator[str]:
    table = filled(table)
    columns = table.columns
    yield f"| {' | '.join(_cell(column.title) for column in columns)} |"
    marks = ("--:" if column.kind in NUMERIC_KINDS else "---" for column in columns)
    yield f"|{'|'.join(marks)}|"
    for row in table.rows[:MOST_ROWS]:
        cells = (
            _cell(formatting.cell(value, column.kind))
            for column, value in zip(columns, row, strict=True)
        )
        yield f"| {' | '.join(cells)} |"
    yield ""
    told = [_sentence(table.note)] if table.note else []
    if len(table.rows) > MOST_ROWS:
        number = formatting.count(len(table.rows))
        told.append(f"The first {MOST_ROWS} of {number} rows; [all of them]({file}.csv).")
    if told:
        yield from (" ".join(told), "")


def _cell(text: str) -> str:
    short = text if len(text) <= LONGEST_CELL else text[: LONGEST_CELL - 1].rstrip() + "…"
    return escape(short)


def _sentence(text: str) -> str:
    """A sentence; what stands in backquotes is a command."""
    parts = formatting.plain(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(_code(part) if at % 2 else escape(part) for at, part in enumerate(parts))


def _code(text: str) -> str:
    plain = formatting.plain(text).replace("|", "\N{BOX DRAWINGS LIGHT VERTICAL}")
    longest = max((len(run) for run in re.findall("`+", plain)), default=0)
    fence = "`" * (longest + 1)
    room = " " if longest else ""
    return f"{fence}{room}{plain}{room}{fence}"
