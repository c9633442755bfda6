"""What was asked for by `annotation round`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from faultatlas.annotation.rounds import checked_name
from faultatlas.data.errors import StudyError
from faultatlas.data.sampling import checked_seed

DEFAULT_SEED = 1
NO_ROUND = "none"  # of --after: no gate holds the round up


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    name: str
    sample: str | None = None
    taxonomy: str | None = None
    raters: tuple[str, ...] = ()
    size: int | None = None
    parts: int | None = None
    overlap: float | None = None
    raters_per_item: int | None = None
    gate: float | None = None
    statistic: str | None = None
    after: str | None = None
    seed: int | None = None
    suggestions: bool = False

    def arguments(self) -> dict[str, Any]:
        """What was given: the same arguments are the same rounds."""
        given = {key: value for key, value in vars(self).items() if value not in (None, (), False)}
        return {**given, "raters": list(self.raters)}

    @property
    def plans(self) -> bool:
        """Whether they say more than a name."""
        return self != Options(self.name)

    def checked(self) -> Options:
        """The same with names in one spelling."""
        if self.seed is not None:
            checked_seed(self.seed)
        if self.name == NO_ROUND:
            raise StudyError(f"no round is called {NO_ROUND!r}", "Name it: annotation round pilot")
        raters = tuple(checked_name(rater, "rater") for rater in self.raters)
        return replace(self, name=checked_name(self.name), raters=raters)
