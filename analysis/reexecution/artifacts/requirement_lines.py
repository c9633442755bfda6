"""Lines of `requirements.txt` that cannot be used."""

from __future__ import annotations

import re
from collections.abc import Iterator

from analysis.reexecution.artifacts.places import wrong_path
from analysis.reexecution.artifacts.problems import Problem, quoted
from analysis.reexecution.artifacts.reading import REQUIREMENTS

_OPTIONS = ("--find-links", "-f", "--extra-index-url", "--index-url", "-i", "--no-index", "--pre",
            "--only-binary", "--no-binary", "--prefer-binary", "--trusted-host")  # fmt: skip
_CONDA = re.compile(r"[\w.-]+=[\w.]+(=\w+)?")
_FETCHED = re.compile(
    r"(?:-e\s+|--editable[= ])?(?:git|hg|svn|bzr)\+|https?://|.+@\s*(?:git\+|http)"
)


def requirement_problems(lines: tuple[str, ...]) -> Iterator[Problem]:
    """What a build would stumble over, each line by itself."""
    for line in lines:
        text, next_step = _wrong(line)
        if text:
            severity = "warning" if text.startswith("is fetched") else "error"
            yield Problem(
                REQUIREMENTS,
                f"{quoted(line)} {text}",
                next_step,
                "warning" if severity == "warning" else "error",
            )


def _wrong(line: str) -> tuple[str, str]:
    from packaging.requirements import InvalidRequirement, Requirement

    if _FETCHED.match(line):
        return "is fetched from elsewhere when the environment is built", "Pin a release instead."
    if line.startswith("-"):
        return _option(line)
    if line.startswith((".", "/", "file:")) or "@ file:" in line:
        return "names a path of somebody's machine", "Write the package's name and version."
    try:
        Requirement(re.sub(r"\s+--hash=\S+", "", line))
    except InvalidRequirement:
        if _CONDA.fullmatch(line):
            return "is a line of conda", "Write name==version."
        return "is no requirement", "Write name==version."
    return "", ""


def _option(line: str) -> tuple[str, str]:
    name, _, value = line.partition("=" if line.startswith("--") and "=" in line else " ")
    if name not in _OPTIONS:
        return "is an option that is not accepted here", "Write all requirements in this file."
    local = value.strip()
    if name in {"--find-links", "-f"} and "://" not in local and wrong_path(local):
        return "names a folder outside of the bug's", "Put the files into the bug's folder."
    return "", ""
