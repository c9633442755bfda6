"""Why a server gave nothing, in the user's words: the cause, then the next step."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from faultatlas.data.errors import StudyError
from faultatlas.miner.http import Broken
from faultatlas.miner.ratelimit import ATTEMPTS, Decision
from faultatlas.report.formatting import counted, local_time

_AGAIN = "Run the same command again later."


class QuotaUsedUp(StudyError):  # noqa: N818  (it names what happened)
    """The server grants no more requests for longer than the user wants to wait."""


class Unreachable(StudyError):  # noqa: N818  (it names what happened)
    """There is no network, or the server is in trouble."""


class Trouble(Unreachable):
    """The server answers that it cannot, again and again."""


class Refused(StudyError):  # noqa: N818  (it names what happened)
    """The server does not give this, however often it is asked."""

    def __init__(self, message: str, hint: str, status: int) -> None:
        super().__init__(message, hint)
        self.status = status


@dataclass(frozen=True)
class Asker:
    """Who was asked, and as whom."""

    server: str  # as a user calls it: "GitHub", "ghe.example.org"
    has_token: bool
    token_name: str  # the environment variable that the user sets
    with_token: str = ""  # what a token would give, in a sentence, where that is known
    is_daily: bool = False  # its quota lasts a day or longer: the day is told with the time


def duration(seconds: float) -> str:
    """A wait in words: "45 s", "12 min"."""
    return f"{max(round(seconds), 1)} s" if seconds < 100 else f"{round(seconds / 60)} min"


def quota_used_up(asker: Asker, decision: Decision, now: datetime, sent: int) -> QuotaUsedUp:
    """Nothing is left, or the server wants a longer pause than we may make."""
    when = local_time(now + timedelta(seconds=decision.seconds), with_day=asker.is_daily)
    made = f"{counted(sent, 'request')} made so far"
    if decision.cause == "quota":
        message = f"{asker.server}'s quota is used up until {when}; {made}"
    else:
        message = f"{asker.server} asks to slow down until {when}; {made}"
    hint = "Run the same command again after that, or let it wait with a larger --max-wait."
    if asker.with_token and not asker.has_token:
        hint += f" {asker.with_token}"
    return QuotaUsedUp(message, hint)


def unreachable(asker: Asker, broken: Broken) -> Unreachable:
    """No whole answer arrived, also not after several attempts."""
    message = f"{asker.server} cannot be reached: {broken.reason}"
    if broken.kind in {"dns", "refused", "timeout"}:
        return Unreachable(
            f"{message}; no network, or the server is down",
            "Check the network, the proxy settings and the address; then run the same command"
            " again.",
        )
    if broken.kind == "tls":
        return Unreachable(
            message,
            "Check this machine's date and the address. Behind a proxy that opens encrypted"
            " connections, set REQUESTS_CA_BUNDLE to the file with its certificate.",
        )
    if broken.kind == "proxy":
        return Unreachable(message, "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY.")
    return Unreachable(f"{message} ({ATTEMPTS} attempts)", _AGAIN)


def in_trouble(asker: Asker, reason: str) -> Trouble:
    """The server answered, but did not manage to."""
    return Trouble(f"{asker.server} does not answer: {reason}", _AGAIN)


def refused(asker: Asker, status: int, url: str, words: str) -> Refused:
    """The server's plain no; `words` are its own."""
    said = f' ("{words}")' if words else ""
    if status != 422:
        url = _about(url)
    if status == 401:
        return _refused_token(asker, said)
    if status == 403:
        hint = (
            f"The token in {asker.token_name} may not read this: give it read access, or unset it."
            if asker.has_token
            else f"It may be private: set {asker.token_name} to a token that may read it."
        )
        return Refused(f"{asker.server} does not let us read {url}{said}", hint, status)
    if status == 404:
        hint = "Check the spelling." + (
            f" If it is private, the token in {asker.token_name} must be allowed to read it."
            if asker.has_token
            else f" A private project needs a token in {asker.token_name}."
        )
        return Refused(f"there is no such project or it is private: {url}", hint, status)
    message, hint = _OTHERS.get(
        status, (f"{{server}} answers {{url}} with status {status}{{said}}", _AGAIN)
    )
    return Refused(message.format(server=asker.server, url=url, said=said), hint, status)


def _about(url: str) -> str:
    """The project that an address is about, else the address without its parameters."""
    project = re.fullmatch(r"/repos/([^/?]+/[^/?]+)(?:/issues)?(?:\?.*)?", url)
    return project[1] if project else url.partition("?")[0]


def _refused_token(asker: Asker, said: str) -> Refused:
    if asker.has_token:
        return Refused(
            f"the token in {asker.token_name} was refused{said}",
            "It may have expired or been revoked: make a new one, or unset it to go on without.",
            401,
        )
    return Refused(
        f"{asker.server} wants a token{said}", f"Set {asker.token_name} to a token.", 401
    )


_OTHERS = {
    410: ("{url} is gone{said}", "It was deleted, or its issues are switched off."),
    422: ("{server} does not understand the request {url}{said}", "Check labels and dates."),
    451: ("{url} is unavailable for legal reasons{said}", "Nobody can fetch it; leave it out."),
}
