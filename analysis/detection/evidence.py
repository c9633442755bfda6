"""What tools found and what there was to find: from rounds of the study, or as published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultatlas.analysis.detection.folding import Folding
from faultatlas.analysis.observations import Observations, at_level, observe
from faultatlas.data import evidence
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.study import Study
    from faultatlas.data.taxonomy import Taxonomy

TAXONOMY = "hp-defects"  # of the published counts
PUBLISHED = "published"
ALL_TOOLS = "existing methods"  # the published counts do not tell them apart
NO_TOOL = "(no tool named)"


@dataclass(frozen=True)
class Found:
    """Defects that tools found: by tool and code how many, duplicates folded."""

    counts: Mapping[tuple[str, str], int]
    tools: tuple[str, ...]
    by_code: Mapping[str, int]  # whoever found it
    before: int  # folding
    after: int
    several_codes: int = 0  # defects whose reports have several types
    observations: Observations | None = None  # none: published

    def rows_query(self, codes: Sequence[str] | None = None) -> str | None:
        """The final labels behind the numbers."""
        return self.observations.rows_query(codes) if self.observations else None


@dataclass(frozen=True)
class Known:
    """Defects that there are, by their codes: what tools might have found."""

    kinds: Mapping[frozenset[str], int]  # one with several codes is one defect
    rounds: tuple[str, ...]  # none: published
    again: int = 0  # left out: artifacts of a round before
    observations: tuple[Observations, ...] = ()

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.kinds.values())

    def count(self, codes: Iterable[str]) -> int:
        """How many have one of the codes."""
        wanted = set(codes)
        return sum(many for codes_of_it, many in self.kinds.items() if codes_of_it & wanted)

    @property
    def codes(self) -> set[str]:
        """The codes that occur."""
        return {code for codes_of_it in self.kinds for code in codes_of_it}

    def rows_query(self, codes: Sequence[str] | None = None) -> str | None:
        """The final labels behind the numbers: of every artifact those of its first round."""
        if not self.observations:
            return None
        parts: list[str] = []
        before: list[str] = []
        for each in self.observations:
            counted = f" WHERE artifact_id NOT IN ({' UNION '.join(before)})" if before else ""
            parts.append(f"SELECT * FROM ({each.rows_query(codes)}){counted}")
            before.append(f"SELECT artifact_id FROM ({each.rows_query()})")
        return "\nUNION ALL BY NAME\n".join(parts) + "\nORDER BY round, item_id, code"


def found_in_round(
    study: Study, taxonomy: str, round_name: str, level: int | None, score: float
) -> Found:
    """What the items of a round are; the stratum of an item is the tool that found it."""
    seen = observe(study, taxonomy, round_name=round_name, level=level, by=["stratum"])
    folding = Folding.by(_duplicates(study, score))
    defects: dict[tuple[str, str], set[str]] = {}
    by_code: dict[str, set[str]] = {}
    codes: dict[str, set[str]] = {}
    for row in seen.rows:
        defect, tool = folding.of(row.artifact_id), row.values[0] or NO_TOOL
        defects.setdefault((tool, row.code), set()).add(defect)
        by_code.setdefault(row.code, set()).add(defect)
        codes.setdefault(defect, set()).add(row.code)
    return Found(
        {key: len(each) for key, each in defects.items()},
        tuple(sorted({tool for tool, _code in defects})),
        {code: len(each) for code, each in by_code.items()},
        seen.items,
        len(codes),
        sum(len(each) > 1 for each in codes.values()),
        seen,
    )


def published_found(level: int | None, tree: Taxonomy) -> Found:
    """What the study of high-priority defects says that existing methods detected."""
    counts = _rolled({each.code: each.detected for each in evidence.defect_types()}, level, tree)
    counts = {code: count for code, count in counts.items() if count}
    total = sum(counts.values())
    by_tool = {(ALL_TOOLS, code): count for code, count in counts.items()}
    return Found(by_tool, (ALL_TOOLS,), counts, total, total)


def known_in_rounds(study: Study, taxonomy: str, rounds: Sequence[str], level: int | None) -> Known:
    """The final labels of rounds; an artifact counts in the first round that has it."""
    seen: set[str] = set()
    kinds: Counter[frozenset[str]] = Counter()
    observations, again = [], 0
    for name in rounds:
        each = observe(study, taxonomy, round_name=name, level=level)
        again += len({row.artifact_id for row in each.rows} & seen)
        codes: dict[str, set[str]] = {}
        for row in each.rows:
            if row.artifact_id not in seen:
                codes.setdefault(row.item_id, set()).add(row.code)
        kinds.update(map(frozenset, codes.values()))
        seen |= {row.artifact_id for row in each.rows}
        observations.append(each)
    return Known(dict(kinds), tuple(rounds), again, tuple(observations))


def published_known(level: int | None, tree: Taxonomy) -> Known:
    """The published final labels of three frameworks."""
    counts = {each.code: each.labelled for each in evidence.defect_types()}
    rolled = _rolled(counts, level, tree)
    return Known({frozenset((code,)): count for code, count in rolled.items()}, ())


def other_rounds(study: Study, taxonomy: str, round_name: str) -> list[str]:
    """The rounds with final labels of the taxonomy, but for one."""
    if not study.exists:
        return []
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT DISTINCT round FROM final_labels WHERE taxonomy = ? AND round <> ? ORDER BY 1",
            [taxonomy, round_name],
        )
    return [row["round"] for row in rows]


def refuse_unpublished(taxonomy: str, what: str) -> None:
    """Published counts are of one taxonomy."""
    if taxonomy != TAXONOMY:
        raise StudyError(
            f"there are no published counts of {taxonomy} {what}",
            "Name a round of the study: analysis methods --round ROUND --of ROUND",
        )


def _duplicates(study: Study, score: float) -> list[tuple[str, str]]:
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT DISTINCT from_id, to_id FROM links "
            "WHERE kind = 'duplicate' AND coalesce(score, 1) >= ? ORDER BY ALL",
            [score],
        )
    return [(row["from_id"], row["to_id"]) for row in rows]


def _rolled(counts: Mapping[str, int], level: int | None, tree: Taxonomy) -> dict[str, int]:
    if level is None:
        return dict(counts)
    found: Counter[str] = Counter()
    for code, count in counts.items():
        found[at_level(tree, code, level)] += count
    return dict(found)
