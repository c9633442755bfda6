"""The page of a result: one HTML file that needs no network and no script.

Also the folder around it, which is replaced as a whole. Everything that a result says
may have been written by a stranger, so that everything is escaped here, once, and the
page's own policy forbids whatever could still load or run.
"""

from __future__ import annotations

import functools
import json
import math
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from jinja2.filters import do_urlize
from jinja2.nodes import EvalContext
from markupsafe import Markup

from data.errors import StudyError
from data.results import Claim, Column, Figure, Result, Table
from report import figures, formatting, tables
from report.formatting import NUMERIC_KINDS, file_stem
from report.inks import PART_INKS

PAGE = "report.html"

# A reader takes in this many numbers at a glance; the table below them has them all.
HEADLINES = 8

# A status is told by a sign and its words, so that no reader depends on its colour.
SIGNS = {"reproduced": "✓", "near": "≈", "not reproduced": "✗", "inconsistent": "≠", "no data": "∅"}

_TEMPLATES = Path(__file__).parent / "templates"


def render(result: Result, figure_svgs: dict[str, str]) -> str:
    """The page; a figure without a drawing is told in words."""
    check_names(result)
    shown = [_drawn(figure, figure_svgs.get(figure.name, "")) for figure in result.figures]
    css = (_TEMPLATES / "result.css").read_text(encoding="utf-8")
    return (
        _environment()
        .get_template("result.html.j2")
        .render(
            result=result,
            figures=shown,
            parameters=[(name, _worded(result.parameters[name])) for name in sorted(result.parameters)],
            css=Markup(css),  # noqa: S704  (our own file)
            headlines=HEADLINES,
            signs=SIGNS,
            fills={name: ink.fill for name, ink in PART_INKS.items()},
        )
        + "\n"
    )
