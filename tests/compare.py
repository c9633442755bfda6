"""What tests compare of a study and of the commands that made it, as data.

An observation is a dictionary with a `kind`:

- `rows`: a table without order (a view, the claims). Rows and columns are named, so that a new
  column is no difference; with `extra` new rows are none either.
- `lines`: a list in order (requests, a text file).
- `numbers`: the numbers of a page, table or figure, without order: new ones are no difference.
- `value`: anything that JSON can say.

Numbers are equal within 1e-9. Long rows and lines, and those of real data, are recorded as hashes:
what is not recorded can still be shown.
"""

from __future__ import annotations

import csv
import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

# Columns that tell which run wrote a row, or when: two runs of the same command differ in them.
OF_RUNS = {
    "run_id", "response_id", "fetched_at", "ran_at", "drawn_at", "decided_at", "registered_at",
    "judged_at", "settled_at", "added_at", "started_at", "ended_at",
}  # fmt: skip
OF_RUNS_IN: dict[str, set[str]] = {
    "rounds": {"created_at"},
    "dumps": {"updated_at"},
    "search_results": {"first_seen_at", "last_seen_at"},
    "search_slices": {"created_to", "updated_at"},
    "responses": {"number"},
    # What was measured of a program, and ids that are made of it.
    "executions": {"execution_id", "duration_s", "cpu_s", "peak_memory_mb", "last_output_s"},
    "verdicts": {"verdict_id"},
    "verdict_history": {"verdict_id"},
}
_ELSEWHERE = {"runs", "claims", "results"}
CLAIM = ("claim_id", "value", "low", "high", "count", "total", "printed", "status")
Observation = dict[str, Any]
Neutral = Callable[[str], str]  # takes folders and ports out of a text

_ID = r"(?:github|git|stackoverflow|gitee|doi|paper|jira|bugzilla|own):[^\s,;'\"<>]+[^\s,;'\"<>.):]"
_FILE = r"[\w./-]*\w\.(?:csv|tsv|xlsx|ya?ml|toml|json|jsonl|bib|ris|xml|7z|gz|zip|html|tex|txt)"
_NAMED = re.compile(rf"{_ID}|{_FILE}\b")
_LINES = re.compile(
    r"\b(?:lines?|rows?)\s+(\d+(?:(?:, | and |, and |-| to )\d+)*)|:(\d+)(?=[:\s,;]|$)"
)
_NUMBER = re.compile(r"(?<![\w.#-])-?\d+(?:\.\d+)?(?:e-?\d+)?(?![\w-])")
_HASH = 10  # hexadecimal digits of a recorded row
_SIGNIFICANT = 9
_SHOWN = 5  # rows of each side in a message


# Observing


@contextmanager
def opened(study: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A study as its users open it."""
    connection = duckdb.connect(str(_database(study)), read_only=True)
    try:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection
    finally:
        connection.close()


def ended(code: int, stderr: str, names: str = "") -> Observation:
    """The exit code, and the ids, files and line numbers that standard error names.

    By default a command that succeeded names nothing that counts, nor does one that was called
    in a wrong way (2): only its words do. Otherwise `names` is all, lines or none.
    """
    wanted = names or ("all" if code == 1 else "none")
    found = [] if wanted == "none" else named(stderr)
    return {"kind": "value", "value": [
        code, *(name for name in found if wanted == "all" or name.startswith("line ")),
    ]}  # fmt: skip


def named(text: str) -> list[str]:
    """The ids, files and line numbers in a message; a file is named without its folders."""
    found = {match if ":" in match else Path(match).name for match in _NAMED.findall(text)}
    for many, one in _LINES.findall(text):
        found |= {f"line {number}" for number in re.findall(r"\d+", many or one)}
    return sorted(found)


def view_names(study: Path) -> list[str]:
    """The views of a study, by name."""
    with opened(study) as connection:
        asked = "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
        return [row[0] for row in connection.execute(asked).fetchall()]


def views(study: Path, names: Iterable[str] = (), neutral: Neutral = str) -> dict[str, Observation]:
    """The rows of views, all or these, without what tells of runs.

    All but runs, which tell of nothing else, and claims and results, which hold words: the claims
    are compared as they are exported.
    """
    if not _database(study).exists():
        return {name: table([], []) for name in names}
    wanted = list(names) or [name for name in view_names(study) if name not in _ELSEWHERE]
    with opened(study) as connection:
        return {
            name: _answer(
                connection, f"FROM {name}", neutral, OF_RUNS | OF_RUNS_IN.get(name, set())
            )
            for name in wanted
        }


def query(study: Path, sql: str, neutral: Neutral = str) -> Observation:
    """What a query of the study gives."""
    if not _database(study).exists():
        return table([], [])
    with opened(study) as connection:
        return _answer(connection, sql, neutral, set())


def _answer(
    connection: duckdb.DuckDBPyConnection, sql: str, neutral: Neutral, left_out: set[str]
) -> Observation:
    asked = connection.execute(sql)
    columns = [column[0] for column in asked.description or ()]
    rows = asked.fetchall()
    kept = [place for place, column in enumerate(columns) if column not in left_out]
    return table(
        [columns[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        neutral,
    )


def _database(study: Path) -> Path:
    return study / "study.duckdb"


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    neutral: Neutral = str,
    *,
    extra: bool = False,
) -> Observation:
    plain = [[as_json(value, neutral) for value in row] for row in rows]
    found = {"kind": "rows", "columns": list(columns), "rows": sorted(plain, key=_text)}
    return {**found, "extra": True} if extra else found


def csv_table(path: Path, neutral: Neutral = str, *, extra: bool = False) -> Observation:
    """A CSV file as data: cells that are numbers are compared as numbers."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    return table(head, [[_cell(cell) for cell in row] for row in rows], neutral, extra=extra)


def claims(path: Path, neutral: Neutral = str) -> Observation:
    """The claims that `report claims export --csv` wrote; there may be more of them later."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return table(
        CLAIM, [[_cell(row[column]) for column in CLAIM] for row in rows], neutral, extra=True
    )


def file(path: Path, neutral: Neutral = str) -> Observation:
    """A file as data: its kind tells what of it counts."""
    match path.suffix.lower():
        case ".csv":
            return csv_table(path, neutral)
        case ".json":
            return value(json.loads(path.read_text(encoding="utf-8")), neutral)
        case ".parquet":
            with duckdb.connect() as connection:
                asked = connection.execute("FROM read_parquet(?)", [str(path)])
                columns = [column[0] for column in asked.description or ()]
                return table(columns, asked.fetchall(), neutral)
        case ".html" | ".svg":
            return numbers(path)
        case ".tex" | ".toml" | ".yaml" | ".yml" | ".md" | ".txt":
            return lines(path.read_text(encoding="utf-8").splitlines(), neutral)
    return value(path.read_bytes())


def lines(texts: Iterable[str], neutral: Neutral = str) -> Observation:
    return {"kind": "lines", "lines": [neutral(text) for text in texts]}


def value(found: Any, neutral: Neutral = str) -> Observation:
    return {"kind": "value", "value": as_json(found, neutral)}


def requests(asked: Iterable[Any], neutral: Neutral = str) -> Observation:
    """What a loopback server was asked for, in order."""
    return lines((_request(request) for request in asked), neutral)


def numbers(path: Path) -> Observation:
    """The numbers of a page or table: its layout and words may change, they may not.

    Of CSV these are the cells that are a number and nothing else, of markup what is shown.
    """
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".csv":
        cells = [_cell(cell) for row in csv.reader(text.splitlines()) for cell in row]
        found = [cell for cell in cells if not isinstance(cell, str)]
    else:
        shown = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
        found = [float(word) for word in _NUMBER.findall(shown)]
    return {"kind": "numbers", "numbers": sorted(found)}


def nowhere(strings: Iterable[str], root: Path) -> Observation:
    """Which of these strings stand in a file below a folder: none should."""
    contents = [path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()]
    found = [text for text in strings if any(text.encode() in content for content in contents)]
    return value(found)


def _request(request: Any) -> str:
    body = f" {hashlib.sha256(request.body).hexdigest()[:_HASH]}" if request.body else ""
    return f"{request.method} {request.target}{body}"


def as_json(found: Any, neutral: Neutral = str) -> Any:  # noqa: PLR0911 - one a type
    """A value of a column as JSON can say it."""
    match found:
        case None | bool() | int():
            return found
        case float():
            return found if math.isfinite(found) else str(found)
        case str():
            return neutral(found)
        case Decimal():
            return float(found)
        case bytes():
            return f"sha256:{hashlib.sha256(found).hexdigest()}"
        case datetime() | date() | time():
            return found.isoformat()
        case timedelta():
            return found.total_seconds()
        case Mapping():
            return {str(key): as_json(inner, neutral) for key, inner in found.items()}
        case list() | tuple() | set():
            return [as_json(inner, neutral) for inner in found]
    return neutral(str(found))


def _cell(cell: str) -> Any:
    cell = re.sub(r"^'(?=[-=+@])", "", cell)  # the new program escapes what a spreadsheet executes
    if not re.fullmatch(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?", cell):
        return cell
    return float(cell) if re.search(r"[.e]", cell) else int(cell)


# Recording


def packed(observation: Observation, longest: int) -> Observation:
    """An observation as it is recorded: hashes where it would be longer than so many characters."""
    field_name = observation["kind"]
    if field_name == "numbers" or len(_text(observation[field_name])) <= longest:
        return observation
    if field_name == "value":
        return {"kind": "value", "hash": _hash(observation["value"])}
    kept = {key: inner for key, inner in observation.items() if key != field_name}
    hashes = [_hash(inner) for inner in observation[field_name]]
    return {**kept, "hashes": " ".join(hashes if field_name == "lines" else sorted(hashes))}


def _hash(found: Any) -> str:
    return hashlib.sha256(_text(_rounded(found)).encode()).hexdigest()[:_HASH]


def _text(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _rounded(found: Any) -> Any:
    """As text, numbers are equal when they agree in nine digits."""
    match found:
        case float():
            short = float(f"{found:.{_SIGNIFICANT}g}")
            return int(short) if short.is_integer() else short
        case list():
            return [_rounded(inner) for inner in found]
        case dict():
            return {key: _rounded(inner) for key, inner in found.items()}
    return found


# Comparing


@dataclass
class Difference:
    """What is not as it was recorded, and what is there besides."""

    problems: list[str] = field(default_factory=list)
    additions: list[str] = field(default_factory=list)


def differences(
    recorded: Mapping[str, Observation], observed: Mapping[str, Observation]
) -> Difference:
    """What observations, by name, are not as they were recorded."""
    found = Difference()
    for name, expected in recorded.items():
        if name not in observed:
            found.problems.append(f"{name}: missing")
        elif expected["kind"] == "rows":
            _compare_rows(name, expected, observed[name], found)
        elif expected["kind"] == "numbers":
            _compare_numbers(name, expected, observed[name], found)
        elif expected["kind"] == "lines":
            _compare_lines(name, expected, observed[name], found)
        else:
            _compare_values(name, expected, observed[name], found)
    found.additions += [name for name in observed if name not in recorded]
    return found


def _compare_rows(
    name: str, expected: Observation, observed: Observation, found: Difference
) -> None:
    columns: list[str] = expected["columns"]
    if missing := [column for column in columns if column not in observed["columns"]]:
        found.problems.append(f"{name}: no column {', '.join(missing)}")
        return
    new = [column for column in observed["columns"] if column not in columns]
    found.additions += [f"{name}.{column}" for column in new]
    places = [observed["columns"].index(column) for column in columns]
    rows = [[row[place] for place in places] for row in observed["rows"]]
    missing_rows, new_rows = _unmatched(expected, rows)
    if expected.get("extra"):
        found.additions += [f"{name}: {_text(row[0])}" for row in new_rows]
        changed = {_first(row) for row in missing_rows}  # of a hash nobody knows
        new_rows = [row for row in new_rows if _text(row[0]) in changed or "" in changed]
    if missing_rows or new_rows:
        count = len(expected["hashes"].split()) if "hashes" in expected else len(expected["rows"])
        found.problems.append(
            f"{name}: {len(rows)} rows, recorded are {count}\n  columns: {', '.join(columns)}"
            + _listed("recorded", missing_rows)
            + _listed("now", new_rows)
        )


def _first(row: Any) -> str:
    return _text(row[0]) if isinstance(row, list) else ""


def _unmatched(expected: Observation, rows: list[list[Any]]) -> tuple[list[Any], list[Any]]:
    """Recorded rows that are missing (or their hashes), and rows that are not recorded."""
    if "hashes" in expected:
        wanted = Counter(expected["hashes"].split())
        new = []
        for row in rows:
            key = _hash(row)
            if wanted[key]:
                wanted[key] -= 1
            else:
                new.append(row)
        return [f"a row with the hash {key}" for key in wanted.elements()], new
    keys = Counter(_text(_rounded(row)) for row in rows)
    missing = []
    for row in expected["rows"]:
        key = _text(_rounded(row))
        if keys[key]:
            keys[key] -= 1
        else:
            missing.append(row)
    new = []
    for row in rows:  # numbers that are rounded apart may still be near enough
        key = _text(_rounded(row))
        if not keys[key]:
            continue
        keys[key] -= 1
        near = next((other for other in missing if is_equal(other, row)), None)
        if near is None:
            new.append(row)
        else:
            missing.remove(near)
    return missing, new


def _compare_lines(
    name: str, expected: Observation, observed: Observation, found: Difference
) -> None:
    now = observed["lines"]
    is_hashed = "hashes" in expected
    then = expected["hashes"].split() if is_hashed else expected["lines"]
    for place, line in enumerate(now):
        if place >= len(then) or (_hash(line) if is_hashed else line) != then[place]:
            was = then[place] if place < len(then) else "nothing"
            found.problems.append(f"{name}: line {place + 1}\n  recorded: {was}\n  now: {line}")
            return
    if len(now) < len(then):
        found.problems.append(f"{name}: {len(now)} lines, recorded are {len(then)}")


def _compare_numbers(
    name: str, expected: Observation, observed: Observation, found: Difference
) -> None:
    wanted = Counter(_rounded(number) for number in expected["numbers"])
    wanted -= Counter(_rounded(number) for number in observed["numbers"])
    if wanted:
        found.problems.append(f"{name}: no more {_shortened(sorted(wanted.elements()))}")


def _compare_values(
    name: str, expected: Observation, observed: Observation, found: Difference
) -> None:
    now = observed["value"]
    if "hash" in expected:
        if _hash(now) != expected["hash"]:
            found.problems.append(f"{name}: not what was recorded\n  now: {_shortened(now)}")
    elif not is_equal(expected["value"], now):
        found.problems.append(
            f"{name}:\n  recorded: {_shortened(expected['value'])}\n  now: {_shortened(now)}"
        )


def is_equal(one: Any, other: Any) -> bool:
    """Whether two values of JSON are the same, numbers within 1e-9."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_equal(one[key], other[key]) for key in one)
    return bool(one == other)


def _listed(title: str, rows: Sequence[Any]) -> str:
    shown = [f"\n    {_shortened(row)}" for row in rows[:_SHOWN]]
    more = f"\n    and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
    return f"\n  only {title}:{''.join(shown)}{more}" if rows else ""


def _shortened(found: Any) -> str:
    text = _text(found)
    return text if len(text) <= 600 else f"{text[:600]}..."
