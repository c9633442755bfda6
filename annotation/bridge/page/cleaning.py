"""Safe HTML out of hostile text: what a browser may see, and nothing that calls out.

Whatever came from the outside passes `safe_html` last. Nothing in it runs, loads or looks like
the page around it: no scripts, styles, ids, forms or pictures, links only to the web.
"""

from __future__ import annotations

import html
import ipaddress
import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import urljoin, urlsplit

DEPTH = 60  # elements in elements; browsers and sanitisers get slow far above

_TAGS = frozenset(
    {
        "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt",
        "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "ins", "kbd", "li", "mark", "ol", "p",
        "pre", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "summary", "sup",
        "table", "tbody", "td", "tfoot", "th", "thead", "tr", "tt", "u", "ul", "var",
    }
)  # fmt: skip
_EMPTY = frozenset({"br", "hr", "img"})
_CLOSED_BY_NEXT = frozenset({"dd", "dt", "li", "p", "td", "th", "tr"})
_KEPT_ATTRIBUTES = {
    "a": ("href",),
    "code": ("class",),
    "img": ("src", "alt"),
    "li": (),
    "ol": ("start",),
    "pre": ("class", "lang"),
}
# Possessive, so that no text makes them slow.
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*+)((?:[\s/][^<>]*+)?)>")
_ATTRIBUTE = re.compile(r"""([a-zA-Z]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""")
_LANGUAGE = re.compile(r"(?:^|\s)(?:highlight-source|language|lang)-([\w+#.-]{1,30})")
_HIGHLIGHT = re.compile(r"hl-[a-z]{1,3}[0-9]?")

_ANSI = re.compile(r"\x1b\[[0-9;?]*+[ -/]*+[@-~]")
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u2060-\u2064\ufeff\U000e0000-\U000e007f]"
)
_LINE_ENDS = re.compile("\r\n?|[\u0085\u2028\u2029]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def visible(text: str) -> str:
    """Text in which nothing hides: no terminal colours, no invisible letters, order as stored.

    What turns the direction of text is shown by its number, other controls as a box.
    """
    text = _LINE_ENDS.sub("\n", _ANSI.sub("", text))
    text = _INVISIBLE.sub("", text)
    text = _BIDI.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text)
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def escaped(text: str) -> str:
    """Text as HTML."""
    return html.escape(visible(text))


def known_html(text: str) -> str:
    """HTML of others with the tags that texts are made of; other tags stand there as text.

    So `<module>` of a traceback can still be read. Attributes go, but for links, pictures and
    languages of code, and so does what lies too deep. This makes HTML small, not safe.
    """
    text = _without_comments(text)
    made: list[str] = []
    inside: list[str] = []
    at = 0
    for found in _TAG.finditer(text):
        made.append(_loose(text[at : found.start()]))
        made.append(_known_tag(found, inside))
        at = found.end()
    made.append(_loose(text[at:]))
    return "".join(made)


def has_known_tag(text: str) -> bool:
    """Whether the first tag in a text is one that texts are made of."""
    found = _TAG.search(text)
    return found is not None and found[2].lower() in _TAGS | {"img"}


def language_of(classes: str) -> str:
    """The language that the classes of a block of code name; or ""."""
    found = _LANGUAGE.search(classes)
    return found[1].lower() if found else ""


def small_html(text: str, base: str | None) -> str:
    """HTML with well-formed tags; pictures and languages of code are still in it."""
    kept = {"a": {"href"}, "ol": {"start"}, "code": {"class"}, "pre": {"class"}}
    return _cleaned(text, _TAGS | {"img"}, kept | {"img": {"src", "alt"}}, base, _language_class)


def safe_html(text: str, base: str | None) -> str:
    """HTML for the page. Links that lead nowhere from there are led to where they stood."""
    kept = {"a": {"href"}, "ol": {"start"}, "span": {"class"}}
    return _cleaned(text, _TAGS, kept, base, _highlight_class)


def web_address(text: str, base: str | None = None) -> str | None:
    """An address on the web that a rater can follow; None for all else.

    Addresses of the own machine are none: on a rater's they lead elsewhere, also into the
    labelling server itself.
    """
    try:
        address = urljoin(base or "", "".join(text.split()))
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not host or _is_own_machine(host):
        return None
    return address


def _is_own_machine(host: str) -> bool:
    host = host.rstrip(".").lower()
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return (
            re.fullmatch(r"(?:0x)?[0-9a-f.x]*[0-9]", host) is not None
        )  # 127.1, 0x7f.1, 2130706433
    return address.is_loopback or address.is_unspecified


def _cleaned(
    text: str,
    tags: frozenset[str],
    attributes: dict[str, set[str]],
    base: str | None,
    class_of: Callable[[str], str | None],
) -> str:
    import nh3

    def kept(_tag: str, name: str, value: str) -> str | None:
        if name in {"href", "src"}:
            return _address(value, base)
        if name == "class":
            return class_of(value)
        if name == "start":
            return value if re.fullmatch(r"[0-9]{1,6}", value) else None
        return value

    return nh3.clean(
        text,
        tags=set(tags),
        clean_content_tags=set(),
        attributes=attributes,
        attribute_filter=kept,
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


@lru_cache(maxsize=256)
def _address(value: str, base: str | None) -> str | None:
    return web_address(value, base)


def _language_class(value: str) -> str | None:
    language = language_of(value)
    return f"language-{language}" if language else None


def _highlight_class(value: str) -> str | None:
    return value if _HIGHLIGHT.fullmatch(value) else None


def _without_comments(text: str) -> str:
    made = []
    at = 0
    while (start := text.find("<!--", at)) >= 0:
        made.append(text[at:start])
        end = text.find("-->", start + 2)
        if end < 0:  # browsers hide the rest
            return "".join(made)
        at = end + 3
    return "".join(made) + text[at:]


def _loose(text: str) -> str:
    """Text between tags; entities in it are left as they are."""
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _known_tag(found: re.Match[str], inside: list[str]) -> str:
    closes, name = found[1], found[2].lower()
    if name not in _TAGS and name != "img":
        return html.escape(found[0])
    if closes:
        if name not in inside:
            return ""
        while inside.pop() != name:
            pass
        return f"</{name}>"
    if name in _EMPTY:
        return f"<{name}{_attributes(name, found[3])}>"
    if inside and inside[-1] == name and name in _CLOSED_BY_NEXT:
        inside.pop()
    if len(inside) >= DEPTH:
        return ""
    inside.append(name)
    return f"<{name}{_attributes(name, found[3])}>"


def _attributes(name: str, text: str) -> str:
    wanted = _KEPT_ATTRIBUTES.get(name, ())
    if not wanted:
        return ""
    made = ""
    for found in _ATTRIBUTE.finditer(text):
        key = found[1].lower()
        value = html.unescape(found[2] or found[3] or found[4] or "")
        if key == "lang":
            key, value = "class", f"language-{value}"
        if key in wanted or key == "class":
            made += f' {key}="{html.escape(value)}"'
    return made
