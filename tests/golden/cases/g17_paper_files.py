"""Bibliographic files: formats, encodings, broken entries, LaTeX, and records of the same papers.

`texts.json` has the text of each file by its name. Broken files are read one by one, the others
together; then all of them once more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from golden.stage import Stage

_VIEWS = ("papers", "paper_records", "artifact_aliases")
_ENCODINGS = {
    "utf8": "utf-8", "utf8-mark": "utf-8-sig", "utf16": "utf-16", "utf16-le": "utf-16-le",
    "utf16-be": "utf-16-be", "cp1252": "cp1252", "latin1": "latin-1", "latin9": "iso8859-15",
    "cp1250": "cp1250", "cp1251": "cp1251", "mac": "mac-roman", "shift-jis": "shift-jis",
}  # fmt: skip
_TEXTS = {  # by ending: a number makes each file's papers its own
    "bib": "@misc{{a{0},\n title = {{Über Fehler Nummer {0}}},\n year = 20{0}\n}}\n"
    "@misc{{b, title = {{No end\n@misc{{c{0}, title={{Drei Füße und {0}}}}}\n",
    "ris": "TY  - JOUR\nTI  - Größe der Schritte {0}\nPY  - 20{0}\nER  - \nTY  - CONF\n"
    "AU  - Müller, J.\nER  - \n",
    "csv": "Title,Year,Authors\nÄhnliche Netze {0},20{0},Müller J.\nZu wenig {0},2020\n",
}
_ENDS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


def run(stage: Stage) -> None:
    texts = json.loads((stage.inputs / "texts.json").read_text(encoding="utf-8"))
    folder = stage.folder / "files"
    folder.mkdir()
    whole, broken = [], []
    for group, files in texts.items():
        for name, text in files.items():
            path = folder / name
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
            (whole if group == "whole" else broken).append(path)
    for path in broken:
        _read(stage, path.name, [path], "broken")
    stage.views("broken", *_VIEWS, study="broken")
    _read(stage, "whole", whole, "whole")
    stage.views("whole", *_VIEWS, study="whole")
    _read(stage, "backwards", whole[::-1], "backwards")
    stage.views("backwards", *_VIEWS, study="backwards")
    _read(stage, "whole again", [*whole, *broken[:3]], "whole")
    stage.query("whole again", "SELECT count(*) FROM paper_records", study="whole")
    encoded = _encoded(folder)
    _read(stage, "encodings", encoded, "encodings")
    stage.views("encodings", *_VIEWS, study="encodings")
    _read(stage, "known", whole[1:2], "whole", "--known", "mine")
    stage.query("known", "FROM known_papers SELECT list, title, year, doi", study="whole")
    for name in ("none.bib", "files"):
        _read(stage, name, [stage.folder / name], "none")


def _encoded(folder: Path) -> list[Path]:
    """A file for each encoding and format; ends of lines differ as well."""
    files = []
    for number, (name, encoding) in enumerate(_ENCODINGS.items(), 10):
        for (ending, text), end in zip(_TEXTS.items(), _ENDS.values(), strict=True):
            path = folder / f"{name}.{ending}"
            whole = text.format(number).replace("\n", end)
            path.write_bytes(whole.encode(encoding, "replace"))
            files.append(path)
    return files


def _read(stage: Stage, label: str, paths: Sequence[Path], study: str, *words: str) -> None:
    chosen = [word for path in paths for word in ("--from", str(path))]
    stage.run(label, "miner", "papers", *words, *chosen, study=study, names="lines")
