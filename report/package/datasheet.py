"""A datasheet for the package: the questions of Gebru et al., answered as far as the study can.

Timnit Gebru, Jamie Morgenstern, Briana Vecchione, Jennifer Wortman Vaughan, Hanna Wallach, Hal
Daumé III, Kate Crawford: Datasheets for Datasets, CACM 64(12), 2021, 10.1145/3458723.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from faultatlas.report import formatting
from faultatlas.report.package.documents import lines_of
from faultatlas.report.study.markdown import escape

if TYPE_CHECKING:
    from faultatlas.report.package.facts import Facts

_OPEN = "*To be written by the authors:*"


def datasheet(facts: Facts) -> str:
    """The datasheet; what the study does not know is left to its authors, and says so."""
    said = ["# Datasheet", ""]
    said += [
        "After Gebru et al., Datasheets for Datasets (10.1145/3458723). What the study itself",
        "shows is filled in; the rest is marked.",
        "",
    ]
    for title, answers in (
        ("Motivation", _motivation(facts)),
        ("Composition", _composition(facts)),
        ("Collection process", _collection(facts)),
        ("Preprocessing, cleaning, labelling", _labelling(facts)),
        ("Uses", _uses()),
        ("Distribution", _distribution(facts)),
        ("Maintenance", _maintenance(facts)),
    ):
        said += [f"## {title}", ""]
        for question, answer in answers:
            said += [f"**{question}** {answer}", ""]
    return lines_of(said)


def _motivation(facts: Facts) -> Iterator[tuple[str, str]]:
    purpose = facts.about.description
    yield (
        "For what purpose was the data set created?",
        escape(purpose) if purpose else f"{_OPEN} the research questions, and what was missing.",
    )
    if facts.options.double_blind:
        yield "Who created it, and who funded it?", "Anonymous for double-blind review."
        return
    names = "; ".join(escape(each.name) for each in facts.about.authors)
    yield "Who created it?", f"{names}." if names else f"{_OPEN} names and institutions."
    yield "Who funded it?", f"{_OPEN} grants, or that there were none."


def _composition(facts: Facts) -> Iterator[tuple[str, str]]:
    kinds = "; ".join(
        f"{formatting.count(each['artifacts'])} of the kind {each['kind']} from {each['source']}"
        + (f" ({each['first']} to {each['last']})" if each["first"] else "")
        for each in facts.artifacts
    )
    yield "What do the instances represent, and how many are there?", f"{kinds or 'None'}."
    steps = "; ".join(
        f"{escape(each['step'])}: {formatting.count(each['rows_out'])} of "
        f"{formatting.count(each['rows_in'])} ({escape(each['predicate'])})"
        for each in facts.funnel
    )
    yield (
        "Is it a sample of a larger set?",
        f"It was selected in steps: {steps}. The samples are in data/sample_draws.csv."
        if steps
        else "All that was found is in it; no step of selection was made.",
    )
    gone = sum(each["gone"] for each in facts.artifacts)
    yield (
        "Is any information missing?",
        f"{formatting.counted(gone, 'artifact')} disappeared at the source since. "
        + (
            ""
            if facts.options.with_texts
            else "Texts are left out: REFETCH.md says how to get them."
        ),
    )
    yield (
        "Does it contain data that might be confidential, or that identifies people?",
        (
            "All artifacts were public. Authors are pseudonyms made with a key that is not "
            "published; mentions and addresses of mail are taken out; raters have numbers."
        ),
    )


def _collection(facts: Facts) -> Iterator[tuple[str, str]]:
    listed = ", ".join(map(escape, facts.projects[:20]))
    more = f" and {len(facts.projects) - 20:,} more" if len(facts.projects) > 20 else ""
    yield (
        "How was the data acquired?",
        (
            f"With faultatlas {escape(facts.version)}, from "
            f"{', '.join(facts.sources) or 'nowhere'}: {listed or 'no projects'}{more}. "
            "data/runs.csv has every command."
        ),
    )
    yield (
        "Were people asked, and was there an ethical review?",
        (
            f"{_OPEN} for interviews, consent and the decision of the board; for public issues, "
            "why none was needed."
        ),
    )


def _labelling(facts: Facts) -> Iterator[tuple[str, str]]:
    rounds = "; ".join(
        f"{escape(each['round'])}: {formatting.counted(each['item_count'], 'item')}, "
        f"{formatting.counted(each['raters'] or 0, 'rater')}, taxonomy "
        f"{escape(each['taxonomy'])} {escape(each['taxonomy_version'])}"
        for each in facts.rounds
    )
    yield "Was it labelled, and how?", f"{rounds}." if rounds else "It has no labels."
    yield (
        "Is the raw data there, too?",
        "Every label of every rater is in data/labels.csv." if (rounds) else "Yes.",
    )


def _uses() -> Iterator[tuple[str, str]]:
    yield "What was it used for?", "The claims in claims.json, each with its query."
    yield (
        "Is there anything it should not be used for?",
        (
            "To rank or to judge people: pseudonyms are not to be resolved. "
            f"{_OPEN} what else its selection rules out."
        ),
    )


def _distribution(facts: Facts) -> Iterator[tuple[str, str]]:
    yield (
        "Under which licence?",
        f"{facts.about.licence}; texts keep that of their source (ATTRIBUTION.md)."
        if facts.about.licence
        else f"{_OPEN} a licence, in study.toml.",
    )
    yield (
        "Where?",
        f"https://doi.org/{facts.about.doi}"
        if facts.about.doi
        else f"{_OPEN} the archive and its DOI.",
    )


def _maintenance(facts: Facts) -> Iterator[tuple[str, str]]:
    if facts.options.double_blind:
        yield "Who maintains it?", "Anonymous for double-blind review."
        return
    yield "Who maintains it, and how are errors reported?", f"{_OPEN} whom to write to."
    yield (
        "Will it be updated?",
        f"This is version {escape(facts.about.version)}."
        if facts.about.version
        else f"{_OPEN} whether and when.",
    )
