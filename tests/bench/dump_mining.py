"""Data dumps: the speed and memory of `miner posts --from-dump`, against lxml and grep.

Each way is a program of its own, so that its CPU seconds are all that it took, starting Python
and importing included. The ways of ours and of lxml end in the same rows, by their hash.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple
from xml.sax.saxutils import escape

from dump_ways import TAGS
from measured import Measured

WAYS = Path(__file__).with_name("dump_ways.py")
MEGABYTES = int(os.environ.get("BENCH_DUMP_MB", "500"))
ROUNDS = 4
# Frequent tags of Stack Overflow, the most frequent first, and some that hold the names of others.
_FREQUENT = [
    "javascript", "python", "java", "c#", "php", "android", "html", "jquery", "c++", "css", "ios",
    "sql", "mysql", "r", "reactjs", "node.js", "arrays", "c", "asp.net", "json", "python-3.x",
    "ruby-on-rails", ".net", "sql-server", "swift", "django", "angular", "objective-c", "excel",
    "pandas", "angularjs", "regex", "typescript", "ruby", "linux", "ajax", "xml", "vb.net",
    "numpy", "spring", "keras-layer", "tensorflow2.0", "tensorflow-lite", "tf.keras", "pytorch",
    "machine-learning",
]  # fmt: skip


def measures() -> list[Measured]:
    """The lines of the table."""
    with dump(MEGABYTES) as large:
        lxml, lxml_twice = least("lxml", large), least("lxml_answers", large)
        filtered, with_answers = least("filter", large), least("answers", large)
        grep = min(grep_cpu(large) for _round in range(ROUNDS))
        stored, peak = imported(large)
        if not lxml.rows == filtered.rows:
            raise RuntimeError("the tag filter finds other rows than lxml")
        if lxml_twice.rows != with_answers.rows:
            raise RuntimeError("the search for answers finds other rows than lxml")
    with dump(MEGABYTES // 5) as small:
        small_peak = imported(small)[1]
    size = f"{MEGABYTES} MB dump:"
    return [
        # Ours makes a hash of the file as well.
        _line(f"{size} tag filter / lxml", filtered.cpu_s, lxml.cpu_s, 0.2),
        _line(f"{size} tag filter / grep -cF", filtered.cpu_s, grep, 3),
        _line(f"{size} and answers / lxml twice", with_answers.cpu_s, lxml_twice.cpu_s, 0.33),
        _line(f"{size} into a study / lxml twice", stored, lxml_twice.cpu_s, 1),
        _line(f"memory of that, {MEGABYTES} / {MEGABYTES // 5} MB", peak, small_peak, 1.3, "MB"),
    ]


def _line(
    what: str, ours: float, other: float, most: float, unit: Literal["s", "MB"] = "s"
) -> Measured:
    return Measured(what, ours, other, f"<= {most:g}", ours / other <= most, unit)


class Spent(NamedTuple):
    """CPU seconds, and a hash of the rows that they brought."""

    cpu_s: float
    rows: str


def least(way: str, path: Path) -> Spent:
    """The least of some rounds: what others do on the machine only ever adds."""
    rounds = 2 if way.startswith("lxml") else ROUNDS
    return min(cpu(way, path) for _round in range(rounds))


def cpu(way: str, path: Path) -> Spent:
    """What a way takes in a process of its own."""
    spent, said, _peak = _run([sys.executable, str(WAYS), way, str(path)])
    return Spent(spent, said)


def grep_cpu(path: Path) -> float:
    """CPU seconds of grep for the same tags in both spellings; it counts lines, ours reads rows."""
    needles = [text for tag in TAGS for text in (f"|{tag}|", f"&lt;{tag}&gt;")]
    words = [word for needle in needles for word in ("-e", needle)]
    return _run(["grep", "-cF", *words, str(path)])[0]


def imported(path: Path) -> tuple[float, float]:
    """CPU seconds and peak megabytes of bringing a dump into a new study."""
    with tempfile.TemporaryDirectory() as folder:
        spent, _said, peak = _run([sys.executable, str(WAYS), "study", str(path), folder])
    return spent, peak


def _run(command: list[str]) -> tuple[float, str, float]:
    with tempfile.TemporaryFile() as said:  # not /dev/null, for which grep stops at the first line
        child = subprocess.Popen(command, stdout=said)
        _pid, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read().decode().strip()
    if child.returncode:
        raise RuntimeError(f"{command} ended with {child.returncode}")
    scale = 1024 if sys.platform != "darwin" else 1024**2
    return usage.ru_utime + usage.ru_stime, text, usage.ru_maxrss / scale


@contextmanager
def dump(megabytes: int) -> Iterator[Path]:
    """A Posts.xml of that size, the same every time, as long as it is needed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "Posts.xml"
        write_dump(path, megabytes)
        yield path


def write_dump(path: Path, megabytes: int) -> None:
    """Rows of about the size that real ones have (1.6 KB), two in five of them questions."""
    draw = random.Random(4)  # noqa: S311  (seeded)
    letters = "etaoinshrdlucmfwypvbgk"
    words = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _word in range(3_000)]
    rare = [f"{draw.choice(words)}-{draw.choice(words)}" for _tag in range(8_000)]
    weights = [1 / (place + 2) for place in range(len(_FREQUENT))]
    bodies = [_body(draw, words) for _body_ in range(5_000)]
    size, number, questions = 0, 0, [1]
    with path.open("wb") as file:
        file.write(b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>\r\n<posts>\r\n')
        while size < megabytes * 1_000_000:
            number += 1
            body, day = draw.choice(bodies), f"20{10 + number // 40_000 % 14}-05-14T08:11:02.157"
            if draw.random() < 0.42:
                names = draw.choices(_FREQUENT, weights, k=draw.randint(1, 3))
                names += draw.choices(rare, k=draw.randint(0, 2))
                if draw.random() < 0.015:
                    names[-1] = draw.choice(TAGS)
                is_old = size < megabytes * 200_000  # the first fifth
                said = (
                    "".join(f"&lt;{tag}&gt;" for tag in names) if is_old else f"|{'|'.join(names)}|"
                )
                accepted = f' AcceptedAnswerId="{number + 3}"' if draw.random() < 0.5 else ""
                title = " ".join(draw.choices(words, k=8))
                row = (
                    f'  <row Id="{number}" PostTypeId="1"{accepted} CreationDate="{day}" '
                    f'Score="{draw.randrange(50)}" ViewCount="{draw.randrange(5000)}" '
                    f'Body="{body}" OwnerUserId="{draw.randrange(10**6)}" LastEditorUserId="1" '
                    f'LastEditDate="{day}" LastActivityDate="{day}" Title="{title}" Tags="{said}" '
                    'AnswerCount="2" CommentCount="1" ContentLicense="CC BY-SA 4.0" />\r\n'
                )
                questions.append(number)
            else:
                parent = questions[-1 - min(len(questions) - 1, int(draw.expovariate(0.01)))]
                row = (
                    f'  <row Id="{number}" PostTypeId="2" ParentId="{parent}" CreationDate="{day}" '
                    f'Score="{draw.randrange(50)}" Body="{body}" '
                    f'OwnerUserId="{draw.randrange(10**6)}" LastActivityDate="{day}" '
                    'CommentCount="1" ContentLicense="CC BY-SA 4.0" />\r\n'
                )
            size += file.write(row.encode())
        file.write(b"</posts>")


def _body(draw: random.Random, words: list[str]) -> str:
    count = max(10, int(draw.expovariate(1 / 170)))
    text = " ".join(draw.choices(words, k=count))
    half = len(text) // 2
    page = (
        f"<p>{text[:half]}</p>\n<p>I use <code>keras</code> and x | y:</p>\n<pre><code>"
        'a = "b" & c\n'
        f"for i in range(10):\n    print(i)\n</code></pre>\n<p>{text[half:]}</p>\n"
    )
    return escape(page, {'"': "&quot;", "\n": "&#xA;"})
