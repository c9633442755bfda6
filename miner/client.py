"""The client for GitHub (through PyGithub's requester) and Gitee: asks until there is an answer.

It follows redirects on the same server, waits for quotas and tells so, tries again after
failures, and raises `QuotaUsedUp`, `Unreachable` or `Refused` when there is no point.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

from faultatlas.data.clock import Clock, current_clock
from faultatlas.data.errors import StudyError
from faultatlas.data.provenance import program_version
from faultatlas.miner.http import (
    Answer,
    Broken,
    Response,
    Transport,
    checked_root,
    origin,
    parsed,
    relative_url,
)
from faultatlas.miner.projects import is_this_machine
from faultatlas.miner.ratelimit import (
    Decision,
    Quota,
    Tries,
    after_answer,
    after_failure,
    before_request,
    graphql_errors,
    message_of,
    quota_of,
)
from faultatlas.miner.refusals import (
    Asker,
    QuotaUsedUp,
    Refused,
    Unreachable,
    in_trouble,
    quota_used_up,
    refused,
    unreachable,
)
from faultatlas.miner.waiting import wait

if TYPE_CHECKING:
    from github.Requester import Requester

__all__ = ["Client", "QuotaUsedUp", "Refused", "Unreachable"]

GITHUB_ACCEPT = "application/vnd.github+json"
GITHUB_VERSION = "2022-11-28"
_GRAPHQL = "/graphql"
_REDIRECTS = {301, 302, 307, 308}
_MOST_REDIRECTS = 5
_LIKE = "https://api.github.com or https://gitee.com/api/v5"

_Send = Callable[[str], Answer]


class Client:
    """Asks one server, one request at a time. The token is in nothing that it gives back."""

    def __init__(
        self,
        api_url: str,
        token: str | None,
        *,
        kind: Literal["github", "gitee"] = "github",
        max_wait_s: float = 4200,
        clock: Clock | None = None,
        tell: Callable[[str], None] = lambda _message: None,
        timeout_s: float = 30,
        accept: str = GITHUB_ACCEPT,
        token_name: str | None = None,
    ) -> None:
        self.api_url = checked_root(api_url, _LIKE)
        self.kind = kind
        self.has_token = bool(token)
        self.sent = 0
        self.not_modified = 0
        self.waited_s = 0.0
        host = urlsplit(self.api_url).netloc
        names = {"api.github.com": "GitHub", "gitee.com": "Gitee"}
        token_name = token_name or f"{kind.upper()}_TOKEN"
        quota = f"With a token in {token_name} it is 5,000 requests an hour, without one only 60."
        self._asker = Asker(
            server=names.get(host, host),
            has_token=self.has_token,
            token_name=token_name,
            with_token=quota if host == "api.github.com" else "",
        )
        _check_token(token, self.api_url, self._asker.token_name)
        self._max_wait_s = max_wait_s
        self._clock = clock or current_clock()
        self._tell = tell
        self._accept = accept if kind == "github" else "application/json"
        self._agent = f"faultatlas/{program_version()}"
        self._quotas: dict[str, Quota] = {}
        self._transport = Transport(timeout_s=timeout_s, secret=token, in_url=kind == "gitee")
        self._requester = _requester(self.api_url, token, self._agent) if kind == "github" else None

    def __repr__(self) -> str:
        return f"Client({self.api_url!r}, {'with' if self.has_token else 'without'} a token)"

    @property
    def quota(self) -> Quota | None:
        """The newest quota that the server told for ordinary requests."""
        return self._quotas.get("core")

    def get(
        self,
        path: str,
        parameters: Mapping[str, str | int] | None = None,
        *,
        etag: str | None = None,
        accept: Collection[int] = (),
    ) -> Response:
        """The answer with status 200, 304 or one of `accept`."""
        asked = _asked(path, parameters or {}, self.api_url)
        conditions = {} if etag is None else {"If-None-Match": etag}

        def send(where: str) -> Answer:
            return self._send("GET", where, conditions)

        return self._answer(asked, send, accept)

    def graphql(self, query: str, variables: Mapping[str, Any]) -> Response:
        """The answer to a query; parts of it may be missing and named in its "errors"."""
        if self._requester is None:
            raise StudyError("Gitee has no GraphQL", "Use its REST endpoints.")
        if not self.has_token:
            raise StudyError(
                "GraphQL needs a token", f"Set {self._asker.token_name}, or do without GraphQL."
            )
        question = {"query": query, "variables": dict(variables)}

        def send(_where: str) -> Answer:
            return self._send("POST", _GRAPHQL, {}, question)

        return self._answer(_GRAPHQL, send, ())

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _answer(self, asked: str, send: _Send, accept: Collection[int]) -> Response:
        """Ask until there is an answer, or no point in asking again."""
        tries, where, redirects = Tries(), asked, 0
        resource = _resource(asked)
        while True:
            self._wait_for_quota(resource)
            try:
                answer = self._once(send, where, resource)
            except Broken as broken:
                decision = after_failure(broken, tries=tries, chance=self._clock.random)
                if decision.action == "give up":
                    raise unreachable(self._asker, broken) from None
                self._wait(decision, tries)
                continue
            if answer.status in _REDIRECTS - set(accept):
                redirects += 1
                where = self._redirected(answer, asked, where, redirects)
                continue
            decision = after_answer(
                answer.status,
                answer.headers,
                answer.body,
                tries=tries,
                now=self._clock.now(),
                chance=self._clock.random,
                accept=accept,
                max_wait_s=self._max_wait_s,
                graphql=asked == _GRAPHQL,
            )
            if decision.action == "ok":
                return Response(
                    status=answer.status,
                    url=asked,
                    final_url=where,
                    headers=answer.headers,
                    body=answer.body,
                    received_at=self._clock.now(),
                    api_url=self.api_url,
                )
            if decision.action == "give up":
                raise self._given_up(decision, answer, where)
            self._wait(decision, tries)

    def _once(self, send: _Send, where: str, resource: str) -> Answer:
        """One exchange, counted; an answer that should be JSON and is none raises `Broken`."""
        self.sent += 1
        answer = send(where)
        self.not_modified += answer.status == 304
        quota = quota_of(answer.headers, self._clock.now(), resource)
        if quota is not None:
            self._quotas[resource] = quota
        if answer.status == 200:
            try:
                parsed(answer.body)
            except ValueError:
                raise Broken("the answer is no JSON", "truncated") from None
        return answer

    def _send(
        self, verb: str, where: str, conditions: Mapping[str, str], question: Any = None
    ) -> Answer:
        headers = {"Accept": self._accept, "User-Agent": self._agent, **conditions}
        url = self.api_url + where
        if self._requester is None:
            return self._transport.send(verb, url, headers)
        headers["X-GitHub-Api-Version"] = GITHUB_VERSION
        if where == _GRAPHQL:
            url = where = self._requester.graphql_url
        exchange = _Exchange(self._transport, url)
        self._requester.requestJson(
            verb, where, headers=headers, input=question, cnx=cast("Any", exchange)
        )
        if exchange.answer is None:  # PyGithub asks whatever it is given exactly once
            raise Broken("no request was made", "reset")
        return exchange.answer

    def _redirected(self, answer: Answer, asked: str, where: str, redirects: int) -> str:
        """Where a redirect leads, which must be beneath the API root of the same server."""
        location = answer.headers.get("location", "")
        if not location or redirects > _MOST_REDIRECTS or asked == _GRAPHQL:
            raise Refused(
                f"{self._asker.server} redirects {asked} "
                + ("in a circle" if redirects > _MOST_REDIRECTS else "nowhere"),
                "Check the address of the API.",
                answer.status,
            )
        try:
            target = relative_url(urljoin(self.api_url + where, location), self.api_url)
        except (StudyError, ValueError) as error:
            raise Refused(
                f"{self._asker.server} redirects {asked} to an address outside of its API",
                f"Nothing was sent there. {getattr(error, 'message', '')}".strip(),
                answer.status,
            ) from None
        query = urlsplit(where).query
        return target if "?" in target or not query else f"{target}?{query}"

    def _wait_for_quota(self, resource: str) -> None:
        decision = before_request(self._quotas.get(resource), self._clock.now(), self._max_wait_s)
        if decision.action == "give up":
            raise quota_used_up(self._asker, decision, self._clock.now(), self.sent)
        if decision.action == "wait":
            self._wait(decision, Tries())

    def _wait(self, decision: Decision, tries: Tries) -> None:
        self.waited_s += wait(
            decision, tries, server=self._asker.server, clock=self._clock, tell=self._tell
        )

    def _given_up(self, decision: Decision, answer: Answer, where: str) -> StudyError:
        if decision.cause == "refusal":
            words = message_of(answer.body)
            if where == _GRAPHQL and answer.status == 200:
                words = "; ".join(str(each.get("message")) for each in graphql_errors(answer.body))
            return refused(self._asker, answer.status, where, words)
        if decision.cause == "trouble":
            return in_trouble(self._asker, decision.reason)
        return quota_used_up(self._asker, decision, self._clock.now(), self.sent)


@dataclass(frozen=True)
class _Told:
    """What PyGithub is told of an answer: enough to be content, nothing to act on by itself."""

    status: int

    def getheaders(self) -> list[tuple[str, str]]:
        """None: of a location it would drop the query, of an absurd quota it would die."""
        return []

    def read(self) -> str:
        """Nothing: the body is kept beside."""
        return ""


class _Exchange:
    """A connection as PyGithub wants it. It sends on our session, and to exactly our URL:
    PyGithub sorts parameters and loses empty ones, but a link to the next page is opaque.
    """

    def __init__(self, transport: Transport, url: str) -> None:
        self.answer: Answer | None = None
        self._transport = transport
        self._url = url
        self._request: tuple[str, dict[str, str], str | None] = ("GET", {}, None)

    def request(
        self,
        verb: str,
        _url: str,
        question: str | None,
        headers: dict[str, str],
        _stream: bool = False,  # noqa: FBT001, FBT002  (PyGithub's form)
    ) -> None:
        """Note what is to be sent."""
        self._request = (verb, headers, question)

    def getresponse(self) -> _Told:
        """Send it."""
        verb, headers, question = self._request
        body = None if question is None else question.encode()
        self.answer = self._transport.send(verb, self._url, headers, body)
        # At 202 it would sleep and ask again by itself.
        return _Told(200 if self.answer.status == 202 else self.answer.status)


def _requester(api_url: str, token: str | None, agent: str) -> Requester:
    # PyGithub imports all of its objects: not before a client is made.
    from github.Auth import Token
    from github.Requester import Requester

    return Requester(
        auth=Token(token) if token else None,
        base_url=api_url,
        timeout=0,  # the connection is ours, and so is its timeout
        user_agent=agent,
        per_page=100,
        verify=True,
        retry=0,
        pool_size=None,
        seconds_between_requests=None,
        seconds_between_writes=None,
    )


def _check_token(token: str | None, api_url: str, name: str) -> None:
    if not token:
        return
    if not token.isascii() or not token.isprintable() or " " in token:
        # A line break would end in an error of the HTTP library that quotes the token.
        raise StudyError(
            f"the token in {name} has characters that no token has",
            "Copy it again, without spaces and line breaks.",
        )
    scheme, host, _port = origin(api_url)
    if scheme == "http" and not is_this_machine(host):
        raise StudyError(
            f"the token in {name} would be sent to {host} for everybody on the way to read",
            "Use an address that begins with https://.",
        )


def _asked(path: str, parameters: Mapping[str, str | int], api_url: str) -> str:
    """What is asked for, relative to the API root, with sorted parameters."""
    url = path if path.startswith("/") and not path.startswith("//") else ""
    url = url or relative_url(path, api_url)
    if not parameters:
        return url
    bare, _mark, query = url.partition("?")
    given = [pair for pair in parse_qsl(query, keep_blank_values=True) if pair[0] not in parameters]
    return f"{bare}?{urlencode(sorted([*given, *((k, str(v)) for k, v in parameters.items())]))}"


def _resource(asked: str) -> str:
    """The quota that a request counts against."""
    if asked == _GRAPHQL:
        return "graphql"
    return "search" if asked.startswith("/search/") else "core"
