"""How often each category occurs, in all and in groups side by side: tables, figure, claims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from faultatlas.analysis.statistics.shares import (
    GOODMAN_95,
    GOODMAN_SOURCES,
    WILSON_95,
    Share,
    goodman,
    wilson_share,
)
from faultatlas.analysis.statistics.tables import INDEPENDENCE_SOURCES, V_SOURCES
from faultatlas.analysis.tallies import homogeneity
from faultatlas.analysis.tallies.groups import ALL, Group, Grouped, group_title
from faultatlas.analysis.tallies.homogeneity import Association, associated
from faultatlas.analysis.tallies.naming import called, key
from faultatlas.data.old.results import Cell, Claim, Column, Figure, Series, Table

ANALYSIS = "distribution"
SEED = 1
SOURCES = (*GOODMAN_SOURCES, *INDEPENDENCE_SOURCES, *V_SOURCES)


@dataclass(frozen=True)
class Distribution:
    """Counts by group, and how they are called."""

    grouped: Grouped
    by: str
    name: str
    parameters: dict[str, Any]
    top: int | None = None

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """The categories that are shown: all, or the most frequent ones."""
        codes = self.grouped.codes
        if self.top is None or self.top >= len(codes):
            return codes
        return self.ranked(codes)[: self.top]

    def ranked(self, codes: Sequence[str]) -> tuple[str, ...]:
        """The most frequent first; those that are as frequent stay in their order."""
        return tuple(sorted(codes, key=lambda code: -self.grouped.count(ALL, code)))

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups, then all."""
        return (*self.grouped.groups, ALL)

    @cached_property
    def alike(self) -> Association | None:
        """Whether the groups are alike; nothing where that cannot be asked of one table."""
        if len(self.grouped.filled) < 2 or self.grouped.observations.is_multiple:
            return None
        return associated(self.grouped.table(self.grouped.codes), SEED)

    def share(self, group: Group, code: str) -> Share:
        """The share of a group's items that have the code."""
        return wilson_share(self.grouped.count(group, code), self.grouped.total(group))

    @cached_property
    def together(self) -> dict[tuple[Group, str], tuple[float, float]]:
        """By group and code the ends of simultaneous intervals; none where codes are no parts."""
        codes = self.grouped.codes
        if self.grouped.observations.is_multiple or len(codes) < 2:
            return {}
        found: dict[tuple[Group, str], tuple[float, float]] = {}
        for group in (*self.grouped.filled, ALL):
            ends = goodman([self.grouped.count(group, code) for code in codes])
            found.update({(group, code): end for code, end in zip(codes, ends, strict=True)})
        return found


def tables(of: Distribution) -> tuple[Table, ...]:
    """Side by side; every share with its intervals; the groups; whether they are alike."""
    found = [_side_by_side(of), _shares(of)]
    if of.by:
        found.insert(1, _groups(of))
        if of.alike:
            found.insert(
                2, homogeneity.measures_table(of.alike, "homogeneity", "Are the groups alike?")
            )
    return tuple(found)


def _side_by_side(of: Distribution) -> Table:
    seen = of.grouped
    columns = [Column("code", "Code", "code"), Column("name", "Category")]
    for at, group in enumerate(seen.groups, 1):
        columns += [
            Column(f"count_{at}", group, "count"),
            Column(f"percent_{at}", f"of {group}", "percent", aside=True),
        ]
    columns += [
        Column("count", group_title(ALL), "count"),
        Column("percent", "Share", "percent"),
        Column("low", "95 % from", "percent"),
        Column("high", "to", "percent"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for code in of.shown:
        cells: list[Cell] = [code, _name(of, code)]
        for group in seen.groups:
            share = of.share(group, code)
            cells += [share.count if share.total else None, share.percent]
        whole = of.share(ALL, code)
        low, high = of.together.get((ALL, code), (whole.low, whole.high))
        rows.append((*cells, whole.count, whole.percent, low, high))
    missing = [group for group in seen.groups if not seen.total(group)]
    note = f"Intervals of all: {GOODMAN_95 if of.together else WILSON_95}."
    if missing:
        note += f" No data: {', '.join(missing)}."
    if len(of.shown) < len(seen.codes):
        note += f" The {len(of.shown)} most frequent of {len(seen.codes)} categories."
    return Table("distribution", "Categories", tuple(columns), tuple(rows), note)


def _groups(of: Distribution) -> Table:
    seen = of.grouped
    rows: list[tuple[Cell, ...]] = []
    for group in of.groups:
        total = seen.total(group)
        if not total:
            rows.append((group_title(group), 0, 0, "no data", None, None, None))
            continue
        used = [code for code in seen.codes if seen.count(group, code)]
        most = max(used, key=lambda code: seen.count(group, code))
        share = of.share(group, most)
        rows.append(
            (group_title(group), total, len(used), f"{most} {_name(of, most)}", share.percent,
             share.low, share.high)
        )  # fmt: skip
    columns = (
        Column("group", "Group"),
        Column("items", "Items", "count"),
        Column("categories", "Categories used", "count"),
        Column("most", "Most frequent"),
        Column("percent", "Share", "percent"),
        Column("low", "95 % from", "percent"),
        Column("high", "to", "percent"),
    )
    return Table("groups", f"Groups by {of.by}", columns, tuple(rows), f"{WILSON_95}.")


def _shares(of: Distribution) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for group in of.groups:
        for code in of.shown:
            share = of.share(group, code)
            ends = of.together.get((group, code), (None, None))
            rows.append(
                (group_title(group), code, share.count, share.total, share.percent, share.low,
                 share.high, *ends)
            )  # fmt: skip
    columns = (
        Column("group", "Group"),
        Column("code", "Code", "code"),
        Column("count", "Count", "count"),
        Column("total", "Of", "count"),
        Column("percent", "Share", "percent"),
        Column("low", "95 % from", "percent"),
        Column("high", "to", "percent"),
        Column("low_together", "All together from", "percent"),
        Column("high_together", "to", "percent"),
    )
    note = f"One share: {WILSON_95}. All shares of a group together: {GOODMAN_95}."
    if not of.together:
        note = f"{WILSON_95}, for each share alone: items have several codes."
    return Table(
        "shares", "Every share with its intervals", columns, tuple(rows), note, folded=True
    )


def figure(of: Distribution) -> Figure:
    """Grouped bars of the counts by category, the total last."""
    seen = of.grouped
    names: tuple[Group, ...] = (*seen.filled, ALL)
    if len(seen.filled) == 1 and seen.total(seen.filled[0]) == seen.total(ALL):
        names = seen.filled
    missing = [group for group in seen.groups if not seen.total(group)]
    told = "; ".join(f"{group_title(name)}: n = {seen.total(name):,}" for name in names)
    beside = f" ({', '.join(missing)}: no data)" if missing else ""
    return Figure(
        "distribution",
        f"Labels by category{f' and {of.by}' if of.by else ''}{beside}",
        "bars",
        f"Grouped bars: for each category the number of items. {told}. The same numbers are in "
        "the table of this name.",
        categories=tuple(f"{code} {_name(of, code)}".strip() for code in of.shown),
        series=tuple(
            Series(group_title(name), tuple(float(seen.count(name, code)) for code in of.shown))
            for name in names
        ),
        unit="",
    )


def claims(of: Distribution) -> tuple[Claim, ...]:
    """The most frequent of all first, then how far groups differ, then the shares in groups."""
    ranked = of.ranked(of.shown)
    found = [_share_claim(of, ALL, code) for code in ranked]
    if of.alike:
        v = of.alike.v
        found.append(
            Claim(
                f"{of.name}.groups.v",
                f"Cramer's V of category and {of.by}",
                v.value,
                "",
                f"{called(ANALYSIS, of.parameters)}: homogeneity.v.value",
                low=v.low,
                high=v.high,
                method=v.method,
                rows_query=of.grouped.observations.rows_query(),
            )
        )
    found += [_share_claim(of, group, code) for group in of.grouped.filled for code in ranked]
    return tuple(found)


def _share_claim(of: Distribution, group: Group, code: str) -> Claim:
    share = of.share(group, code)
    seen = of.grouped.observations
    place = "all" if group is ALL else f"groups.{key(group)}"
    where = "" if group is ALL else f" in {of.by} {group}"
    return Claim(
        f"{of.name}.{place}.{key(code)}",
        f"Share of {seen.title(code)} among the {share.total:,} items{where}",
        share.percent,
        "percent",
        f"{called(ANALYSIS, of.parameters)}: {place}.{key(code)}.percent",
        count=share.count,
        total=share.total,
        low=share.low,
        high=share.high,
        method=share.method,
        rows_query=seen.rows_query([code], [group]),
    )


def document(of: Distribution) -> dict[str, Any]:
    """All of it as plain values, where the claims say that they are."""
    plain: dict[str, Any] = {"items": of.grouped.total(ALL), "all": _plain(of, ALL)}
    if of.by:
        plain["groups"] = {
            key(group): _plain(of, group) if of.grouped.total(group) else "no data"
            for group in of.grouped.groups
        }
        plain["homogeneity"] = of.alike.document() if of.alike else None
    return plain


def _plain(of: Distribution, group: Group) -> dict[str, Any]:
    shares = {code: of.share(group, code) for code in of.shown}
    return {
        key(code): {
            "code": code,
            "count": share.count,
            "total": share.total,
            "percent": share.percent,
            "interval": [share.low, share.high],
            "simultaneous": list(of.together.get((group, code), ())) or None,
        }
        for code, share in shares.items()
    }


def _name(of: Distribution, code: str) -> str:
    taxonomy = of.grouped.observations.taxonomy
    return "" if taxonomy is None else taxonomy.node(code).name
