"""A study in notebooks and scripts.

Views and analyses are methods of the study: `study.issues()`, `study.coverage_gap(evidence=
"corpus")`. Other commands are reached by program: `study.miner.fetch("pytorch")`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from html import escape
from inspect import Parameter as Argument
from inspect import Signature, signature
from keyword import iskeyword
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_origin

from typer.models import ArgumentInfo

from faultatlas.data.results import Quantity, Result
from faultatlas.data.study import Study
from faultatlas.report import formatting, latex
from faultatlas.report.catalogue import PROGRAMS, Entry, all_entries, entries
from faultatlas.report.command import FRAME
from faultatlas.report.console import Console
from faultatlas.report.invocation import Command, load
from faultatlas.report.rendering import document, sentences

if TYPE_CHECKING:
    import pandas as pd


class Notebook:
    """A study. Its commands are recorded and their results stored, as on the command line."""

    def __init__(self, directory: Path, *, dry_run: bool = False, program: str = "") -> None:
        self._directory, self._dry_run, self._program = directory, dry_run, program

    def __repr__(self) -> str:
        program = f".{self._program}" if self._program else ""
        return f"faultatlas.open({str(self._directory)!r}){program}"

    def query(self, sql: str, parameters: Any = ()) -> pd.DataFrame:
        """Return the rows that a query on the views gives."""
        import pandas as pd

        with Study(self._directory).reading() as reader:
            return pd.DataFrame(reader.rows(sql, parameters))

    def __getattr__(self, name: str) -> Any:
        if not self._program and name in PROGRAMS:
            return Notebook(self._directory, dry_run=self._dry_run, program=name)
        for entry in self._entries():
            if _python_name(entry) == name:
                return self._method(load(entry))
        if not self._program and name in self._views:
            return lambda: self.query(f'FROM "{name}"')
        raise AttributeError(f"unknown view or command {name!r} of {self!r}")

    def __dir__(self) -> list[str]:
        names = [] if self._program else [*PROGRAMS, *self._views]
        return [*super().__dir__(), *names, *map(_python_name, self._entries())]

    @cached_property
    def _views(self) -> list[str]:
        study = Study(self._directory)
        if not study.exists:
            return []
        with study.reading() as reader:
            rows = reader.rows(
                "SELECT view_name FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal"
            )
        return [row["view_name"] for row in rows]

    def _entries(self) -> list[Entry]:
        """The commands that are methods here: those of a program, or all that store a result."""
        known = entries(self._program) if self._program else all_entries()
        return [entry for entry in known if not entry.is_old and (self._program or entry.stores)]

    def _method(self, command: Command) -> Callable[..., Any]:
        """A method with the signature and the docstring of the command."""

        def method(*values: Any, **given: Any) -> NotebookResult:
            bound = _bound(command, values, given)
            result = command.run(self._directory, bound, Console(), dry_run=self._dry_run)
            return NotebookResult(result)

        own = signature(command.function, eval_str=True)
        kept = [part for name, part in own.parameters.items() if name not in FRAME]
        method.__name__ = _python_name(command.entry)
        method.__doc__ = command.function.__doc__
        vars(method)["__signature__"] = Signature(kept, return_annotation=NotebookResult)
        return method


class NotebookResult:
    """A result as a notebook shows it; its numbers are data frames."""

    def __init__(self, result: Result) -> None:
        self.result = result

    def __repr__(self) -> str:
        return "\n".join((self.result.title, *sentences(self.result)))

    def __getitem__(self, quantity_id: str) -> Quantity:
        """The quantity of that id: `result["artifacts.untargeted"].value`."""
        return self.result.by_id[quantity_id]

    @cached_property
    def quantities(self) -> pd.DataFrame:
        """The quantities, with a column for each dimension.

        How a published value compares is in `printed_status` and `printed_reason`: `status` is the
        name of a dimension.
        """
        import pandas as pd

        rows = self.result.quantities
        facts = pd.DataFrame([quantity.facts() for quantity in rows])
        names = {"status": "printed_status", "reason": "printed_reason"}
        dimensions = pd.DataFrame([dict(quantity.dimensions) for quantity in rows])
        return dimensions.join(facts.rename(columns=names))

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by name."""
        import pandas as pd

        return {table.name: pd.DataFrame(table.records()) for table in self.result.listings()}

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        return document(self.result)

    def to_latex(self, table: str) -> str:
        """A table for a paper."""
        return latex.render(next(row for row in self.result.listings() if row.name == table))

    def _repr_html_(self) -> str:
        """Title, summary and open tables; pandas escapes mined text."""
        import pandas as pd

        parts = [f"<h3>{escape(self.result.title)}</h3>"]
        parts += [f"<p>{escape(sentence)}</p>" for sentence in sentences(self.result)]
        for table in self.result.listings():
            if not table.folded:
                rows = [
                    [formatting.cell(value, column.kind)
                     for value, column in zip(row, table.columns, strict=True)]
                    for row in table.rows
                ]  # fmt: skip
                frame = pd.DataFrame(rows, columns=[column.title for column in table.columns])
                parts.append(f"<h4>{escape(table.title)}</h4>{frame.to_html(index=False)}")
                parts.append(f"<p>{escape(table.note)}</p>" if table.note else "")
        return "\n".join(filter(None, parts))


def _bound(command: Command, values: tuple[Any, ...], given: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name; several values may be given for an argument that takes several."""
    positional = [
        parameter
        for parameter in command.parameters.values()
        if isinstance(parameter.info, ArgumentInfo)
    ]
    if positional and get_origin(positional[-1].type) is tuple:
        last = len(positional) - 1
        if len(values) > last:
            values = (*values[:last], values[last:])
    names = [Argument(parameter.name, Argument.POSITIONAL_ONLY) for parameter in positional]
    return {**Signature(names).bind_partial(*values).arguments, **given}


def _python_name(entry: Entry) -> str:
    name = "_".join(entry.words).replace("-", "_")
    return f"{name}_" if iskeyword(name) else name
