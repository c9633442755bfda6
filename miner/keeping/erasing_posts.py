"""An exchange with posts without what a study has forgotten, whoever told of them.

A forgotten question goes with its answers and comments, a forgotten person with what they
wrote. Answers of the API are JSON, parts of a dump rows of XML, those of the Data Explorer CSV.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from faultatlas.miner.archive import Exchange
from faultatlas.miner.keeping.erased_posts import PostWords
from faultatlas.miner.keeping.erasing import Forgotten, Found
from faultatlas.miner.payload import Who, text
from faultatlas.miner.posts import naming, sede_rows
from faultatlas.miner.posts.dump_rows import DamagedRow, attributes, raw_rows
from faultatlas.miner.posts.people import login_of

_CUT = object()
_NOBODY = {"user_type": "does_not_exist"}
_IDS = re.compile(r"(?<=/)[0-9;]+(?=[/?]|\Z)")
# One after the other from the first, so that none is found inside of another's value.
_ATTRIBUTE = re.compile(rb"""\s+([^\s=<>"'/]+)\s*=\s*(?:"[^"]*"|'[^']*')""")
_EDITORS = ("LastEditorUserId", "LastEditorDisplayName")
_EDITOR_COLUMNS = ("lasteditoruserid", "lasteditordisplayname")


class PostEraser:
    """Cuts; `found` has what was found."""

    def __init__(self, exchange: Exchange, forgotten: Forgotten, who: Who) -> None:
        self._exchange = exchange
        self._site = exchange.project.partition(":")[2]
        self._artifacts = forgotten.artifacts
        self._replies = forgotten.comments  # that were cut out elsewhere
        self.found = Found()
        self._words = PostWords(
            forgotten.artifacts, forgotten.people, who, exchange.project, self.found.people.add
        )

    def rest(self) -> Exchange | None:
        """What is left; the same object where nothing was found, None where nothing is left."""
        request = self._request()
        if request is None:
            return None
        kind = self._exchange.kind
        if kind.startswith("dump "):
            body = self._dump()
        elif kind == "sede":
            body = self._sede()
        else:
            body = self._api()
        if body is None:
            return None
        left = replace(
            self._exchange,
            request=request,
            url=self._url(self._exchange.url),
            final_url=self._url(self._exchange.final_url),
            body=body,
        )
        return self._exchange if left == self._exchange else left

    # What was asked for

    def _request(self) -> Mapping[str, Any] | None:
        """The request without forgotten posts; None where it was about nothing else."""
        asked = dict(self._exchange.request)
        if isinstance(asked.get("artifacts"), list):
            kept = [each for each in asked["artifacts"] if not self._is_forgotten(each)]
            if asked["artifacts"] and not kept:
                return None
            asked["artifacts"] = kept
        if isinstance(asked.get("answers"), Mapping):  # of a dump: the question of each answer
            asked["answers"] = {
                answer: question
                for answer, question in asked["answers"].items()
                if not self._is_about(naming.answer_id(self._site, answer), question)
                and naming.answer_id(self._site, answer) not in self._replies
            }
        return asked

    def _url(self, url: str) -> str:
        def kept(match: re.Match[str]) -> str:
            numbers = match[0].split(";")
            name = naming.answer_id if "/answers/" in url else naming.question_id
            return ";".join(
                each if name(self._site, int(each or 0)) not in self._artifacts else "0"
                for each in numbers
            )

        return _IDS.sub(kept, url) if url.startswith("/") else url

    # What was said

    def _api(self) -> bytes | None:
        try:
            said = self._exchange.json()
        except ValueError:
            return self._exchange.body
        kept = self._value(said)
        if kept == said:
            return self._exchange.body
        words = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
        return words.encode(errors="surrogatepass")

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._words.erased(value)
        if isinstance(value, list):
            kept = [self._value(item) for item in value]
            return [item for item in kept if item is not _CUT]
        if not isinstance(value, Mapping):
            return value
        if self._is_cut(value):
            return _CUT
        if self._is_person(value):
            return dict(_NOBODY)
        inside = {name: self._value(item) for name, item in value.items()}
        return {name: None if item is _CUT else item for name, item in inside.items()}

    def _is_cut(self, item: Mapping[str, Any]) -> bool:
        question = _number(item.get("question_id"))
        own = None
        if number := _number(item.get("comment_id")):
            own = naming.comment_id(self._site, number)
        elif number := _number(item.get("answer_id")):
            own = naming.answer_id(self._site, number)
        elif question:
            own = naming.question_id(self._site, question)
        if own is None:
            return False
        if self._is_about(own, question):
            return True
        return self._is_person(item.get("owner")) and self._is_written(own)

    def _is_person(self, value: Any) -> bool:
        if not isinstance(value, Mapping) or not {"user_id", "display_name"} & {*value}:
            return False
        number = value.get("user_id")
        name = html.unescape(text(value.get("display_name")) or "")
        return self._is_somebody(number if isinstance(number, int) else None, name)

    # Rows of files

    def _dump(self) -> bytes | None:
        rows = raw_rows(self._exchange.body)
        kept = [self._erased(row) for row in rows if not self._is_row_cut(row)]
        if kept == rows:
            return self._exchange.body
        return b"\n".join(kept) if kept else None

    def _is_row_cut(self, raw: bytes) -> bool:
        try:
            row = attributes(raw)
        except DamagedRow:
            return False
        number, parent, on = (_digits(row.get(name)) for name in ("Id", "ParentId", "PostId"))
        if self._exchange.kind == "dump comments":
            own = naming.comment_id(self._site, number)
            question = self._question_of(on)
            answer = naming.answer_id(self._site, on)
            if answer in self._replies or self._is_forgotten(answer):
                return True
        elif self._exchange.kind == "dump answers":
            own, question = naming.answer_id(self._site, number), parent
        else:
            own, question = naming.question_id(self._site, number), number
        if self._is_about(own, question):
            return True
        role = "User" if self._exchange.kind == "dump comments" else "Owner"
        user = _signed(row.get("UserId" if role == "User" else "OwnerUserId"))
        return self._is_somebody(user, row.get(f"{role}DisplayName")) and self._is_written(own)

    def _question_of(self, post: int) -> int:
        """The question that a comment belongs to."""
        known = self._exchange.request.get("answers")
        return _digits(str(known.get(str(post), post))) if isinstance(known, Mapping) else post

    def _erased(self, raw: bytes) -> bytes:
        if b"LastEditor" in raw and self._is_edited(raw):
            raw = _ATTRIBUTE.sub(
                lambda found: b"" if found[1].decode(errors="replace") in _EDITORS else found[0],
                raw,
            )
        words = raw.decode(errors="surrogateescape")
        return self._words.erased(words).encode(errors="surrogateescape")

    def _is_edited(self, raw: bytes) -> bool:
        try:
            said = attributes(raw)
        except DamagedRow:
            return False
        return self._is_editor(*map(said.get, _EDITORS))

    def _sede(self) -> bytes | None:
        csv.field_size_limit(sede_rows.LONGEST_CELL)
        source = io.StringIO(self._exchange.body.decode("utf-8", "replace"), newline="")
        lines = list(csv.reader(source))
        names = sede_rows.columns(lines[0]) if lines else []
        kept = [
            self._line(names, line)
            for line in lines[1:]
            if not self._is_line_cut(dict(zip(names, line, strict=False)))
        ]
        if kept == lines[1:]:
            return self._exchange.body
        if not kept:
            return None
        target = io.StringIO(newline="")
        csv.writer(target, lineterminator="\r\n").writerows([lines[0], *kept])
        return target.getvalue().encode("utf-8", "replace")

    def _is_line_cut(self, cells: Mapping[str, str]) -> bool:
        number = sede_rows.post_number(cells) or 0
        question, own = number, naming.question_id(self._site, number)
        if sede_rows.kind_of(cells) == sede_rows.ANSWER:
            question = sede_rows.integer(cells, "parentid") or 0
            own = naming.answer_id(self._site, number)
        if self._is_about(own, question):
            return True
        return self._is_somebody(*sede_rows.owner(cells)) and self._is_written(own)

    def _line(self, names: list[str], line: list[str]) -> list[str]:
        cells = dict(zip(names, line, strict=False))
        if self._is_editor(*(cells.get(name) for name in _EDITOR_COLUMNS)):
            places = [at for at, name in enumerate(names) if name in _EDITOR_COLUMNS]
            line = ["" if at in places else cell for at, cell in enumerate(line)]
        return [self._words.erased(cell) for cell in line]

    # Whom and what it is about

    def _is_about(self, own: str, question: int | None) -> bool:
        """Whether something is a forgotten post, or belongs to a forgotten question."""
        names = {own} | ({naming.question_id(self._site, question)} if question else set())
        about = names & self._artifacts
        self.found.artifacts |= about
        return bool(about)

    def _is_forgotten(self, artifact: str) -> bool:
        is_it = artifact in self._artifacts
        self.found.artifacts |= {artifact} if is_it else set()
        return is_it

    def _is_written(self, own: str) -> bool:
        """Note what a forgotten person wrote; True, so that it is cut."""
        is_reply = re.search(r"(?:a|comment)/[0-9]+\Z", own)
        (self.found.comments if is_reply else self.found.written).add(own)
        return True

    def _is_editor(self, number: str | None, name: str | None) -> bool:
        """Whether somebody forgotten was the last to edit; their name may stand beside."""
        return self._is_somebody(_signed(number), None) or self._is_somebody(None, name)

    def _is_somebody(self, number: int | None, name: str | None) -> bool:
        return self._words.is_forgotten(login_of(number, name))


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _digits(value: str | None) -> int:
    return int(value) if value and re.fullmatch("[0-9]{1,18}", value) else 0


def _signed(value: str | None) -> int | None:
    return int(value) if value and re.fullmatch("-?[0-9]{1,18}", value) else None
