"""Rounds of papers, planned as all others are: of what is left to screen, or to code."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.planning.next_items import NextItems
from faultatlas.annotation.planning.options import NO_ROUND, Options
from faultatlas.annotation.planning.planning import Outcome, plan_rounds
from faultatlas.annotation.planning.progress import progress
from faultatlas.annotation.rounds import Item, round_names
from faultatlas.annotation.samples.definition import DEFAULT_SEED
from faultatlas.data.database import STATEMENT_ERRORS
from faultatlas.data.queries import condition_problem, condition_query, refuse_odd_condition
from faultatlas.data.sampling import drawn

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line, of any round of papers."""

    raters: tuple[str, ...] = ()
    overlap: float | None = None
    seed: int | None = None
    where: str | None = None
    size: int | None = None
    gate: float | None = None
    statistic: str | None = None

    def arguments(self) -> dict[str, Any]:
        """What was given."""
        given = {key: value for key, value in vars(self).items() if value not in (None, ())}
        return {**given, **({"raters": list(self.raters)} if self.raters else {})}


def plan(
    writer: Writer,
    study: Study,
    name: str,
    papers: Sequence[str],
    wanted: Wanted,
    *,
    taxonomy: str,
    sample: str,
    run: Run,
    after: str | None = None,
    choice: str = "",
) -> Outcome:
    """Plan one round of these papers, in their order."""
    options = Options(
        name=name,
        sample=sample,
        taxonomy=taxonomy,
        raters=wanted.raters,
        size=wanted.size,
        overlap=wanted.overlap,
        gate=wanted.gate,
        statistic=wanted.statistic,
        after=after or NO_ROUND,
        seed=wanted.seed,
    ).checked()
    items = NextItems(tuple(Item(each, each) for each in papers), (), (), {})
    outcome = plan_rounds(writer, study, options, run, items=items, choice=choice)
    # A paper that is left is left for this step or taxonomy, which the caller says.
    return replace(outcome, left=0)


def free_name(reader: Reader, stem: str) -> str:
    """`stem`, or `stem-2`, `stem-3`, ... where rounds of that name are there."""
    taken = {*round_names(reader)}
    number = 1
    while (name := stem if number == 1 else f"{stem}-{number}") in taken:
        number += 1
    return name


def where_holds(reader: Reader, papers: Sequence[str], where: str | None) -> list[str]:
    """The papers for which a condition of the user holds."""
    if where is None:
        return list(papers)
    refuse_odd_condition(reader, "the papers", where)
    try:
        found = {row["artifact_id"] for row in reader.rows(condition_query(where))}
    except STATEMENT_ERRORS as error:
        raise condition_problem("the papers", str(error)) from error
    return [each for each in papers if each in found]


def in_order(reader: Reader, papers: Collection[str], sample: str) -> list[str]:
    """Papers that are there, as the sample has them; others behind, by chance as well."""
    wanted = list(papers)
    there = [
        row["artifact_id"]
        for row in reader.rows(
            "SELECT artifact_id FROM candidates LEFT JOIN "
            "(SELECT artifact_id, position FROM store.sampled WHERE sample = ?) "
            "USING (artifact_id) WHERE list_contains(?::VARCHAR[], artifact_id) "
            "ORDER BY position NULLS LAST, artifact_id",
            [sample, wanted],
        )
    ]
    sampled = {
        row["artifact_id"]
        for row in reader.rows("SELECT artifact_id FROM store.sampled WHERE sample = ?", [sample])
    }
    others = [each for each in there if each not in sampled]
    mixed = drawn(others, len(others), DEFAULT_SEED, sample)
    return [*(each for each in there if each in sampled), *mixed]


def next_command(reader: Reader, name: str) -> str:
    """What is to be done with a round."""
    return progress(reader, name)[0].next
