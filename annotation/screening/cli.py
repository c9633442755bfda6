"""`annotation screen`, `code` and `places`: parses and calls, no logic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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

RaterOption = Annotated[
    list[str] | None, typer.Option(metavar="R", help="A rater; repeated for each of them.")
]
OverlapOption = Annotated[
    float | None,
    typer.Option(
        metavar="PERCENT", help="Share of the papers that all raters label.", show_default="100"
    ),
]
SeedOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Seed of order and assignment.", show_default="1"),
]
WhereOption = Annotated[
    str | None,
    typer.Option(metavar="SQL", help="Only papers for which a condition on candidates holds."),
]
SizeOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="So many of them, by chance: a pilot.", show_default="all"
    ),
]

GateOption = Annotated[
    float | None,
    typer.Option(metavar="X", help="Agreement to reach.", show_default="as in study.toml"),
]
StatisticOption = Annotated[
    str | None,
    typer.Option(
        metavar="S",
        help="Statistic of agreement, fixed beforehand.",
        show_default="as in study.toml",
    ),
]


@old_command("screen")
def screen_papers(
    step: Annotated[str, typer.Argument(metavar="STEP", help="title, abstract or full-text.")],
    rater: RaterOption = None,
    overlap: OverlapOption = None,
    seed: SeedOption = None,
    where: WhereOption = None,
    size: SizeOption = None,
    gate: GateOption = None,
    statistic: StatisticOption = None,
    round_name: Annotated[
        str | None,
        typer.Option(
            "--round", metavar="ROUND", help="A round that is there, such as an imported one."
        ),
    ] = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Plan a step of screening: a round of the papers that came to it.

    The first step takes all papers that the funnel let through, a later one those that the step
    before included; a paper that it has not decided waits, and is named. Raters label with the
    taxonomy paper-screening: include, or a reason against it. Run again when more papers came, it
    plans a further round of them.

    Examples:

        annotation screen title --rater ann --rater ben --size 60

        annotation screen full-text --rater ann --rater ben --overlap 20

        annotation screen title --round screened-in-a-sheet
    """
    from faultatlas.annotation.planning.view import planned_table, planned_words
    from faultatlas.annotation.screening.paper_rounds import Wanted
    from faultatlas.annotation.screening.screening import screen
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    wanted = Wanted(tuple(rater or ()), overlap, seed, where, size, gate, statistic)
    found = screen(open_study(study, output), step, wanted, round_name)
    output.document(found.document())
    if found.planned:
        output.show(console_table(planned_table(found.planned), with_aside=verbose))
        output.show(*planned_words(found.planned))
    output.show(*found.words())


@old_command("code")
def plan_coding(
    rater: RaterOption = None,
    taxonomy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="T",
            help="Taxonomy of the codes; repeatable.",
            show_default="debugging-techniques and humbatova",
        ),
    ] = None,
    overlap: OverlapOption = None,
    seed: SeedOption = None,
    where: WhereOption = None,
    size: SizeOption = None,
    gate: GateOption = None,
    statistic: StatisticOption = None,
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Plan the coding of included papers: a round for techniques and one for targeted faults.

    A paper may have several codes of each. Where nothing was screened, all papers are coded. Run
    again when more were included, it plans further rounds.

    Examples:

        annotation code --rater ann --rater ben

        annotation code --rater ann --taxonomy humbatova
    """
    from faultatlas.annotation.planning.view import planned_table, planned_words
    from faultatlas.annotation.screening.coding import code_papers
    from faultatlas.annotation.screening.paper_rounds import Wanted
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    wanted = Wanted(tuple(rater or ()), overlap, seed, where, size, gate, statistic)
    found = code_papers(open_study(study, output), taxonomy or (), wanted)
    output.document(found.document())
    for each in found.planned:
        output.show(console_table(planned_table(each), with_aside=verbose))
        output.show(*planned_words(each))
    for name in found.done:
        output.show(f"nothing to plan: all papers are in rounds with {name}")
    output.show(*found.remarks)
    if found.next:
        output.show(f"next: {found.next}; when codes are final, their places: annotation places")


@old_command("places")
def bring_places(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV or XLSX.")],
    codes: Annotated[
        bool,
        typer.Option("--codes", help="Take the codes as well: a finished coding, as final labels."),
    ] = False,
    rater: Annotated[
        str, typer.Option(metavar="R", help="Who found the places, where the sheet says nothing.")
    ] = "sheet",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Bring in the places where papers say that they use a technique or target a fault.

    Columns: paper (DOI, URL, id or title), taxonomy, code, support (explicit, theme, group,
    evaluation; withdrawn takes a place back), place (section, page, line), quote, rater. A place
    belongs to a final code of the paper. With `--codes` the sheet is a finished coding: its codes
    become final labels of the rounds paper-techniques and paper-faults. Rows that are wrong are
    listed, the others stored; the same sheet can be brought in again.

    Examples:

        annotation places places.csv --rater ann

        annotation places coding.csv --codes
    """
    from faultatlas.annotation.screening.places import take_places

    output = Output(as_json, quiet, verbose)
    taken = take_places(open_study(study, output), file, rater, with_codes=codes)
    output.document(taken.document())
    output.show(*taken.words())
    taken.refuse_if_partial()
