"""The client for OpenAlex and Scopus: asks until there is an answer, or no point in asking.

A key goes into a header, or into the address beneath urllib3 (see `miner.http`), so that no log,
no error and no stored response ever holds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from faultatlas.data.clock import Clock, current_clock
from faultatlas.data.errors import StudyError
from faultatlas.data.provenance import program_version
from faultatlas.miner import projects
from faultatlas.miner.http import (
    TOKEN_PARAMETER,
    Answer,
    Broken,
    Response,
    Transport,
    checked_root,
    parsed,
)
from faultatlas.miner.papers import limits
from faultatlas.miner.papers.service import Service
from faultatlas.miner.ratelimit import ATTEMPTS, Decision, Quota, Tries, after_failure
from faultatlas.miner.refusals import (
    Asker,
    Refused,
    Trouble,
    in_trouble,
    quota_used_up,
    unreachable,
)
from faultatlas.miner.tokens import variable_of
from faultatlas.miner.waiting import wait


class NotAllowed(Refused):
    """The key does not include this manner of asking; another may be allowed."""


class _Unusable(Broken):
    """A whole answer that cannot be right."""


class Client:
    """Asks one index, one request at a time."""

    def __init__(
        self,
        service: Service,
        key: str | None,
        *,
        api_url: str | None = None,
        max_wait_s: float = 4200,
        clock: Clock | None = None,
        tell: Callable[[str], None] = lambda _message: None,
        timeout_s: float = 60,
        key_name: str | None = None,
    ) -> None:
        self.service = service
        self.api_url = checked_root(api_url or service.api, service.api)
        if key:
            projects.refuse_plain_http(self.api_url)
        self.has_key = bool(key)
        self.sent = 0
        self.not_modified = 0  # neither knows conditional requests
        self.waited_s = 0.0
        self.quota: Quota | None = None
        host = urlsplit(self.api_url).netloc
        public = host == urlsplit(service.api).netloc
        key_name = key_name or variable_of(service.name)
        self._asker = Asker(
            server=service.title if public else host,
            has_token=self.has_key,
            token_name=key_name,
            with_token=f"A key in {key_name} gives more.",
            is_daily=True,
        )
        self._max_wait_s = max_wait_s
        self._clock = clock or current_clock()
        self._tell = tell
        self._headers = {
            "Accept": "application/json",
            "User-Agent": f"faultatlas/{program_version()}",
        }
        if key and service.key_header:
            self._headers[service.key_header] = key
        self._transport = Transport(
            timeout_s=timeout_s,
            secret=key,
            in_url=not service.key_header,
            parameter=service.key_parameter or TOKEN_PARAMETER,
        )

    def __repr__(self) -> str:
        return f"Client({self.api_url!r}, {'with' if self.has_key else 'without'} a key)"

    def get(self, url: str) -> Response:
        """The answer to an address beneath the root, with status 200 and a list in it."""
        tries = Tries()
        while True:
            self._wait_before()
            try:
                answer, said = self._once(url)
            except Broken as broken:
                decision = after_failure(broken, tries=tries, chance=self._clock.random)
                if decision.action == "give up":
                    raise self._unusable(broken) from None
                self._wait(decision, tries)
                continue
            decision = limits.after_answer(
                self.service,
                answer.status,
                answer.headers,
                tries=tries,
                now=self._clock.now(),
                chance=self._clock.random,
                max_wait_s=self._max_wait_s,
            )
            if decision.action == "ok":
                return Response(
                    status=answer.status,
                    url=url,
                    final_url=url,
                    headers=answer.headers,
                    body=answer.body,
                    received_at=self._clock.now(),
                    api_url=self.api_url,
                )
            if decision.action == "give up":
                raise self._given_up(decision, answer.status, said)
            self._wait(decision, tries)

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _once(self, url: str) -> tuple[Answer, Any]:
        """One exchange, counted; an answer with status 200 that is no list is `Broken`."""
        self.sent += 1
        answer = self._transport.send("GET", self.api_url + url, self._headers)
        self.quota = limits.quota_in(self.service, answer.headers, self._clock.now()) or self.quota
        try:
            said = parsed(answer.body)
        except (ValueError, StudyError):
            said = None
        if answer.status == 200 and self.service.page(said, url) is None:
            raise _Unusable("it is not what the API gives", "truncated")
        return answer, said

    def _wait_before(self) -> None:
        decision = limits.before_request(self.quota, self._clock.now(), self._max_wait_s)
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
            with_day=True,  # a quota is for a day or a week
        )

    def _unusable(self, broken: Broken) -> StudyError:
        if not isinstance(broken, _Unusable):
            return unreachable(self._asker, broken)
        return Trouble(
            f"{self._asker.server} gives no usable answer: {broken.reason} ({ATTEMPTS} attempts)",
            "Run the same command again later; if it stays, check the address of the API.",
        )

    def _given_up(self, decision: Decision, status: int, said: Any) -> StudyError:
        if decision.cause == "refusal":
            words = self.service.error_words(said) or "no reason given"
            message, hint = self.service.refusal(
                status, words, key_name=self._asker.token_name, has_key=self.has_key
            )
            may_change = self.service.is_not_allowed(status, words)
            return (NotAllowed if may_change else Refused)(message, hint, status)
        if decision.cause == "trouble":
            return in_trouble(self._asker, decision.reason)
        return quota_used_up(self._asker, decision, self._clock.now(), self.sent)
