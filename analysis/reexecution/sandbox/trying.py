"""What a process finds out about its host by trying, once, however many threads ask at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

_Asked = ParamSpec("_Asked")
_Found = TypeVar("_Found")


def tried_once(function: Callable[_Asked, _Found]) -> Callable[_Asked, _Found]:
    """Remembers answers as `functools.cache` does, which lets threads try at the same time.

    Trials disturb each other, and a wrong answer would stay for the life of the process: one
    thread tries, the others wait for what it found.
    """
    lock = threading.Lock()
    remembered = cache(function)

    @wraps(function)
    def asked(*arguments: _Asked.args, **named: _Asked.kwargs) -> _Found:
        with lock:
            return remembered(*arguments, **named)  # type: ignore[arg-type]

    return asked
