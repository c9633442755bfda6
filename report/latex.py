r"""A table as LaTeX that can be read into a paper with `\input`.

Compiles with pdfLaTeX as with the Unicode engines; the packages that it needs are named
in its first line. Not a general converter: it writes a `Table`, nothing else.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from dataclasses import replace

from faultatlas.data.old.results import Cell, Column, Table
from faultatlas.report import formatting
from faultatlas.report.formatting import NUMERIC_KINDS

# Lines that a page holds; a longer table breaks across pages.
LONGEST_FLOAT = 45

# Characters of \footnotesize that a column of a two-column paper and a narrow page hold.
SINGLE_COLUMN = 52
PAGE = 80

# A text column up to this width is never broken into lines.
LONGEST_RIGID = 19
LEAST_FLEXIBLE = 16  # characters of a line of one that is
LONGEST_WORD = 28  # that is never broken

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    '"': r"{\char34}",  # straight, and no shorthand of babel
    "[": "{[}",  # after the \\ of the row before, it would open an argument
    "*": "{*}",  # the same
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{MINUS SIGN}": "$-$",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{BULLET}": r"$\bullet$",
    "\N{INFINITY}": r"$\infty$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{NOT EQUAL TO}": r"$\neq$",
    "\N{ALMOST EQUAL TO}": r"$\approx$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{LEFTWARDS ARROW}": r"$\leftarrow$",
}

# The Greek letters of statistics; an omicron has no command of its own.
_GREEK = {
    letter: rf"$\{unicodedata.name(letter).removeprefix('GREEK SMALL LETTER ').lower()}$"
    for letter in map(chr, [*range(0x03B1, 0x03BF), *range(0x03C0, 0x03C2), *range(0x03C3, 0x03CA)])
}

# pdfLaTeX prints these in its oldest encoding, too; it stops at others.
_PRINTABLE = re.compile("[ -~\u00a1-\u017f]")
_NOT_IN_OT1 = frozenset("«»ÐÞðþĄąĐđĘęĦħĮįĸĿŀŉŊŋŦŧŲųſ")


def escape(text: str) -> str:
    """The text as LaTeX that prints it; a character that cannot be printed is named."""
    letters = re.sub("-(?=-)", "-\0", formatting.plain(text))
    return "".join(map(_escape_letter, letters))


def render(table: Table, label: str = "") -> str:
    r"""The table as a float, or across pages where it is too long for one.

    What `\ref` calls it is its name, unless it gets another label.
    """
    groups = table.narrow().groups()
    named = any(value is not None for value, _ in groups)
    table = _whole(table.narrow(), [part for _, part in groups])
    long = _printed_lines(table) + (2 * len(groups) if named else 0) > LONGEST_FLOAT
    heads = [_heading(column, index, table) for index, column in enumerate(table.columns)]
    widths = [_width(head, index, table) for index, head in enumerate(heads)]
    wide = sum(widths) > SINGLE_COLUMN
    flexible = [_is_flexible(*each) for each in zip(table.columns, widths, strict=True)]
    stretch = wide and not long and any(flexible)
    size = _size(widths, flexible)
    caption = [f"\\caption{{{escape(table.title)}}}", f"\\label{{tab:{_key(label or table.name)}}}"]
    layout = f"{{@{{}}{_layout(table.columns, widths, stretch=stretch)}@{{}}}}"
    top = [r"\toprule", _row([_stacked(head) for head in heads]), r"\midrule"]
    body = [
        line
        for number, (value, part) in enumerate(groups)
        for line in (
            *(_group(value, len(table.columns), first=number == 0) if named else ()),
            *(_row(_cells(table.columns, row)) for row in part.rows),
        )
    ]
    note = [rf"\par\smallskip\raggedright {escape(table.note)}"] if table.note else []
    if long:
        return _lines(
            r"% Needs \usepackage{array,booktabs,longtable}; in two columns, \onecolumn before it.",
            rf"\begingroup{size}",
            rf"\begin{{longtable}}{layout}",
            "".join(caption) + r" \\",
            *top,
            r"\endfirsthead",
            *top,
            r"\endhead",
            r"\bottomrule",
            r"\endfoot",
            *body,
            r"\end{longtable}",
            *note,
            r"\endgroup",
        )
    place = "table*" if wide else "table"
    grid = "tabularx" if stretch else "tabular"
    begin = r"\begin{tabularx}{\textwidth}" if stretch else r"\begin{tabular}"
    return _lines(
        rf"% Needs \usepackage{{array,booktabs{',tabularx' if stretch else ''}}}.",
        rf"\begin{{{place}}}",
        r"\centering",
        *caption,
        size if wide else r"\footnotesize",
        begin + layout,
        *top,
        *body,
        r"\bottomrule",
        rf"\end{{{grid}}}",
        *note,
        rf"\end{{{place}}}",
    )


def _whole(table: Table, parts: list[Table]) -> Table:
    """The table without the column that groups it."""
    if not parts:
        return replace(table, grouped_by="")
    return replace(parts[0], rows=tuple(row for part in parts for row in part.rows))


def _group(value: Cell, columns: int, *, first: bool) -> list[str]:
    r"""The line above a group; `\\*` keeps it on the page of the row below it."""
    title = rf"\textit{{{escape(formatting.cell(value) or formatting.MISSING)}}}"
    head = rf"\multicolumn{{{columns}}}{{@{{}}l@{{}}}}{{{title}}}"
    return [*([] if first else [r"\addlinespace"]), head + r" \\*"]


def _printed_lines(table: Table) -> int:
    """About how many lines the rows take: a row with long texts takes several."""
    lengths = (sum(len(str(cell)) + 2 for cell in row) for row in table.rows)
    return sum(1 + length // PAGE for length in lengths)


def _escape_letter(letter: str) -> str:
    if letter == "\0":  # between two hyphens, which would otherwise become one dash
        return "{}"
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    if letter in _GREEK:
        return _GREEK[letter]
    if _PRINTABLE.match(letter) and letter not in _NOT_IN_OT1:
        return letter
    if unicodedata.category(letter) in {"Cf", "Mn"}:
        return ""  # joiners, direction marks and loose accents have no look of their own
    return f"{{[}}U+{ord(letter):04X}]"


def _key(name: str) -> str:
    return re.sub("[^A-Za-z0-9.-]+", "-", name)


def _heading(column: Column, index: int, table: Table) -> list[str]:
    """The heading in lines: over numbers it must not make the column wider than they are."""
    if column.kind not in NUMERIC_KINDS:
        return [formatting.plain(column.title)]
    room = max([8, *(len(formatting.cell(row[index], column.kind)) for row in table.rows)])
    return textwrap.wrap(formatting.plain(column.title), room, break_long_words=False) or [""]


def _stacked(lines: list[str]) -> str:
    text = r"\\".join(escape(line) for line in lines)
    return text if len(lines) == 1 else rf"\shortstack[r]{{{text}}}"


def _cells(columns: tuple[Column, ...], row: tuple[Cell, ...]) -> list[str]:
    return [_cell(value, column) for column, value in zip(columns, row, strict=True)]


def _cell(value: Cell, column: Column) -> str:
    text = _breakable(formatting.cell(value, column.kind))
    if column.kind == "code":
        return rf"\texttt{{{text}}}"
    if column.kind in NUMERIC_KINDS and not isinstance(value, str):
        return re.sub("^-(?=[0-9$])", "$-$", text).replace(r" \%", r"\,\%")
    return text


def _breakable(text: str) -> str:
    """A long word, such as a hash, would stick out of its column: it may break."""
    return "".join(map(_word, re.split(r"(\s+)", text)))


def _word(word: str) -> str:
    if len(word) <= LONGEST_WORD:
        return escape(word)
    step = LONGEST_WORD // 2
    pieces = (word[at : at + step] for at in range(0, len(word), step))
    return r"\allowbreak{}".join(map(escape, pieces))


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


def _width(head: list[str], index: int, table: Table) -> int:
    kind = table.columns[index].kind
    cells = (formatting.cell(row[index], kind) for row in table.rows)
    # A monospaced letter is a third wider, and the gap takes two.
    return 2 + int(max(map(len, [*head, *cells])) * (1.3 if kind == "code" else 1))


def _is_flexible(column: Column, width: int) -> bool:
    return column.kind not in NUMERIC_KINDS and width > LONGEST_RIGID


def _size(widths: list[int], flexible: list[bool]) -> str:
    """Type and gaps of a wide table: smaller where even with broken texts it is too wide."""
    least = sum(
        LEAST_FLEXIBLE if bends else width for width, bends in zip(widths, flexible, strict=True)
    )
    if least > PAGE:
        return r"\scriptsize\setlength{\tabcolsep}{2.5pt}"
    return r"\footnotesize\setlength{\tabcolsep}{4pt}"


def _layout(columns: tuple[Column, ...], widths: list[int], *, stretch: bool) -> str:
    """Column types; where the table is wider than its page, the long texts share the rest."""
    flexible = [
        width for width, column in zip(widths, columns, strict=True) if _is_flexible(column, width)
    ]
    room = max(PAGE - sum(widths) + sum(flexible), PAGE / 4) / PAGE
    types = []
    for column, width in zip(columns, widths, strict=True):
        if column.kind in NUMERIC_KINDS:
            types.append("r")
        elif width not in flexible or (sum(widths) <= PAGE and not stretch):
            types.append("l")
        elif stretch:
            part = rf"\hsize={len(flexible) * width / sum(flexible):.3f}\hsize"
            types.append(rf">{{{part}\raggedright\arraybackslash}}X")
        else:
            part = f"{0.95 * room * width / sum(flexible):.3f}"
            types.append(rf">{{\raggedright\arraybackslash}}p{{{part}\textwidth}}")
    return "".join(types)


def _lines(*lines: str) -> str:
    return "\n".join(lines) + "\n"
