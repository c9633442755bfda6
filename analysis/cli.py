"""The command `analysis`: one subcommand for each file in `analysis/studies`."""

from __future__ import annotations

from faultatlas.analysis.studies import questions
from faultatlas.report import console

app = console.application("Analyse a study: every number has an interval and names its query.")


@app.callback()
def analysis(version: console.VersionOption = False) -> None:
    """Analyse a study: every number has an interval and names its query."""


for _name, _module in questions().items():
    app.command(_name)(_module.command)


def main() -> None:
    """Entry point."""
    console.run(app)
