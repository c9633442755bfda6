"""References to artifacts in a text: `Fixes #12`, `owner/name#12`, addresses, hashes of commits.

Pure: nothing is looked up. Whether `#12` is an issue or a pull request, what a short hash or an
answer belongs to, and whether a target exists, is found out where links are made. The time is in
proportion to the text, whatever it holds: every pattern has a bounded length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import ArtifactId, Hosts, parse, split_project
from faultatlas.miner.prose import prose

VERSION = 2  # texts are read again by a reader with another number
LIMIT = 1000  # references of one text; a list of changes has some hundreds
_LOOKED_AT = 10 * LIMIT  # with those that are repeated or turn out to be none
_EVIDENCE = 200  # characters

_OWNER = r"(?P<owner>[A-Za-z0-9][A-Za-z0-9_-]{0,38})/(?P<name>[A-Za-z0-9_.-]{1,100})"
_END = r"(?![0-9A-Za-z_])"
# No part of an address: spaces, brackets, quotes, and the marks that end a phrase in Chinese.
_PATH = (
    r"[^\s<>\"'`\\)\]|\u2018-\u201f\u2026\u3001-\u3003\u3008-\u3011\u3014-\u301b"
    r"\uff01\uff08\uff09\uff0c\uff0e\uff1a\uff1b\uff1f\uff3b\uff3d\uff5b-\uff5e]{4,2000}"
)
# ASCII classes on purpose: in Chinese nothing separates a reference from the word before it.
_REFERENCE = re.compile(
    rf"(?P<url>(?i:https?)://{_PATH})"
    r"|(?<![0-9A-Za-z_/.@:-])(?P<bare>(?i:(?:www\.)?(?:github|gitee|stackoverflow)\.com)"
    rf"/{_PATH})"
    rf"|(?<![0-9A-Za-z_./@:#-]){_OWNER}"
    rf"(?:(?P<at>[#!])(?P<key>[1-9][0-9]{{0,6}}|I[0-9A-Z]{{3,15}}){_END}"
    r"|@(?P<sha>[0-9a-f]{7,40})(?![0-9A-Za-z_]|\.[0-9A-Za-z]))"
    # A number behind a mark; `#1 0x00007f` is a line of a backtrace.
    r"|(?<![0-9A-Za-z_/&#@=?!])(?P<mark>[#!]|[Gg][Hh]-)"
    rf"(?P<number>[1-9][0-9]{{0,6}}|I[0-9A-Z]{{3,15}}){_END}(?!\.[0-9]|[ \t]{{1,8}}0x)"
    rf"|(?<![0-9A-Za-z_/.@#=:+-])(?P<hash>[0-9a-f]{{7,40}}){_END}(?!-)"
)
_TRIGGER = re.compile(r"[#!@]|[Gg][Hh]-|://|\.(?i:com)/|[0-9a-f]{7}")
_NOT_ASCII = re.compile(r"[^\x21-\x7e]")
_PAGES = ("/issues/", "/pull", "/commit", "/questions/", "/q/", "/a/")
_FILE = re.compile(r"\.(?:md|html?|rst|txt|ipynb|cc|cpp|h|ya?ml)\Z", re.IGNORECASE)

# What stands before a reference and says what it is. The first group is part of the evidence.
_WORDS = re.IGNORECASE | re.ASCII
_LOOK_BACK = 80
_BY_WORDS = (
    ("picks", re.compile(
        r"(cherry[- ]?pick(?:ed|s|ing)?[ \t]{1,3}(?:from[ \t]{1,3}|of[ \t]{1,3})?"
        r"(?:commit[ \t]{1,3}|pr[ \t]{1,3}|pull request[ \t]{1,3})?)\Z", _WORDS)),
    ("reverts", re.compile(
        r"\b((?:this )?revert(?:s|ing)?[ \t]{1,3}"
        r"(?:commit[ \t]{1,3}|pr[ \t]{1,3}|pull request[ \t]{1,3})?)\Z", _WORDS)),
    # How PyTorch, TensorFlow and merges on GitHub and Gitee name the pull request of a commit.
    ("part of", re.compile(
        r"(pull request resolved:[ \t]{0,3}|[A-Z_]{0,40}INTEGRATE_REVIEW=|"
        r"imported from github pr[ \t]{1,3}|merge pull request[ \t]{1,3})\Z", _WORDS)),
    # GitHub's closing keywords.
    ("fixes", re.compile(
        r"(?:\A|[^0-9A-Za-z_-])((?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)[*_]{0,3}"
        r"(?::[*_]{0,3}[ \t]{0,4}|[ \t]{1,4})[*_]{0,3})\Z", _WORDS)),
    ("duplicate", re.compile(
        r"(?:\A|[^0-9A-Za-z_-])(dup(?:licate)?s? of[*_]{0,3}:?[ \t]{1,4}[*_]{0,3})\Z", _WORDS)),
)  # fmt: skip
_COMMIT_WORD = re.compile(r"pick|revert", _WORDS)  # without one, short hashes are only digits
_DOUBT = re.compile(r"\b(?:not|isn't|possibl[ey]|maybe|might|may|could|seems?|looks?)\b", _WORDS)
_CHAIN = re.compile(r"\)?[ \t]{0,4}(?:[,;&+/]|and|or|,[ \t]{0,3}and)[ \t]{0,4}\(?", _WORDS)
_TRAILER = re.compile(r"[A-Z][A-Za-z]{0,20}(?:-[A-Za-z]{1,20}){0,3}-[Bb]y:")
_TAIL = re.compile(r"\((?:[#!]|[Gg][Hh]-)[1-9][0-9]{0,6}\)\Z")
# What is reverted is not repaired, though its title says so: a title in quotation marks, one behind
# `revert:`, or one that follows at once. Gitee says it in Chinese.
_QUOTES = "\"'`\u2018-\u201f\u00ab\u00bb\u300c-\u300f"
_UNDONE = re.compile(
    r"(?:\b(?:re(?:vert|appl[yi])|back(?:s|ed|ing)?[ -]?out|roll(?:s|ed|ing)?[ -]?back)"
    r"(?:s|es|ed|ing)?|\u56de\u9000|\u56de\u6eda|\u8fd8\u539f)"
    rf"(?:[^\n{_QUOTES}.;]{{0,60}}(?P<quote>(?<![0-9A-Za-z])[{_QUOTES}])|(?:\([^()\n]{{0,60}}\))?!?:"
    r"|[ \t]{1,3}(?:(?:of|the|commit|pr|this|that|my|our)[ \t]{1,3}){0,3}\Z)",
    _WORDS,
)
_ENDS_QUOTE = re.compile(f"[{_QUOTES}](?![0-9A-Za-z])")  # unlike an apostrophe
_LINE = 300  # characters of a line before and behind a reference that are looked at
# Which kinds of artifact may do what: an issue repairs nothing, it can only say so.
_CAN = {
    "commit": ("fixes", "picks", "reverts", "part of"),
    "pull": ("fixes", "picks", "reverts", "duplicate"),
    "issue": ("duplicate",),
    "post": ("duplicate",),
}

_LINE_OF_CODE = re.compile(r"`+")
_PARAGRAPH = re.compile(r"\n\s*\n")
_ANCHOR = re.compile(r"<a\s[^<>]*>", re.IGNORECASE)
_ADDRESS = re.compile(r"href\s*=\s*[\"']?([^\"'<>\s]+)", re.IGNORECASE)
_CODE_TAG = re.compile(r"<(/?)code\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """What a text refers to, and the words that say so.

    `part of` says that a commit belongs to a pull request, if that is what the target is.
    """

    target_id: str
    kind: str
    evidence: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a text stands: the project that bare numbers and hashes belong to."""

    host: str
    project: str
    runs: str | None
    hosts: Hosts

    def numbered(self, project: str, mark: str, key: str) -> ArtifactId | None:
        is_name = key.startswith("I")
        if self.runs == "gitee":  # issues are #I65G7B, pull requests !12
            fits = mark == "#" or (mark == "!" and not is_name)
        else:
            fits = self.runs == "github" and mark != "!" and not is_name
        return _artifact(self.runs, self.host, project, key) if fits else None


def references(
    text: str | None,
    *,
    project: str,
    kind: str,
    can_close: bool = True,
    hosts: Hosts | None = None,
) -> list[Reference]:
    """What a text refers to, each target and kind once, in the order of the text.

    `kind` is that of the artifact: issues and pulls are Markdown, posts HTML, and a commit's
    message counts as it is. `project` is as `project_of` writes it, or a post's site. Where
    words cannot close anything (`can_close`: not in a comment), closing keywords are mentions.
    `hosts` says what private hosts run.
    """
    if not text or not _TRIGGER.search(text):
        return []
    place = _place(project, kind, hosts or {})
    found: dict[tuple[str, str], Reference] = {}
    for each in _all(visible(text, kind, project), place, kind, can_close=can_close):
        found.setdefault((each.target_id, each.kind), each)
        if len(found) >= LIMIT:
            break
    plain = {target for target, kind_said in found if kind_said != "mentions"}
    said = found.values()
    return [each for each in said if each.kind != "mentions" or each.target_id not in plain]


def visible(text: str, kind: str, project: str = "") -> str:
    """A text without code and quotations, with the addresses that its links lead to."""
    if kind == "commit":
        return text.strip()
    if kind == "post":
        marked = _CODE_TAG.sub(r"<\1pre", text)
        return prose("post", None, _ANCHOR.sub(lambda tag: _address(tag[0], project), marked))
    parts = _PARAGRAPH.split(prose(kind, None, text))
    return "\n\n".join(map(_without_code, parts))


def _place(project: str, kind: str, hosts: Hosts) -> _Place:
    if kind == "post" or not project:
        return _Place("", "", None, hosts)
    host, name = split_project(project, "git")
    known: Mapping[str, str] = {"github.com": "github", "gitee.com": "gitee"}
    return _Place(host, name, known.get(host) or hosts.get(host), hosts)


def _all(text: str, place: _Place, kind: str, *, can_close: bool) -> Iterator[Reference]:
    subject = text.partition("\n")[0].rstrip() if kind == "commit" else ""
    tail = _TAIL.search(subject, max(0, len(subject) - 20))
    begun, end, before = 0, 0, ""  # of the words before: where they begin and end, what they say
    for match in islice(_REFERENCE.finditer(text), _LOOKED_AT):
        start = match.start()
        if _is_short(match) and not _COMMIT_WORD.search(text, max(0, start - _LOOK_BACK), start):
            continue
        target, width = _target(match, place)
        if target is None or text.startswith("](", start + width):
            continue  # of a label in brackets the address behind it counts
        at, behind = _around(text, start, start + width)
        said, length = _said(text[max(0, at - _LOOK_BACK) : at])
        if before and not said and _CHAIN.fullmatch(text, end, at):
            said = before
        else:
            begun = at - length
        before, end = said if said in ("fixes", "duplicate") else "", behind
        if kind == "commit" and _is_trailer(text, at):
            continue
        is_tail = tail is not None and tail.start() + 1 == start
        if not said and (is_tail or (kind == "commit" and start == 0 and match["mark"] == "!")):
            said, begun = "part of", start - is_tail  # Gitee's merges begin with the number
        if _is_short(match) and said not in ("picks", "reverts"):
            continue
        if said == "fixes" and (not can_close or _is_undone(text, begun, end)):
            said = ""
        if said not in _CAN[kind]:
            said = ""
        end_of_words = end + (is_tail and said == "part of")
        words = text[begun:end_of_words] if said else text[start : start + width]
        yield Reference(str(target), said or "mentions", _shortened(words))


def _target(match: re.Match[str], place: _Place) -> tuple[ArtifactId | None, int]:
    """What is named, and how many characters name it."""
    if address := match["url"] or match["bare"]:
        address = _NOT_ASCII.split(address, maxsplit=1)[0].rstrip(".,;:!?*_~")
        return _page(address, place.hosts), len(address)
    width = match.end() - match.start()
    if match["owner"]:
        project = f"{match['owner']}/{match['name']}"
        if match["sha"]:
            return _artifact("git", place.host or "github.com", project, match["sha"]), width
        if _FILE.search(project):
            return None, width
        return place.numbered(project, match["at"], match["key"]), width
    if match["mark"]:
        return place.numbered(place.project, match["mark"].upper(), match["number"]), width
    return _artifact("git", place.host, place.project, match["hash"]), width


def _page(address: str, hosts: Hosts) -> ArtifactId | None:
    if not any(page in address for page in _PAGES):
        return None
    try:
        it = parse(address, hosts=hosts)
    except StudyError:
        return None
    return it if it.source in ("github", "gitee", "git", "stackoverflow") else None


def _artifact(source: str | None, host: str, project: str, key: str) -> ArtifactId | None:
    try:
        name = project.lower().removesuffix(".git")
        return ArtifactId(source, host, name, key) if source and project else None
    except StudyError:
        return None


def _is_short(match: re.Match[str]) -> bool:
    """Whether it is a few hexadecimal digits, which may be anything."""
    return bool(match["hash"]) and len(match["hash"]) < 40


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    """From where to where a reference goes with its label, or with the brackets around it."""
    if text[max(0, start - 1) : start] == "<" and text.startswith(">", end):
        return start - 1, end + 1
    if not text.startswith("](", start - 2):
        return start, end
    found = text.rfind("[", max(0, start - _EVIDENCE), start)
    return found if found >= 0 else start, end


def _said(before: str) -> tuple[str, int]:
    """What the words before a reference say of it, and their length."""
    for kind, pattern in _BY_WORDS:
        if found := pattern.search(before):
            length = len(before) - found.start(1)
            if kind == "duplicate" and _DOUBT.search(before, 0, found.start(1)):
                return "", 0
            return kind, length
    return "", 0


def _is_undone(text: str, begun: int, end: int) -> bool:
    """Whether a line says of the words from `begun` to `end` that they are taken back."""
    start = text.rfind("\n", max(0, begun - _LINE), begun) + 1 or max(0, begun - _LINE)
    found = _UNDONE.search(text, start, begun)
    if found is None or not found["quote"]:
        return found is not None
    closing = text[end : end + _LINE].partition("\n")[0]
    inside = text[found.end() : begun]
    # A title that is cut off, or goes on in the next line, has no second mark.
    return bool(_ENDS_QUOTE.search(closing)) or not _ENDS_QUOTE.search(inside)


def _is_trailer(text: str, at: int) -> bool:
    """Whether the line is about people, such as Co-authored-by."""
    return bool(_TRAILER.match(text[max(0, at - _EVIDENCE) : at].rpartition("\n")[2]))


def _shortened(words: str) -> str:
    words = " ".join(words.split())
    return words if len(words) <= _EVIDENCE else f"{words[: _EVIDENCE - 3]}..."


def _without_code(paragraph: str) -> str:
    """A paragraph without code in its lines: what stands between equal runs of backticks."""
    runs = list(_LINE_OF_CODE.finditer(paragraph))
    following: dict[int, int] = {}  # length of a run -> the nearest one behind
    closing = [0] * len(runs)
    for place in range(len(runs) - 1, -1, -1):
        length = len(runs[place][0])
        closing[place] = following.get(length, 0)
        following[length] = place
    kept, at, place = [], 0, 0
    while place < len(runs):
        if closing[place]:
            kept.append(paragraph[at : runs[place].start()])
            place = closing[place]
            at = runs[place].end()
        place += 1
    return "` `".join([*kept, paragraph[at:]])


def _address(tag: str, site: str) -> str:
    """The address in a tag of HTML as text; the site's own pages are given without the host."""
    found = _ADDRESS.search(tag)
    address = found[1] if found else ""
    own = f"https://{site}" if address.startswith(("/questions/", "/q/", "/a/")) else ""
    return f" {own}{address} "
