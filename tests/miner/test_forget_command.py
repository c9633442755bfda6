"""`miner forget` an artifact, asked before, twice, in vain, and interrupted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest
from forgetful import (
    HERS,
    ISSUE,
    LOGIN,
    PROJECT,
    WORDS,
    everything,
    held,
    label,
    strings,
    study_of,
    world,
)
from loopback import TOKEN
from mining import Mining

from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.miner.keeping.forget import forget, plan_forget

pytestmark = pytest.mark.usual_opening

Start = Callable[..., "Popen[str]"]
Make = Callable[..., Mining]


@pytest.fixture
def mined(mining: Make) -> Mining:
    mine = mining(world())
    mine.fetch(PROJECT, "--timeline", token=TOKEN)
    return mine


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
    assert removal.removed["issue"] == removal.removed["settlement"] == 1
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
    assert removal.removed == {"settlement": 1}
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
    assert removal.removed["settlement"] == 2
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
    assert "1 settlement" in said
    assert LOGIN not in said


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
        ("http://[abc", "abc"),
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
from faultatlas.data.study import Study
from faultatlas.miner.keeping.forget import forget
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
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.miner.keeping.forget import forget
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
