"""People are pseudonyms: a keyed hash of host and login, the same wherever they appear.

The key is `study.key` in the study's directory. Whoever has it can test a guess at a login, so
it is readable for its owner only and goes into no export.

`scrub` takes people out of what is written. It follows GitHub: `@alice` in prose is a mention;
`@tf.function`, `@jit(...)`, the team or package `@org/name`, and what stands in code is none,
unless the login is known. Links to somebody's repositories stay (bugs are reproduced with
them), and so does a name in plain words.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import re
import secrets
import stat
from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from pathlib import Path
from typing import overload

from faultatlas.data.errors import StudyError
from faultatlas.data.files import drop_abandoned

UNKNOWN = "person_unknown"  # an account that was deleted; whose it was, nobody can tell
EMAIL = "<email>"
NAME = "<name>"

_FILE = "study.key"
_KEY = re.compile(r"[0-9a-f]{64}\n?")
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}

_PSEUDONYM = re.compile(r"(?:person|bot)_[0-9a-f]{16}|person_unknown")
# Here every step looks at each character a bounded number of times: what is mined is hostile.
# Runs are taken whole (`++`) and only from their beginning. ASCII on purpose: Chinese prose
# has no spaces around a mention or an address.
_LOCAL = r"[A-Za-z0-9._%+-]"
_AT = re.compile(rf"(?:(?<!{_LOCAL})({_LOCAL}++))?@([A-Za-z0-9._-]*+(?:\[bot\])?)")
_LOGIN = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9])?(?:\[bot\])?")
_DOMAIN = re.compile(r"(?:[A-Za-z0-9-]++\.)+([A-Za-z]{2,63}|xn--[A-Za-z0-9-]{1,59})(?![A-Za-z0-9])")
# `x@w.grad` and `x@w.to(device)` multiply matrices, `icon@2x.png` is a file.
_SURE = re.compile(r"com|org|net|edu|gov|info|cloud|dev", re.IGNORECASE)
_COUNTRY = re.compile(r"[a-z]{2}")
_FILE_TYPE = re.compile(r"png|jpe?g|gif|svg|webp|zip|whl|json|ya?ml|html", re.IGNORECASE)
# Pasted code without a fence around it; in real issues, one mention in fifty is one of these.
_MARKERS = frozenset(
    {"classmethod", "contextmanager", "dataclass", "override", "property", "staticmethod"}
)

_FENCE = re.compile(r"[ \t>]*+(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]++)?(`{3,}+|~{3,}+)([^\n]*+)")
_BACKTICKS = re.compile(r"`++")

_ADDRESSED = r"(?=[ \t]?(?:<[^<>\s@]{1,254}@[^<>\s]{1,254}>|\*{3}@\*{3}\.\*{3}>?)"  # GitHub's mask
_NAMES = tuple(
    re.compile(rf"^([ \t>]*+{before})[^<>@*`\n]{{1,100}}?{_ADDRESSED}{after})", re.MULTILINE)
    for before, after in (
        (
            r"(?:[A-Z][A-Za-z]{1,20}(?:-[a-z]{1,20}){0,3}-by|Author|Committer|From|To|Cc):[ \t]*+",
            "",
        ),
        (r"On [^<>@\n]{4,60}?[0-9]:[0-9]{2}(?::[0-9]{2})?(?:[ \xa0\u202f]?[AP]M)?,? ", " wrote:"),
        (r"On [^<>@\n]{4,40}?[0-9]{4},? ", " wrote:"),
    )
)
_PROFILE = re.compile(
    r"\b(https?://(?:www\.)?(?:github|gitee)\.com/)([A-Za-z0-9][A-Za-z0-9_-]{0,99}+)"
    r"(?!/?[A-Za-z0-9_]|[.-][A-Za-z0-9_])"
)


def study_key(directory: Path, tell: Callable[[str], None] | None = None) -> bytes:
    """The study's key; made when there is none, and never overwritten.

    A key that others may read is closed, and `tell` hears of it. It is not refused: a copied
    or unpacked study has such a key, closing it is all that its owner would do, and some file
    systems show every file as open.
    """
    path = directory / _FILE
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        # A draft of a killed process may be the key itself: nobody keeps an eye on that file.
        drop_abandoned(directory, f".{_FILE}")
        if not path.exists():
            _make(path)
        text = path.read_text(encoding="ascii", errors="replace")
        _close_to_others(path, tell)
    except OSError as error:
        raise StudyError(
            f"{path} cannot be read or written: {error.strerror}",
            "Check the path and its permissions, then run this again.",
        ) from None
    if not _KEY.fullmatch(text):
        raise StudyError(
            f"{path} is {'damaged' if text else 'empty'}: it must hold 64 hexadecimal digits",
            "Put a copy of it back. Delete it only if nothing was mined yet: with a new key "
            "everybody gets another pseudonym.",
        )
    return bytes.fromhex(text)


@overload
def pseudonym(key: bytes, host: str, login: str) -> str: ...
@overload
def pseudonym(key: bytes, host: str, login: None) -> None: ...
def pseudonym(key: bytes, host: str, login: str | None) -> str | None:
    """`person_` or `bot_` and 16 hexadecimal digits; nobody stays nobody."""
    if login is None:
        return None
    name = login.strip().casefold()
    # GitHub shows `ghost` for deleted accounts; elsewhere somebody may be called so.
    if not name or (name == "ghost" and host.casefold() != "gitee.com"):
        return UNKNOWN
    # No host holds a line feed, so no two pairs give the same words.
    words = f"{host.casefold()}\n{name}".encode(errors="surrogatepass")
    kind = "bot" if name.endswith("[bot]") else "person"
    return f"{kind}_{hmac.new(key, words, hashlib.sha256).hexdigest()[:16]}"


def scrub(
    text: str, pseudonym_of: Callable[[str], str], known_logins: Container[str] = frozenset()
) -> str:
    """The text with `@pseudonym` for mentions and `<email>` for addresses.

    Names before an address in trailers (`Signed-off-by:`), mail headers and quoted replies
    become `<name>`, and a profile page of somebody mentioned or known that of the pseudonym.
    `pseudonym_of` gets a login as it is spelled; `known_logins` are in lower case.
    """
    for name in _NAMES:
        text = name.sub(rf"\1{NAME}", text)
    scrubber = _Scrubber(pseudonym_of, known_logins)
    parts = [scrubber.part(part, in_code=in_code) for part, in_code in _parts(text)]
    return _PROFILE.sub(scrubber.profile, "".join(parts))


class _Scrubber:
    """Decides what an `@` is; remembers who was mentioned."""

    def __init__(self, pseudonym_of: Callable[[str], str], known: Container[str]) -> None:
        self._pseudonym_of = pseudonym_of
        self._known = known
        self._mentioned: set[str] = set()
        self._in_code = False
        self._address_end = -1  # in the part at hand

    def part(self, text: str, *, in_code: bool) -> str:
        self._in_code, self._address_end = in_code, -1
        return _AT.sub(self._at, text)

    def profile(self, match: re.Match[str]) -> str:
        login = match[2].lower()
        meant = login in self._mentioned or login in self._known
        return f"{match[1]}{self._pseudonym_of(match[2])}" if meant else match[0]

    def _at(self, match: re.Match[str]) -> str:
        local, right = match[1] or "", match[2]
        # A dash or a dot ends a word, and so does the underscore of `_@alice_`.
        word = re.search(r"[A-Za-z0-9]\Z|[A-Za-z0-9].*_\Z", local[-100:])
        if word and (length := self._address(match)):
            self._address_end = match.end()
            in_brackets = match.string[match.start() - 1 : match.start()] == "<"
            in_brackets = in_brackets and _following(match, length) == ">"
            return f"{EMAIL[1:-1] if in_brackets else EMAIL}{right[length:]}"
        login = "" if word else self._mention(match, local)
        if not login:
            return match[0]
        self._mentioned.add(login.lower())
        return f"{local}@{self._pseudonym_of(login)}{right[len(login) :]}"

    def _address(self, match: re.Match[str]) -> int:
        """How much after the `@` belongs to an e-mail address; 0 if it is none."""
        domain = _DOMAIN.match(match[2])
        if domain is None or match[1] == "git":  # git@github.com:o/r is where a repository is
            return 0
        length, top = domain.end(), domain[1]
        if not _SURE.fullmatch(top):
            called = _following(match, length) == "("
            unlikely = self._in_code and not _COUNTRY.fullmatch(top)
            if called or unlikely or _FILE_TYPE.fullmatch(top):
                return 0
        return length

    def _mention(self, match: re.Match[str], local: str) -> str:
        """The login that is mentioned, or nothing."""
        found = _LOGIN.match(match[2])
        if found is None or _PSEUDONYM.fullmatch(found[0]):
            return ""
        login, rest = found[0], match[2][found.end() :]
        before = match.string[match.start() - 1 : match.start()] if not local else ""
        inside = re.match("[A-Za-z0-9_]", before) and match.start() != self._address_end
        if inside or rest[:1].isalnum():  # of a word; or too long for a login
            return ""
        if login.lower() in self._known:
            return login
        after = rest[:1] or _following(match, len(login))
        # A decorator, a team or package, BibTeX, a page such as medium.com/@alice.
        other = re.match(r"\.[A-Za-z0-9_]", rest) or (after and after in "(/{") or before == "/"
        return "" if other or self._in_code or login.lower() in _MARKERS else login


def _following(match: re.Match[str], length: int) -> str:
    """The character after so many of those after the `@`; nothing at the end."""
    place = match.start(2) + length
    return match.string[place : place + 1]


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and whether each is code: fenced, or between backticks."""
    paragraph: list[str] = []
    fence, depth = "", 0
    for line in text.splitlines(keepends=True):
        quotes = line[: len(line) - len(line.lstrip(" \t>"))].count(">")
        if fence and quotes < depth:  # a quotation ends, and its code with it
            fence = ""
        mark = _FENCE.match(line)
        if fence:
            yield line, True
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark and (mark[1][0] == "~" or "`" not in mark[2]):
            yield from _spans("".join(paragraph))
            paragraph, fence, depth = [], mark[1], quotes
            yield line, True
        else:
            paragraph.append(line)
            if not line.strip(" \t>\r\n"):  # no span goes on after an empty line
                yield from _spans("".join(paragraph))
                paragraph = []
    yield from _spans("".join(paragraph))


def _spans(paragraph: str) -> Iterator[tuple[str, bool]]:
    runs = [run.span() for run in _BACKTICKS.finditer(paragraph)]
    closing: list[int | None] = [None] * len(runs)
    newest: dict[int, int] = {}
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        closing[index] = newest.get(length)
        newest[length] = index
    done = index = 0
    while index < len(runs):
        start, end = runs[index][0], closing[index]
        if end is None or paragraph[start - 1 : start] == "\\":
            index += 1
            continue
        yield paragraph[done:start], False
        done, index = runs[end][1], end + 1
        yield paragraph[start:done], True
    yield paragraph[done:], False


def _make(path: Path) -> None:
    """Make the key so that nobody ever sees half of one, and one of two processes wins."""
    draft = path.with_name(f".{_FILE}.{secrets.token_hex(8)}.{os.getpid()}.new")
    content = f"{secrets.token_hex(32)}\n".encode()
    _write_new(draft, content)
    try:
        os.link(draft, path)
    except FileExistsError:  # another process was faster: its key is the study's
        pass
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with suppress(FileExistsError):
            _write_new(path, content)
    finally:
        draft.unlink()


def _write_new(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _close_to_others(path: Path, tell: Callable[[str], None] | None) -> None:
    if os.name != "posix" or not path.stat().st_mode & _FOR_OTHERS:
        return
    with suppress(OSError):  # another's file, or a disk that cannot be written
        path.chmod(0o600)
    closed = not path.stat().st_mode & _FOR_OTHERS
    if tell:
        then = "it is closed now" if closed else "close it, or move the study to another disk"
        tell(f"others could read {path}, which tells who is behind a pseudonym; {then}")
