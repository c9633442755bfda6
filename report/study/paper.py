r"""The report as a LaTeX document that reads in all tables and figures, ready to be taken apart.

Made for pdfLaTeX as for the Unicode engines. A paper takes single files from it with `\input`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from report import formatting
from report.figures import DOUBLE
from report.latex import escape
from report.study.layout import PlacedFigure, PlacedSection, PlacedTable

DOCUMENT = "report.tex"

MOST_ROWS = 200  # of a table that the document reads in; longer ones are files only

_HEAD = r"""% A report of faultatlas: pdflatex report.tex, twice.
\documentclass[a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[margin=2.2cm]{geometry}
\usepackage{array,booktabs,longtable,tabularx}
\usepackage{graphicx}
\usepackage[hidelinks]{hyperref}
\sloppy
"""
_LEVELS = (r"\section", r"\subsection")


def render(
    title: str,
    lead: Sequence[str],
    sections: Sequence[PlacedSection],
    widths: Mapping[str, Sequence[str]],
) -> str:
    """The document."""
    lines = [
        _HEAD + rf"\title{{{escape(title)}}}",
        r"\author{}",
        r"\date{}",
        r"\begin{document}",
        r"\maketitle",
        *(escape(sentence) + "\n" for sentence in lead),
        r"\tableofcontents",
    ]
    for placed in sections:
        lines += _section(placed, 0, widths)
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _section(
    placed: PlacedSection, level: int, widths: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    section = placed.section
    yield rf"\clearpage{_LEVELS[level]}{{{escape(section.title)}}}"
    for sentence in section.text:
        yield escape(sentence) + "\n"
    points = [each.point for each in placed.points]
    if points:
        yield r"\begin{itemize}"
        for point in points:
            command = rf" Next: \texttt{{{escape(point.command)}}}." if point.command else ""
            yield rf"\item \textbf{{{escape(point.title)}.}} {escape(point.text)}{command}"
        yield r"\end{itemize}"
    for figure in placed.figures:
        yield from _figure(figure, widths[figure.file])
    for table in placed.tables:
        yield _table(table)
    remarks = [*section.notes, *section.sources]
    if remarks:
        yield r"\begin{itemize}\footnotesize"
        yield from (rf"\item {escape(remark)}" for remark in remarks)
        yield r"\end{itemize}"
    for part in placed.parts:
        yield from _section(part, level + 1, widths)


def _figure(placed: PlacedFigure, widths: Sequence[str]) -> Iterator[str]:
    file = f"{placed.file}-{DOUBLE}.pdf"
    yield rf"\begin{{figure}}[htbp]\centering% also: {', '.join(widths)}"
    # Never larger than drawn: its type is 8 points. One that outgrew the page is made to fit.
    size = r"\ifdim\width>\linewidth\linewidth\else\width\fi"
    yield rf"\resizebox{{{size}}}{{!}}{{\includegraphics{{{file}}}}}"
    yield rf"\caption{{{escape(placed.figure.title)}}}\label{{fig:{label(placed.file)}}}"
    yield r"\end{figure}"


def _table(placed: PlacedTable) -> str:
    file = f"{placed.file}.tex"
    rows = len(placed.table.rows)
    if rows > MOST_ROWS:
        return f"% \\input{{{file}}} has {formatting.count(rows)} rows: too many for a document."
    return rf"\input{{{file}}}"


def label(file: str) -> str:
    """What a table or a figure is called behind `tab:` and `fig:`."""
    return file.partition("/")[2].replace("/", "-").replace("_", "-")
