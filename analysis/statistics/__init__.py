"""Statistics of numbers, tables, shares and ratings: pure functions that import no other package.

An effect size of groups or tables is a function under `@effect_size` in any module of this
folder; `effect_sizes` finds it there.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    from faultatlas.analysis.statistics.estimates import Estimate

# What an effect size is computed from: two groups of numbers, the two values of each pair, a table
# of counts, a table of two rows and two columns.
Kind = Literal["groups", "pairs", "table", "two-by-two"]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class EffectSize:
    """A measure of how far groups differ, or how strongly rows and columns of a table depend."""

    kind: Kind
    key: str  # in options and claim ids
    title: str
    scale: str  # of its words, see scales.toml; empty where there is none
    estimate: Callable[..., Estimate]  # of two sequences of numbers, or of a table


_REGISTERED: dict[tuple[Kind, str], EffectSize] = {}


def effect_size(
    kind: Kind, key: str, title: str, scale: str = ""
) -> Callable[[Function], Function]:
    """Register a function as an effect size."""

    def register(function: Function) -> Function:
        _REGISTERED[kind, key] = EffectSize(kind, key, title, scale, function)
        return function

    return register


def effect_sizes(kind: Kind) -> dict[str, EffectSize]:
    """The effect sizes of a kind by key, in the order in which modules define them."""
    for module in pkgutil.iter_modules(__path__):
        if not module.ispkg:
            importlib.import_module(f"{__name__}.{module.name}")
    return {size.key: size for size in _REGISTERED.values() if size.kind == kind}
