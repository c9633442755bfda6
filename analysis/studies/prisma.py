"""What became of the papers of a study: a PRISMA 2020 flow diagram with the rows behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultatlas.report.old.command import old_command
from faultatlas.report.old.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

if TYPE_CHECKING:
    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study

NAME = "prisma"
_SOURCE = (
    "Matthew J. Page et al.: The PRISMA 2020 statement: an updated guideline for reporting "
    "systematic reviews. BMJ 372:n71, 2021."
)


def run(study: Study) -> Result:
    """Count the fates of all papers; nothing is stored."""
    from faultatlas.analysis.screening.fates import read_fates
    from faultatlas.analysis.screening.flow import boxes_of, figure_of, screened_lines
    from faultatlas.analysis.screening.numbers import claims_of, document_of, open_of, tables_of
    from faultatlas.data.old.results import Result
    from faultatlas.report.formatting import counted

    with study.reading() as reader:
        fates = read_fates(reader)
    boxes = boxes_of(fates)
    left = open_of(boxes)
    last = boxes[-1]
    end = "included" if fates.steps else "to be screened"
    found = f"{counted(boxes[0].count, 'record')}, {counted(fates.papers, 'paper')}"
    summary = [f"{found}, {last.count:,} {end}."]
    summary += screened_lines(fates)
    if left:
        summary.append(f"{counted(left, 'paper')} open: the numbers are not final.")
    notes = []
    if not fates.steps:
        notes.append("Nothing was screened yet: annotation screen title --rater R")
    if fates.despite:
        notes.append(
            f"{counted(fates.despite, 'paper')} screened that the funnel does not let through (any "
            "more): they count as let through."
        )
    if fates.records.bare:
        notes.append(
            f"{counted(fates.records.bare, 'paper')} without a record of a search or file."
        )
    return Result(
        NAME,
        NAME,
        "Flow of papers",
        {},
        summary=tuple(summary),
        claims=claims_of(fates, boxes),
        tables=tables_of(boxes),
        figures=(figure_of(boxes),),
        notes=tuple(notes),
        sources=(_SOURCE,),
        document=document_of(fates, boxes),
    )


def again(study: Study, parameters: dict[str, Any]) -> Result:  # noqa: ARG001  (it has none)
    """The result with these parameters."""
    return run(study)


@old_command("prisma")
def command(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show what became of papers: identified, merged, filtered, screened, included.

    Prints the steps with what left at each and why, and writes a PRISMA 2020 flow diagram to
    `out/` of the study. While papers are open, it says so.

    Examples:

        analysis prisma

        analysis prisma --json
    """
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    begun = provenance.begin(f"analysis {NAME}", {})
    result = run(opened)
    page = publish(opened, result, begun)
    show(output, result, page)
