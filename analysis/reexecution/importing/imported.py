"""What an importer gives back."""

from __future__ import annotations

from dataclasses import dataclass, field

from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.importing.texts import line


@dataclass
class Imported:
    """The bugs that were written, and what a person should know: one line each, bug first."""

    bugs: list[Bug] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def say(self, name: str, text: str) -> None:
        """Tell something of a bug."""
        self.problems.append(f"{name}: {line(text)}")
