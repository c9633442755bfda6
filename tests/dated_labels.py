"""A study with dated issues and final labels of the taxonomy `tree`, whose a1 becomes frequent."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from labelling import Labelled
from population import Population
from settled import put_final

from faultatlas.data.study import Study

PROJECTS = ("pytorch/pytorch", "keras-team/keras")


def dated_labels(study: Study, *, years: int = 4, each: int = 20) -> None:
    """So many issues a year from 2016, half of them of each project; a1 in a tenth, then more."""
    population = Population(study)
    halves = [
        population.issues(*(["text"] * (years * each // 2)), project=project)
        for project in PROJECTS
    ]
    Labelled(study).taxonomy()
    with study.writing() as writer:
        for half in halves:
            for at, artifact in enumerate(half):
                year, place = divmod(at, each // 2)
                created = datetime(2016 + year, 1 + place % 12, 3)  # noqa: DTZ001  (UTC)
                writer.execute(
                    "UPDATE store.issue SET created_at = ?, comment_count = ? "
                    "WHERE artifact_id = ?",
                    [created, place * (1 + year), artifact],
                )
                code = "a1" if place <= 2 * year else ("a2", "b1", "b2")[place % 3]
                put_final(writer, artifact, code, taxonomy="tree", version="1.0.0")


def dated_study(directory: Path) -> Study:
    study = Study(directory)
    dated_labels(study)
    return study
