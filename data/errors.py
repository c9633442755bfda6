"""The one error that a user is shown: what is wrong, and what to do next."""

from __future__ import annotations


class StudyError(Exception):
    """A problem the user can act on.

    `message` names the cause in one line; `hint` names the next step and may be
    empty only where there is none. Every command prints both and exits non-zero.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message
