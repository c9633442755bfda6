"""GPUs are found, lent to one run at a time, watched, and never made up."""

from __future__ import annotations

import contextlib
import multiprocessing
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
from bug_making import make_bug

from faultatlas.analysis.reexecution import devices
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.devices import Gpu
from faultatlas.analysis.reexecution.runs import Device
from faultatlas.data.errors import StudyError

UUID = "GPU-6d1f8c0c-9c58-0f5c-1b1d-5ab63d8b4a51"
OTHER = "GPU-0a3c1f9e-2f6f-7c0f-8d0e-9b0f1a2b3c4d"
ONE = f"0, {UUID}, NVIDIA A100-SXM4-40GB, 40960\n"
TWO = f"{ONE}1, {OTHER}, NVIDIA A100-SXM4-40GB, 40960\n"
A100 = Gpu(0, UUID, "NVIDIA A100-SXM4-40GB", 40960)
SECOND = Gpu(1, OTHER, "NVIDIA A100-SXM4-40GB", 40960)

Fake = Callable[..., Path]


@pytest.fixture
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Puts a program of that name on the path: what it lists, what it samples, how it ends."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def put(listed: str = ONE, sample: str = "512, 37\n", code: int = 0, before: str = "") -> Path:
        (folder / "listed").write_text(listed)
        (folder / "sample").write_text(sample)
        program = folder / "nvidia-smi"
        program.write_text(
            f"#!/bin/sh\n{before}\n"
            'case "$*" in\n'
            "*index,uuid,name,memory.total*--format=csv,noheader,nounits*) "
            f'cat "{folder}/listed";;\n'
            f'*memory.used,utilization.gpu*) echo "$*" >> "{folder}/asked"; '
            f'cat "{folder}/sample";;\n'
            "*) exit 2;;\nesac\n"
            f"exit {code}\n"
        )
        program.chmod(0o755)
        return folder

    return put


def test_finds_what_nvidia_smi_lists(nvidia_smi: Fake) -> None:
    nvidia_smi(TWO)
    assert devices.found() == devices.Found((A100, SECOND))


def test_a_driver_that_comes_back_is_seen_by_a_worker_that_lives_on(
    nvidia_smi: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(devices, "_clock", lambda: now[0])
    folder = nvidia_smi("No devices were found\n")
    assert devices.gpus() == ()
    (folder / "listed").write_text(ONE)
    assert devices.gpus() == ()  # it is not asked for every run
    now[0] += devices.LASTS_S
    assert devices.gpus() == (A100,)


@pytest.mark.parametrize(
    ("visible", "usable"),
    [
        ("0", (A100,)),
        ("1,0", (A100, SECOND)),
        (OTHER, (SECOND,)),
        (OTHER[:12], (SECOND,)),
        ("", ()),
        ("-1", ()),
        ("-1,0", ()),
        ("7", ()),
    ],
)
def test_takes_only_what_the_user_was_given(
    nvidia_smi: Fake, monkeypatch: pytest.MonkeyPatch, visible: str, usable: tuple[Gpu, ...]
) -> None:
    nvidia_smi(TWO)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices.gpus() == usable
    assert bool(devices.found().problem) == (not usable)


def test_a_host_without_nvidia_smi_has_no_gpu_and_no_complaint(
    nvidia_smi: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    del nvidia_smi
    monkeypatch.setenv("PATH", str(tmp_path))
    assert devices.found() == devices.Found()


@pytest.mark.parametrize(
    ("listed", "code", "said"),
    [
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n",
            9,
            "nvidia-smi failed: NVIDIA-SMI has failed because it couldn't communicate",
        ),
        ("No devices were found\n", 6, "nvidia-smi failed: No devices were found"),
        ("No devices were found\n", 0, "nvidia-smi names no GPU: No devices were found"),
        ("", 0, "nvidia-smi names no GPU: it says nothing"),
        ("", 1, "nvidia-smi failed: exit code 1"),
        ("0, GPU-1\n", 0, "nvidia-smi names no GPU"),
        ("0, ../../x, A100, 1\n", 0, "nvidia-smi names no GPU"),
        ("\x1b[2J\x00\n", 1, "nvidia-smi failed:"),
    ],
)
def test_a_broken_driver_is_one_clear_line(
    nvidia_smi: Fake, listed: str, code: int, said: str
) -> None:
    nvidia_smi(listed, code=code)
    found = devices.found()
    assert found.gpus == ()
    assert found.problem.startswith(said)
    assert found.problem.isprintable()


def test_odd_names_and_missing_sizes_are_taken(nvidia_smi: Fake) -> None:
    nvidia_smi(f"0, {UUID}, Tesla, the odd one, [N/A]\n")
    assert devices.gpus() == (Gpu(0, UUID, "Tesla, the odd one", 0),)


def test_one_that_hangs_is_given_up_and_leaves_nothing(
    nvidia_smi: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(devices, "ANSWER_S", 0.3)
    nvidia_smi(before=f'tail -f "{tmp_path}/bin/listed"')
    assert devices.found().problem == "nvidia-smi did not answer within 0.3 s"
    _until(lambda: not _processes_with(str(tmp_path)))


def test_one_that_cannot_be_started_is_named(nvidia_smi: Fake) -> None:
    folder = nvidia_smi()
    (folder / "nvidia-smi").write_bytes(b"\x7fELF nonsense")
    assert devices.found().problem.startswith("nvidia-smi cannot be started")


def test_it_is_asked_once(nvidia_smi: Fake, tmp_path: Path) -> None:
    nvidia_smi(before=f'echo x >> "{tmp_path}/count"')
    for _ in range(3):
        devices.gpus()
    assert (tmp_path / "count").read_text() == "x\n"


def bug(tmp_path: Path, framework: str = "numpy", **more: Any) -> Any:
    labels = {"framework": framework, **more}
    return read(make_bug(tmp_path / "bug", buggy="", fixed="", labels=labels))


@pytest.mark.parametrize(
    ("request_", "framework", "about_gpu", "kind"),
    [
        ("auto", "numpy", False, "cpu"),
        ("auto", "pytorch", False, "cuda"),
        ("auto", "numpy", True, "cuda"),
        ("cpu", "pytorch", True, "cpu"),
        ("cuda", "numpy", False, "cuda"),
    ],
)
def test_where_a_bug_runs_on_a_host_with_a_gpu(
    nvidia_smi: Fake, tmp_path: Path, request_: str, framework: str, about_gpu: object, kind: str
) -> None:
    nvidia_smi()
    assert devices.kind(request_, bug(tmp_path, framework, about_gpu=about_gpu)) == kind


def test_what_a_bug_needs_says_whether_it_can_use_a_gpu(tmp_path: Path) -> None:
    needs = ["numpy", "Torch==1.4"]
    folder = make_bug(tmp_path / "bug", buggy="", fixed="", requirements=needs)
    assert devices.may_use_gpu(read(folder))


def test_a_bug_about_a_gpu_still_runs_on_a_host_without_one(
    nvidia_smi: Fake, tmp_path: Path
) -> None:
    nvidia_smi("No devices were found\n", code=6)
    assert devices.kind("auto", bug(tmp_path, "pytorch", about_gpu=True)) == "cpu"


def test_asking_for_a_gpu_that_is_not_there_says_why_and_what_to_do(
    nvidia_smi: Fake, tmp_path: Path
) -> None:
    nvidia_smi("No devices were found\n", code=6)
    with pytest.raises(StudyError, match=r"no GPU was found: .*No devices were found") as caught:
        devices.kind("cuda", bug(tmp_path))
    assert "--device cpu" in caught.value.hint


def test_an_unknown_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no device is called 'tpu'"):
        devices.kind("tpu", bug(tmp_path))


def test_two_runs_have_different_gpus_and_a_third_waits(nvidia_smi: Fake) -> None:
    nvidia_smi(TWO)
    third = []

    def take() -> None:
        with devices.lent() as gpu:
            third.append(gpu)

    with devices.lent() as first:
        with devices.lent() as second:
            assert (first, second) == (A100, SECOND)
            waiting = threading.Thread(target=take)
            waiting.start()
            waiting.join(3 * devices.LOOK_S)
            assert third == []
        waiting.join()
    assert third == [SECOND]


def _hold(line: Connection[Any, Any]) -> None:
    with devices.lent() as gpu:
        line.send(gpu)
        line.recv()


def test_a_gpu_is_free_again_when_its_process_is_killed(nvidia_smi: Fake) -> None:
    nvidia_smi(TWO)
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_hold, args=(theirs,))
    process.start()
    try:
        theirs.close()
        assert ours.recv() == A100
        with devices.lent() as gpu:
            assert gpu == SECOND
        process.kill()
        process.join()
        with devices.lent() as gpu:
            assert gpu == A100
    finally:
        process.kill()
        process.join()
        process.close()
        ours.close()


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        threading.Event().wait(0.005)


@pytest.fixture
def asked(tmp_path: Path) -> Callable[[int], None]:
    def times(count: int) -> None:
        path = tmp_path / "bin/asked"
        _until(lambda: path.exists() and len(path.read_text().splitlines()) >= count)

    return times


def test_memory_and_utilisation_are_sampled(nvidia_smi: Fake, asked: Callable[[int], None]) -> None:
    folder = nvidia_smi(sample="512, 20\n")
    with devices.Watch(A100, every_s=0.01) as watch:
        _until(lambda: watch.device.peak_memory_mb == 512)
        (folder / "more").write_text("9000, 80\n")
        (folder / "more").replace(folder / "sample")
        _until(lambda: watch.device.peak_memory_mb == 9000)
    device = watch.device
    assert (device.kind, device.name, device.uuid) == ("cuda", A100.name, UUID)
    assert device.mean_utilisation is not None
    assert 20 < device.mean_utilisation < 80
    asked(2)
    assert f"--id={UUID}" in (folder / "asked").read_text()


@pytest.mark.parametrize("sample", ["[N/A], [N/A]\n", "", "nonsense"])
def test_a_gpu_that_says_nothing_is_no_error(
    nvidia_smi: Fake, asked: Callable[[int], None], sample: str
) -> None:
    nvidia_smi(sample=sample)
    with devices.Watch(A100, every_s=0.0) as watch:
        asked(3)
    assert watch.device == Device("cuda", A100.name, UUID, 40960)


def test_watching_ends_at_once_although_nvidia_smi_hangs(nvidia_smi: Fake, tmp_path: Path) -> None:
    nvidia_smi(before=f'tail -f "{tmp_path}/bin/listed"')
    with devices.Watch(A100) as watch:
        _until(lambda: len(_processes_with(str(tmp_path))) == 2)
    assert watch.device == Device("cuda", A100.name, UUID, 40960)
    _until(lambda: not _processes_with(str(tmp_path)))


def _processes_with(text: str) -> list[str]:
    """Those with it on their command line; what is dead has none."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if text in (path / "cmdline").read_text(errors="replace"):
                found.append(path.name)
    return found


def test_the_nodes_of_the_driver_are_named(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    names = [path.name for path in devices.nodes(tmp_path)]
    assert names == ["nvidia-uvm", "nvidia0", "nvidiactl"]
