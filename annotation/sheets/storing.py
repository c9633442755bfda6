"""Stores what sheets say in a round: items, answers and final labels, each appended once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from annotation.labels import Answer, Appended, Stage, append
from annotation.rounds import Round, find_round, put_items, put_raters, put_round
from annotation.settling.settlements import Decision, SettledBy, settle
from annotation.sheets.importing import Sheets
from data import provenance
from data.errors import StudyError

if TYPE_CHECKING:
    from data.provenance import Run
    from data.settings import Settings
    from data.store import Reader, Study, Writer
    from data.taxonomy import Taxonomy

RULE = "as the sheet says"
# How a final column came about, by the stage of the sheet it is in.
_SETTLED_BY: dict[Stage, SettledBy] = {
    "independent": "imported",
    "negotiated": "negotiated",
    "adjudicated": "adjudicated",
}


@dataclass(frozen=True)
class Stored:
    """What an import did."""

    answers: Appended
    new_items: int
    new_finals: int
    known_finals: int
    new_raters: tuple[str, ...]  # of a round that was there


def store_sheets(
    study: Study,
    round_name: str,
    taxonomy: Taxonomy,
    sheets: Sheets,
    *,
    settings: Settings,
    run: Run,
) -> Stored:
    """Append to a round, which is made if it is new. Only a run that changes something is kept."""
    with study.writing() as writer:
        of = _round(writer, round_name)
        if of is None:
            made = Round(
                round_name, "imported", taxonomy.name, taxonomy.version, taxonomy.choice,
                tuple(sheets.raters), statistic=settings.statistic, threshold=settings.threshold,
            )  # fmt: skip
            put_round(writer, made, taxonomy, run)
            new_raters: tuple[str, ...] = ()
        else:
            _check(writer, of, taxonomy, sheets)
            new_raters = tuple(rater for rater in sheets.raters if rater not in of.raters)
            put_raters(writer, round_name, new_raters, run)
        new_items = put_items(writer, round_name, sheets.items.values(), run)
        answers = append(
            writer, round_name, _with_notes(writer, round_name, sheets.answers.values()), run
        )
        settled = settle(
            writer,
            round_name,
            [
                Decision(
                    item, said.codes, _SETTLED_BY[sheets.stage], RULE, taxonomy.version,
                    comment=said.comment or said.proposed,
                )
                for item, said in sheets.finals.items()
            ],
            run,
            may_change=False,
        )  # fmt: skip
        if of is None or new_raters or new_items or answers.new or answers.changed or settled.new:
            provenance.record(writer, run, "ok")
    return Stored(answers, new_items, settled.new, settled.known, new_raters)


def _round(reader: Reader | Writer, name: str) -> Round | None:
    if reader.value("SELECT 1 FROM store.round WHERE round = ?", [name]) is None:
        return None
    return find_round(reader, name)


def _check(writer: Writer, of: Round, taxonomy: Taxonomy, sheets: Sheets) -> None:
    if of.taxonomy != taxonomy.name:
        raise StudyError(
            f"round {of.name!r} is labelled with {of.taxonomy}, not with {taxonomy.name}",
            "Choose another round name. Nothing was stored.",
        )
    if of.origin == "imported":
        return
    there = {
        row["item_id"]
        for row in writer.rows("SELECT item_id FROM store.item WHERE round = ?", [of.name])
    }
    strange = [item for item in sheets.items if item not in there]
    if strange:
        raise StudyError(
            f"{strange[0]} ({sheets.items[strange[0]].place}) is no item of round {of.name!r}"
            + (f", and {len(strange) - 1:,} more are not" if len(strange) > 1 else ""),
            "The items of a round that was planned here are fixed. Nothing was stored.",
        )


def _with_notes(writer: Writer, round_name: str, answers: Iterable[Answer]) -> list[Answer]:
    """Answers that a sheet of codes repeats keep what was noted with them elsewhere."""
    rows = writer.rows(
        "SELECT item_id, rater, stage, taxonomy_version, codes, confidence, comment, proposed "
        "FROM store.answer WHERE round = ? AND answer_id NOT IN "
        "(SELECT supersedes FROM store.answer WHERE supersedes IS NOT NULL)",
        [round_name],
    )
    there = {
        (row["item_id"], row["rater"], row["stage"], row["taxonomy_version"]): row for row in rows
    }
    found = []
    for answer in answers:
        row = there.get((answer.item_id, answer.rater, answer.stage, answer.taxonomy_version))
        bare = answer.confidence is None and not answer.comment and not answer.proposed
        if row and bare and sorted(row["codes"]) == sorted(answer.codes):
            notes = {name: row[name] for name in ("confidence", "comment", "proposed")}
            found.append(replace(answer, **notes))
        else:
            found.append(answer)
    return found
