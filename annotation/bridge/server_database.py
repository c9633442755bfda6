"""What is set in the database of the study's own server itself: it has no command for it."""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from faultatlas.annotation.bridge.installation import DATABASE, variables
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.annotation.bridge.installation import Installation
    from faultatlas.annotation.bridge.own_server import Access, OwnServer

_PATIENCE_S = 30.0  # while the server writes
# By its own Django, so that it is what that one reads; the password comes by standard input.
_HASH = (
    "import sys; from django.conf import settings; settings.configure(); "
    "from django.contrib.auth.hashers import make_password; "
    "sys.stdout.write(make_password(sys.stdin.read()))"
)


def set_token(server: OwnServer, access: Access) -> None:
    """Let the token in again that the study has, should somebody have reset it there."""
    with _opened(server) as database:
        row = database.execute(
            "SELECT id FROM htx_user WHERE email = ?", [access.username]
        ).fetchone()
        if row is None:  # the first start makes the account, with the token
            return
        database.execute(
            "INSERT INTO authtoken_token (key, created, user_id) VALUES (?, datetime('now'), ?) "
            "ON CONFLICT (user_id) DO UPDATE SET key = excluded.key WHERE key <> excluded.key",
            [access.token, row[0]],
        )
        database.execute("UPDATE jwt_auth_jwtsettings SET legacy_api_tokens_enabled = 1")


def set_password(server: OwnServer, installation: Installation, email: str, password: str) -> None:
    """Give an account another password; who is logged in with it is logged out."""
    ended = subprocess.run(
        [str(installation.python), "-c", _HASH],
        input=password, env=variables(server.data), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if ended.returncode or "$" not in ended.stdout:
        raise StudyError(
            "Label Studio's environment does not make a password",
            f"Is it whole? {installation.folder}; if not, remove it: annotation serve makes it.",
        )
    with _opened(server) as database:
        done = database.execute(
            "UPDATE htx_user SET password = ? WHERE email = ?", [ended.stdout, email]
        )
        if done.rowcount != 1:
            raise StudyError(
                f"the server has no account {email}",
                f"Make one: annotation rater add NAME --email {email}; "
                "annotation rater list shows whose it was.",
            )


@contextmanager
def _opened(server: OwnServer) -> Iterator[sqlite3.Connection]:
    path = server.data / DATABASE
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE_S)) as database, database:
            yield database
    except sqlite3.Error as error:
        raise StudyError(
            f"{path} cannot be written: {error}", "Put a copy back, or free disk space."
        ) from None
