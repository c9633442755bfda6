"""A progress bar for long commands: one line on standard error, where that is a terminal.

It shows what is done of what is expected, what is at work, requests, quota and time left, as far
as the width of the terminal goes. Elsewhere it tells the same in a line now and then, more rarely
the longer it takes, and with `--quiet` it shows nothing. Messages of `Output.tell` are printed
above it. Results belong after it: standard output is left alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.data.redaction import redact
from faultatlas.report.console import Console, printing_above, stderr
from faultatlas.report.formatting import count, plain

if TYPE_CHECKING:
    from rich.console import Console as Terminal
    from rich.console import ConsoleOptions, RenderResult
    from rich.progress import Progress, Task

_GAP = "  "
_NARROWEST, _WIDEST = 5, 40  # of the bar
_SHORTEST_NAME = 6
_SHORTEST_NOTE = 20  # shorter, it says less than a bar
_FIRST_S, _LONGEST_S = 15.0, 120.0  # between two lines where there is no terminal


@dataclass(frozen=True)
class _State:
    done: int = 0
    total: int | None = None
    requests: int | None = None
    requests_planned: int | None = None
    quota_left: int | None = None
    note: str = ""


class Bar:
    """What a long command reports to; it draws itself as one line."""

    def __init__(
        self,
        description: str,
        get_time: Callable[[], float] = time.monotonic,
        *,
        unit: str = "rows",
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """`tell` takes a line now and then: for where no bar can be drawn."""
        self._get_time, self._tell = get_time, tell
        self._told_at, self._wait_s = get_time(), _FIRST_S
        self._description = _clean(description)
        self._unit = unit
        self._state = _State()
        self._rows, self._requests = _tasks(get_time)

    def update(
        self,
        done: int,
        total: int | None = None,
        *,
        requests: int | None = None,
        requests_planned: int | None = None,
        quota_left: int | None = None,
        note: str = "",
    ) -> None:
        """Say how far the work is; what is None is not known and not shown."""
        self._state = _State(done, total, requests, requests_planned, quota_left, _clean(note))
        self._rows(done, total)
        self._requests(requests or 0, requests_planned)
        if self._tell is not None and self._get_time() - self._told_at >= self._wait_s:
            words = [text for text in self._words().values() if text]
            self._tell(f"{self._description}: {', '.join(words)}")
            self._told_at = self._get_time()
            self._wait_s = min(2 * self._wait_s, _LONGEST_S)

    def __rich_console__(self, console: Terminal, options: ConsoleOptions) -> RenderResult:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        # A line that fills the last column makes some terminals begin the next one.
        width = max(options.max_width - 1, 1)
        name, bar_width, rest = self._fitted(width)
        task = self._leading()
        line = Table.grid(padding=(0, len(_GAP), 0, 0))
        cells: list[Text | ProgressBar] = [Text(name)] if name else []
        if bar_width:
            cells.append(ProgressBar(max(task.total or 0, 1), task.completed, bar_width))
        words = Text(_GAP.join(rest))
        words.truncate(width, overflow="crop")  # the count alone, on a terminal of a few columns
        cells.append(words)
        for _ in cells:
            line.add_column(no_wrap=True)
        line.add_row(*cells)
        yield line

    def _leading(self) -> Task:
        """Rows when it is known how many there will be, else requests when that is."""
        rows, requests = self._rows.task, self._requests.task
        return requests if rows.total is None and requests.total is not None else rows

    def _fitted(self, width: int) -> tuple[str, int, list[str]]:
        """The name, the width of the bar (0 for none) and the other words that fit."""
        from rich.cells import cell_len, set_cell_size

        words = {key: text for key, text in self._words().items() if text}

        def room(name: str, *keys: str) -> int:
            """The columns that are left beside these, and after a gap."""
            texts = [name, *(words[key] for key in keys if key in words)]
            return width - sum(cell_len(text) + len(_GAP) for text in texts if text)

        name, shown = self._description, ["rows", "left"]
        shortest = min(cell_len(name), _SHORTEST_NAME)
        if room("", *shown) < shortest:
            shown = ["rows"]
        space = max(room("", *shown), 0)
        if cell_len(name) > space:
            name = f"{set_cell_size(name, space - 3)}..." if space > 3 else ""
        # Without an end in sight a bar would look full where there are no colours.
        endless = self._leading().total is None
        bar = _NARROWEST if room(name, *shown) >= _NARROWEST and not endless else 0
        for key in ("requests", "quota", "elapsed", "note"):  # the most telling first
            if room(name, *shown, key) >= bar:
                shown.append(key)
        if "note" in words and "note" not in shown and "requests" not in words:
            # What is at work says more than a short bar and the time that has passed.
            spare = [key for key in shown if key != "elapsed"]
            space = room(name, *spare) - len(_GAP)
            if space >= _SHORTEST_NOTE:
                shown = [*spare, "note"]
                if cell_len(words["note"]) > space - bar:
                    bar = 0
                if cell_len(words["note"]) > space:
                    words["note"] = f"{set_cell_size(words['note'], space - 3)}..."
        bar = bar and min(_WIDEST, room(name, *shown))
        return name, bar, [words[key] for key in words if key in shown]

    def _words(self) -> dict[str, str]:
        now, leading = self._state, self._leading()
        elapsed = self._rows.task.elapsed or 0
        left = leading.time_remaining
        return {
            "note": now.note,
            "rows": f"{_of(now.done, now.total)} {self._unit}",
            "requests": "" if now.requests is None else _requests(now),
            "quota": "" if now.quota_left is None else f"quota {count(now.quota_left)}",
            "elapsed": _clock(elapsed),
            "left": "" if left is None or leading.finished else f"{_clock(left)} left",
        }


@contextmanager
def progress(
    console: Console, description: str, terminal: Terminal | None = None, *, unit: str = "rows"
) -> Iterator[Bar]:
    """Show a bar while the block runs, and nothing of it afterwards.

    Also with `--json`: the document goes to standard output. `terminal` is for tests.
    """
    # Not rich's is_terminal alone: FORCE_COLOR makes it say yes in the log of a CI job.
    screen = terminal or (stderr() if sys.stderr.isatty() else None)
    if console.quiet or screen is None or not screen.is_interactive:
        yield Bar(description, unit=unit, tell=None if console.quiet else console.tell)
        return
    bar = Bar(description, unit=unit)
    from rich.live import Live

    # Standard output stays itself: rich would send what is printed there to this console.
    live = Live(
        bar, console=screen, refresh_per_second=4, transient=True, redirect_stdout=False
    )  # fmt: skip
    with printing_above(screen), live:
        yield bar


class _Counter:
    """One of rich's tasks, which measure the speed of late and so the time left."""

    def __init__(self, store: Progress, name: str) -> None:
        self._store = store
        self._id = store.add_task(name, total=None)

    @property
    def task(self) -> Task:
        return next(task for task in self._store.tasks if task.id == self._id)

    def __call__(self, completed: int, total: int | None) -> None:
        self._store.update(self._id, completed=completed, total=total)


def _tasks(get_time: Callable[[], float]) -> tuple[_Counter, _Counter]:
    from rich.progress import Progress

    store = Progress(disable=True, get_time=get_time)  # it measures; the line draws itself
    return _Counter(store, "rows"), _Counter(store, "requests")


def _clean(text: str) -> str:
    return plain(redact(text))


def _of(done: int, total: int | None) -> str:
    # What was expected may be an estimate; a count beyond it is no share of it.
    return count(done) if total is None or done > total else f"{count(done)}/{count(total)}"


def _requests(now: _State) -> str:
    return f"{_of(now.requests or 0, now.requests_planned)} requests"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
