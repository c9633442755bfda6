"""Taxonomies that change after labels were given: what their tests share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from labelling import Labelled

from faultatlas.annotation.ratings import Ratings, ratings_of
from faultatlas.annotation.rounds import find_round
from faultatlas.annotation.taxonomies.migrating import migrate
from faultatlas.annotation.taxonomies.relabelling import relabel_queue
from faultatlas.annotation.taxonomies.versions import carrier
from faultatlas.data import provenance
from faultatlas.data.study import Study

SPLIT = {"a": "", "a1": "a", "a2x": "a", "a2y": "a", "b": "", "b1": "b", "b2": "b"}
SPLIT_STEPS = ("{split: a2, to: [a2x, a2y], reason: two things}",)
MERGED = {"a": "", "a1": "a", "a2": "a", "b": ""}
MERGE_STEPS = ("{merge: [b1, b2], to: b}",)

# Four items, two raters; a2 was given three times.
SAID: dict[str, dict[str, str | Sequence[str]]] = {
    "github:o/r#1": {"ann": "a1", "bob": "a1"},
    "github:o/r#2": {"ann": "a2", "bob": "a1"},
    "github:o/r#3": {"ann": "a2", "bob": "a2"},
    "github:o/r#4": {"ann": "b1", "bob": "b2"},
    "github:o/r#5": {"ann": "~unclear", "bob": "b2"},
}


def change(
    study: Labelled,
    codes: Mapping[str, str],
    steps: Sequence[str],
    version: str = "2.0.0",
    start: str = "1.0.0",
    **fields: str,
) -> None:
    """Writes the file of a later version, with what became of the codes."""
    study.taxonomy(codes, version=version, **fields)
    listed = "".join(f"      - {step}\n" for step in steps) or " []"
    gap = "\n" if steps else ""
    path = study.study.directory / "taxonomies" / "tree.yaml"
    text = f'changes:\n  - from: "{start}"\n    steps:{gap}{listed}\n'
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def migrated(study: Study, version: str | None = None) -> None:
    migrate(study, "tree", version, provenance.begin("by hand", {}))


def seen(study: Study, version: str, round_name: str = "pilot") -> Ratings:
    with study.reading() as reader:
        carry = carrier(reader, study.directory, "tree", version)
        return ratings_of(reader, find_round(reader, round_name), version=version, carry=carry)


def stored(study: Study, sql: str) -> list[tuple[object, ...]]:
    with study.reading() as reader:
        return [tuple(row.values()) for row in reader.rows(sql)]


def waiting(study: Study) -> list[tuple[str, str, str, tuple[str, ...]]]:
    with study.reading() as reader:
        queue = relabel_queue(reader, find_round(reader, "pilot"))
    return [(each.said.item_id, each.said.rater, each.code, each.choices) for each in queue]
