"""Rounds with labels put into a study at once: for tests of what is made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from faultatlas.annotation.labels import Answer, Appended, Stage, append
from faultatlas.annotation.rounds import Item, Round, put_items, put_round
from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary

TREE = """\
taxonomy: {name}
version: "{version}"
title: A small tree
source: Made up for tests.
choice: {choice}
select: leaves
question: Which is it?
nodes:
"""
NODE = """\
  - code: "{code}"
    name: {label}
    definition: What {code} is.
    not: What {code} is not.
"""


def tree_text(
    codes: Mapping[str, str], *, name: str = "tree", version: str = "1.0.0", choice: str = "single"
) -> str:
    """A taxonomy file: codes with their parents ("" for a root), parents first."""
    text = TREE.format(name=name, version=version, choice=choice)
    for code, parent in codes.items():
        text += NODE.format(code=code, label=f"Name of {code}")
        if parent:
            text += f"    parent: {parent}\n"
    return text


SMALL = {"a": "", "a1": "a", "a2": "a", "b": "", "b1": "b", "b2": "b"}


@dataclass
class Labelled:
    """A study with rounds that are filled by hand."""

    study: Study

    @classmethod
    def at(cls, directory: Path) -> Labelled:
        return cls(Study(directory))

    def taxonomy(self, codes: Mapping[str, str] = SMALL, **fields: str) -> None:
        """Writes an own taxonomy (`tree` unless named) into the study's folder."""
        folder = self.study.directory / "taxonomies"
        folder.mkdir(parents=True, exist_ok=True)
        text = tree_text(codes, **fields)
        (folder / f"{fields.get('name', 'tree')}.yaml").write_text(text, encoding="utf-8")

    def round(
        self,
        name: str,
        said: Mapping[str, Mapping[str, str | Sequence[str]]],
        *,
        taxonomy: str = "tree",
        raters: Sequence[str] = (),
        strata: Mapping[str, str] | None = None,
        statistic: str | None = None,
        threshold: float | None = None,
        stage: Stage = "independent",
    ) -> None:
        """A round: for each item (`github:o/r#1`) what each rater said, codes as text or list."""
        known = TaxonomyLibrary(self.study.directory).taxonomy(taxonomy)
        names = raters or list(dict.fromkeys(rater for row in said.values() for rater in row))
        new = Round(
            name, "designed", taxonomy, known.version, known.choice, tuple(names),
            statistic=statistic, threshold=threshold,
        )  # fmt: skip
        run = provenance.begin("by hand", {})
        with self.study.writing() as writer:
            provenance.record(writer, run, "ok")
            put_round(writer, new, known, run)
            items = [
                Item(item, item.partition("~")[0], (strata or {}).get(item, "")) for item in said
            ]
            put_items(writer, name, items, run)
        self.say(name, said, stage=stage)

    def say(
        self,
        round_name: str,
        said: Mapping[str, Mapping[str, str | Sequence[str]]],
        *,
        stage: Stage = "independent",
        version: str | None = None,
    ) -> Appended:
        """More answers in a round."""
        run = provenance.begin("by hand", {})
        with self.study.writing() as writer:
            provenance.record(writer, run, "ok")
            used = version or writer.value(
                "SELECT taxonomy_version FROM store.round WHERE round = ?", [round_name]
            )
            answers = [
                Answer(
                    item, rater, (codes,) if isinstance(codes, str) else tuple(codes), used,
                    "by hand", stage,
                )
                for item, row in said.items()
                for rater, codes in row.items()
            ]  # fmt: skip
            return append(writer, round_name, answers, run)
