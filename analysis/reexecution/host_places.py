"""Where things lie on the host's disk, taken out of a text: of a path its last part stays."""

from __future__ import annotations

import os
import posixpath
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path

from faultatlas.analysis.reexecution.environments.folders import cache_folder

_INSIDE = "/bug/"  # every run sees its own folder so: that is no place of the host
_COMMON = frozenset({"/", "/usr", "/usr/local", "/opt", "/bug"})  # they say nothing of anybody
_HIDDEN = "\ue000"  # stands for what is taken out; no text has it, for it is not printable
_ENDS = r"\s\"'`<>|,;:()\[\]{}"
_PART = rf"[^/{_ENDS}]"
_SIDE = rf"[^/\\{_ENDS}]"  # of a path of Windows

# The name of somebody's home may have spaces, where more of the path follows. No relative path:
# data/outside/home is a place of every bug.
_PERSON = re.compile(
    r"((?:(?<![\w./~])|(?<=\s-[A-Za-z]))/++(?:home|Users)/+|\\Users\\{1,2})"
    rf"({_SIDE}++(?: [^\W_]{_SIDE}*+){{0,2}})(?=[/\\])"
)
_QUOTED = re.compile(r"(?<=(['\"`]))/[^'\"`]{1,500}(?=\1)")
# After a word such as -I or ~ann or none; no part of an address (https://...), no relative path.
_POSIX = re.compile(
    r"(?P<option>(?<![\w-])-{1,2}[A-Za-z][\w-]*+|(?<!<path>)(?<![\w./~]))"
    r"(?P<start>file:/{0,2}(?=/)|~[\w.-]*+)?"
    rf"(?P<place>(?:(?<!:)/+|/){_PART}++(?:/+{_PART}++)*+/*+)"
)
_WINDOWS = re.compile(
    r"(?<![\w\\])(?:[A-Za-z]:\\{1,2}|\\{2,4}(?=[A-Za-z0-9][\w.$-]+\\{1,2}[\w.$-]{2}))"
    rf"((?:{_SIDE}++\\{{1,2}})*+{_SIDE}*+)"
)
_HOME = re.compile(r"/(?:home|Users)/[^/]+")
_hidden: ContextVar[tuple[Path, ...]] = ContextVar("_hidden", default=())


@contextmanager
def hiding(*folders: Path) -> Iterator[None]:
    """While this lasts, these folders of the host are known too."""
    token = _hidden.set((*_hidden.get(), *folders))
    try:
        yield
    finally:
        _hidden.reset(token)


def without_places(text: str) -> str:
    """The text with `<path>/train.py` for /home/ann/project/train.py."""
    for known in _known(_hidden.get(), Path.home(), cache_folder()):
        text = known.sub(f"/{_HIDDEN}", text)
    text = _PERSON.sub(rf"\1{_HIDDEN}", text)
    text = _QUOTED.sub(lambda found: _shown(found[0]), text)
    text = _POSIX.sub(_of_posix, text)
    text = _WINDOWS.sub(lambda found: _shown("/-/" + re.sub(r"\\+", "/", found[1])), text)
    return re.sub(f"/?{_HIDDEN}", "<path>", text)


@lru_cache(maxsize=16)
def _known(more: tuple[Path, ...], *own: Path) -> tuple[re.Pattern[str], ...]:
    """Folders of this host, the innermost first: found as they are, spaces and all."""
    folders = [*own, Path(sys.prefix), Path(sys.base_prefix), *more]
    named = {str(each.absolute()) for each in folders} | {
        os.path.realpath(each) for each in folders
    }
    # A short one, such as /root, may be a part of another path, or of an address.
    return tuple(
        re.compile((r"(?<![\w./])" if each.count("/") < 2 else "") + re.escape(each) + r"(?![\w-])")
        for each in sorted(named - _COMMON, key=len, reverse=True)
    )


def _of_posix(found: re.Match[str]) -> str:
    option = found["option"]
    if not found["start"]:
        return option + _shown(found["place"])
    return option + _shown(f"/-{found['place']}")


def _shown(place: str) -> str:
    """What stays of one path: all of a short one and of one in the bug's own folder."""
    normal = posixpath.normpath(f"/{place.lstrip('/')}")
    is_short = normal.count("/") < 2 and not place.endswith("/")
    if (is_short and _HIDDEN not in place) or f"{normal}/".startswith(_INSIDE):
        return place
    name = normal.rpartition("/")[2]
    at_home = _HOME.fullmatch(normal.removeprefix("/-"))
    return "<path>" if at_home or _HIDDEN in name or place.endswith("/") else f"<path>/{name}"
