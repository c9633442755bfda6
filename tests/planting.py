"""A study in which somebody left logins, addresses, tokens and paths wherever one can."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agreeing import TWENTY
from labelling import Labelled
from population import Population
from program import Call, run

from faultatlas.data import provenance
from faultatlas.data.old.results import Claim, Result
from faultatlas.data.study import Study

TOKEN = "ghp_" + "Zq7" * 12
MAIL = "marvin.paranoid@heart-of-gold.org"
LOGIN = "zaphodbeeblebrox"
HOME = "/home/fordprefect/hitchhiking/labels.xlsx"
SHARE = "/mnt/magrathea/planets.csv"
RATERS = ("trillianastra", "arthurdent")
SHEET = "tricia_mcmillan_private.csv"
SERVER = "https://labels.heart-of-gold.internal"
AUTHOR = "Slartibartfast, Magrathea"
FORGOTTEN = "github:vogon/poetry#42"
TEXT = f"It crashes, says @{LOGIN} ({MAIL}), see {HOME} with {TOKEN}."
CONDITION = f"kind = 'issue' AND url IS DISTINCT FROM '{MAIL}'"
THEIRS = ("--rater", RATERS[0], "--rater", RATERS[1])
# Nothing of these may be in a package, wherever it is looked for.
PLANTED = {
    "token": TOKEN, "mail": MAIL, "login": LOGIN, "home": "fordprefect",
    "share": "magrathea/planets", "file": "labels.xlsx", "rater": RATERS[0],
    "other rater": RATERS[1], "sheet": "tricia_mcmillan",
    "server": "heart-of-gold.internal", "forgotten": "vogon/poetry",
}  # fmt: skip

ABOUT = f"""\
[study]
title = "Faults of probable engines"
description = "What fails when it is improbable."
authors = [{{name = "{AUTHOR}", orcid = "0000-0002-1825-0097", affiliation = "Magrathea"}}]
licence = "CC-BY-4.0"
keywords = ["improbability"]
paper = "10.5555/12345678"
version = "1.0.0"
date = "2026-01-31"
"""
OWN = f"""\
[claims.issues]
statement = "Issues, as {RATERS[0]} at {MAIL} counted them in {SHARE}"
sql = "SELECT count(*) FROM issues"
[claims.words]
statement = "Letters of all texts"
sql = "SELECT sum(length(body)) FROM artifacts"
[claims.hers]
statement = "Labels of one rater"
sql = "SELECT count(*) FROM labels WHERE rater = '{RATERS[0]}'"
"""
# Of an analysis that nobody has.
MADE_UP = Result(
    "made-up", "made-up", f"By @{LOGIN}", {"file": HOME}, (TOKEN,),
    (Claim("made-up.x", f"faults, says {RATERS[0]} ({MAIL})", 4.0, "", "made-up(): x"),),
)  # fmt: skip


def planted(folder: Path) -> Study:
    """The study, with results of all kinds."""
    desk = Labelled.at(folder)
    desk.taxonomy()
    swapped = dict(zip(("ann", "bob"), RATERS, strict=True))
    said = {
        item: {swapped[rater]: code for rater, code in row.items()} for item, row in TWENTY.items()
    }
    Population(desk.study).issues(*(f"{TEXT} {'x' * at}" for at in range(len(said))), project="o/r")
    desk.round("main", said, strata=dict.fromkeys(said, "o/r"))
    (folder / "study.toml").write_text(ABOUT, encoding="utf-8")
    (folder / "claims.toml").write_text(OWN, encoding="utf-8")
    _plant(desk.study)
    provenance.save(desk.study, MADE_UP, provenance.begin("analysis made-up", {}))
    for program, *words in (
        ("miner", "filter", "issues", "--where", CONDITION),
        ("annotation", "sample", "odd", "--size", "5", "--stratify", "project", "--seed", "3"),
        ("annotation", "agreement", "main", "--resamples", "50", *THEIRS),
        ("annotation", "adjudicate", "main", "--rule", "unanimous"),
        ("analysis", "distribution", "tree"),
        ("analysis", "compare", "number::INTEGER", "--by", "number::INTEGER % 2"),
        ("analysis", "claims"),
        ("report", "build"),
    ):
        done = run(Call(program, [*words, "--study", str(folder)]))
        # Nobody can compute MADE_UP again, which the report says.
        assert done.code == int(words == ["build"]), (words, done.err)
    return desk.study


def _plant(study: Study) -> None:
    """Into every table in which people write."""
    with study.writing() as writer:
        writer.execute("UPDATE store.issue SET title = ?, milestone = ?", [TEXT, f"for @{LOGIN}"])
        tags = [f"for @{LOGIN}", f"by {MAIL}"]
        writer.execute("UPDATE store.issue SET tracker_labels = ?, tracker_type = ?", [tags, TEXT])
        writer.execute("UPDATE store.issue SET author = ? WHERE number = '3'", [LOGIN])
        origin = f"{SHEET} row 7 rater 1"
        writer.execute("UPDATE store.answer SET comment = ?, origin = ?", [TEXT, origin])
        writer.execute("UPDATE store.item SET place = ?", [f"{HOME} row 7"])
        for table, values in ROWS:
            _insert(writer, table, run_id="r", **values)


_AT = "=TIMESTAMP '2024-01-02'"
_TOLD = {
    "files": [HOME], "token": TOKEN, "rater": RATERS[0], "server": SERVER, "taxonomy": "tree",
    "where": f"title LIKE '%@{LOGIN}%' AND body <> '{SHARE}'",
}  # fmt: skip
_PAPER = {
    "artifact_id": "doi:10.1/x", "title": "A Paper", "year": 2020, "doi": "10.1/x", "row_hash": 1,
    "fetched_at": _AT, "response_id": "", "abstract": TEXT, "authors": [AUTHOR],
}  # fmt: skip
ROWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("run", {"command": "annotation import", "version": "1", "outcome": "ok", "started_at": _AT,
             "arguments": json.dumps(_TOLD)}),
    ("account", {"server": SERVER, "rater": RATERS[0], "user_id": 1, "username": MAIL}),
    ("project", {"server": SERVER, "project_id": 1, "round": "main", "rater": RATERS[0],
                 "stage": "independent", "taxonomy_version": "1.0.0", "blindness": "own project"}),
    ("gate", {"round": "main", "stage": "independent", "statistic": "cohen", "threshold": 0.7,
              "items": 0, "is_passed": False, "reason": f"{RATERS[1]} said so: {MAIL}",
              "decided_at": _AT}),
    ("response", {"number": 1, "response_id": "q", "source": "github", "project": "o/r",
                  "request": json.dumps({"kind": "page", "login": LOGIN}), "status": 200,
                  "url": f"https://api.github.com/x?mailto={MAIL}&access_token={TOKEN}",
                  "final_url": HOME, "headers": json.dumps({"x": MAIL}), "fetched_at": _AT,
                  "size": 3, "body": TEXT.encode()}),
    ("forgotten", {"subject": FORGOTTEN, "kind": "artifact", "forgotten_at": _AT}),
    ("forgotten", {"subject": LOGIN, "kind": "person", "forgotten_at": _AT}),
    ("paper", _PAPER),
    ("paper_record", {**_PAPER, "record_id": "p", "own_id": "doi:10.1/x", "source": SHEET,
                      "search": "", "record_key": "k", "position": 1, "title_key": "a paper"}),
    ("code_place", {"place_id": "c", "artifact_id": "doi:10.1/x", "taxonomy": "tree", "code": "a1",
                    "rater": RATERS[1], "support": "explicit", "quote": TEXT,
                    "place": f"page 3, found by {RATERS[1]}", "origin": f"{SHEET} row 2"}),
)  # fmt: skip


def _insert(writer: Any, table: str, **values: Any) -> None:
    """A row; what begins with = is SQL."""
    marks = [
        each[1:] if isinstance(each, str) and each.startswith("=") else "?"
        for each in values.values()
    ]
    given = [each for each, mark in zip(values.values(), marks, strict=True) if mark == "?"]
    writer.execute(
        f"INSERT INTO store.{table} ({', '.join(values)}) VALUES ({', '.join(marks)})", given
    )
