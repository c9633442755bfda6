"""How values are written for a reader: one place for the page, LaTeX, figures and terminal.

Not for files that a program reads: CSV and JSON keep the exact values.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:  # every command imports this module, and the other one takes its time
    from faultatlas.data.old.results import Cell, Claim, ColumnKind

DASH = "\N{EN DASH}"
MISSING = DASH

NUMERIC_KINDS: frozenset[ColumnKind] = frozenset(
    {"count", "number", "percent", "points", "interval"}
)

_FILE_STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_BREAKS = re.compile(r"[\t\n\x0b\x0c\r\x85\u2028\u2029]+")

# Terminal escapes, characters that XML forbids, halves of surrogate pairs, and the
# explicit direction controls with which a text can be made to read as another one.
# Hebrew and Arabic need none of these controls; the plain marks U+200E and U+200F stay.
_UNSAFE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def plain(text: object) -> str:
    """The text on one line, with what could deceive a reader or a terminal made visible."""
    return _UNSAFE.sub("\ufffd", _BREAKS.sub(" ", str(text)))


def file_stem(name: str) -> str:
    """The name of a result, table or figure, once it is certain that it stays in its folder."""
    if not _FILE_STEM.fullmatch(name):
        raise StudyError(
            f"{plain(name)!r} cannot be the name of a file",
            "Name results, tables and figures with letters, digits, dots, dashes and underscores.",
        )
    return name


def count(value: float) -> str:
    """A whole number with thousands separators."""
    return f"{value or 0:,.0f}"  # never -0


def counted(value: int, one: str, several: str = "") -> str:
    """A number with its noun: 1 request, 2 requests."""
    return f"{count(value)} {one if value == 1 else several or f'{one}s'}"


def number(value: float) -> str:
    """A measured number: three decimals, fewer where it is large, more where it is tiny."""
    if isinstance(value, int):
        return count(value)
    if not math.isfinite(value):
        return _not_finite(value)
    if value and abs(value) < 0.001:
        return f"{value:.1e}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value or 0.0:.3f}"


def percent(value: float) -> str:
    """A percentage with one decimal: 47.9 %."""
    if not math.isfinite(value):
        return _not_finite(value)
    # The addition turns a rounded -0.0 into 0.0.
    return f"{round(value, 1) + 0.0:,.1f} %"


def points(value: float) -> str:
    """A difference of two percentages, in percentage points: +1.0 pp."""
    if not math.isfinite(value):
        return _not_finite(value)
    return f"{round(value, 1) + 0.0:+,.1f} pp"


def share(part: int, whole: int) -> str:
    """The percentage that a part is of a whole."""
    return percent(100 * part / whole) if whole else MISSING


def cell(value: Cell, kind: ColumnKind = "text") -> str:
    """A cell of a table, as its column's kind is written."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return plain(value)
    if kind == "count" and not (math.isfinite(value) and value == int(value)):
        return number(value)  # half a fault is no count, and is not rounded to one
    writers = {"count": count, "percent": percent, "points": points}
    return writers.get(kind, number)(value)


def is_percent(unit: str) -> bool:
    """Whether a unit means percent."""
    return unit.strip().lower() in {"%", "percent"}


def measure(value: float | None, unit: str = "") -> str:
    """A value with its unit: `47.9 %`, `0.817`, `52 papers`."""
    if value is None:
        return MISSING
    if is_percent(unit):
        return percent(value)
    whole = math.isfinite(value) and value == int(value)
    return f"{count(value) if whole else number(value)} {_behind(unit, value)}".strip()


def printed(value: float, unit: str = "") -> str:
    """A published value with the digits that it was published with: `48 %`, `46.9 %`."""
    whole = math.isfinite(value) and value == int(value)
    behind = "%" if is_percent(unit) else _behind(unit, value)
    return f"{count(value) if whole else value} {behind}".strip()


def interval(low: float | None, high: float | None, unit: str = "") -> str:
    """An interval with its unit once: `38.2` dash `57.8 %`, `-0.120 to 0.300`."""
    if low is None or high is None:
        return MISSING
    ends = [percent(end) if is_percent(unit) else number(float(end)) for end in (low, high)]
    first = ends[0].removesuffix(" %")
    joint = " to " if "-" in ends[0] + ends[1] else DASH
    suffix = "" if is_percent(unit) else f" {plain(unit)}".rstrip()
    return f"{first}{joint}{ends[1]}{suffix}"


def counts(claim: Claim) -> str:
    """What a number was counted from: `12 of 30`; a weighted share is another one than that."""
    if claim.count is None or claim.total is None:
        return ""
    told = f"{count(claim.count)} of {count(claim.total)}"
    return f"weighted, {told}" if "weighted" in claim.statement else told


def _behind(unit: str, value: float) -> str:
    """The unit as it stands behind a number; that of a probability is not written."""
    if value == 1 and unit in _NOUNS:
        return unit.removesuffix("s")
    return "" if unit == "p" else plain(unit)


# Units of which there may be one. Others stay as they are: `ms` is no plural.
_NOUNS = {
    "answers", "artifacts", "bugs", "codes", "commits", "defects", "faults", "interviews", "issues",
    "items", "labels", "papers", "posts", "projects", "questions", "raters", "records", "rounds",
    "rows", "values",
}  # fmt: skip


def _not_finite(value: float) -> str:
    return MISSING if math.isnan(value) else "∞" if value > 0 else "-∞"


def day(time: str | None) -> str:
    """The day of a time in ISO 8601; nothing for none."""
    return (time or "")[:10]


def local_time(moment: datetime, *, with_day: bool = False) -> str:
    """A moment of the study (UTC) as the clock on the wall shows it: for terminals, not files."""
    day_first = "%Y-%m-%d " if with_day else ""
    return format(moment.replace(tzinfo=UTC).astimezone(), f"{day_first}%H:%M %Z")


def minute(time: datetime | str | None) -> str:
    """Day, hour and minute of a moment of the study, as `local_time`; nothing for none."""
    if not time:
        return ""
    try:
        moment = datetime.fromisoformat(time) if isinstance(time, str) else time
    except ValueError:  # a file that came from elsewhere says something else
        return plain(time)
    return local_time(moment, with_day=True)
