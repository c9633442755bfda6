"""Which share of bugs can still be made to happen, and what is in the way of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    from collections.abc import Sequence

    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study

NAME = "reproducibility"


def run(
    study: Study, *, sample: str = "", sets: Sequence[str] = (), stratify: Sequence[str] = ()
) -> Result:
    """Rates of verdicts with intervals, and reasons; nothing is stored."""
    from faultatlas.analysis.reexecution import estimate_claims, estimate_tables, published_rates
    from faultatlas.analysis.reexecution.estimating import RATES, attempts
    from faultatlas.analysis.statistics.shares import CLOPPER_PEARSON_SOURCES, WEIGHTED_SOURCES
    from faultatlas.analysis.tallies import naming
    from faultatlas.data.old.results import Result

    of = attempts(study, sample=sample, sets=sets, stratify=stratify)
    published = published_rates.beside(of)
    parameters = naming.given(
        sample=of.sample,
        # Also those that were not named: a sample that is drawn later must not take their place.
        set=[] if of.sample else list(of.sets),
        stratify=list(dict.fromkeys(stratify)),
    )
    name = naming.result_name(NAME, parameters, bare=("sample",))
    what = f"sample {of.sample}" if of.sample else f"bugs of {', '.join(of.sets)}"
    by = f", by {', '.join(of.by)}" if stratify else ""
    return Result(
        NAME,
        name,
        f"Re-execution: {what}{by}",
        parameters,
        summary=estimate_claims.summary(of, published),
        claims=estimate_claims.claims(of, published, name, parameters),
        tables=estimate_tables.tables(of, published),
        figures=estimate_tables.figures(of),
        notes=estimate_claims.notes(of),
        sources=(
            *CLOPPER_PEARSON_SOURCES,
            *(WEIGHTED_SOURCES if of.is_weighted else ()),
            published_rates.SOURCE,
        ),
        document=estimate_claims.document(of, published),
        headlines=len(RATES),  # what came of the rest belongs to what could be reproduced
    )


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result of these parameters."""
    return run(
        study,
        sample=parameters.get("sample", ""),
        sets=parameters.get("set", ()),
        stratify=parameters.get("stratify", ()),
    )


@old_command("reproducibility")
def command(
    sample: Annotated[
        str,
        typer.Option(
            metavar="SAMPLE", help="A sample of bugs; without it the one that was drawn last."
        ),
    ] = "",
    set_name: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SET", help="The bugs of this set instead of a sample. Repeatable."
        ),
    ] = None,
    stratify: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS",
            help="Show the rate by these: framework, symptom, source, set, property, fault, "
            "python. Separated by commas.",
        ),
    ] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Estimate which share of bugs can be reproduced, with the reasons for the rest.

    Counts the verdicts of `analysis reexecute`. Attempts are the denominator; verified,
    reproduced, not reproduced, flaky, invalid and infrastructure stand apart, weighted by the
    strata of the sample, with exact intervals. Published rates stand beside ours.

    Examples:

        analysis reproducibility

        analysis reproducibility --set defect4ml --stratify framework,symptom
    """
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    result = run(
        opened,
        sample=sample,
        sets=set_name or (),
        stratify=[each.strip() for each in stratify.split(",") if each.strip()],
    )
    begun = provenance.begin(f"analysis {NAME}", result.parameters)
    show(output, result, publish(opened, result, begun))
