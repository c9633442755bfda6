"""The repository that the benchmark makes: the same every time, with what real ones have."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.made_repository import make_repository


def git(place: Path, *words: str) -> str:
    return subprocess.run(
        ["git", "-C", place, *words], check=True, capture_output=True, text=True
    ).stdout


def test_a_made_repository_is_the_same_every_time(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    make_repository(one, 300)
    make_repository(other, 300)
    assert git(one, "rev-parse", "HEAD") == git(other, "rev-parse", "HEAD")
    assert git(one, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main"]
    assert int(git(one, "rev-list", "--count", "HEAD")) == 300
    assert int(git(one, "rev-list", "--count", "--merges", "HEAD")) > 5
    kinds = {line[0] for line in git(one, "log", "-M", "--name-status", "--format=").split("\n")
             if line}  # fmt: skip
    assert kinds == {"A", "D", "M", "R"}
    messages = git(one, "log", "--format=%s").splitlines()
    mended = sum("Fix" in each or "error" in each for each in messages)
    assert 30 < mended < 90
    git(one, "fsck", "--strict")
