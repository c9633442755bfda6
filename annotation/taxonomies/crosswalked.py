"""The labels of a round seen through a crosswalk: how many mean which code of another taxonomy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.taxonomies.outcomes import current_answers, current_decisions, follow
from faultatlas.annotation.taxonomies.versions import Versions
from faultatlas.annotation.typed import typed
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.data.taxonomy import Crosswalk, Taxonomy
from faultatlas.data.taxonomy_changes import decided
from faultatlas.data.taxonomy_library import TaxonomyLibrary

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader


@dataclass(frozen=True)
class Crossed:
    """Labels by code in the version that the crosswalk starts from, and what it makes of them."""

    round: str
    crosswalk: Crosswalk
    target: Taxonomy
    counts: Counter[str]
    undecided: Counter[str]  # codes of other versions that this one does not tell

    def document(self) -> dict[str, Any]:
        """Plain values: labels for each code there, and those that have none."""
        targets: dict[str, dict[str, Any]] = {}
        unmapped = []
        for code, count in sorted(self.counts.items()):
            pair = self.crosswalk.pair(code)
            if pair is None or not pair.targets:
                reason = pair.basis if pair else "an answer that is no code"
                unmapped.append({"code": code, "labels": count, "reason": reason})
                continue
            for each in pair.targets:
                entry = targets.setdefault(
                    each,
                    {"code": each, "name": self.target.node(each).name, "labels": 0,
                     "relations": Counter(), "from": []},
                )  # fmt: skip
                entry["labels"] += count
                entry["relations"][pair.relation] += count
                entry["from"].append(code)
        for entry in targets.values():
            entry["relations"] = dict(sorted(entry["relations"].items()))
        for code, count in sorted(self.undecided.items()):
            reason = f"not told in {self.crosswalk.source_version}, which the crosswalk is for"
            unmapped.append({"code": code, "labels": count, "reason": reason})
        total = self.counts.total() + self.undecided.total()
        mapped = sum(
            count
            for code, count in self.counts.items()
            if (pair := self.crosswalk.pair(code)) is not None and pair.targets
        )
        order = {node.code: position for position, node in enumerate(self.target.nodes)}
        return {
            "round": self.round,
            "crosswalk": self.crosswalk.name,
            "to": self.target.name,
            "to_version": self.target.version,
            "labels": total,
            "mapped": mapped,
            "unmapped": total - mapped,
            "codes": sorted(targets.values(), key=lambda each: order[each["code"]]),
            "without_counterpart": unmapped,
        }

    def tables(self) -> tuple[Table, Table]:
        """The codes of the other taxonomy, and the labels that it has none for."""
        shown = self.document()
        mapped = (
            Column("code", "Code", "code"),
            Column("name", "Name"),
            Column("labels", "Labels", "count"),
            Column("relations", "Relations"),
            Column("from", "From"),
        )
        rows = [
            {
                **each,
                "relations": ", ".join(f"{n:,} {kind}" for kind, n in each["relations"].items()),
                "from": ", ".join(each["from"]),
            }
            for each in shown["codes"]
        ]
        rest = (
            Column("code", "Code", "code"),
            Column("labels", "Labels", "count"),
            Column("reason", "Why"),
        )
        title = (
            f"{shown['mapped']:,} of {shown['labels']:,} labels of {self.round} in {shown['to']}"
        )
        note = "A label that means several codes counts for each of them."
        without = f"{shown['unmapped']:,} labels without a counterpart"
        return (
            Table("crosswalk", title, mapped, rows_of(mapped, rows), note),
            Table("unmapped", without, rest, rows_of(rest, shown["without_counterpart"])),
        )


def cross(
    reader: Reader,
    directory: Path,
    of: Round,
    target: str,
    *,
    final: bool,
) -> Crossed:
    """What raters said independently, or what is final, through the crosswalk to a taxonomy."""
    library = TaxonomyLibrary(directory)
    library.taxonomy(target)
    crosswalk = library.crosswalk(of.taxonomy, target)
    if crosswalk is None:
        known = [name for name in library.crosswalk_names if of.taxonomy in name.split("--")]
        raise StudyError(
            f"there is no crosswalk from {of.taxonomy} to {target}",
            f"Known: {', '.join(known)}."
            if known
            else f"Write one: crosswalks/{of.taxonomy}--{target}.yaml (docs/taxonomy-format.md).",
        )
    versions = Versions.known(reader, directory, of.taxonomy)
    if final:
        said = current_decisions(reader, of.taxonomy, of.name)
    else:
        answers = current_answers(reader, of.taxonomy, of.name)
        said = [each for each in answers if each.stage == "independent"]
    counts: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    for each in follow(versions, said, crosswalk.source_version):
        if each.outcome == "carried":
            counts.update(decided(each.alternatives) or ())
        elif each.outcome != "answered":
            undecided[each.code] += 1
    if not counts and not undecided:
        raise StudyError(
            f"round {of.name!r} has no {'final ' if final else ''}labels",
            f"Settle it first: annotation adjudicate {typed(of.name)}"
            if final
            else "Label it first.",
        )
    wanted = {each.version: each for each in library.versions(target)}
    there = wanted.get(crosswalk.target_version) or library.taxonomy(target)
    return Crossed(of.name, crosswalk, there, counts, undecided)
