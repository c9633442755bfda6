"""A study with sheets beside it, which are imported: for tests of what comes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from labelling import Labelled

from faultatlas.annotation.sheets.asking import Asked
from faultatlas.annotation.sheets.command import Done, import_sheets
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study


class Desk:
    """A study with the taxonomy `tree` (a1, a2, b1, b2), and sheets beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.labelled = Labelled.at(folder / "study")
        self.labelled.taxonomy()
        self.study: Study = self.labelled.study

    def sheet(self, *lines: str, name: str = "s.csv") -> str:
        (self.folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
        return str(self.folder / name)

    def take(self, *files: str, name: str = "r", **options: Any) -> Done:
        named = ("taxonomy_name", "version", "stage", "otherwise", "spellings", "accept")
        given = {key: options.pop(key) for key in named if key in options}
        asked = Asked(**({"item": "item"} | options))
        return import_sheets(self.study, name, files, asked, **{"taxonomy_name": "tree", **given})

    def refused(self, *files: str, **options: Any) -> StudyError:
        before = self.said() if self.study.exists else []
        with pytest.raises(StudyError) as refused:
            self.take(*files, **options)
        assert (self.said() if self.study.exists else []) == before
        return refused.value

    def said(self, columns: str = "item_id, rater, code", *, current: bool = True) -> list[Any]:
        with self.study.reading() as reader:
            rows = reader.rows(
                f"SELECT {columns} FROM labels WHERE is_current OR NOT ? ORDER BY ALL", [current]
            )
        return [tuple(row.values()) for row in rows]
