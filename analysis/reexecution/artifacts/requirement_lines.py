"""Lines of `requirements.txt` that cannot be used: those that a build refuses, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from faultatlas.analysis.reexecution.artifacts.problems import Problem, quoted
from faultatlas.analysis.reexecution.artifacts.reading import REQUIREMENTS

_PACKAGES = (".whl", ".zip", ".tar.gz")
_CONDA = re.compile(r"[\w.-]+=[\w.]+(=\w+)?")
_FETCHED = re.compile(
    r"(?:-e\s+|--editable[= ])?(?:git|hg|svn|bzr)\+|https?://|.+@\s*(?:git\+|http)"
)


def requirement_problems(lines: tuple[str, ...], folder: Path) -> Iterator[Problem]:
    """What a build would stumble over, each line by itself."""
    for line in lines:
        text, next_step = _wrong(line, folder)
        if text:
            yield Problem(
                REQUIREMENTS,
                f"{quoted(line)} {text}",
                next_step,
                "warning" if text.startswith("is fetched") else "error",
            )


def _wrong(line: str, folder: Path) -> tuple[str, str]:
    # Light where nothing is validated: it needs the grammar of versions and markers.
    from faultatlas.analysis.reexecution.environments.requirements import Line

    if _FETCHED.match(line):
        return "is fetched from elsewhere when the environment is built", "Pin a release instead."
    if line.startswith("-") or (line.endswith(_PACKAGES) and "://" not in line):
        return _option(line, folder)
    if line.startswith((".", "/", "file:")) or "@ file:" in line:
        return "names a path of somebody's machine", "Write the package's name and version."
    if Line(re.sub(r"\s+--hash=\S+", "", line)).parsed is not None:
        return "", ""
    if _CONDA.fullmatch(line):
        return "is a line of conda", "Write name==version."
    return "is no requirement", "Write name==version."


def _option(line: str, folder: Path) -> tuple[str, str]:
    """What leads to files: whoever builds the environment says whether it is taken."""
    from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem
    from faultatlas.analysis.reexecution.environments.requirements import read

    try:
        read((line,), folder)
    except EnvironmentProblem as problem:
        if "leaves the bug's folder" in problem.line:
            return "names a place outside of the bug's folder", "Put the files into it."
        if "no such file" in problem.line:
            return "names a file that is not there", "Put it into the bug's folder."
        return "is an option that is not accepted here", "Write all requirements in this file."
    return "", ""
