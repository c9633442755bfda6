"""The command `annotation`: puts together what each part of labelling offers."""

from __future__ import annotations

from faultatlas.annotation.agreement.cli import commands as agreement
from faultatlas.annotation.bridge.cli import commands as bridge
from faultatlas.annotation.planning.cli import commands as planning
from faultatlas.annotation.samples.cli import commands as samples
from faultatlas.annotation.screening.cli import commands as screening
from faultatlas.annotation.settling.cli import commands as settling
from faultatlas.annotation.sheets.cli import commands as sheets
from faultatlas.annotation.suggesting.cli import commands as suggesting
from faultatlas.annotation.taxonomies.cli import commands as taxonomy
from faultatlas.report import console

app = console.application(
    "Labelling: draw samples, plan rounds, label in Label Studio or in sheets, measure agreement, "
    "settle disagreements, change taxonomies."
)
for part in (samples, planning, bridge, sheets, agreement, settling, suggesting, screening):
    app.add_typer(part)  # its commands become ours
app.add_typer(taxonomy, name="taxonomy")


@app.callback()
def annotation(version: console.VersionOption = False) -> None:
    """Labelling, from the sample to final labels."""


def main() -> None:
    """Entry point."""
    console.run(app)
