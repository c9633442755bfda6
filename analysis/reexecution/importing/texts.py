"""Texts that strangers saved in whatever encoding, made fit for `bug.toml`."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from faultatlas.analysis.reexecution.artifacts.places import PlaceError, small_bytes

_MOST = 2 << 20
_RTF_GROUP = re.compile(r"\{\\(?:fonttbl|colortbl|stylesheet|info|\*)[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")
_RTF_WORD = re.compile(r"\\[a-zA-Z]+-?\d* ?|\\'[0-9a-f]{2}|[{}]")


def text_of(path: Path, most: int = _MOST) -> str:
    """The text of a small file; '' where there is none, or none that can be read."""
    try:
        content = small_bytes(path, most)
    except (FileNotFoundError, PlaceError):
        return ""
    return decoded(content)


def decoded(content: bytes) -> str:
    """UTF-8, UTF-16 with its mark, or Latin-1; rich text becomes plain."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = content.decode("utf-16", "replace")
    else:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode("latin-1")
    return _plain(text) if text.startswith("{\\rtf") else text


def line(text: str, longest: int = 300) -> str:
    """One printable line, cut where it is long."""
    words = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return words if len(words) <= longest else f"{words[: longest - 3]}..."


def slug(text: str) -> str:
    """A name for an id: lower case letters, digits, and - for all else."""
    found = re.sub(r"[^a-z0-9._]+", "-", text.lower()).strip("-._")
    return re.sub(r"\.{2,}", ".", found)[:90].strip("-._") or "bug"


def _plain(text: str) -> str:
    """Rich text without its commands; a backslash at the end of a line is a line break."""
    without = _RTF_GROUP.sub("", text).replace("\\\n", "\n")
    return _RTF_WORD.sub("", without)
