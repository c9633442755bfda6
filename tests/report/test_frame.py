"""The frame: a command is declared once, and everything else follows from that."""

from __future__ import annotations

import ast
import csv
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Annotated, Any

import pytest
from typer import Argument, Option
from undrawn import undrawn

import faultatlas
from faultatlas.data.errors import StudyError
from faultatlas.data.results import Chart, Field, Quantity, Result, Table
from faultatlas.data.study import Study
from faultatlas.report.catalogue import PROGRAMS, all_entries
from faultatlas.report.command import (
    Excludes,
    NotRecorded,
    Requires,
    parameters_of,
    recorded,
    validated,
)
from faultatlas.report.invocation import load
from faultatlas.report.rendering import sentences

Command = Callable[..., CompletedProcess[str]]
ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.usual_opening, pytest.mark.long]  # other processes use the studies


# One place.


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package, to be edited."""
    folder = tmp_path / "copy"
    skipped = shutil.ignore_patterns("__pycache__", "shipped")
    for name in PROGRAMS | {"data": "", "docs": ""}:
        shutil.copytree(ROOT / name, folder / name, ignore=skipped)
    (folder / "analysis/reexecution/shipped").mkdir()
    shutil.copytree(ROOT / "faultatlas", folder / "faultatlas", symlinks=True, ignore=skipped)
    return folder


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"{path} has changed: adapt this test"
    path.write_text(text.replace(before, after), encoding="utf-8")


def run_copy(copied: Path, code: str, *words: object) -> str:
    variables = {**os.environ, "PYTHONPATH": str(copied), "COLUMNS": "100", "NO_COLOR": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)],
        cwd=copied, env=variables, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


START = "from faultatlas.report.start import analysis; analysis()"


def test_a_new_option_is_one_place(copied: Path, tmp_path: Path) -> None:
    edit(
        copied / "analysis/studies/coverage_gap.py",
        "    seed: Annotated[\n",
        '    least: Annotated[int, Option(min=1, help="Mentions at least.")] = 1,\n'
        "    seed: Annotated[\n",
    )
    study = undrawn(tmp_path / "study")
    assert "--least" in run_copy(copied, START, "coverage-gap", "--help")
    run_copy(copied, START, "coverage-gap", "--least", "2", "--study", study, "-q")
    run, result = (
        json.loads(faultatlas.open(study).query(f"SELECT {column} AS given FROM {view}").given[0])
        for column, view in (("arguments", "runs"), ("parameters", "results"))
    )
    assert run["least"] == result["least"] == 2
    check = "from faultatlas.report.start import report; report()"
    assert "match what is stored" in run_copy(copied, check, "claims", "check", "--study", study)
    python = "import sys, faultatlas; faultatlas.open(sys.argv[1]).coverage_gap(least=3)"
    run_copy(copied, python, study)
    reference = "from docs.generate import commands_page; print(commands_page())"
    assert "--least" in run_copy(copied, reference)


def test_a_new_number_is_one_place(copied: Path, tmp_path: Path) -> None:
    edit(
        copied / "analysis/coverage/gap.py",
        '    ("interviews", "Interview mentions",',
        '    ("all", "All mentions", lambda fault: fault.mentions),\n'
        '    ("interviews", "Interview mentions",',
    )
    study = undrawn(tmp_path / "study")
    words = ("coverage-gap", "--study", study)
    found = json.loads(run_copy(copied, START, *words, "--json"))["quantities"]
    assert (found["all.untargeted"]["count"], found["all.untargeted"]["n"]) == (185, 375)
    assert "All mentions" in run_copy(copied, START, *words)
    sql = "SELECT count FROM claims WHERE claim_id = 'coverage-gap.all.untargeted'"
    assert list(faultatlas.open(study).query(sql)["count"]) == [185]
    folder = study / "out/coverage-gap"
    with (folder / "shares.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    counts = [row["count"] for row in rows if row["share_of"] == "All mentions"]
    assert counts == ["188", "185", "2"]
    assert "All mentions & untargeted & 185" in (folder / "shares.tex").read_text(encoding="utf-8")
    assert "All mentions" in (folder / "report.html").read_text(encoding="utf-8")
    frame = (
        "import sys, faultatlas\n"
        "frame = faultatlas.open(sys.argv[1]).coverage_gap().quantities\n"
        "print(frame[(frame.whole == 'all') & (frame.status == 'untargeted')]['count'].item())"
    )
    assert run_copy(copied, frame, study).split() == ["185"]


# Discovery.


def test_discovery_finds_every_declared_command() -> None:
    declared = set()
    for program in PROGRAMS:
        for path in (ROOT / program).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                for mark in getattr(node, "decorator_list", ()):
                    if getattr(getattr(mark, "func", None), "id", "").endswith("command"):
                        declared.add((f"{program} {mark.args[0].value}", node.name))
    entries = all_entries()
    assert {(entry.name, entry.function) for entry in entries} == declared
    assert len({entry.name for entry in entries}) == len(entries) > 50
    for entry in entries:
        if not entry.is_old:
            command = load(entry)
            assert command.declaration.stores == entry.stores
            assert f"{entry.name.split()[0]} {command.declaration.name}" == entry.name


# Arguments.


def example(
    things: Annotated[tuple[str, ...], Argument(metavar="THING")] = (),
    *,
    size: Annotated[int | None, Option(min=1)] = None,
    by_name: Annotated[bool, Option(), Excludes("size", reason="names have no size")] = False,
    depth: Annotated[int, Option(), Requires("size")] = 0,
    shape: Annotated[str, Option(), Requires(depth=(1, 2))] = "",
    from_: Annotated[Path | None, Option(), NotRecorded()] = None,
) -> Result:
    raise AssertionError((things, size, by_name, depth, shape, from_))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"by_name": True, "size": 3}, "--by-name cannot be combined with --size: names have no"),
        ({"depth": 2}, "--depth needs --size"),
        ({"shape": "round"}, "--shape needs --depth 1 or --depth 2"),
        ({"size": 0}, "--size: input should be greater than or equal to 1"),
        ({"size": "many"}, "--size: input should be a valid integer"),
        ({"colour": "red"}, "unknown argument colour"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        validated(parameters_of(example), given)
    assert error.value.message.startswith(message)
    assert error.value.hint


def test_what_is_recorded_gives_the_same_arguments_again() -> None:
    parameters = parameters_of(example)
    given = {"things": ("a", "b"), "size": 2, "depth": 1, "shape": "round", "from_": "sheet.csv"}
    arguments = validated(parameters, given)
    kept = recorded(parameters, arguments)
    assert kept == {"things": ["a", "b"], "size": 2, "depth": 1, "shape": "round"}
    assert validated(parameters, json.loads(json.dumps(kept))) == {**arguments, "from_": None}
    assert validated(parameters, {"things": "alone"})["things"] == ("alone",)


def test_the_command_line_and_python_refuse_the_same(command: Command, tmp_path: Path) -> None:
    ended = command("analysis", "coverage-gap", "--without", "deepfd")
    with pytest.raises(StudyError) as error:
        faultatlas.open(tmp_path).coverage_gap(without="deepfd")
    assert ended.returncode == 1
    assert ended.stderr == f"error: {error.value.message}\n{error.value.hint}\n"
    assert list(tmp_path.iterdir()) == []


# Running.


def test_a_dry_run_shows_the_result_and_leaves_nothing(command: Command, tmp_path: Path) -> None:
    ended = command("analysis", "coverage-gap", "--dry-run")
    assert ended.returncode == 0
    assert "79 of 149" in ended.stdout
    assert list(tmp_path.iterdir()) == []


def test_python_gives_what_the_command_prints(command: Command, tmp_path: Path) -> None:
    study = faultatlas.open(undrawn(tmp_path))
    result = study.coverage_gap(evidence="corpus")
    words = ("analysis", "coverage-gap", "--evidence", "corpus", "--json")
    printed = json.loads(command(*words).stdout)
    assert printed["quantities"] == result.to_dict()["quantities"]
    quantity = result["artifacts.untargeted"]
    rows = result.quantities.query("whole == 'artifacts' and status == 'untargeted'")
    assert list(rows["value"]) == [quantity.value]
    assert (quantity.count, quantity.n) == (58, 149)
    assert list(result.tables["shares"]["percent"]) == [
        row["percent"] for row in printed["tables"]["shares"]
    ]
    html = result._repr_html_()
    assert "58 of 149" in html
    assert "<table" in html
    assert r"\begin{table" in result.to_latex("shares")
    # The notebook holds nothing: views can be queried, and another process can write.
    assert list(study.runs()["command"]) == ["analysis coverage-gap"] * 2
    with Study(tmp_path, wait_s=0).writing():
        pass
    assert "coverage_gap" in dir(study)
    assert "fetch" in dir(study.miner)
    with pytest.raises(AttributeError, match="unknown view or command 'coverage_gaps'"):
        study.coverage_gaps()


@pytest.mark.parametrize("after_s", [0.0, 0.02, 0.1, 0.3, 0.5, 0.8])
def test_ctrl_c_ends_with_130_and_without_a_traceback(after_s: float, tmp_path: Path) -> None:
    program = (
        "import os, signal, threading, time\n"
        "from faultatlas.report import start\n"
        "def press():\n"
        "    while signal.getsignal(signal.SIGINT) is signal.default_int_handler:\n"
        "        time.sleep(0.001)\n"  # until the program's first own line
        f"    time.sleep({after_s})\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=press, daemon=True).start()\n"
        "start.analysis()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, "coverage-gap", "--study", tmp_path / "study"],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert ended.returncode == 130, ended.stderr
    assert "Traceback" not in ended.stderr


# Results.


def quantity(value: float, **dimensions: str) -> Quantity:
    return Quantity(dimensions, value, value - 1, value + 1, n=10, count=int(value))


RESULT = Result(
    "Bugs",
    quantities=(
        quantity(1, project="keras", kind="crash"),
        quantity(2, project="keras", kind="hang"),
        quantity(3, project="torch", kind="hang"),
        quantity(4, project="torch"),
        quantity(5, project="torch", kind="hang", year="2020"),
    ),
    labels={"torch": "PyTorch", "project": "Framework"},
    summary=("{keras.crash} of {keras.crash:n} crash; {nothing} stays.",),
)


def test_a_table_shows_the_quantities_with_its_dimensions() -> None:
    across = Table("t", "T", rows=("project",), columns="kind").listing(RESULT)
    assert [column.title for column in across.columns] == ["Framework", "Crash", "Hang"]
    assert across.rows == (("keras", 1, 2), ("PyTorch", None, 3))
    fields = (Field("value"), Field("n", "total", "Of"))
    down = Table("t", "T", rows=("project", "kind"), fields=fields).listing(RESULT)
    assert [column.key for column in down.columns] == ["project", "kind", "value", "total"]
    assert down.rows == (("keras", "crash", 1, 10), ("keras", "hang", 2, 10),
                         ("PyTorch", "hang", 3, 10))  # fmt: skip
    chosen = Table("t", "T", rows=("kind",), where={"project": "torch"}).listing(RESULT)
    assert [row[:2] for row in chosen.rows] == [("hang", 3)]


def test_a_chart_draws_the_quantities_with_its_dimensions() -> None:
    bars = Chart("c", "C", "bars", "project", "kind", "Bars.").figure(RESULT)
    assert bars.categories == ("keras", "PyTorch")
    assert [(one.label, one.values, one.low) for one in bars.series] == [
        ("Crash", (1, None), (0, None)), ("Hang", (2, 3), (1, 2)),
    ]  # fmt: skip
    only = ("torch", "keras")
    shares = Chart("c", "C", "shares", "project", "kind", "Stacked.", only=only).figure(RESULT)
    assert [(bar.label, [part.count for part in bar.parts]) for bar in shares.bars] == [
        ("PyTorch", [3]), ("keras", [1, 2]),
    ]  # fmt: skip


def test_sentences_take_their_numbers_from_quantities() -> None:
    assert sentences(RESULT) == ["1 of 10 crash; {nothing} stays."]


def test_two_quantities_have_two_ids() -> None:
    with pytest.raises(ValueError, match="have the id 'keras'"):
        Result("Twice", (quantity(1, project="keras"), quantity(2, project="keras")))
