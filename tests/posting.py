"""`miner posts` against the loopback Stack Exchange, as a user runs it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from loopback import Request, Running
from loopback.stackexchange import StackExchange

from faultatlas.data.study import Study

MINED = ("post", "reply", "departure")


@dataclass
class Posting:
    """A server with its sites, and a study that is made from it."""

    command: Callable[..., CompletedProcess[str]]
    environment: pytest.MonkeyPatch
    running: Running
    study: Path
    asked: list[Request] = field(default_factory=list)  # by the last command

    @property
    def world(self) -> StackExchange:
        return self.running.world  # type: ignore[no-any-return]

    @property
    def api_url(self) -> str:
        return f"{self.running.url}/2.3"

    def run(self, *arguments: Any, key: str | None = None) -> CompletedProcess[str]:
        """`miner posts` with these arguments; how it ended, and what it said."""
        if key is None:
            self.environment.delenv("STACKEXCHANGE_KEY", raising=False)
        else:
            self.environment.setenv("STACKEXCHANGE_KEY", key)
        if "--max-wait" not in arguments:
            arguments = (*arguments, "--max-wait", "0")
        if not {"--from-sede", "--from-dump", "--api-url"} & {*arguments}:
            arguments = (*arguments, "--api-url", self.api_url)
        return self.miner("posts", *arguments)

    def miner(self, *arguments: Any) -> CompletedProcess[str]:
        """Any command on the study."""
        before = len(self.world.requests)
        ended = self.command("miner", *arguments, "--study", self.study)
        self.asked = self.world.requests[before:]
        return ended

    def fetch(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """The document of a run that finds everything."""
        ended = self.run(*arguments, "--json", **options)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)  # type: ignore[no-any-return]

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """What the study says."""
        with Study(self.study).reading() as reader:
            return [tuple(row.values()) for row in reader.rows(sql, parameters)]

    def column(self, sql: str, *parameters: Any) -> list[Any]:
        """The only column of the answer."""
        return [value for (value,) in self.rows(sql, *parameters)]

    def numbers(self) -> set[int]:
        """The numbers of the questions in the study."""
        return {*self.column("SELECT post_id FROM posts")}

    def mined(self) -> dict[str, list[tuple[Any, ...]]]:
        """All mined rows in every column but run, response and time of fetching."""
        without = "run_id, response_id, fetched_at"
        return {
            "post": self.rows(f"SELECT * EXCLUDE ({without}) FROM store.post ORDER BY ALL"),
            "reply": self.rows(
                f"SELECT * EXCLUDE ({without}, gone_at), gone_at IS NULL FROM store.reply "
                "ORDER BY ALL"
            ),
            "departure": self.rows("SELECT artifact_id, reason FROM store.departure ORDER BY ALL"),
        }
