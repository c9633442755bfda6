"""The command `miner`: parses and calls, no logic."""

from __future__ import annotations

from report import console
from report.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

app = console.application("Bring evidence into a study. So far: look at what is in it.")


@app.callback()
def miner(version: console.VersionOption = False) -> None:
    """Bring evidence into a study. So far: look at what is in it."""


@app.command("status")
def show_status(
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show what is in the study: rows of each view, and the newest runs."""
    from miner.status import status, status_tables
    from report.tables import console_table

    output = Output(as_json, quiet, verbose)
    found = status(open_study(study, output))
    output.document(found)
    views, runs = status_tables(found)
    output.show(console_table(views), "", console_table(runs))


def main() -> None:
    """Entry point."""
    console.run(app)
