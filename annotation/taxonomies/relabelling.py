"""The labels that a changed taxonomy leaves undecided, and the answers that decide them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from faultatlas.annotation.labels import SPECIAL, Answer, Appended, append
from faultatlas.annotation.ratings import alone
from faultatlas.annotation.taxonomies.outcomes import Followed, Said, current_answers, follow
from faultatlas.annotation.taxonomies.versions import Versions
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Column, Table
from faultatlas.data.taxonomy import Taxonomy
from faultatlas.data.taxonomy_changes import decided, version_key

if TYPE_CHECKING:
    from faultatlas.annotation.labels import Stage
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Writer


NONE = "-"  # the choice that a label ends, or that an answer is only its other codes


@dataclass(frozen=True)
class Waiting:
    """A code of an answer that has to be given again, with what it may be now."""

    said: Said
    version: str  # the wanted one
    code: str
    choices: tuple[str, ...]  # none: any code of the version
    carried: tuple[str, ...]  # what the other codes of the answer have become


def migrated_version(reader: Reader, taxonomy: str) -> str | None:
    """The highest version that the study has migrated a taxonomy to; None if to none."""
    rows = reader.rows(
        "SELECT DISTINCT to_version FROM store.taxonomy_change WHERE taxonomy = ?", [taxonomy]
    )
    return max((row["to_version"] for row in rows), key=version_key, default=None)


def relabel_queue(reader: Reader, of: Round, version: str | None = None) -> list[Waiting]:
    """What raters of a round have to label again, in the order of its items.

    Without a version it is the one that was migrated to; of a taxonomy that was not, nothing
    waits. An answer in that version takes the item out of the queue.
    """
    wanted = version or migrated_version(reader, of.taxonomy)
    if wanted is None:
        return []
    versions = Versions.stored(reader, of.taxonomy)
    answers = current_answers(reader, of.taxonomy, of.name)
    return waiting(follow(versions, answers, wanted), versions.taxonomy(wanted))


def waiting(followed: Iterable[Followed], wanted: Taxonomy) -> list[Waiting]:
    """Those of the labels that wait, with their choices in the order of the taxonomy."""
    answers: dict[str, list[Followed]] = {}
    for each in followed:
        answers.setdefault(each.said.answer_id, []).append(each)
    order = {node.code: position for position, node in enumerate(wanted.nodes)}
    found = []
    for labels in answers.values():
        carried = sorted(
            code
            for each in labels
            if each.outcome == "carried"
            for code in decided(each.alternatives) or ()
        )
        for each in labels:
            # What was said in a later version is only seen in this one, not given again.
            if each.outcome == "waiting" and is_later(wanted.version, each.said.version):
                led = [code or NONE for code in each.alternatives or ()]
                choices = tuple(sorted(led, key=lambda code: (order.get(code, len(order)), code)))
                found.append(Waiting(each.said, wanted.version, each.code, choices, (*carried,)))
    return found


def is_later(version: str, than: str) -> bool:
    """Whether one version comes after another."""
    return version_key(version) > version_key(than)


def give(
    writer: Writer,
    of: Round,
    decisions: Mapping[tuple[str, str], tuple[Sequence[str], str]],
    run: Run,
) -> Appended:
    """Store what was decided: (answer, old code) to the new codes and where they stand.

    The other codes of an answer are carried, and so is what was noted with it. An answer of which
    not every waiting code is decided still waits. The run must have been recorded.
    """
    queue = relabel_queue(writer, of)
    open_codes: dict[str, list[Waiting]] = {}
    for each in queue:
        open_codes.setdefault(each.said.answer_id, []).append(each)
    wanted = {answer for answer, _code in decisions}
    noted = {
        row.pop("answer_id"): row
        for row in writer.rows(
            "SELECT answer_id, confidence, comment, proposed FROM store.answer WHERE round = ?",
            [of.name],
        )
    }
    answers = []
    for answer_id in [answer for answer in open_codes if answer in wanted]:
        entries = open_codes[answer_id]
        if any((answer_id, entry.code) not in decisions for entry in entries):
            continue
        given = {code for entry in entries for code in decisions[answer_id, entry.code][0]}
        said, place = entries[0].said, decisions[answer_id, entries[0].code][1]
        codes = alone(given | {*entries[0].carried})
        if given - codes:
            raise StudyError(
                f"{place}: {', '.join(sorted(given - codes))} stands alone, but {said.item_id} of "
                f"{said.rater} is {', '.join(sorted(codes))} as well",
                f"Fill in {NONE} where a code is to be left out. Nothing was stored.",
            )
        answers.append(
            Answer(said.item_id, said.rater, tuple(sorted(codes)), entries[0].version, place,
                   cast("Stage", said.stage), **noted[answer_id], labelled_at=run.started_at)
        )  # fmt: skip
    return append(writer, of.name, answers, run, may_end=True)


def checked(codes: Sequence[str], entry: Waiting, taxonomy: Taxonomy, *, single: bool) -> list[str]:
    """The codes that somebody chose for a waiting label; others than its choices are refused.

    None are chosen with `-`, where that is a choice or the answer has other codes.
    """
    chosen = {node.code for node in taxonomy.selectable}
    allowed = entry.choices or tuple(chosen)
    if list(codes) == [NONE] and (NONE in entry.choices or entry.carried):
        return []
    found = []
    for text in codes:
        code = text if text in SPECIAL else taxonomy.find(text)
        if code is None:
            raise StudyError(f"{text!r} is no code of {taxonomy.name} {taxonomy.version}")
        if code not in SPECIAL and code not in allowed:
            raise StudyError(
                f"{code} is not among the choices for {entry.code}: {', '.join(entry.choices)}"
                if entry.choices
                else f"{code} is a category: a leaf is wanted"
            )
        found.append(code)
    mixed = [code for code in found if code in SPECIAL]
    if mixed and len(found) > 1:
        raise StudyError(f"{mixed[0]} stands alone")
    if single and len(found) > 1:
        raise StudyError(f"{'; '.join(found)}: one code is wanted")
    return found


def queue_document(of: Round, queue: Sequence[Waiting]) -> dict[str, Any]:
    """The queue as plain values."""
    return {
        "round": of.name,
        "taxonomy": of.taxonomy,
        "to_version": queue[0].version if queue else None,
        "left": len(queue),
        "labels": [
            {"item": each.said.item_id, "rater": each.said.rater, "stage": each.said.stage,
             "code": each.code, "choices": list(each.choices)}
            for each in queue
        ],
    }  # fmt: skip


def queue_table(of: Round, queue: Sequence[Waiting]) -> Table:
    """The queue for a person: labels of each rater and code."""
    columns = (
        Column("rater", "Rater"),
        Column("stage", "Stage"),
        Column("code", "Code", "code"),
        Column("choices", "Is now one of"),
        Column("count", "Left", "count"),
    )
    counts = Counter(
        (each.said.rater, each.said.stage, each.code, ", ".join(each.choices) or "any code")
        for each in queue
    )
    rows = tuple((*key, count) for key, count in sorted(counts.items()))
    version = f" in {of.taxonomy} {queue[0].version}" if queue else ""
    return Table("relabel", f"{len(queue):,} labels to give again{version}", columns, rows)
