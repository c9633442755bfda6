"""The numbers that a study binds itself, in SQL: those of `claims.toml` in its folder."""

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

NAME = "claims"


def run(study: Study) -> Result:
    """Evaluate the claims of the study's file; nothing is stored."""
    from faultatlas.analysis.own_claims.evaluating import result_of
    from faultatlas.analysis.own_claims.files import read_claims

    return result_of(study, read_claims(study.directory))


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result with these parameters, which hold the claims themselves."""
    from faultatlas.analysis.own_claims.evaluating import result_of
    from faultatlas.analysis.own_claims.files import read_definitions

    return result_of(study, read_definitions(parameters["claims"]))


@old_command("claims")
def command(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compute the study's own claims: numbers in SQL, from `claims.toml` in its directory.

    Each becomes a claim like any other: checked, traced to its rows, and exported to LaTeX.

    Example:

        analysis claims
    """
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    begun = provenance.begin(f"analysis {NAME}", {})
    result = run(opened)
    show(output, result, publish(opened, result, begun))
