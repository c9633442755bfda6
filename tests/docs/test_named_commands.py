"""Commands that pages name are there, with the options that are shown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from documenting import ROOT
from markdown_it import MarkdownIt
from program import tree

PROGRAMS = {name: tree(name) for name in ("miner", "annotation", "analysis", "report")}
# The changelog also tells of what went, and commands.md is what the programs say themselves.
PAGES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")} - {ROOT / "docs/commands.md"})
_markdown = MarkdownIt("commonmark").enable("table")


def _shown(page: Path) -> Iterator[str]:
    """Lines of code, and code inside of lines."""
    for token in _markdown.parse(page.read_text(encoding="utf-8")):
        if token.type in {"fence", "code_block"} and not token.info.startswith("text"):
            yield from token.content.replace("\\\n", " ").splitlines()
        yield from (each.content for each in token.children or () if each.type == "code_inline")


def wrong(text: str) -> str:
    """What is wrong about a command; empty if it is right, or no command of ours."""
    program, *words = re.sub(r"(^|\s)#.*", "", text).removeprefix("$ ").split() or [""]
    if program not in PROGRAMS:
        return ""
    command: Any = PROGRAMS[program]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    if hasattr(command, "commands"):  # a group: nothing behind it, or `list|show`, or an option
        name = words[0] if words else ""
        return f"no such command: {text}" if re.fullmatch(r"[a-z][a-z-]*", name) else ""
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    options = {found[1] for each in words if (found := re.match(r"(--?[a-z][\w-]*)", each))}
    return "".join(f"no {name}: {text}" for name in sorted(options - known - {"--help"}))


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_every_command_that_a_page_shows_is_there(page: Path) -> None:
    assert [each for each in map(wrong, _shown(page)) if each] == []


def test_the_pages_show_many_commands_and_a_slip_is_noticed() -> None:
    shown = [text for page in PAGES for text in _shown(page)]
    assert sum(text.removeprefix("$ ").split(" ")[0] in PROGRAMS for text in shown) > 400
    assert wrong("$ miner fetch pytorch --lable x") == "no --lable: $ miner fetch pytorch --lable x"
    assert wrong("annotation push pilot --own-servers --again # both") == ""
    assert wrong("annotation taxonomy shoo x").startswith("no such command")
    assert wrong("report claims export --latex numbers.tex") == ""
