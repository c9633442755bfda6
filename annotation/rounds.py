"""Labelling rounds: what is labelled, by whom, with which taxonomy, under which rules."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from faultatlas.annotation.typed import typed
from faultatlas.data.clock import utc_now
from faultatlas.data.errors import StudyError
from faultatlas.data.old import arrow_rows

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Reader, Writer
    from faultatlas.data.taxonomy import Taxonomy

Origin = Literal["designed", "imported"]


@dataclass(frozen=True)
class Round:
    """A round, as `store.round` and `store.round_rater` hold it."""

    name: str
    origin: Origin
    taxonomy: str
    taxonomy_version: str
    choice: str  # single, multiple
    raters: tuple[str, ...]
    sample: str | None = None
    after: str | None = None
    overlap: float | None = None
    seed: int | None = None
    statistic: str | None = None
    threshold: float | None = None
    suggestions: bool = False
    blindness: str | None = None  # own project, own server; of a round that was pushed


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a round: an artifact, or one of several rows that a sheet has for it."""

    item_id: str
    artifact_id: str
    stratum: str = ""
    place: str | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """An item that a rater is to label, with its place in the rater's own order."""

    item_id: str
    rater: str
    position: int


def checked_name(name: str, kind: str = "round") -> str:
    """The name of a round, sample or rater, if it is one: it is typed, shown and chosen by.

    It comes in one spelling (NFC, one space between words), so that names that look the same are.
    """
    if not name.strip() or name != name.strip() or not name.isprintable():
        raise StudyError(
            f"{name!r} is no name for a {kind}", f"Use letters and digits, such as {kind}-1."
        )
    return " ".join(unicodedata.normalize("NFC", name).split())


def refuse_alike(reader: Reader, rater: str) -> None:
    """A rater who is not known must not be called like one who is, but for upper and lower case."""
    known = [row["rater"] for row in reader.rows("SELECT rater FROM store.rater ORDER BY rater")]
    alike = [each for each in known if each.casefold() == rater.casefold()]
    if alike and rater not in alike:
        raise StudyError(
            f"there is no rater {rater!r}, and one who is called {alike[0]!r}",
            f"Did you mean {alike[0]}? Another person needs a name that is easier to tell apart.",
        )


def round_names(reader: Reader) -> list[str]:
    """All rounds, in the order they were made."""
    rows = reader.rows("SELECT round FROM store.round ORDER BY created_at, run_id, round")
    return [row["round"] for row in rows]


def find_round(reader: Reader, name: str) -> Round:
    """The round of that name; one that is not there is refused, with those that are."""
    rows = reader.rows("SELECT * FROM rounds WHERE round = ?", [name])
    if not rows:
        known = ", ".join(round_names(reader))
        raise StudyError(
            f"there is no round {name!r}",
            f"Known: {known}." if known else "Make one: annotation round, or annotation import.",
        )
    row = rows[0]
    return Round(
        name=row["round"],
        origin=row["origin"],
        taxonomy=row["taxonomy"],
        taxonomy_version=row["taxonomy_version"],
        choice=row["choice"],
        raters=tuple(row["raters"] or ()),
        sample=row["sample"],
        after=row["after_round"],
        overlap=row["overlap"],
        seed=row["seed"],
        statistic=row["statistic"],
        threshold=row["threshold"],
        suggestions=row["suggestions"],
        blindness=row["blindness"],
    )


def require_rater(of: Round, rater: str, others: Iterable[str] = ()) -> None:
    """A name that nobody in the round has is a mistake; `others` have labels or a place in it."""
    known = dict.fromkeys((*of.raters, *others))
    if rater not in known:
        raise StudyError(
            f"{rater!r} is no rater of round {of.name!r}",
            f"Known: {', '.join(known)}."
            if known
            else f"It has none yet: annotation import {typed(of.name)} FILE brings some.",
        )


def put_round(writer: Writer, new: Round, taxonomy: Taxonomy, run: Run) -> None:
    """Store a round with its raters and the taxonomy's text; the run must have been recorded."""
    put_taxonomy(writer, taxonomy, run)
    writer.execute(
        "INSERT INTO store.round VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            new.name, new.origin, new.sample, new.taxonomy, new.taxonomy_version, new.choice,
            new.after, new.overlap, new.seed, new.statistic, new.threshold, new.suggestions,
            utc_now(), run.run_id,
        ],
    )  # fmt: skip
    put_raters(writer, new.name, new.raters, run)


def put_raters(writer: Writer, round_name: str, raters: Sequence[str], run: Run) -> None:
    """Add raters to a round, new ones behind those that it has; unknown ones become known."""
    there = {
        row["rater"]: row["position"]
        for row in writer.rows(
            "SELECT rater, position FROM store.round_rater WHERE round = ?", [round_name]
        )
    }
    for rater in dict.fromkeys(raters):
        add_rater(writer, rater, run, may_be_alike=True)
        if rater not in there:
            there[rater] = max(there.values(), default=0) + 1
            writer.execute(
                "INSERT INTO store.round_rater VALUES (?, ?, ?, ?)",
                [round_name, rater, there[rater], run.run_id],
            )


def add_rater(writer: Writer, rater: str, run: Run, *, may_be_alike: bool = False) -> bool:
    """Make a rater known; whether it was not."""
    if (name := checked_name(rater, "rater")) != rater:
        raise StudyError(f"{rater!r} is no name for a rater", f"Write it so: {name}")
    if writer.value("SELECT 1 FROM store.rater WHERE rater = ?", [rater]):
        return False
    if not may_be_alike:
        refuse_alike(writer, rater)
    writer.execute("INSERT INTO store.rater VALUES (?, ?, ?)", [rater, utc_now(), run.run_id])
    return True


def put_items(writer: Writer, round_name: str, items: Iterable[Item], run: Run) -> int:
    """Append items to a round, those that it has left out; how many were new."""
    import pyarrow as pa

    there = {
        row["item_id"]: row["position"]
        for row in writer.rows(
            "SELECT item_id, position FROM store.item WHERE round = ?", [round_name]
        )
    }
    last = max(there.values(), default=0)  # items that were forgotten leave gaps
    new = [item for item in items if item.item_id not in there]
    if new:
        count = len(new)
        arrow_rows.insert(
            writer,
            "store.item",
            pa.table(
                {
                    "round": [round_name] * count,
                    "item_id": [item.item_id for item in new],
                    "artifact_id": [item.artifact_id for item in new],
                    "position": range(last + 1, last + count + 1),
                    "stratum": [item.stratum for item in new],
                    "place": pa.array([item.place for item in new], type=pa.string()),
                    "run_id": [run.run_id] * count,
                }
            ),
        )
    return len(new)


def put_assignments(
    writer: Writer, round_name: str, assignments: Iterable[Assignment], run: Run
) -> None:
    """Store who is to label what, in which order."""
    import pyarrow as pa

    rows = list(assignments)
    if rows:
        arrow_rows.insert(
            writer,
            "store.assignment",
            pa.table(
                {
                    "round": [round_name] * len(rows),
                    "item_id": [row.item_id for row in rows],
                    "rater": [row.rater for row in rows],
                    "position": [row.position for row in rows],
                    "run_id": [run.run_id] * len(rows),
                }
            ),
        )


def put_taxonomy(writer: Writer, taxonomy: Taxonomy, run: Run) -> bool:
    """Keep the text of a taxonomy's version, and say whether it was new.

    Another tree under the same version is refused.
    """
    from faultatlas.data.taxonomy_library import taxonomy_of_text

    rows = writer.rows(
        "SELECT text FROM store.taxonomy_text WHERE taxonomy = ? AND version = ?",
        [taxonomy.name, taxonomy.version],
    )
    if not rows:
        writer.execute(
            "INSERT INTO store.taxonomy_text VALUES (?, ?, ?, ?)",
            [
                taxonomy.name,
                taxonomy.version,
                taxonomy.path.read_text(encoding="utf-8"),
                run.run_id,
            ],
        )
        return True
    kept = taxonomy_of_text(rows[0]["text"], taxonomy.name)
    if [(node.code, node.parent) for node in kept.nodes] != [
        (node.code, node.parent) for node in taxonomy.nodes
    ]:
        raise StudyError(
            f"{taxonomy.path}: the codes of {taxonomy.name} {taxonomy.version} are not those that "
            "this study has labels of",
            f"Give the changed file a new version; then: annotation taxonomy diff {taxonomy.name}",
        )
    return False
