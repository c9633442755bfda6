"""`miner commits` into a study, for its tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from faultatlas.data.study import Study


@dataclass
class Reading:
    """`miner commits` into a study, as a user runs it."""

    command: Callable[..., CompletedProcess[str]]
    study: Path

    def run(self, *arguments: Any) -> CompletedProcess[str]:
        return self.command("miner", "commits", *arguments, "--study", self.study)

    def read(self, *arguments: Any, code: int = 0) -> dict[str, Any]:
        """The document of a reading."""
        ended = self.run(*arguments, "--json")
        assert ended.returncode == code, ended.stderr
        return json.loads(ended.stdout)  # type: ignore[no-any-return]

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with Study(self.study).reading() as reader:
            return [tuple(row.values()) for row in reader.rows(sql, parameters)]

    def one(self, sql: str, *parameters: Any) -> Any:
        """The only row; its only value where it has one."""
        (row,) = self.rows(sql, *parameters)
        return row[0] if len(row) == 1 else row

    def without_runs(self, table: str) -> list[dict[str, Any]]:
        """The rows of a table, but for runs and times of reading."""
        left_out = {"run_id", "text_run", "fetched_at", "gone_at", "started_at"}
        with Study(self.study).reading() as reader:
            rows = reader.rows(f"SELECT * FROM {table}")
        kept = [{name: row[name] for name in row if name not in left_out} for row in rows]
        return sorted(kept, key=repr)
