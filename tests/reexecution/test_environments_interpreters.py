"""Interpreters: found on the path, of pyenv and of uv, each asked what it is."""

import json
import os
import sys
from pathlib import Path

import pytest

from faultatlas.analysis.reexecution.environments import interpreters
from faultatlas.analysis.reexecution.environments.interpreters import Interpreter, choose, discover
from faultatlas.analysis.reexecution.environments.preparing import EnvironmentProblem
from faultatlas.analysis.reexecution.runs import Outcome

RUNNING = ".".join(map(str, sys.version_info[:3]))


def fake(file: Path, version: str, *, kind: str = "cpython", level: str = "final") -> Path:
    """A program that answers like an interpreter of this version."""
    file.parent.mkdir(parents=True, exist_ok=True)
    release = [int(part) for part in version.split(".")]
    answer = [release, level, 1, kind, str(file), "/nowhere", "linux", "x86_64", 64]
    file.write_text(f"#!/bin/sh\n/bin/cat <<'END'\n{json.dumps(answer)}\nEND\n")
    file.chmod(0o755)
    return file


def script(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host without any interpreter but the running one."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    interpreters.forget()
    return tmp_path


def found() -> dict[str, str]:
    return {one.version: one.source for one in discover() if one.version != RUNNING}


def test_they_are_found_on_the_path_of_pyenv_and_of_uv(machine: Path) -> None:
    fake(machine / "bin" / "python3.6", "3.6.15")
    fake(machine / "pyenv" / "versions" / "3.7.16" / "bin" / "python", "3.7.16")
    fake(machine / "uv" / "cpython-3.8.18-linux" / "bin" / "python3", "3.8.18")

    assert found() == {"3.6.15": "path", "3.7.16": "pyenv", "3.8.18": "uv"}


def test_the_running_one_is_always_there(machine: Path) -> None:
    assert [one.version for one in discover()] == [RUNNING]
    (running,) = discover()
    assert running.prefix == Path(sys.base_prefix)
    assert machine not in running.path.parents


def test_what_does_not_answer_is_left_out(machine: Path) -> None:
    script(
        machine / "bin" / "python3.5", "echo 'pyenv: python3.5: command not found' >&2; exit 127"
    )
    script(machine / "bin" / "python3.7", "echo nonsense")
    script(machine / "bin" / "python3.8", "echo '[[3, 8], \"final\"]'")
    (machine / "bin" / "python3.9").symlink_to(machine / "gone")
    (machine / "bin" / "python3.10").write_text("not a program")
    fake(machine / "bin" / "python3", "3.6.9", kind="pypy")
    fake(machine / "bin" / "python3.6", "3.6.15")

    assert found() == {"3.6.15": "path"}


def test_one_that_hangs_is_left_out(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "_SECONDS", 0.2)
    script(machine / "bin" / "python3.5", "exec /bin/sleep 60")

    assert found() == {}


def test_the_shims_of_pyenv_are_not_asked(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(machine / "pyenv" / "shims" / "python3.6", f"/bin/touch {machine}/asked; exit 127")
    monkeypatch.setenv("PATH", str(machine / "pyenv" / "shims"))

    assert found() == {}
    assert not (machine / "asked").exists()


def test_python_2_does_not_know_isolated_mode_and_is_asked_otherwise(machine: Path) -> None:
    real = fake(machine / "answer", "2.7.18")
    script(
        machine / "bin" / "python2",
        f'test "$1" = -I && {{ echo "Unknown option: -I" >&2; exit 2; }}; exec {real}',
    )

    assert found() == {"2.7.18": "path"}


def test_an_unchanged_interpreter_is_asked_once_for_all_processes(machine: Path) -> None:
    file = fake(machine / "bin" / "python3.6", "3.6.15")
    assert found() == {"3.6.15": "path"}
    state = file.stat()
    text = file.read_text().replace("15", "14")
    file.write_text(text)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    interpreters.forget()
    assert found() == {"3.6.15": "path"}

    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    interpreters.forget()

    assert found() == {"3.6.14": "path"}


def test_a_damaged_memory_of_answers_is_ignored(machine: Path) -> None:
    memory = machine / "cache" / "faultatlas" / "environments" / "interpreters.json"
    memory.parent.mkdir(parents=True)
    memory.write_text("[1, 2")
    fake(machine / "bin" / "python3.6", "3.6.15")

    assert found() == {"3.6.15": "path"}


HERE = [
    Interpreter(version, Path(f"/python{version}"), "path")
    for version in ("3.13.0rc1", "3.12.1", "3.8.18", "3.7.16", "3.7.3", "3.6.15", "2.7.18")
]


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        ("3.6", "3.6.15"),
        ("3.6.*", "3.6.15"),
        ("==3.7.3", "3.7.3"),
        ("3.7.16", "3.7.16"),
        ("3.7.5", "3.7.3"),
        ("3.7.12", "3.7.16"),
        ("3.7", "3.7.16"),
        ("2.7", "2.7.18"),
        (">=3.6,<3.8", "3.7.16"),
        (">=3.9", "3.12.1"),
        ("~=3.8.0", "3.8.18"),
        ("2", "2.7.18"),
    ],
)
def test_the_declared_version_or_its_nearest_patch_release(wanted: str, taken: str) -> None:
    assert choose(wanted, HERE).version == taken


def test_any_takes_the_minor_version_that_runs_now() -> None:
    same = Interpreter(f"{sys.version_info[0]}.{sys.version_info[1]}.99", Path("/same"), "path")

    assert choose("any", [*HERE, same]) == same
    assert choose(">=3.6", [*HERE, same]) == same


@pytest.mark.parametrize("wanted", ["3.5", "3.9.1", "3.13", ">=3.14", "3.70", "4"])
def test_another_minor_version_is_never_taken(wanted: str) -> None:
    with pytest.raises(EnvironmentProblem) as caught:
        choose(wanted, HERE)

    assert caught.value.outcome is Outcome.NO_INTERPRETER
    assert wanted in caught.value.line
    assert "3.12.1" in caught.value.line  # what is there
    assert "pyenv install" in caught.value.line


@pytest.mark.parametrize("wanted", ["three", "3.x", ">=old"])
def test_what_is_no_version_is_the_bugs_fault(wanted: str) -> None:
    with pytest.raises(EnvironmentProblem, match="is no version") as caught:
        choose(wanted, HERE)
    assert caught.value.outcome is Outcome.NO_ENVIRONMENT
