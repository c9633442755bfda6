"""The command `analysis`: one subcommand for each file in `analysis/studies`."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from analysis import studies
from report import console

app = console.application("Analyse a study: every number has an interval and names its query.")


@app.callback()
def analysis(version: console.VersionOption = False) -> None:
    """Analyse a study: every number has an interval and names its query."""


def study_questions() -> dict[str, ModuleType]:
    """The modules of `analysis.studies` by the name of their subcommand."""
    names = sorted(module.name for module in pkgutil.iter_modules(studies.__path__))
    modules = (importlib.import_module(f"analysis.studies.{name}") for name in names)
    return {module.NAME: module for module in modules}


for _name, _module in study_questions().items():
    app.command(_name)(_module.command)


def main() -> None:
    """Entry point."""
    console.run(app)
