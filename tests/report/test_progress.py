"""The progress bar: one line, on terminals only, and messages stay whole beside it."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from faultatlas.report.console import stderr
from faultatlas.report.old.console import Output
from faultatlas.report.progress import Bar, progress

law = settings(max_examples=150)

WIDTHS = (40, 60, 80, 120)
CONTROL = re.compile(r"\x1b\[(\??[0-9;]*)([A-Za-z])")


def terminal(width: int, **options: object) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=True, width=width, markup=False, emoji=False,
        highlight=False, _environ={}, **options,  # type: ignore[arg-type]
    )  # fmt: skip


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def screen(text: str) -> list[str]:
    """The lines that a terminal shows after it was sent this; enough for what rich sends."""
    lines, row, column = [""], 0, 0
    for piece in re.split(r"(\x1b\[\??[0-9;]*[A-Za-z]|\r|\n)", text):
        control = CONTROL.fullmatch(piece)
        if control and control[2] == "A":
            row -= int(control[1] or 1)
        elif control and control[2] == "K":
            lines[row] = ""
        elif control:
            assert control[2] in "mhl"  # colours, the cursor's visibility
        elif piece == "\r":
            column = 0
        elif piece == "\n":
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        else:
            lines[row] = (
                lines[row][:column].ljust(column) + piece + lines[row][column + len(piece) :]
            )
            column += len(piece)
    return lines


def drawn(bar: Bar, width: int) -> str:
    console = terminal(width, color_system=None)
    console.print(bar)
    line, end = written(console).split("\n")
    assert end == ""  # one line, not wrapped
    return line


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def half_done(description: str = "huggingface/datasets") -> Bar:
    """After 10 minutes half of it is done."""
    clock = Clock()
    bar = Bar(description, clock)
    for step in range(41):
        clock.now = step * 15
        bar.update(
            done=step * 500, total=40_000, requests=step * 5, requests_planned=400,
            quota_left=4_812, note="comments",
        )  # fmt: skip
    return bar


# The line.


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (40, "hugg...  20,000/40,000 rows  10:00 left"),
        (60, "huggingface/datasets  ━━╸    20,000/40,000 rows  10:00 left"),
        (80, "huggingface/datasets  ━━━╸"),
        (120, "huggingface/datasets  ━━━━━━━"),
    ],
)
def test_the_line_shows_as_much_as_fits(width: int, expected: str) -> None:
    line = drawn(half_done(), width)
    assert line.startswith(expected)
    assert cell_len(line) < width
    assert "20,000/40,000 rows" in line
    assert line.endswith("10:00 left")
    assert ("200/400 requests" in line) == (width >= 80)
    assert ("comments" in line and "quota 4,812" in line and " 10:00  " in line) == (width >= 120)


def test_what_is_at_work_is_named_on_a_terminal_of_80_columns() -> None:
    clock = Clock()
    bar = Bar("re-execution", clock, unit="runs")
    for step in range(28):
        clock.now = step
        bar.update(step, 31, note="3/10 bugs, shipped/torch-batch-left-on-the-cpu +1")
    line = drawn(bar, 80)
    assert "3/10 bugs, shipped/torch-batch-left" in line
    assert "27/31 runs" in line
    assert line.endswith(" left")
    bar.update(27, 31, note="3/10 bugs, own/x")
    line = drawn(bar, 80)
    assert "3/10 bugs, own/x  27/31 runs" in line
    assert "━" in line


def test_without_a_terminal_a_line_is_told_now_and_then() -> None:
    clock, lines = Clock(), list[str]()
    bar = Bar("re-execution", clock, unit="runs", tell=lines.append)
    for step in range(1, 301):
        clock.now = step
        bar.update(step, 300, note="set/a")
        if step == 14:
            assert not lines
    assert lines[0] == "re-execution: set/a, 15/300 runs, 0:15, 4:45 left"
    # After 15 seconds, then 30, 60, 120: a night in a log is no book.
    assert [line.split()[2] for line in lines] == ["15/300", "45/300", "105/300", "225/300"]


def test_half_done_is_half_a_bar() -> None:
    bar = re.search("━+╸?", drawn(half_done(), 200))
    assert bar
    assert len(bar[0]) == 20


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    "description",
    ["o/r", "a-very-long-organisation/with-a-very-long-repository-name", "飞桨/框架" * 9],
)
def test_any_name_and_any_numbers_stay_on_one_line(width: int, description: str) -> None:
    bar = Bar(description)
    for numbers in ((0, None), (0, 0), (5, None), (5, 3), (12_345_678, 99_999_999)):
        for requests in (None, 0, 1_234_567):
            bar.update(*numbers, requests=requests, requests_planned=requests, quota_left=15_000,
                       note="comments of 评论 issues")  # fmt: skip
            assert 0 < cell_len(drawn(bar, width)) < width


@law
@given(st.integers(1, 200), st.text(max_size=60), st.text(max_size=30), st.integers(0, 10**9),
       st.none() | st.integers(0, 10**9), st.none() | st.integers(0, 10**6),
       st.none() | st.integers(0, 10**6), st.none() | st.integers(0, 15_000))  # fmt: skip
def test_whatever_is_reported_fits(
    width: int,
    description: str,
    note: str,
    done: int,
    total: int | None,
    requests: int | None,
    planned: int | None,
    quota: int | None,
) -> None:
    bar = Bar(description)
    bar.update(
        done, total, requests=requests, requests_planned=planned, quota_left=quota, note=note
    )
    assert cell_len(drawn(bar, width)) <= max(width - 1, 1)


def test_what_is_not_known_is_not_shown() -> None:
    bar = Bar("o/r", Clock())
    assert drawn(bar, 120).split() == ["o/r", "0", "rows", "0:00"]
    bar.update(done=1_234)
    assert drawn(bar, 120).split() == ["o/r", "1,234", "rows", "0:00"]
    bar.update(done=1_234, requests=7)
    assert "7 requests" in drawn(bar, 120)
    assert "━" not in drawn(bar, 120)


def test_what_is_counted_has_its_name() -> None:
    bar = Bar("o/r", Clock(), unit="runs")
    bar.update(done=3, total=12)
    assert "3/12 runs" in drawn(bar, 120)


def test_more_than_was_expected_is_no_share_of_it() -> None:
    bar = Bar("o/r", Clock())
    bar.update(done=120, total=100)
    assert "120 rows" in drawn(bar, 120)
    assert "left" not in drawn(bar, 120)


def test_time_left_comes_from_requests_where_rows_have_no_end() -> None:
    clock = Clock()
    bar = Bar("o/r", clock)
    for step in range(11):
        clock.now = step * 2.0
        bar.update(done=step * 100, requests=step, requests_planned=100)
    assert drawn(bar, 120).endswith("3:00 left")
    assert "━" in drawn(bar, 120)


def test_time_left_of_a_resumed_run_does_not_count_what_was_there() -> None:
    clock = Clock()
    bar = Bar("o/r", clock)
    for step in range(11):
        clock.now = step * 1.0
        bar.update(done=90_000 + step, total=90_070)
    assert drawn(bar, 120).endswith("1:00 left")


def test_hours_are_written_out() -> None:
    clock = Clock()
    bar = Bar("o/r", clock)
    clock.now = 3_725
    bar.update(done=1)
    assert drawn(bar, 80).endswith("1:02:05")


def test_a_name_can_neither_deceive_nor_betray() -> None:
    bar = Bar(f"o/r\x1b[2J\n[red]x[/red] ghp_{'x1' * 18}")
    bar.update(1, note="a\rb\u202e")
    line = drawn(bar, 200)
    assert line.startswith("o/r\ufffd[2J [red]x[/red] ***  ")
    assert "a b\ufffd" in line


# The display.


def test_the_bar_is_shown_while_the_work_lasts_and_gone_afterwards() -> None:
    console = terminal(80)
    with progress(Output(), "o/r", console) as bar:
        bar.update(done=5, total=10)
        console.print("", end="")  # a moment at which it is drawn
        shown = screen(written(console))
        assert len(shown) == 1
        assert "5/10 rows" in shown[0]
    assert [line for line in screen(written(console)) if line.strip()] == []
    assert written(console).count("\x1b[?25l") == written(console).count("\x1b[?25h") == 1


def test_messages_are_printed_whole_and_above_the_bar() -> None:
    console = terminal(60)
    output = Output()
    with progress(output, "o/r", console) as bar:
        for step in range(4):
            bar.update(done=step, total=10)
            output.tell(f"[red]waiting[/red] for quota {step} ghp_{'x1' * 18}")
        *messages, last = screen(written(console))
        assert messages == [f"[red]waiting[/red] for quota {step} ***" for step in range(4)]
        assert last.startswith("o/r  ━")
        assert "3/10 rows" in last
    left = [line for line in screen(written(console)) if line.strip()]
    assert left == messages


def test_a_message_before_and_after_goes_where_it_always_goes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = Output()
    with progress(output, "o/r", terminal(60)):
        output.tell("during")
    output.tell("after")
    assert capsys.readouterr().err == "after\n"


def test_an_error_in_the_work_takes_the_bar_away(capsys: pytest.CaptureFixture[str]) -> None:
    console = terminal(60)

    def interrupted() -> None:
        with progress(Output(), "o/r", console) as bar:
            bar.update(done=1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [line for line in screen(written(console)) if line.strip()] == []
    assert written(console).endswith("\x1b[2K")
    assert stderr() is not console
    assert capsys.readouterr() == ("", "")


def test_standard_output_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    console = terminal(60)
    output = Output(as_json=True)
    with progress(output, "o/r", console) as bar:
        bar.update(done=1)
        output.document({"rows": 1})
    assert capsys.readouterr().out == '{\n "rows": 1\n}\n'
    assert "o/r" in written(console)
    assert '"rows"' not in written(console)


def test_a_quiet_command_shows_no_bar() -> None:
    console = terminal(60)
    with progress(Output(quiet=True), "o/r", console) as bar:
        bar.update(done=1, total=2)
    assert written(console) == ""


@pytest.mark.parametrize("variables", [{}, {"FORCE_COLOR": "1"}])
def test_where_no_terminal_is_nothing_is_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with progress(Output(), "o/r") as bar:
        bar.update(done=1, total=2)
        Output().tell("still told")
    out, err = capsys.readouterr()
    assert (out, "o/r" in err, "still told" in err) == ("", False, True)


def test_a_terminal_that_cannot_move_its_cursor_gets_no_bar() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, _environ={"TERM": "dumb"})
    with progress(Output(), "o/r", console) as bar:
        bar.update(done=1, total=2)
    assert written(console) == ""


def test_no_color_is_respected() -> None:
    coloured, plain = terminal(80, color_system="standard"), terminal(80, no_color=True)
    for console in (coloured, plain):
        console.print(half_done())
    colour = r"\x1b\[[0-9;]*[349][0-9]"
    assert re.search(colour, written(coloured))
    assert not re.search(colour, written(plain))


# A real terminal.

PROGRAM = """
import sys
from faultatlas.report.old.console import Output
from faultatlas.report.program import guarded
from faultatlas.report.progress import progress
def work():
    output = Output(as_json=True)
    with progress(output, "o/r") as bar:
        for step in range(1, 4):
            bar.update(done=step, total=3, requests=step)
            output.tell(f"message {step}")
    output.document({"done": 3})
guarded(work)
"""


@pytest.fixture
def pseudo_terminal() -> Iterator[tuple[int, int]]:
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)


def test_on_a_real_terminal_the_bar_is_on_standard_error_only(
    pseudo_terminal: tuple[int, int], tmp_path: Path
) -> None:
    ours, theirs = pseudo_terminal
    unset = ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
    variables = {name: value for name, value in os.environ.items() if name not in unset}
    with (tmp_path / "out").open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM], stdout=out, stderr=theirs, cwd=tmp_path,
            env=variables | {"TERM": "xterm-256color", "COLUMNS": "60", "NO_COLOR": "1"},
        )  # fmt: skip
    os.close(theirs)
    received = bytearray()
    try:
        while piece := os.read(ours, 65_536):
            received += piece
    except OSError:  # what Linux says when the other side is closed
        pass
    assert process.wait(timeout=60) == 0
    shown = received.decode().replace("\r\n", "\n")
    assert (tmp_path / "out").read_text(encoding="utf-8") == '{\n "done": 3\n}\n'
    assert "o/r" in shown
    assert "3/3 rows" in shown
    assert not re.search(r"\x1b\[[0-9;]*[349][0-9]m", shown)
    lines = [line.rstrip() for line in screen(shown) if line.strip()]
    assert lines == ["message 1", "message 2", "message 3"]
