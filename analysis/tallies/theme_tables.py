"""Themes of interviews as tables and a figure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from faultatlas.analysis.statistics.estimates import holm
from faultatlas.analysis.statistics.shares import WILSON_95
from faultatlas.analysis.tallies import homogeneity
from faultatlas.analysis.tallies.groups import ALL, Group, group_title
from faultatlas.analysis.tallies.homogeneity import Association, associated
from faultatlas.analysis.tallies.themes import Themes
from faultatlas.data.old.results import Cell, Column, Figure, Series, Table

SEED = 1
MOST_PAIRS = 40
_MOST_DRAWN = 40
_MOST_PLACES = 3

_SHARE = (
    Column("mentions", "Mentions", "count"),
    Column("interviews", "Interviews", "count"),
    Column("percent", "of all", "percent"),
    Column("low", "95 % from", "percent"),
    Column("high", "to", "percent"),
)


@dataclass(frozen=True)
class Counted:
    """Themes as they were asked for."""

    themes: Themes
    name: str
    parameters: dict[str, Any]
    top: int | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        """The themes of the table: all in the order of the taxonomy, or the most frequent."""
        return self.themes.themes if self.top is None else self.themes.ranked[: self.top]

    @cached_property
    def differences(self) -> dict[str, Association]:
        """Of each theme whether the groups speak of it alike; nothing without two groups."""
        of = self.themes
        found = {}
        for code in of.ranked:
            pairs = [of.share(code, group) for group in of.group_names]
            test = associated([[one.count, one.total - one.count] for one in pairs], SEED)
            if test is not None:
                found[code] = test
        return found


def tables(of: Counted) -> tuple[Table, ...]:
    """Themes, what is above them, groups, pairs, and what each interview added."""
    found = [_themes(of)]
    if of.themes.parents:
        found.append(_parents(of))
    if of.themes.group_names:
        found.append(_groups(of))
    return (*found, _together(of), _saturation(of))


def title(of: Themes, code: str) -> str:
    """The name of a node."""
    return of.tree.node(code).name if of.tree else ""


def _cells(of: Themes, code: str) -> tuple[Cell, ...]:
    share = of.share(code)
    return (of.mentions(code), share.count, share.percent, share.low, share.high)


def _themes(of: Counted) -> Table:
    heard = of.themes
    columns = (
        Column("code", "Code", "code"), Column("theme", "Theme"), *_SHARE,
        Column("passages", "Passages, such as", aside=True),
    )  # fmt: skip
    rows = tuple(
        (code, title(heard, code), *_cells(heard, code),
         ", ".join(heard.places(code)[:_MOST_PLACES]) or None)
        for code in of.shown
    )  # fmt: skip
    return Table(
        "themes", "Themes", columns, rows, f"Shares of {len(heard.interviews)} interviews; "
        f"{WILSON_95}. A passage with several themes is a mention of each."
    )  # fmt: skip


def _parents(of: Counted) -> Table:
    heard = of.themes
    columns = (Column("code", "Code", "code"), Column("group", "Group of themes"), *_SHARE)
    rows = tuple((code, title(heard, code), *_cells(heard, code)) for code in heard.parents)
    note = "A passage with several themes of a group is one mention of the group."
    return Table("theme-groups", "Groups of themes", columns, rows, note)


def _groups(of: Counted) -> Table:
    heard, names = of.themes, of.themes.group_names
    columns = [Column("code", "Code", "code"), Column("theme", "Theme")]
    for at, group in enumerate(names, 1):
        columns += [
            Column(f"count_{at}", f"{group} (of {len(heard.members(group))})", "count"),
            Column(f"percent_{at}", "Share", "percent"),
            Column(f"low_{at}", "95 % from", "percent", aside=True),
            Column(f"high_{at}", "to", "percent", aside=True),
        ]
    columns += [
        Column("v", "Cramer's V", "number"),
        Column("low", "95 % from", "number", aside=True),
        Column("high", "to", "number", aside=True),
        Column("word", "In words"),
        Column("p", "p", "number"),
        Column("holm", "p after Holm", "number"),
    ]
    found = of.differences
    # All of them were tested, also those that the table leaves out.
    every = holm([test.test.p_value for test in found.values()])
    adjusted = dict(zip(found, every, strict=True))
    rows: list[tuple[Cell, ...]] = []
    for code in (each for each in of.shown if each in found):
        test = found[code]
        cells: list[Cell] = [code, title(heard, code)]
        for group in names:
            share = heard.share(code, group)
            cells += [share.count, share.percent, share.low, share.high]
        row = homogeneity.measure_row("", test.v, homogeneity.SCALE, degrees=test.degrees)
        rows.append((*cells, *row[1:5], test.test.p_value, adjusted[code]))
    note = "Each theme by itself, Fisher's exact test where counts are small; Holm's correction."
    return Table("groups", "Themes by group of interviews", tuple(columns), tuple(rows), note)


def _together(of: Counted) -> Table:
    heard = of.themes
    columns = (
        Column("one", "Code", "code"), Column("one_theme", "Theme"), Column("two", "Code", "code"),
        Column("two_theme", "Theme"), Column("both", "Interviews with both", "count"),
        Column("percent", "of those with either", "percent"),
    )  # fmt: skip
    pairs = list(heard.together())
    rows = tuple(
        (one, title(heard, one), two, title(heard, two), both, percent)
        for one, two, both, percent in pairs[:MOST_PAIRS]
    )
    note = f"The first {MOST_PAIRS} of {len(pairs)} pairs." if len(pairs) > MOST_PAIRS else ""
    return Table("together", "Themes of the same interviews", columns, rows, note, folded=True)


def _saturation(of: Counted) -> Table:
    columns = (
        Column("interview", "Interview", "code"), Column("themes", "Themes", "count"),
        Column("new", "New", "count"), Column("known", "Heard so far", "count"),
        Column("codes", "New themes"),
    )  # fmt: skip
    rows = tuple(
        (each.interview, each.themes, len(each.new), each.known, ", ".join(each.new) or None)
        for each in of.themes.saturation
    )
    note = "In the order of the round: another order gives another curve."
    return Table(
        "saturation", "What each interview added", columns, rows, note, folded=True
    )  # fmt: skip


def figure(of: Counted) -> Figure:
    """Bars of the shares of interviews with their intervals, most frequent themes first."""
    heard = of.themes
    codes = heard.ranked[: of.top or _MOST_DRAWN]
    names: tuple[Group, ...] = heard.group_names or (ALL,)
    shares = {name: [heard.share(code, name) for code in codes] for name in names}
    told = ", ".join(
        f"{group_title(name)}: {len(heard.members(name))} interviews" for name in names
    )
    return Figure(
        "themes", "Interviews that speak of each theme (%)", "bars",
        "Bars with 95 % intervals: for each theme the share of the interviews that speak of it, "
        f"most frequent first ({told}). The same numbers are in the table of themes.",
        categories=tuple(f"{code} {title(heard, code)}".strip() for code in codes),
        series=tuple(
            Series(
                group_title(name),
                tuple(share.percent for share in every),
                tuple(share.low for share in every),
                tuple(share.high for share in every),
            )
            for name, every in shares.items()
        ),
        unit="%",
    )  # fmt: skip
