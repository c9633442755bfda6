"""One HTTP exchange on `requests`: what was answered, or in what way the connection broke.

Bodies are read with a limit and checked for completeness. No redirect is followed and
nothing is retried here. A token that a server wants in the URL is added beneath urllib3,
so that no log, no error and no response ever holds it.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import ssl
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from urllib.parse import parse_qs, quote, urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from faultatlas.data.errors import StudyError
from faultatlas.data.redaction import SHORTEST, mask_bytes, mask_value

BODY_LIMIT = 64 * 1024 * 1024  # after decompression
TOKEN_PARAMETER = "access_token"  # noqa: S105  (the name of Gitee's parameter)
_CHUNK = 64 * 1024
_LINK = re.compile(r"<([^<>]*)>([^<>]*)")
_REL = re.compile(r';\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))', re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}
_BODILESS = {204, 304}

BrokenKind = Literal["dns", "refused", "timeout", "reset", "truncated", "tls", "proxy"]


class Broken(Exception):  # noqa: N818  (it is caught and decided about, never shown)
    """No whole answer arrived; `reason` says why in words that hold no address and no secret."""

    def __init__(self, reason: str, kind: BrokenKind) -> None:
        super().__init__(reason)
        self.reason = reason
        self.kind = kind


@dataclass(frozen=True)
class Response:
    """An answer of the API."""

    status: int
    url: str  # what was asked, relative to the API root, no token in it
    final_url: str  # where redirects led
    headers: Mapping[str, str]  # names in lower case
    body: bytes = field(repr=False)
    received_at: datetime  # UTC without a zone
    api_url: str = field(default="", repr=False)  # the root that links are relative to

    def json(self) -> Any:
        """The document in the body."""
        try:
            return parsed(self.body)
        except ValueError:
            raise StudyError(
                f"the answer to {self.url} is no JSON", "Run the same command again."
            ) from None

    @property
    def next_url(self) -> str | None:
        """The next page, relative to the API root; one that leads elsewhere is an error."""
        target = self._links().get("next")
        return None if target is None else relative_url(target, self.api_url)

    @property
    def last_page(self) -> int | None:
        """The number of the last page, where the server tells it."""
        try:
            pages = parse_qs(urlsplit(self._links().get("last", "")).query).get("page", [])
        except ValueError:
            pages = []
        if not pages and "total_page" in self.headers:  # Gitee
            pages = [self.headers["total_page"]]
        number = pages[-1] if pages else ""
        return int(number) if re.fullmatch(r"[0-9]{1,9}", number) else None

    @property
    def etag(self) -> str | None:
        """What to ask with next time, to be told only that nothing changed."""
        return self.headers.get("etag") or None

    def _links(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for target, attributes in _LINK.findall(self.headers.get("link", "")):
            rel = _REL.search(attributes)
            for name in (rel[1] or rel[2] or "").lower().split() if rel else ():
                found.setdefault(name, target.strip())
        return found


def parsed(body: bytes) -> Any:
    """The JSON document; ValueError for what is none, StudyError for one that is an attack."""
    try:
        return json.loads(body, parse_constant=_no_number)
    except RecursionError:
        raise StudyError(
            "the server's answer is nested absurdly deep", "Check the address of the API."
        ) from None


def _no_number(word: str) -> None:
    raise ValueError(word)  # NaN and Infinity: Python reads them, JSON does not have them


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of a URL; ValueError if it has none."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS[parts.scheme]


def checked_root(api_url: str, like: str) -> str:
    """The root of an API without a slash at its end; refused when it is no web address."""
    root = api_url.strip().rstrip("/")
    try:
        origin(root)
        parts = urlsplit(root)
        good = not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        good = False
    if not good:
        raise StudyError("the address of the API is no web address", f"Write it like {like}.")
    return root


def relative_url(url: str, api_url: str) -> str:
    """A server's URL relative to the API root; refused when it is not beneath the root.

    Only this form is ever asked, so a link or redirect cannot make us send a token elsewhere.
    """
    root = urlsplit(api_url)
    try:
        parts = urlsplit(url)
        if parts.scheme or parts.netloc:
            same = origin(url) == origin(api_url)
        else:
            same = url.startswith("/")
    except ValueError:
        same = False
    path = parts.path.removeprefix(root.path.rstrip("/")) if same else ""
    beneath = same and parts.path.startswith(root.path.rstrip("/") + "/")
    # Two slashes at the beginning would name a host where someone joins URLs.
    if not beneath or not path.startswith("/") or path.startswith("//"):
        raise StudyError(
            f"{_host(api_url)} refers to an address outside of its API: {_shown(url)}",
            "Nothing was sent there. Check the address of the API.",
        )
    pairs = [pair for pair in parts.query.split("&") if pair.split("=")[0] != TOKEN_PARAMETER]
    return path + ("?" + "&".join(pairs) if any(pairs) else "")


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or "the server"


def _shown(url: str) -> str:
    """A foreign URL without what may be secret in it."""
    return repr(re.sub(r"//[^/]*@", "//", url.partition("?")[0])[:200])


@dataclass(frozen=True)
class Answer:
    """What came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes = field(repr=False)


class Transport:
    """One session with one server. It keeps connections, but no cookies and no passwords."""

    def __init__(
        self,
        *,
        timeout_s: float,
        secret: str | None,
        in_url: bool,
        parameter: str = TOKEN_PARAMETER,
        limit: int = BODY_LIMIT,
    ) -> None:
        self._timeout_s = timeout_s
        self._limit = limit
        # A very short one could be an ordinary word.
        self._secret = secret if secret and len(secret) >= SHORTEST else None
        self._session = requests.Session()
        # Any `auth` keeps requests from sending a password of ~/.netrc to the server.
        self._session.auth = _as_it_is
        if secret and in_url:
            adapter = _Signing(f"{parameter}={quote(secret, safe='')}")
            self._session.mount("https://", adapter)
            self._session.mount("http://", adapter)

    def send(
        self, verb: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Answer:
        """Ask once; raises `Broken`."""
        session = self._session
        try:
            request = session.prepare_request(
                requests.Request(
                    verb, url, headers={**headers, "Accept-Encoding": "gzip"}, data=body
                )
            )
            # Not `session.send`: even where it follows no redirect it reads its body and target.
            settings: Any = session.merge_environment_settings(url, {}, True, None, None)
            adapter = session.get_adapter(url)
            with adapter.send(request, timeout=self._timeout_s, **settings) as found:
                names = {name.lower(): value for name, value in found.headers.items()}
                content = _content(found, names, self._limit)
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            # Their messages hold URLs and proxies' passwords: only their kind is kept.
            raise _broken(error, self._timeout_s) from None
        return self._cleaned(Answer(found.status_code, names, content))

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _cleaned(self, answer: Answer) -> Answer:
        """The answer without our token, should the server repeat it."""
        if self._secret is None:
            return answer
        headers = {name: mask_value(value, self._secret) for name, value in answer.headers.items()}
        return Answer(answer.status, headers, mask_bytes(answer.body, self._secret))


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _content(response: requests.Response, headers: Mapping[str, str], limit: int) -> bytes:
    """The whole body, decompressed; urllib3 would take a gzip stream that ends too early."""
    coding = headers.get("content-encoding", "").strip().lower()
    if coding not in {"", "identity", "gzip", "x-gzip"}:
        raise Broken(f"the answer is packed in an unknown way ({coding[:20]!r})", "truncated")
    unpack = zlib.decompressobj(wbits=31) if "gzip" in coding else None
    received = 0
    content = bytearray()
    for chunk in response.raw.stream(_CHUNK, decode_content=False):
        received += len(chunk)
        try:
            content += unpack.decompress(chunk, limit + 1 - len(content)) if unpack else chunk
        except zlib.error:
            raise Broken("the answer is damaged", "truncated") from None
        if len(content) > limit:
            raise StudyError(
                f"the server's answer is larger than {limit // 1024**2} MB",
                "Check the address of the API: no page of issues is that large.",
            )
    length = headers.get("content-length", "")  # urllib3 checks it only since version 2
    if response.status_code not in _BODILESS and (
        (length.isdecimal() and int(length) != received and "transfer-encoding" not in headers)
        or (unpack and received and not unpack.eof)
    ):
        raise Broken("the answer ended too early", "truncated")
    return bytes(content)


def _broken(error: BaseException, timeout_s: float) -> Broken:
    """The failure in our words, by the first cause that says more than "it failed"."""
    causes = list(_causes(error))
    for kinds, kind, words in _KINDS:
        if any(isinstance(cause, kinds) for cause in causes):
            return Broken(words.format(timeout_s=timeout_s), kind)
    return Broken("the connection failed", "reset")


_KINDS: tuple[tuple[tuple[type[BaseException], ...], BrokenKind, str], ...] = (
    ((requests.exceptions.ProxyError,), "proxy", "the proxy does not let us through"),
    ((ssl.SSLCertVerificationError,), "tls", "its certificate is not trusted"),
    ((ssl.SSLEOFError,), "reset", "the connection was broken off"),
    ((ssl.SSLError, requests.exceptions.SSLError), "tls", "no encrypted connection is possible"),
    ((socket.gaierror, UnicodeError), "dns", "its name cannot be found"),
    ((ConnectionRefusedError,), "refused", "it refuses the connection"),
    (
        (TimeoutError, requests.Timeout, urllib3.exceptions.TimeoutError),
        "timeout",
        "no answer within {timeout_s:g} s",
    ),
    ((ConnectionError,), "reset", "the connection was broken off"),
    ((http.client.BadStatusLine,), "truncated", "the answer is no HTTP"),
    ((urllib3.exceptions.ProtocolError,), "truncated", "the answer ended too early"),
)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it wraps; not `__context__`, which may be the caller's own trouble."""
    waiting, seen = [error], set[int]()
    while waiting:
        found = waiting.pop(0)
        if id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        inner = (found.__cause__, getattr(found, "reason", None), *found.args)
        waiting += [each for each in inner if isinstance(each, BaseException)]


class _Signing(HTTPAdapter):
    """Adds a parameter to every URL, where the request is written to the socket."""

    def __init__(self, parameter: str) -> None:
        class Plain(HTTPConnection):
            def putrequest(self, method: str, url: str, *args: Any, **options: Any) -> None:
                super().putrequest(method, _with(url, parameter), *args, **options)

        class Secure(HTTPSConnection):
            def putrequest(self, method: str, url: str, *args: Any, **options: Any) -> None:
                super().putrequest(method, _with(url, parameter), *args, **options)

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = Secure

        self._pools = {"http": PlainPool, "https": SecurePool}
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, *args: Any, **options: Any) -> Any:
        manager = super().proxy_manager_for(*args, **options)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _with(url: str, parameter: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{parameter}"
