"""The four parts of the site, from `navigation.toml` into the index: Sphinx wants them in a page,
where whoever reads the index on GitHub would see them as code.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from sphinx.application import Sphinx

INDEX = "index"
_FILE = "navigation.toml"


@dataclass(frozen=True)
class Part:
    """A heading of the navigation with the pages under it."""

    title: str
    entries: tuple[str, ...]  # a page, or a short title with the page in angle brackets

    @property
    def pages(self) -> list[str]:
        """The pages alone."""
        return [each.rpartition("<")[2].rstrip(">") for each in self.entries]


def parts(docs: Path) -> list[Part]:
    """The parts, in the order of the file."""
    read = tomllib.loads((docs / _FILE).read_text(encoding="utf-8"))
    return [Part(each["title"], tuple(each["pages"])) for each in read["part"]]


def setup(app: Sphinx) -> None:
    """Every build reads the file."""
    app.connect("source-read", _add_to_index)


def _add_to_index(app: Sphinx, page: str, source: list[str]) -> None:
    if page != INDEX:
        return
    app.env.note_dependency(str(Path(app.srcdir) / _FILE))
    source[0] += "".join(
        "\n```{{toctree}}\n:hidden:\n:caption: {}\n\n{}\n```\n".format(
            part.title, "\n".join(part.entries)
        )
        for part in parts(Path(app.srcdir))
    )
