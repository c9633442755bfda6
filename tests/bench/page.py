"""The table of a run: for a terminal and as the page `docs/performance.md`."""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping, Sequence

from bench.measured import Line
from bench.parts import Part, Untold

HEADINGS = ("what", "against", "ours", "other", "ratio", "min-max", "target", "")
_INTRODUCTION = """\
<!-- Written by `make bench WRITE=docs/performance.md`; do not edit. -->

# Performance

Speed and memory side by side with other tools that do the same, by `make bench`: each line measures
two ways in turn within one run, several rounds. *Ratio* is ours by the other's, the median of the
rounds; *min-max* are its least and its largest one. Seconds and megabytes depend on the machine,
ratios less so. *CPU* is the time of all processes that a way starts, *MB* the largest one's peak.
A line without a target is told only.
"""


def verdict(line: Line | Untold) -> str:
    """Met, or by how much not and why."""
    if isinstance(line, Untold):
        return f"failed: {line.reason}" if line.failed else f"not measured: {line.reason}"
    if line.target is None:
        return ""
    if missed := line.misses():
        return f"MISSED: {'; '.join(missed)}" + (f". {line.why}" if line.why else "")
    return "met"


def cells(line: Line | Untold) -> tuple[str, ...]:
    """A row of the table."""
    if isinstance(line, Untold):
        return (line.what, "", "", "", "", "", "", verdict(line))
    ratios = line.ratios
    spread = f"{_short(min(ratios))}-{_short(max(ratios))}" if len(ratios) > 1 else "one round"
    return (
        line.what,
        line.against,
        _figure(statistics.median(line.ours), line.unit),
        _figure(statistics.median(line.other), line.unit),
        _short(line.ratio),
        spread,
        line.asked,
        verdict(line),
    )


def text(parts: Sequence[Part]) -> str:
    """For a terminal: columns, and below a line that misses its target the reason."""
    rows = [HEADINGS, *(cells(line) for part in parts for line in part.lines)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEADINGS) - 1)]
    written = []
    for part in parts:
        written += ["", part.heading]
        for line in part.lines:
            *plain, last = cells(line)
            columns = [
                word.rjust(width) if 2 <= at <= 5 else word.ljust(width)
                for at, (word, width) in enumerate(zip(plain, widths, strict=True))
            ]
            written.append(f"  {'  '.join(columns)}  {last}".rstrip())
        written += [f"  {note}" for note in part.notes]
    return "\n".join(written)


def page(parts: Sequence[Part], facts: Mapping[str, str], version: str, all_parts: int) -> str:
    """The page, whose one source is a run."""
    lines = [_INTRODUCTION, *_circumstances(parts, facts, version)]
    if len(parts) < all_parts:
        lines += [f"Only these parts were measured: {', '.join(part.name for part in parts)}.", ""]
    for part in parts:
        lines += [f"## {part.heading}", ""]
        shown = ("what", "against", "ours", "other", "ratio", "min-max", "target", "result")
        lines += [f"| {' | '.join(shown)} |", "|---|---|--:|--:|--:|--:|---|---|"]
        lines += [f"| {' | '.join(map(_escaped, cells(line)))} |" for line in part.lines]
        lines += ["", *(f"{note}\n" for note in part.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _circumstances(parts: Sequence[Part], facts: Mapping[str, str], version: str) -> list[str]:
    days = sorted({part.day for part in parts})
    named = [
        ("date", " to ".join(dict.fromkeys((*days[:1], *days[-1:])))),
        ("faultatlas", version),
        *facts.items(),
    ]
    lines = ["| | |", "|---|---|", *(f"| {name} | {_escaped(said)} |" for name, said in named)]
    loads = [part.load for part in parts]
    if loads and max(loads) > (os.cpu_count() or 1) / 2:
        lines.append(
            f"| load | the machine was busy with other work: {min(loads):.1f} to {max(loads):.1f} "
            "processes waiting when parts began |"
        )
    return [*lines, ""]


def _figure(value: float, unit: str) -> str:
    if unit in {"s", "CPU s"}:
        small = f"{1000 * value:,.0f} ms" if value < 10 else f"{value:,.0f} s"
        return small if unit == "s" else f"{small} CPU"
    return f"{value:,.0f} {unit}"


def _short(ratio: float) -> str:
    return f"{ratio:.4f}" if ratio < 0.01 else f"{ratio:.2f}" if ratio < 100 else f"{ratio:,.0f}"


def _escaped(text: str) -> str:
    return " ".join(text.replace("|", r"\|").replace("<", "&lt;").split())
