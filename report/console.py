"""What a command prints, and where: results on standard output, all else on standard error."""

from __future__ import annotations

import codecs
import errno
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO

from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import plain

if TYPE_CHECKING:
    from rich.console import Console as Terminal
    from rich.console import RenderableType

    from faultatlas.data.results import Result

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_live: list[Terminal] = []  # the terminal of a progress bar, while one is shown


@dataclass(frozen=True)
class Console:
    """How much a command prints."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    @property
    def stdout(self) -> TextIO:
        """Where `print` goes while a command runs: with --json standard output has the document."""
        return sys.stderr if self.as_json else sys.stdout

    def tell(self, message: str) -> None:
        """Print a message."""
        if not self.quiet:
            stderr().print(printable(message), soft_wrap=True)

    def fail(self, error: StudyError) -> None:
        """Print an error with its next step. Standard output gets nothing, with --json too."""
        terminal = stderr()
        with suppress(OSError):  # standard error is full as well: nobody can read it
            terminal.print(printable(f"error: {error.message}"), soft_wrap=True, style="bold red")
            if error.hint:
                terminal.print(printable(error.hint), soft_wrap=True)

    def document(self, document: Any) -> None:
        """Print the JSON document, if one was asked for."""
        if self.as_json:
            _print_json(document)

    def show(self, *renderables: RenderableType) -> None:
        """Print for a person, unless JSON or silence was asked for."""
        if self.as_json or self.quiet:
            return
        from rich.console import Group

        from faultatlas.report.wrapping import Unbroken

        terminal = stdout()
        for renderable in renderables:
            if isinstance(renderable, str):
                terminal.print(Group(Unbroken(printable(renderable))))
            else:
                terminal.print(renderable)

    def show_result(self, result: Result) -> None:
        """Print a result: as JSON if asked for, else its summary, its open tables and its page.

        With --verbose every table is shown with every column that fits, and the notes.
        """
        from faultatlas.report.rendering import document, sentences
        from faultatlas.report.tables import console_table

        if self.as_json:
            self.document(document(result))
        self.show(result.title, *(["", *sentences(result)] if result.summary else []))
        for table in result.listings() if not self.quiet else ():
            if self.verbose or not table.folded:
                self.show("", console_table(table, with_aside=self.verbose))
        if self.verbose and result.notes:
            self.show("", "Notes", *(f"- {note}" for note in result.notes))
        if result.page:
            self.show("", f"Report: {result.page}")
        for reason in result.missing:
            stderr().print(printable(reason), soft_wrap=True, style="bold red")


def stdout() -> Terminal:
    """A terminal on standard output."""
    return _terminal(stderr=False)


def stderr() -> Terminal:
    """A terminal on standard error: that of the progress bar, which prints above it, if any."""
    return _live[-1] if _live else _terminal(stderr=True)


@contextmanager
def printing_above(terminal: Terminal) -> Iterator[None]:
    """While this lasts, messages and errors are printed by that terminal."""
    _live.append(terminal)
    try:
        yield
    finally:
        _live.remove(terminal)


def explained(error: OSError, subject: object, then: str = "run this again") -> StudyError:
    """The operating system's error in a user's words; `subject` if it does not name the file."""
    if error.errno in _FULL:
        # An error of copying names two files: the one that was read is not to blame.
        name = plain(error.filename2 or error.filename or subject)
        return StudyError(f"no room left to write {name}", f"Free disk space, then {then}.")
    name = plain(error.filename or subject)
    return StudyError(
        f"{name} cannot be read or written: {error.strerror or error}",
        f"Check the path and its permissions, then {then}.",
    )


def printable(text: str) -> str:
    """A message without secrets and terminal escapes; its lines are kept."""
    from faultatlas.data.redaction import redact

    return "\n".join(plain(line) for line in redact(text).split("\n"))


def _terminal(*, stderr: bool) -> Terminal:
    from rich.console import Console as Terminal

    # What was typed or mined is printed as it is: rich would see an emoji in `sheet.csv:100:`.
    return Terminal(stderr=stderr, markup=False, emoji=False, highlight=False)


def _print_json(document: Any) -> None:
    is_utf8 = codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
    sys.stdout.write(json.dumps(document, ensure_ascii=not is_utf8, indent=1) + "\n")
    sys.stdout.flush()  # a closed pipe is noticed here, not when the interpreter ends
