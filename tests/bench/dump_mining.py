"""Data dumps: the speed and memory of `miner posts --from-dump`, against lxml and grep.

Each way is a program of its own, so that its CPU seconds are all that it took, starting Python
and importing included. The ways of ours and of lxml end in the same rows, by their hash.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from xml.sax.saxutils import escape

from bench.dump_ways import TAGS
from bench.measured import Line, NotMeasured, Spent, Target, child, in_turn

WAYS = Path(__file__).with_name("dump_ways.py")
MEGABYTES = int(os.environ.get("BENCH_DUMP_MB", "500"))
ROUNDS = 3
# Frequent tags of Stack Overflow, the most frequent first, and some that hold the names of others.
_FREQUENT = [
    "javascript", "python", "java", "c#", "php", "android", "html", "jquery", "c++", "css", "ios",
    "sql", "mysql", "r", "reactjs", "node.js", "arrays", "c", "asp.net", "json", "python-3.x",
    "ruby-on-rails", ".net", "sql-server", "swift", "django", "angular", "objective-c", "excel",
    "pandas", "angularjs", "regex", "typescript", "ruby", "linux", "ajax", "xml", "vb.net",
    "numpy", "spring", "keras-layer", "tensorflow2.0", "tensorflow-lite", "tf.keras", "pytorch",
    "machine-learning",
]  # fmt: skip


def measures() -> Iterator[Line | str]:
    """The lines of the table."""
    with dump(MEGABYTES) as large:
        lxml, found, grep = in_turn(
            partial(_way, "lxml", large),
            partial(_way, "filter", large),
            partial(_grep, large),
            count=ROUNDS,
        )
        lxml_twice, answers, stored = in_turn(
            partial(_way, "lxml_answers", large),
            partial(_way, "answers", large),
            partial(imported, large),
            count=ROUNDS,
        )
        _same("the tag filter", lxml, found)
        _same("the search for answers", lxml_twice, answers)
    what = f"{MEGABYTES} MB of posts"
    yield Line(f"{what}: questions with a tag", "lxml", _cpu(found), _cpu(lxml),
               target=Target(ratio=0.2))  # fmt: skip
    yield Line(f"{what}: questions with a tag", "`grep -cF`", _cpu(found), _cpu(grep),
               target=Target(ratio=3))  # fmt: skip
    yield Line(f"{what}: and their answers", "lxml twice", _cpu(answers), _cpu(lxml_twice),
               target=Target(ratio=0.33))  # fmt: skip
    yield Line(f"{what}: all of it into a study", "lxml twice", _cpu(stored), _cpu(lxml_twice),
               target=Target(ratio=1))  # fmt: skip
    with dump(MEGABYTES // 5) as small:
        less = imported(small).peak_mb
    peak = max(each.peak_mb for each in stored)
    yield Line(f"memory of that, {MEGABYTES} MB", f"{MEGABYTES // 5} MB", (peak,), (less,), "MB",
               Target(ratio=1.3))  # fmt: skip
    yield (
        "Ours and lxml end in the same rows, by their hash, and ours makes a hash of the file as "
        "well; grep counts lines."
    )


def _cpu(found: Sequence[Spent]) -> tuple[float, ...]:
    return tuple(each.cpu_s for each in found)


def _same(what: str, one: Sequence[Spent], other: Sequence[Spent]) -> None:
    if len({each.said for each in (*one, *other)}) != 1:
        raise RuntimeError(f"{what} finds other rows than lxml")


def _way(way: str, path: Path) -> Spent:
    """What a way takes in a process of its own."""
    return child([sys.executable, WAYS, way, path])


def _grep(path: Path) -> Spent:
    """grep for the same tags in both spellings."""
    needles = [text for tag in TAGS for text in (f"|{tag}|", f"&lt;{tag}&gt;")]
    if shutil.which("grep") is None:
        raise NotMeasured("there is no grep on this machine")
    return child(["grep", "-cF", *(word for needle in needles for word in ("-e", needle)), path])


def imported(path: Path) -> Spent:
    """Bringing a dump into a new study."""
    with tempfile.TemporaryDirectory() as folder:
        return child([sys.executable, WAYS, "study", path, folder])


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
