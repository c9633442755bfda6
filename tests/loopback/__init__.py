"""A GitHub and a Gitee on this machine, for tests and measurements of the miners."""

from loopback.exchange import Reply, Request
from loopback.faults import Fault
from loopback.recording import Recording
from loopback.server import Running, serving
from loopback.tracker import Tracker
from loopback.world import TOKEN, World

__all__ = [
    "TOKEN",
    "Fault",
    "Recording",
    "Reply",
    "Request",
    "Running",
    "Tracker",
    "World",
    "serving",
]
