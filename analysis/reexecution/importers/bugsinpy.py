"""BugsInPy: `projects/<p>/bugs/<n>/{bug.info, bug_patch.txt, run_test.sh, requirements.txt}`.

It has metadata only. With a clone of the project in `clones/<p>` (in its folder or beside it), or
one that was mined, both sides are taken from it; without one they are missing.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from faultatlas.analysis.reexecution.artifacts.places import is_behind_link
from faultatlas.analysis.reexecution.artifacts.reading import requirement_lines
from faultatlas.analysis.reexecution.bugs import (
    SIDES,
    Bug,
    Commands,
    EnvironmentSpec,
    Fidelity,
    Labels,
    Limits,
    Oracle,
    Symptom,
)
from faultatlas.analysis.reexecution.importing.building import each_bug, store
from faultatlas.analysis.reexecution.importing.clones import day_of, export, find_clone
from faultatlas.analysis.reexecution.importing.imported import Imported
from faultatlas.analysis.reexecution.importing.suites import Steps, steps
from faultatlas.analysis.reexecution.importing.texts import line, slug, text_of
from faultatlas.analysis.reexecution.importing.versions_by_date import python_on
from faultatlas.data.errors import StudyError

NAME = "bugsinpy"
_FRAMEWORKS = ("keras", "tensorflow", "pytorch", "numpy", "pandas", "scikit-learn", "spacy")
_KEY = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*['\"]?(.*?)['\"]?[ \t\r]*$", re.MULTILINE)


def recognises(folder: Path) -> bool:
    """Whether it is the repository, or its folder `projects`."""
    return any(not is_behind_link(each, folder) for each in _folders(folder))


def import_bugs(folder: Path, into: Path, *, dated: Callable[[str], str] | None = None) -> Imported:
    """All bugs of the set; `dated` says the day of a commit's address where a study knows it."""
    return each_bug(folder, _folders(folder), partial(_import, folder, into, dated))


def _folders(folder: Path) -> list[Path]:
    home = folder / "projects" if (folder / "projects").is_dir() else folder
    found = [path.parent for path in home.glob("*/bugs/*/bug.info")]
    return sorted(found, key=lambda path: (path.parts[-3], path.name.zfill(6)))


def read_info(text: str) -> dict[str, str]:
    """Keys and values of `bug.info` or `project.info`, with or without spaces and quotes."""
    return {key.lower(): value.strip() for key, value in _KEY.findall(text)}


def _import(
    root: Path,
    into: Path,
    dated: Callable[[str], str] | None,
    folder: Path,
    imported: Imported,
) -> None:
    project = folder.parts[-3]
    name = slug(f"{project}-{folder.name}")
    say = partial(imported.say, name)
    info = read_info(text_of(folder / "bug.info"))
    url = read_info(text_of(folder.parent.parent / "project.info")).get("github_url", "").strip("/")
    commits = {side: info.get(f"{side}_commit_id", "") for side in SIDES}
    tests = [each.strip() for each in info.get("test_file", "").split(";") if each.strip()]
    plan = _plan(text_of(folder / "run_test.sh"))
    notes = [f"its run_test.sh: {each}" for each in plan.notes]
    if (folder / "setup.sh").is_file():
        notes.append(f"its setup.sh is not run: {line(text_of(folder / 'setup.sh'))}")
    if path := info.get("pythonpath"):
        notes.append(f"it wants {line(path)} on PYTHONPATH")
    clone = find_clone(root, project, url)
    fix = f"{url}/commit/{commits['fixed']}" if url and commits["fixed"] else url
    python, guessed = _python(info, clone, commits["fixed"], dated, fix)
    if guessed:
        say(f"python is not declared; {python} was guessed")
    commands = Commands(plan.commands) if plan.commands else None
    if commands is None:
        say("no command could be read from run_test.sh; write them into bug.toml")
    bug = Bug(
        bug_id=f"{NAME}/{name}",
        folder=into / name,
        title=line(f"{project} {folder.name}: {info.get('test_file', '')}"),
        url=line(fix),
        source="github" if "github.com" in url else "",
        labels=Labels(framework=project.lower() if project.lower() in _FRAMEWORKS else ""),
        environment=EnvironmentSpec(
            python, requirement_lines(text_of(folder / "requirements.txt")), (), guessed
        ),
        data=(),
        runs=dict.fromkeys(SIDES, commands) if commands else {},
        clean=(),
        outputs=(),
        # A failing test ends its runner with the exception that the test reports.
        oracle=Oracle(Symptom.CRASH),
        limits=Limits(seconds=900.0),
        fidelity=(Fidelity.GUESSED,) if guessed else (Fidelity.DECLARED,),
        own_oracle={"tests": tests},
        notes=tuple(notes),
    )
    if clone is None:
        say(f"the set has no sources: clone {url or project} into clones/{project}, import again")
        store(bug, into, [], imported)
        return
    # On the disk of the study: a project may be larger than /tmp.
    into.mkdir(parents=True, exist_ok=True)
    drafts = Path(tempfile.mkdtemp(prefix=".exporting-", dir=into))
    try:
        _export(clone, commits, tests, drafts, say)
        store(bug, into, [(drafts / side, side) for side in SIDES], imported)
    except StudyError as error:
        say(error.message)
        store(bug, into, [], imported)
    finally:
        shutil.rmtree(drafts, ignore_errors=True)


def _export(
    clone: Path, commits: dict[str, str], tests: list[str], drafts: Path, say: partial[None]
) -> None:
    """Both versions; the tests that show the bug came with its fix, and go to both."""
    for side in SIDES:
        for each in export(clone, commits[side], drafts / side):
            say(f"{side}: {each}")
    for each in export(clone, commits["fixed"], drafts / "buggy", only=tests):
        say(f"its test on the buggy side: {each}")
    if not tests:
        say("no test_file is named: the buggy side has the tests of its own commit")


def _plan(text: str) -> Steps:
    """Its commands; `pytest` and `tox` become modules of the environment's Python."""
    lines = []
    for each in text.splitlines():
        words = each.strip()
        if re.match(r"py\.?test\b", words):
            words = re.sub(r"^py\.?test", "python -m pytest", words)
        elif words.startswith("tox "):
            words = f"python -m pytest {words[4:]}"  # tox would build an environment of its own
        lines.append(words)
    return steps([each for each in lines if each and not each.startswith("#")])


def _python(
    info: dict[str, str],
    clone: Path | None,
    commit: str,
    dated: Callable[[str], str] | None,
    url: str,
) -> tuple[str, tuple[str, ...]]:
    """As declared; else the one that was usual on the day of the fix."""
    if declared := re.search(r"[23]\.\d+(?:\.\d+)?", info.get("python_version", "")):
        return declared[0], ()
    day = (dated(url) if dated else "") or (day_of(clone, commit) if clone else "")
    return python_on(day or "2020-01-01"), ("python",)
