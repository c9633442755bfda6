"""A study with papers, put in by hand as `miner papers` would."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from subprocess import CompletedProcess
from typing import Any

from labelling import Labelled

from faultatlas.annotation.screening.paper_rounds import Wanted
from faultatlas.annotation.screening.screening import Screened, screen
from faultatlas.annotation.settling.settlements import Decision, settle
from faultatlas.data import provenance
from faultatlas.data.study import Study, Writer

Command = Callable[..., CompletedProcess[str]]
_AT = datetime(2024, 1, 2)  # noqa: DTZ001  (UTC, as in the study)
BOTH = Wanted(("ann", "ben"))


def doi(number: int) -> str:
    """The id of a paper."""
    return f"doi:10.1000/{number}"


def put_paper(writer: Writer, number: int, title: str = "") -> None:
    """A paper without records."""
    writer.execute(
        "INSERT INTO store.paper VALUES (?, ?, ?, 'ICSE', ?, ['A. Author'], 'An abstract.', "
        "'article', NULL, 3, ?, 'by hand', ?, '')",
        [doi(number), title or f"Paper {number}", 2000 + number, f"10.1000/{number}", number, _AT],
    )


def put_record(writer: Writer, source: str, key: str, number: int, matched: str | None) -> None:
    """A record of a paper in a search or file."""
    position = writer.value("SELECT count(*) + 1 FROM store.paper_record")
    writer.execute(
        "INSERT INTO store.paper_record (record_id, artifact_id, own_id, source, search, "
        "record_key, position, matched_by, title, title_key, authors, row_hash, run_id, "
        "fetched_at, response_id) VALUES ($1, $2, $2, $3, '', $4, $5, $6, 'A', 'a', [], 1, "
        "'by hand', $7, '')",
        [f"{source}/{key}", doi(number), source, key, position, matched, _AT],
    )


@dataclass
class Reading:
    """A study whose papers are screened."""

    study: Study

    def papers(self, *numbers: int) -> None:
        with self.study.writing() as writer:
            for number in numbers:
                put_paper(writer, number)
                put_record(writer, "openalex", f"W{number}", number, None)

    def screen(self, step: str, wanted: Wanted = BOTH, **options: Any) -> Screened:
        return screen(self.study, step, wanted, **options)

    def decide(self, round_name: str, codes: Mapping[int, str]) -> None:
        """What became final of papers in a round, as `annotation adjudicate` stores it."""
        run = provenance.begin("by hand", {})
        with self.study.writing() as writer:
            provenance.record(writer, run, "ok")
            decisions = [
                Decision(doi(number), (code,) if code else (), "adjudicated", "by hand", "1.0.0")
                for number, code in codes.items()
            ]
            settle(writer, round_name, decisions, run)

    def say(self, round_name: str, said: Mapping[int, Mapping[str, str]]) -> None:
        """Labels of raters."""
        rows = {doi(number): row for number, row in said.items()}
        Labelled(self.study).say(round_name, rows)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with self.study.reading() as reader:
            return [tuple(row.values()) for row in reader.rows(sql)]

    def items(self, round_name: str) -> set[str]:
        return {
            row[0] for row in self.rows(f"SELECT item_id FROM items WHERE round = '{round_name}'")
        }

    def screened(self) -> dict[str, tuple[Any, ...]]:
        """Decision, step and reason of each paper."""
        rows = self.rows(
            "SELECT artifact_id, screening_decision, screening_step, screening_reason FROM papers "
            "ORDER BY ALL"
        )
        return {row[0]: row[1:] for row in rows}
