"""Papers are artifacts like others: forgotten, merged, filtered, drawn, shown; keys are nowhere."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import Fault, Reply, Request
from loopback.index import Index, Paper, generated
from loopback.openalex import KEY, OpenAlex
from loopback.scopus import KEY as SCOPUS_KEY
from loopback.scopus import Scopus
from papering import Papering

from faultatlas.annotation.bridge.page.tasks import artifact_html
from faultatlas.annotation.bridge.page.texts import texts_of
from faultatlas.data.study import Study
from faultatlas.miner.archive import replay

Start = Callable[..., Papering]
GONE = "doi:10.5555/made.7"
TITLE = "Repairing deep learning bug number 7"
FILES = {
    "a.bib": f"@misc{{k, title={{{TITLE}}}, year=2019}}\n@misc{{o, title={{Another Paper Here}}}}",
    "b.ris": f"TY  - JOUR\nTI  - {TITLE}\nDO  - 10.5555/made.7\nER  - \n"
    "TY  - JOUR\nTI  - Yet Another\nER  - \n",
    "c.csv": f"Title,Year\n{TITLE},2018\nA Third Other Paper,2020\n",
}


def filled(papering: Start, tmp_path: Path) -> Papering:
    """A paper that an index, three files and a list of known papers have, and others."""
    at = papering(OpenAlex(generated(12)))
    at.fetch("bug", key=KEY)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        at.fetch("--from", tmp_path / name)
    at.fetch("--known", "mine", "--from", tmp_path / "c.csv")
    return at


def test_a_forgotten_paper_is_in_no_table_and_no_response_and_stays_away(
    papering: Start, tmp_path: Path
) -> None:
    at = filled(papering, tmp_path)
    assert at.column("SELECT record_count FROM papers WHERE artifact_id = ?", GONE) == [4]
    others = at.column("SELECT artifact_id FROM papers WHERE artifact_id <> ? ORDER BY ALL", GONE)
    where = f"doi = '{GONE[4:]}' OR doi = '10.5555/made.77'"
    assert at.miner("filter", "that", "--on", "paper", "--where", where).returncode == 0
    ended = at.miner("forget", GONE)
    assert ended.returncode == 0, ended.stderr
    assert at.column("SELECT predicate FROM funnel WHERE step = 'that' LIMIT 1") == [
        "paper: doi = '0' OR doi = '10.5555/made.77'"
    ]
    at.fetch("bug", key=KEY)
    for name in FILES:
        at.fetch("--from", tmp_path / name)
    with Study(at.study).reading() as reader:
        names = reader.rows(
            "SELECT table_name AS it FROM duckdb_tables() WHERE schema_name = 'store'"
        )
        said = "".join(str(reader.rows(f"FROM store.{row['it']}")) for row in names)
        bodies = b"".join(exchange.body for _number, exchange in replay(reader))
    assert TITLE not in said
    assert TITLE.encode() not in bodies
    assert at.column("SELECT artifact_id FROM papers ORDER BY ALL") == others
    assert at.column("SELECT gone_reason FROM artifacts WHERE artifact_id = ?", GONE) == [
        "forgotten"
    ]


def test_what_is_left_of_a_file_is_rebuilt_the_same(papering: Start, tmp_path: Path) -> None:
    """One of two with one key, and one of a list, are forgotten: the others stay what they were."""
    at = papering()
    (tmp_path / "a.bib").write_text(
        f"@misc{{k, title={{{TITLE}}}}}\n@misc{{k, title={{Another Paper Here}}}}\n"
        "@misc{o, title={Yet Another Paper}}\n",
        encoding="utf-8",
    )
    at.fetch("--from", tmp_path / "a.bib")
    at.fetch("--known", "mine", "--from", tmp_path / "a.bib")
    (name,) = at.column("SELECT artifact_id FROM papers WHERE title = ?", TITLE)
    assert at.miner("forget", name).returncode == 0
    before = at.mined()
    assert len(before["paper_record"]) == len(before["known_paper"]) == 2
    assert at.miner("rebuild").returncode == 0
    assert at.mined() == before


def test_two_studies_become_one(papering: Start, tmp_path: Path) -> None:
    at = filled(papering, tmp_path)
    other = papering(Scopus(generated(14)), "other")
    other.fetch("TITLE-ABS-KEY(bug)", key=SCOPUS_KEY)
    assert at.miner("merge", other.study).returncode == 0
    assert at.column("SELECT count(*) FROM papers WHERE doi IS NOT NULL") == [11]
    assert at.rows("SELECT record_count, url FROM papers WHERE artifact_id = ?", GONE) == [
        (5, "https://www.scopus.com/inward/record.uri?scp=85000000007")
    ]
    before = at.mined()
    assert at.miner("merge", other.study).returncode == 0
    assert at.mined() == before


def test_papers_are_shown_filtered_and_drawn(papering: Start, tmp_path: Path) -> None:
    at = filled(papering, tmp_path)
    said = json.loads(at.miner("status", "--json").stdout)
    assert [(row["source"], row["papers"]) for row in said["papers"]] == [
        ("a.bib", 2), ("b.ris", 2), ("c.csv", 2), ("openalex", 12),
    ]  # fmt: skip
    assert said["projects"] == []
    assert "openalex" in at.miner("status").stdout
    for words in (("new", "--on", "paper", "--where", "year >= 2020"),
                  ("ml", "--on", "paper", "--lexicon", "ml")):  # fmt: skip
        assert at.miner("filter", *words).returncode == 0
    (step,) = at.rows("SELECT rows_in, rows_out FROM funnel WHERE step = 'new'")
    assert step[0] > step[1] > 0


def test_an_abstract_is_plain_text_on_a_page(papering: Start) -> None:
    hostile = "Uses <script>alert(1)</script> and *stars* and [a](javascript:alert(1)) of learning."
    at = papering(OpenAlex([Paper(1, "A <b>Bold</b> learning title", 2020, abstract=hostile)]))
    at.fetch("learning", key=KEY)
    with Study(at.study).reading() as reader:
        (name,) = (row["artifact_id"] for row in reader.rows("SELECT artifact_id FROM papers"))
        page = artifact_html(texts_of(reader, [name])[name])
    assert "A Bold learning title" in page
    assert "&lt;script&gt;" in page
    assert "*stars*" in page
    assert "<script" not in page
    assert 'href="javascript' not in page


@pytest.mark.parametrize(
    ("world", "key"),
    [(OpenAlex(generated(30), page_limit=20), KEY), (Scopus(generated(30)), SCOPUS_KEY)],
    ids=["openalex", "scopus"],
)
@pytest.mark.parametrize("status", [200, 401, 503])
def test_a_key_is_nowhere(
    papering: Start, caplog: pytest.LogCaptureFixture, world: Index, key: str, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    world.requests.clear()
    world.faults.clear()
    at = papering(world)

    def echo(request: Request, _world: object, go: Callable[[], Reply]) -> Reply:
        reply = go()
        reply.status = status
        reply.body = reply.body.replace(b"bug number", f"{key} number".encode())
        if status != 200:
            words = f"no {key} {request.target}"
            reply.body = json.dumps({"message": words, "error": words,
                "service-error": {"status": {"statusText": words}}}).encode()  # fmt: skip
        reply.headers |= {"x-debug": key, "etag": key, "retry-after": "1"}
        return reply

    world.faults.add(Fault(echo, None, 2))
    ended = at.run("TITLE-ABS-KEY(bug)" if at.source == "scopus" else "bug", "-v", key=key)
    assert (ended.returncode == 0) is (status == 200)
    places = {"output": f"{ended.stdout}{ended.stderr}".encode()}
    places["log"] = "\n".join(
        f"{each.getMessage()} {each.__dict__}" for each in caplog.records
    ).encode()
    if at.study.exists():
        with Study(at.study).reading() as reader:
            for row in reader.rows(
                "SELECT table_name AS it FROM duckdb_tables() WHERE schema_name = 'store'"
            ):
                places[row["it"]] = str(reader.rows(f"FROM store.{row['it']}")).encode()
            for number, exchange in replay(reader):
                places[f"response {number}"] = exchange.body + str(exchange).encode()
        assert "paper_record" in places
    assert [name for name, said in places.items() if key.encode() in said] == []
