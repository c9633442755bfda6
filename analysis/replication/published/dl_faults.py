"""Taxonomy of real faults in deep-learning systems: six rounds, interviews and a survey."""

from __future__ import annotations

from faultatlas.analysis.replication.dl import interviews, rounds, sheets, taxonomy
from faultatlas.analysis.replication.figures import (
    Also,
    PublishedStudy,
    Recomputed,
    RoundPlan,
    Wanted,
)
from faultatlas.analysis.replication.package import Package
from faultatlas.annotation.sheets.asking import Asked

_ROUND = Asked(
    item="Link",
    pairs="Evaluator*/Tag*",
    conflict="Conflict*",
    stratum="EntityType",
    final="final tag",
)
_EVERY_TAG = (*sheets.ROUNDS, sheets.CODING)


def _also(package: Package) -> Also:
    of_rounds, of_people = rounds.by_round(package), interviews.shown(package)
    return Also((*of_rounds.values, *of_people.values), (*of_rounds.tables, *of_people.tables))


STUDY = PublishedStudy(
    name="dl-faults",
    title="Taxonomy of real faults in deep-learning systems",
    source="dl-faults",
    files=(
        *(
            Wanted(name, (name,), f"labelling round {number}: every rater's tag, the final one")
            for number, name in enumerate(sheets.ROUNDS, start=1)
        ),
        Wanted(taxonomy.STATS, (taxonomy.STATS,), "what the authors counted themselves"),
        Wanted(sheets.TAGS, (sheets.TAGS,), "the tags of the interviews and their numbers"),
        Wanted(sheets.CODING, (sheets.CODING,), "every passage of the interviews with its tag"),
        Wanted(
            "interview_participant_info.xlsx",
            ("interview_participant_info.xlsx",),
            "who was interviewed, without names",
        ),
        Wanted(interviews.ANSWERS, (interviews.ANSWERS,), "answers to the survey"),
    ),
    rounds=(
        *(
            RoundPlan(
                f"dl-faults-round-{number}",
                (name,),
                rounds.TAXONOMY,
                _ROUND,
                otherwise=rounds.OTHERWISE,
                accept=True,
            )
            for number, name in enumerate(sheets.ROUNDS, start=1)
        ),
        RoundPlan(
            "dl-faults-interviews",
            (sheets.CODING,),
            "humbatova",
            Asked(item="interview:dl-faults/{Interview Num}", final="Tag"),
            accept=True,
            spellings=sheets.spellings,
        ),
    ),
    figures=(
        *(
            Recomputed(f"K{number:03}", (name,), rounds.Round(name))
            for number, name in enumerate(sheets.ROUNDS, start=33)
        ),
        Recomputed("K039", sheets.ROUNDS, rounds.by_kind),
        Recomputed("K040", sheets.ROUNDS, rounds.inserted),
        Recomputed("K041", sheets.ROUNDS, rounds.new_leaves),
        Recomputed("K042", _EVERY_TAG, taxonomy.leaves_of_interviews),
        Recomputed("K043", (*_EVERY_TAG, taxonomy.STATS), taxonomy.categories),
        Recomputed("K044", (sheets.TAGS, sheets.CODING), interviews.tags),
        Recomputed("K045", (sheets.CODING,), interviews.per_interview),
        Recomputed("K046", (interviews.ANSWERS,), interviews.experienced),
    ),
    also=_also,
)  # fmt: skip
