"""What `annotation adjudicate` does: settle what can be settled, show what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.labels import Answer, append
from faultatlas.annotation.rounds import add_rater, checked_name
from faultatlas.annotation.settling import queue
from faultatlas.annotation.settling.discussion import Outcomes, read_outcomes, write_template
from faultatlas.annotation.settling.rules import (
    DISCUSSED,
    REASONS,
    SINGLE,
    UNLABELLED,
    Proposals,
    Rules,
    open_items,
    propose,
)
from faultatlas.annotation.settling.settlements import Decision, Settled, settle
from faultatlas.annotation.settling.situation import Situation, read_situation
from faultatlas.annotation.typed import typed
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Study, Writer
    from faultatlas.report.old.console import Output

NOTED_BY = "discussion"  # who notes the outcome of a discussion in Label Studio


@dataclass(frozen=True)
class Asked:
    """What the options of the command say."""

    round: str
    version: str | None = None
    settle: bool = False
    majority: bool = False
    single: bool = False
    third: str | None = None
    source: Path | None = None  # a filled-in sheet
    target: Path | None = None  # a sheet to be filled in
    push: bool = False
    url: str | None = None
    limit: int = 20

    def __post_init__(self) -> None:
        if self.target and (self.source or self.push or self.changes):
            raise StudyError(
                "--to only writes the sheet", "Settle in another call, before or after it."
            )
        if self.push and self.source:
            raise StudyError(
                "--push and --from exclude each other", "First --from, then --push what is left."
            )
        if self.url and not self.push:
            raise StudyError("--url names the server that --push sends to", "Add --push.")
        if self.third is not None:
            checked_name(self.third, "rater")

    @property
    def changes(self) -> bool:
        """Whether something is to be settled."""
        asked = self.settle or self.majority or self.single or self.source
        return bool(asked or (self.third and not self.push))

    @property
    def rules(self) -> Rules:
        """The rules that were asked for."""
        return Rules(self.majority, self.single, self.third)

    @property
    def arguments(self) -> dict[str, Any]:
        """As they are stored with the run."""
        given = {
            "round": self.round, "version": self.version, "settle": self.settle,
            "rule": "majority" if self.majority else None, "single": self.single,
            "third": self.third, "from": str(self.source) if self.source else None,
        }  # fmt: skip
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True)
class Done:
    """What was settled now."""

    settled: Settled
    proposals: Proposals
    outcomes: Outcomes | None = None
    unkept: int = 0  # comments of rows that changed nothing


def adjudicate(study: Study, output: Output, asked: Asked) -> None:
    """Settle if that is asked for, then show what is open; nothing else is changed."""
    done = None
    if asked.changes:
        run = provenance.begin("annotation adjudicate", asked.arguments)
        with study.writing() as writer:
            done = _settle(writer, study.directory, asked, run)
            situation = read_situation(writer, study.directory, asked.round, asked.version)
    else:
        with study.reading() as reader:
            situation = read_situation(reader, study.directory, asked.round, asked.version)
    cases = queue.queue_of(situation)
    document = _document(situation, cases, done, asked.limit)
    if asked.target:
        write_template(cases, situation, asked.target)
        document["file"] = str(asked.target)
    if asked.push:
        document["push"] = _push(study, output, asked, situation, cases)
    output.document(document)
    output.show(*_lines(situation, cases, done))
    if asked.target:
        output.show(f"{counted(len(cases), 'item')} written to {asked.target}")
    elif cases and asked.limit:
        output.show(*queue.queue_lines(cases, situation.taxonomy, asked.limit))
        if output.verbose:
            output.show("", queue.RULE)
    if asked.push and not document["push"]["complete"]:
        problems = [each for row in document["push"]["projects"] for each in row["problems"]]
        raise StudyError("; ".join(problems), "Run this again when it is mended.")


def _settle(writer: Writer, directory: Path, asked: Asked, run: Run) -> Done:
    situation = read_situation(writer, directory, asked.round, asked.version)
    outcomes = read_outcomes(asked.source, situation) if asked.source else None
    by_hand: list[Decision] = []
    answered = 0
    if outcomes and asked.third:
        answered = _third_says(writer, situation, asked.third, outcomes, run)
        situation = read_situation(writer, directory, asked.round, asked.version)
    elif outcomes:
        by_hand = [
            Decision(
                each.item_id, each.codes, "negotiated", DISCUSSED, situation.version,
                comment=each.comment,
            )
            for each in outcomes.settled
        ]  # fmt: skip
    _require_third(situation, asked)
    proposals = propose(situation, asked.rules)
    spoken = {decision.item_id for decision in by_hand}
    kept = _as_before(situation, by_hand, proposals)
    unkept = sum(
        bool(said.comment) and said.comment != each.comment
        for said, each in zip(by_hand, kept, strict=True)
    )
    derived = [each for each in proposals.decisions if each.item_id not in spoken]
    proposals.reopened = sum(not each.codes for each in derived)
    decisions = [replace(each, settled_at=run.started_at) for each in (*kept, *derived)]
    settled = settle(writer, asked.round, decisions, run)
    if answered or settled.new or settled.changed:
        provenance.record(writer, run, "ok")
    return Done(settled, proposals, outcomes, unkept)


def _as_before(
    situation: Situation, by_hand: list[Decision], proposals: Proposals
) -> list[Decision]:
    """What a discussion decided; an item that has these codes already keeps its decision.

    Unless the labels say something else by now: then it was the discussion that kept them. What
    an earlier discussion decided may get another comment.
    """
    derived = {each.item_id: sorted(each.codes) for each in proposals.decisions}
    found = []
    for decision in by_hand:
        there = situation.settlements.get(decision.item_id)
        codes = sorted(decision.codes)
        keeps = (
            there is not None
            and (there.decision.rule != DISCUSSED or not decision.comment)
            and there.decision.taxonomy_version == decision.taxonomy_version
            and sorted(there.decision.codes) == codes == derived.get(decision.item_id, codes)
        )
        found.append(there.decision if there and keeps else decision)
    return found


def _third_says(
    writer: Writer, situation: Situation, rater: str, outcomes: Outcomes, run: Run
) -> int:
    """Keep what the third rater decided as labels of the last stage; how many are new."""
    add_rater(writer, rater, run)
    answers = [
        Answer(
            each.item_id, rater, each.codes, situation.version, each.place, "adjudicated",
            comment=each.comment,
        )
        for each in outcomes.settled
    ]  # fmt: skip
    done = append(writer, situation.round.name, answers, run)
    return done.new + done.changed


def _require_third(situation: Situation, asked: Asked) -> None:
    third, name = asked.third, typed(asked.round)
    if third is None or asked.source:
        return
    if not any(rater == third for _item, rater in situation.said["adjudicated"].given):
        raise StudyError(
            f"{third} has decided nothing in round {asked.round}",
            f"With a sheet: annotation adjudicate {name} --to FILE, then --third {typed(third)} "
            f"--from FILE; with Label Studio: --third {typed(third)} --push, then annotation pull "
            f"{name}",
        )


def _push(
    study: Study, output: Output, asked: Asked, situation: Situation, cases: list[queue.Case]
) -> dict[str, Any]:
    """Send what is open to a third rater, or to those who discuss it."""
    from faultatlas.annotation.bridge.commands import push_stage
    from faultatlas.annotation.bridge.page.tasks import Said

    rater = asked.third or NOTED_BY
    run = provenance.begin("annotation adjudicate", {"round": asked.round, "push": rater})
    with study.writing() as writer:
        if add_rater(writer, rater, run):
            provenance.record(writer, run, "ok")
    said = {
        case.about.item_id: [
            Said(tuple(sorted(voice.codes)), voice.confidence, voice.comment, voice.proposed)
            for _name, voice in case.voices
        ]
        for case in cases
    }
    return push_stage(
        study,
        situation.round.name,
        output,
        stage="adjudicated" if asked.third else "negotiated",
        rater=rater,
        said=said,
        version=situation.version,
        url=asked.url,
    )


def _settled_by(situation: Situation) -> Counter[str]:
    return Counter(situation.settlements[item].decision.settled_by for item in situation.finals)


def _document(
    situation: Situation, cases: list[queue.Case], done: Done | None, limit: int
) -> dict[str, Any]:
    why = Counter(open_items(situation).values())
    settled = _settled_by(situation)
    document: dict[str, Any] = {
        "round": situation.round.name,
        "taxonomy": situation.taxonomy.name,
        "taxonomy_version": situation.version,
        "items": len(situation.items),
        "settled": dict(sorted(settled.items())),
        "open": {reason: why[reason] for reason in REASONS if why[reason]},
        "ready": len(situation.items) - settled.total() - why.total(),
        "waiting": len(cases),
        "difficulty": queue.RULE,
        "queue": queue.queue_document(cases, situation.taxonomy, limit),
    }
    if done:
        document["now"] = {
            "new": done.settled.new,
            "changed": done.settled.changed - done.proposals.reopened,
            "known": done.settled.known,
            "reopened": done.proposals.reopened,
            "kept_by_hand": done.proposals.kept.total(),
        }
        if done.outcomes:
            document["sheet"] = {
                "settled": len(done.outcomes.settled),
                "without_code": done.outcomes.empty,
                "new_code_needed": done.outcomes.waiting,
            }
    return document


def _version(situation: Situation) -> str:
    """The option that names the version, where it is not that of the round."""
    is_usual = situation.version == situation.round.taxonomy_version
    return "" if is_usual else f" --version {situation.version}"


def _lines(situation: Situation, cases: list[queue.Case], done: Done | None) -> Iterable[str]:
    settled = _settled_by(situation)
    why = Counter(open_items(situation).values())
    ready = len(situation.items) - settled.total() - why.total()
    name = f"{typed(situation.round.name)}{_version(situation)}"
    if done:
        now = done.settled
        yield (
            f"Settled now: {now.new:,} new, {now.changed - done.proposals.reopened:,} changed, "
            f"{now.known:,} as before, {done.proposals.reopened:,} open again"
        )
        if kept := done.proposals.kept.total():
            yield f"{counted(kept, 'final label')} of sheets or discussions differ from the labels"
        if done.unkept:
            said = counted(done.unkept, "comment")
            yield f"{said} not kept: of rows whose final label was there before the discussion"
        if done.outcomes and done.outcomes.waiting:
            yield f"{counted(done.outcomes.waiting, 'row')} of the sheet: a code must be made first"
    yield (
        f"Round {situation.round.name}: {settled.total():,} of "
        f"{counted(len(situation.items), 'item')} settled"
        + "".join(f", {count:,} {by}" for by, count in sorted(settled.items()))
    )
    if why:
        yield "Open: " + ", ".join(f"{why[each]:,} {each}" for each in REASONS if why[each])
    if ready:
        yield (
            f"{counted(ready, 'item')} can be settled as all raters said the same: "
            f"annotation adjudicate {name} --settle"
        )
    if why[SINGLE]:
        has = "has" if why[SINGLE] == 1 else "have"
        yield (
            f"{counted(why[SINGLE], 'item')} {has} one rating; settle them by it: "
            f"annotation adjudicate {name} --single"
        )
    if not cases and not why:
        yield "Nothing waits for people."
    elif not cases:
        yield "There is nothing to discuss." + (
            f" Labels are missing: annotation pull {name}, or annotation import {name} FILE."
            if why[UNLABELLED]
            else ""
        )
