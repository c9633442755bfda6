"""What projects and tasks are filled with: the labelling page of a round and its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.data.taxonomy_library import taxonomy_of_text

if TYPE_CHECKING:
    from faultatlas.annotation.bridge.page.tasks import Said
    from faultatlas.annotation.labels import Stage
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader
    from faultatlas.data.taxonomy import Taxonomy

_CHUNK = 200  # artifacts whose texts are in memory at once


@dataclass(frozen=True)
class Page:
    """The labelling page of a round."""

    taxonomy: Taxonomy
    config: str
    with_suggestions: bool


@dataclass(frozen=True, slots=True)
class Content:
    """A task as it is sent."""

    data: dict[str, Any]
    meta: dict[str, Any]
    digest: str


def kept_taxonomy(reader: Reader, name: str, version: str) -> Taxonomy:
    """The version of a taxonomy that a round uses, as the study has kept it."""
    text = reader.value(
        "SELECT text FROM store.taxonomy_text WHERE taxonomy = ? AND version = ?", [name, version]
    )
    return taxonomy_of_text(text, name)


def page_of(reader: Reader, of: Round, stage: Stage) -> Page:
    """The page that raters see. A model's proposals are shown only where the round says so."""
    from faultatlas.annotation.bridge.page.config import labelling_config

    taxonomy = kept_taxonomy(reader, of.taxonomy, of.taxonomy_version)
    config = labelling_config(taxonomy, choice=of.choice, suggestions=of.suggestions, stage=stage)
    return Page(taxonomy, config, of.suggestions)


def contents_of(
    reader: Reader,
    of: Round,
    page: Page,
    items: Sequence[str],
    said: Mapping[str, Sequence[Said]],
) -> dict[str, Content]:
    """The tasks of items. What was said is without names."""
    from faultatlas.annotation.bridge.page.tasks import Suggested, content_hash, task_data
    from faultatlas.annotation.bridge.page.texts import texts_of

    artifacts = {
        row["item_id"]: row["artifact_id"]
        for row in reader.rows(
            "SELECT item_id, artifact_id FROM store.item WHERE round = ?", [of.name]
        )
    }
    suggested: dict[str, list[Suggested]] = {}
    if page.with_suggestions:
        for row in reader.rows(
            "SELECT item_id, code, probability FROM store.suggestion WHERE round = ? "
            "ORDER BY item_id, position",
            [of.name],
        ):
            each = Suggested(row["code"], row["probability"])
            suggested.setdefault(row["item_id"], []).append(each)
    found: dict[str, Content] = {}
    for start in range(0, len(items), _CHUNK):
        chunk = items[start : start + _CHUNK]
        texts = texts_of(reader, [artifacts[item] for item in chunk])
        for item in chunk:
            data = task_data(
                item,
                texts[artifacts[item]],
                page.taxonomy,
                said=said.get(item, ()),
                suggested=suggested.get(item, ()),
            )
            digest = content_hash(data)
            meta = {"item_id": item, "artifact_id": artifacts[item], "content": digest}
            found[item] = Content(data, meta, digest)
    return found
