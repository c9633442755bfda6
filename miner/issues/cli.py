"""`miner projects`."""

from __future__ import annotations

from faultatlas.report.old.command import old_command
from faultatlas.report.old.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
)


@old_command("projects")
def show_projects(
    study: StudyOption = HERE,  # noqa: ARG001  (every command takes it)
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show the aliases of projects, and how studies found their defects of high priority.

    Example:

        miner projects
    """
    from faultatlas.miner.projects import aliases_table
    from faultatlas.report.tables import console_table

    output = Output(as_json, quiet, verbose)
    table = aliases_table()
    output.document({"projects": table.records()})
    output.show(console_table(table, with_aside=verbose))
