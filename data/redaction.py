"""Keeps secrets out of everything that is stored or shown.

It recognises a secret by the name of the option, by the shape of well-known tokens, by its place in
a URL, and by being the value of a secret environment variable or one that was named with
`remember_secret`. It is a last line: code that holds a token must not hand it to a log in the first
place.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from html.entities import html5
from importlib.resources import files
from typing import Any, NamedTuple
from urllib.parse import quote

MASK = "***"
SHORTEST = 8  # a shorter secret would mask ordinary words

# A tokenizer is not a secret.
_SECRET_NAME = re.compile(
    r"(token(?!i[sz])|secret|password|passwd|api[_-]?key|credential|cookie)", re.IGNORECASE
)
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*")  # characters that nobody escapes
_LONGEST = 512  # of a secret whose characters are looked for in every spelling

_remembered: set[str] = set()  # secrets that came from a file, so that no variable holds them


class _Rule(NamedTuple):
    """A shape of secrets from `secret_patterns.toml`."""

    near: tuple[str, ...]
    pattern: str

    def mask(self, text: str) -> str:
        pattern = _compiled(self.pattern)
        kept = r"\g<kept>" if "kept" in pattern.groupindex else ""
        return pattern.sub(f"{kept}{MASK}", text)


@lru_cache(maxsize=4096)
def is_secret_name(name: str) -> bool:
    """Whether an option or variable of that name holds a secret (a file name of one does not)."""
    return bool(_SECRET_NAME.search(name)) and not name.lower().endswith(("file", "path"))


def remember_secret(value: str) -> None:
    """Mask this value from now on, wherever this process shows or stores text."""
    if len(value) < SHORTEST:
        raise ValueError("a secret that short would mask ordinary words")
    _remembered.add(value)


def forget_all() -> None:
    """Forget the secrets that were remembered; tests do it between one user and the next."""
    _remembered.clear()


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with every secret in it replaced by `***`.

    Known values come first, the longest before those that it begins with; then shapes, in the order
    of their file.
    """
    for value in _known_secrets(environment):
        text = mask_value(text, value)
    folded = text.lower()
    for rule in _rules():
        if any(word in folded for word in rule.near):
            text = rule.mask(text)
    return text


def redact_bytes(body: bytes) -> bytes:
    """A foreign body without the secrets that this process was given to use.

    Not without the values of every variable that has a secret's name: rows must not depend on
    the machine. What others leaked into the body stays.
    """
    for value in _known_secrets({}):
        body = mask_bytes(body, value)
    return body


def mask_value(text: str, secret: str) -> str:
    """The text without a secret, as it is or as addresses, web pages and JSON spell it."""
    text = text.replace(secret, MASK)
    return text if _PLAIN.fullmatch(secret) else _in_text(secret).sub(MASK, text)


def mask_bytes(body: bytes, secret: str) -> bytes:
    """The same for bytes."""
    # A variable need not be UTF-8.
    body = body.replace(secret.encode(errors="surrogateescape"), MASK.encode())
    return body if _PLAIN.fullmatch(secret) else _in_bytes(secret).sub(MASK.encode(), body)


def redact_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a command as they may be stored: plain values, no secrets."""
    return {
        name: MASK if is_secret_name(name) and value else _stored(value)
        for name, value in arguments.items()
    }


def _stored(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [_stored(item) for item in value]
    if isinstance(value, Mapping):
        return redact_arguments({str(key): item for key, item in value.items()})
    # A file name need not be UTF-8; the study's text must be.
    return redact(str(value).encode(errors="backslashreplace").decode())


@cache  # when a text first needs it: that is rarely
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def _rules() -> tuple[_Rule, ...]:
    text = (files("faultatlas.data") / "secret_patterns.toml").read_text(encoding="utf-8")
    return tuple(
        _Rule(tuple(rule["near"]), rule["pattern"]) for rule in tomllib.loads(text).values()
    )


# --- secrets whose value is known --------------------------------------------------------


def _known_secrets(environment: Mapping[str, str] | None) -> list[str]:
    """The values to mask, the longest first: where one begins with another, no rest must stay."""
    if environment is not None:
        return _longest_first(environment.items())
    # `os.environ` decodes what it is asked for, which takes longer than all else. What is behind it
    # is compared as it is.
    now = dict(getattr(os.environ, "_data", os.environ)), frozenset(_remembered)
    if now != _of_process.state:
        _of_process.state, _of_process.secrets = now, _longest_first(os.environ.items())
    return _of_process.secrets


class _OfProcess:
    """The secrets of the environment when it was last looked at."""

    state: tuple[dict[Any, Any], frozenset[str]] | None = None
    secrets: list[str] = []  # noqa: RUF012 - replaced, never changed


_of_process = _OfProcess()


def _longest_first(variables: Iterable[tuple[str, str]]) -> list[str]:
    named = {value for name, value in variables if is_secret_name(name) and len(value) >= SHORTEST}
    return sorted(_remembered | named, key=lambda value: (-len(value), value))


@lru_cache(maxsize=256)
def _in_text(secret: str) -> re.Pattern[str]:
    return re.compile(_escaped_forms(secret))


@lru_cache(maxsize=256)
def _in_bytes(secret: str) -> re.Pattern[bytes]:
    return re.compile(_escaped_forms(secret).encode(errors="surrogateescape"))


def _escaped_forms(secret: str) -> str:
    """A pattern for a secret of which some characters are escaped: each program escapes others."""
    if len(secret) <= _LONGEST:
        return "".join(map(_character, secret))
    return re.escape(quote(secret, safe="", errors="replace"))


def _character(character: str) -> str:
    if _PLAIN.fullmatch(character):
        return character.replace(".", r"\.")
    number = ord(character)
    # Escaped twice, a percent sign is %25 and an ampersand is &amp;
    bytes_ = "".join(f"%(?:25)*{byte:02x}" for byte in character.encode(errors="replace"))
    names = "".join(
        f"|{name}" for name, text in html5.items() if text == character and name[-1] == ";"
    )
    reference = f"&(?:amp;)*(?:#0*{number};|#x0*{number:x};{names})"
    slashes = r"\\{1,4}"  # more would be slow on a page of nothing else
    either = f"{bytes_}|{reference}|{slashes}u{number:04x}"
    return f"(?:(?:{slashes})?{re.escape(character)}|(?i:{either}))"
