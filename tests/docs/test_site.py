"""`make site`: a site without dead links, whole, that asks nobody for anything."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from documenting import ROOT, copied, made
from lxml import html
from program import tree

pytestmark = pytest.mark.xdist_group("site")

PAGES = {path.stem for path in (ROOT / "docs").glob("*.md")}
POINTING = (("a", "href"), ("link", "href"), ("script", "src"), ("img", "src"))
LOADING = {"audio", "embed", "iframe", "img", "link", "object", "script", "source", "video"}


@cache
def _read(page: Path) -> html.HtmlElement:
    return html.parse(page).getroot()


def _targets(page: Path) -> Iterator[tuple[str, str]]:
    for tag, attribute in POINTING:
        for element in _read(page).iter(tag):
            if element.get(attribute):
                yield tag, element.get(attribute)


def _is_dead(page: Path, target: str) -> bool:
    parts = urlsplit(target)
    path = page.parent / unquote(parts.path) if parts.path else page
    if not path.is_file():
        return True
    anchors = (each.get("id") for each in _read(path).iter() if path.suffix == ".html")
    return bool(parts.fragment) and unquote(parts.fragment) not in anchors


def test_every_page_is_built(site: Path) -> None:
    built = {path.stem for path in site.glob("*.html")}
    assert built >= PAGES
    assert built - PAGES == {"search"}


def test_no_link_leads_nowhere(site: Path) -> None:
    inside = [
        (page.name, target)
        for page in sorted(site.rglob("*.html"))
        for _tag, target in _targets(page)
        if not urlsplit(target).scheme and target != "#"
    ]
    assert len(inside) > 40 * len(PAGES)  # each page has the whole navigation
    assert [each for each in set(inside) if _is_dead(site / each[0], each[1])] == []


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    loaded = [
        (page.name, value)
        for page in site.rglob("*.html")
        for element in _read(page).iter(*LOADING)
        for name, value in element.items()
        if name in {"href", "src", "srcset", "data"}
    ]
    assert len(loaded) > 5 * len(PAGES)
    assert [each for each in loaded if re.match(r"(?i)[a-z]+:|//", each[1])] == []
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", text), style.name


PLANTED = {
    "docs/mining.md": {
        "[x](nowhere.md)": "'nowhere.md'",
        "[x](labelling.md#no-heading)": "'no-heading'",
        "[x](#not-here)": "'not-here'",
        "![x](images/gone.png)": "images/gone.png",
    },
    "README.md": {
        "[x](docs/gone.md)": "no such file: docs/gone.md",
        "[x](docs/labelling.md#lost)": "no such heading: docs/labelling.md#lost",
        "[x](#missing)": "no such heading: #missing",
        "![x](docs/images/no.png)": "no such file: docs/images/no.png",
    },
    "CONTRIBUTING.md": {"[x](docs/none.md)": "no such file: docs/none.md"},
}


def test_the_check_names_every_dead_link_with_its_page(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    for page, texts in PLANTED.items():
        with (folder / page).open("a", encoding="utf-8") as file:
            file.writelines(f"\n{text} and [fine](https://example.org)\n" for text in texts)
    (folder / "docs" / "unlisted.md").write_text("# In no navigation\n", encoding="utf-8")
    listed = folder / "docs" / "navigation.toml"
    listed.write_text(
        listed.read_text(encoding="utf-8").replace('"commands"', '"commands", "absent"'),
        encoding="utf-8",
    )
    ended = made(folder, "--check")
    assert ended.returncode == 1
    told = ended.stderr.splitlines()
    for page, texts in PLANTED.items():
        for what in texts.values():
            assert [each for each in told if f"{page}:" in each and what in each], what
    assert any("unlisted.md" in each and "toctree" in each for each in told)
    assert any("'absent'" in each for each in told)
    assert len(told) == sum(map(len, PLANTED.values())) + 2


def test_one_dead_anchor_is_enough(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    page = folder / "docs" / "sheets.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("#changing-final-labels", "#changed-labels"), encoding="utf-8")
    ended = made(folder)
    assert ended.returncode == 1
    assert "sheets.md" in ended.stderr
    assert "changed-labels" in ended.stderr


def _navigation() -> dict[str, list[str]]:
    """Title and pages of each part, read apart from the code that the site reads it with."""
    file = ROOT / "docs" / "navigation.toml"
    read = tomllib.loads(file.read_text(encoding="utf-8"))["part"]
    return {part["title"]: [re.sub(r".*<|>", "", page) for page in part["pages"]] for part in read}


def test_every_page_is_in_the_navigation_once() -> None:
    parts = _navigation()
    assert list(parts) == ["Tutorial", "How-to", "Concepts", "Reference"]
    assert Counter(page for pages in parts.values() for page in pages) == Counter(PAGES - {"index"})


def test_the_navigation_of_every_page_has_all_pages(site: Path) -> None:
    for page in ("index", "commands", "verdicts"):
        shown = _read(site / f"{page}.html").xpath(
            "//*[contains(@class, 'sidebar-tree')]//a[contains(@class, 'reference')]"
        )
        names = {Path(each.get("href").partition("#")[0] or page).stem for each in shown}
        assert names == PAGES - {"index"}


def _commands(words: tuple[str, ...], command: Any) -> Iterator[tuple[str, ...]]:
    if not hasattr(command, "commands"):
        yield words
        return
    for name, each in command.commands.items():
        yield from _commands((*words, name), each)


def test_every_command_of_every_program_is_in_the_reference(site: Path) -> None:
    assert "commands" in _navigation()["Reference"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    commands = {
        " ".join(words)
        for program in project["scripts"]
        for words in _commands((program,), tree(program))
    }
    assert len(commands) > 40
    page = _read(site / "commands.html")
    headings = {each.get("href") for each in page.xpath("//*[@class='toc-tree']//a")}
    assert {f"#{command.replace(' ', '-')}" for command in commands} <= headings
    for command in commands:
        section = page.get_element_by_id(command.replace(" ", "-"))
        assert f"Usage: {command}" in section.text_content()
