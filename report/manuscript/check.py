"""Claims files, and `report manuscript`: the printed numbers of a paper against each other.

A claims file (TOML) lists printed numbers with their places. Numbers are text, so that their digits
count. A field that a kind of check does not know is an error: a slip in the file must not look like
a number that was checked.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typer import Argument, Option

from faultatlas.data.errors import StudyError
from faultatlas.data.results import Column, Listing, Quantity, Result, Status, rows_of
from faultatlas.report import manuscript as package
from faultatlas.report.command import command
from faultatlas.report.console import Console, explained
from faultatlas.report.formatting import counted, plain
from faultatlas.report.manuscript import KINDS, EntryError, Kind, Outcome, Text, short
from faultatlas.report.manuscript.draft import draft as draft_claims
from faultatlas.report.published import Comparison, compare_all, follows

LARGEST_FILE = 1_000_000  # bytes
_DOCUMENTED = "docs/manuscript.md describes the format; report manuscript --kinds lists the kinds."
_CONTRADICTIONS: frozenset[Status] = frozenset({"does not follow", "inconsistent"})
_START = re.compile(r"^(?=[ \t]*\[\[[ \t]*claim[ \t]*\]\])", re.MULTILINE)


class Entry(BaseModel):
    """What every entry of a claims file may have, beside the fields of its kind."""

    model_config = ConfigDict(extra="forbid")

    id: Text
    kind: Text
    figure: Text = ""
    place: Text = ""
    what: Text = ""
    inputs: Literal["stated", "inferred"] = "stated"


class _ClaimsFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    study: str = ""
    title: str = ""
    source: Any = None
    claim: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=5_000)]


@dataclass(frozen=True)
class Finding:
    """An entry of a claims file, and what checking it showed."""

    study: str
    entry_id: str
    figure_id: str
    kind: str
    place: str
    what: str
    printed: str
    computed: str
    value: float | None
    status: Status
    reason: str
    rule: str

    @property
    def is_contradiction(self) -> bool:
        """Whether the printed numbers do not follow from each other."""
        return self.status in _CONTRADICTIONS


class FigureFinding(NamedTuple):
    """A published figure: all entries that name it together, with the reasons of the worst."""

    status: Status
    reason: str
    computed: str
    values: tuple[float | None, ...]


def by_figure(findings: Iterable[Finding]) -> dict[str, FigureFinding]:
    """The published figures that entries name, by id."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.figure_id, []).append(finding)
    figures = {}
    for name, rows in sorted(groups.items()):
        figure = compare_all([Comparison(row.status, row.reason) for row in rows])
        computed = " / ".join(row.computed for row in rows)
        values = tuple(row.value for row in rows)
        figures[name] = FigureFinding(figure.status, figure.reason, computed, values)
    figures.pop("", None)  # entries that name none
    return figures


# --- checking ----------------------------------------------------------------------------


@cache
def kinds() -> dict[str, Kind]:
    """Every kind of check by name, found in the modules of this package."""
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return dict(sorted(KINDS.items()))


@cache
def _models() -> dict[str, type[Entry]]:
    return {name: kind.model(Entry) for name, kind in kinds().items()}


@cache
def shipped_studies() -> tuple[str, ...]:
    """The studies whose printed numbers are shipped."""
    folder = files("faultatlas.data").joinpath("manuscripts")
    return tuple(sorted(Path(file.name).stem for file in folder.iterdir() if file.is_file()))


def check(path_or_name: Path | str) -> list[Finding]:
    """Every claim of a file, or of a shipped study, with its status, in the file's order."""
    if isinstance(path_or_name, str) and path_or_name in shipped_studies():
        file = files("faultatlas.data").joinpath("manuscripts", f"{path_or_name}.toml")
        return check_text(file.read_text(encoding="utf-8"), file.name, path_or_name)
    path = Path(path_or_name)
    if not path.exists():
        names = ", ".join(shipped_studies())
        raise StudyError(
            f"{path} does not exist", f"Name a claims file, or with --shipped one of: {names}."
        )
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise StudyError(f"{path} is larger than {LARGEST_FILE:,} bytes", "Split the file.")
        content = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise StudyError(f"{path} cannot be read: {reason}", _DOCUMENTED) from None
    return check_text(content, str(path), path.stem)


def check_text(content: str, where: str, name: str) -> list[Finding]:
    """Every claim of a text in TOML; `where` is its file in messages."""
    file = _claims_file(content, where)
    study = plain(file.study or name)
    findings: list[Finding] = []
    for index, fields in enumerate(file.claim):
        try:
            entry = _entry(fields, {finding.entry_id for finding in findings})
            findings.append(_finding(study, entry, fields))
        except (ArithmeticError, ValueError) as error:
            field = error.field if isinstance(error, EntryError) else ""
            place = f"{where}{_line(content, len(file.claim), index, field)}"
            raise _error(place, index, fields, error) from None
    return findings


def _claims_file(content: str, where: str) -> _ClaimsFile:
    try:
        document = tomllib.loads(content)
    except (ValueError, RecursionError) as error:
        is_known = isinstance(error, tomllib.TOMLDecodeError)  # else thousands of digits, brackets
        reason = str(error) if is_known else "this cannot be read as TOML"
        raise StudyError(f"{where}: {reason}", "Fix the line; text needs quotes.") from None
    if isinstance(document.get("claims"), dict):
        raise StudyError(
            f"{where}: this is a file for `analysis claims`", f"Run that, or see {_DOCUMENTED}"
        )
    try:
        return _ClaimsFile.model_validate(document)
    except ValidationError as error:
        _field, message = _in_words(error, "a claims file", list(_ClaimsFile.model_fields))
        raise StudyError(f"{where}: {message}", _DOCUMENTED) from None


def _entry(fields: Mapping[str, Any], ids: Collection[str]) -> Entry:
    """An entry as the model of its kind has it; `ids` are those of earlier entries."""
    name = fields.get("kind", "")
    if not isinstance(name, str) or name not in _models():
        raise EntryError(f"kind = {short(name)} is unknown; known: {', '.join(kinds())}", "kind")
    model = _models()[name]
    try:
        entry = model.model_validate(fields)
    except ValidationError as error:
        field, message = _in_words(error, name, list(model.model_fields))
        raise EntryError(message, field) from None
    if entry.id in ids:
        raise EntryError("the id is used twice", "id")
    return entry


def _in_words(error: ValidationError, owner: str, known: Sequence[str]) -> tuple[str, str]:
    """The field that is wrong, and what is wrong with it."""
    problems = error.errors()
    unknown = [str(row["loc"][0]) for row in problems if row["type"] == "extra_forbidden"]
    for name in unknown:
        if close := get_close_matches(name, known, n=1):
            return name, f"unknown field {name!r} of {owner}; did you mean {close[0]!r}?"
    if missing := [row for row in problems if row["type"] == "missing"]:
        return "", f"{owner} needs {missing[0]['loc'][0]}"
    if unknown:
        return unknown[0], f"unknown field {plain(unknown[0])!r} of {owner}"
    problem = problems[0]
    field, message = str(problem["loc"][0]), problem["msg"].removeprefix("Value error, ")
    if problem["type"] != "value_error":
        message = f"{short(problem['input'])}: {message[0].lower()}{message[1:]}"
    return field, f"{field}: {plain(message)}"


def _finding(study: str, entry: Entry, fields: Mapping[str, Any]) -> Finding:
    kind = kinds()[entry.kind]
    outcome: Outcome = kind.function(**{name: getattr(entry, name) for name in kind.parameters})
    printed = fields.get("printed", [])
    texts = printed if isinstance(printed, list) else [printed]
    return Finding(
        study=study, entry_id=entry.id, figure_id=entry.figure, kind=entry.kind,
        place=entry.place, what=entry.what, rule=kind.rule, reason=outcome.reason,
        printed=outcome.printed or " / ".join(map(str, texts)),
        computed=outcome.computed, value=outcome.value,
        status=follows(outcome.status, inferred=entry.inputs == "inferred"),
    )  # fmt: skip


def _error(place: str, index: int, fields: Mapping[str, Any], cause: Exception) -> StudyError:
    """The error with the place and the id of the entry."""
    name = fields.get("id")
    label = plain(name)[:100] if isinstance(name, str) else f"claim {index + 1}"
    reason = "" if isinstance(cause, EntryError) else "cannot be computed: "
    return StudyError(f"{place}: {label}: {reason}{cause}", _DOCUMENTED)


def _line(content: str, count: int, index: int, field: str) -> str:
    """`:12`, the line of a field, else of its entry; TOML's reader does not tell.

    Nothing where text looks like the start of an entry, so that they cannot be counted.
    """
    before, *entries = _START.split(content)
    if len(entries) != count:
        return ""
    earlier = before + "".join(entries[:index])
    start = re.compile(rf"\s*(?:{re.escape(field)}\s*=|\[\s*claim\.{re.escape(field)}\s*\])")
    lines = enumerate(entries[index].split("\n"))
    at = next((at for at, line in lines if field and start.match(line)), 0)
    return f":{earlier.count(chr(10)) + at + 1}"


# --- the command -------------------------------------------------------------------------

_COLUMNS = (
    Column("manuscript", "Manuscript"),
    Column("entry_id", "Claim", "code"),
    Column("figure_id", "Figure", "code", aside=True),
    Column("kind", "Kind", "code", aside=True),
    Column("what", "What", aside=True),
    Column("printed", "Printed"),
    Column("computed", "Computed"),
    Column("value", "Value", "number", aside=True),
    Column("status", "Status", "status"),
    Column("place", "Place", below=True),
    Column("reason", "Why", below=True),
)
_RULES = (Column("kind", "Kind", "code"), Column("rule", "Rule"))
_KINDS = (
    Column("kind", "Kind", "code"), Column("about", "Checks"), Column("fields", "Fields"),
    Column("rule", "Rule", aside=True), Column("example", "Example", aside=True),
)  # fmt: skip


@command("manuscript")
def manuscript(
    console: Console,
    files: Annotated[tuple[Path, ...], Argument(metavar="FILE", help="Claims files (.toml).")] = (),
    *,
    shipped: Annotated[
        tuple[str, ...],
        Option(metavar="NAME", help="A shipped study by its name, or all. Repeatable."),
    ] = (),
    draft: Annotated[
        tuple[Path, ...],
        Option(
            metavar="FILE", help="A manuscript (.tex, .md, .txt): find its numbers, check them."
        ),
    ] = (),
    write: Annotated[
        Path | None, Option(metavar="FILE", help="Write the drafted claims file (.toml).")
    ] = None,
    kinds: Annotated[
        bool, Option("--kinds", help="List the kinds of checks and their fields.")
    ] = False,
) -> Result:
    """Check the printed numbers of a manuscript against each other.

    Percentages against counts, totals against rows, samples against the formula, p-values against
    statistics, words against scales. Ends with 1 if numbers contradict each other.

    Examples:

        report manuscript numbers.toml

        report manuscript --shipped bug-localization

        report manuscript --draft paper.tex --write numbers.toml
    """
    if kinds:
        return _kinds_result()
    if not (files or shipped or draft):
        raise StudyError(
            "nothing to check",
            "Name a claims file, --shipped NAME or --draft FILE; --kinds lists what is checked.",
        )
    findings = {str(path): check(path) for path in files}
    findings |= {name: check(name) for name in _studies(shipped)}
    texts = {str(path): draft_claims(path) for path in draft}
    if write is not None:  # before a check can fail: what is written can be corrected
        _write(write, [text for text in texts.values() if text])
        console.tell(f"Claims: {write}")
    for name, text in texts.items():
        findings[name] = check_text(text, name, Path(name).stem) if text else []
        if not text:
            console.tell(f"{name}: no numbers were found that can be checked")
    return _result(findings)


def _studies(names: Sequence[str]) -> Sequence[str]:
    shipped = shipped_studies()
    if unknown := [name for name in names if name not in (*shipped, "all")]:
        raise StudyError(
            f"no shipped study is called {unknown[0]!r}", f"Known: {', '.join(shipped)}, or all."
        )
    return shipped if "all" in names else names


def _write(path: Path, texts: Sequence[str]) -> None:
    if len(texts) != 1:
        raise StudyError(
            f"--write takes the claims of one manuscript, not of {len(texts)}", "Name one --draft."
        )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(texts[0])
    except FileExistsError:
        raise StudyError(f"{path} exists already", "Name another file.") from None
    except OSError as error:
        raise explained(error, path) from None


def _result(findings: Mapping[str, Sequence[Finding]]) -> Result:
    rows = [{"manuscript": name, **asdict(row)} for name in findings for row in findings[name]]
    different = [row for row in rows if row["status"] != "consistent"]
    columns = _COLUMNS if len(findings) > 1 else _COLUMNS[1:]
    rules = sorted({(row["kind"], row["rule"]) for row in rows})
    counts = {name: _counts(findings[name]) for name in findings}
    wrong = {name: sum(row.is_contradiction for row in findings[name]) for name in findings}
    return Result(
        title="Printed numbers of a manuscript against each other",
        summary=tuple(
            f"{plain(name)}: {counted(len(findings[name]), 'claim')}"
            + "".join(f", {count} {status}" for status, count in counts[name].items())
            for name in findings
        ),
        quantities=tuple(
            Quantity({"manuscript": name, "status": status}, count, n=len(findings[name]))
            for name in findings
            for status, count in counts[name].items()
        ),
        tables=(
            Listing("different", "Not consistent", columns, rows_of(columns, different)),
            Listing("findings", "All claims", _COLUMNS, rows_of(_COLUMNS, rows), folded=True),
            Listing("rules", "Rules", _RULES, tuple(rules), folded=True),
        ),
        missing=tuple(
            f"{plain(name)}: {counted(count, 'claim contradicts', 'claims contradict')} other "
            "numbers of the paper"
            for name, count in wrong.items()
            if count
        ),
    )


def _counts(findings: Sequence[Finding]) -> dict[Status, int]:
    counts = Counter(finding.status for finding in findings)
    return {status: counts[status] for status in get_args(Status) if counts[status]}


def _kinds_result() -> Result:
    rows = tuple(
        (
            name,
            kind.about,
            "; ".join(f"{field}: {about}" for field, about in kind.fields.items()),
            kind.rule,
            f'[[claim]]\nid = "example"\nkind = "{name}"\n{kind.example}',
        )
        for name, kind in kinds().items()
    )
    return Result(title="Kinds of checks", tables=(Listing("kinds", "Kinds", _KINDS, rows),))
