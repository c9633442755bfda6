"""Where a token comes from: a file that the user names, or the environment.

A token raises the quota and opens private trackers. It is read here, remembered as a secret
(`faultatlas.data.redaction`), and handed to the client; no error of this module shows what it read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from faultatlas.data.errors import StudyError
from faultatlas.data.redaction import SHORTEST, remember_secret

Wanted = Literal["github", "gitee", "stackoverflow", "openalex", "scopus"]

_VARIABLES: dict[Wanted, str] = {
    "github": "GITHUB_TOKEN",
    "gitee": "GITEE_TOKEN",
    "stackoverflow": "STACKEXCHANGE_KEY",
    "openalex": "OPENALEX_API_KEY",
    "scopus": "SCOPUS_API_KEY",
}
_LONGEST = 1000  # characters; GitHub's own have under 300
_OPTION = "--token-file"


@dataclass(frozen=True)
class Token:
    """A secret, and where it came from: `GITHUB_TOKEN`, ... or `--token-file`."""

    value: str = field(repr=False)
    name: str


def find_token(
    source: Wanted,
    token_file: Path | None,
    environment: Mapping[str, str],
    tell: Callable[[str], None] | None = None,
) -> Token | None:
    """The token for a source, or None; `tell` is told when others may read the file."""
    if token_file is not None:
        token = Token(_first_line(token_file, tell), _OPTION)
    else:
        name = _VARIABLES[source]
        token = Token(environment.get(name, "").strip(), name)
        if not token.value:
            return None
    _check(token)
    remember_secret(token.value)
    return token


def variable_of(source: Wanted) -> str:
    """The environment variable that may hold a token for the source."""
    return _VARIABLES[source]


def _first_line(path: Path, tell: Callable[[str], None] | None) -> str:
    try:
        # Not Path.stat: what is opened is what is judged. It may be a pipe: <(gh auth token).
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            start = file.read(64 * _LONGEST)
    except OSError as error:
        raise StudyError(
            f"the token file {path} cannot be read: {error.strerror or 'no such file'}",
            f"Check the path given with {_OPTION}.",
        ) from None
    if b"\0" in start:
        raise _no_token_file(path, "is no text file")
    # The first line alone decides: what follows may be a note in any encoding.
    lines = (line.strip() for line in start.removeprefix(b"\xef\xbb\xbf").splitlines())
    first = next((line for line in lines if line), b"")
    if not first:
        raise _no_token_file(path, "is empty")
    if tell and os.name == "posix" and stat.S_ISREG(mode) and mode & (stat.S_IRGRP | stat.S_IROTH):
        tell(f"others on this machine may read {path}; close it with: chmod 600 {path}")
    # What is not ASCII becomes a character that no token may hold.
    return first.decode("ascii", errors="replace")


def _no_token_file(path: Path, why: str) -> StudyError:
    return StudyError(
        f"the token file {path} {why}", "It must hold the token alone, on its first line."
    )


def _check(token: Token) -> None:
    value = token.value
    if len(value) > _LONGEST:
        why = f"has more than {_LONGEST} characters"
    elif len(value) < SHORTEST:
        why = f"has fewer than {SHORTEST} characters"
    elif not all("!" <= character <= "~" for character in value):
        why = "holds spaces, control characters or letters that no token has"
    else:
        return
    where = "the first line of the token file" if token.name == _OPTION else token.name
    raise StudyError(
        f"{where} {why}", "Copy the token again; it must stand alone, without quotes around it."
    )
