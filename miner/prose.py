"""What people wrote in a text: without code blocks and quotations, which others wrote.

Issues and comments are Markdown, posts are HTML, commit messages are plain text in which some
put fences. These are readers of blocks, not of the whole languages: code inside a line stays.
All of them take time in proportion to the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

_FENCE = re.compile(r"[\s>]*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(`{3,}|~{3,})(.*)")
_QUOTE = re.compile(r" {0,3}>")
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*\S")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)[^<>]*>")
_BLOCKS = frozenset({"p", "br", "li", "div", "pre", "blockquote", "tr", "h1", "h2", "h3", "hr"})


def prose(
    kind: str,
    title: str | None,
    body: str | None,
    *,
    code: bool = False,
    quotes: bool = False,
) -> str:
    """Title and body of an artifact as plain text; `code` and `quotes` are left in on request."""
    if kind == "commit":  # its title is the first line of its body
        return "\n".join(_markdown(body or "", code=code, quotes=quotes, is_plain=True))
    if kind == "post":
        text = "".join(_html(body or "", code=code, quotes=quotes))
    else:
        visible = _without_comments(body or "")
        text = "\n".join(_markdown(visible, code=code, quotes=quotes, is_plain=False))
    return f"{title}\n\n{text}" if title else text


def _markdown(text: str, *, code: bool, quotes: bool, is_plain: bool) -> Iterator[str]:
    fence = ""  # that the open block began with
    in_quote = in_list = in_indented = False
    after_blank = True
    for line in text.splitlines():
        is_blank = not line.strip()
        if fence:
            end = _FENCE.match(line)
            if end and end[1].startswith(fence) and not end[2].strip():
                fence = ""
            if code:
                yield line
            continue
        opening = _FENCE.match(line)
        if opening and _opens(line, opening, in_list=in_list):
            fence = opening[1]
            if code:
                yield line
            continue
        # A line behind a quotation belongs to it until one is blank.
        in_quote = bool(_QUOTE.match(line)) or (in_quote and not is_blank and not is_plain)
        in_list = bool(_ITEM.match(line)) or (in_list and (is_blank or line[:1].isspace()))
        in_indented = (
            not (is_plain or in_quote or in_list)
            and bool(_INDENTED.match(line))
            and (after_blank or in_indented)
        )
        after_blank = is_blank
        if (quotes or not in_quote) and (code or not in_indented):
            yield line


def _opens(line: str, fence: re.Match[str], *, in_list: bool) -> bool:
    """Whether it is a fence: far to the right, a traceback marks an expression with `~~~^^^`."""
    if fence[1][0] == "`" and "`" in fence[2]:
        return False
    return in_list or not _INDENTED.match(line)


def _without_comments(text: str) -> str:
    """Without what templates tell the author; a comment that is not closed hides nothing."""
    parts = text.split("<!--")
    kept = [parts[0]]
    for part in parts[1:]:
        _hidden, closed, rest = part.partition("-->")
        kept.append(rest if closed else f"<!--{part}")
    return "".join(kept)


def _html(text: str, *, code: bool, quotes: bool) -> Iterator[str]:
    depth = {"pre": 0, "blockquote": 0}
    at = 0
    for tag in _TAG.finditer(text):
        if (code or not depth["pre"]) and (quotes or not depth["blockquote"]):
            yield unescape(text[at : tag.start()])
        at = tag.end()
        name = tag[2].lower()
        if name in depth:
            depth[name] = max(0, depth[name] + (-1 if tag[1] else 1))
        if name in _BLOCKS:
            yield "\n"
    if (code or not depth["pre"]) and (quotes or not depth["blockquote"]):
        yield unescape(text[at:])
