"""The loopback server: HTTP/1.1 with connections that stay open, on 127.0.0.1 only."""

from __future__ import annotations

import contextlib
import gzip
import os
import socket
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate
from http.client import responses
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any

from loopback.exchange import Reply, Request, error

LARGE = 1400  # bytes; smaller bodies are not worth compressing


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def handle_any(self) -> None:
        world = self.server.world
        length = int(self.headers.get("Content-Length") or 0)
        request = Request(
            number=self.server.next_number(),
            method=self.command,
            target=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(length) if length else b"",
        )
        try:
            reply = world.answer(request)
        except Exception as problem:  # noqa: BLE001 - told to the test when the server stops
            world.errors.append(problem)
            reply = error(500, f"The loopback server broke: {problem!r}")
        _call(world.before_response, request)
        world.faults.answered(request)  # the answer is fixed, the next request cannot overtake it
        with contextlib.suppress(ConnectionError):
            self._send(request, reply)
        _call(world.after_response, request)

    do_GET = do_POST = do_HEAD = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815

    def _send(self, request: Request, reply: Reply) -> None:
        world = self.server.world
        body = reply.body
        headers = {"date": formatdate(world.clock(), usegmt=True), **reply.headers}
        accepted = request.headers.get("accept-encoding", "")
        if world.gzip and "gzip" in accepted and len(body) > LARGE:
            body = gzip.compress(body, 1, mtime=0)
            headers["content-encoding"] = "gzip"
        has_body = reply.status not in {204, 304} and request.method != "HEAD"
        if reply.chunked:
            headers["transfer-encoding"] = "chunked"
        elif has_body:
            headers["content-length"] = str(len(body))
        lines = [f"HTTP/1.1 {reply.status} {responses.get(reply.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        head = "\r\n".join([*lines, "\r\n"]).encode("latin-1")
        if reply.cut is not None:
            self._send_part(head, body[: int(len(body) * reply.cut)], reply)
            return
        if world.mid_body is not None and has_body:
            self.connection.sendall(head + body[: len(body) // 2])
            world.mid_body(request.number, request)
            self.connection.sendall(body[len(body) // 2 :])
            return
        self.connection.sendall(head + body if has_body else head)

    def _send_part(self, head: bytes, part: bytes, reply: Reply) -> None:
        """Send less than was announced and end the connection."""
        chunk = b"%x\r\n%b\r\n" % (len(part), part) if reply.chunked else part
        self.connection.sendall(head + chunk)
        self.close_connection = True
        if reply.reset:
            no_linger = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
            os.close(self.connection.detach())

    def log_message(self, *_arguments: Any) -> None:
        """The log is `world.requests`."""


class _Server(ThreadingMixIn, HTTPServer):
    daemon_threads = False  # they are joined, so that nothing is left open
    request_queue_size = 64

    def __init__(self, world: Any, port: int) -> None:
        self.world = world
        self._numbers = 0
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    def next_number(self) -> int:
        with self._lock:
            self._numbers += 1
            return self._numbers

    def server_bind(self) -> None:
        # HTTPServer would look up the name of the machine.
        socket.socket.bind(self.socket, self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, _request: Any, _client_address: Any) -> None:
        """A client that went away is no error; what the server breaks is in `world.errors`."""

    def end_connections(self) -> None:
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True)
class Running:
    """A server that runs."""

    url: str
    world: Any

    @property
    def gitee_url(self) -> str:
        return f"{self.url}/api/v5"

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextlib.contextmanager
def serving(world: Any, port: int = 0) -> Iterator[Running]:
    """Serve a World or a Recording from a thread of this process."""
    server = _Server(world, port)
    world.base_url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), name="loopback")
    thread.start()
    try:
        yield Running(world.base_url, world)
    finally:
        server.shutdown()
        thread.join()
        server.end_connections()
        server.server_close()
    if world.errors:
        raise world.errors[0]


def _call(hook: Any, request: Request) -> None:
    if hook is not None:
        hook(request.number, request)
