"""A pattern of a bug's oracle, looked for in what its runs wrote.

Both are a stranger's: a pattern can be made so that a search never ends, or keeps the whole text
at every place of it, and nothing stops one in the process that makes it. So it is made in a process
of its own, with limits of processor time and memory; what it gives back is limited too.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence

SECONDS = 10.0  # of processor time, for all texts of a bug together
_PATIENCE_S = 300.0  # of real time, on a busy host
MEMORY = 512 << 20  # bytes, beside those of the texts
_COPIES = 8  # of the texts that reading them takes
MOST_MATCHES = 10_000  # of one text: the last ones
LONGEST_MATCH = 1_000  # characters; the first ones
_MOST_CHARACTERS = 1 << 20  # of all matches of one text
_PROGRAM = f"""
import collections, json, re, resource, signal, sys
most = int(sys.argv[1])
try:
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
except (OSError, ValueError):  # a host with a lower one, or without
    pass
asked = json.load(sys.stdin)
signal.setitimer(signal.ITIMER_PROF, asked["seconds"])  # whose signal ends the process
pattern = re.compile(asked["pattern"], re.MULTILINE)
group = 1 if pattern.groups else 0
found = []
for text in asked["texts"]:
    kept, size = collections.deque(), 0
    for match in pattern.finditer(text):
        start, end = match.span(group)  # -1 of a group that took no part
        each = text[start : min(end, start + {LONGEST_MATCH})] if start >= 0 else ""
        kept.append(each)
        size += len(each)
        while len(kept) > {MOST_MATCHES} or size > {_MOST_CHARACTERS}:
            size -= len(kept.popleft())
    found.append(list(kept))
json.dump(found, sys.stdout)
"""


class PatternError(Exception):
    """The pattern could not be looked for; the text says why."""


def find_all(pattern: str, texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The first group of every match in each text, in order; all that matched without a group."""
    if not any(texts):
        return [() for _ in texts]
    asked = json.dumps({"pattern": pattern, "texts": list(texts), "seconds": SECONDS}).encode()
    most = MEMORY + _COPIES * len(asked)
    try:
        ended = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, str(most)],
            input=asked,
            capture_output=True,
            env={},
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PatternError("looking for its pattern takes too long") from None
    if ended.returncode == -signal.SIGPROF:
        raise PatternError("looking for its pattern takes too long")
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        if "MemoryError" in said or ended.returncode < 0:
            raise PatternError("looking for its pattern takes too much memory")
        raise PatternError(f"its pattern cannot be looked for: {said}")
    found: list[list[str]] = json.loads(ended.stdout)
    return [tuple(each) for each in found]
