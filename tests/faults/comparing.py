"""Whether two studies are the same: rows of all views, files, bytes of what was written for people.

Left out is what tells of runs: which they were, when they were, how long they took.
"""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compare import OF_RUNS, OF_RUNS_IN
from faults.whole_study import PACKAGE
from loopback.studies import opened

Rows = list[tuple[Any, ...]]

# What a report tells of runs: how many there were of each command, how many did not come to their
# end, and how many hours programs ran, here some seconds.
_REPORT = re.compile(r"(\A|/)report/(index\.html|report\.(json|md|tex)|study/[a-z-]+\.(csv|tex))\Z")
_TABLE_OF_RUNS = re.compile(r"study/(?:summary|re-execution)-runs\.(csv|tex)\Z")
_OF_A_RUN = rb"(?:(?:miner|annotation|analysis) [^<|]*|(?:bubblewrap|namespaces) ?)"
_RUN_ROWS = (
    re.compile(rb"<tr>\s*<t[hd][^>]*>\s*" + _OF_A_RUN + rb"\s*</t[hd]>.*?</tr>\s*", re.DOTALL),
    re.compile(rb"^\| " + _OF_A_RUN + rb"\|.*\n", re.MULTILINE),
)
_MEASURED = re.compile(rb"\b\d+ runs? of miner\b")
# Of a package, what tells of runs; its rows are those of the views.
_ROWS_OF_PACKAGE = re.compile(r"[^/]+/(data/|study/|SHA256SUMS|ro-crate-metadata)")
# Every decision and every analysis that was run is kept: what counts is the newest.
_NEWEST = {
    # Rows of a dump are kept as they were read, in more parts where it was cut.
    "responses": "responses WHERE kind NOT LIKE 'dump%'",
    "results": "results WHERE is_latest",
    "gates": "gates QUALIFY row_number() OVER (PARTITION BY round ORDER BY decided_at DESC) = 1",
}
# Every answer and every file that was read is kept, also one that was asked for twice or was cut.
_MORE_IS_FINE = {"responses"}
_DATABASE = {"study.duckdb", "study.duckdb.wal"}
_NOT_COMPARED = re.compile(r"reexecution/.*/run\.json\Z")


@dataclass(frozen=True)
class State:
    """All that can be compared of a study."""

    views: dict[str, Rows]
    files: dict[str, bytes]


def state(study: Path) -> State:
    return State(views(study), files(study))


def views(study: Path) -> dict[str, Rows]:
    """All rows of all views but runs, whose rows are named by the others."""
    found = {}
    with opened(study) as connection:
        there = {
            column: {
                None,
                *(row[0] for row in connection.execute(f"SELECT {column} FROM {view}").fetchall()),
            }
            for column, view in (("run_id", "runs"), ("response_id", "responses"))
        }
        columns = connection.execute(
            "SELECT view_name, list(column_name ORDER BY column_index) FROM duckdb_views() "
            "JOIN duckdb_columns() ON table_oid = view_oid WHERE NOT duckdb_views.internal "
            "GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        for view, names in columns:
            if view == "runs":
                continue
            for column in there.keys() & set(names):
                named = connection.execute(f"SELECT DISTINCT {column} FROM {view}").fetchall()
                assert {row[0] for row in named} <= there[column], (view, column)
            kept = [name for name in names if name not in OF_RUNS | OF_RUNS_IN.get(view, set())]
            asked = f"SELECT {', '.join(kept)} FROM {_NEWEST.get(view, view)} ORDER BY ALL"
            found[view] = connection.execute(asked).fetchall()
    return found


def files(study: Path) -> dict[str, bytes]:
    """All files by name, with their bytes where those are not of a run."""
    found = {}
    for path in sorted(study.rglob("*")):
        name = path.relative_to(study).as_posix()
        if path.is_dir() or name in _DATABASE:
            continue
        if name == PACKAGE:
            found |= _members(path)
        else:
            content = path.read_bytes()
            found[name] = b"" if _NOT_COMPARED.search(name) else _neutral(name, content)
    return found


def _neutral(name: str, content: bytes) -> bytes:
    """A file without what it tells of runs."""
    if _TABLE_OF_RUNS.search(name):
        return b""
    if not _REPORT.search(name):
        return content
    if name.endswith(".json"):
        content = json.dumps(_without_runs(json.loads(content)), indent=1).encode()
    for rows in _RUN_ROWS:
        content = rows.sub(b"", content)
    return _MEASURED.sub(b"", content)


def _without_runs(found: Any) -> Any:
    """The tables of a report but the one of runs."""
    if isinstance(found, dict):
        return {key: _without_runs(value) for key, value in found.items()}
    if isinstance(found, list):
        is_runs = (isinstance(each, dict) and each.get("name") == "runs" for each in found)
        return [
            _without_runs(each) for each, of_runs in zip(found, is_runs, strict=True) if not of_runs
        ]
    return found


def _members(path: Path) -> dict[str, bytes]:
    found = {}
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            content = b"" if _ROWS_OF_PACKAGE.match(name) else package.read(name)
            found[f"{PACKAGE}/{name}"] = _neutral(name, content)
    return found


def assert_same(found: State, expected: State) -> None:
    """Names what differs: a whole study is too much for a message."""
    assert found.views.keys() == expected.views.keys()
    for view, rows in expected.views.items():
        if view in _MORE_IS_FINE:
            assert set(found.views[view]) >= set(rows), view
        elif found.views[view] != rows:
            more = [row for row in found.views[view] if row not in rows]
            fewer = [row for row in rows if row not in found.views[view]]
            message = f"{view}: {len(found.views[view])} rows instead of {len(rows)}"
            raise AssertionError(f"{message}\nonly here: {more[:3]}\nmissing: {fewer[:3]}")
    more, fewer = (
        found.files.keys() - expected.files.keys(),
        expected.files.keys() - found.files.keys(),
    )
    assert not more, f"only here: {sorted(more)}"
    assert not fewer, f"missing: {sorted(fewer)}"
    other = [name for name, content in expected.files.items() if found.files[name] != content]
    assert not other, f"not the same bytes: {other}"
