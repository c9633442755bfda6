"""Real git repositories, made in a folder with git's own plumbing: also ones that are odd."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

EPOCH = 1_500_000_000
PERSON = b"Ada <ada@example.org>"
_OWN = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}

Files = Mapping[str | bytes, bytes | tuple[str, str]]  # path -> content, or mode and object


class Repository:
    """A bare repository that a test writes into."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        self.made = 0
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._run(["init", "--quiet", "--bare", "--initial-branch=main", *words, str(folder)])

    def git(self, *words: str | bytes, given: bytes = b"") -> bytes:
        """What git prints, without the last line feed."""
        return self._run(["--git-dir", str(self.folder), *words], given).removesuffix(b"\n")

    def blob(self, content: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", given=content).decode()

    def tree(self, files: Files) -> str:
        """A tree of files, with folders where names have slashes."""
        index = self.folder / "index"
        index.unlink(missing_ok=True)
        lines = []
        for path, what in files.items():
            name = path.encode() if isinstance(path, str) else path
            mode, sha = what if isinstance(what, tuple) else ("100644", self.blob(what))
            lines.append(f"{mode} {sha}\t".encode() + name + b"\0")
        self.git("update-index", "-z", "--index-info", given=b"".join(lines))
        return self.git("write-tree", "--missing-ok").decode()

    def commit(
        self,
        files: Files | str,
        message: bytes = b"a message",
        parents: Sequence[str] = (),
        *,
        branch: str | None = "main",
        author: bytes | None = None,
        committer: bytes | None = None,
        headers: bytes = b"",
    ) -> str:
        """A commit object, byte by byte; `files` may be the hash of a tree."""
        self.made += 1
        tree = files if isinstance(files, str) else self.tree(files)
        usual = PERSON + f" {EPOCH + self.made} +0000".encode()
        above = b"".join(b"parent " + parent.encode() + b"\n" for parent in parents)
        content = b"".join(
            [
                f"tree {tree}\n".encode(),
                above,
                b"author " + (author or usual) + b"\n",
                b"committer " + (committer or usual) + b"\n",
                headers,
                b"\n",
                message,
            ]
        )
        words = ("hash-object", "-t", "commit", "-w", "--literally", "--stdin")
        sha = self.git(*words, given=content).decode()
        if branch:
            self.point(branch, sha)
        return sha

    def point(self, branch: str, sha: str) -> None:
        """Move a branch, wherever it was."""
        self.git("update-ref", f"refs/heads/{branch}", sha)

    def remove(self, sha: str) -> None:
        """Take an object away, as a damaged disk does."""
        (self.folder / "objects" / sha[:2] / sha[2:]).unlink()

    def damage(self, sha: str) -> None:
        """Make nonsense of an object."""
        path = self.folder / "objects" / sha[:2] / sha[2:]
        path.chmod(0o644)
        path.write_bytes(b"nonsense")

    def object_file(self, sha: str) -> Path:
        return self.folder / "objects" / sha[:2] / sha[2:]

    def _run(self, words: Sequence[str | bytes], given: bytes = b"") -> bytes:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            **_OWN,
            "GIT_INDEX_FILE": str(self.folder / "index"),
        }
        return subprocess.run(
            ["git", *words], input=given, env=environment, capture_output=True, check=True
        ).stdout


def linear(folder: Path, commits: int) -> Repository:
    """A history of small Python files, some of whose messages are about bugs in models."""
    made = Repository(folder)
    files: dict[str | bytes, bytes | tuple[str, str]] = {}
    parents: list[str] = []
    for number in range(commits):
        name = f"layers/layer_{number % 7}.py"
        body = f"def call(x):\n    return x + {number}\n\n\nclass Layer_{number}:\n    pass\n"
        files[name] = ("100644", made.blob(body.encode()))
        words = ("fix the loss of layer", "add a page", "prefix of names", "crash in training")
        parents = [made.commit(files, f"{words[number % 4]} {number}\n".encode(), parents)]
    return made
