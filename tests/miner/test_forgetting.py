"""`miner forget`: nothing of a person or an artifact is left, and nothing comes back."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from loopback import TOKEN, World
from loopback.payloads import USERS
from mining import Mining

from data.errors import StudyError
from data.store import Study
from miner import archive
from miner.forget import forget, plan_forget

Start = Callable[..., "Popen[str]"]
Make = Callable[..., Mining]

LOGIN = "dorotea"
PROJECT = "example/tensors"
ISSUE = f"github:{PROJECT}#"
# Text that no compression hides.
WORDS = base64.b85encode(hashlib.shake_256(b"what dorotea wrote").digest(120)).decode()
HERS = next(number for number in range(1, 27) if USERS[number * 7 % len(USERS)]["login"] == LOGIN)
COMMENTED = 3  # USERS[3] comments on it
MENTIONED = 5


def world() -> World:
    """She wrote an issue and a comment, closed another, and is mentioned by others."""
    made = World.small()
    made.touch(HERS, body=f"hers: {WORDS}")
    made.touch(COMMENTED, comment=f"a comment: {WORDS}")
    made.touch(MENTIONED, comment=f"@{LOGIN} see https://github.com/{LOGIN} and {PROJECT}#{HERS}")
    closer = next(user for user in USERS if user["login"] == LOGIN)
    made.touch(7, state="closed", closed_by=closer, assignees=[closer])
    return made


@pytest.fixture
def mined(mining: Make) -> Mining:
    mine = mining(world())
    mine.fetch(PROJECT, "--timeline", token=TOKEN)
    return mine


def study_of(mine: Mining) -> Study:
    return Study(mine.study)


def everything(study: Study) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables."""
    with study.reading() as reader:
        tables = [row["t"] for row in reader.rows("SELECT table_name AS t FROM duckdb_tables()")]
        return {each: reader.rows(f"SELECT * FROM store.{each} ORDER BY ALL") for each in tables}


def strings(study: Study) -> str:
    """Every text in the study, stored responses unpacked."""
    said = [str(everything(study))]
    with study.reading() as reader:
        said += [str(each) for _number, each in archive.replay(reader)]
    return "\n".join(said)


def held(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.iterdir()) if path.is_file())


def label(study: Study, *artifacts: str) -> None:
    with study.writing() as writer:
        for artifact in artifacts:
            writer.execute(
                "INSERT INTO store.final_label VALUES ('pilot', ?, ?, 't', '1', 'c', 'by', 'r')",
                [artifact, artifact],
            )


def pseudonym(mine: Mining, artifact: str) -> str:
    return mine.column("SELECT author FROM issues WHERE artifact_id = ?", artifact)[0]  # type: ignore[no-any-return]


# A person


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
    assert removal.removed["final_label"] == 1
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
    another = next(n for n in range(HERS + 1, 27) if n * 7 % len(USERS) == 3)
    mined.world.touch(HERS, body=f"again {WORDS}")
    mined.world.touch(COMMENTED, comment=f"again {WORDS}")
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
    new = next(n for n in range(last + 1, last + 10) if n * 7 % len(USERS) == 3)
    text = json.dumps(mined.world.tracker.payload(HERS)).replace("/pull/", "/issues/")
    payload = json.loads(text.replace(f"issues/{HERS}", f"issues/{new}"))
    mined.world.tracker.store({**payload, "number": new, "id": 999_999, "comments": 0})
    mined.world.touch(new, body=WORDS)
    mined.fetch(PROJECT)
    assert new not in mined.numbers()
    assert WORDS not in strings(study)
    gone = mined.column("SELECT gone_reason FROM artifacts WHERE artifact_id = ?", f"{ISSUE}{new}")
    assert gone == ["forgotten"]


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
    mine.world.touch(COMMENTED, comment=f"again {WORDS}")
    mine.fetch(f"gitee:{PROJECT}", gitee=True)
    assert WORDS not in strings(study)


# An artifact


@pytest.mark.parametrize("token", [TOKEN, None])
def test_nothing_of_an_artifact_is_left(mining: Make, token: str | None) -> None:
    mine = mining(world())
    mine.fetch(PROJECT, token=token)
    study = study_of(mine)
    artifact = f"{ISSUE}{HERS}"
    label(study, artifact)
    removal = forget(study, f"https://github.com/{PROJECT}/issues/{HERS}")
    assert (removal.subject, removal.artifacts) == (artifact, [artifact])
    assert removal.removed["issue"] == removal.removed["final_label"] == 1
    said = strings(study)
    assert said.count(f"hers: {WORDS}") == 0
    assert said.count(f"{artifact}'") == 1  # the tombstone
    assert f"/issues/{HERS}'" not in said
    assert LOGIN in said  # the author has written more
    mine.world.touch(HERS, comment="somebody speaks of it")
    mine.fetch(PROJECT, token=token)
    assert "somebody speaks of it" not in strings(study)
    assert HERS not in mine.numbers()


def test_a_file_that_names_it_does_not_bring_it_back(mined: Mining, tmp_path: Path) -> None:
    study = study_of(mined)
    forget(study, f"{PROJECT}#{HERS}")
    named = tmp_path / "named.csv"
    named.write_text(f"url\nhttps://github.com/{PROJECT}/issues/{HERS}\n", encoding="utf-8")
    for token in (TOKEN, None):
        mined.run("--from", named, token=token)
        assert HERS not in mined.numbers()
        assert f"hers: {WORDS}" not in strings(study)
        assert strings(study).count(f"{ISSUE}{HERS}'") == 1  # the tombstone


def test_only_labels_of_it_are_enough(tmp_path: Path) -> None:
    study = Study(tmp_path / "study")
    label(study, "stackoverflow:47267612", "stackoverflow:1")
    removal = forget(study, "https://stackoverflow.com/questions/47267612/title")
    assert removal.removed == {"final_label": 1}
    with study.reading() as reader:
        assert reader.value("SELECT artifact_id FROM final_labels") == "stackoverflow:1"


def test_a_moved_issue_is_forgotten_by_all_its_names(mined: Mining, tmp_path: Path) -> None:
    new = mined.world.transfer(HERS, "example/elsewhere")
    mined.fetch(PROJECT, "--verify")
    moved = f"github:example/elsewhere#{new}"
    assert mined.column("SELECT artifact_id FROM artifact_aliases") == [moved]
    study = study_of(mined)
    label(study, f"{ISSUE}{HERS}", moved)
    removal = forget(study, f"{ISSUE}{HERS}")
    assert removal.subject == moved
    assert removal.removed["final_label"] == 2
    assert sorted(removal.artifacts) == sorted([moved, f"{ISSUE}{HERS}"])
    assert f"hers: {WORDS}" not in strings(study)
    named = tmp_path / "named.txt"
    named.write_text(f"https://github.com/{PROJECT}/issues/{HERS}\n", encoding="utf-8")
    mined.run("--from", named)
    assert f"hers: {WORDS}" not in strings(study)


# Asking first, asking twice, asking for nothing


@pytest.mark.parametrize("text", [LOGIN, f"{ISSUE}{HERS}"])
def test_a_plan_counts_exactly_and_changes_nothing(mined: Mining, text: str) -> None:
    study = study_of(mined)
    label(study, f"{ISSUE}{HERS}")
    before = everything(study)
    planned = plan_forget(study, text)
    assert everything(study) == before
    assert forget(study, text) == planned
    said = planned.words()
    assert "1 final_label" in said
    assert "dorotea" not in said


@pytest.mark.parametrize("text", [LOGIN, f"{ISSUE}{HERS}"])
def test_forgetting_twice_changes_nothing_more(mined: Mining, text: str) -> None:
    study = study_of(mined)
    first = forget(study, text)
    before = everything(study)
    again = forget(study, text)
    assert (again.was_forgotten, first.was_forgotten) == (True, False)
    assert again.removed == {}
    assert again.responses_changed == again.responses_removed == 0
    after = everything(study)
    assert len(after.pop("run")) == len(before.pop("run")) + 1
    assert after == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nobody-here", "nobody called 'nobody-here' is in this study"),
        ("person_0123456789abcdef", "nobody called 'person_0123456789abcdef'"),
        (f"{ISSUE}4444", f"{ISSUE}4444 is not in this study"),
        ("https://example.org/what", "example.org"),
        ("two words", "more than one word"),
        ("ghost", "stands for everybody whose account is gone"),
        ("person_unknown", "stands for everybody whose account is gone"),
    ],
)
def test_who_is_unknown_is_said_and_nothing_changes(mined: Mining, text: str, said: str) -> None:
    study = study_of(mined)
    before = everything(study)
    for act in (plan_forget, forget):
        with pytest.raises(StudyError, match="(?s)" + said.replace("(", "\\(")) as raised:
            act(study, text)
        assert raised.value.hint
    assert everything(study) == before


def test_without_a_study_none_is_made(tmp_path: Path) -> None:
    for act in (plan_forget, forget):
        with pytest.raises(StudyError, match="there is no study"):
            act(Study(tmp_path / "none"), LOGIN)
    assert not (tmp_path / "none").exists()


def test_with_another_key_nobody_is_taken_for_somebody_else(mined: Mining) -> None:
    key = mined.study / "study.key"
    key.write_text("ab" * 32 + "\n", encoding="ascii")
    with pytest.raises(StudyError, match="not the key"):
        forget(study_of(mined), LOGIN)


# What goes wrong

_KILLED = """
import os, signal, sys
from pathlib import Path
from data.store import Study
from miner.forget import forget
Study.compact = lambda _study: os.kill(os.getpid(), signal.SIGKILL)
forget(Study(Path(sys.argv[1])), sys.argv[2])
"""


def test_killed_before_the_file_is_written_anew_it_is_done_by_the_next(
    mined: Mining, start: Start
) -> None:
    assert start("forget.py", _KILLED, mined.study, LOGIN).wait() == -9
    study = study_of(mined)
    assert LOGIN not in strings(study)
    assert mined.column("SELECT outcome FROM runs WHERE command = 'miner forget'") == ["running"]
    assert WORDS.encode() in held(mined.study)  # in parts of the file that nothing refers to
    assert forget(study, LOGIN).was_forgotten
    assert WORDS.encode() not in held(mined.study)
    assert LOGIN.encode() not in held(mined.study)


_FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from data.errors import StudyError
from data.store import Study
from miner.forget import forget
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    forget(Study(Path(sys.argv[1])), sys.argv[2])
except StudyError as error:
    print(error)
"""


@pytest.mark.parametrize("room", [50_000, 1_000_000])
def test_on_a_full_disk_nothing_is_lost_that_was_to_stay(
    mined: Mining, start: Start, room: int
) -> None:
    others = mined.numbers()
    process = start("forget.py", _FULL_DISK, mined.study, f"{ISSUE}{HERS}", room)
    said, _ = process.communicate()
    assert "no room left" in said
    assert mined.numbers() >= others - {HERS}
    forget(study_of(mined), f"{ISSUE}{HERS}")
    assert mined.numbers() == others - {HERS}
    assert f"hers: {WORDS}".encode() not in held(mined.study)
    assert not [name for name in os.listdir(mined.study) if name.endswith(".new")]  # noqa: PTH208
