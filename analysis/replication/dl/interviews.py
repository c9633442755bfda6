"""What the interviews and the survey of practitioners gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from faultatlas.analysis.replication.agreeing import share
from faultatlas.analysis.replication.dl import sheets
from faultatlas.analysis.replication.dl.sheets import ACCEPTED, CODING, REJECTED, TAGS
from faultatlas.analysis.replication.figures import Also, Found, Value
from faultatlas.analysis.replication.package import Package, number_of
from faultatlas.analysis.tallies.naming import word
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Cell, Column, Table

ANSWERS = "participant_info_and_responses.xlsx"
_HALF = 50.0
_YES, _NO = "yes", "no"


def tags(package: Package) -> Found:
    """Mentions that were accepted, their tags, and mentions that were rejected."""
    sheet = sheets.sheet_of(package, TAGS)
    tag, number, status = (sheet.column(name) for name in ("tag", "number", "status"))
    counts: dict[str, list[int]] = {ACCEPTED: [], REJECTED: []}
    for _line, cells in sheet.rows:
        said = cells[status] if len(cells) > status else None
        if said in counts and cells[tag]:
            counts[said].append(int(number_of(cells[number]) or 0))
    where = {said: sheet.where(f"cells[{status + 1}] = '{said}'") for said in (ACCEPTED, REJECTED)}
    coded = Counter(row.status for row in sheets.mentions(package))
    return Found(
        (
            Value("accepted", sum(counts[ACCEPTED]), "mentions", files=(TAGS,),
                  rows=where[ACCEPTED]),
            Value("tags", len(counts[ACCEPTED]), "tags", files=(TAGS,), rows=where[ACCEPTED]),
            Value("rejected", sum(counts[REJECTED]), "mentions", files=(TAGS,),
                  rows=where[REJECTED]),
        ),
        note=f"the open coding has {coded[ACCEPTED]} accepted and {coded[REJECTED]} rejected ones",
    )  # fmt: skip


def per_interview(package: Package) -> Found:
    """The least, the most and the average number of accepted mentions in an interview."""
    rows = sheets.mentions(package)
    accepted = _by_interview(rows, (ACCEPTED,))
    where = sheets.sheet_of(package, CODING).where(
        sheets.lines([row for row in rows if row.status == ACCEPTED])
    )
    distinct = [
        len({row.leaf for row in rows if row.interview == each and row.status == ACCEPTED})
        for each in accepted
    ]
    with_rejected = _by_interview(rows, (ACCEPTED, REJECTED)).values()
    return Found(
        tuple(
            Value(key, value, "mentions", files=(CODING,), rows=where)
            for key, value in zip(("min", "max", "average"), _three(accepted.values()), strict=True)
        ),
        note=f"accepted mentions in {len(accepted)} interviews",
        readings=f"with rejected mentions {_told(with_rejected)}; distinct leaves "
        f"{_told(distinct)}",
    )


def _by_interview(rows: tuple[sheets.Mention, ...], statuses: tuple[str, ...]) -> Counter[str]:
    found = Counter({row.interview: 0 for row in rows})
    found.update(row.interview for row in rows if row.status in statuses)
    return found


def _three(counts: Iterable[int]) -> tuple[float, float, float]:
    numbers = list(counts)
    if not numbers:
        raise StudyError(f"{CODING} has no interview", "Look at its column Interview Num.")
    return min(numbers), max(numbers), sum(numbers) / len(numbers)


def _told(counts: Iterable[int]) -> str:
    return " / ".join(f"{each:.4g}" for each in _three(counts))


def experienced(package: Package) -> Found:
    """The categories of faults that at least half of those who answered have met."""
    asked = answers(package)
    often = [name for name, value in asked.items() if float(value.value) >= _HALF]
    return Found(
        (
            Value("experienced", len(often), "categories", len(often), len(asked)),
            Value("asked", len(asked), "categories"),
        ),
        text=f"{len(often)} of {len(asked)}",
        note="of those who answered yes or no",
    )


def answers(package: Package) -> dict[str, Value]:
    """For each category of faults the share of the participants who have met it."""
    sheet = sheets.sheet_of(package, ANSWERS)
    person = sheet.column("responseid")
    people = [
        (line, [(cell or "").strip().casefold() for cell in cells])
        for line, cells in sheet.rows
        if len(cells) > person and cells[person] and not str(cells[person]).startswith("{")
    ]
    found: dict[str, Value] = {}
    for at, name in enumerate(sheet.names):
        said = [(line, cells[at]) for line, cells in people if at < len(cells) and cells[at]]
        yes = [line for line, each in said if each == _YES]
        if not said or {each for _line, each in said} - {_YES, _NO}:
            continue  # a question of another kind
        inside = ", ".join(map(str, [line for line, _each in said]))
        found[name] = share(
            f"experienced.{word(name)}", len(yes), len(said),
            files=(ANSWERS,), rows=sheet.where(f"line IN ({inside})"),
            statement=f"Share (%) of the participants who have met faults of {name!r}",
        )  # fmt: skip
    return found


def shown(package: Package) -> Also:
    """The answers of the participants by category."""
    if not package.names(ANSWERS):
        return Also()
    found = answers(package)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (name, value.count, value.total, value.value, value.low, value.high)
        for name, value in found.items()
    )
    columns = (
        Column("category", "Category"),
        Column("yes", "Have met it", "count"),
        Column("answered", "Answered", "count"),
        Column("percent", "Share", "percent"),
        Column("low", "95 % from", "percent"),
        Column("high", "to", "percent"),
    )
    table = Table("experienced", "Faults that participants have met", columns, rows)
    return Also(tuple(found.values()), (table,))
