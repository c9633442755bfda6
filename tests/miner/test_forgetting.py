"""`miner forget` a person: nothing is left, and nothing comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from subprocess import Popen

import pytest
from forgetful import (
    HERS,
    ISSUE,
    LOGIN,
    MENTIONED,
    PROJECT,
    WORDS,
    everything,
    held,
    label,
    pseudonym,
    she_says,
    strings,
    study_of,
    world,
)
from loopback import TOKEN
from loopback.payloads import USERS
from mining import Mining

from faultatlas.data.errors import StudyError
from faultatlas.miner import archive
from faultatlas.miner.keeping.forget import forget, plan_forget

Start = Callable[..., "Popen[str]"]
Make = Callable[..., Mining]


@pytest.fixture
def mined(mining: Make) -> Mining:
    mine = mining(world())
    mine.fetch(PROJECT, "--timeline", token=TOKEN)
    return mine


def test_nothing_of_a_person_is_left(mined: Mining) -> None:
    study = study_of(mined)
    label(study, f"{ISSUE}{HERS}", f"{ISSUE}{MENTIONED}")
    person = pseudonym(mined, f"{ISSUE}{HERS}")
    assert LOGIN in strings(study)
    assert WORDS.encode() in held(mined.study)
    removal = forget(study, LOGIN)

    assert removal.subject == person
    assert removal.kind == "person"
    assert f"{ISSUE}{HERS}" in removal.artifacts
    assert removal.removed["issue"] == len(removal.artifacts)
    assert removal.removed["settlement"] == 1
    assert removal.removed["comment"] > 1
    said = strings(study)
    assert LOGIN not in said.lower()
    assert WORDS not in said
    assert LOGIN.encode() not in held(mined.study).lower()
    assert WORDS.encode() not in held(mined.study)
    named = f"{ISSUE}{HERS}'"  # with the quote that ends it: there are longer numbers
    assert said.count(named) == 1  # the tombstone
    assert mined.column("SELECT gone_reason FROM artifacts WHERE artifact_id = ?", named[:-1]) == [
        "forgotten"
    ]
    tombstones = mined.rows("SELECT subject, kind FROM store.forgotten WHERE kind = 'person'")
    assert tombstones == [(person, "person")]
    assert mined.rows("SELECT * FROM comments WHERE author = ?", person) == []


def test_what_others_said_stays_and_names_the_responses_that_hold_it(mined: Mining) -> None:
    study = study_of(mined)
    before = {row["artifact_id"]: row for row in everything(study)["issue"]}
    gone = set(forget(study, LOGIN).artifacts)
    after = {row["artifact_id"]: row for row in everything(study)["issue"]}
    assert after.keys() == before.keys() - gone
    compared = ("title", "state", "author", "updated_at", "tracker_labels", "run_id", "fetched_at")
    for artifact, row in after.items():
        assert [row[name] for name in compared] == [before[artifact][name] for name in compared]
    assert after[f"{ISSUE}7"]["closed_by"] == "person_unknown"
    assert before[f"{ISSUE}7"]["closed_by"] != "person_unknown"
    (mention,) = mined.column("SELECT body FROM comments WHERE body LIKE '%@ghost%'")
    assert mention == f"@ghost see https://github.com/ghost and {PROJECT}#0"
    for view in ("issues", "comments", "issue_events"):
        assert not mined.rows(
            f"SELECT * FROM {view} WHERE response_id NOT IN (SELECT response_id FROM responses)"
        )
    with study.reading() as reader:
        for number, exchange in archive.replay(reader):
            stored = "SELECT response_id FROM store.response WHERE number = ?"
            assert reader.value(stored, [number]) == exchange.response_id


@pytest.mark.parametrize("token", [TOKEN, None])
def test_a_later_fetch_does_not_bring_it_back(mined: Mining, token: str | None) -> None:
    study = study_of(mined)
    forget(study, LOGIN)
    before = mined.numbers()
    another = HERS + len(USERS)  # hers as well
    mined.world.touch(HERS, body=f"again {WORDS}")
    she_says(mined.world, f"again {WORDS}")
    mined.world.touch(MENTIONED, comment=f"really, @{LOGIN}")
    mined.world.touch(another, body=f"again {WORDS}")
    mined.fetch(PROJECT, "--timeline", token=token)
    assert mined.numbers() == before
    said = strings(study)
    assert LOGIN not in said.lower()
    assert WORDS not in said
    assert mined.column("SELECT count(*) FROM comments WHERE body = 'really, @ghost'") == [1]


def test_what_a_forgotten_person_writes_later_is_forgotten_too(mined: Mining) -> None:
    study = study_of(mined)
    forget(study, LOGIN)
    last = max(mined.world.tracker.entries)
    new = next(n for n in range(last + 1, last + 10) if (n - HERS) % len(USERS) == 0)
    text = json.dumps(mined.world.tracker.payload(HERS)).replace("/pull/", "/issues/")
    payload = json.loads(text.replace(f"issues/{HERS}", f"issues/{new}"))
    mined.world.tracker.store({**payload, "number": new, "id": 999_999, "comments": 0})
    mined.world.touch(new, body=WORDS)
    mined.fetch(PROJECT)
    assert new not in mined.numbers()
    assert WORDS not in strings(study)
    gone = mined.column("SELECT gone_reason FROM artifacts WHERE artifact_id = ?", f"{ISSUE}{new}")
    assert gone == ["forgotten"]


def test_a_fetch_does_not_look_for_what_is_forgotten(mined: Mining) -> None:
    forget(study_of(mined), LOGIN)
    assert mined.fetch(PROJECT, token=TOKEN)["complete"]
    number = she_says(mined.world, "again")
    assert number in mined.numbers()
    mined.world.touch(MENTIONED, title="changed")
    ended = mined.run(PROJECT, token=TOKEN)
    assert ended.returncode == 0
    assert "search counts" not in ended.stderr
    assert "because it lists fewer itself or people are forgotten" in ended.stderr
    found = mined.fetch(PROJECT, token=TOKEN)
    assert found["complete"]
    assert found["requests"] == 1
    gone = mined.column("SELECT artifact_id FROM artifacts WHERE gone_reason = 'forgotten'")
    assert found["stored"]["forgotten"] == len(gone) > 0


@pytest.mark.parametrize(
    "text",
    [
        LOGIN,
        LOGIN.upper(),
        f"@{LOGIN}",
        f"github:{LOGIN}",
        f"https://github.com/{LOGIN}",
        f"https://github.com/{LOGIN}/",
        "pseudonym",
    ],
)
def test_a_person_may_be_called_in_many_ways_and_what_was_typed_is_not_stored(
    mined: Mining, text: str
) -> None:
    person = pseudonym(mined, f"{ISSUE}{HERS}")
    assert plan_forget(study_of(mined), person if text == "pseudonym" else text).subject == person


def test_the_run_names_the_pseudonym_and_no_login(mined: Mining) -> None:
    ended = mined.command("miner", "forget", LOGIN, "--study", mined.study, "--json")
    assert ended.returncode == 0
    assert LOGIN not in ended.stdout
    person = json.loads(ended.stdout)["subject"]
    assert mined.rows("SELECT arguments, outcome FROM runs WHERE command = 'miner forget'") == [
        (json.dumps({"subject": person}), "ok")
    ]


def test_arguments_of_earlier_runs_are_forgotten(mined: Mining) -> None:
    study = study_of(mined)
    url = f"https://github.com/{PROJECT}/issues/{HERS}"
    with study.writing() as writer:
        writer.execute(
            "INSERT INTO store.run VALUES ('r', 'some command', ?, '0', now(), NULL, 'ok')",
            [json.dumps({"author": LOGIN, "urls": [url], "label": "bug"})],
        )
    forget(study, LOGIN)
    (arguments,) = mined.column("SELECT arguments FROM runs WHERE run_id = 'r'")
    assert json.loads(arguments) == {
        "author": "ghost",
        "urls": [f"https://github.com/{PROJECT}/issues/0"],
        "label": "bug",
    }


def test_on_gitee(mining: Make) -> None:
    mine = mining(world())
    mine.fetch(f"gitee:{PROJECT}", gitee=True)
    study = study_of(mine)
    assert WORDS in strings(study)
    with pytest.raises(StudyError, match="nobody called"):
        forget(study, f"github:{LOGIN}")
    assert forget(study, f"gitee:{LOGIN}").removed["issue"]
    assert f"{LOGIN}'" not in strings(study)
    assert WORDS not in strings(study)
    she_says(mine.world, f"again {WORDS}")
    mine.fetch(f"gitee:{PROJECT}", gitee=True)
    assert WORDS not in strings(study)
