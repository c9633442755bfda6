"""A dump that is cut, changed or read by a program that dies: the study ends up the same."""

from __future__ import annotations

import json
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from data_dumps import answer, document, question, small_comments, small_dump
from dumping import Importing, empty_study, tables
from loopback.studies import keyed

from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.miner.posts import dump_scan
from faultatlas.miner.rebuild import rebuild

MOMENTS = 10
Run = Callable[..., tuple[int, int]]


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dump")
    (folder / "Posts.xml").write_bytes(document(small_dump()))
    (folder / "Comments.xml").write_bytes(document(small_comments(), root="comments"))
    return folder / "Posts.xml"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty study: to make its tables takes longer than what is tested."""
    return empty_study(tmp_path_factory.mktemp("template") / "study")


@pytest.fixture(scope="module")
def program(dump: Path) -> Iterator[Run]:
    """Reads the dump in another process, in many small parts; its exit code, and its steps."""
    words = [sys.executable, str(Path(__file__).with_name("dump_program.py"))]
    with Popen(words, stdin=PIPE, stdout=PIPE, text=True) as started:
        assert started.stdin is not None
        assert started.stdout is not None

        def run(study: Path, kill_at: int = 0, block: int = 6000) -> tuple[int, int]:
            wanted = {
                "study": str(study),
                "path": str(dump),
                "tags": ["keras", "tensorflow"],
                "kill_at": kill_at,
                "block": block,
                "part_rows": 25,
            }
            print(json.dumps(wanted), file=started.stdin, flush=True)
            code, steps = map(int, started.stdout.readline().split())
            return code, steps

        yield run
        started.stdin.close()


@pytest.fixture(scope="module")
def whole(
    program: Run, template: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, int]:
    """A study that nobody disturbed, and the steps that it took."""
    study = tmp_path_factory.mktemp("whole") / "study"
    shutil.copytree(template, study)
    code, steps = program(study)
    assert code == 0
    assert steps >= 40
    return study, steps


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_at_any_moment_it_goes_on_to_the_same_tables(
    program: Run, template: Path, whole: tuple[Path, int], tmp_path: Path, moment: int
) -> None:
    undisturbed, steps = whole
    study = tmp_path / "study"
    shutil.copytree(template, study)
    at = 1 + moment * (steps - 1) // (MOMENTS - 1)
    assert program(study, kill_at=at)[0] == -signal.SIGKILL
    code, left = program(study)
    assert code == 0
    assert left <= steps + 10
    assert tables(study) == tables(undisturbed)


def test_killed_again_and_again(program: Run, whole: tuple[Path, int], tmp_path: Path) -> None:
    undisturbed, steps = whole
    study = keyed(tmp_path / "study")  # also while its tables are made
    for _time in range(20):
        if program(study, kill_at=steps // 2)[0] == 0:
            break
    else:
        pytest.fail("it did not get complete")
    assert tables(study) == tables(undisturbed)
    rebuild(Study(study), provenance.begin("miner rebuild", {}))
    assert tables(study) == tables(undisturbed)


def cuts(text: bytes) -> list[int]:
    """Places to cut at: within a row, in its middle, right behind one, behind the line feed."""
    third = text.index(b"<row", len(text) // 3)
    late = text.index(b"/>", 3 * len(text) // 4)
    return [third + 30, third, late + 1, late + 2, len(text) - 3]


@pytest.mark.parametrize("number", range(5))
def test_a_cut_dump_keeps_what_is_whole_and_goes_on_when_it_is_complete(
    template: Path,
    whole: tuple[Path, int],
    dump: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    monkeypatch.setattr(dump_scan, "BLOCK", 3000)
    monkeypatch.setattr(dump_scan, "PART_ROWS", 25)
    text, folder, study = dump.read_bytes(), tmp_path / "cut", tmp_path / "study"
    shutil.copytree(dump.parent, folder)
    shutil.copytree(template, study)
    path, at = folder / "Posts.xml", cuts(text)[number]
    with Study.kept_open() as close:
        importing = Importing(study)
        path.write_bytes(text[:at])
        found = importing.read(path, "keras", "tensorflow")
        assert not found.is_complete
        (problem,) = found.problems()
        assert problem.startswith("Posts.xml has no end, it is cut: the rows before byte ")
        whole_rows = sum(each.endswith(b"/>") for each in text[:at].split(b"\n"))
        assert found.questions.tally.rows == whole_rows
        before = found.questions.tally.kept
        path.write_bytes(text)
        again = importing.read(path, "keras", "tensorflow")
        assert again.problems() == []
        assert again.as_json()["resumed"]
        assert again.questions.tally.kept == 30 >= before
        close()
    assert tables(study, parts=False) == tables(whole[0], parts=False)
    # Nothing that was stored of the cut file is stored again.
    assert _raw_rows(study) == _raw_rows(whole[0])


def test_a_cut_file_that_begins_otherwise_is_another_one(
    template: Path, dump: Path, tmp_path: Path
) -> None:
    text, folder = dump.read_bytes(), tmp_path / "cut"
    shutil.copytree(dump.parent, folder)
    shutil.copytree(template, tmp_path / "study")
    with Study.kept_open():
        importing = Importing(tmp_path / "study")
        (folder / "Posts.xml").write_bytes(text[: len(text) // 2])
        importing.read(folder / "Posts.xml", "keras")
        (folder / "Posts.xml").write_bytes(text.replace(b"Loss", b"Lass"))
        found = importing.read(folder / "Posts.xml", "keras")
        assert found.is_complete
        assert not found.as_json()["resumed"]
        assert found.questions.tally.kept == 15
    assert any("is not the file that was read before" in each for each in importing.told)


def test_a_second_file_that_is_cut_goes_on_with_its_own_questions(
    template: Path, tmp_path: Path
) -> None:
    shutil.copytree(template, tmp_path / "study")
    path = tmp_path / "Posts.xml"
    with Study.kept_open():
        importing = Importing(tmp_path / "study")
        path.write_bytes(document([question(1), answer(2, 1)]))
        importing.read(path, "keras")
        # In the newer dump 1 has lost its tag.
        other = document([question(1, "|pandas|"), answer(2, 1), question(3), answer(4, 3)])
        path.write_bytes(other[:-30])
        assert not importing.read(path, "keras").is_complete
        path.write_bytes(other)
        found = importing.read(path, "keras")
        assert found.is_complete
        assert found.answers is not None
        assert (found.questions.tally.kept, found.answers.tally.kept) == (1, 1)


def _raw_rows(study: Path) -> list[bytes]:
    from faultatlas.miner import archive

    found: list[bytes] = []
    with Study(study).reading() as reader:
        for _number, exchange in archive.replay(reader):
            found += exchange.body.split(b"\n")
    return sorted(found)
