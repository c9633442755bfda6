"""A study whose texts a test writes, and its links: for tests of `miner link`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from faultatlas.data.identity import parse
from faultatlas.data.old import arrow_rows
from faultatlas.data.study import Study, Writer
from faultatlas.miner.archive import packed
from faultatlas.miner.links.command import run_link

START = datetime(2020, 1, 1)  # noqa: DTZ001  (as the study stores it)
SHA = "0123456789abcdef0123456789abcdef01234567"
OTHER_SHA = "fedcba9876543210fedcba9876543210fedcba98"
_SEEN = {"run_id": "run", "fetched_at": START}
_SAID = {**_SEEN, "response_id": "r"}


@dataclass
class Linking:
    """A study in a folder; what is put again takes the place of what was there."""

    folder: Path
    _made: int = 0
    _waiting: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._study = Study(self.folder)

    @property
    def study(self) -> Study:
        """The study with everything that was put."""
        if self._waiting:
            # Two transactions: DuckDB does not let a key come back in the one in which it went.
            for act in (self._remove, self._insert):
                with self._study.writing(keep_log=True) as writer:
                    act(writer)
            self._waiting = {}
        return self._study

    def issue(self, number: int | str, body: str = "", **more: Any) -> str:
        """An issue of example/lib, or of another project."""
        more = {"source": "github", "title": "A title", **more}
        project = more.setdefault("project", "example/lib")
        name = project.removeprefix("gitee.com/") if more["source"] == "gitee" else project
        row: dict[str, Any] = {
            "artifact_id": f"{more['source']}:{name}#{number}",
            "number": str(number),
        }
        row |= {"is_pull": False, "body": body, "tracker_labels": [], "row_hash": 0}
        return self._put("issue", row | {"created_at": self._moment()} | _SAID | more)

    def pull(self, number: int, body: str = "", **more: Any) -> str:
        return self.issue(number, body, is_pull=True, **more)

    def commit(self, sha: str, message: str, **more: Any) -> str:
        project = more.setdefault("project", "example/lib")
        row: dict[str, Any] = {"artifact_id": f"git:{project}@{sha}", "sha": sha, "parents": []}
        row |= {"message": message, "created_at": self._moment()}
        return self._put("commit", row | _SEEN | more)

    def post(self, number: int, body: str, **more: Any) -> str:
        row: dict[str, Any] = {
            "artifact_id": f"stackoverflow:{number}",
            "site": "stackoverflow.com",
        }
        row |= {"post_id": number, "title": "A question", "body": body, "tags": [], "row_hash": 0}
        return self._put("post", row | {"created_at": self._moment()} | _SAID | more)

    def comment(self, number: int, artifact: str, body: str) -> str:
        row: dict[str, Any] = {
            "comment_id": f"github:comment/{number}",
            "artifact_id": artifact,
            "body": body,
        }
        return self._put("comment", row | {"row_hash": 0} | _SAID, "comment_id")

    def answer(self, number: int, artifact: str, body: str) -> str:
        row: dict[str, Any] = {
            "comment_id": f"stackoverflow:a/{number}",
            "artifact_id": artifact,
            "body": body,
        }
        row |= {"is_answer": True, "post_id": number, "row_hash": 0}
        return self._put("reply", row | _SAID, "comment_id")

    def event(self, artifact: str, kind: str, other: str | None) -> str:
        row: dict[str, Any] = {
            "event_id": f"event {artifact} {kind} {other}",
            "artifact_id": artifact,
        }
        return self._put(
            "issue_event",
            row | {"kind": kind, "other_id": other, "row_hash": 0} | _SAID,
            "event_id",
        )

    def alias(self, alias: str, artifact: str, kind: str) -> None:
        row: dict[str, Any] = {
            "alias": alias,
            "artifact_id": artifact,
            "kind": kind,
            "run_id": "run",
        }
        self._put("alias", row | {"response_id": "r"}, "alias")

    def departure(self, artifact: str, reason: str) -> None:
        row: dict[str, Any] = {
            "artifact_id": artifact,
            "reason": reason,
            "gone_at": START,
            "run_id": "run",
        }
        self._put("departure", row | {"response_id": "r"})

    def response(self, number: int, request: dict[str, Any], said: Any) -> None:
        body = json.dumps(said).encode()
        row: dict[str, Any] = {"number": number, "response_id": f"r{hash(body)}", "run_id": "run"}
        row |= {"source": "github", "project": "github:example/lib", "request": json.dumps(request)}
        row |= {"url": "/", "final_url": "/", "status": 200, "headers": "{}"}
        self._put(
            "response",
            row | {"fetched_at": START, "size": len(body), "body": packed(body)},
            "number",
        )

    def drop(self, table: str, key: str) -> None:
        with self.study.writing() as writer:
            column = "comment_id" if table in ("comment", "reply") else "artifact_id"
            writer.execute(f"DELETE FROM store.{table} WHERE {column} = ?", [key])

    def link(self, **options: Any) -> dict[str, Any]:
        """What `miner link` says, without looking for duplicates unless asked to."""
        return run_link(self.study, **{"duplicates": False, **options})

    def links(self, columns: str = "from_id, to_id, kind, found_in") -> set[tuple[Any, ...]]:
        with self.study.reading() as reader:
            rows = reader.rows(f"SELECT {columns} FROM links")
        return {tuple(row.values()) for row in rows}

    def pairs(self, kind: str) -> set[tuple[str, str]]:
        """From and to of the links of a kind, as short as they can be told apart."""
        return {(f, t) for f, t, k in self.links("from_id, to_id, kind") if k == kind}

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Everything that `miner link` writes."""
        with self.study.reading() as reader:
            return {
                table: sorted(tuple(row.values()) for row in reader.rows(f"SELECT * FROM {table}"))
                for table in ("store.link", "store.link_read", "store.reference")
            }

    def _moment(self) -> datetime:
        self._made += 1
        return START + timedelta(days=self._made)

    def _put(self, table: str, row: dict[str, Any], key: str = "artifact_id") -> str:
        if key == "artifact_id" and table != "departure":
            parse(row[key])  # a test that misspells an id would find nothing and be content
        self._waiting[table, str(row[key])] = {"": key, **row}
        return str(row[key])

    def _remove(self, writer: Writer) -> None:
        for (table, _key), row in self._waiting.items():
            key = row[""]
            writer.execute(f"DELETE FROM store.{table} WHERE {key} = ?", [row[key]])

    def _insert(self, writer: Writer) -> None:
        for table in {table for table, _key in self._waiting}:
            rows = [row for (other, _key), row in self._waiting.items() if other == table]
            names = {name for row in rows for name in row if name}
            columns = {name: [row.get(name) for row in rows] for name in sorted(names)}
            arrow_rows.insert(writer, f"store.{table}", pa.table(columns))
