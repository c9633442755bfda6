"""The boxes of a PRISMA 2020 flow diagram, made of the fates of papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from faultatlas.analysis.screening.fates import Fates
from faultatlas.data.old.results import Box, Exit, Figure, Part
from faultatlas.report.formatting import count

IDENTIFICATION, SCREENING, INCLUDED = "Identification", "Screening", "Included"
FULL_TEXT = "full text"  # the step that decides for good
MATCHED = {"doi": "same DOI", "title": "same title", "preprint": "preprint of another"}


def boxes_of(fates: Fates) -> tuple[Box, ...]:
    """Every box with what leaves it; each has what the one before has, but for that."""
    records, papers = fates.records, fates.papers
    sources = [*records.sources.items(), *([("no record", records.bare)] if records.bare else [])]
    total = sum(n for _, n in sources)
    found = [
        Box(
            IDENTIFICATION, "Records identified", total, _parts(dict(sources)),
            _exits([Exit("Duplicates removed", total - papers, _matched(fates, total - papers))]),
        ),
        Box(IDENTIFICATION, "Papers", papers, (), _exits([
            Exit("Removed by the funnel", fates.count("removed"), _parts(fates.reasons("removed"))),
            Exit("Gone from the source", fates.count("gone")),
            Exit("Mined after the funnel ran", fates.count("late"), (), is_open=True),
        ])),
    ]  # fmt: skip
    left = papers - sum(each.count for each in found[-1].exits)
    for position, step in fates.steps:
        reasons = {
            fates.names.get(code, code): n
            for code, n in fates.reasons("excluded", position).items()
        }
        exits = _exits([
            Exit("Excluded", fates.count("excluded", position), _parts(reasons)),
            Exit("Not decided yet", fates.count("undecided", position), (), is_open=True),
            Exit("In no round yet", fates.count("waiting", position), (), is_open=True),
        ])  # fmt: skip
        found.append(Box(SCREENING, f"Papers screened by {step}", left, (), exits))
        left -= sum(each.count for each in exits)
    last = "Papers included" if fates.steps else "Papers to be screened"
    if fates.steps and fates.steps[-1][1] != FULL_TEXT:
        last += f" by {fates.steps[-1][1]}"
    return (*found, Box(INCLUDED if fates.steps else SCREENING, last, left))


def screened_lines(fates: Fates) -> list[str]:
    """Which steps of screening were made, and what that means for what is included."""
    steps = [step for _position, step in fates.steps]
    if not steps:
        return []
    found = [f"Screened by {' and '.join(filter(None, [', '.join(steps[:-1]), steps[-1]]))}."]
    if steps[-1] != FULL_TEXT:
        found.append(
            f"No full text was screened: included is what screening by {steps[-1]} included. "
            "Go on: annotation screen full-text --rater R"
        )
    return found


def figure_of(boxes: Sequence[Box]) -> Figure:
    """The flow diagram."""
    return Figure(
        "flow", "Flow of papers (PRISMA 2020)", "flow", described(boxes), boxes=tuple(boxes)
    )


def described(boxes: Sequence[Box]) -> str:
    """The figure for a reader who cannot see it."""
    said = []
    for box in boxes:
        made_of = f" ({_listed(box.parts)})" if box.parts else ""
        left = "; ".join(
            f"{each.label.lower()}: {count(each.count)}"
            + (f" ({_listed(each.parts)})" if each.parts else "")
            for each in box.exits
        )
        said.append(f"{box.label}: {count(box.count)}{made_of}{f'; {left}' if left else ''}.")
    return " ".join(said)


def _listed(parts: Sequence[Part]) -> str:
    return ", ".join(f"{part.label} {count(part.count)}" for part in parts)


def _matched(fates: Fates, duplicates: int) -> tuple[Part, ...]:
    """By what duplicates were known, where that accounts for all of them."""
    by = fates.records.matched_by
    if sum(by.values()) != duplicates:
        return ()
    return _parts({MATCHED.get(name, name): n for name, n in by.items()})


def _parts(counts: Mapping[str, int]) -> tuple[Part, ...]:
    return tuple(Part(label, n) for label, n in counts.items())


def _exits(every: Sequence[Exit]) -> tuple[Exit, ...]:
    return tuple(each for each in every if each.count)
