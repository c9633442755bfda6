"""Texts of artifacts as HTML: Markdown as GitHub shows it, posts, commit messages, changes.

Everything is bounded: a log of a megabyte becomes its beginning, its end and a note.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from faultatlas.annotation.bridge.page.cleaning import (
    escaped,
    has_known_tag,
    known_html,
    language_of,
    safe_html,
    small_html,
    visible,
    web_address,
)
from faultatlas.annotation.bridge.page.highlighting import highlighted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markdown_it.utils import EnvType, OptionsDict

BODY_LIMIT = 50_000  # characters of an artifact's text
REPLY_LIMIT = 10_000  # of a comment or answer
END = 4_000  # of what is cut, so much of its end is shown: that is where logs say what failed
GROWTH = 40  # HTML may be so many times longer than its text

_PRE = re.compile(
    r'<pre(?: class="([^"]*+)")?>\s*+(?:<code(?: class="([^"]*+)")?>)?+'
    r"([^<]*+)(?:</code>)?+\s*+</pre>"
)
_IMG = re.compile(r"<img((?: [a-z]++=\"[^\"]*+\")*+)>")
_IMG_PART = re.compile(r' (src|alt)="([^"]*+)"')
_URL = re.compile(r"https?://[^\s<>\"'`]++")
_BOX = re.compile(r"\[([ xX])\] ")


@dataclass(frozen=True, slots=True)
class Passage:
    """A text, cut where it is too long."""

    text: str
    left_out: int = 0  # characters between the text and the end
    end: str = ""


def cut(text: str, limit: int, size: int | None = None) -> Passage:
    """The beginning of a text and, where it is longer than the limit, its end.

    `size` is how long it was, where only the beginning is at hand.
    """
    whole = len(text) if size is None else size
    if whole <= limit:
        return Passage(text)
    end = text[-END:] if whole == len(text) and limit > 2 * END else ""
    start = text[: limit - len(end)]
    line = start.rfind("\n", len(start) - 2_000)  # a whole line, if one ends soon before
    start = start[:line] if line > 0 else start
    return Passage(start, whole - len(start) - len(end), end)


Render = Callable[[str, str | None], str]


def rendered(
    render: Render, text: str, origin: str | None, limit: int, size: int | None = None
) -> str:
    """A text as safe HTML; what is too long is cut, with a note that leads to the origin."""
    passage = cut(text, limit, size)
    made = render(visible(passage.text), origin)
    if len(made) > GROWTH * len(passage.text) + 10_000:
        made = plain(passage.text, origin)
    if passage.left_out:
        made += _cut_note(passage, origin)
    return made


def markdown(text: str, origin: str | None = None) -> str:
    """Markdown, read as GitHub reads that of issues."""
    return _finished(known_html(_markdown().render(text)), origin)


def post(text: str, origin: str | None = None) -> str:
    """The HTML of a question or answer."""
    return _finished(known_html(text), origin)


def plain(text: str, _origin: str | None = None) -> str:
    """Text as it is, in the lines that it has."""
    return f'<div class="fa-plain">{escaped(text)}</div>'


def changes(text: str) -> str:
    """Changed lines, added ones green and removed ones red."""
    return f'<pre class="fa-code">{highlighted(visible(text), "diff")}</pre>'


def link(address: str | None, label: str) -> str:
    """A link that opens beside the page; only the label where it leads nowhere."""
    checked = web_address(address) if address else None
    if checked is None:
        return escaped(label)
    return (
        f'<a href="{html.escape(checked)}" target="_blank" rel="noopener noreferrer">'
        f"{escaped(label)}</a>"
    )


def _cut_note(passage: Passage, origin: str | None) -> str:
    rest = link(origin, "read all of it at its origin") if origin else "it is not shown here"
    note = f'<p class="fa-note">{passage.left_out:,} characters are left out; {rest}.</p>'
    if passage.end:
        note += (
            "<details><summary>Its end</summary>"
            f'<pre class="fa-code">{escaped(passage.end)}</pre></details>'
        )
    return note


def _finished(text: str, origin: str | None) -> str:
    """HTML with pictures as links and code in colours, cleaned before and after."""
    made = small_html(text, origin)
    made = _PRE.sub(_code_block, made)
    made = _IMG.sub(_picture, made)
    return safe_html(made, origin).replace("<pre>", '<pre class="fa-code">')


def _code_block(found: re.Match[str]) -> str:
    language = language_of(found[1] or "") or language_of(found[2] or "")
    return f"<pre>{highlighted(html.unescape(found[3]), language)}</pre>"


def _picture(found: re.Match[str]) -> str:
    parts = dict(_IMG_PART.findall(found[1]))
    label = f"[picture: {parts.get('alt') or 'no description'}]"
    return f'<a href="{parts["src"]}">{label}</a>' if parts.get("src") else label


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    reader = MarkdownIt("commonmark", {"html": True, "breaks": True, "maxNesting": 20})
    reader.enable(["table", "strikethrough"])
    reader.core.ruler.push("bare_links", _link_addresses)
    reader.core.ruler.push("boxes", _draw_boxes)
    reader.add_render_rule("html_block", _html_block)
    return reader


def _html_block(
    _self: RendererHTML, tokens: Sequence[Token], at: int, _options: OptionsDict, _env: EnvType
) -> str:
    """Raw HTML between paragraphs; where it is no HTML but code or a log, as that."""
    content = tokens[at].content
    if content.lstrip().startswith("<!--") or has_known_tag(content):
        return content
    return f"<pre>{html.escape(content)}</pre>"


def _link_addresses(state: StateCore) -> None:
    """Make links of addresses that stand in running text."""
    from markdown_it.token import Token

    for block in state.tokens:
        if block.type != "inline" or "://" not in block.content:
            continue
        made: list[Token] = []
        linked = 0
        for token in block.children or ():
            linked += {"link_open": 1, "link_close": -1}.get(token.type, 0)
            if token.type != "text" or linked:
                made.append(token)
                continue
            at = 0
            for found in _URL.finditer(token.content):
                address = found[0].rstrip(".,;:!?*_)]}")
                if found[0].startswith(address + ")") and "(" in address:
                    address += ")"
                end = found.start() + len(address)
                made.append(Token("text", "", 0, content=token.content[at : found.start()]))
                made.append(Token("link_open", "a", 1, attrs={"href": address}))
                made.append(Token("text", "", 0, content=address))
                made.append(Token("link_close", "a", -1))
                at = end
            made.append(Token("text", "", 0, content=token.content[at:]))
        block.children = made


def _draw_boxes(state: StateCore) -> None:
    """Make boxes of `[ ]` and `[x]` at the beginning of list items."""
    tokens = state.tokens
    for before, paragraph, block in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.type != "list_item_open" or paragraph.type != "paragraph_open":
            continue
        first = block.children[0] if block.children else paragraph
        if first.type == "text" and (box := _BOX.match(first.content)):
            mark = "\N{BALLOT BOX}" if box[1] == " " else "\N{BALLOT BOX WITH CHECK}"
            first.content = f"{mark} {first.content[box.end() :]}"
