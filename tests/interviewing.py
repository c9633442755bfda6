"""A study with a round of coded passages of six interviews, and a seventh without a theme."""

from __future__ import annotations

from collections.abc import Sequence

from faultatlas.annotation.sheets.asking import Asked
from faultatlas.annotation.sheets.command import import_sheets
from faultatlas.data.study import Study

Talk = tuple[str, str, tuple[str, ...]]

ROUND = "talks"
# Interview, who speaks, the themes of each passage.
TALKS = (
    ("1", "Developer", ("D2;D5", "F1", "F1")),
    ("2", "Academic", ("C1", "C2")),
    ("3", "Developer", ("F4;F1", "D2")),
    ("4", "Academic", ("C1;C3", "D4")),
    ("5", "Developer", ("F3", "D5")),
    ("6", "Academic", ("C1", "D2")),
    ("7", "Developer", ("~unclear",)),
)


def coded_interviews(study: Study, talks: Sequence[Talk] = TALKS) -> None:
    """The passages as final labels of `challenges`; who speaks is the stratum."""
    sheet = study.directory.parent / "talks.csv"
    sheet.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{number},{who},{said}" for number, who, every in talks for said in every]
    sheet.write_text("\n".join(["Interview,Who,Themes", *rows, ""]), encoding="utf-8")
    asked = Asked(item="interview:pilot/{Interview}", final="Themes", stratum="Who")
    import_sheets(study, ROUND, [str(sheet)], asked, taxonomy_name="challenges")
