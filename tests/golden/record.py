"""Record what the old program does, or compare it with the new one: `make record ONLY=G06`.

The cases run in the old program, commit d9e4d64, which `make old` installs into the user's cache.
`expected/` is written by this and never edited. With `--compare` nothing is written: both
programs run now, and what differs is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from golden.stage import Case, Stage, cases, differences, played
from program import Call, Child, Ended, run

COMMIT = "d9e4d64"


def old_python() -> Path:
    """The Python of the old program's environment."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    python = cache / "faultatlas" / f"old-{COMMIT}" / ".venv" / "bin" / "python"
    if not python.exists():
        sys.exit(f"{python} is missing: run make old")
    return python


def main() -> int:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cases, such as G06,G35")
    parser.add_argument("--compare", action="store_true", help="run both programs, write nothing")
    options = parser.parse_args()
    chosen = set(options.only.upper().split(",")) - {""}
    status = 0
    with Child(old_python()) as old:
        for case in cases():
            if chosen and case.name not in chosen:
                continue
            if case.is_real and not real_data():
                print(f"{case.name}: set STUDY_FIXTURES to the folder of the real data")
                status = 1
                continue
            before = _played(case, old.run, is_old=True)
            if before.broken:
                print(*(f"{label}: {printed}" for label, printed in before.printed.items()))
                print(f"{case.name}: {before.broken}")
                status = 1
                continue
            if options.compare:
                status |= _report(case, before, _played(case, run))
            else:
                _write(case, before)
    return status


def real_data() -> Path | None:
    """The folder of the real data of the studies, if there is one."""
    folder = os.environ.get("STUDY_FIXTURES")
    return Path(folder) if folder else None


def _played(case: Case, call: Callable[[Call], Ended], *, is_old: bool = False) -> Stage:
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(case, Path(folder).resolve() / "stage", call, is_old, real_data())
        return played(case, stage)


def _write(case: Case, stage: Stage) -> None:
    text = ",\n".join(
        f"{json.dumps(label)}: {json.dumps(found, ensure_ascii=False, separators=(',', ':'))}"
        for label, found in stage.recorded().items()
    )
    case.expected.parent.mkdir(exist_ok=True)
    case.expected.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
    print(f"{case.name}: {len(stage.observed)} observations, {len(text) / 1000:.0f} KB")
    for label, found in stage.observed.items():
        if label.endswith(": exit") and found["value"] != [0]:
            print(f"  {label} {found['value'][:12]}")


def _report(case: Case, before: Stage, after: Stage) -> int:
    found = differences(before.recorded(), after)
    print(f"{case.name}: {len(found.problems)} differences, {len(found.additions)} additions")
    for text in found.problems:
        print(f"  {text}")
    for text in found.additions:
        print(f"  new: {text}")
    return int(bool(found.problems))


if __name__ == "__main__":
    sys.exit(main())
