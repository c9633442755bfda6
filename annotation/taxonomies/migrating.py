"""Takes a study to another version of a taxonomy: what changed is recorded, labels stay.

Nothing is rewritten. The text of the version and its changes are stored, labels are carried
where they are read, and what the changes leave undecided is put down to be labelled again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.rounds import put_taxonomy
from faultatlas.annotation.taxonomies.outcomes import (
    OUTCOMES,
    Said,
    current_answers,
    current_decisions,
    follow,
)
from faultatlas.annotation.taxonomies.relabelling import (
    Waiting,
    is_later,
    migrated_version,
    waiting,
)
from faultatlas.annotation.taxonomies.versions import Versions
from faultatlas.annotation.typed import typed
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows
from faultatlas.data.old.results import Column, Table, rows_of
from faultatlas.data.taxonomy import Change, Revision
from faultatlas.data.taxonomy_changes import version_key
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Study, Writer


@dataclass(frozen=True)
class Migration:
    """What a migration does: to labels by round (`final` for decided items), and to the study."""

    taxonomy: str
    version: str
    from_versions: tuple[str, ...]
    counts: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    undecided_items: tuple[Said, ...] = ()
    revisions: tuple[Revision, ...] = ()  # not recorded yet

    def document(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "taxonomy": self.taxonomy,
            "from_versions": list(self.from_versions),
            "to_version": self.version,
            "rounds": [
                {"round": name, "labels": kind, **{each: counts[each] for each in OUTCOMES}}
                for (name, kind), counts in self.counts.items()
            ],
            "to_label_again": [
                {"round": each.said.round, "item": each.said.item_id, "rater": each.said.rater,
                 "stage": each.said.stage, "code": each.code, "choices": list(each.choices)}
                for each in self.waiting
            ],
            "undecided_final_labels": [
                {"round": each.round, "item": each.item_id, "codes": list(each.codes)}
                for each in self.undecided_items
            ],
        }  # fmt: skip

    def next_steps(self) -> list[str]:
        """What is left to do, in words."""
        rounds = list(dict.fromkeys(each.said.round for each in self.waiting))
        steps = [
            f"{counted(sum(each.said.round == name for each in self.waiting), 'label')} to give "
            f"again: annotation taxonomy relabel {typed(name)}"
            for name in rounds
        ]
        undecided = Counter(each.round for each in self.undecided_items)
        steps += (
            f"{counted(count, 'final label')} of {name} to be settled again: "
            f"annotation adjudicate {typed(name)} --version {self.version}"
            for name, count in sorted(undecided.items())
        )
        return steps

    def table(self) -> Table:
        """The outcomes of the labels of each round."""
        columns = (
            Column("round", "Round"),
            Column("labels", "Labels"),
            Column("carried", "Carried", "count"),
            Column("waiting", "To label again", "count"),
            Column("ended", "Ended", "count"),
            Column("answered", "Answered already", "count"),
        )
        title = f"Labels of {', '.join(self.from_versions) or 'no other version'} in {self.version}"
        return Table("migration", title, columns, rows_of(columns, self.document()["rounds"]))


def plan(reader: Reader, directory: Path, name: str, to_version: str | None) -> Migration:
    """What a migration to a version (to the highest, if none is named) comes to."""
    versions = Versions.known(reader, directory, name)
    wanted = versions.taxonomy(to_version or versions.newest.version)
    reached = migrated_version(reader, name)
    if reached is not None and is_later(reached, wanted.version):
        raise StudyError(
            f"the study has gone on to {name} {reached} already",
            f"To see labels in an earlier version: annotation agreement ROUND --version "
            f"{wanted.version}",
        )
    _refuse_rewritten(versions)
    answers = current_answers(reader, name)
    decisions = current_decisions(reader, name)
    used = {
        each.version
        for each in (*answers, *decisions)
        if each.codes and is_later(wanted.version, each.version)
    }
    before = versions.before(wanted.version)
    starts = sorted(used or ({before} if before else set()), key=version_key)
    for start in starts:
        versions.way(start, wanted.version)
    followed = [*follow(versions, answers, wanted.version)]
    settled = [*follow(versions, decisions, wanted.version)]
    counts: dict[tuple[str, str], Counter[str]] = {}
    for kind, labels in (("raters", followed), ("final", settled)):
        for each in labels:
            if is_later(wanted.version, each.said.version):
                counts.setdefault((each.said.round, kind), Counter())[each.outcome] += 1
    lost = {each.said.answer_id: each.said for each in settled if each.outcome == "waiting"}
    recorded = {(each.from_version, each.to_version) for each in versions.recorded}
    return Migration(
        name, wanted.version, tuple(starts), counts,
        tuple(waiting(followed, wanted)),
        tuple(lost.values()),
        tuple(
            each for each in versions.revisions
            if (each.from_version, each.to_version) not in recorded
            and not is_later(each.to_version, wanted.version)
        ),
    )  # fmt: skip


def migrate(study: Study, name: str, to_version: str | None, run: Run) -> Migration:
    """Record the way to a version and what it leaves undecided; again, it changes nothing."""
    with study.writing() as writer:
        planned = plan(writer, study.directory, name, to_version)
        known = {
            (row["answer_id"], row["code"])
            for row in writer.rows(
                "SELECT answer_id, code FROM store.relabel WHERE to_version = ?", [planned.version]
            )
        }
        new = [each for each in planned.waiting if (each.said.answer_id, each.code) not in known]
        if planned.revisions or new:
            provenance.record(writer, run, "ok")
            _record(writer, study.directory, planned, new, run)
    return planned


def _record(
    writer: Writer, directory: Path, planned: Migration, new: list[Waiting], run: Run
) -> None:
    import pyarrow as pa

    versions = Versions.known(writer, directory, planned.taxonomy)
    for revision in planned.revisions:
        for version in (revision.from_version, revision.to_version):
            if versions.texts[version].path.is_file():  # else the study has its text
                put_taxonomy(writer, versions.texts[version], run)
        # A version in which only texts are others is recorded as well.
        for position, change in enumerate(revision.changes or (Change("add", (), ()),), 1):
            writer.execute(
                "INSERT INTO store.taxonomy_change VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    planned.taxonomy, revision.from_version, revision.to_version, position,
                    change.kind, list(change.old), list(change.new), change.reason, run.run_id,
                ],
            )  # fmt: skip
    if new:
        arrow_rows.insert(
            writer,
            "store.relabel",
            pa.table(
                {
                    "answer_id": [each.said.answer_id for each in new],
                    "to_version": [each.version for each in new],
                    "code": [each.code for each in new],
                    "choices": pa.array(
                        [list(each.choices) for each in new], type=pa.list_(pa.string())
                    ),
                    "run_id": [run.run_id] * len(new),
                }
            ),
        )


def _refuse_rewritten(versions: Versions) -> None:
    """Changes that were migrated by cannot be others afterwards: labels were given on them."""
    recorded = {(each.from_version, each.to_version): each for each in versions.recorded}
    for taxonomy in versions.texts.values():
        for revision in taxonomy.revisions:
            then = recorded.get((revision.from_version, revision.to_version))
            if then is not None and _said(then) != _said(revision):
                raise StudyError(
                    f"{taxonomy.path}:{revision.line}: these are not the changes from "
                    f"{revision.from_version} that the study was migrated by",
                    "Put them back, and write other ones for a new version.",
                )


def _said(revision: Revision) -> set[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    every = {(each.kind, each.old, each.new) for each in revision.changes}
    return every - {("add", (), ())}
