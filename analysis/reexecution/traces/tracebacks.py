"""The last Python traceback of a log: what was raised, and where the program itself stood.

Python 2.7 to 3.13: chained exceptions (the last one is what ended the program), groups, markers
under the source lines, notes, messages of many lines, syntax errors without frames, tracebacks of
worker processes inside a message, and pytest's own way to show one. Everything here is a search
from the end of a text of limited length, line by line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["main", "thread", "ignored"]
_MOST_TRIED = 50  # tracebacks, from the last one back
_MOST_LINES = 4_000  # of one traceback
_MESSAGE_LINES, _MESSAGE_LENGTH = 80, 8_000
_HEADER = "Traceback (most recent call last):"
_HEADER_LINE = re.compile(r"( *)(\+ )?(?:Exception Group |Original )?Traceback \(most recent call")
_FRAME = re.compile(r'\s*File "([^"\n]{1,1000})", line \d+(?:, in (.{1,300}))?$')
_RAISED = re.compile(r"([A-Za-z_][\w.<>]{0,200})(?:: ?(.*))?$", re.DOTALL)
_CHAINED = (
    "During handling of the above exception",
    "The above exception was the direct cause",
)
_IGNORED = ("Exception ignored in", "Error in sys.excepthook", "Error in atexit", "--- Logging err")
_SYNTAX = re.compile(
    r'^ {2,4}File "([^"\n]{1,1000})", line \d+\n(?:[^\n]*\n){0,4}?'
    r"(SyntaxError|IndentationError|TabError)(?:: ([^\n]*))?$",
    re.MULTILINE,
)
_INSIDE = re.compile(r"^\s+((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning))(?:: (.*))?$")
_PYTEST = re.compile(
    r"^(?:=+ (?:FAILURES|ERRORS) =+|ImportError while loading conftest [^\n]{1,500})$", re.MULTILINE
)
_PYTEST_CAPTURED = re.compile(r"^-{3,} Captured |^={3,} ", re.MULTILINE)
_PYTEST_SYNTAX = re.compile(r"^(SyntaxError|IndentationError|TabError): (.*)$")
_PYTEST_FUNCTION = re.compile(r"^[> ]   \s*(?:async )?def (\w{1,200})", re.MULTILINE)
_UNITTEST_TEST = re.compile(r"^={20,}\n(?:ERROR|FAIL): ([^\n]{1,300})\n-{20,}$", re.MULTILINE)
_PYTEST_LINE = re.compile(r"^E {3,}(\S.*)$", re.MULTILINE)
_PYTEST_TEST = re.compile(
    r"^_{2,} (?:ERROR (?:collecting|at \w+ of) )?(.{1,300}?) _{2,}$", re.MULTILINE
)
_PYTEST_PLACE = re.compile(
    r"^([^\s:]{1,500}\.py):\d+:(?: in (\S+)| ([A-Za-z_][\w.]*)| ?)$", re.MULTILINE
)


@dataclass(frozen=True)
class Frame:
    """A place in a program; the line is left out, for a fix moves lines."""

    file: str
    function: str  # '' where a traceback names none


@dataclass(frozen=True)
class Traceback:
    """What was raised. `start` is where it begins in the text."""

    exception: str  # as printed, with its module
    message: str
    frames: tuple[Frame, ...]  # the innermost is the last
    kind: Kind
    start: int
    tests: tuple[str, ...] = ()  # all that failed, where pytest or unittest ran them


def last_traceback(text: str, kinds: tuple[Kind, ...] = ("main",)) -> Traceback | None:
    """The last one of these kinds, or None."""
    if "main" in kinds and (shown := _of_pytest(text)):
        return shown  # what a test printed, or caught, stands after it
    found = _headed(text, kinds)
    if "main" not in kinds:
        return found
    after = found.start if found else 0
    syntax = _last(_SYNTAX, text, after)
    if syntax and (found is None or found.exception != syntax[2]):
        place = Frame(syntax[1], "")
        return Traceback(syntax[2], syntax[3] or "", (place,), "main", syntax.start())
    if found and (tests := _UNITTEST_TEST.findall(text)):
        return replace(found, tests=tuple(tests))
    return found


def _headed(text: str, kinds: tuple[Kind, ...]) -> Traceback | None:
    end = len(text)
    for _ in range(_MOST_TRIED):
        at = text.rfind(_HEADER, 0, end)
        if at < 0:
            return None
        start = text.rfind("\n", 0, at) + 1
        end = at
        header = _HEADER_LINE.match(text, start)
        if header is None:
            continue  # nested in a group, or quoted in the middle of a line
        kind = _kind(text, start)
        if kind in kinds and (found := _parsed(text, start, header, kind)):
            return found
    return None


def _kind(text: str, start: int) -> Kind:
    before = text[max(0, start - 500) : start].rstrip().rpartition("\n")[2].strip()
    if before.startswith(("Exception in thread", "Process ")):
        return "thread"
    return "ignored" if before.startswith(_IGNORED) else "main"


def _parsed(text: str, start: int, header: re.Match[str], kind: Kind) -> Traceback | None:
    indent, is_group = len(header[1]), header[2] is not None
    lines = text[start : start + 400_000].split("\n", _MOST_LINES)[1:]
    bar = f"{header[1]}| "
    frames: list[Frame] = []
    for number, raw in enumerate(lines):
        line = raw.rstrip("\r")
        if is_group:
            line = " " * indent + line.removeprefix(bar) if line.startswith(bar) else ""
        if not line.strip():
            continue
        if len(line) - len(line.lstrip(" ")) > indent:
            if frame := _FRAME.match(line):
                frames.append(Frame(frame[1], frame[2] or ""))
            continue
        raised = _RAISED.match(line.strip())
        if raised is None:
            return None
        rest = [] if is_group else lines[number + 1 : number + _MESSAGE_LINES]
        message = _message(raised[2] or "", rest)
        return Traceback(raised[1], message, tuple(frames), kind, start)
    return None  # cut before its end


def _message(first: str, rest: list[str]) -> str:
    """The message with the lines that follow; what Keras says of user code is looked up in it."""
    lines = [first]
    for line in rest:
        if line.startswith(_CHAINED) or _HEADER in line:
            break
        lines.append(line.rstrip("\r"))
    if first.strip() == "in user code:":
        inside = [match for match in map(_INSIDE.match, lines) if match]
        if inside:
            lines[0] = inside[-1][2] or inside[-1][1]
    return "\n".join(lines)[:_MESSAGE_LENGTH].rstrip()


def is_of_pytest(text: str) -> bool:
    """Whether pytest wrote it, and something failed."""
    return _PYTEST.search(text) is not None


def _of_pytest(text: str) -> Traceback | None:
    """The last failure that pytest shows; it prints tracebacks its own way."""
    first = _PYTEST.search(text)
    section = _last(_PYTEST, text, 0)
    if first is None or section is None:
        return None
    tests = list(_PYTEST_TEST.finditer(text, section.end()))
    start = tests[-1].end() if tests else section.end()
    names = tuple(each[1] for each in _PYTEST_TEST.finditer(text, first.end()))
    after = _PYTEST_CAPTURED.search(text, start)  # what the test itself wrote is not the failure
    body = text[start : after.start() if after else len(text)]
    native = _headed(body, ("main",))
    if native is not None and not _PYTEST_LINE.search(body):  # --tb=native
        return replace(native, start=section.start(), tests=names)
    body = body[max(0, *(body.rfind(each) for each in _CHAINED)) :]  # the last one ended the test
    said = _PYTEST_LINE.search(body)
    if said is None:
        return None
    test = tests[-1][1] if tests else ""
    frames = _pytest_frames(body, test)
    exception, message = _pytest_raised(body, said[1])
    return Traceback(exception, message, frames, "main", section.start(), names)


def _pytest_raised(body: str, said: str) -> tuple[str, str]:
    """Exception and message; a syntax error comes after the line that is wrong."""
    if said.startswith('File "'):
        lines = [_PYTEST_SYNTAX.match(each[1]) for each in _PYTEST_LINE.finditer(body)]
        if found := next((each for each in lines if each), None):
            return found[1], found[2]
    named = next((each[3] for each in reversed(list(_PYTEST_PLACE.finditer(body))) if each[3]), "")
    raised = _RAISED.match(said)
    if raised and (raised[2] is not None or raised[1] == named):
        return raised[1], raised[2] or ""
    return named or "AssertionError", said  # assert a == b: only the place names the exception


def _pytest_frames(body: str, test: str) -> tuple[Frame, ...]:
    """Its places; of a function that is shown in full, the first line says its name."""
    frames, before = [], 0
    for place in _PYTEST_PLACE.finditer(body):
        shown = _PYTEST_FUNCTION.search(body, before, place.start())
        frames.append(Frame(place[1], place[2] or (shown[1] if shown else test)))
        before = place.end()
    return tuple(frames)


def _last(pattern: re.Pattern[str], text: str, after: int) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text, after):  # noqa: B007  (the last one is wanted)
        pass
    return found
