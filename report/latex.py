r"""A table as LaTeX that can be read into any paper with `\input`.

Needs `booktabs`, `array` and, for long tables, `longtable`; compiles with pdfLaTeX as it
does with the Unicode engines. Not a general converter: it writes a `Table`, nothing else.
"""

from __future__ import annotations

import re
import unicodedata

from data.results import Column, Table
from report import formatting

# Rows that a page holds; a longer table must break across pages.
LONGEST_FLOAT = 45

# Characters of \footnotesize that one and two columns of a two-column paper hold.
SINGLE_COLUMN = 52
DOUBLE_COLUMN = 105

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
    # Straight, and not a shorthand of babel.
    '"': r"{\char34}",
    # After the \\ of the row before, these two would be its arguments.
    "[": "{[}",
    "*": "{*}",
    # Without the braces, two of them would become one longer dash.
    "-": "-{}",
    "\u2212": "$-$",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": "``",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{INFINITY}": r"$\infty$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{PLUS-MINUS SIGN}": r"$\pm$",
    "\N{LESS-THAN OR EQUAL TO}": r"$\leq$",
    "\N{GREATER-THAN OR EQUAL TO}": r"$\geq$",
    "\N{NOT EQUAL TO}": r"$\neq$",
    "\N{ALMOST EQUAL TO}": r"$\approx$",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{LEFTWARDS ARROW}": r"$\leftarrow$",
    "\N{MIDDLE DOT}": r"$\cdot$",
    "\N{BULLET}": r"$\bullet$",
    "\N{DEGREE SIGN}": r"$^{\circ}$",
    "\N{SUPERSCRIPT TWO}": r"$^{2}$",
    "\N{MICRO SIGN}": r"$\mu$",
} | {
    letter: f"$\\{unicodedata.name(letter).rsplit(' ', 1)[-1].lower()}$"
    for letter in "αβγδεζηθικμνξπρστφχψωΓΔΘΠΣΦΨΩ"
    if letter.islower()
}

# The letters that LaTeX knows in every encoding; others stop pdfLaTeX.
_KNOWN = re.compile("[ -~À-ÖØ-öø-ÿĀ-ćČ-ďĘ-ěŁ-ńŇňŐ-œŔŕŘ-śŞ-šŢ-ťŮ-űŸ-ž]")


def escape(text: str) -> str:
    """The text as LaTeX that prints it; a character that cannot be printed is named."""
    return "".join(map(_escape_letter, formatting.plain(text))).replace("-{}", "-", 1) if (
        text.count("-") == 1
    ) else "".join(map(_escape_letter, formatting.plain(text)))
