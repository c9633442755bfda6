"""Which projects of which Label Studio another study used, in this one.

The other study's own server, or one that it calls http://127.0.0.1:8080, is another one here:
only that projects were used, and how blind raters were, is taken of it. A server that has an
address for everybody is the same for both.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from faultatlas.data.old import arrow_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.study import Reader, Writer

_KEYS = {
    "account": ("server", "rater"),
    "project": ("server", "project_id"),
    "task": ("server", "project_id", "task_id"),
}
TABLES = tuple(f"store.{table}" for table in _KEYS)
_ADDRESS = re.compile(r"https?://(?!(?:localhost|127\.[0-9.]+|\[::1\]|0\.0\.0\.0)(?:[:/]|$))")
ELSEWHERE = "elsewhere "  # no address: nothing is pushed there or pulled from there


def take_servers(source: Reader, writer: Writer) -> dict[str, int]:
    """Accounts, projects and tasks that are not here, by table."""
    taken = {}
    for table, key in _KEYS.items():
        theirs = source.arrow(f"SELECT * FROM store.{table} ORDER BY {', '.join(key)}")
        theirs = _renamed(writer, theirs) if table == "project" else _without_own(theirs)
        ours = writer.rows(f"SELECT {', '.join(key)} FROM store.{table}")
        known = {tuple(row.values()) for row in ours}
        columns = [theirs.column(name).to_pylist() for name in key]
        new = [at for at, row in enumerate(zip(*columns, strict=True)) if row not in known]
        taken[f"store.{table}"] = (
            arrow_rows.insert(writer, f"store.{table}", theirs.take(new)) if new else 0
        )
    return taken


def _without_own(theirs: pa.Table) -> pa.Table:
    import pyarrow as pa

    servers = theirs.column("server").to_pylist()
    return theirs.filter(pa.array([bool(_ADDRESS.match(name)) for name in servers], pa.bool_()))


def _renamed(writer: Writer, theirs: pa.Table) -> pa.Table:
    """Projects on the other machine get a name that is nobody's address; copies of ours do not."""
    import pyarrow as pa

    ours = {
        (row["server"], row["project_id"], row["run_id"])
        for row in writer.rows("SELECT server, project_id, run_id FROM store.project")
    }
    names = []
    for row in theirs.select(["server", "project_id", "run_id"]).to_pylist():
        name, run = row["server"], row["run_id"]
        is_known = name.startswith(ELSEWHERE) or (name, row["project_id"], run) in ours
        is_other = not _ADDRESS.match(name) and not is_known
        names.append(f"{ELSEWHERE}{name} {run}" if is_other else name)
    at = theirs.column_names.index("server")
    return theirs.set_column(at, "server", pa.array(names, pa.string()))
