"""Speed and memory as ratios within one run: machines are noisy, ratios less so.

    python tests/bench/run.py [--only PART,...] [--write PAGE.md] [--json FILE]

With --json, parts that are not measured now are taken from the file, if it is of this machine and
version. The exit code is 1 if a target is missed or a part fails.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # `bench` itself, and parts of the tests

from bench import page, raw
from bench.machine import machine
from bench.parts import PARTS, Part, chosen, run_parts

from faultatlas.data.provenance import program_version


def main(words: list[str] | None = None) -> int:
    """Print the table; write the page if one is asked for."""
    options = argparse.ArgumentParser(prog="make bench", description=__doc__.split("\n\n")[0])
    options.add_argument("--only", default="", help=f"parts with commas: {', '.join(PARTS)}")
    options.add_argument("--write", type=Path, help="write the page to this file")
    options.add_argument("--json", type=Path, help="keep all raw numbers in this file")
    asked = options.parse_args(words)
    try:
        names = chosen(asked.only)
    except ValueError as error:
        options.error(str(error))
    os.environ["NO_COLOR"] = "1"
    # Where it is set, every process would compile every module again: that is not measured here.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    facts, version = machine(), program_version()
    before = raw.earlier(asked.json, facts, version) if asked.json else {}
    parts: list[Part] = []
    for part in run_parts(names, tell=lambda text: print(text, file=sys.stderr, flush=True)):
        parts.append(part)
        # After each part: a run takes long, and what is interrupted leaves what it has.
        every = raw.joined(parts, before)
        if asked.write:
            asked.write.write_text(page.page(every, facts, version, len(PARTS)), encoding="utf-8")
        if asked.json:
            found = raw.document(every, facts, version)
            asked.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(page.text(parts))
    return 0 if all(part.is_good for part in parts) else 1


if __name__ == "__main__":
    sys.exit(main())
