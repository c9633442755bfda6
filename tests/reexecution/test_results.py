"""Runs on disk: complete or not there, never half, never two at once."""

from __future__ import annotations

import errno
import fcntl
import json
import multiprocessing
import os
import shutil
import string
import threading
from dataclasses import fields, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.analysis.reexecution import results
from faultatlas.analysis.reexecution.runs import Device, Isolation, Outcome, Run
from faultatlas.data.errors import StudyError

CONTENT = "0123456789abcdef" * 4
RUN = Run("made/one", CONTENT, "buggy", 1, 1, Outcome.EXITED, exit_code=0)

texts = st.text(max_size=20)
numbers = st.floats(0, 1e9)
counts = st.integers(0, 10**12)
_runs = st.builds(
    Run,
    bug_id=texts,
    content=texts,
    side=st.sampled_from(["buggy", "fixed"]),
    seed=counts,
    attempt=counts,
    outcome=st.sampled_from(Outcome),
    exit_code=st.none() | counts,
    signal=st.none() | counts,
    command=counts,
    duration_s=numbers,
    cpu_s=numbers,
    peak_memory_mb=numbers,
    memory_kills=counts,
    last_output_s=numbers,
    output_bytes=counts,
    output_cut=st.booleans(),
    written_mb=numbers,
    files=st.dictionaries(texts, texts, max_size=3),
    checked=st.none() | counts,
    environment=texts,
    versions=st.dictionaries(texts, texts, max_size=3),
    repairs=st.lists(texts, max_size=3).map(tuple),
    fidelity=st.lists(texts, max_size=3).map(tuple),
    isolation=st.builds(Isolation, texts, st.booleans(), texts, texts),
    device=st.builds(Device, texts, texts, texts, counts, counts, st.none() | numbers),
    problem=texts,
    started_at=texts,
    host=st.dictionaries(texts, texts | counts, max_size=3),
    source_bytes=st.none() | counts,
    repairs_edition=texts,
)


def folder_of(root: Path, **more: Any) -> Path:
    keys: dict[str, Any] = {"side": "buggy", "seed": 1, "attempt": 1, **more}
    return results.run_folder(root, "made/one", CONTENT, "cpu", **keys)


def finished(root: Path, **more: Any) -> Path:
    folder = folder_of(root, **more)
    with results.alone(folder) as ours:
        assert ours
        (folder / "stdout").write_text("out")
        results.write_run(folder, replace(RUN, **more))
    return folder


@settings(max_examples=30)
@given(run=_runs)
def test_a_record_comes_back_as_it_was_written(run: Run) -> None:
    assert results.decoded(results.encoded(run)) == run


def test_every_field_is_tried_above() -> None:
    """A field that somebody adds must come back too."""
    given_fields = set(_runs.wrapped_strategy.kwargs)  # type: ignore[attr-defined]
    assert given_fields == {each.name for each in fields(Run)}


def test_fields_of_a_newer_version_are_passed_over() -> None:
    plain = json.loads(results.encoded(RUN))
    plain["mood"] = "good"
    plain["device"]["colour"] = "green"
    assert results.decoded(json.dumps(plain)) == RUN


def test_a_record_of_an_older_version_has_the_defaults() -> None:
    plain = json.loads(results.encoded(RUN))
    del plain["device"], plain["checked"]
    assert results.decoded(json.dumps(plain)) == RUN


@pytest.mark.parametrize(
    "spoilt",
    [
        "",
        "null",
        "[]",
        "{}",
        results.encoded(RUN)[:-20],
        results.encoded(RUN).replace('"exited"', '"flew away"'),
        results.encoded(RUN).replace('"seed": 1', '"seed": "1"'),
        results.encoded(RUN).replace('"seed": 1', '"seed": true'),
        results.encoded(RUN).replace('"buggy"', '"../.."'),
        results.encoded(RUN).replace('"repairs": []', '"repairs": [1]'),
        "[" * 100_000,
    ],
)
def test_a_spoilt_record_counts_as_unfinished_and_is_set_aside(tmp_path: Path, spoilt: str) -> None:
    folder = finished(tmp_path)
    (folder / "run.json").write_text(spoilt)
    assert results.stored(tmp_path, "made/one", CONTENT, "cpu") == []
    swept = results.sweep(tmp_path)
    assert swept.removed == ()
    (aside,) = swept.set_aside
    assert (aside / "run.json").read_text() == spoilt
    assert (aside / "stdout").read_text() == "out"
    assert not folder.exists()
    assert finished(tmp_path) == folder  # and it can be run again
    assert results.sweep(tmp_path) == results.Swept()


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EMFILE, errno.EACCES])
def test_a_disk_that_does_not_answer_undoes_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    folder = finished(tmp_path)
    before = sorted(path.name for path in folder.iterdir())
    opened = Path.open

    def broken(path: Path, *arguments: Any, **named: Any) -> Any:
        if path.name == "run.json":
            raise OSError(number, os.strerror(number))
        return opened(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", broken)
    with pytest.raises(StudyError, match=f"run.json cannot be read: {os.strerror(number)}"):
        results.read_run(folder)
    with pytest.raises(StudyError):
        results.stored(tmp_path, "made/one", CONTENT, "cpu")
    with pytest.raises(StudyError):
        results.sweep(tmp_path)
    with pytest.raises(StudyError), results.alone(folder):
        pytest.fail("it is not to be run again")
    monkeypatch.undo()
    assert sorted(path.name for path in folder.iterdir()) == before
    assert [each.name for each in folder.parent.iterdir()] == [folder.name]
    assert results.read_run(folder) == RUN


def test_running_over_a_spoilt_record_sets_it_aside_too(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    (folder / "run.json").write_text("{")
    finished(tmp_path)
    (folder / "run.json").write_text("[")
    finished(tmp_path)
    kept = sorted(path.parent.name for path in tmp_path.rglob("run.json"))
    assert kept == ["buggy-1-1", "buggy-1-1.unreadable-1", "buggy-1-1.unreadable-2"]


def test_stored_runs_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for seed, attempt in ((10, 1), (2, 1), (2, 2)):
        finished(tmp_path, seed=seed, attempt=attempt)
    finished(tmp_path, side="fixed")
    names = [path.name for path in results.stored(tmp_path, "made/one", CONTENT, "cpu")]
    assert names == ["buggy-2-1", "buggy-2-2", "buggy-10-1", "fixed-1-1"]
    assert results.stored(tmp_path, "made/one", CONTENT, "cuda") == []
    assert results.stored(tmp_path, "made/one", "f" * 64, "cpu") == []


def test_a_finished_run_leaves_no_lock_and_no_workspace(tmp_path: Path) -> None:
    folder = finished(tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["run.json", "stdout"]


def test_what_is_interrupted_leaves_nothing(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)

    def interrupted() -> None:
        with results.alone(folder):
            (folder / "workspace/deep").mkdir(parents=True)
            (folder / "stdout").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not folder.exists()


def test_what_a_killed_run_left_is_swept_and_finished_runs_stay(tmp_path: Path) -> None:
    kept = finished(tmp_path)
    killed = folder_of(tmp_path, seed=2)
    (killed / "workspace/deep").mkdir(parents=True)
    (killed / "lock").touch()
    (killed / "run.json.draft").write_text(results.encoded(RUN))
    (kept / "workspace").mkdir()  # killed between the record and cleaning up
    mine = tmp_path / "made/one/notes-of-mine"
    mine.mkdir()
    swept = results.sweep(tmp_path)
    assert (swept.removed, swept.set_aside) == ((killed,), ())
    assert not killed.exists()
    assert not (kept / "workspace").exists()
    assert results.read_run(kept) == RUN
    assert mine.exists()


def test_remains_are_held_until_the_last_of_them_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else another process would begin the run anew in a folder that is being emptied."""
    folder = folder_of(tmp_path)
    work = folder / "workspace"
    seen = []
    rmdir = os.rmdir

    def removing(*of: Any, **more: Any) -> None:
        seen.append((folder / "lock").exists() or not work.exists())
        rmdir(*of, **more)

    monkeypatch.setattr(os, "rmdir", removing)
    (work / "deep" / "deeper").mkdir(parents=True)
    (folder / "stdout").write_text("begins")
    assert results.sweep(tmp_path).removed == (folder,)
    with results.alone(folder):
        (work / "deep").mkdir(parents=True)
    assert len(seen) > 5
    assert all(seen)
    assert not folder.exists()


def test_sweeping_where_nothing_was_ever_run_is_no_error(tmp_path: Path) -> None:
    assert results.sweep(tmp_path / "none") == results.Swept()


def test_sweeping_follows_no_link(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "made/one/x-cpu/buggy-1-1").mkdir(parents=True)
    (tmp_path / "root").mkdir()
    (tmp_path / "root/set").symlink_to(outside / "made")
    results.sweep(tmp_path / "root")
    assert (outside / "made/one/x-cpu/buggy-1-1").exists()


def _hold(folder: Path, line: Connection[Any, Any]) -> None:
    with results.alone(folder) as ours:
        (folder / "stdout").write_text("theirs")
        line.send(ours)
        if line.recv() == "finish":
            results.write_run(folder, RUN)


@pytest.fixture
def another(tmp_path: Path) -> Any:
    """A process that is in the middle of the run."""
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_hold, args=(folder_of(tmp_path), theirs))
    process.start()
    theirs.close()
    assert ours.recv() is True
    yield process, ours
    process.kill()
    process.join()
    process.close()
    ours.close()


def test_a_run_in_progress_is_not_swept_nor_run_by_two(tmp_path: Path, another: Any) -> None:
    process, line = another
    folder = folder_of(tmp_path)
    assert results.sweep(tmp_path) == results.Swept()
    assert (folder / "stdout").read_text() == "theirs"
    seen = []

    def wait() -> None:
        with results.alone(folder) as ours:
            seen.append(ours)

    waiting = threading.Thread(target=wait)
    waiting.start()
    line.send("finish")
    waiting.join()
    process.join()
    assert seen == [False]  # it finished there: nothing is left to run here
    assert results.read_run(folder) == RUN


def test_a_killed_process_gives_its_run_free(tmp_path: Path, another: Any) -> None:
    process, _line = another
    process.kill()
    process.join()
    folder = folder_of(tmp_path)
    with results.alone(folder) as ours:
        assert ours
        assert [path.name for path in folder.iterdir()] == ["lock"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_is_an_error_and_nothing_half_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_arguments: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    owner = os if step == "fsync" else Path
    with monkeypatch.context() as patch:
        patch.setattr(owner, step, full)
        with pytest.raises(OSError, match=r"made/one could not be written: No space") as caught:
            finished(tmp_path)
    assert caught.value.errno == errno.ENOSPC
    assert results.stored(tmp_path, "made/one", CONTENT, "cpu") == []
    assert not folder_of(tmp_path).exists()


def test_a_folder_that_may_not_be_written_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(StudyError, match="Permission denied") as caught:
        finished(tmp_path)
    assert "writable" in caught.value.hint


def test_the_record_is_the_last_thing_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Logs reach the disk before the name of the record does."""
    steps = []
    sync, rename = os.fsync, Path.replace

    def synced(number: int) -> None:
        steps.append(Path(f"/proc/self/fd/{number}").readlink().name)
        sync(number)

    def renamed(path: Path, to: Path) -> Path:
        steps.append("renamed")
        return rename(path, to)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", renamed)
    folder = finished(tmp_path)
    assert steps == ["stdout", "run.json.draft", "renamed", folder.name, folder.parent.name]


def test_evidence_is_the_end_of_the_logs_as_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "TAIL", 8)
    folder = finished(tmp_path)
    (folder / "stdout").write_bytes(b"beginning end\xff")
    found = results.evidence(folder)
    assert (found.run, found.stdout, found.stderr) == (RUN, "ing end\ufffd", "")


def test_evidence_has_the_outputs_that_are_text_and_small(tmp_path: Path) -> None:
    made, folder = tmp_path / "made-by-it", folder_of(tmp_path)
    (made / "deep").mkdir(parents=True)
    (made / "deep/a.txt").write_text("loss 0.5")
    (made / "model.bin").write_bytes(b"\0\1")
    (made / "long.txt").write_bytes(b"x" * (results.LARGEST_OUTPUT + 1))
    (made / "link.txt").symlink_to("/etc/hostname")
    names = ["deep/a.txt", "model.bin", "long.txt", "link.txt", "none.txt"]
    with results.alone(folder):
        results.keep_outputs(folder, made, names)
        results.write_run(folder, replace(RUN, files=dict.fromkeys(names, "fresh")))
    assert results.evidence(folder).outputs == {"deep/a.txt": "loss 0.5"}


def test_evidence_of_an_unfinished_run_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match=r"buggy-1-1 of made/one has no readable run\.json"):
        results.evidence(folder_of(tmp_path))


@pytest.mark.parametrize(
    "wrong",
    [
        {"bug_id": "../x"},
        {"bug_id": "a/../b"},
        {"bug_id": "one"},
        {"content": "../../etc"},
        {"device": ".."},
        {"side": "../x"},
        {"seed": -1},
        {"attempt": 0},
    ],
)
def test_no_name_leads_out_of_the_folder_of_results(wrong: dict[str, Any]) -> None:
    keys = {"bug_id": "made/one", "content": CONTENT, "device": "cpu", "side": "buggy"} | wrong
    keys = {"seed": 1, "attempt": 1} | keys
    with pytest.raises(ValueError, match="no run"):
        results.run_folder(Path("root"), **keys)


def test_the_layout_is_the_documented_one() -> None:
    assert set(CONTENT) <= set(string.hexdigits)
    assert folder_of(Path("root")).as_posix() == "root/made/one/0123456789abcdef-cpu/buggy-1-1"


def test_a_folder_that_is_swept_while_it_is_taken_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between opening the lock and holding it, somebody else may have removed all of it."""
    folder, lock, swept = folder_of(tmp_path), fcntl.flock, []

    def sweeping(number: int, how: int) -> None:
        if not swept:
            swept.append(folder)
            shutil.rmtree(folder)
        lock(number, how)

    monkeypatch.setattr(fcntl, "flock", sweeping)
    with results.alone(folder) as ours:
        assert ours
        assert (folder / "lock").exists()
        assert results.sweep(tmp_path) == results.Swept()
