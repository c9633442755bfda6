"""Which server is meant: the study's own one, that of one rater, or one by its address."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from faultatlas.annotation.bridge.own_server import SHARED, OwnServer, not_running
from faultatlas.annotation.bridge.remote import Remote
from faultatlas.data.errors import StudyError
from faultatlas.data.redaction import SHORTEST, remember_secret

VARIABLE = "LABEL_STUDIO_API_KEY"


def own(study: Path, rater: str | None = None) -> Remote:
    """The study's own server, or that of a rater; it must run."""
    server = OwnServer(study, rater)
    running = server.running()
    if running is None:
        raise not_running(server)
    access = server.access()
    return _remote(server.name, running.url, access.token, access.public_url, is_own=True)


def elsewhere(url: str) -> Remote:
    """A server by its address, with the token of the environment."""
    address = checked_address(url)
    token = os.environ.get(VARIABLE, "").strip()
    if len(token) < SHORTEST:
        raise StudyError(
            f"{VARIABLE} is not set, so that {address} would not let us in",
            f"Set {VARIABLE} to the access token of your account there (Account & Settings).",
        )
    remember_secret(token)
    return _remote(address, address, token)


def named(study: Path, name: str) -> Remote:
    """The server that the study's tables call so."""
    if name == SHARED:
        return own(study)
    if name.startswith(f"{SHARED}/"):
        return own(study, name.removeprefix(f"{SHARED}/"))
    return elsewhere(name)


def checked_address(url: str) -> str:
    """The address of a server, always spelled the same."""
    parts = urlsplit(url if "://" in url else f"https://{url}")
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == -1 or parts.username:
        raise StudyError(
            f"{url} is no address of a server", "It looks like https://labels.example.org"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path.rstrip('/')}"


def _remote(
    name: str, url: str, token: str, public_url: str = "", *, is_own: bool = False
) -> Remote:
    try:
        return Remote(name, url, token, public_url, is_own=is_own)
    except ModuleNotFoundError:
        raise StudyError(
            "label-studio-sdk is not installed", "Install it: pip install 'faultatlas[labelstudio]'"
        ) from None
