"""Final labels as analyses read them: one row for each, at a level of the tree, with covariates.

The codes are those of the newest version of the taxonomy that the study itself keeps; what that
version does not decide, and answers that are no code, are left out and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.covariates import Covariate, covariate, joined
from faultatlas.data.errors import StudyError
from faultatlas.data.schema import literal
from faultatlas.data.taxonomy_changes import decided

if TYPE_CHECKING:
    from faultatlas.annotation.taxonomies.versions import Versions
    from faultatlas.data.study import Reader, Study
    from faultatlas.data.taxonomy import Taxonomy


@dataclass(frozen=True)
class Observation:
    """A final label: the item, the code (at the level asked for) and its covariates as text."""

    artifact_id: str
    round: str
    item_id: str
    code: str
    values: tuple[str | None, ...]


@dataclass(frozen=True)
class Observations:
    """The final labels of a taxonomy, and what was left out of them."""

    name: str
    version: str
    round_name: str
    level: int | None
    taxonomy: Taxonomy | None  # none where nobody knows its text
    covariates: tuple[Covariate, ...]
    rows: tuple[Observation, ...]
    rounds: tuple[str, ...]
    settled_as: Mapping[str, tuple[tuple[str, str], ...]]  # by code: version and code as settled
    no_code: Mapping[str, int] = field(default_factory=dict)  # ~unclear and such
    undecided: int = 0  # by the version of the taxonomy

    @property
    def items(self) -> int:
        """How many items have a code."""
        return len({(row.round, row.item_id) for row in self.rows})

    @property
    def artifacts(self) -> int:
        """How many artifacts they are."""
        return len({row.artifact_id for row in self.rows})

    @property
    def is_multiple(self) -> bool:
        """Whether an item has several codes."""
        return len(self.rows) > self.items

    @property
    def codes(self) -> tuple[str, ...]:
        """The categories of the level in the order of the taxonomy, those without a label too."""
        counts = Counter(row.code for row in self.rows)
        if self.taxonomy is None:
            return tuple(sorted(counts))
        if self.level is None:
            wanted = {node.code for node in self.taxonomy.leaves} | counts.keys()
        else:
            wanted = {
                at_level(self.taxonomy, leaf.code, self.level) for leaf in self.taxonomy.leaves
            }
            wanted |= counts.keys()
        return tuple(node.code for node in self.taxonomy.nodes if node.code in wanted)

    def title(self, code: str) -> str:
        """A code with its name."""
        return code if self.taxonomy is None else f"{code} {self.taxonomy.node(code).name}"

    def values_of(self, at: int) -> tuple[str, ...]:
        """The values of a covariate, sorted."""
        return tuple(sorted({value for row in self.rows if (value := row.values[at]) is not None}))

    def without(self, at: int) -> int:
        """How many rows have no value of a covariate."""
        return sum(row.values[at] is None for row in self.rows)

    def rows_query(
        self, codes: Iterable[str] | None = None, values: Sequence[str | None] = ()
    ) -> str:
        """SQL on the views: the final labels with one of the codes and these covariates.

        A value of None asks for nothing.
        """
        conditions = [f"l.taxonomy = {literal(self.name)}"]
        if self.round_name:
            conditions.append(f"l.round = {literal(self.round_name)}")
        wanted = self.settled_as if codes is None else codes
        pairs = sorted({pair for code in wanted for pair in self.settled_as.get(code, ())})
        listed = ", ".join(f"({literal(version)}, {literal(code)})" for version, code in pairs)
        conditions.append(f"(l.taxonomy_version, l.code) IN ({listed})" if pairs else "false")
        # DuckDB knows in WHERE what a column is called.
        conditions += [
            f"value_{at} = {literal(value)}"
            for at, value in enumerate(values, 1)
            if value is not None
        ]
        own = "".join(f", {each.text} AS value_{at}" for at, each in enumerate(self.covariates, 1))
        return (
            "SELECT l.artifact_id, l.round, l.item_id, l.taxonomy_version, l.code, l.settled_by"
            f"{own}, l.run_id\nFROM final_labels AS l\n{joined(self.covariates)}\n"
            f"WHERE {' AND '.join(conditions)}\nORDER BY l.round, l.item_id, l.code"
        ).replace("\n\n", "\n")


def observe(
    study: Study,
    taxonomy: str,
    *,
    round_name: str = "",
    level: int | None = None,
    by: Sequence[str] = (),
) -> Observations:
    """The final labels of a taxonomy in one round or in all, with covariates.

    Labels of one artifact in several rounds would count twice: they are refused.
    """
    if level is not None and level < 1:
        raise StudyError(f"there is no level {level}", "The roots of a taxonomy are level 1.")
    with study.reading() as reader:
        covariates = tuple(covariate(reader, each) for each in by)
        versions, wanted = _versions(reader, study, taxonomy)
        found = _rows(reader, taxonomy, round_name, covariates)
        if not found:
            raise _nothing(reader, study, taxonomy, round_name)
        _refuse_twice(found)
        tree = versions.taxonomy(wanted) if versions and wanted in versions.texts else None
        _require_level(tree, level)
        asked = _Asked(taxonomy, round_name, level, covariates)
        return _observed(found, asked, tree, versions, wanted)


def _require_level(tree: Taxonomy | None, level: int | None) -> None:
    if tree is None or level is None:
        return
    deepest = max(len(tree.ancestors(leaf.code)) + 1 for leaf in tree.leaves)
    if level > deepest:
        raise StudyError(
            f"{tree.name} has no level {level}",
            f"Its levels are 1 to {deepest}; without --level its finest codes are counted.",
        )


def at_level(taxonomy: Taxonomy, code: str, level: int) -> str:
    """The code at a level of the tree (roots are 1) at or above a code; itself if it is higher."""
    path = (*reversed(taxonomy.ancestors(code)), code)
    return path[min(level, len(path)) - 1]


@dataclass(frozen=True)
class _Asked:
    name: str
    round_name: str
    level: int | None
    covariates: tuple[Covariate, ...]


def _observed(
    found: list[dict[str, Any]],
    asked: _Asked,
    tree: Taxonomy | None,
    versions: Versions | None,
    wanted: str,
) -> Observations:
    level = asked.level
    rows: dict[tuple[str, str, str], Observation] = {}
    settled: dict[str, set[tuple[str, str]]] = {}
    no_code: Counter[str] = Counter()
    undecided = 0
    for row in found:
        code, version = row["code"], row["taxonomy_version"]
        if code.startswith("~"):
            no_code[code] += 1
            continue
        codes = _carried(versions, version, wanted, code)
        undecided += codes is None
        for carried in sorted(codes or ()):
            if tree is not None and carried not in tree:
                undecided += 1
                continue
            at = carried if tree is None or level is None else at_level(tree, carried, level)
            values = tuple(row[f"value_{n}"] for n in range(1, len(asked.covariates) + 1))
            rows[row["round"], row["item_id"], at] = Observation(
                row["artifact_id"], row["round"], row["item_id"], at, values
            )
            settled.setdefault(at, set()).add((version, code))
    if not rows:
        raise StudyError(
            f"no final label of {asked.name} has a code of version {wanted}",
            f"See what was settled: SELECT * FROM final_labels WHERE taxonomy = '{asked.name}'",
        )
    return Observations(
        asked.name,
        wanted,
        asked.round_name,
        level,
        tree,
        asked.covariates,
        tuple(rows.values()),
        tuple(sorted({row.round for row in rows.values()})),
        {code: tuple(sorted(pairs)) for code, pairs in settled.items()},
        dict(no_code),
        undecided,
    )


def _rows(
    reader: Reader, taxonomy: str, round_name: str, covariates: tuple[Covariate, ...]
) -> list[dict[str, Any]]:
    own = "".join(f", {each.text} AS value_{at}" for at, each in enumerate(covariates, 1))
    return reader.rows(
        f"SELECT l.artifact_id, l.round, l.item_id, l.taxonomy_version, l.code{own} "
        f"FROM final_labels AS l\n{joined(covariates)}\n"
        "WHERE l.taxonomy = ? AND ? IN ('', l.round) ORDER BY l.round, l.item_id, l.code",
        [taxonomy, round_name],
    )


def _versions(reader: Reader, study: Study, name: str) -> tuple[Versions | None, str]:
    """The versions that the study keeps, else those on disk, and the one that is read."""
    from faultatlas.annotation.taxonomies.versions import Versions
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    versions: Versions | None = Versions.stored(reader, name)
    if versions is None or not versions.texts:
        known = name in TaxonomyLibrary(study.directory).names
        versions = Versions.known(reader, study.directory, name) if known else None
    if versions is None:
        used = "SELECT max(taxonomy_version) FROM final_labels WHERE taxonomy = ?"
        return None, str(reader.value(used, [name]) or "")
    return versions, versions.newest.version


def _carried(
    versions: Versions | None, version: str, wanted: str, code: str
) -> frozenset[str] | None:
    if versions is None or version == wanted:
        return frozenset((code,))
    if version not in versions.texts:
        return None
    return decided(versions.alternatives(version, wanted, code))


def _refuse_twice(found: Sequence[Mapping[str, Any]]) -> None:
    rounds: dict[str, set[str]] = {}
    for row in found:
        rounds.setdefault(row["artifact_id"], set()).add(row["round"])
    twice = [names for names in rounds.values() if len(names) > 1]
    if twice:
        raise StudyError(
            f"{len(twice):,} artifacts have final labels in several rounds and would count twice",
            f"Choose one with --round: {', '.join(sorted(set().union(*twice)))}.",
        )


def _nothing(reader: Reader, study: Study, taxonomy: str, round_name: str) -> StudyError:
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    rows = reader.rows("SELECT DISTINCT taxonomy, round FROM final_labels ORDER BY ALL")
    rounds = [row["round"] for row in rows if row["taxonomy"] == taxonomy]
    if round_name and rounds:
        return StudyError(
            f"the study has no final labels of {taxonomy} in round {round_name!r}",
            f"Its rounds: {', '.join(rounds)}.",
        )
    others = sorted({row["taxonomy"] for row in rows})
    if taxonomy not in TaxonomyLibrary(study.directory).names and taxonomy not in others:
        TaxonomyLibrary(study.directory).taxonomy(taxonomy)  # complains, and names those there are
    return StudyError(
        f"the study has no final labels of {taxonomy}",
        f"It has those of {', '.join(others)}."
        if others
        else "Bring some in: annotation import ROUND FILE --item COL --final COL "
        f"--taxonomy {taxonomy}",
    )
