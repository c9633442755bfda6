"""Stores what sheets say in a round: items, answers and final labels, each appended once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.labels import HOLDS, Answer, Appended, Stage, append
from faultatlas.annotation.planning.gates import require_gate_at_first
from faultatlas.annotation.rounds import (
    Round,
    find_round,
    put_items,
    put_raters,
    put_round,
    put_taxonomy,
)
from faultatlas.annotation.settling.settlements import Decision, SettledBy, settle
from faultatlas.annotation.sheets.importing import Sheets
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.sheets import kept_text
from faultatlas.data.taxonomy_changes import version_key
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.settings import Settings
    from faultatlas.data.study import Reader, Study, Writer
    from faultatlas.data.taxonomy import Taxonomy

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
    alike: tuple[str, ...] = ()  # raters whose names differ in case only


def store_sheets(
    study: Study,
    round_name: str,
    taxonomy: Taxonomy,
    sheets: Sheets,
    *,
    settings: Settings,
    run: Run,
    corrections: bool = False,
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
            if "independent" in sheets.stages:
                require_gate_at_first(writer, of)
            new_raters = tuple(rater for rater in sheets.raters if rater not in of.raters)
            put_raters(writer, round_name, new_raters, run)
        texts = [put_taxonomy(writer, each, run) for each in (taxonomy, *sheets.versions.values())]
        new_items = put_items(writer, round_name, sheets.items.values(), run)
        answers = append(writer, round_name, _with_notes(writer, round_name, sheets), run)
        if of is not None and not corrections:
            _refuse_afterthoughts(writer, of, run)
        settled = settle(
            writer,
            round_name,
            [
                Decision(
                    item, said.codes, _SETTLED_BY[sheets.final_stages.get(item, sheets.stage)],
                    RULE, taxonomy.version, comment=said.comment or said.proposed,
                )
                for item, said in sheets.finals.items()
            ],
            run,
            may_change=False,
        )  # fmt: skip
        changed = (new_raters, new_items, answers.new, answers.changed, settled.new, any(texts))
        if of is None or any(changed):
            provenance.record(writer, run, "ok")
    alike = _alike({*sheets.raters, *(of.raters if of else ())})
    return Stored(answers, new_items, settled.new, settled.known, new_raters, alike)


def _refuse_afterthoughts(writer: Writer, of: Round, run: Run) -> None:
    """Independent labels that change after agreement was decided on are not independent."""
    if not writer.value(
        "SELECT 1 FROM store.gate WHERE round = ? AND stage = 'independent' LIMIT 1", [of.name]
    ):
        return
    changed = writer.value(
        "SELECT count(*) FROM store.answer WHERE round = ? AND run_id = ? "
        "AND stage = 'independent' AND supersedes IS NOT NULL AND taxonomy_version = ?",
        [of.name, run.run_id, of.taxonomy_version],
    )
    if changed:
        raise StudyError(
            f"{counted(changed, 'independent label')} would change after the gate of round "
            f"{of.name!r} was decided on them",
            "What was said after a discussion is negotiated: write negotiated in the column "
            "`stage`, or add --stage negotiated. Slips of the pen: --corrections. Nothing was "
            "stored.",
        )


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
    if of.choice != taxonomy.choice:
        raise StudyError(
            f"round {of.name!r} has a {of.choice} choice of codes; {taxonomy.path} says "
            f"{taxonomy.choice}",
            "Choose another round name. Nothing was stored.",
        )
    there = {
        row["item_id"]: row["stratum"]
        for row in writer.rows("SELECT item_id, stratum FROM store.item WHERE round = ?", [of.name])
    }
    for item_id, item in sheets.items.items():
        kept = there.get(item_id, item.stratum)
        if item.stratum and kept != item.stratum:
            raise StudyError(
                f"{item_id} has the stratum {kept!r} in round {of.name!r}; {item.place} says "
                f"{item.stratum!r}",
                "Items of a round keep theirs: leave --stratum out, or choose another round name. "
                "Nothing was stored.",
            )
    if of.origin == "imported":
        return
    strange = [item for item in sheets.items if item not in there]
    if strange:
        raise StudyError(
            f"{strange[0]} ({sheets.items[strange[0]].place}) is no item of round {of.name!r}"
            + (f", and {len(strange) - 1:,} more are not" if len(strange) > 1 else ""),
            "The items of a round that was planned here are fixed. Nothing was stored.",
        )


def _alike(raters: Iterable[str]) -> tuple[str, ...]:
    """Names that differ in case only: they may be one person."""
    groups: dict[str, list[str]] = {}
    for rater in sorted(raters):
        groups.setdefault(rater.casefold(), []).append(rater)
    return tuple(" and ".join(map(repr, group)) for group in groups.values() if len(group) > 1)


def _with_notes(writer: Writer, round_name: str, sheets: Sheets) -> list[Answer]:
    """Answers that a sheet repeats keep what was noted with them elsewhere."""
    rows = writer.rows(
        "SELECT item_id, rater, stage, taxonomy_version, codes, confidence, comment, proposed "
        f"FROM store.answer WHERE round = ? AND {HOLDS}",
        [round_name],
    )
    versions: dict[tuple[str, str, str], dict[str, dict[str, Any]]] = {}
    for each in sorted(rows, key=lambda one: version_key(one["taxonomy_version"])):
        key = (each["item_id"], each["rater"], each["stage"])
        versions.setdefault(key, {})[each["taxonomy_version"]] = each
    found = []
    for answer in sheets.answers.values():
        there = versions.get((answer.item_id, answer.rater, answer.stage), {})
        row: dict[str, Any] | None = there.get(answer.taxonomy_version)
        if row is None and there and sheets.repeats_study:
            row = [*there.values()][-1]  # what the export showed: the newest
        if row and sorted(row["codes"]) == sorted(answer.codes) and _adds_nothing(answer, row):
            names = ("confidence", "comment", "proposed", "taxonomy_version")
            found.append(replace(answer, **{name: row[name] for name in names}))
        else:
            found.append(answer)
    return found


def _adds_nothing(answer: Answer, row: Mapping[str, Any]) -> bool:
    """Whether an answer has no notes, or those that are there, as far as a sheet keeps them."""
    notes = {name: getattr(answer, name) for name in ("confidence", "comment", "proposed")}
    return not any(notes.values()) or all(
        kept_text(str(value or "")) == kept_text(str(row[name] or ""))
        for name, value in notes.items()
    )
