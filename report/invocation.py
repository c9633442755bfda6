"""Running a command: validated arguments in, a recorded and stored result out."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.report.command import (
    Declaration,
    Parameter,
    Resolved,
    parameters_of,
    recorded,
    validated,
)
from faultatlas.report.console import Console

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.results import Result
    from faultatlas.data.study import Study
    from faultatlas.report.catalogue import Entry


@dataclass(frozen=True)
class Command:
    """A command with its function and its parameters by name."""

    entry: Entry
    function: Callable[..., Result]
    declaration: Declaration
    parameters: Mapping[str, Parameter]

    @property
    def has_dry_run(self) -> bool:
        """Whether the command changes anything that a dry run would leave alone."""
        return self.declaration.stores or self.declaration.writes

    def run(
        self, directory: Path, given: Mapping[str, Any], console: Console, *, dry_run: bool = False
    ) -> Result:
        """Run the command in a study; the result of one that stores is kept and published."""
        from faultatlas.data import provenance
        from faultatlas.data.study import Study

        arguments = validated(self.parameters, given)
        study = Study(directory, tell=console.tell, dry_run=dry_run)
        for name, parameter in self.parameters.items():
            for mark in parameter.marks:
                if isinstance(mark, Resolved):
                    arguments[name] = mark.look_up(study, arguments)
        run = provenance.begin(self.entry.name, recorded(self.parameters, arguments))
        result = self._result(study, console, run, arguments)
        if not self.declaration.stores or dry_run:
            return result
        # Packages that are not rewritten yet store and show results of the old form.
        from faultatlas.report.old.stored import as_stored
        from faultatlas.report.publish import publish

        return replace(result, page=str(publish(study, as_stored(result), run)))

    def compute_again(self, study: Study, stored: Mapping[str, Any]) -> Result:
        """Compute a result again from its recorded arguments; nothing is written."""
        from faultatlas.data import provenance

        names = {name.strip("_"): name for name in self.parameters}
        arguments = validated(
            self.parameters, {names.get(name, name): value for name, value in stored.items()}
        )
        run = provenance.begin(self.entry.name, {})
        return self._result(study.without_writing(), Console(quiet=True), run, arguments)

    def _result(
        self, study: Study, console: Console, run: Run, arguments: Mapping[str, Any]
    ) -> Result:
        given_by_frame = {"study": study, "console": console, "run": run}
        wanted = inspect.signature(self.function).parameters
        frame = {name: value for name, value in given_by_frame.items() if name in wanted}
        result = self.function(**frame, **arguments)
        return replace(
            result,
            name=result.name or self.declaration.name.replace(" ", "-"),
            command=self.entry.name,
            arguments=recorded(self.parameters, arguments),
        )


def load(entry: Entry) -> Command:
    """Import the module of a command."""
    function = getattr(importlib.import_module(entry.module), entry.function)
    return Command(entry, function, function.declaration, parameters_of(function))
