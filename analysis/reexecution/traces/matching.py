"""A pattern of a bug's oracle, looked for in what its runs wrote.

Both are a stranger's: a pattern can be made so that a search never ends, and nothing stops one in
the process that makes it. So it is made in a process of its own, with a limit of processor time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

SECONDS = 10.0  # of processor time, for all texts of a bug together
_PATIENCE_S = 300.0  # of real time, on a busy host
MOST_MATCHES = 10_000  # of one text: the last ones
_PROGRAM = f"""
import json, re, signal, sys
asked = json.load(sys.stdin)
signal.setitimer(signal.ITIMER_PROF, asked["seconds"])  # whose signal ends the process
pattern = re.compile(asked["pattern"], re.MULTILINE)
group = 1 if pattern.groups else 0
found = []
for text in asked["texts"]:
    matches = [match[group] or "" for match in pattern.finditer(text)]
    found.append([each[:1000] for each in matches[-{MOST_MATCHES}:]])
json.dump(found, sys.stdout)
"""


class PatternError(Exception):
    """The pattern could not be looked for; the text says why."""


def find_all(pattern: str, texts: Sequence[str]) -> list[tuple[str, ...]]:
    """The first group of every match in each text, in order; all that matched without a group."""
    if not any(texts):
        return [() for _ in texts]
    asked = json.dumps({"pattern": pattern, "texts": list(texts), "seconds": SECONDS})
    try:
        ended = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=asked.encode(),
            capture_output=True,
            env={},
            timeout=_PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PatternError("looking for its pattern takes too long") from None
    if ended.returncode < 0:
        raise PatternError("looking for its pattern takes too long")
    if ended.returncode:
        said = ended.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise PatternError(f"its pattern cannot be looked for: {said}")
    found: list[list[str]] = json.loads(ended.stdout)
    return [tuple(each) for each in found]
