"""Recorded traffic, answered exactly as it was recorded."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from loopback.exchange import Reply, Request, error
from loopback.faults import Faults

HOST = "https://api.github.com"
# They belong to the transmission, which is another one now.
TRANSMISSION = {"connection", "content-length", "content-encoding", "transfer-encoding", "date"}
Key = tuple[str, str, tuple[tuple[str, str], ...]]


class Recording:
    """Requests of a recorded session with their answers; anything else is 501.

    With `strict_accept` a request must have the Accept header of the recorded one.
    """

    def __init__(self, path: Path, *, strict_accept: bool = False) -> None:
        self.strict_accept = strict_accept
        self.clock: Callable[[], float] = time.time
        self.requests: list[Request] = []
        self.errors: list[BaseException] = []
        self.faults = Faults()
        self.gzip = False
        self.base_url = ""
        self.before_response = self.mid_body = self.after_response = None
        self.lock = threading.RLock()
        self.exchanges: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        self._known = {_key(one["method"], one["path"]): one for one in self.exchanges}

    def answer(self, request: Request) -> Reply:
        with self.lock:
            self.requests.append(request)
            reply = self._recorded(request)
            request.status = reply.status
            return reply

    def _recorded(self, request: Request) -> Reply:
        one = self._known.get(_key(request.method, request.target))
        if one is None:
            return error(501, f"{request.method} {request.target} was not recorded")
        wanted = one["reqheaders"].get("accept", "")
        if self.strict_accept and request.headers.get("accept") != wanted:
            return error(501, f"the recorded request accepts {wanted}")
        headers = {
            name: str(value).replace(HOST, self.base_url) if name in {"link", "location"} else value
            for name, value in one["headers"].items()
            if name not in TRANSMISSION
        }
        body = one["response"]
        sent = b"" if body == "" else json.dumps(body, ensure_ascii=False).encode()
        return Reply(one["status"], sent, {name: str(value) for name, value in headers.items()})


def _key(method: str, target: str) -> Key:
    parts = urlsplit(target)
    query = sorted(parse_qsl(parts.query, keep_blank_values=True))
    return method.upper(), unquote(parts.path), tuple(query)
