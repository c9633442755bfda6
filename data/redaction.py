"""Keeps secrets out of everything that is stored or shown.

It recognises a secret by the name of the option, by the shape of well-known tokens, by
its place in a URL, and by being the value of a secret environment variable. It is a last
line: code that holds a token must not hand it to a log in the first place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

MASK = "***"

_SECRET_NAME = re.compile(
    r"(token|secret|password|passwd|api_?key|credential|cookie)", re.IGNORECASE
)
# GitHub, GitLab, OpenAI-style and Slack prefixes; JSON Web Tokens; bearer headers.
_TOKEN_SHAPE = re.compile(
    r"\b(gh[pousr]_\w{16,}|github_pat_\w{20,}|glpat-[\w-]{16,}|sk-[\w-]{16,}|xox[abp]-[\w-]{10,}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,})"
)
_BEARER = re.compile(r"\b(bearer|token|basic)(\s+)[\w.~+/=-]{12,}", re.IGNORECASE)
_URL_USER = re.compile(r"(\w{2,16}://)[^/\s@]{1,512}@")
_URL_PARAMETER = re.compile(
    r"([?&](?:access_token|token|key|api_?key|client_secret|password)=)[^&\s#]+", re.IGNORECASE
)
_SHORTEST = 8  # a shorter value of a secret variable would mask ordinary words


def is_secret_name(name: str) -> bool:
    """Whether an option or variable of that name holds a secret (a file name of one does not)."""
    return bool(_SECRET_NAME.search(name)) and not name.endswith(("file", "path"))


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with every secret in it replaced by `***`."""
    variables = os.environ if environment is None else environment
    for name, value in variables.items():
        if is_secret_name(name) and len(value) >= _SHORTEST:
            text = text.replace(value, MASK)
    text = _TOKEN_SHAPE.sub(MASK, text)
    text = _BEARER.sub(rf"\1\2{MASK}", text)
    text = _URL_USER.sub(rf"\1{MASK}@", text)
    return _URL_PARAMETER.sub(rf"\1{MASK}", text)


def redact_arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of a command as they may be stored: plain values, no secrets."""
    return {
        name: MASK if is_secret_name(name) and value else _plain(value)
        for name, value in arguments.items()
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return redact_arguments({str(key): item for key, item in value.items()})
    return redact(str(value))
