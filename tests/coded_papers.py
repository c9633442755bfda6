"""Papers with codes put into a study at once: for tests of what is made of them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from settled import put_final

from faultatlas.data.study import Study, Writer

_AT = datetime(2024, 1, 2)  # noqa: DTZ001  (UTC, as in the study)


def put_paper(writer: Writer, artifact: str, title: str, author: str = "Jane Roe") -> str:
    """A paper of 2024; gives its id."""
    writer.execute(
        "INSERT INTO store.paper (artifact_id, title, year, venue, authors, row_hash, run_id, "
        "fetched_at, response_id) VALUES ($1, $2, 2024, 'ICSE', [$3], hash($1), 'by hand', $4, '')",
        [artifact, title, author, _AT],
    )
    return artifact


def put_code(writer: Writer, paper: str, taxonomy: str, code: str, support: str = "") -> None:
    """The final code of a paper, with a place where it says so if there is support."""
    put_final(
        writer, paper, code, round_name=f"coding-{taxonomy}-{code}", taxonomy=taxonomy,
        version="1.0.0",
    )  # fmt: skip
    if support:
        writer.execute(
            "INSERT INTO store.code_place (place_id, artifact_id, taxonomy, code, rater, support, "
            "place, origin, run_id) VALUES (sha256($1 || $2 || $3 || $4), $1, $2, $3, 'a', $4, "
            "'section 3', 'by hand', 'r')",
            [paper, taxonomy, code, support],
        )


def study_at(directory: Path) -> Study:
    """A study with one paper of its own, DeepShare: it targets what no shipped paper does."""
    study = Study(directory)
    with study.writing() as writer:
        paper = put_paper(writer, "doi:10.1/own", "DeepShare: Sharing GPUs")
        put_code(writer, paper, "humbatova", "2.L1", "explicit")
        put_code(writer, paper, "debugging-techniques", "T2.2", "explicit")
    return study
