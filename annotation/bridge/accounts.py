"""Raters and their accounts on servers.

The open-source edition knows no members and no roles: every account is alike. An account is made
as a rater would make it, by the invite link; an account made otherwise could not log in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.bridge.own_server import new_password
from annotation.bridge.remote import Remote, RemoteUser, ServerError
from annotation.rounds import add_rater
from data import provenance
from data.errors import StudyError

if TYPE_CHECKING:
    from data.store import Reader, Study

_TIMEOUT_S = 60


@dataclass(frozen=True)
class Account:
    """A rater's account on a server."""

    server: str
    rater: str
    user_id: int
    username: str


@dataclass(frozen=True)
class Added:
    """What became of a rater."""

    is_new: bool
    url: str | None = None  # of the server
    account: Account | None = None
    password: str | None = None  # of an account just made: shown once, kept nowhere
    invite: str | None = None


def add(
    study: Study, rater: str, remote: Remote | None, *, email: str | None, invite: bool
) -> Added:
    """Make a rater known to the study and, if there is a server, to it.

    An account that the server has already for that email becomes the rater's.
    """
    run = provenance.begin(
        "annotation rater add", {"rater": rater, "server": remote.name if remote else None}
    )
    with study.writing() as writer:
        is_new = add_rater(writer, rater, run)
        if is_new:
            provenance.record(writer, run, "ok")
        known = accounts(writer, remote.name).get(rater) if remote else None
    if remote is None:
        return Added(is_new)
    if invite:
        link = remote.public_url + remote.invite_path()
        return Added(is_new, remote.public_url, invite=link)
    address = email.strip().lower() if email else known.username if known else _address(rater)
    user = _find(remote, address)
    password = None
    if user is None:
        password = new_password()
        user = sign_up(remote, address, password)
    account = Account(remote.name, rater, user.user_id, user.email)
    if account != known:
        _store(study, account, run)
    return Added(is_new, remote.public_url, account, password)


def accounts(reader: Reader, server: str) -> dict[str, Account]:
    """The accounts of raters on a server."""
    rows = reader.rows(
        "SELECT server, rater, user_id, username FROM store.account WHERE server = ?", [server]
    )
    return {row["rater"]: Account(**row) for row in rows}


def list_raters(reader: Reader) -> list[dict[str, Any]]:
    """All raters with their accounts and how much they have labelled."""
    return reader.rows(
        "SELECT rater, "
        "(SELECT count(*) FROM store.round_rater r WHERE r.rater = raters.rater) AS rounds, "
        "(SELECT count(DISTINCT (round, item_id)) FROM labels l "
        "WHERE l.rater = raters.rater AND is_current AND stage = 'independent') AS items, "
        "coalesce((SELECT list({'server': server, 'username': username} ORDER BY server) "
        "FROM store.account a WHERE a.rater = raters.rater), []) AS accounts "
        "FROM raters ORDER BY rater"
    )


def sign_up(remote: Remote, email: str, password: str) -> RemoteUser:
    """A new account, made by the invite link as a person would make it."""
    import requests

    link = remote.url + remote.invite_path()
    with requests.Session() as session:
        session.trust_env = remote.trusts_environment
        try:
            page = session.get(link, timeout=_TIMEOUT_S)
            page.raise_for_status()
            # By hand: a server behind TLS wants its cookies back over TLS only, and we may be
            # on its own machine, before the proxy.
            cookie = page.cookies.get("csrftoken", "")
            session.cookies.clear()
            session.post(
                link,
                data={"email": email, "password": password, "csrfmiddlewaretoken": cookie},
                headers={"Referer": link, "Cookie": f"csrftoken={cookie}"},
                timeout=_TIMEOUT_S,
                allow_redirects=False,
            ).raise_for_status()
        except requests.RequestException as error:
            # The error names the address, and that is the invite link.
            status = error.response.status_code if error.response is not None else None
            said = f" (HTTP {status})" if status else ""
            raise ServerError(
                f"{remote.url} made no account for {email}{said}",
                "Run this again, or let the rater sign up: annotation rater add NAME --invite",
            ) from None
    user = _find(remote, email)
    if user is None:
        raise ServerError(f"{remote.url} made no account for {email}", "Is that an email address?")
    return user


def _find(remote: Remote, email: str) -> RemoteUser | None:
    return next((user for user in remote.users() if user.email.lower() == email), None)


def _address(rater: str) -> str:
    """What a rater without an email logs in with."""
    name = re.sub(r"[^a-z0-9]+", ".", rater.lower()).strip(".")
    if not name:
        raise StudyError(
            f"no login can be made of {rater!r}", "Give one: --email somebody@example.org"
        )
    return f"{name}@study.invalid"


def _store(study: Study, account: Account, run: provenance.Run) -> None:
    with study.writing() as writer:
        other = writer.value(
            "SELECT rater FROM store.account WHERE server = ? AND user_id = ? AND rater <> ?",
            [account.server, account.user_id, account.rater],
        )
        if other:
            raise StudyError(
                f"{account.username} is the account of rater {other} already",
                "Every rater needs an own account: give another --email.",
            )
        provenance.record(writer, run, "ok")
        writer.execute(
            "INSERT OR REPLACE INTO store.account VALUES (?, ?, ?, ?, ?)",
            [account.server, account.rater, account.user_id, account.username, run.run_id],
        )
