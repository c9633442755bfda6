"""Themes of coded interviews: how often each is mentioned, and in how many interviews.

An item of a round is a passage, and its artifact is the interview. Passages of one interview are
not independent of each other, so that shares and intervals are those of interviews.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from faultatlas.analysis.covariates import covariate, joined
from faultatlas.analysis.statistics.shares import Share, wilson_share
from faultatlas.analysis.tallies.groups import ALL, Group
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.analysis.observations import Observations
    from faultatlas.data.study import Study
    from faultatlas.data.taxonomy import Taxonomy


@dataclass(frozen=True)
class Heard:
    """What one more interview brought: themes that no interview before it had."""

    interview: str
    themes: int
    new: tuple[str, ...]
    known: int  # themes heard so far


@dataclass(frozen=True)
class Themes:
    """The final labels of passages, and the interviews that they are of, in their order."""

    seen: Observations
    interviews: tuple[str, ...]
    passages: int
    groups: dict[str, str]  # of interviews, where one was asked for

    @property
    def tree(self) -> Taxonomy | None:
        """The taxonomy, if anybody knows its text."""
        return self.seen.taxonomy

    @property
    def themes(self) -> tuple[str, ...]:
        """The leaves, or the codes of the level that was asked for."""
        return self.seen.codes

    @cached_property
    def parents(self) -> tuple[str, ...]:
        """The nodes above the themes, in the order of the taxonomy."""
        if self.tree is None:
            return ()
        above = {code for theme in self.themes for code in self.tree.ancestors(theme)}
        return tuple(node.code for node in self.tree.nodes if node.code in above)

    @cached_property
    def _mentions(self) -> dict[str, dict[tuple[str, str], str]]:
        """By code the passages at or below it, each with its interview."""
        found: dict[str, dict[tuple[str, str], str]] = {}
        for row in self.seen.rows:
            above = self.tree.ancestors(row.code) if self.tree else ()
            for code in (row.code, *above):
                found.setdefault(code, {})[row.round, row.item_id] = row.artifact_id
        return found

    def mentions(self, code: str) -> int:
        """How many passages speak of it."""
        return len(self._mentions.get(code, {}))

    def places(self, code: str) -> tuple[str, ...]:
        """The passages that speak of it, by their ids."""
        return tuple(item for _round, item in self._mentions.get(code, {}))

    def speaking(self, code: str, group: Group = ALL) -> tuple[str, ...]:
        """The interviews that speak of it, in their order."""
        of = set(self._mentions.get(code, {}).values())
        return tuple(each for each in self.members(group) if each in of)

    def members(self, group: Group = ALL) -> tuple[str, ...]:
        """The interviews of a group."""
        if group is ALL:
            return self.interviews
        return tuple(each for each in self.interviews if self.groups.get(each) == group)

    @cached_property
    def group_names(self) -> tuple[str, ...]:
        """The groups, sorted."""
        return tuple(sorted(set(self.groups.values())))

    def share(self, code: str, group: Group = ALL) -> Share:
        """The share of the interviews that speak of it."""
        return wilson_share(len(self.speaking(code, group)), len(self.members(group)))

    def below(self, code: str) -> list[str]:
        """The themes at or below a node."""
        if self.tree is None or code in self.themes:
            return [code]
        return [theme for theme in self.themes if code in self.tree.ancestors(theme)]

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The themes that are mentioned, those of most interviews first."""
        order = {code: at for at, code in enumerate(self.themes)}
        heard = [code for code in self.themes if self.mentions(code)]
        return tuple(
            sorted(
                heard,
                key=lambda code: (-len(self.speaking(code)), -self.mentions(code), order[code]),
            )
        )

    @cached_property
    def saturation(self) -> tuple[Heard, ...]:
        """What was new in each interview, in their order."""
        of: dict[str, set[str]] = {each: set() for each in self.interviews}
        for row in self.seen.rows:
            of[row.artifact_id].add(row.code)
        known: set[str] = set()
        found = []
        for interview in self.interviews:
            new = of[interview] - known
            known |= new
            ordered = tuple(code for code in self.themes if code in new)
            found.append(Heard(interview, len(of[interview]), ordered, len(known)))
        return tuple(found)

    @property
    def once(self) -> int:
        """Themes that one interview alone speaks of."""
        return sum(len(self.speaking(code)) == 1 for code in self.ranked)

    @property
    def next_is_new(self) -> Share:
        """Good and Turing: the chance that the next theme of an interview is a new one."""
        return wilson_share(self.once, sum(heard.themes for heard in self.saturation))

    def together(self) -> Iterator[tuple[str, str, int, float]]:
        """Pairs of themes, in how many interviews both are, and of how many with either (%)."""
        counts: Counter[tuple[str, str]] = Counter()
        of = {code: set(self.speaking(code)) for code in self.ranked}
        for one, two in combinations([code for code in self.themes if code in of], 2):
            counts[one, two] = len(of[one] & of[two])
        for (one, two), both in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])):
            if both > 1:
                yield one, two, both, 100 * both / len(of[one] | of[two])


def themes_of(study: Study, seen: Observations, group: str = "") -> Themes:
    """The interviews of the rounds, those without a code too, with the group of each."""
    with study.reading() as reader:
        by = (covariate(reader, group),) if group else ()
        value = by[0].text if by else "NULL"
        rows = reader.rows(
            f"SELECT l.artifact_id, {value} AS value FROM items AS l\n{joined(by)}\n"
            "WHERE list_contains(?, l.round) ORDER BY l.round, l.position, l.item_id",
            [list(seen.rounds)],
        )
    interviews = dict.fromkeys(row["artifact_id"] for row in rows)
    interviews |= dict.fromkeys(row.artifact_id for row in seen.rows)
    groups: dict[str, str] = {}
    for row in rows:
        said = row["value"]
        if said is not None and groups.setdefault(row["artifact_id"], said) != said:
            raise StudyError(
                f"{row['artifact_id']} is in two groups of {group}: {groups[row['artifact_id']]} "
                f"and {said}",
                "An interview has one group: say the same of all its passages.",
            )
    if group and not groups:
        raise StudyError(
            f"no interview has a value of {group}",
            "The column of a sheet that says who speaks: annotation import ... --stratum COL, "
            "then --group stratum.",
        )
    return Themes(seen, tuple(interviews), len(rows) or seen.items, groups)
