"""The client for the Stack Exchange API: asks until there is an answer, and not too often.

A key goes into the query beneath urllib3 (see `miner.http`), so that no log, no error and no
stored response ever holds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit

from faultatlas.data.clock import Clock, current_clock
from faultatlas.data.errors import StudyError
from faultatlas.data.provenance import program_version
from faultatlas.miner import projects
from faultatlas.miner.http import Answer, Broken, Response, Transport, checked_root
from faultatlas.miner.posts import limits
from faultatlas.miner.posts.limits import Said
from faultatlas.miner.ratelimit import ATTEMPTS, Decision, Quota, Tries, after_failure
from faultatlas.miner.refusals import (
    Asker,
    Refused,
    Trouble,
    in_trouble,
    quota_used_up,
    unreachable,
)
from faultatlas.miner.waiting import wait

API = "https://api.stackexchange.com/2.3"
KEY_PARAMETER = "key"
_IDS = re.compile(r"/[0-9;]+(?=/|\Z)")


class _Unusable(Broken):
    """A whole answer that cannot be right."""


class Client:
    """Asks one server about one site, one request at a time."""

    def __init__(
        self,
        site: str,
        key: str | None,
        *,
        api_url: str = API,
        max_wait_s: float = 4200,
        clock: Clock | None = None,
        tell: Callable[[str], None] = lambda _message: None,
        timeout_s: float = 30,
        key_name: str = "STACKEXCHANGE_KEY",
    ) -> None:
        self.api_url = checked_root(api_url, API)
        if key:
            projects.refuse_plain_http(self.api_url)
        self.site = site
        self.has_key = bool(key)
        self.sent = 0
        self.not_modified = 0  # the API does not know conditional requests
        self.waited_s = 0.0
        self.quota: Quota | None = None
        host = urlsplit(self.api_url).netloc
        public = host == urlsplit(API).netloc
        self._asker = Asker(
            server="Stack Exchange" if public else host,
            has_token=self.has_key,
            token_name=key_name,
            with_token=f"With a key in {key_name} it is 10,000 requests a day, without one only "
            "300; stackapps.com gives keys.",
            is_daily=True,
        )
        self._max_wait_s = max_wait_s
        self._clock = clock or current_clock()
        self._tell = tell
        self._not_before: dict[str, datetime] = {}  # by method
        self._transport = Transport(
            timeout_s=timeout_s, secret=key, in_url=True, parameter=KEY_PARAMETER
        )

    def __repr__(self) -> str:
        return f"Client({self.api_url!r}, {'with' if self.has_key else 'without'} a key)"

    def now(self) -> datetime:
        """The time, as the client has it."""
        return self._clock.now()

    def pause(self, method: str, until: datetime) -> None:
        """Do not ask for a method before: an earlier run was told so."""
        self._not_before[method] = until

    def get(
        self,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        fault: Callable[[Mapping[str, Any]], str | None] = lambda _said: None,
    ) -> Response:
        """The answer to `/questions` or another method; an error of the API is raised.

        `fault` says what is wrong with an answer. Such a one is as good as none: it is asked for
        again.
        """
        given = sorted((name, str(value)) for name, value in (parameters or {}).items())
        asked = f"{path}?{urlencode(given)}" if given else path
        method = method_of(path)
        tries = Tries()
        while True:
            self._wait_before(method)
            try:
                answer, said = self._once(asked, method, fault)
            except Broken as broken:
                decision = after_failure(broken, tries=tries, chance=self._clock.random)
                if decision.action == "give up":
                    raise self._unusable(broken) from None
                self._wait(decision, tries)
                continue
            decision = limits.after_answer(
                answer.status,
                answer.headers,
                said,
                tries=tries,
                now=self._clock.now(),
                chance=self._clock.random,
                max_wait_s=self._max_wait_s,
            )
            if decision.action == "ok":
                return Response(
                    status=answer.status,
                    url=asked,
                    final_url=asked,
                    headers=answer.headers,
                    body=answer.body,
                    received_at=self._clock.now(),
                    api_url=self.api_url,
                )
            if decision.action == "give up":
                raise self._given_up(decision, answer, said, path)
            self._wait(decision, tries)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _once(
        self, asked: str, method: str, fault: Callable[[Mapping[str, Any]], str | None]
    ) -> tuple[Answer, Said | None]:
        """One exchange, counted; an answer with status 200 that is none of the API is `Broken`."""
        self.sent += 1
        headers = {"Accept": "application/json", "User-Agent": f"faultatlas/{program_version()}"}
        answer = self._transport.send("GET", self.api_url + asked, headers)
        said = limits.said_in(answer.body)
        if said is not None:
            now = self._clock.now()
            self.quota = limits.quota_in(said, now) or self.quota
            if seconds := limits.backoff_in(said):
                self._not_before[method] = now + timedelta(seconds=seconds)
        if answer.status == 200 and (said is None or said.error_id is None):
            wrong = "it is not what the API gives" if said is None else fault(said.document)
            if wrong:
                raise _Unusable(wrong, "truncated")
        return answer, said

    def _wait_before(self, method: str) -> None:
        decision = limits.before_request(
            self.quota, self._not_before.pop(method, None), self._clock.now(), self._max_wait_s
        )
        if decision.action == "give up":
            raise quota_used_up(self._asker, decision, self._clock.now(), self.sent)
        if decision.action == "wait":
            self._wait(decision, Tries())

    def _wait(self, decision: Decision, tries: Tries) -> None:
        self.waited_s += wait(
            decision,
            tries,
            server=self._asker.server,
            clock=self._clock,
            tell=self._tell,
            with_day=True,  # a quota is for a day
        )

    def _unusable(self, broken: Broken) -> StudyError:
        if not isinstance(broken, _Unusable):
            return unreachable(self._asker, broken)
        return Trouble(
            f"{self._asker.server} gives no usable answer: {broken.reason} ({ATTEMPTS} attempts)",
            "Run the same command again later; if it stays, check the address of the API.",
        )

    def _given_up(
        self, decision: Decision, answer: Answer, said: Said | None, path: str
    ) -> StudyError:
        if decision.cause == "refusal":
            return self._refused(answer.status, said, path)
        if decision.cause == "trouble":
            return in_trouble(self._asker, decision.reason)
        return quota_used_up(self._asker, decision, self._clock.now(), self.sent)

    def _refused(self, status: int, said: Said | None, path: str) -> Refused:
        server, words = self._asker.server, said.words if said else ""
        if "key" in words.lower() and self.has_key:
            return Refused(
                f'the key in {self._asker.token_name} was refused ("{words}")',
                "Copy it again from stackapps.com, or go on without: it is optional.",
                status,
            )
        if words.lower().startswith("no site found"):
            return Refused(
                f"there is no site {self.site}",
                "Check --site; https://stackexchange.com/sites lists them.",
                status,
            )
        if said is None:
            return Refused(
                f"{server} answers {path} with status {status}, and not as the API does",
                f"Check the address of the API; it is like {API}.",
                status,
            )
        return Refused(
            f'{server} does not take the request {path} ({said.error_name}: "{words}")',
            "Check tags, days and the address of the API.",
            status,
        )


def method_of(path: str) -> str:
    """What a pause is for: the address without the numbers in it."""
    return _IDS.sub("/{ids}", path)
