"""Links of the pages beside docs/ (README.md and its like), which are no part of the site: what
they point to must be there, headings included. A dead one is a warning of Sphinx's, as the site's
own are.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.anchors import anchors_plugin
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
_log = logging.getLogger(__name__)
_markdown = MarkdownIt("commonmark").enable("table").use(anchors_plugin, max_level=4)


def setup(app: Sphinx) -> None:
    """They are looked at when all pages have been read, whose headings are known then."""
    app.connect("env-updated", _check)


def _check(app: Sphinx, _env: BuildEnvironment) -> None:
    root = Path(app.srcdir).parent
    for name in PAGES:
        for line, target in links((root / name).read_text(encoding="utf-8")):
            problem = _problem(root / name, target)
            if problem:
                _log.warning("%s: %s", problem, target, location=f"{root / name}:{line}")


def links(text: str) -> Iterator[tuple[int, str]]:
    """Line and target of each link and picture that is no address of the web."""
    for block in _markdown.parse(text):
        for token in _inside(block):
            target = str(token.attrGet("href") or token.attrGet("src") or "")
            if target and not urlsplit(target).scheme:
                yield (block.map or [0])[0] + 1, target


def headings(text: str) -> set[str]:
    """The anchors of a page, as GitHub and the site make them of its headings."""
    return {str(token.attrGet("id")) for token in _markdown.parse(text) if token.attrGet("id")}


def _inside(token: Token) -> Iterator[Token]:
    yield token
    for child in token.children or ():
        yield from _inside(child)


def _problem(page: Path, target: str) -> str:
    parts = urlsplit(target)
    path = page.parent / unquote(parts.path) if parts.path else page
    if not path.exists():
        return "no such file"
    if parts.fragment and path.suffix == ".md":
        known = headings(path.read_text(encoding="utf-8"))
        return "" if unquote(parts.fragment) in known else "no such heading"
    return ""
