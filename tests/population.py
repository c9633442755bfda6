"""Artifacts put into a study at once: for tests of what is made of them, not of mining."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from faultatlas.data.study import Study

_AT = datetime(2024, 1, 2)  # noqa: DTZ001  (UTC, as in the study)


@dataclass
class Population:
    """A study that is filled by hand."""

    study: Study

    @classmethod
    def at(cls, directory: Path) -> Population:
        return cls(Study(directory))

    def commits(self, *messages: str, project: str = "keras-team/keras") -> list[str]:
        """Commits with these messages; gives their ids."""
        with self.study.writing() as writer:
            first = writer.value("SELECT count(*) FROM store.commit")
            ids = []
            for at, message in enumerate(messages, first + 1):
                sha = f"{at:040x}"
                ids.append(f"git:{project}@{sha}")
                writer.execute(
                    "INSERT INTO store.commit (artifact_id, project, sha, parents, message, "
                    "created_at, run_id, fetched_at) VALUES (?, ?, ?, [], ?, ?, 'by hand', ?)",
                    [ids[-1], project, sha, message, _AT, _AT],
                )
        return ids

    def issues(self, *bodies: str, project: str = "o/r", is_pull: bool = False) -> list[str]:
        """Issues with these bodies; gives their ids."""
        with self.study.writing() as writer:
            first = writer.value("SELECT count(*) FROM store.issue")
            ids = []
            for number, body in enumerate(bodies, first + 1):
                ids.append(f"github:{project}#{number}")
                writer.execute(
                    "INSERT INTO store.issue (artifact_id, source, project, number, is_pull, "
                    "title, body, tracker_labels, created_at, row_hash, run_id, fetched_at, "
                    "response_id) VALUES (?, 'github', ?, ?, ?, ?, ?, [], ?, ?, 'by hand', ?, '')",
                    [
                        ids[-1],
                        project,
                        str(number),
                        is_pull,
                        f"Number {number}",
                        body,
                        _AT,
                        number,
                        _AT,
                    ],
                )
        return ids

    def posts(self, count: int, *, tags: Sequence[str], accepted: int = 0, body: str = "") -> None:
        """So many questions; the first `accepted` of them have an accepted answer."""
        with self.study.writing() as writer:
            first = writer.value("SELECT count(*) FROM store.post")
            writer.execute(
                "INSERT INTO store.post (artifact_id, site, post_id, title, body, tags, score, "
                "accepted_answer_id, created_at, row_hash, run_id, fetched_at, response_id) "
                "SELECT 'stackoverflow:' || n, 'stackoverflow.com', n, 'Question ' || n, ?, ?, "
                "(n * 7919) % 1000, CASE WHEN n - $3 <= $4 THEN n + 1000000 END, $5, n, 'by hand', "
                "$5, '' FROM range($3 + 1, $3 + $6 + 1) numbers(n)".replace("?, ?,", "$1, $2,"),
                [body, list(tags), first, accepted, _AT, count],
            )

    def rows(self, sql: str, *parameters: Any) -> list[dict[str, Any]]:
        """What a query gives."""
        with self.study.reading() as reader:
            return reader.rows(sql, list(parameters))
