"""Packages that mean harm while they are built: what they plant is not run, followed or read."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from needed import needing
from wheel_making import make_source, make_wheel

from faultatlas.analysis.reexecution.bugs import EnvironmentSpec
from faultatlas.analysis.reexecution.environments import (
    building,
    host,
    installing,
    interpreters,
    problems,
)
from faultatlas.analysis.reexecution.environments.building import Builder
from faultatlas.analysis.reexecution.environments.installing import Workshop
from faultatlas.analysis.reexecution.environments.interpreters import Interpreter, choose
from faultatlas.analysis.reexecution.environments.preparing import EnvironmentProblem, prepare
from faultatlas.analysis.reexecution.environments.requirements import Wish
from faultatlas.analysis.reexecution.runs import Outcome

pytestmark = [
    needing(installing.find_uv(), "uv is not installed (the extra reexecution)"),
    needing(installing.has_bubblewrap(), "there is no bubblewrap"),
]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    return tmp_path / "cache"


def spec(*lines: str) -> EnvironmentSpec:
    return EnvironmentSpec(requirements=("--no-index", "--find-links wheels", *lines))


def test_what_a_build_left_beside_the_compiler_is_not_run(cache: Path) -> None:
    """Old interpreters know no -I: the folder in which they stand comes first."""
    here = choose("any")
    old = Interpreter("3.4.0", here.path, here.source, here.prefix, here.platform)
    shop = Workshop(cache, cache / "envs" / "key", (here.prefix,))
    packages = shop.folder / "venv/lib/python3.4/site-packages"
    packages.mkdir(parents=True)
    (packages / "leaf.py").write_text("LEAF = 1\n")
    shop.scratch.mkdir()
    planted = f"open({str(cache / 'planted')!r}, 'w').close()\n"
    for name in ("compileall.py", "struct.py", "sitecustomize.py"):
        (shop.scratch / name).write_text(planted)

    Builder(old, Wish(()), shop)._compile()  # noqa: SLF001

    assert list(packages.rglob("leaf*.pyc"))
    assert not (cache / "planted").exists()


def test_a_compiler_writes_nothing_outside_of_the_environment(cache: Path) -> None:
    shop = Workshop(cache, cache / "envs" / "key", (choose("any").prefix,))
    packages = shop.folder / "venv/lib/python3/site-packages"
    packages.mkdir(parents=True)
    (packages / "leaf.py").write_text("LEAF = 1\n")
    others = cache / "bytecode" / "others"
    others.mkdir(parents=True)
    (packages / "__pycache__").symlink_to(others)
    builder = Builder(choose("any"), Wish(()), shop)
    builder.tool = "pip"

    builder._compile()  # noqa: SLF001

    assert not list(others.iterdir())


# Run by pip, as a part of an environment that uv does not take: all of it is the package's own.
_PLANTS = """
import os, sys
folder = os.path.dirname(sys.prefix)
for name in ("log.txt", "environment.json", ".environment.json.{pid}"):
    try:
        os.symlink({victim!r}, os.path.join(folder, name))
    except OSError:
        pass
"""


def test_links_that_a_package_plants_lead_nobody_out(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "_UV_FROM", (99, 0))
    victim = tmp_path / "home" / "notes"
    victim.parent.mkdir()
    victim.write_text("mine\n")
    code = _PLANTS.format(victim=str(victim), pid=os.getpid())
    make_source(tmp_path / "bug" / "wheels", "root", "3.1", code)

    made = prepare(spec("root==3.1"), cache=cache, base=tmp_path / "bug")

    assert made.versions["root"] == "3.1"
    assert "Successfully installed" in (cache / "envs" / made.key / "log.txt").read_text()
    assert victim.read_text() == "mine\n"


def test_an_environment_whose_python_leads_elsewhere_is_built_again(
    tmp_path: Path, cache: Path
) -> None:
    secret = tmp_path / "home" / "secret"
    secret.parent.mkdir()
    secret.touch()
    make_wheel(tmp_path / "bug" / "wheels", "leaf", "1.0")
    first = prepare(spec("leaf==1.0"), cache=cache, base=tmp_path / "bug")
    first.release()
    first.python.unlink()
    first.python.symlink_to(secret)

    again = prepare(spec("leaf==1.0"), cache=cache, base=tmp_path / "bug")

    assert again.key == first.key
    assert os.path.realpath(again.python) == os.path.realpath(sys.executable)
    assert not any(secret.is_relative_to(place) for place in again.readonly)


def test_a_python_that_leads_to_the_interpreter_on_odd_ways_shows_nothing_else(
    tmp_path: Path,
) -> None:
    """A way that the kernel goes to the interpreter, and that reads as one to a secret."""
    interpreter = choose("any")
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "there").symlink_to(interpreter.path.parent)
    folder, name = interpreter.path.parts[-2:]
    (venv / "bin" / "python").symlink_to(f"../there/../{folder}/{name}")
    secret = tmp_path / "secret"
    secret.touch()
    (venv / folder).mkdir(exist_ok=True)
    (venv / folder / name).symlink_to(secret)
    assert os.path.realpath(venv / "bin" / "python") == str(interpreter.path)

    with pytest.raises(EnvironmentProblem, match="in the place of python"):
        host.shown_of(venv, interpreter)


def test_a_build_does_not_see_the_home_through_its_interpreter(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    make_wheel(tmp_path / "bug" / "wheels", "leaf", "1.0")
    wide = replace(choose("any"), prefix=tmp_path / "home" / ".local")
    monkeypatch.setattr(interpreters, "choose", lambda _python: wide)

    with pytest.raises(EnvironmentProblem, match="more than an interpreter") as caught:
        prepare(spec("leaf==1.0"), cache=cache, base=tmp_path / "bug")
    assert caught.value.outcome is Outcome.NOT_STARTED


@pytest.mark.parametrize(
    "proxy", ["http://ann:hunter2@proxy:3128", "ann:hunter2@proxy:3128", "ann:hunter2@proxy"]
)
def test_the_password_of_a_proxy_reaches_no_build_and_no_log(
    monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", proxy)
    monkeypatch.setenv("HTTP_PROXY", "http://proxy:3128")
    passed = installing._variables(trusted=False)  # noqa: SLF001
    assert "HTTPS_PROXY" not in passed
    assert passed["HTTP_PROXY"] == "http://proxy:3128"
    assert installing._variables(trusted=True)["HTTPS_PROXY"] == proxy  # noqa: SLF001
    said = problems.clean(f"error: no answer from {proxy} (HTTPS_PROXY={proxy}), leaf@1.0 12:30")
    assert "hunter2" not in said
    assert "proxy" in said
    assert said.endswith("leaf@1.0 12:30")


def test_a_wheel_behind_a_link_is_not_taken(tmp_path: Path, cache: Path) -> None:
    """What lies elsewhere under the name that is looked for stays there."""
    elsewhere = tmp_path / "elsewhere"
    make_wheel(elsewhere / "sdists-v9", "root", "3.1", files={"secret.py": ""})
    shop = Workshop(cache, cache / "envs" / "key")
    shop.scratch.mkdir(parents=True)
    (shop.scratch / "uv").symlink_to(elsewhere)
    (shop.folder / "built").mkdir()
    builder = Builder(choose("any"), Wish(()), shop)
    builder._apart = lambda _words: installing.Answer(0, "")  # type: ignore[method-assign]  # noqa: SLF001

    with pytest.raises(EnvironmentProblem, match="left no wheel"):
        builder._built(building.Line("root==3.1"))  # noqa: SLF001


def test_a_wheel_beyond_measure_is_not_read_into_memory(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Workshop(cache, cache / "envs" / "key")
    place = shop.scratch / "uv" / "sdists-v9"
    place.mkdir(parents=True)
    with (place / "root-3.1-py3-none-any.whl").open("wb") as file:
        file.truncate(3 << 30)
    (shop.folder / "built").mkdir()
    builder = Builder(choose("any"), Wish(()), shop)
    monkeypatch.setattr(builder, "_apart", lambda _words: installing.Answer(0, ""))

    with pytest.raises(EnvironmentProblem, match="3,072 MB; 500 are accepted") as caught:
        builder._built(building.Line("root==3.1"))  # noqa: SLF001
    assert caught.value.outcome is Outcome.NO_ENVIRONMENT
