"""Which rows of a dump are meant, found without parsing the others.

A dump is some hundred gigabytes, of which a study wants a few rows. `<` begins a row and stands
nowhere else, and a C function looks for it; what tells the rows apart stands right behind
the number, and the tags near the end, so nothing here looks at a body. Where a row is written in
another way than Stack Exchange does it, a real parser decides. So it does for every row that
seems to be meant: what is picked here are candidates.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Protocol

from faultatlas.data.old.records import PostRow, ReplyRow
from faultatlas.miner.payload import Who
from faultatlas.miner.posts.dump_rows import (
    ANSWER,
    QUESTION,
    Attributes,
    DamagedRow,
    answer_row,
    attributes,
    comment_row,
    number_of,
    question_row,
    tags_of,
    type_name,
)
from faultatlas.miner.posts.dump_tally import Tally

if TYPE_CHECKING:
    from faultatlas.miner.posts.selection import PostSelection

Found = PostRow | ReplyRow
Spans = list[tuple[int, int]]  # where rows begin, and where the next ones do

_HEAD = re.compile(rb'<row Id="[0-9]++" (?:PostTypeId="([0-9]++)"|PostId=")')
_QUESTION = b'" PostTypeId="1"'
_ANSWER = b'" PostTypeId="2"'
_ANSWER_TO = b'" PostTypeId="2" ParentId="'
_COMMENT_ON = b'" PostId="'
_TAGS = b'Tags="'
_DIGIT = len('" PostTypeId="')
_ONE, _TWO = b"12"
_NO_ROW = (b"</", b"<?", b"<posts", b"<comments")
_BLANK = 32


class Picker(Protocol):
    """Picks rows out of a block of a file."""

    root: str
    tally: Tally
    base: int  # where the block begins in the file

    def candidates(self, buffer: bytearray, end: int, most: int) -> Spans:
        """Rows before a `<` that may be meant; the search ends when there are so many."""

    def accepted(self, row: Attributes) -> Found | None:
        """The row as a study has it, if it is meant."""

    def unreadable(self, position: int, reason: str) -> None:
        """Count a row of which not even the kind is known."""


def row_at(buffer: bytearray, at: int, following: int) -> bytes:
    """The bytes of a row, without what stands between it and the next."""
    end = buffer.rfind(b"/>", at, following)
    return bytes(buffer[at : end + 2] if end >= 0 else buffer[at:following]).rstrip()


class _Picker:
    """What pickers share: the distance from a row's begin to what follows its number."""

    root = "posts"
    names_unreadable = True

    def __init__(self, site: str, who: Who) -> None:
        self.site = site
        self.who = who
        self.tally = Tally()
        self.base = 0
        self._offset = len('<row Id="')

    def unreadable(self, position: int, reason: str) -> None:
        """Count a row of which not even the kind is known."""
        self.tally.count("unreadable")
        if self.names_unreadable:
            self.tally.damage(position, reason)

    def _unusual(self, buffer: bytearray, at: int, following: int) -> Attributes:
        """What a row is whose number has more digits, or that is written in another way."""
        match = _HEAD.match(buffer, at)
        if match:
            self._offset = buffer.index(b'"', at + len('<row Id="')) - at
            if match[1] is not None:
                return {"PostTypeId": match[1].decode()}
        elif buffer.startswith(_NO_ROW, at):
            return {}
        try:
            found = attributes(row_at(buffer, at, following))
            number_of(found, "Id")
        except DamagedRow as damage:
            self.unreadable(self.base + at, str(damage))
            return {}
        return found

    def _count_type(self, row: Attributes) -> str:
        kind = row.get("PostTypeId", "")
        if kind == QUESTION:
            self.tally.count("question")
        elif kind == ANSWER:
            self.tally.count("answer")
        elif row:
            self.tally.count(type_name(kind) if kind else "row without a type")
        return kind


def lists_of(selection: PostSelection) -> list[tuple[str, ...]]:
    """Tags of which a question must have all of one list."""
    return [tuple(sorted(map(str.lower, each))) for each in selection.walks if each]


def list_name(tags: tuple[str, ...]) -> str:
    """For a reader."""
    return " and ".join(tags)


class Questions(_Picker):
    """Picks questions by their tags, and checks what else is asked for."""

    def __init__(self, selection: PostSelection, who: Who) -> None:
        super().__init__(selection.site, who)
        self._selection = selection
        tags = frozenset(tag.lower() for tag in selection.tags)
        self._lists = {list_name(each): frozenset(each) for each in lists_of(selection)}
        # Both spellings of a list; a tag alone is looked for first, since most rows lack it.
        names = [tag.replace("&", "&amp;").replace('"', "&quot;") for tag in sorted(tags)]
        self._names = [(name, f"|{name}|", f"&lt;{name}&gt;") for name in names]

    def candidates(self, buffer: bytearray, end: int, most: int) -> Spans:
        """Questions that may have one of the tags."""
        find, begins, may_have_tag = buffer.find, buffer.startswith, self._may_have_tag
        offset, every = self._offset, not self._names
        found: Spans = []
        questions = answers = 0
        at = find(b"<")
        while at < end:
            following = find(b"<", at + 1)
            place = at + offset
            kind = buffer[place + _DIGIT] if place < following else 0  # `</row>` is shorter
            if kind == _TWO and begins(_ANSWER, place):
                answers += 1
            elif kind == _ONE and begins(_QUESTION, place):
                questions += 1
                if every or may_have_tag(buffer, at, following):
                    found.append((at, following))
                    if len(found) == most:
                        break
            else:
                if self._count_type(self._unusual(buffer, at, following)) == QUESTION:
                    found.append((at, following))
                offset = self._offset
                if len(found) == most:
                    break
            at = following
        self.tally.count("question", questions)
        self.tally.count("answer", answers)
        return found

    def _may_have_tag(self, buffer: bytearray, at: int, following: int) -> bool:
        place = buffer.rfind(_TAGS, at, following)
        if place < 0 or buffer[place - 1] > _BLANK:  # none, or that of another attribute
            return True
        try:
            # With the little that follows. A str, which is searched faster than bytes are.
            rest = buffer[place:following].decode("ascii").lower()
        except UnicodeDecodeError:
            return True
        for name, barred, bracketed in self._names:
            if name in rest and (barred in rest or bracketed in rest):
                return True
        return "&#" in rest

    def accepted(self, row: Attributes) -> PostRow | None:
        """The question, if it is one of the selection."""
        if row.get("PostTypeId") != QUESTION:
            return None
        if self._lists:
            tags = {tag.lower() for tag in tags_of(row.get("Tags", ""))}
            meant = [name for name, names in self._lists.items() if names <= tags]
            self.tally.tag(meant)
            if not meant:
                return None
        found, wanted = question_row(row, self.site, self.who), self._selection
        if wanted.accepted and found.accepted_answer_id is None:
            return None
        if wanted.since and (found.created_at is None or found.created_at < wanted.since):
            return None
        self.tally.accepted += found.accepted_answer_id is not None
        return found


class Answers(_Picker):
    """Picks the answers to questions."""

    names_unreadable = False  # the questions of the same file were looked for before

    def __init__(self, site: str, who: Who, questions: Container[int]) -> None:
        super().__init__(site, who)
        self._questions = questions

    def candidates(self, buffer: bytearray, end: int, most: int) -> Spans:
        """Answers that may belong to one of the questions."""
        find, begins, questions = buffer.find, buffer.startswith, self._questions
        offset, skip = self._offset, len(_ANSWER_TO)
        found: Spans = []
        answers = others = 0
        at = find(b"<")
        while at < end:
            following = find(b"<", at + 1)
            place = at + offset
            kind = buffer[place + _DIGIT] if place < following else 0
            if kind == _TWO and begins(_ANSWER_TO, place):
                answers += 1
                place += skip
                if _number(buffer[place : find(b'"', place)]) in questions:
                    found.append((at, following))
                    if len(found) == most:
                        break
            elif kind == _ONE and begins(_QUESTION, place):
                others += 1
            else:
                if self._count_type(self._unusual(buffer, at, following)) == ANSWER:
                    found.append((at, following))
                offset = self._offset
                if len(found) == most:
                    break
            at = following
        self.tally.count("answer", answers)
        self.tally.count("question", others)
        return found

    def accepted(self, row: Attributes) -> ReplyRow | None:
        """The answer, if it is one to the questions."""
        if row.get("PostTypeId") != ANSWER:
            return None
        found = answer_row(row, self.site, self.who)
        return found if number_of(row, "ParentId") in self._questions else None


class Comments(_Picker):
    """Picks the comments on questions and answers."""

    root = "comments"

    def __init__(
        self, site: str, who: Who, questions: Container[int], answers: Mapping[int, int]
    ) -> None:
        super().__init__(site, who)
        self._questions = questions
        self._answers = answers  # with the questions that they belong to

    def answers_in(self, found: Iterable[Found]) -> dict[str, int]:
        """For comments that are on answers, the questions of these."""
        on = sorted({row.post_id for row in found if row.post_id in self._answers})
        return {str(number): self._answers[number] for number in on}

    def candidates(self, buffer: bytearray, end: int, most: int) -> Spans:
        """Comments that may be on one of the posts."""
        find, begins = buffer.find, buffer.startswith
        questions, to_questions = self._questions, self._answers
        offset, skip = self._offset, len(_COMMENT_ON)
        found: Spans = []
        comments = 0
        at = find(b"<")
        while at < end:
            following = find(b"<", at + 1)
            place = at + offset
            if place < following and begins(_COMMENT_ON, place):
                comments += 1
                place += skip
                number = _number(buffer[place : find(b'"', place)])
                if number in questions or number in to_questions:
                    found.append((at, following))
                    if len(found) == most:
                        break
            else:
                if self._unusual(buffer, at, following):
                    comments += 1
                    found.append((at, following))
                offset = self._offset
                if len(found) == most:
                    break
            at = following
        self.tally.count("comment", comments)
        return found

    def accepted(self, row: Attributes) -> ReplyRow | None:
        """The comment, if it is one on the posts."""
        found = comment_row(row, self.site, self.who, self._answers)
        is_meant = found.post_id in self._questions or found.post_id in self._answers
        return found if is_meant else None


def _number(digits: bytearray) -> int:
    try:
        return int(digits)
    except ValueError:  # seen by the parser, which names it
        return -1
