r"""The report as a LaTeX document that reads in all tables and figures, ready to be taken apart.

Made for pdfLaTeX as for the Unicode engines. A paper takes single files from it with `\input`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from faultatlas.report import formatting
from faultatlas.report.figures import DOUBLE
from faultatlas.report.latex import escape
from faultatlas.report.study.layout import PlacedFigure, PlacedSection, PlacedTable, glance

DOCUMENT = "report.tex"

MOST_ROWS = 200  # of a table that the document reads in; longer ones are files only

_HEAD = r"""% A report of faultatlas: pdflatex report.tex, twice.
\documentclass[a4paper]{article}
% Fonts as outlines: Latin Modern, else Computer Modern in its oldest encoding.
\renewcommand{\labelitemi}{$\bullet$}
\IfFileExists{lmodern.sty}{\usepackage[T1]{fontenc}\usepackage{lmodern}}{}
\usepackage[margin=2.2cm]{geometry}
\usepackage{array,booktabs,longtable,tabularx}
\usepackage{graphicx}
\usepackage[hidelinks]{hyperref}
\sloppy
% Tables and figures stand where they are told of, as far as the page has room.
\makeatletter\def\fps@table{!htbp}\def\fps@figure{!htbp}\makeatother
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
        *(_sentence(sentence) + "\n" for sentence in lead),
        *_glance(sections),
        r"\tableofcontents",
    ]
    above = False  # whether the section above has parts, each with a page of its own
    for placed in sections:
        lines += [r"\clearpage"] if above or placed.parts else []
        lines += _section(placed, 0, widths)
        above = bool(placed.parts)
    return "\n".join([*lines, r"\end{document}"]) + "\n"


def _section(
    placed: PlacedSection, level: int, widths: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    section = placed.section
    yield rf"{_LEVELS[level]}{{{escape(section.title)}}}"
    for sentence in section.text:
        yield _sentence(sentence) + "\n"
    points = [each.point for each in placed.points]
    if points:
        yield r"\begin{itemize}"
        for point in points:
            command = rf" Next: \texttt{{{escape(point.command)}}}." if point.command else ""
            yield rf"\item \textbf{{{escape(point.title)}.}} {_sentence(point.text)}{command}"
        yield r"\end{itemize}"
    for figure in placed.figures:
        yield from _figure(figure, widths[figure.file])
    for table in placed.tables:
        yield _table(table)
    remarks = [*section.notes, *section.sources]
    if remarks:
        yield r"\begin{itemize}\footnotesize"
        yield from (rf"\item {_sentence(remark)}" for remark in remarks)
        yield r"\end{itemize}"
    for number, part in enumerate(placed.parts):
        if number or placed.tables:
            yield r"\clearpage"
        yield from _section(part, level + 1, widths)


def _glance(sections: Sequence[PlacedSection]) -> Iterator[str]:
    seen = glance(sections)
    if seen:
        yield r"\begin{itemize}"
        for each in seen:
            yield rf"\item \textbf{{{escape(each.title)}.}} {_sentence(each.text)}"
        yield r"\end{itemize}"


def _sentence(text: str) -> str:
    """A sentence; what stands in backquotes is a command."""
    parts = formatting.plain(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return "".join(
        rf"\texttt{{{escape(part)}}}" if at % 2 else escape(part) for at, part in enumerate(parts)
    )


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
