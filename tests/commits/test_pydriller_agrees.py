"""PyDriller, which the studies before used, counts the same files, hunks and lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from commits_reading import Reading
from repositories_on_disk import Repository, linear

# In another process: it and what it imports warn of this and that.
PROGRAM = """
import json, sys
from pydriller import Repository
found = {}
for commit in Repository(sys.argv[1]).traverse_commits():
    found[commit.hash] = sorted(
        [file.new_path or file.old_path, file.added_lines, file.deleted_lines,
         sum(line.startswith("@@ -") for line in file.diff.splitlines())]
        for file in commit.modified_files
    )
json.dump(found, sys.stdout)
"""


def history(folder: Path) -> Repository:
    made = linear(folder, 5)
    text = b"".join(b"line %d\n" % number for number in range(30))
    tip = made.git("rev-parse", "main").decode()
    first = made.commit({"a": text, "b": b"1\n", "empty": b""}, b"one", [tip])
    edited = text.replace(b"line 3\n", b"").replace(b"line 25\n", b"++ 25\n-- 26\n")
    second = made.commit({"c/a": edited, "b": b"1", "empty": b"no\n"}, b"two", [first])
    side = made.commit({"a": text, "b": b"2\n"}, b"side", [first], branch=None)
    merge = made.commit({"c/a": edited, "b": b"2\n"}, b"merge", [second, side])
    made.commit({}, b"nothing left", [merge])
    return made


def test_counts_are_equal(tmp_path: Path, reading: Reading) -> None:
    made = history(tmp_path / "history.git")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", made.folder, clone], check=True)
    reading.read(made.folder, "--all")
    words = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(clone)]
    theirs = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
    ours: dict[str, list[list[object]]] = {sha: [] for sha in theirs}
    for sha, *file in reading.rows(
        "SELECT sha, path, added, deleted, hunks FROM commit_files ORDER BY path"
    ):
        ours[sha].append(file)
    assert ours == theirs
    assert len(theirs) == 10
