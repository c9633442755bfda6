"""Rounds and their progress for a reader."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.annotation.planning.planning import Outcome
from faultatlas.annotation.planning.progress import Progress
from faultatlas.data.old.results import Column, Table
from faultatlas.report.formatting import count, counted, minute, number, share


def planned_table(outcome: Outcome) -> Table:
    """Rounds as they were planned."""
    columns = (
        Column("round", "Round"),
        Column("items", "Items", "count"),
        Column("shared", "By all", "count"),
        Column("raters", "Raters"),
        Column("after", "After"),
        Column("gate", "Gate"),
    )
    rows = tuple(
        (
            each.round.name,
            each.items,
            each.shared,
            ", ".join(f"{rater} {count(items)}" for rater, items in each.of_raters.items()),
            each.round.after,
            gate_rule(each.round.statistic, each.round.threshold),
        )
        for each in outcome.rounds
    )
    return Table("rounds", "Rounds", columns, rows)


def gate_rule(statistic: str | None, threshold: float | None) -> str | None:
    """What was fixed beforehand."""
    if statistic is None:
        return None
    return statistic if threshold is None else f"{statistic} {number(threshold)}"


def planned_words(outcome: Outcome) -> list[str]:
    """What else there is to say."""
    lines = []
    if not outcome.is_new:
        lines.append("nothing was changed: it is as it was planned")
    if outcome.missing:
        shown = ", ".join(outcome.missing[:3])
        lines.append(
            f"{counted(len(outcome.missing), 'artifact')} of the sample left out, which the study "
            f"does not have any more: {shown}"
        )
    if outcome.left:
        lines.append(f"{count(outcome.left)} of the sample are left for later rounds")
    for each in outcome.rounds:
        if each.hold.state in ("open", "failed"):
            lines.append(f"{each.round.name} cannot begin yet: {each.hold.words}")
        elif each.hold.state == "despite":
            lines.append(f"{each.round.name} goes on in spite of the gate: {each.hold.words}")
    return [*lines, *outcome.remarks]


def status_table(rounds: Sequence[Progress]) -> Table:
    """All rounds."""
    columns = (
        Column("round", "Round"),
        Column("items", "Items", "count"),
        Column("labelled", "Labels", "interval"),
        Column("stage", "Stage"),
        Column("gate", "Gate"),
        Column("settled", "Final", "count"),
        Column("next", "Next"),
        Column("sample", "Sample", aside=True),
        Column("taxonomy", "Taxonomy", aside=True),
        Column("blindness", "Blindness", aside=True),
    )
    rows = tuple(
        (
            each.round.name,
            each.items,
            _of(each.labelled, each.assigned) + (f" +{count(each.extra)}" if each.extra else ""),
            each.stage,
            each.gate_words,
            each.settled,
            each.next or (f"after {each.round.after}" if each.waits else "done"),
            each.round.sample,
            f"{each.round.taxonomy} {each.round.taxonomy_version}",
            each.round.blindness,
        )
        for each in rounds
    )
    return Table("rounds", "Rounds", columns, rows)


def raters_table(of: Progress) -> Table:
    """The raters of a round."""
    columns = (
        Column("rater", "Rater"),
        Column("labelled", "Labelled", "interval"),
        Column("share", "Share", "interval"),
        Column("extra", "Not assigned", "count", aside=not of.extra),
        Column("negotiated", "Negotiated", "count"),
        Column("adjudicated", "Adjudicated", "count"),
        Column("last_at", "Last label"),
    )
    rows = tuple(
        (
            each.rater,
            _of(each.labelled, each.assigned),
            share(each.labelled, each.assigned or 0),
            each.extra,
            each.negotiated,
            each.adjudicated,
            minute(each.last_at) or None,
        )
        for each in of.raters
    )
    return Table("raters", f"Raters of {of.round.name}", columns, rows)


def _of(part: int, whole: int | None) -> str:
    return count(part) if whole is None else f"{count(part)}/{count(whole)}"
