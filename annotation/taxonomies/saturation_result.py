"""A saturation curve as a result: table, figure and claims, with the rule that ends labelling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.result_names import result_name
from faultatlas.annotation.rows_behind import labels_or_final
from faultatlas.annotation.taxonomies.saturation import curve, rounds_of
from faultatlas.data.old.results import Claim, Column, Figure, Result, Series, Table, rows_of

if TYPE_CHECKING:
    from faultatlas.annotation.rounds import Round
    from faultatlas.annotation.taxonomies.saturation import Batch, Curve
    from faultatlas.data.study import Study

ANALYSIS = "saturation"


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result with these parameters."""
    size = None if parameters["batch"] == "round" else parameters["batch"]
    with study.reading() as reader:
        rounds = rounds_of(reader, parameters["rounds"], "")
        found = curve(reader, study.directory, rounds, size)
    return saturation_result(found, rounds, size=size, quiet=parameters["quiet"])


def saturation_result(
    found: Curve, rounds: Sequence[Round], *, size: int | None, quiet: int
) -> Result:
    """The curve as a result; `quiet` is how many batches without anything new are enough."""
    last, taxonomy = found.batches[-1], found.taxonomy
    possible = len(taxonomy.selectable)
    parameters: dict[str, Any] = {
        "rounds": [each.name for each in rounds], "batch": size or "round", "quiet": quiet
    }  # fmt: skip
    name = result_name(ANALYSIS, parameters["rounds"], {"batch": size} if size else {})
    query = f"{ANALYSIS}(rounds={'+'.join(parameters['rounds'])}, batch={size or 'round'})"
    over = f"{len(rounds):,} rounds" if len(rounds) > 1 else f"round {rounds[0].name}"
    title = f"Saturation of {taxonomy.name} {taxonomy.version} over {over}"
    is_saturated = found.quiet >= quiet
    rows = labels_or_final(parameters["rounds"])
    return Result(
        analysis=ANALYSIS,
        name=name,
        title=title,
        parameters=parameters,
        summary=_summary(found, quiet=quiet),
        claims=(
            Claim(f"{name}.codes", f"Codes of {taxonomy.name} that were given", float(last.codes),
                  "codes", f"{query}: codes.seen", count=last.codes, total=possible,
                  rows_query=rows),
            Claim(f"{name}.quiet", "Batches at the end that brought no new code",
                  float(found.quiet), "batches", f"{query}: quiet_batches", count=found.quiet,
                  total=sum(batch.is_full for batch in found.batches), rows_query=rows),
            Claim(f"{name}.next", "Chance that the next code of an item is one not seen yet",
                  found.chance, "percent", f"{query}: next_is_new.percent", count=found.once,
                  total=found.draws, method="Good-Turing", rows_query=rows),
        ),
        tables=(_table(found.batches),),
        figures=(_figure(found.batches, title),),
        notes=_notes(found, f"{size:,} items" if size else "one round"),
        sources=(taxonomy.source,),
        document={
            "taxonomy": taxonomy.name,
            "taxonomy_version": taxonomy.version,
            "batches": [
                {**vars(batch), "new_codes": list(batch.new_codes),
                 "new_proposals": list(batch.new_proposals)}
                for batch in found.batches
            ],
            "codes": {"seen": last.codes, "possible": possible},
            "proposals": last.proposals,
            "quiet_batches": found.quiet,
            "saturated": is_saturated,
            "undecided": found.undecided,
            "unlabelled": found.unlabelled,
            "next_is_new": {"percent": found.chance, "once": found.once, "draws": found.draws},
        },
    )  # fmt: skip


def _summary(found: Curve, *, quiet: int) -> tuple[str, ...]:
    last = found.batches[-1]
    new = len(last.new_codes) + len(last.new_proposals)
    brought = (
        f"the last {_batches(found.quiet, 'full ')} brought nothing new"
        if found.quiet
        else f"the last batch brought {new:,} new"
        if new
        else "the last batch is not full yet"
    )
    return (
        (
            f"{last.codes:,} of {len(found.taxonomy.selectable):,} codes were given and "
            f"{last.proposals:,} new ones proposed, in {_batches(len(found.batches))}."
        ),
        (
            f"Saturation is {'reached' if found.quiet >= quiet else 'not reached'}: {brought}; "
            f"the rule asks for {_batches(quiet)} without a new code."
        ),
        (
            "The next code of an item is one that nobody has given yet with a chance of "
            f"{found.chance:.1f} %."
        ),
    )


def _batches(count: int, which: str = "") -> str:
    return f"1 {which}batch" if count == 1 else f"{count:,} {which}batches"


def _notes(found: Curve, batch: str) -> tuple[str, ...]:
    notes = [
        (
            f"Labels of the independent stage, as codes of version {found.taxonomy.version}; a "
            f"batch is {batch}. Of a round that has final labels only, those. Answers that are no "
            "code are left out; proposed codes count."
        ),
        (
            "The chance is that of Good and Turing: codes and proposals that only one item has, "
            "among the codes of all items, each counted once for an item, however many raters "
            "gave it. It takes items for independent draws."
        ),
    ]
    if not all(batch.is_full for batch in found.batches):
        notes.append("A batch that is not full yet does not count as one without a new code.")
    if found.unlabelled:
        notes.append(f"{found.unlabelled:,} items have no answer yet and are left out.")
    if found.undecided:
        notes.append(f"{found.undecided:,} labels wait to be given again and are left out.")
    return tuple(notes)


def _table(batches: Sequence[Batch]) -> Table:
    columns = (
        Column("batch", "Batch"),
        Column("items", "Items", "count"),
        Column("labels", "Labels", "count"),
        Column("new", "New codes", "count"),
        Column("new_proposals", "New proposals", "count"),
        Column("codes", "Codes so far", "count"),
        Column("proposals", "Proposals so far", "count"),
        Column("which", "Which", aside=True),
    )
    rows = [
        {
            "batch": batch.name, "items": batch.items, "labels": batch.labels,
            "new": len(batch.new_codes), "new_proposals": len(batch.new_proposals),
            "codes": batch.codes, "proposals": batch.proposals,
            "which": ", ".join((*batch.new_codes, *batch.new_proposals)) or None,
        }
        for batch in batches
    ]  # fmt: skip
    return Table("batches", "New codes in each batch", columns, rows_of(columns, rows))


def _figure(batches: Sequence[Batch], title: str) -> Figure:
    last = batches[-1]
    new = [len(batch.new_codes) + len(batch.new_proposals) for batch in batches]
    return Figure(
        name="saturation",
        title=title,
        kind="trend",
        description=f"A curve over {len(batches)} batches. After the last, {last.codes} codes and "
        f"{last.proposals} proposals were seen; it added {new[-1]}.",
        categories=tuple(batch.name for batch in batches),
        series=(
            Series("seen so far", tuple(batch.codes + batch.proposals for batch in batches)),
            Series("new in the batch", tuple(new)),
        ),
        unit="codes",
    )
