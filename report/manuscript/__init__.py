"""Checks the numbers of a manuscript against each other: counts, tables, tests, words.

A check is a typed function marked with `@kind`. Its parameters are the fields of an entry in a
claims file, and their types say how a field is written. Its docstring has four paragraphs: what is
checked, the rule (omitted where it is that of `report.published`), what each field is, and an entry
that is consistent. Nothing is looked up: a status follows from the fields alone.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeVar, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictBool,
    StrictStr,
    create_model,
)

from faultatlas.data.results import Status
from faultatlas.report.formatting import plain
from faultatlas.report.published import (
    RULE,
    Printed,
    compare,
    parse,
    range_of,
    worst,
    written_like,
)

LONGEST_TEXT = 500
MOST_VALUES = 1_000  # in a list
NOTHING = "nothing is printed to compare with"
_UNWRITTEN = Printed("", 0, 0.1, percent=True)  # how a share is written that the paper omits


class EntryError(ValueError):
    """What is wrong with an entry of a claims file, in words, and with which field of it."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


# --- how fields are written --------------------------------------------------------------


def _number(value: Any) -> Printed:
    if isinstance(value, float):
        raise EntryError(f'{value} is not text, and its digits count: "{value}"')
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise EntryError(f"{short(value)} is not a number in quotes")
    return parse(str(value))


def _only(value: Any) -> Printed:
    values = _list(value)
    if len(values) != 1:
        raise EntryError(f"one printed number is checked, not {len(values)}: one entry each")
    return _number(values[0])


def _fraction(value: Any) -> Printed:
    return _number(value).as_fraction()


def _word(text: str) -> str:
    return " ".join(text.lower().split())


def _list(value: Any) -> Any:
    """One value alone may be written without brackets."""
    return value if isinstance(value, list) else [value]


def _even(rows: Sequence[Sequence[Printed]]) -> Sequence[Sequence[Printed]]:
    if len({len(row) for row in rows}) > 1:
        raise EntryError("the rows have different lengths")
    return rows


def short(value: Any) -> str:
    """A value as a message shows it."""
    text = plain(repr(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


M = TypeVar("M", bound=BaseModel)
F = TypeVar("F", bound="Callable[..., Outcome]")

_SOME = Field(min_length=1, max_length=MOST_VALUES)

Number = Annotated[Printed, PlainValidator(_number)]
Only = Annotated[Printed, PlainValidator(_only)]  # a number of which there is one
Numbers = Annotated[tuple[Number, ...], BeforeValidator(_list), _SOME]
Rows = Annotated[tuple[Annotated[tuple[Number, ...], _SOME], ...], _SOME, AfterValidator(_even)]
Text = Annotated[StrictStr, Field(max_length=LONGEST_TEXT), AfterValidator(plain)]
Texts = Annotated[tuple[Text, ...], BeforeValidator(_list), _SOME]
Named = Annotated[dict[Text, Number], _SOME]  # { first = "6", second = "7" }
Pairs = Annotated[tuple[tuple[Number, Number], ...], _SOME]
Fraction = Annotated[Printed, PlainValidator(_fraction)]  # 87 % is 0.87
Word = Annotated[StrictStr, Field(min_length=1, max_length=60), AfterValidator(_word)]
Words = Annotated[tuple[tuple[Fraction, Word], ...], _SOME]  # [["0.80", "substantial"]]
Flag = StrictBool


# --- kinds of checks ---------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What a check shows.

    `value` is the computed number, where it is one; `printed` is what the paper prints, where that
    is not the field `printed`.
    """

    status: Status
    computed: str
    reason: str
    value: float | None = None
    printed: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of check: a function and what follows from its signature and its docstring."""

    name: str
    function: Callable[..., Outcome]

    @cached_property
    def _paragraphs(self) -> list[str]:
        return inspect.cleandoc(self.function.__doc__ or "").split("\n\n")

    @property
    def about(self) -> str:
        """What is checked."""
        return " ".join(self._paragraphs[0].split())

    @property
    def rule(self) -> str:
        """By which rule."""
        return " ".join(" ".join(self._paragraphs[1:-2]).split()) or RULE

    @property
    def example(self) -> str:
        """The fields of an entry that is consistent."""
        return f"{self._paragraphs[-1]}\n"

    @cached_property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        """The fields with their defaults."""
        return inspect.signature(self.function).parameters

    @cached_property
    def fields(self) -> dict[str, str]:
        """What each field is, but for `printed`."""
        lines = self._paragraphs[-2].replace("\n  ", " ").splitlines()
        words = dict(line.split(": ", 1) for line in lines)
        return {
            name: words[name] + ("" if parameter.default is parameter.empty else " (optional)")
            for name, parameter in self.parameters.items()
            if name != "printed"
        }

    def model(self, base: type[M]) -> type[M]:
        """The model of its entries: the fields that every entry has, and its own."""
        hints = get_type_hints(self.function, include_extras=True)
        fields: dict[str, Any] = {
            name: (hints[name], ... if parameter.default is parameter.empty else parameter.default)
            for name, parameter in self.parameters.items()
        }
        return create_model(self.name, __base__=base, **fields)


KINDS: dict[str, Kind] = {}


def kind(name: str) -> Callable[[F], F]:
    """Make a function a kind of check."""

    def mark(function: F) -> F:
        KINDS[name] = Kind(name, function)
        return function

    return mark


# --- what checks share -------------------------------------------------------------------


def compared(
    printed: Sequence[Printed],
    value: float,
    *,
    inputs: tuple[float, float] | None = None,
    fraction: bool = False,
    text: str = "",
) -> Outcome:
    """All printed numbers of an entry against the one that was computed.

    `inputs` are the least and the largest value of unrounded inputs. A `fraction` is shown in
    percent where the printed number is one.
    """
    if not math.isfinite(value):
        raise EntryError(f"cannot be computed: {value}")
    if fraction and 0 <= value <= 1:
        refuse_bare_shares(printed)
    if not printed:
        value = 100 * value if fraction else value
        words = written_like(value, _UNWRITTEN if fraction else None)
        return Outcome("cannot be checked", text or words, NOTHING, value)
    outcomes = []
    for number in printed:
        low, high = inputs or (value, value)
        here, low, high = (number.scaled(x) if fraction else x for x in (value, low, high))
        comparison = compare(here, number, basis="paper", inputs=(low, high))
        words = text or written_like(here, number)
        outcomes.append(Outcome(comparison.status, words, comparison.reason, here))
    return together(outcomes)


def computed_from(
    printed: Sequence[Printed],
    inputs: Sequence[Printed],
    compute: Callable[[Sequence[float]], float],
    *,
    fraction: bool = False,
) -> Outcome:
    """A number that follows from others, which are printed rounded."""
    value = compute([number.value for number in inputs])
    return compared(printed, value, inputs=range_of(compute, inputs), fraction=fraction)


def refuse_bare_shares(printed: Iterable[Printed]) -> None:
    """A share above 1 is in percent and says so: else it would look like a contradiction."""
    for number in printed:
        if number.value > 1 and not number.percent:
            raise EntryError(
                f'printed: {number.text} is not a share; in percent: "{number.text} %"'
            )


def same_length(**lists: Sequence[Any]) -> None:
    """Refuse lists that should be as long as each other."""
    if len({len(values) for values in lists.values()}) > 1:
        counts = ", ".join(f"{len(values)} {name}" for name, values in lists.items())
        raise EntryError(f"{counts}: there must be as many of each")


def together(outcomes: Sequence[Outcome]) -> Outcome:
    """Several checks of one entry as one: the worst status with its own reasons."""
    status = worst(outcome.status for outcome in outcomes)
    reasons = [outcome.reason for outcome in outcomes if outcome.status == status]
    values = {outcome.value for outcome in outcomes}
    return Outcome(
        status,
        " / ".join(dict.fromkeys(outcome.computed for outcome in outcomes)),
        "; ".join(dict.fromkeys(reasons)),
        values.pop() if len(values) == 1 else None,
    )
