"""A step of the funnel: what it asks for, as it is stored and as it is read."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.study import Reader

ALL = "all"  # the first step: everything that was mined and is not gone
KINDS = ("issue", "pull", "commit", "post", "paper")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}")


@dataclass(frozen=True)
class Draw:
    """How a step draws a sample instead of asking a question."""

    size: int | None = None  # else by confidence and margin
    confidence: float = 95
    margin: float = 5
    rounding: str = "nearest"
    seed: int = 1
    highest: str | None = None  # not at random: those with the highest value of this
    by: str | None = None  # a sample of each group

    def words(self) -> str:
        """For a reader."""
        how_many = (
            f"{self.size:,}"
            if self.size is not None
            else f"{self.confidence:g} % confidence, {self.margin:g} % margin"
        )
        if self.rounding == "up" and self.size is None:
            how_many += ", rounded up"
        of_each = f" of each {self.by}" if self.by else ""
        how = f"highest {self.highest}" if self.highest else f"seed {self.seed}"
        return f"sample: {how_many}{of_each}, {how}"


@dataclass(frozen=True)
class Step:
    """A step; artifacts of other kinds than `on` pass through it."""

    name: str
    on: tuple[str, ...] = ()  # all kinds
    where: str | None = None
    lexicons: tuple[str, ...] = ()
    any_lexicon: bool = False
    code: bool = False
    quotes: bool = False
    draw: Draw | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name) or self.name.casefold() == ALL:
            raise StudyError(
                f"{self.name!r} is no name for a step",
                f"Take letters, digits, spaces, dots and dashes; {ALL!r} is everything mined.",
            )
        for kind in self.on:
            if kind not in KINDS:
                raise StudyError(f"there is no kind {kind!r}", f"Known: {', '.join(KINDS)}.")
        if not (self.where or self.lexicons or self.draw):
            raise StudyError(
                f"the step {self.name!r} asks for nothing",
                "Give --where SQL, --lexicon NAME, or a sample: --size N or --confidence 95.",
            )

    @property
    def readings(self) -> set[tuple[str, str]]:
        """Lexicons, and what else is read for them: as `Lexicon.reading` writes it."""
        manner = "+code" * self.code + "+quotes" * self.quotes
        return {(name, manner) for name in self.lexicons}

    @property
    def predicate(self) -> str:
        """For a reader."""
        parts = [f"({self.where})"] if self.where else []
        if self.lexicons:
            read = "".join((" with code" * self.code, " with quotations" * self.quotes))
            each = [f"words of {name}{read}" for name in self.lexicons]
            joined = (" or " if self.any_lexicon else " and ").join(each)
            parts.append(f"({joined})" if self.any_lexicon and len(each) > 1 else joined)
        said = " and ".join(parts)
        if len(parts) == 1 and self.where:
            said = self.where
        if self.draw:
            said = f"{said}; {self.draw.words()}" if said else self.draw.words()
        return f"{', '.join(self.on)}: {said}" if self.on else said

    def definition(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)


def step_of(definition: str) -> Step:
    """A step as it was stored."""
    values: dict[str, Any] = json.loads(definition)
    draw = values.pop("draw")
    for name in ("on", "lexicons"):
        values[name] = tuple(values[name])
    return Step(**values, draw=Draw(**draw) if draw else None)


def stored_steps(reader: Reader) -> list[Step]:
    """The steps behind the first one, in their order."""
    rows = reader.rows(
        "SELECT definition FROM store.funnel_step WHERE position > 0 ORDER BY position"
    )
    return [step_of(row["definition"]) for row in rows]


def placed(steps: list[Step], step: Step, before: str | None) -> list[Step]:
    """The steps with a new one: in its old place, before another, or at the end."""
    names = [each.name for each in steps]
    if before is not None and before not in names:
        raise unknown(before, names)
    if step.name in names and before in (None, step.name):
        return [step if each.name == step.name else each for each in steps]
    left = [each for each in steps if each.name != step.name]
    at = [each.name for each in left].index(before) if before else len(left)
    return [*left[:at], step, *left[at:]]


def dropped(steps: list[Step], name: str) -> list[Step]:
    """The steps without one."""
    names = [each.name for each in steps]
    if name not in names:
        raise unknown(name, names)
    return [each for each in steps if each.name != name]


def unknown(name: str, names: list[str]) -> StudyError:
    """That there is no such step."""
    known = f"Known: {', '.join(names)}." if names else "There are none yet."
    return StudyError(f"there is no step {name!r}", known)
