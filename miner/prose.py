"""What people wrote in a text: without code blocks and quotations, which others wrote.

Issues and comments are Markdown, posts are HTML, commit messages are plain text in which some
put fences. These are readers of blocks, not of the whole languages: code inside a line stays.
All of them take time in proportion to the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

_NAMES = (
    "p|br|li|div|pre|blockquote|tr|td|th|h[1-6]|hr|ul|ol|dl|dt|dd|table|section|details|summary"
)
_BLOCK = re.compile(_NAMES)
_FENCE = re.compile(r"\s*+(?:[-*+]\s++|\d{1,9}[.)]\s++)?(`{3,}+|~{3,}+)(.*)")
_CLOSING = re.compile(r"\s*+(`{3,}+|~{3,}+)\s*+")
_QUOTE = re.compile(r" {0,3}>(?: {0,3}>)*+ ?")
_QUOTED_LINE = re.compile(r"(?:^|\r) {0,3}>", re.MULTILINE)
_INDENTED = re.compile(r"(?: {4}| {0,3}\t)[ \t]*+\S")
_ITEM = re.compile(r"\s*+(?:[-*+]|\d{1,9}[.)])\s")
# What is no paragraph: a heading, a rule, a block of HTML.
_OTHER_BLOCK = re.compile(
    r" {0,3}(?:#{1,6}(?:\s|$)|(?:(?:-[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)$"
    rf"|</?(?:{_NAMES})(?:[\s/>]|$))",
    re.IGNORECASE,
)
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*+)[^<>]*+>")
_LONG_REFERENCE = re.compile(r"&#[0-9]{8,}+;?")  # no character; Python refuses to read long ones


def prose(
    kind: str,
    title: str | None,
    body: str | None,
    *,
    code: bool = False,
    quotes: bool = False,
) -> str:
    """Title and body of an artifact as plain text; `code` and `quotes` are left in on request."""
    body = body or ""
    if kind == "commit":  # its title is the first line of its body
        return (
            _markdown(body, code=code, quotes=quotes, is_plain=True) if _has_blocks(body) else body
        )
    if kind == "paper":  # an abstract is plain text
        text = body
    elif kind == "post":
        text = "".join(_html(body, code=code, quotes=quotes))
    else:
        text = _markdown(_without_comments(body), code=code, quotes=quotes, is_plain=False)
    return f"{title}\n\n{text}" if title else text


def _has_blocks(message: str) -> bool:
    """Whether there may be a fence or a quotation, which are rare in messages."""
    if "```" in message or "~~~" in message:
        return True
    return ">" in message and bool(_QUOTED_LINE.search(message))


def _markdown(text: str, *, code: bool, quotes: bool, is_plain: bool) -> str:
    reader = _Reader(code=code, quotes=quotes, is_plain=is_plain)
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(filter(reader.keeps, lines))


class _Reader:
    """Says of one line after the other whether it is prose."""

    def __init__(self, *, code: bool, quotes: bool, is_plain: bool) -> None:
        self._code, self._quotes, self._is_plain = code, quotes, is_plain
        self._fence = ""  # that the open block began with,
        self._fence_depth = 0  # in so many quotations
        self._in_list = self._in_quoted_list = self._in_indented = False
        self._in_quoted_text = False  # which goes on in a line without `>`
        self._after_text = False  # of the author: an indented line behind it is no code

    def keeps(self, line: str) -> bool:
        """Whether the next line is prose, or was asked for."""
        quote = _QUOTE.match(line) if ">" in line else None
        depth = line.count(">", 0, quote.end()) if quote else 0
        content = line[quote.end() :] if quote else line
        if self._fence and depth >= self._fence_depth:
            end = _CLOSING.fullmatch(content) if depth == self._fence_depth else None
            if end and end[1].startswith(self._fence):
                self._fence = ""
            return self._code and (self._quotes or not self._fence_depth)
        self._fence = ""  # one in a quotation ends with it
        if self._opens(content, is_quoted=bool(quote)):
            self._fence_depth = depth
            self._in_quoted_text = self._after_text = self._in_indented = False
            return self._code and (self._quotes or not depth)
        return self._keeps_text(line, content, is_quoted=bool(quote))

    def _opens(self, content: str, *, is_quoted: bool) -> bool:
        """Whether a fence begins: far to the right, a traceback marks code with `~~~^^^`."""
        fence = _FENCE.match(content) if "```" in content or "~~~" in content else None
        if not fence or (fence[1][0] == "`" and "`" in fence[2]):
            return False
        in_list = self._in_quoted_list if is_quoted else self._in_list
        if not in_list and _INDENTED.match(content):
            return False
        self._fence = fence[1]
        return True

    def _keeps_text(self, line: str, content: str, *, is_quoted: bool) -> bool:
        is_blank = not content.strip()
        in_list = self._in_quoted_list if is_quoted else self._in_list
        is_item = bool(_ITEM.match(content)) and (in_list or not _INDENTED.match(content))
        is_text = not is_blank and not _OTHER_BLOCK.match(content)
        is_lazy = self._in_quoted_text and is_text and not (is_quoted or is_item or self._is_plain)
        if is_quoted:
            self._in_quoted_list = _goes_on(content, is_item=is_item, in_list=self._in_quoted_list)
            self._in_quoted_text = is_text and (
                self._in_quoted_text or is_item or not _INDENTED.match(content)
            )
        elif not is_lazy:
            self._in_quoted_list = self._in_quoted_text = False
        in_quote = is_quoted or is_lazy
        self._in_list = _goes_on(line, is_item=is_item and not is_quoted, in_list=self._in_list)
        self._in_indented = (
            not (self._is_plain or in_quote or self._in_list or self._after_text)
            and bool(_INDENTED.match(line))
        ) or (self._in_indented and is_blank)
        self._after_text = is_text and not self._in_indented and not in_quote
        return (self._quotes or not in_quote) and (self._code or not self._in_indented)


def _goes_on(line: str, *, is_item: bool, in_list: bool) -> bool:
    """Whether a line is in a list, if the one before was."""
    return is_item or (in_list and (not line.strip() or line[:1].isspace()))


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
            yield _unescaped(text[at : tag.start()])
        at = tag.end()
        name = tag[2].lower()
        if name in depth:
            depth[name] = max(0, depth[name] + (-1 if tag[1] else 1))
        if _BLOCK.fullmatch(name):
            yield "\n"
    if (code or not depth["pre"]) and (quotes or not depth["blockquote"]):
        yield _unescaped(text[at:])


def _unescaped(text: str) -> str:
    return unescape(_LONG_REFERENCE.sub(" ", text)) if "&" in text else text
