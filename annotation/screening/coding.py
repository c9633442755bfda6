"""`annotation code`: rounds in which raters say which codes the included papers have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.planning.planning import Outcome
from faultatlas.annotation.screening.corpus import paper_sample
from faultatlas.annotation.screening.paper_rounds import (
    Wanted,
    free_name,
    in_order,
    next_command,
    plan,
    where_holds,
)
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.data.study import Reader, Study

TAXONOMIES = ("debugging-techniques", "humbatova")
_STEMS = {
    "debugging-techniques": "paper-techniques",
    "humbatova": "paper-faults",
    "new-faults": "paper-new-faults",
}


@dataclass(frozen=True)
class Coding:
    """What the command did."""

    planned: tuple[Outcome, ...]
    done: tuple[str, ...]  # taxonomies with which all papers are in rounds
    remarks: tuple[str, ...] = ()
    next: str = ""

    def document(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "rounds": [row for each in self.planned for row in each.document()["rounds"]],
            "nothing_left": list(self.done),
            "remarks": list(self.remarks),
            "next": self.next or None,
        }


def round_stem(taxonomy: str) -> str:
    """What rounds are called in which papers get codes of a taxonomy."""
    return _STEMS.get(taxonomy, f"paper-{taxonomy}")


def code_papers(study: Study, taxonomies: Sequence[str], wanted: Wanted) -> Coding:
    """Plan a round for each taxonomy of the papers that no round has with it yet."""
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    with study.reading():
        pass
    library = TaxonomyLibrary(study.directory)
    names = [library.taxonomy(each).name for each in dict.fromkeys(taxonomies or TAXONOMIES)]
    if not wanted.raters:
        raise StudyError("nobody is named who codes", "Name them: --rater ann --rater ben.")
    run = provenance.begin("annotation code", {"taxonomies": names, **wanted.arguments()})
    planned, done = [], []
    with study.writing() as writer:
        sample = paper_sample(writer, wanted.seed, run)
        ready, remarks = _included(writer, sample)
        ready = where_holds(writer, ready, wanted.where)
        for name in names:
            left = [each for each in ready if each not in _coded(writer, name)]
            if not left:
                done.append(name)
                continue
            new = free_name(writer, round_stem(name))
            planned.append(
                plan(writer, study, new, left, wanted, taxonomy=name, sample=sample, run=run,
                     choice="multiple")
            )  # fmt: skip
        then = next_command(writer, planned[0].rounds[0].round.name) if planned else ""
    leaves = [each for each in names if library.taxonomy(each).select == "leaves"]
    if planned and leaves:
        remarks.append(
            f"raters choose leaves of {' and '.join(leaves)}; to let them choose categories, "
            f"change a copy to `select: any` before: annotation taxonomy copy {leaves[0]}"
        )
    return Coding(tuple(planned), tuple(done), tuple(remarks), then)


def _included(reader: Reader, sample: str) -> tuple[list[str], list[str]]:
    """The papers to code; without any screening all of them."""
    if not reader.value("SELECT count(*) FROM store.screening"):
        rows = reader.rows("SELECT artifact_id FROM store.sampled WHERE sample = ?", [sample])
        said = ["nothing was screened: all papers are coded"]
        return in_order(reader, [row["artifact_id"] for row in rows], sample), said
    rows = reader.rows("SELECT artifact_id, screening_decision AS decision FROM papers")
    ready = [row["artifact_id"] for row in rows if row["decision"] == "included"]
    if not ready:
        raise StudyError("no paper is included yet", "See how far screening is: annotation status")
    waiting = sum(row["decision"] is None for row in rows)
    said = [f"{counted(waiting, 'paper')} not decided yet, for later"] if waiting else []
    return in_order(reader, ready, sample), said


def _coded(reader: Reader, taxonomy: str) -> set[str]:
    """Papers that a round has with a taxonomy."""
    rows = reader.rows(
        "SELECT DISTINCT coalesce(a.artifact_id, i.artifact_id) AS artifact_id FROM store.item i "
        "JOIN store.round r USING (round) LEFT JOIN store.alias a ON a.alias = i.artifact_id "
        "AND a.kind = 'paper' WHERE r.taxonomy = ?",
        [taxonomy],
    )
    return {row["artifact_id"] for row in rows}
