"""What `report build` tells on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultatlas.report.formatting import counted, plain

if TYPE_CHECKING:
    from faultatlas.report.old.console import Output
    from faultatlas.report.study.building import Built


def show(output: Output, built: Built) -> None:
    """The page, what changed, and what could not be computed."""
    output.document(
        {
            "report": str(built.page),
            "reports": [str(page) for page in built.results],
            "sections": built.sections,
            "claims": built.claims,
            "changed": built.changed,
            "new": built.new,
            "failed": built.failed,
        }
    )
    for name, why in built.failed.items():
        output.show(f"Shown as stored: {plain(name)} ({plain(why)})")
    if built.changed:
        output.show(f"Came out otherwise and stored: {', '.join(map(plain, built.changed))}")
        output.show(
            "Numbers exported for LaTeX are the old ones: report claims export --latex FILE"
        )
    if built.new:
        output.show(f"Stored for the first time: {', '.join(map(plain, built.new))}")
    told = counted(len(built.sections), "section"), counted(built.claims, "claim")
    output.show(f"Report: {built.page} ({', '.join(told)})")
    if output.verbose:
        output.show(*(f"Result: {page}" for page in built.results))
