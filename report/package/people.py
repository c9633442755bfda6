"""Names in a package: who is called what, how values are cleaned, and the last scan.

The cleaner follows the privacy classes of the schema. The scanner does not: it looks at every value
and every file, whatever was done with them, and a finding stops the packaging.
"""

from __future__ import annotations

import getpass
import json
import re
import socket
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.data.people import UNKNOWN, pseudonym, scrub, study_key
from faultatlas.data.redaction import redact
from faultatlas.data.schema import schema
from faultatlas.report.formatting import counted, plain

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.settings import About
    from faultatlas.data.study import Reader, Study

NAME = "<name>"
PATH = "<path>"

# The folder of a person: in tracebacks that strangers pasted.
_HOME = re.compile(
    r"((?<![\w.-])/(?:home|Users)/|\b[A-Za-z]:\\{1,4}Users\\{1,4})(?!<)([^/\\\s\"'`<>:|,;()]+)"
)
# A place on a disk, in words of the team. Mined projects are `owner/name`, never `/owner/name`.
_PLACE = re.compile(
    r"(?<![\w.:/~<-])(?:file:/{2,3}|~/|/(?:home|Users|root|mnt|media|Volumes|private|srv|scratch|nfs"
    r"|tmp|var|opt|work|workspace|data|export|net)/)[^\s\"'`<>|,;()]+"
    r"|(?<![\w])[A-Za-z]:\\{1,4}[^\s\"'`<>|,;()]+|(?<![\w\\])\\\\[\w.-]+\\[^\s\"'`<>|,;()]+"
)
# The same for the scan. Not every drive letter: JSON spells a line feed \n.
_SCANNED_PLACE = re.compile(
    r"(?<![\w.:/~<-])(?:file:/{2,3}\w|/(?:home|Users|root|mnt|media|Volumes|private|srv|scratch|nfs"
    r"|tmp|workspace)/)[\w.-]+|\b[A-Za-z]:\\{1,4}(?i:users|documents|temp|windows|projects)\\"
)
_PSEUDONYM = re.compile(r"\b(?:person|bot)_[0-9a-f]{16}\b")
_WORD = re.compile(r"\w+")
_ROW = re.compile(r"(?:\brow |:)([0-9]+)( rater [0-9]+)?\Z")
_TASK = re.compile(r" project [0-9]+ task [0-9]+ [a-z0-9 ]*\Z")
_SHORTEST = 3  # a name that is looked for in sentences
_ORDINARY = frozenset({"admin", "annotator", "anonymous", "author", "coder", "evaluator", "root",
                       "runner", "ubuntu", "user"})  # fmt: skip
_INDEXES = ("openalex", "scopus")  # sources of papers that are not files
_REPORTED = 5  # findings

# Arguments of commands that say how something was done, and name no file, server or person.
_PUBLIC_ARGUMENTS = frozenset(
    {
        "accepted", "again", "all", "all_branches", "all_tags", "answers", "any_keyword",
        "any_label", "any_lexicon", "batch", "by", "code", "comments", "confidence", "device",
        "duplicates", "evidence", "first", "functions", "gate", "high_priority", "highest",
        "judge_again", "keywords", "label", "level", "lexicon", "margin", "most", "name", "on",
        "overlap", "papers", "project", "pulls", "resamples", "round", "rounds", "rule", "sample",
        "scale", "seed", "seeds", "set", "since", "site", "size", "stage", "state", "statistic",
        "step", "stratify", "support", "tag", "taxonomy", "template", "threshold", "timeline",
        "until", "verify", "where", "without",
    }
)  # fmt: skip
# Columns in which, with texts, strangers write about their own disks.
_OF_STRANGERS = frozenset({"title", "body", "message", "text", "section", "comment", "quote",
                           "description", "evidence", "detail", "cells"})  # fmt: skip


# --- who is called what ------------------------------------------------------------------


def new_names(reader: Reader, *, is_blind: bool) -> dict[str, dict[str, str]]:
    """By privacy class the new names of all values that must not keep theirs.

    They are numbered in the order of the old names: a result that depends on it stays the same.
    """
    numbered = {
        name
        for name, privacy in schema().privacy.items()
        if "numbered" in {privacy.package, privacy.blind if is_blind else ""}
    }
    return {
        name: _renamed(name, [value for value in _values(reader, name) if value not in _INDEXES])
        for name in sorted(numbered)
    }


def _renamed(privacy: str, values: list[str]) -> dict[str, str]:
    if privacy == "file":  # with its ending, which says how it was read
        suffixes = {value: Path(value).suffix.lower() for value in values}
        return {
            value: f"file-{number}{suffix if suffix in {'.bib', '.ris', '.csv'} else ''}"
            for number, (value, suffix) in enumerate(suffixes.items(), 1)
        }
    width = max(len(str(len(values))), 2 if privacy == "rater" else 1)
    return {value: f"{privacy}-{number:0{width}}" for number, value in enumerate(values, 1)}


def _values(reader: Reader, privacy: str) -> list[str]:
    """The values in all columns of a class, sorted."""
    selects = [
        f"SELECT {name} AS value FROM store.{table.name}"
        for table in schema().packaged()
        for name, column in table.columns.items()
        if column.privacy == privacy
    ]
    rows = reader.rows(" UNION ".join(selects)) if selects else []
    return sorted(row["value"] for row in rows if row["value"])


def cleaner_of(
    study: Study, reader: Reader, about: About, *, is_blind: bool, allowed: Iterable[str] = ()
) -> Cleaner:
    """The cleaner for a study; words in `allowed` are not taken for names."""
    words = words_of(allowed)
    vocabulary = words | words_of(
        row["text"] for row in reader.rows("SELECT text FROM store.taxonomy_text")
    )
    columns = reader.rows("SELECT DISTINCT column_name AS name FROM duckdb_columns()")
    vocabulary |= words_of(row["name"] for row in columns)
    machine = [name for name in _names_of_machine() if not is_ordinary(name, vocabulary)]
    # A taxonomy may name its authors: that a word is in it does not make it an ordinary one.
    authors = [name for name in names_of_authors(about) if not is_ordinary(name, words)]
    return Cleaner(
        names=new_names(reader, is_blind=is_blind),
        vocabulary=vocabulary,
        own_names=(*machine, *(authors if is_blind else ())),
        is_blind=is_blind,
        who=_pseudonyms(study.directory),
    )


def names_of_authors(about: About) -> list[str]:
    """What tells who wrote a study: its authors' names in several spellings, and its DOIs."""
    names = [about.doi, about.paper]
    for author in about.authors:
        family, _comma, given = (" ".join(part.split()) for part in author.name.partition(","))
        if not given and " " in family:  # Jane Doe
            given, _blank, family = family.rpartition(" ")
        names += [author.name.strip(), family, author.orcid, author.affiliation.strip()]
        if given:
            names += [f"{given} {family}", f"{family}, {given}", f"{family} {given}"]
    plain_letters = [
        unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode() for name in names
    ]
    return [name for name in dict.fromkeys([*names, *plain_letters]) if name.strip()]


def _names_of_machine() -> Iterator[str]:
    for ask in (getpass.getuser, lambda: Path.home().name, socket.gethostname):
        try:
            if name := ask():
                yield name
        except (OSError, KeyError, RuntimeError):  # a user without a name, as in a container
            continue


def _pseudonyms(directory: Path) -> Callable[[str], str]:
    """Pseudonyms of people whom texts mention: the study's own, if it has a key."""
    if not (directory / "study.key").exists():
        return lambda _login: UNKNOWN
    key = study_key(directory)
    return lambda login: pseudonym(key, "github.com", login)


def is_ordinary(name: str, vocabulary: frozenset[str]) -> bool:
    """Whether a name is also an ordinary word: in sentences it cannot be told from one."""
    word = name.casefold()
    is_plain = word.isdigit() or len(word) < _SHORTEST or word.startswith("rater")
    return is_plain or word in _ORDINARY or word in vocabulary


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """The words of texts, in lower case."""
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def whole_word(
    names: Iterable[str], *, in_paths: bool = False, in_any_case: bool = False
) -> re.Pattern[str] | None:
    """A pattern for names that stand alone, on request also as a part of a path or an id."""
    spelled = "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))
    edge = r"\w" if in_paths else r"\w/"
    # In the path of a claim's query a tilde is %7E.
    before = rf"(?:(?<![{edge}])|(?<=%[0-9A-F]{{2}}))"
    flags = re.IGNORECASE if in_any_case else re.NOFLAG
    return re.compile(rf"{before}(?:{spelled})(?![{edge}])", flags) if spelled else None


# --- cleaning ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Cleaner:
    """What takes people, secrets, places on disks and raters' names out of values."""

    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by privacy class
    vocabulary: frozenset[str] = frozenset()  # words that are not looked for as names
    own_names: tuple[str, ...] = ()  # of this machine and its user; for review, of the authors
    is_blind: bool = False
    who: Callable[[str], str] = lambda _login: UNKNOWN

    @property
    def raters(self) -> Mapping[str, str]:
        """The new names of raters."""
        return self.names.get("rater", {})

    @property
    def unsearched(self) -> list[str]:
        """Raters whose names are ordinary words: sentences are not searched for them."""
        return [name for name in self.raters if is_ordinary(name, self.vocabulary)]

    @cached_property
    def _raters(self) -> re.Pattern[str] | None:
        return whole_word(
            name for name in self.raters if name and not is_ordinary(name, self.vocabulary)
        )

    @cached_property
    def _own_names(self) -> re.Pattern[str] | None:
        return whole_word(self.own_names, in_any_case=self.is_blind)

    def text(self, text: str) -> str:
        """A text of strangers."""
        text = _HOME.sub(rf"\1{NAME}", scrub(redact(text), self.who))
        if not self.is_blind:
            return text
        people = self.names.get("person", {})
        return _PSEUDONYM.sub(lambda person: people.get(person[0], UNKNOWN), text)

    def tag(self, text: str) -> str:
        """A short word of strangers, such as the label of a tracker."""
        return self.text(_PLACE.sub(PATH, text))

    def words(self, text: str) -> str:
        """Words of the team."""
        text = self.tag(text)
        if self._raters:
            text = self._raters.sub(lambda rater: self.raters[rater[0]], text)
        return self._own_names.sub(NAME, text) if self._own_names else text

    def plain(self, value: Any, clean: Callable[[str], str] | None = None) -> Any:
        """Plain values, cleaned in all their texts; where raters are named, they are renamed."""
        clean = clean or self.words
        if isinstance(value, str):
            return clean(value)
        if isinstance(value, list | tuple):
            return [self.plain(item, clean) for item in value]
        if isinstance(value, Mapping):
            return {
                str(key): self._rater_names(item)
                if key in {"rater", "raters", "adjudicator"}
                else self.plain(item, clean)
                for key, item in value.items()
            }
        return value

    def _rater_names(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.raters.get(value) or self.words(value)
        if isinstance(value, list):
            return [self._rater_names(item) for item in value]
        return self.plain(value)

    def document(self, text: str) -> str:
        """JSON of the team's words."""
        return _json(self.plain(json.loads(text)))

    def cells(self, text: str) -> str:
        """A row of a published package."""
        return _json(self.plain(json.loads(text), self.text))

    def arguments(self, text: str) -> str:
        """The arguments of a command that name no file, no server and no person."""
        given = json.loads(text).items()
        return _json(self.plain({name: at for name, at in given if name in _PUBLIC_ARGUMENTS}))

    def person(self, name: str) -> str:
        """A pseudonym, also where a login got into the study."""
        known = name if _PSEUDONYM.fullmatch(name) or name == UNKNOWN else self.who(name)
        return self.names.get("person", {}).get(name, known)

    def claim_id(self, claim_id: str) -> str:
        """The id of a claim when raters have their new names."""
        parts = [self.raters.get(part) or self.words(part) for part in claim_id.split(".")]
        return ".".join(parts)


def row_of(place: str) -> str:
    """Of a file and its row the row; of a server and its task the task."""
    if row := _ROW.search(place):
        return f"row {row[1]}{row[2] or ''}"
    task = _TASK.search(place)
    return f"server{task[0]}" if task else ""


def bare_address(address: str) -> str:
    """An address without its query; nothing for the name of a file."""
    if not address.startswith(("https://", "http://")):
        return ""
    return redact(re.split(r"[?#]", address, maxsplit=1)[0])


def request_kind(request: str) -> str:
    """Of a request its kind: the rest may name whom it was about."""
    parts = json.loads(request)
    kind = parts.get("kind") if isinstance(parts, dict) else None
    return _json({"kind": kind} if isinstance(kind, str) else {})


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# --- the last scan -----------------------------------------------------------------------


@dataclass(frozen=True)
class Finding:
    """Something that must not be published: where it is, and of which kind."""

    place: str
    kind: str


class Scanner:
    """Looks for what must not be published. It does not print what it finds, only where.

    Names of raters and authors it does name, or nobody could find them.
    """

    def __init__(
        self, cleaner: Cleaner, places: Iterable[str], *, with_texts: bool = False
    ) -> None:
        raters = {name for name, new in cleaner.raters.items() if new != name}
        is_blind = cleaner.is_blind
        self._names = {
            "the name of a rater": whole_word(
                (name for name in raters if not is_ordinary(name, cleaner.vocabulary)),
                in_paths=is_blind,
            ),
            "a name of this machine, its user or an author": whole_word(
                cleaner.own_names, in_paths=is_blind, in_any_case=is_blind
            ),
        }
        self._is_blind = is_blind
        self._new_names = frozenset(cleaner.names.get("person", {}).values())
        self._places = tuple(places)
        self._with_texts = with_texts
        self._scanned: dict[tuple[str, bool], tuple[str, ...]] = {}

    def text(self, text: str, *, of_strangers: bool = False, in_file: bool = False) -> list[str]:
        """The kinds of findings in a text. Strangers may name their disks and anybody's names.

        Whether somebody is mentioned cannot be seen in a whole file: `@media`, `@article`.
        """
        kinds = []
        if redact(text) != text:
            kinds.append("a secret")
        if "@" in text and scrub(text, lambda login: login) != text:
            kinds.append("an e-mail address")
        if "@" in text and not in_file and scrub(text, self._known_person) != text:
            kinds.append("a mention of a person")
        if _HOME.search(text) or (not of_strangers and _SCANNED_PLACE.search(text)):
            kinds.append("a path on a disk")
        if any(place in text for place in self._places):
            kinds.append("the path of the study")
        if self._is_blind and _PSEUDONYM.search(text):
            kinds.append("a pseudonym of the study")
        for kind, pattern in self._names.items() if not of_strangers else ():
            if pattern and (name := pattern.search(text)):
                kinds.append(f"{kind} ({plain(name[0])})")
        # An address is also taken for a mention; one of the two is enough.
        return [kind for kind in kinds if kind != "a mention of a person" or len(kinds) == 1]

    def _known_person(self, login: str) -> str:
        """The login itself if the package gave it: then it is not a person's."""
        return login if login in self._new_names else UNKNOWN

    def _value(self, text: str, *, of_strangers: bool) -> tuple[str, ...]:
        """The same; most values are in several tables and views."""
        key = (text, of_strangers)
        if key not in self._scanned:
            self._scanned[key] = tuple(self.text(text, of_strangers=of_strangers))
        return self._scanned[key]

    def table(self, name: str, rows: pa.Table) -> Iterator[Finding]:
        """The values of a table or view, whatever its columns are for."""
        import pyarrow as pa

        for column in rows.column_names:
            values = rows.column(column)
            if pa.types.is_list(values.type):
                flat = [chunk.flatten() for chunk in values.chunks]
                values = pa.chunked_array(flat, values.type.value_type)
            if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
                continue
            lenient = column == "cells" or (self._with_texts and column in _OF_STRANGERS)
            for value in filter(None, values.unique().to_pylist()):
                for kind in self._value(value, of_strangers=lenient):
                    yield Finding(f"{name}.{column}", kind)

    def file(self, name: str, content: bytes) -> Iterator[Finding]:
        """A file and its name; in JSON each text by itself."""
        text = content.decode("utf-8", errors="replace")
        kinds = self.text(f"{name.replace('/', ' ')}\n{text}", in_file=True)
        if name.endswith(".json"):
            kinds += self._mentions(text)
        quotes_strangers = self._with_texts and name.startswith("report/")
        for kind in kinds:
            if not (quotes_strangers and kind == "a path on a disk"):
                yield Finding(name, kind)

    def _mentions(self, text: str) -> list[str]:
        try:
            values = list(texts_in(json.loads(text)))
        except (ValueError, RecursionError):
            return []
        kinds = {kind for value in values for kind in self._value(value, of_strangers=True)}
        return sorted(kinds & {"a mention of a person"})


def texts_in(value: Any) -> Iterator[str]:
    """The texts in plain values, without the keys of dictionaries."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from texts_in(item)


def scan(
    scanner: Scanner,
    tables: Mapping[str, pa.Table],
    files: Mapping[str, bytes],
    labels: Mapping[str, Iterable[str]] | None = None,
) -> list[Finding]:
    """All findings in tables, files and the labels of figures, which drawings show as outlines."""
    findings = [finding for name, rows in tables.items() for finding in scanner.table(name, rows)]
    for figure, texts in (labels or {}).items():
        findings += [Finding(figure, kind) for text in texts for kind in scanner.text(text)]
    for name, content in files.items():
        # Rows are scanned as tables, and labels of figures by themselves.
        if not name.endswith((".parquet", ".pdf")) and not name.startswith("data/"):
            findings += scanner.file(name, content)
    return list(dict.fromkeys(findings))


def refuse(findings: list[Finding]) -> None:
    """Stop if there are any."""
    if not findings:
        return
    shown = "; ".join(f"{finding.place}: {finding.kind}" for finding in findings[:_REPORTED])
    more = f" and {len(findings) - _REPORTED:,} more" if len(findings) > _REPORTED else ""
    raise StudyError(
        f"the package would publish {counted(len(findings), 'thing')} that must not be: "
        f"{shown}{more}",
        "Nothing was written. Remove it from the study (names of rounds and samples, conditions, "
        "taxonomies, claims.toml). If a word is not a name, add --allow WORD.",
    )
