"""`annotation suggest`: trains, judges, stores what is proposed, and says how good it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.result_names import result_name
from faultatlas.annotation.rounds import find_round
from faultatlas.annotation.rows_behind import labels_or_final
from faultatlas.annotation.suggesting import doubtful_table, quality_tables
from faultatlas.annotation.suggesting.examples import examples, rounds_with
from faultatlas.annotation.suggesting.model import judged
from faultatlas.annotation.suggesting.quality import doubts, quality
from faultatlas.annotation.suggesting.waiting import RULE, suggested
from faultatlas.annotation.taxonomies.versions import carrier
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.old.results import Result
from faultatlas.data.taxonomy_library import TaxonomyLibrary

if TYPE_CHECKING:
    from faultatlas.annotation.rounds import Round
    from faultatlas.annotation.suggesting.examples import Examples
    from faultatlas.annotation.suggesting.model import Judged
    from faultatlas.annotation.suggesting.quality import Quality
    from faultatlas.annotation.suggesting.waiting import Suggested
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Study, Writer

ANALYSIS = "suggest"


@dataclass(frozen=True)
class Suggestions:
    """What was found, before it is stored."""

    result: Result
    waiting: tuple[Suggested, ...]
    model: str


def suggest(
    study: Study, round_name: str, trained_on: Sequence[str], *, most: int, seed: int
) -> Suggestions:
    """Train on the labels so far; nothing is stored."""
    with study.reading() as reader:
        wanted = find_round(reader, round_name)
        taxonomy = TaxonomyLibrary(study.directory).taxonomy(wanted.taxonomy)
        for name in trained_on:
            if find_round(reader, name).taxonomy != wanted.taxonomy:
                raise StudyError(
                    f"round {name!r} was not labelled with {wanted.taxonomy}",
                    f"Rounds that were: {', '.join(rounds_with(reader, wanted.taxonomy))}.",
                )
        others = list(trained_on) or rounds_with(reader, wanted.taxonomy)
        carry = carrier(reader, study.directory, wanted.taxonomy, wanted.taxonomy_version)
        found = examples(reader, wanted, others, carry)
    if not found.labelled and found.without_text:
        raise StudyError(
            f"the texts of {found.without_text:,} items were never mined",
            "Fetch them: miner fetch --from SHEET, miner commits, miner posts",
        )
    model = judged(found.labelled, is_multiple=wanted.choice == "multiple", seed=seed)
    measured = quality(model)
    doubted = doubts(model)
    waiting = tuple(suggested(model, found.waiting, most))
    rounds = ", ".join(dict.fromkeys(example.round for example in model.examples))
    described = f"{model.way}; trained on {len(model.examples):,} items of {rounds}; seed {seed}"
    result = Result(
        analysis=ANALYSIS,
        name=result_name(ANALYSIS, [round_name]),
        title=f"What a model makes of the labels: round {round_name}",
        parameters={"round": round_name, "trained_on": others, "seed": seed, "most": most},
        summary=tuple(_summary(wanted, model, measured, len(doubted), len(waiting))),
        claims=quality_tables.claims(
            round_name,
            measured,
            labels_or_final(list(dict.fromkeys([round_name, *others])), with_text=True),
        ),
        tables=(
            quality_tables.codes_table(taxonomy, measured),
            doubtful_table.doubtful(doubted),
            doubtful_table.waiting(waiting),
        ),
        notes=tuple(_notes(described, model.rare, found)),
        document={
            "round": round_name,
            "examples": len(model.examples),
            "hits": vars(measured.hits),
            "baseline": {**vars(measured.baseline), "code": measured.baseline_code},
            "top_three": vars(measured.top_three),
            "calibration_error": measured.calibration_error,
            "rare": model.rare,
            "disputed": found.disputed,
            "undecided": found.undecided,
            "too_rare": model.beyond,
            "without_text": found.without_text,
            "doubtful": doubtful_table.doubtful(doubted).records(),
            "waiting": doubtful_table.waiting(waiting).records(),
        },
    )
    return Suggestions(result, waiting, described)


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result with these parameters; what is proposed to raters stays as it is."""
    return suggest(
        study,
        parameters["round"],
        parameters["trained_on"],
        most=parameters["most"],
        seed=parameters["seed"],
    ).result


def _summary(
    wanted: Round, model: Judged, measured: Quality, doubted: int, waiting: int
) -> Iterator[str]:
    hits, baseline = measured.hits, measured.baseline
    yield (
        f"Of {hits.total:,} labelled texts that it had not seen, the model gets "
        f"{'one of the codes of ' if model.is_multiple else ''}"
        f"{hits.percent:.1f} % right ({hits.low:.1f} to {hits.high:.1f}); always saying "
        f"{measured.baseline_code} would get {baseline.percent:.1f} %."
    )
    if model.beyond:
        yield (
            f"{model.beyond:,} of these texts have only codes that are too rare to learn: they "
            f"count as wrong. Of the others, {100 * hits.count / len(model.examples):.1f} % are "
            "right."
        )
    if (hits.low or 0) <= (baseline.percent or 0):
        yield _NO_BETTER
    yield f"{doubted:,} labels are doubtful; {waiting:,} items wait for a label: see them with -v."
    if not wanted.suggestions:
        yield "Raters do not see these proposals: the round was planned without --suggestions."


def _notes(described: str, rare: dict[str, int], found: Examples) -> Iterator[str]:
    yield f"The model: {described}."
    yield f"Order of what waits: {RULE}."
    yield "A doubtful label is one to look at again, not one that is wrong."
    if rare:
        left = ", ".join(f"{code} ({count})" for code, count in rare.items())
        yield f"Too rare to learn, never proposed: {left}."
    if found.disputed:
        yield f"{found.disputed:,} items whose raters are at odds were left out: settle them."
    if found.undecided:
        yield (
            f"{found.undecided:,} items were left out: what their final label is in this version "
            "of the taxonomy, nobody has said."
        )
    if found.without_text:
        yield f"{found.without_text:,} items were never mined and have no text."


_NO_BETTER = "That is no better than the most frequent code: do not use what it proposes."


def store(writer: Writer, found: Suggestions, round_name: str, run: Run) -> None:
    """Replace what was proposed for a round; the run must have been recorded."""
    import pyarrow as pa

    writer.execute("DELETE FROM store.suggestion WHERE round = ?", [round_name])
    rows = [
        (each.example.item_id, code, probability, position)
        for each in found.waiting
        for position, (code, probability) in enumerate(each.codes, 1)
    ]
    if rows:
        columns = list(zip(*rows, strict=True))
        arrow_rows.insert(
            writer,
            "store.suggestion",
            pa.table(
                {
                    "round": [round_name] * len(rows),
                    "item_id": columns[0],
                    "code": columns[1],
                    "probability": columns[2],
                    "position": columns[3],
                    "model": [found.model] * len(rows),
                    "run_id": [run.run_id] * len(rows),
                }
            ),
        )
