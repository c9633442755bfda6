"""`miner` against the loopback server, as a user runs it: for tests of `miner fetch`."""

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


@dataclass
class Mining:
    """A server with its world, and a study that is made from it."""

    command: Callable[..., CompletedProcess[str]]
    environment: pytest.MonkeyPatch
    running: Running
    study: Path
    asked: list[Request] = field(default_factory=list)  # by the last command

    @property
    def world(self) -> Any:
        return self.running.world

    def run(self, *arguments: Any, token: str | None = None, gitee: bool = False) -> Any:
        """`miner fetch` with these arguments; how it ended, and what it said."""
        name = "GITEE_TOKEN" if gitee else "GITHUB_TOKEN"
        if token is None:
            self.environment.delenv(name, raising=False)
        else:
            self.environment.setenv(name, token)
        if "--max-wait" not in arguments:
            arguments = (*arguments, "--max-wait", "0")  # no test waits for an hour
        url = self.running.gitee_url if gitee else self.running.url
        before = len(self.world.requests)
        ended = self.command("miner", "fetch", *arguments, "--api-url", url, "--study", self.study)
        self.asked = self.world.requests[before:]
        return ended

    def fetch(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """The document of a fetch that finds everything."""
        ended = self.run(*arguments, "--json", **options)
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)["data"]  # type: ignore[no-any-return]

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """What the study says."""
        with Study(self.study).reading() as reader:
            return [tuple(row.values()) for row in reader.rows(sql, parameters)]

    def column(self, sql: str, *parameters: Any) -> list[Any]:
        """The only column of the answer."""
        return [value for (value,) in self.rows(sql, *parameters)]

    def numbers(self) -> set[int]:
        """The numbers of the issues in the study."""
        return {int(number) for number in self.column("SELECT number FROM issues")}

    def fetching(self) -> list[Request]:
        """What the last command asked for, the completeness check aside."""
        return [request for request in self.asked if not request.path.startswith("/search/")]
