"""Which types of defects testing tools find, and which none finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faultatlas.data.errors import StudyError
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

NAME = "methods"


def run(
    study: Study,
    taxonomy: str = "hp-defects",
    *,
    round_name: str = "",
    of: Sequence[str] = (),
    level: int | None = None,
    score: float = 1.0,
) -> Result:
    """Set what tools found beside what there is; nothing is stored."""
    from faultatlas.analysis.detection import evidence
    from faultatlas.analysis.detection.result import Detection, detection_result
    from faultatlas.analysis.tallies import naming
    from faultatlas.data.taxonomy_library import TaxonomyLibrary

    if not 0 <= score <= 1:
        raise StudyError(f"--score {score:g} is no score", "It lies between 0 and 1.")
    if level is not None and level < 1:
        raise StudyError(f"there is no level {level}", "The roots of a taxonomy are level 1.")
    tree = TaxonomyLibrary(study.directory).taxonomy(taxonomy)
    rounds = [each for each in of if each != evidence.PUBLISHED]
    if round_name:
        found = evidence.found_in_round(study, taxonomy, round_name, level, score)
        tree = found.observations.taxonomy or tree if found.observations else tree
        if not of:
            rounds = evidence.other_rounds(study, taxonomy, round_name)
    else:
        evidence.refuse_unpublished(taxonomy, "that tools found")
        found = evidence.published_found(level, tree)
    if round_name in rounds:
        raise StudyError(
            f"round {round_name!r} cannot be what was found and what there is",
            "Name other rounds with --of, or leave it out.",
        )
    if rounds:
        known = evidence.known_in_rounds(study, taxonomy, rounds, level)
    else:
        evidence.refuse_unpublished(taxonomy, "to compare with")
        known = evidence.published_known(level, tree)
    parameters = naming.given(
        taxonomy=taxonomy, round=round_name, of=list(of), level=level,
        score=score if round_name else None,
    )  # fmt: skip
    return detection_result(Detection(parameters, tree, found, known))


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result with these parameters."""
    return run(
        study,
        parameters["taxonomy"],
        round_name=parameters.get("round", ""),
        of=parameters.get("of", ()),
        level=parameters.get("level"),
        score=parameters.get("score", 1.0),
    )


@old_command("methods")
def command(
    taxonomy: Annotated[
        str, typer.Argument(metavar="TAXONOMY", help="Taxonomy of the types.")
    ] = "hp-defects",
    round_name: Annotated[
        str,
        typer.Option(
            "--round",
            help="Round whose items are the found defects; their stratum is the tool. "
            "[default: what was published]",
        ),
    ] = "",
    of: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROUND",
            help="Round with the defects that there are, or `published`. Repeatable. "
            "[default: all other rounds of the taxonomy, else what was published]",
        ),
    ] = None,
    level: Annotated[
        int | None, typer.Option(help="Level of the tree: 1 for the roots; leaves without it.")
    ] = None,
    score: Annotated[
        float,
        typer.Option(help="Fold duplicates that `miner link` gave at least this score."),
    ] = 1.0,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show which types of defects testing tools find, and which none finds.

    The found defects are the items of a round with final labels; the stratum of an item is the
    tool that found it. Reports of one artifact and duplicates count once. How much the types that
    nobody finds matter is their share of the defects that people reported: the final labels of
    the study's other rounds, or published counts.

    Examples:

        analysis methods

        analysis methods hp-defects --round found

        analysis methods hp-defects --round found --of published --level 1
    """
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    given = {"taxonomy": taxonomy, "round": round_name, "of": of, "level": level, "score": score}
    begun = provenance.begin(
        f"analysis {NAME}", {name: value for name, value in given.items() if value}
    )
    result = run(
        opened, taxonomy, round_name=round_name, of=tuple(of or ()), level=level, score=score
    )
    show(output, result, publish(opened, result, begun))
