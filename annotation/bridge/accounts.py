"""Raters and their accounts on servers.

The open-source edition knows no members and no roles: every account is alike. An account is made
as a rater would make it, by the invite link; an account made otherwise could not log in.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.bridge.own_server import new_password
from faultatlas.annotation.bridge.remote import Remote, RemoteUser, ServerError
from faultatlas.annotation.rounds import add_rater, checked_name, refuse_alike
from faultatlas.annotation.typed import typed
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Study

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
    study: Study,
    rater: str,
    remote: Remote | None,
    *,
    email: str | None,
    invite: bool,
    set_password: Callable[[str, str], None] | None = None,
) -> Added:
    """Make a rater known to the study and, if there is a server, to it.

    An account that the server has already for that email becomes the rater's; it gets a new
    password only by `set_password`. The study learns of the rater when all else is done.
    """
    run = provenance.begin(
        "annotation rater add", {"rater": rater, "server": remote.name if remote else None}
    )
    with study.reading() as reader:
        _require_name(reader, rater)
        known = accounts(reader, remote.name) if remote else {}
    if remote is None:
        return Added(_store(study, rater, None, run))
    if invite:
        link = remote.public_url + remote.invite_path()
        return Added(_store(study, rater, None, run), remote.public_url, invite=link)
    users, me = remote.users(), remote.me()
    mine = known.pop(rater, None)
    others = [each for each in known.values() if is_there(each, users)]
    if email:
        address = email.strip().lower()
    elif mine and is_there(mine, users):
        address = mine.username.lower()
    else:
        address = _address(rater, {me.email.lower(), *(each.username.lower() for each in others)})
    user = _find(users, address)
    _refuse_taken(user, others)
    password = new_password() if user is None or set_password else None
    if user is None:
        user = sign_up(remote, address, str(password))
    elif set_password:
        set_password(user.email, str(password))
    account = Account(remote.name, rater, user.user_id, user.email)
    is_new = _store(study, rater, None if account == mine else account, run)
    return Added(is_new, remote.public_url, account, password)


def is_there(account: Account, users: Iterable[RemoteUser]) -> bool:
    """Whether a server has that account: another server has other people by the same numbers."""
    return any(
        (user.user_id, user.email.lower()) == (account.user_id, account.username.lower())
        for user in users
    )


def account_command(rater: str, remote: Remote) -> str:
    """What makes an account, or says which one it is."""
    where = "" if remote.is_own else f" --email ADDRESS --url {remote.name}"
    return f"annotation rater add {typed(rater)}{where}"


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
    user = _find(remote.users(), email)
    if user is None:
        raise ServerError(f"{remote.url} made no account for {email}", "Is that an email address?")
    return user


def _find(users: Iterable[RemoteUser], email: str) -> RemoteUser | None:
    return next((user for user in users if user.email.lower() == email), None)


def _require_name(reader: Reader, rater: str) -> None:
    if reader.value("SELECT 1 FROM store.rater WHERE rater = ?", [rater]):
        return
    if (name := checked_name(rater, "rater")) != rater:
        raise StudyError(f"{rater!r} is no name for a rater", f"Write it so: {name}")
    refuse_alike(reader, rater)


def _refuse_taken(user: RemoteUser | None, others: Iterable[Account]) -> None:
    for other in others:
        if user and other.user_id == user.user_id:
            raise StudyError(
                f"{other.username} is the account of rater {other.rater} already",
                "Every rater needs an own account: give another --email.",
            )


def _address(rater: str, taken: Container[str]) -> str:
    """What a rater without an email logs in with: nobody else does, nor who leads the study."""
    plain = unicodedata.normalize("NFKD", rater).encode("ascii", "ignore").decode().lower()
    name = re.sub(r"[^a-z0-9]+", ".", plain).strip(".") or "rater"
    endings = itertools.chain(("",), (f".{number}" for number in itertools.count(2)))
    addresses = (f"{name}{ending}@study.invalid" for ending in endings)
    return next(address for address in addresses if address not in taken)


def _store(study: Study, rater: str, account: Account | None, run: provenance.Run) -> bool:
    """Note the rater and the account; whether the rater is new."""
    with study.writing() as writer:
        is_new = add_rater(writer, rater, run)
        if account:
            writer.execute(
                "INSERT OR REPLACE INTO store.account VALUES (?, ?, ?, ?, ?)",
                [account.server, rater, account.user_id, account.username, run.run_id],
            )
        if is_new or account:
            provenance.record(writer, run, "ok")
    return is_new
