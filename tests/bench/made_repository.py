"""A repository for measurements where none is named: made by git fast-import, the same every time.

Files of some hundred lines that change as those of real projects do: mostly one or two files a
commit, some hunks each; now and then a file comes, goes or is moved, or a branch is merged.
Messages are those of a library for machine learning, one in five about a mended bug.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

FOLDERS = ("layers", "engine", "backend", "optimizers", "losses", "utils", "models", "tests")
WORDS = (
    "tensor", "shape", "batch", "gradient", "layer", "weights", "loss", "epoch", "dtype", "kernel",
    "config", "callback", "metric", "dataset", "index", "state", "output", "inputs", "name", "axis",
)  # fmt: skip
PLAIN = ("Add {0} to {1}", "Document {0} of the {1}", "Rename {0} in {1}", "Move {0} into {1}",
         "Support {0} for every {1}", "Simplify the {0} of {1}")  # fmt: skip
MENDED = ("Fix bug in {0} of the {1}", "Fix wrong {0} when training with {1}",
          "Fix crash: {0} of the model is NaN with {1}", "Correct error of {0} in {1}")  # fmt: skip
_BRANCH = b"refs/heads/main"


def make_repository(place: Path, commits: int) -> None:
    """A bare repository with so many commits on its one branch."""
    subprocess.run(["git", "init", "-q", "--bare", "--initial-branch=main", place], check=True)
    with subprocess.Popen(
        ["git", "-C", place, "fast-import", "--quiet"], stdin=subprocess.PIPE
    ) as importer:
        assert importer.stdin is not None
        for part in _stream(commits):
            importer.stdin.write(part)
    if importer.returncode:
        raise RuntimeError(f"git fast-import ended with {importer.returncode}")


def _stream(commits: int) -> Iterator[bytes]:
    draw = random.Random(4)  # noqa: S311  (seeded)
    files = {
        f"{FOLDERS[at % len(FOLDERS)]}/part_{at}.py": _lines(draw, draw.randint(40, 400))
        for at in range(200)
    }
    yield _commit(1, "Begin", draw)
    for path, lines in files.items():
        yield _file(path, lines)
    side = 0  # the commit that a branch waits with to be merged
    for number in range(2, commits + 1):
        merged, begins = side, not side and number < commits - 1 and draw.random() < 0.05
        message = draw.choice(MENDED if draw.random() < 0.2 else PLAIN)
        text = message.format(draw.choice(WORDS), draw.choice(WORDS))
        if begins:  # on a branch of its own, from the commit before
            yield _commit(number, text, draw, parent=number - 1, branch=b"refs/heads/side")
            side = number
            yield _file(f"notes/note_{number}.md", _lines(draw, 20))
            continue
        if merged:
            side = 0
            yield _commit(number, f"Merge: {text}", draw, parent=merged - 1, merge=merged)
            yield _file(f"notes/note_{merged}.md", _lines(draw, 20))
            continue
        yield _commit(number, text, draw, parent=number - 1)
        yield from _changes(draw, files, number)
    if side:
        raise RuntimeError("a branch is left over")
    yield b"reset refs/heads/side\nfrom 0000000000000000000000000000000000000000\n\n"


def _changes(draw: random.Random, files: dict[str, list[str]], number: int) -> Iterator[bytes]:
    kind = draw.random()
    if kind < 0.04:
        path = f"{draw.choice(FOLDERS)}/part_{number}.py"
        files[path] = _lines(draw, draw.randint(20, 200))
        yield _file(path, files[path])
    elif kind < 0.05 and len(files) > 100:
        path = draw.choice(list(files))
        del files[path]
        yield b"D %b\n" % path.encode()
    elif kind < 0.06:
        path, moved = draw.choice(list(files)), f"{draw.choice(FOLDERS)}/moved_{number}.py"
        files[moved] = files.pop(path)
        yield b"R %b %b\n" % (path.encode(), moved.encode())
    count = min(12, 1 + int(draw.expovariate(0.7)))
    for path in draw.sample(list(files), count):
        lines = files[path]
        for _hunk in range(1 + int(draw.expovariate(0.9))):
            at, gone = draw.randrange(len(lines)), draw.randint(0, 4)
            lines[at : at + gone] = _lines(draw, draw.randint(1, 6))
        yield _file(path, lines)


def _lines(draw: random.Random, count: int) -> list[str]:
    made = []
    for at in range(count):
        one, two, three = draw.choices(WORDS, k=3)
        made.append(
            f"def {one}_{two}_{draw.randrange(1000)}({three}):"
            if at % 9 == 0
            else f"    {one} = self.{two}({three}, {draw.randrange(100)})"
        )
    return made


def _commit(
    number: int,
    message: str,
    draw: random.Random,
    *,
    parent: int = 0,
    merge: int = 0,
    branch: bytes = _BRANCH,
) -> bytes:
    person = f"Person {draw.randrange(40)}"
    when = f"{person} <{person.replace(' ', '')}@example.org> {1_500_000_000 + 3600 * number} +0000"
    text = message.encode()
    lines = [
        b"commit %b" % branch,
        b"mark :%d" % number,
        b"committer %b" % when.encode(),
        b"data %d\n%b" % (len(text), text),
        *([b"from :%d" % parent] if parent else []),
        *([b"merge :%d" % merge] if merge else []),
    ]
    return b"\n".join(lines) + b"\n"


def _file(path: str, lines: list[str]) -> bytes:
    content = ("\n".join(lines) + "\n").encode()
    return b"M 100644 inline %b\ndata %d\n%b\n" % (path.encode(), len(content), content)
