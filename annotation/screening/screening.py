"""`annotation screen`: a step of screening as rounds of the papers that came to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.planning.planning import Outcome
from faultatlas.annotation.rounds import find_round
from faultatlas.annotation.screening.corpus import funnel_step, paper_sample, past_the_funnel
from faultatlas.annotation.screening.paper_rounds import (
    Wanted,
    free_name,
    in_order,
    next_command,
    plan,
    where_holds,
)
from faultatlas.annotation.screening.steps import (
    INCLUDE,
    TAXONOMY,
    Standing,
    checked_step,
    next_step,
    option_of,
    position_of,
    standings,
)
from faultatlas.annotation.typed import typed
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer

_MOST_SHOWN = 5


@dataclass(frozen=True)
class Screened:
    """What the command did, and what it left."""

    step: str
    planned: Outcome | None = None  # none: there was nothing to plan
    registered: str = ""  # a round that was there
    waiting: tuple[str, ...] = ()  # papers that the step before has not decided
    left: int = 0  # papers of the step that are for later, as --where or --size said
    remarks: tuple[str, ...] = ()
    standing: tuple[Standing, ...] = ()
    next: str = ""

    def document(self) -> dict[str, Any]:
        """Plain values."""
        rounds = self.planned.document()["rounds"] if self.planned else []
        return {
            "step": self.step,
            "rounds": rounds,
            "registered": self.registered or None,
            "waiting": list(self.waiting),
            "left": self.left,
            "remarks": list(self.remarks),
            "screening": [each.document() for each in self.standing],
            "next": self.next or None,
        }

    def words(self) -> list[str]:
        """For a reader, but for the table of the round."""
        lines = []
        if self.registered:
            lines.append(f"round {self.registered} is part of screening by {self.step}")
        elif self.planned is None:
            lines.append(f"nothing to plan: no paper waits for screening by {self.step}")
        if self.waiting:
            shown = ", ".join(self.waiting[:_MOST_SHOWN])
            more = " ..." if len(self.waiting) > _MOST_SHOWN else ""
            lines.append(
                f"{counted(len(self.waiting), 'paper')} not decided by the step before, for later: "
                f"{shown}{more}"
            )
        if self.left:
            lines.append(f"{counted(self.left, 'paper')} of this step left for another round")
        lines += self.remarks
        lines += [each.words for each in self.standing]
        return [*lines, *([f"next: {self.next}"] if self.next else [])]


@dataclass
class _Papers:
    """Who comes to a step."""

    ready: list[str]
    sample: str = ""
    waiting: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # included, and not in the study
    remarks: list[str] = field(default_factory=list)


def screen(study: Study, text: str, wanted: Wanted, round_name: str | None = None) -> Screened:
    """Plan the next round of a step, or say that a round that is there is part of it."""
    step = checked_step(text)
    with study.reading():  # nothing is made for a study that is not there
        pass
    arguments = {
        "step": step,
        **wanted.arguments(),
        **({"round": round_name} if round_name else {}),
    }
    run = provenance.begin("annotation screen", arguments)
    with study.writing() as writer:
        if round_name is not None:
            return _register(writer, step, round_name, wanted, run)
        return _plan(writer, study, step, wanted, run)


def _plan(writer: Writer, study: Study, step: str, wanted: Wanted, run: Run) -> Screened:
    _require_include(study)
    came = _came_to(writer, step, wanted, run)
    ready = where_holds(writer, came.ready, wanted.where)
    if not ready:
        _refuse_if_stuck(writer, step, came)
        return _outcome(writer, step, came, left=len(came.ready))
    if not wanted.raters:
        raise StudyError("nobody is named who screens", "Name them: --rater ann --rater ben.")
    name = free_name(writer, f"screening-{option_of(step)}")
    outcome = plan(
        writer, study, name, ready, wanted, taxonomy=TAXONOMY, sample=came.sample, run=run,
        after=_pilot(writer, step),
    )  # fmt: skip
    _put(writer, name, step, run)
    taken = sum(each.items for each in outcome.rounds)
    return _outcome(writer, step, came, planned=outcome, left=len(came.ready) - taken)


def _came_to(writer: Writer, step: str, wanted: Wanted, run: Run) -> _Papers:
    """The papers that a step is to decide and that no round of it, or of a later one, has."""
    before = writer.value(
        "SELECT max_by(step, position) FROM store.screening WHERE position < ?",
        [position_of(step)],
    )
    if before is None:
        return _first(writer, step, wanted, run)
    rows = writer.rows(
        "SELECT artifact_id, decision FROM screening_decisions WHERE step = ? AND artifact_id "
        "NOT IN (SELECT artifact_id FROM screening_decisions WHERE position >= ?) "
        "ORDER BY artifact_id",
        [before, position_of(step)],
    )
    included = [row["artifact_id"] for row in rows if row["decision"] == "included"]
    sample = paper_sample(writer, wanted.seed, run)
    ready = in_order(writer, included, sample)
    found = _Papers(
        ready,
        sample,
        [row["artifact_id"] for row in rows if row["decision"] is None],
        sorted({*included} - {*ready}),
    )
    new = len(_unscreened(writer, sample))
    if new:
        first = standings(writer)[0].step
        found.remarks.append(
            f"{counted(new, 'paper')} not screened at all yet: annotation screen {option_of(first)}"
        )
    if found.missing:
        found.remarks.append(
            f"{counted(len(found.missing), 'paper')} included, and not in the study: "
            f"{', '.join(found.missing[:_MOST_SHOWN])}"
        )
    return found


def _first(writer: Writer, step: str, wanted: Wanted, run: Run) -> _Papers:
    """Where no step is before: all papers that the funnel let through."""
    sample = paper_sample(writer, wanted.seed, run)
    found = _Papers(_unscreened(writer, sample), sample)
    late = past_the_funnel(writer)
    if late:
        found.remarks.append(
            f"{counted(late, 'paper')} mined after the funnel ran: miner filter --again"
        )
    if step != "title" and not standings(writer):
        found.remarks.append(f"there is no step before: all papers are screened by {step}")
    return found


def _unscreened(reader: Reader, sample: str) -> list[str]:
    """Papers of the sample that are let through now and that no step has."""
    step = funnel_step(reader)
    rows = reader.rows(
        "SELECT s.artifact_id FROM store.sampled s SEMI JOIN candidates USING (artifact_id) "
        "WHERE s.sample = $1 "
        "AND s.artifact_id NOT IN (SELECT artifact_id FROM screening_decisions) "
        "AND ($2 IS NULL OR s.artifact_id IN (SELECT artifact_id FROM selected WHERE step = $2)) "
        "ORDER BY s.position",
        [sample, step],
    )
    return [row["artifact_id"] for row in rows]


def _refuse_if_stuck(reader: Reader, step: str, came: _Papers) -> None:
    """Where all that may come is undecided, its rounds must be settled first."""
    if came.ready or not came.waiting:
        return
    rounds = reader.rows(
        "SELECT DISTINCT unnest(rounds) AS round FROM screening_decisions WHERE decision IS NULL "
        "AND position < ? ORDER BY round",
        [position_of(step)],
    )
    first = typed(rounds[0]["round"])
    raise StudyError(
        f"no paper is ready for screening by {step}: {counted(len(came.waiting), 'paper')} of the "
        f"step before not decided ({', '.join(came.waiting[:_MOST_SHOWN])}"
        f"{' ...' if len(came.waiting) > _MOST_SHOWN else ''})",
        f"What raters agree on: annotation adjudicate {first} --settle. What they do not, or what "
        f"is final as ~unclear, is decided by people: annotation adjudicate {first} --to FILE, "
        "then --from FILE. See all rounds: annotation status",
    )


def _register(writer: Writer, step: str, round_name: str, wanted: Wanted, run: Run) -> Screened:
    """A round that was imported, or planned by other means, becomes part of a step."""
    if wanted != Wanted():
        raise StudyError(
            "--round names a round that is there", "Leave out --rater and all that plans a round."
        )
    of = find_round(writer, round_name)
    if of.taxonomy != TAXONOMY:
        raise StudyError(
            f"round {of.name!r} is labelled with {of.taxonomy}, not with {TAXONOMY}",
            f"Import the decisions anew: annotation import NAME FILE --taxonomy {TAXONOMY}",
        )
    there = writer.value("SELECT step FROM store.screening WHERE round = ?", [of.name])
    if there not in (None, step):
        raise StudyError(
            f"round {of.name!r} is part of screening by {there}", "A round is part of one step."
        )
    strange = writer.value(
        "SELECT count(DISTINCT artifact_id) FROM store.item WHERE round = ? AND artifact_id "
        "NOT IN (SELECT artifact_id FROM store.paper UNION ALL "
        "SELECT alias FROM store.alias SEMI JOIN store.paper USING (artifact_id))",
        [of.name],
    )
    remarks = [f"{counted(strange, 'item')} of it no paper of the study: miner papers --from FILE"]
    if there is None:
        provenance.record(writer, run, "ok")
        _put(writer, of.name, step, run)
    came = _Papers([], remarks=remarks if strange else [])
    return _outcome(writer, step, came, registered=of.name)


def _outcome(writer: Writer, step: str, came: _Papers, **fields: Any) -> Screened:
    planned: Outcome | None = fields.get("planned")
    then = next_command(writer, planned.rounds[0].round.name) if planned else next_step(writer)
    return Screened(
        step,
        waiting=tuple(came.waiting),
        remarks=tuple(came.remarks),
        standing=tuple(standings(writer)),
        next=then,
        **fields,
    )


def _pilot(reader: Reader, step: str) -> str | None:
    """The last round of the step that has a gate: the next one waits for it."""
    found = reader.value(
        "SELECT round FROM store.round SEMI JOIN (FROM store.screening WHERE step = ?) "
        "USING (round) WHERE threshold IS NOT NULL ORDER BY created_at DESC, round DESC LIMIT 1",
        [step],
    )
    return None if found is None else str(found)


def _put(writer: Writer, round_name: str, step: str, run: Run) -> None:
    writer.execute(
        "INSERT INTO store.screening VALUES (?, ?, ?, ?)",
        [round_name, step, position_of(step), run.run_id],
    )


def _require_include(study: Study) -> None:
    """An own taxonomy of reasons must have the code that is no reason."""
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    taxonomy = TaxonomyLibrary(study.directory).taxonomy(TAXONOMY)
    if INCLUDE not in {node.code for node in taxonomy.selectable}:
        raise StudyError(
            f"{taxonomy.path} has no code {INCLUDE!r}",
            "All other codes are reasons against a paper: add it, and give the file a new version.",
        )
