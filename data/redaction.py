"""Keeps secrets out of everything that is stored or shown.

It recognises a secret by the name of the option, by the shape of well-known tokens, by
its place in a URL, and by being the value of a secret environment variable or one that was
named with `remember_secret`. It is a last line: code that holds a token must not hand it to
a log in the first place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from html.entities import html5
from typing import Any
from urllib.parse import quote

MASK = "***"

# A tokenizer is no secret.
_SECRET_NAME = re.compile(
    r"(token(?!i[sz])|secret|password|passwd|api[_-]?key|credential|cookie)", re.IGNORECASE
)
# GitHub, GitLab, OpenAI-style and Slack prefixes; JSON Web Tokens; bearer headers.
_TOKEN_SHAPE = re.compile(
    r"\b(gh[pousr]_\w{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-(?=[\w-]*\d)[\w-]{16,}"
    r"|xox[abp]-[\w-]{10,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,})"
)
# "token classification" and "basic functionality" are words, not headers.
_WORDS = r"(?:[A-Za-z]?[a-z]+|[A-Z]+)(?:[-/._](?:[a-z]+|[A-Z]+))*\.?(?![\w.~+/=-])"
_BEARER = re.compile(rf"\b((?i:bearer|token|basic))(\s+)(?!{_WORDS})[\w.~+/=-]{{12,}}")
_URL_USER = re.compile(r"(\w{2,16}://)[^/\s]{1,512}@")  # up to the last @: a password may hold one
_URL_PARAMETER = re.compile(
    r"([?&](?:[\w-]{0,32}(?:token|secret|password)|key|api_?key)=)[^&\s#]+", re.IGNORECASE
)
_PLAIN = re.compile(r"[A-Za-z0-9_.~-]*")  # signs that nobody escapes
_LONGEST = 512  # of a secret whose signs are looked for in every spelling
SHORTEST = 8  # a shorter secret would mask ordinary words

_remembered: set[str] = set()  # secrets that came from a file, so that no variable holds them


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
    """The text with every secret in it replaced by `***`."""
    for value in _known_secrets(environment):
        text = masked(text, value)
    text = _TOKEN_SHAPE.sub(MASK, text)
    text = _BEARER.sub(rf"\1\2{MASK}", text)
    text = _URL_PARAMETER.sub(rf"\1{MASK}", text)
    return _URL_USER.sub(rf"\1{MASK}@", text)  # last: it ends at a slash, which the others mask


def redact_bytes(body: bytes) -> bytes:
    """A foreign body without the secrets that this process was given to use.

    Not without the values of every variable that has a secret's name: rows must not depend on
    the machine. What others leaked into the body stays.
    """
    for value in _known_secrets({}):
        body = masked_bytes(body, value)
    return body


def masked(text: str, secret: str) -> str:
    """The text without a secret, as it is or as addresses, web pages and JSON spell it."""
    text = text.replace(secret, MASK)
    return text if _PLAIN.fullmatch(secret) else _in_text(secret).sub(MASK, text)


def masked_bytes(body: bytes, secret: str) -> bytes:
    """The same for bytes."""
    # A variable need not be UTF-8.
    body = body.replace(secret.encode(errors="surrogateescape"), MASK.encode())
    return body if _PLAIN.fullmatch(secret) else _in_bytes(secret).sub(MASK.encode(), body)


def redact_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a command as they may be stored: plain values, no secrets."""
    return {
        name: MASK if is_secret_name(name) and value else _plain(value)
        for name, value in arguments.items()
    }


def _known_secrets(environment: Mapping[str, str] | None = None) -> list[str]:
    """The longest first: where one begins with another, no rest of it must stay."""
    variables = os.environ if environment is None else environment
    named = {variables[name] for name in variables if is_secret_name(name)}
    values = _remembered | {value for value in named if len(value) >= SHORTEST}
    return sorted(values, key=lambda each: (-len(each), each))


@lru_cache(maxsize=256)
def _in_text(secret: str) -> re.Pattern[str]:
    return re.compile(_spellings(secret))


@lru_cache(maxsize=256)
def _in_bytes(secret: str) -> re.Pattern[bytes]:
    return re.compile(_spellings(secret).encode(errors="surrogateescape"))


def _spellings(secret: str) -> str:
    """What finds a secret when some of its signs are escaped: each program escapes others."""
    if len(secret) <= _LONGEST:
        return "".join(map(_sign, secret))
    return re.escape(quote(secret, safe="", errors="replace"))


def _sign(sign: str) -> str:
    if _PLAIN.fullmatch(sign):
        return sign.replace(".", r"\.")
    number = ord(sign)
    # Escaped twice, a percent sign is %25 and an ampersand is &amp;
    bytes_ = "".join(f"%(?:25)*{byte:02x}" for byte in sign.encode(errors="replace"))
    names = "".join(f"|{name}" for name, each in html5.items() if each == sign and name[-1] == ";")
    reference = f"&(?:amp;)*(?:#0*{number};|#x0*{number:x};{names})"
    slashes = r"\\{1,4}"  # more would be slow on a page of nothing else
    either = f"{bytes_}|{reference}|{slashes}u{number:04x}"
    return f"(?:(?:{slashes})?{re.escape(sign)}|(?i:{either}))"


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return redact_arguments({str(key): item for key, item in value.items()})
    # A file name need not be UTF-8; the study's text must be.
    return redact(str(value).encode(errors="backslashreplace").decode())
