"""Which system calls the kernel refuses a run: those that lead around the network's namespace.

A namespace of networks holds what has addresses. Sockets of other families (of virtual machines,
of Bluetooth, of the kernel's own ciphers) belong to the whole host, so only those are allowed that
a namespace confines, and those between processes. io_uring makes sockets without the call that is
looked at, and calls of another architecture have other numbers: neither is needed.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from dataclasses import dataclass

FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)  # 16: AF_NETLINK

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # of linux/bpf_common.h
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000  # of linux/seccomp.h; the second with an errno
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16  # where they stand in struct seccomp_data
_IO_URING = 425  # the same number on every processor
_X32 = 0x40000000  # calls of another architecture under the name of this one


@dataclass(frozen=True)
class _Processor:
    architecture: int  # of linux/audit.h
    calls: tuple[int, ...]  # socket, socketpair


_KNOWN = {
    "x86_64": _Processor(0xC000003E, (41, 53)),
    "aarch64": _Processor(0xC00000B7, (198, 199)),
}


def program(machine: str = "") -> bytes:
    """The filter as the kernel reads it; empty where the processor is none that we know."""
    known = _KNOWN.get(machine or os.uname().machine)
    if known is None:
        return b""
    # Each step: what is done, with what, where it goes on if so and if not ("": with the next one).
    steps: list[tuple[str, int, int, str, str]] = [
        ("", _LOAD, _ARCHITECTURE, "", ""),
        ("", _IF_EQUAL, known.architecture, "", "no call"),
        ("", _LOAD, _NUMBER, "", ""),
        ("", _IF_AT_LEAST, _X32, "no call", ""),
        ("", _IF_EQUAL, _IO_URING, "no call", ""),
        *(("", _IF_EQUAL, number, "family", "") for number in known.calls),
        ("", _RETURN, _ALLOW, "", ""),
        ("family", _LOAD, _FIRST, "", ""),
        *(("", _IF_EQUAL, int(family), "allowed", "") for family in FAMILIES),
        ("", _RETURN, _REFUSE | errno.EAFNOSUPPORT, "", ""),
        ("allowed", _RETURN, _ALLOW, "", ""),
        ("no call", _RETURN, _REFUSE | errno.ENOSYS, "", ""),
    ]
    places = {name: place for place, (name, *_) in enumerate(steps) if name}
    words = []
    for place, (_, code, value, *ways) in enumerate(steps):
        jumps = [places[way] - place - 1 if way else 0 for way in ways]
        words.append(struct.pack("=HBBI", code, *jumps, value))
    return b"".join(words)
