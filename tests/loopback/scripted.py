"""A server that sends exactly the bytes of a script, one entry a request, whole or not.

Every connection serves one request, so that no test depends on which connection is reused.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    verb: str
    target: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes


@dataclass(frozen=True)
class Reset:
    """Some bytes, then the connection is reset."""

    part: bytes


@dataclass(frozen=True)
class Silence:
    """Nothing at all, until the server is stopped."""


Entry = bytes | Reset | Silence


def answer(
    status: int = 200,
    body: bytes | str = b"{}",
    headers: Mapping[str, str] | None = None,
    *,
    length: int | None = None,
) -> bytes:
    """An answer; `length` is what it claims to be long."""
    content = body.encode() if isinstance(body, str) else body
    lines = {
        "Content-Length": str(len(content) if length is None else length),
        "Connection": "close",
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value)
    return f"HTTP/1.1 {status} Told\r\n{head}\r\n".encode("latin-1") + content


@dataclass
class Scripted:
    """What was asked so far, and what will be answered."""

    url: str
    script: list[Entry] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def answers(self, *entries: Entry) -> None:
        self.script.extend(entries)

    def serve(self, connection: socket.socket) -> None:
        # Who greets in TLS where none is spoken gets the entry without having asked anything.
        if isinstance(connection, ssl.SSLSocket) or connection.recv(1, socket.MSG_PEEK) != b"\x16":
            self.asked.append(_read(connection))
        else:
            connection.recv(65536)  # unread, it would make the end of the connection a reset
        entry = self.script.pop(0) if self.script else answer(418, '{"message": "script is over"}')
        if isinstance(entry, Silence):
            self.stopped.wait()
        elif isinstance(entry, Reset):
            connection.sendall(entry.part)
            no_linger = struct.pack("ii", 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
        else:
            connection.sendall(entry)


def _read(connection: socket.socket) -> Asked:
    with connection.makefile("rb") as stream:
        verb, target, _version = stream.readline().decode().split(" ", 2)
        lines = iter(lambda: stream.readline().decode("latin-1").strip(), "")
        pairs = [line.partition(":") for line in lines]
        headers = {name.lower(): value.strip() for name, _colon, value in pairs}
        return Asked(verb, target, headers, stream.read(int(headers.get("content-length", "0"))))


@contextlib.contextmanager
def scripted(*entries: Entry, tls: ssl.SSLContext | None = None) -> Iterator[Scripted]:
    """Serve a script from a thread of this process."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        scheme = "http" if tls is None else "https"
        served = Scripted(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}", list(entries))

        def accept() -> None:
            while True:
                try:
                    plain, _address = listener.accept()
                except OSError:  # the listener was shut down
                    return
                with plain, contextlib.suppress(OSError, ValueError):  # the client went away
                    if tls is None:
                        served.serve(plain)
                    else:
                        with tls.wrap_socket(plain, server_side=True) as secure:
                            served.serve(secure)

        thread = threading.Thread(target=accept, name="scripted")
        thread.start()
        try:
            yield served
        finally:
            served.stopped.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
