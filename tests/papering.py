"""`miner papers` against a loopback index or files, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from loopback import Request, Running

from faultatlas.data.study import Study

MINED = ("paper", "paper_record", "known_paper", "alias")


@dataclass
class Papering:
    """An index, or none, and a study that is made from it."""

    command: Callable[..., CompletedProcess[str]]
    environment: pytest.MonkeyPatch
    study: Path
    running: Running | None = None
    source: str = "openalex"
    asked: list[Request] = field(default_factory=list)  # by the last command

    @property
    def world(self) -> Any:
        assert self.running is not None
        return self.running.world

    def run(self, *arguments: Any, key: str | None = None) -> CompletedProcess[str]:
        """`miner papers` with these arguments; how it ended, and what it said."""
        name = f"{self.source.upper()}_API_KEY"
        if key is None:
            self.environment.delenv(name, raising=False)
        else:
            self.environment.setenv(name, key)
        if self.running is not None and not {"--from", "--known"} & {*arguments}:
            arguments = (*arguments, "--api-url", self.running.url, "--source", self.source)
        if "--max-wait" not in arguments:
            arguments = (*arguments, "--max-wait", "0")
        return self.miner("papers", *arguments)

    def miner(self, *arguments: Any) -> CompletedProcess[str]:
        """Any command on the study."""
        before = len(self.world.requests) if self.running else 0
        ended = self.command("miner", *arguments, "--study", self.study)
        self.asked = self.world.requests[before:] if self.running else []
        return ended

    def fetch(self, *arguments: Any, key: str | None = None) -> dict[str, Any]:
        """The document of a run that finds everything."""
        ended = self.run(*arguments, "--json", key=key)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)  # type: ignore[no-any-return]

    def partly(self, *arguments: Any, key: str | None = None) -> dict[str, Any]:
        """The document of a run that leaves something out, and says so."""
        ended = self.run(*arguments, "--json", key=key)
        assert ended.returncode == 1, ended.stderr
        return json.loads(ended.stdout)  # type: ignore[no-any-return]

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """What the study says."""
        with Study(self.study).reading() as reader:
            return [tuple(row.values()) for row in reader.rows(sql, parameters)]

    def column(self, sql: str, *parameters: Any) -> list[Any]:
        """The only column of the answer."""
        return [value for (value,) in self.rows(sql, *parameters)]

    def mined(self, without: str = "") -> dict[str, list[tuple[Any, ...]]]:
        """All mined rows in every column."""
        left_out = f"EXCLUDE ({without})" if without else ""
        return {
            table: self.rows(f"SELECT * {left_out} FROM store.{table} ORDER BY ALL")
            for table in MINED
            if not without or table.startswith("paper")
        }
