"""The login in an address: git gets it by its environment, never by its arguments.

A helper of git's own kind prints it from two variables, for that host only. So neither a list of
processes nor the settings of a clone have it, and a server that redirects elsewhere gets nothing.
"""

from __future__ import annotations

import os
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import shown
from faultatlas.data.redaction import SHORTEST, remember_secret

_USER, _PASSWORD = "FAULTATLAS_GIT_USER", "FAULTATLAS_GIT_PASSWORD"
_HELPER = (
    '!f() { test "$1" != get || printf "username=%s\\npassword=%s\\n" '
    f'"${_USER}" "${_PASSWORD}"; }}; f'
)
_TOKEN = 16  # characters; a user's name that long has no digits


def split(url: str) -> SplitResult:
    """The parts of an address."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise StudyError(
            f"{shown(url)} is no address to clone from: {error}", "Check how it is written."
        ) from None


def without_login(url: str) -> str:
    """A URL that may be stored and shown."""
    if "://" not in url:
        return url
    parts = split(url)
    login, _, host = parts.netloc.rpartition("@")
    name = login.partition(":")[0]
    # The user of ssh addresses is part of where they lead, and no secret.
    kept = f"{name}@{host}" if name and parts.scheme in ("ssh", "git+ssh") else host
    return urlunsplit((parts.scheme, kept, parts.path, "", ""))


def remember(url: str) -> None:
    """Mask what is secret in an address from now on."""
    user, password = _login(url)
    if not (user + (password or "")).isprintable():  # a line break would end the helper's answer
        raise StudyError(f"the login in {shown(url)} has control characters", "Check it.")
    if password and len(password) >= SHORTEST:
        remember_secret(password)
    if _is_token(user):
        remember_secret(user)


def settings(url: str) -> dict[str, str]:
    """An environment by which git logs in at the address's host."""
    user, password = _login(url)
    if not user and not password:
        return {}
    parts = split(url)
    where = f"credential.{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    if password is None and not _is_token(user):
        return _numbered([(f"{where}.username", user)])  # the user's own helpers know the rest
    # The empty one takes away the user's helpers, which would keep the password.
    pairs = [(f"{where}.helper", ""), (f"{where}.helper", _HELPER)]
    return {**_numbered(pairs), _USER: user, _PASSWORD: password or ""}


def _login(url: str) -> tuple[str, str | None]:
    parts = split(url) if url.startswith(("http://", "https://")) else None
    if parts is None or "@" not in parts.netloc:
        return "", None
    password = parts.password
    return unquote(parts.username or ""), None if password is None else unquote(password)


def _is_token(user: str) -> bool:
    return len(user) >= _TOKEN and any(sign.isdigit() for sign in user)


def _numbered(pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Settings after those that the environment has already."""
    given = os.environ.get("GIT_CONFIG_COUNT", "")
    count = int(given) if given.isdecimal() else 0
    found = {"GIT_CONFIG_COUNT": str(count + len(pairs))}
    for number, (key, value) in enumerate(pairs, count):
        found[f"GIT_CONFIG_KEY_{number}"] = key
        found[f"GIT_CONFIG_VALUE_{number}"] = value
    return found
