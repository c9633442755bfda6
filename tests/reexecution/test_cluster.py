"""A real Dask cluster of two workers, one of which says that it has a GPU."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from subprocess import DEVNULL, PIPE, CompletedProcess, Popen
from typing import Any

import pytest
import sandboxed
from bug_making import make_bug
from needed import needing
from undrawn import undrawn

from faultatlas.analysis.reexecution import cluster
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study

sys.path.append(str(Path(__file__).parent))
import killing_points

pytestmark = needing(find_spec("distributed"), "the extra `reexecution` is not installed")

Command = Callable[..., CompletedProcess[str]]
UUID = "GPU-00000000-feed-beef-0000-000000000000"
SMI = f"""#!/bin/sh
case "$*" in
  *uuid,name*) echo "0, {UUID}, Made Up 9000, 8192" ;;
  *) echo "100, 7" ;;
esac
"""


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an nvidia-smi that knows one GPU."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "nvidia-smi").write_text(SMI)
    (folder / "nvidia-smi").chmod(0o755)
    return folder


class Running:
    """The cluster: its address, and the worker with a GPU on request."""

    def __init__(self, process: Popen[str], mark: Path) -> None:
        assert process.stdout is not None
        self.process, self.mark = process, mark
        self.address = process.stdout.readline().strip()

    def add_gpu(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print("gpu", file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "ready\n"


@pytest.fixture(scope="module")
def running(tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Its workers kill themselves once while a program runs."""
    sandboxed.needs("bubblewrap")
    folder = tmp_path_factory.mktemp("cluster")
    script = Path(__file__).with_name("a_cluster.py")
    words = [sys.executable, str(script), str(tools), str(folder / "local")]
    mark = folder / "mark"
    variables = os.environ | {
        killing_points.POINT: "worker runs",
        killing_points.MARK: str(mark),
        "PYTHONPATH": str(script.parent),
        "PYTHONWARNINGS": "ignore",
        "DASK_LOGGING__DISTRIBUTED": "critical",
    }
    with Popen(words, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, text=True, env=variables) as process:
        try:
            yield Running(process, mark)
            assert process.stdin is not None
            process.stdin.close()
            process.wait(30)
        finally:
            process.kill()


def put_bugs(study: Path) -> None:
    held = killing_points.HELD
    home = study / "bugs" / "made"
    make_bug(home / "crash", buggy=f"{held}\nraise ValueError(7)", fixed=f"{held}\nprint(7)")
    make_bug(home / "on-gpu", buggy="raise ValueError(7)", fixed="print(7)",
             labels={"about_gpu": True})  # fmt: skip


def judged(study: Path) -> list[dict[str, Any]]:
    with Study(study).reading() as reader:
        return reader.rows(
            "SELECT bug_id, device, verdict, reason, rule, detail, buggy_runs, buggy_shown, "
            "fixed_runs, fixed_shown FROM verdicts ORDER BY bug_id"
        )


def runs(study: Path) -> dict[str, dict[str, Any]]:
    return {
        f"{path.parents[2].name} {path.parent.name}": json.loads(path.read_text())
        for path in sorted((study / "reexecution").rglob("run.json"))
    }


def test_a_cluster(
    running: Running,
    tools: Path,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("faultatlas.analysis.reexecution.executing.execute", killing_points.execute)
    on = ("--cluster", running.address)

    # No worker has a GPU: a bug that is about one says so, and nobody waits.
    without = undrawn(tmp_path / "without")
    put_bugs(without)
    ended = command("analysis", "reexecute", "on-gpu", *on, "--study", without)
    assert ended.returncode == 0, ended.stderr
    assert [(row["verdict"], row["reason"]) for row in judged(without)] == [
        ("infrastructure", "device")
    ]
    refused = command("analysis", "reexecute", *on, "--device", "cuda", "--study", without)
    assert refused.returncode == 1
    assert "no worker of the cluster says that it has a GPU" in refused.stderr

    # Two workers; the one that runs the first program that can be held is killed.
    running.add_gpu()
    spread = undrawn(tmp_path / "spread")
    put_bugs(spread)
    ended = command("analysis", "reexecute", *on, "--study", spread)
    assert ended.returncode == 0, ended.stderr
    assert Path(f"{running.mark}-held").exists()
    found = runs(spread)
    assert len(found) == 12  # each once, under its first number
    for name, run in found.items():
        assert run["outcome"] == "exited"
        assert run["attempt"] == 1
        assert run["device"]["uuid"] == (UUID if "on-gpu" in name else "")

    # The same on this machine.
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    alone = undrawn(tmp_path / "alone")
    put_bugs(alone)
    ended = command("analysis", "reexecute", "--workers", "1", "--study", alone)
    assert ended.returncode == 0, ended.stderr
    assert judged(alone) == judged(spread)
    assert [row["verdict"] for row in judged(alone)] == ["verified", "verified"]
    assert list(runs(alone)) == list(found)

    # A second call on the cluster has nothing to do.
    ended = command("analysis", "reexecute", *on, "--study", spread, "--json")
    assert {bug["runs_made_now"] for bug in json.loads(ended.stdout)["bugs"]} == {0}


def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_S", 0.2)
    for address in ("tcp://127.0.0.1:9", "nonsense", "zzz://127.0.0.1:9"):
        with pytest.raises(StudyError, match="cannot be reached") as error:
            cluster.connect(address, tmp_path)
        assert address in error.value.message
        assert "dask scheduler" in error.value.hint


def test_without_dask_it_is_said_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(StudyError, match="not installed") as error:
        cluster.connect("tcp://127.0.0.1:8786", tmp_path)
    assert "faultatlas[reexecution]" in error.value.hint


class Client:
    """A cluster whose workers answer as they are told."""

    status = "running"

    def __init__(self, versions: dict[str, Any], seen: dict[str, Any]) -> None:
        self._answers = [versions, seen]

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1  # all of them
        return {"workers": {name: {"resources": {}} for name in self._answers[-1]}}

    def run(self, *_words: Any, on_error: str) -> dict[str, Any]:
        assert on_error == "return"
        return self._answers.pop(0)


@pytest.mark.parametrize(
    ("versions", "seen", "told"),
    [
        ({"a": "", "b": "0.0.1"}, {"a": True, "b": True}, "the worker b has faultatlas 0.0.1"),
        ({"a": ImportError()}, {"a": True}, "the worker a has no faultatlas"),
        ({"a": "", "b": "", "c": ""}, {"a": True, "b": False, "c": OSError()},
         "the worker b and 1 more cannot see"),
        ({}, {}, "has no workers"),
    ],
)  # fmt: skip
def test_workers_that_cannot_do_it(
    versions: dict[str, Any], seen: dict[str, Any], told: str, tmp_path: Path
) -> None:
    versions = {name: each or cluster.program_version() for name, each in versions.items()}
    with pytest.raises(StudyError, match=told):
        cluster._check(Client(versions, seen), "tcp://here", tmp_path / "runs")  # type: ignore[arg-type]  # noqa: SLF001
    assert list(tmp_path.rglob(".seen*")) == []


class Executor:
    """Runs a task at once; what happens to it there is its future's."""

    def submit(self, work: Callable[..., Path], *words: Any) -> Future[Path]:
        future: Future[Path] = Future()
        try:
            future.set_result(work(*words))
        except Exception as error:  # noqa: BLE001
            future.set_exception(error)
        return future


class Cluster:
    """One whose workers came after the others were looked at."""

    def get_executor(self, **_options: Any) -> Executor:
        return Executor()


def no_such_module(_task: Any) -> Path:
    raise ModuleNotFoundError("No module named 'analysis'", name="analysis")


def test_workers_that_come_later_look_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = cluster.ClusterPool(Cluster(), Path, tmp_path)
    assert pool.submit("result", gpu=False).result() == Path("result")
    gone = cluster.ClusterPool(Cluster(), Path, tmp_path / "gone")
    with pytest.raises(StudyError, match="cannot see") as error:
        gone.submit("result", gpu=True).result()
    assert "same path" in error.value.hint
    with pytest.raises(StudyError, match="has no analysis"):
        cluster.ClusterPool(Cluster(), no_such_module, tmp_path).submit("", gpu=False).result()
    versions = iter(["1.0", "0.9", "0.9"])
    monkeypatch.setattr(cluster, "program_version", lambda: next(versions))
    with pytest.raises(StudyError, match=r"has faultatlas 0\.9, the command .* has 1\.0"):
        pool.submit("result", gpu=False).result()
