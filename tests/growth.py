"""Twice the text takes about twice the time: a rule that a busy machine does not break."""

from __future__ import annotations

import time
from collections.abc import Callable

_SLACK_S = 0.02  # what the clock and the caches of the processor make of a short measurement


def grows_like_its_text(read: Callable[[str], object], start: str, unit: str, size: int) -> None:
    """Fails where a reader looks at the rest of a text for each character of it.

    Then twice the text takes four times as long. A pattern that is worse never comes to an end.
    """
    once, twice = (start + unit * (size * times // len(unit)) for times in (1, 2))
    read(once)  # whatever is done once is done
    # The best of several: a busy machine makes some slower, and none faster.
    spent = [min(_spent(read, text) for _time in range(5)) for text in (once, twice)]
    assert spent[1] < 3 * spent[0] + _SLACK_S, spent


def _spent(read: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    read(text)
    return time.process_time() - start
