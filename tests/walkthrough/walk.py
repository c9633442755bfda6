"""Walks the page: runs its commands one after another, as its reader does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from browsing import started
from labelstudio import free_port
from loopback import TOKEN, serving

from walkthrough import tracker
from walkthrough.page import ByHand, Command, File, Step, as_shown, is_passing
from walkthrough.people import People

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
IMAGES = PAGE.parent / "images"
SERVE = "annotation serve --detach"
_LONGEST_S = 300


@dataclass
class Walk:
    """A reader in an empty folder."""

    folder: Path
    people: People
    variables: dict[str, str]
    printed: dict[str, str] = field(default_factory=dict)  # by command

    def take(self, step: Step) -> None:
        """Do what the page asks for."""
        match step:
            case File(name, text):
                (self.folder / name).write_text(text, encoding="utf-8")
            case ByHand(name):
                self.people.do(name, self.printed)
            case Command(text):
                assert text not in self.printed, f"twice on the page: {text}"
                # Where tests run, port 8080 may be somebody else's.
                port = f" --port {self.people.port}" if text == SERVE else ""
                self.printed[text] = self._run(text + port)

    def lines(self, command: Command) -> list[str]:
        """What a command printed, as the page shows it."""
        printed = self.printed[command.text].splitlines()
        return [as_shown(line) for line in printed if not is_passing(line)]

    def _run(self, command: str) -> str:
        ended = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # in the order in which a terminal shows them
            encoding="utf-8",
            timeout=_LONGEST_S,
            check=False,
        )
        assert ended.returncode == 0, f"$ {command}\n{ended.stdout}\nexit code {ended.returncode}"
        return ended.stdout


@contextmanager
def walking(folder: Path, pictures: Path) -> Iterator[Walk]:
    """A walk in that folder, beside a GitHub and a browser; nothing keeps running afterwards."""
    with serving(tracker.world()) as github, started() as browser:
        people = People(folder, pictures, browser, free_port())
        walk = Walk(folder, people, _variables(github.url))
        try:
            yield walk
        finally:
            stop = ["annotation", "serve", "--stop"]
            if (folder / "label-studio").exists():
                subprocess.run(stop, cwd=folder, env=walk.variables, check=False,
                               stdout=subprocess.DEVNULL)  # fmt: skip


def _variables(github: str) -> dict[str, str]:
    """An environment like that of a terminal of 80 columns, and the way to that GitHub."""
    kept = {name: os.environ[name] for name in ("HOME", "XDG_CACHE_HOME") if name in os.environ}
    return kept | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "COLUMNS": "80",
        "NO_COLOR": "1",
        "PYTHONUNBUFFERED": "1",
        "GITHUB_API_URL": github,
        "GITHUB_TOKEN": TOKEN,
        # A few threads on the same cores wait for each other in busy loops.
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
