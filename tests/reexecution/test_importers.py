"""What every importer keeps to, and what the sets' forms and slips become."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from artifact_folders import ACCURACY, RAISES, SCRIPT, conf, defect4ml, suite, written

from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.artifacts.validating import problems
from faultatlas.analysis.reexecution.bugs import Bug, Fidelity, Symptom
from faultatlas.analysis.reexecution.importers import importers
from faultatlas.analysis.reexecution.importing import copying
from faultatlas.analysis.reexecution.importing.choosing_oracles import of_script
from faultatlas.analysis.reexecution.importing.imported import Imported

BUGSINPY = {
    "projects/keras/project.info": 'github_url="https://example.org/team/keras"\n',
    "projects/keras/bugs/1/bug.info": 'python_version="3.7.3"\nfixed_commit_id ="'
    + "a" * 40
    + '"\n',
    "projects/keras/bugs/1/run_test.sh": "pytest tests/one_test.py::test_it\n",
}
DEFECTS4DL = {
    "Fault1/buggy/test/test_it.py": "import unittest\n",
    "Fault1/fixed/test/test_it.py": "import unittest  # better\n",
    "Fault1/info.txt": "Issue:\nhttps://example.org/issues/10\n",
    "Fault1/requirements.txt": "Python 2.7\nnumpy 1.15\ntensorflow 1.15.2\n",
}
PAIRS = {"A-1/7654321-buggy/run.py": "import numpy\n1/0\n", "A-1/7654321-fix/run.py": "print(1)\n"}


def _set(name: str, folder: Path) -> Path:
    """A small set in the form of each importer."""
    if name == "defect4ml":
        return defect4ml(folder, b001={})
    return written(
        folder, {"bugsinpy": BUGSINPY, "defects4dl": DEFECTS4DL, "script-pairs": PAIRS}[name]
    )


@pytest.fixture(params=sorted(importers()))
def importer(request: pytest.FixtureRequest) -> ModuleType:
    module: ModuleType = importers()[request.param]
    return module


def test_every_importer_keeps_to_the_contract(importer: ModuleType, tmp_path: Path) -> None:
    folder = _set(importer.NAME, tmp_path / "set")
    for other in importers().values():  # only pairs are less exact than others
        if other.NAME not in {importer.NAME, "script-pairs"}:
            assert not other.recognises(folder)
    assert importer.recognises(folder)
    (tmp_path / "empty").mkdir()
    assert not importer.recognises(tmp_path / "empty")
    found = importer.import_bugs(folder, tmp_path / "into")
    assert isinstance(found, Imported)
    (bug,) = found.bugs
    set_name, _, name = bug.bug_id.partition("/")
    assert (bool(set_name), name) == (True, bug.folder.name)
    assert bug.folder.parent == tmp_path / "into"
    assert read(bug.folder) == bug
    assert [path.name for path in (tmp_path / "into").iterdir()] == [bug.folder.name]
    assert all(line.startswith(f"{bug.folder.name}: ") for line in found.problems)


def test_a_second_import_leaves_what_a_person_mended(importer: ModuleType, tmp_path: Path) -> None:
    folder = _set(importer.NAME, tmp_path / "set")
    (bug,) = importer.import_bugs(folder, tmp_path / "into").bugs
    toml = bug.folder / "bug.toml"
    toml.write_text(toml.read_text().replace("[limits]\nseconds = ", "[limits]\nseconds = 7"))
    again = importer.import_bugs(folder, tmp_path / "into")
    assert again.bugs[0].limits.seconds == float(f"7{bug.limits.seconds}")
    assert any("was left as it is" in line for line in again.problems)


def test_nothing_of_a_set_is_executed_or_imported(importer: ModuleType, tmp_path: Path) -> None:
    folder = _set(importer.NAME, tmp_path / "set")
    proof = tmp_path / "executed"
    for script in folder.rglob("*.py"):
        script.write_text(f"open({str(proof)!r}, 'w')\n{script.read_text()}")
    before = set(sys.modules)
    importer.import_bugs(folder, tmp_path / "into")
    assert not proof.exists()
    assert not {name for name in set(sys.modules) - before if name.startswith(("test_", "script"))}


def test_links_out_of_a_set_are_left_out(importer: ModuleType, tmp_path: Path) -> None:
    folder = _set(importer.NAME, tmp_path / "set")
    secret = written(tmp_path, {"secret/key.py": "password = 'abc'"}) / "secret"
    for side in [*folder.rglob("*buggy"), *folder.rglob("*fix*"), folder]:
        if side.is_dir():
            (side / "key.py").symlink_to(secret / "key.py")
            (side / "folder").symlink_to(secret)
            os.mkfifo(side / "pipe")
    found = importer.import_bugs(folder, tmp_path / "into")
    assert found.bugs
    copied = [path for path in (tmp_path / "into").rglob("*") if path.is_file()]
    assert not any("password" in path.read_text() for path in copied)
    assert not any(path.is_symlink() for path in (tmp_path / "into").rglob("*"))


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_a_bug_that_is_a_link_out_of_the_set_is_left_out(
    importer: ModuleType, tmp_path: Path, level: int
) -> None:
    """Whatever on the way to a side is the link: set, project, bug, the side itself."""
    folder = _set(importer.NAME, tmp_path / "set")
    outside = _set(importer.NAME, tmp_path / "outside")
    for script in outside.rglob("*"):
        if script.is_file():
            script.write_text(f"{script.read_text()}\nsecret\n")
    names = {"defect4ml": "bugs/001/buggy", "defects4dl": "Fault1/buggy",
             "bugsinpy": "projects/keras/bugs/1", "script-pairs": "A-1/7654321-buggy"}  # fmt: skip
    whole = names[importer.NAME].split("/")
    parts = whole[:level]
    place = folder.joinpath(*parts)
    place.rename(tmp_path / "own")
    place.symlink_to(outside.joinpath(*parts))
    if parts != whole:
        assert not importer.recognises(folder)
    importer.import_bugs(folder, tmp_path / "into")
    copied = [path for path in (tmp_path / "into").rglob("*") if path.is_file()]
    assert not any("secret" in path.read_text() for path in copied)


def test_what_is_left_out_as_a_link_is_told(tmp_path: Path) -> None:
    folder = written(tmp_path / "set", DEFECTS4DL)
    outside = written(tmp_path / "outside", DEFECTS4DL)
    (folder / "Fault2").symlink_to(outside / "Fault1")
    found = importers()["defects4dl"].import_bugs(folder, tmp_path / "into")
    assert [bug.bug_id for bug in found.bugs] == ["defects4dl/fault1"]
    assert "Fault2: is a link, or behind one: it was left out" in found.problems


def test_a_broken_bug_does_not_keep_others_away(tmp_path: Path) -> None:
    plain: dict[str, str] = {}
    folder = defect4ml(tmp_path / "set", b001=plain, b002={"conf.ini": "\0\0[[["}, b003=plain)
    (folder / "bugs" / "002" / "test_suite.py").write_bytes(b"\xff\x00(((")
    found = importers()["defect4ml"].import_bugs(folder, tmp_path / "into")
    assert {"defect4ml/001", "defect4ml/003"} <= {bug.bug_id for bug in found.bugs}
    assert any(line.startswith("002: ") for line in found.problems)


def test_a_bug_that_is_too_large_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "MOST_MB", 1)
    large = {"buggy/model.h5": "x" * 1_200_000}
    folder = defect4ml(tmp_path / "set", b001=large, b002={})
    found = importers()["defect4ml"].import_bugs(folder, tmp_path / "into")
    assert [bug.bug_id for bug in found.bugs] == ["defect4ml/002"]
    assert "001: has 1 MB, more than 1: it was left out" in found.problems
    assert not list((tmp_path / "into").glob("*001*"))


def _one(tmp_path: Path, files: dict[str, str]) -> tuple[Bug, list[str]]:
    folder = defect4ml(tmp_path / "set", b001=files)
    found = importers()["defect4ml"].import_bugs(folder, tmp_path / "into")
    (bug,) = found.bugs
    return bug, [line.removeprefix("001: ") for line in found.problems]


def test_a_crash_of_defect4ml_is_judged_by_the_crash_and_not_by_its_suite(tmp_path: Path) -> None:
    bug, told = _one(tmp_path, {})
    assert bug.oracle.symptom is Symptom.CRASH
    assert bug.runs["buggy"].commands == (("python", "buggy/script.py"),)
    assert bug.runs["fixed"].place == "fixed"
    (line,) = told
    assert line.startswith("its own test suite cannot be trusted: it expects an exception of os.")
    assert bug.own_oracle["expects_exception"] is True
    assert bug.labels.symptom == "crash"
    assert bug.labels.fault.startswith("5.")
    assert bug.fidelity == (Fidelity.DECLARED,)
    assert problems(bug.folder) == []


def test_the_number_of_a_suite_is_measured_on_both_sides_alike(tmp_path: Path) -> None:
    """Each side writes a file of its own name: both are brought to one place, stale ones go."""
    bug, _ = _one(
        tmp_path,
        {
            "conf.ini": conf(symptom="Bad performanace", description="Accuracy is low."),
            "test_suite.py": suite("python {side}/script.py", ACCURACY),
            "buggy/script.py": SCRIPT.format(side="buggy"),
            "fixed/script.py": SCRIPT.format(side="fixed") + "# better\n",
            "fixed/result.json": '{"accuracy": 0.99}',
        },
    )
    assert bug.labels.symptom == "bad-performance"
    assert bug.oracle.symptom is Symptom.BAD_PERFORMANCE
    assert (bug.oracle.file, bug.oracle.better) == ("result.json", "higher")
    assert bug.outputs == ("result.json",)
    assert bug.runs["buggy"].commands[-1] == ("cp", "buggy/result.json", "result.json")
    assert bug.runs["fixed"].commands[-1] == ("cp", "fixed/result.json", "result.json")
    assert bug.clean == ("result.json",)
    assert problems(bug.folder) == []


def test_a_suite_that_runs_the_buggy_code_as_the_fixed_one_is_corrected(tmp_path: Path) -> None:
    text = suite("python {side}/script.py", ACCURACY, fixed_runs="buggy")
    bug, told = _one(tmp_path, {"test_suite.py": text, "conf.ini": conf(symptom="Bad performance")})
    assert bug.runs["fixed"].commands[0] == ("python", "fixed/script.py")
    assert any("its test of the fixed side runs the buggy side" in line for line in told)


def test_a_script_that_writes_into_a_folder_of_its_side_runs_above_it(tmp_path: Path) -> None:
    bug, _ = _one(
        tmp_path,
        {
            "conf.ini": conf(symptom="Bad performance"),
            "test_suite.py": suite("cd {side};python script.py --epochs 3", ACCURACY),
            "buggy/script.py": SCRIPT.format(side="buggy"),
            "fixed/script.py": SCRIPT.format(side=".").replace("./", ""),
        },
    )
    assert bug.runs["buggy"].directory == "."
    assert bug.runs["buggy"].commands[0] == ("python", "buggy/script.py", "--epochs", "3")
    assert bug.runs["fixed"].directory == "fixed"
    assert bug.runs["fixed"].commands[-1] == ("cp", "result.json", "../result.json")
    assert any("run from above its folder" in note for note in bug.notes)


def test_slips_of_the_pen_in_conf_and_names_are_found_and_told(tmp_path: Path) -> None:
    text = (
        conf(entry_point="pythest")
        .replace("symptom =", "symptons =")
        .replace("property =", "propery =")
    )
    bug, told = _one(
        tmp_path, {"conf.ini": text, "fixed/script.py": "-", "fixed/scrip.py": "print(1)"}
    )
    assert bug.labels.symptom == "crash"
    assert bug.labels.property == "correctness"
    assert any("'symptons', read as 'symptom'" in line for line in told)
    assert bug.runs["fixed"].commands == (("python", "fixed/scrip.py"),)
    assert problems(bug.folder) == []


def test_an_empty_value_of_a_broken_conf_does_not_take_the_next_line(tmp_path: Path) -> None:
    text = conf(python="").replace("[DEFAULT]\n", "").replace("[RUN]\n", "")
    bug, told = _one(tmp_path, {"conf.ini": text})
    assert any("conf.ini is broken" in line for line in told)
    assert bug.source == "github"
    assert bug.environment.guessed == ("python",)


@pytest.mark.parametrize("sign", ["&", "|"])
def test_what_needs_a_shell_is_not_run_as_something_else(tmp_path: Path, sign: str) -> None:
    line = f"python {{side}}/server.py {sign} python {{side}}/client.py"
    bug, told = _one(tmp_path, {"test_suite.py": suite(line, RAISES)})
    assert bug.runs == {}
    assert any("no command is known for the buggy side" in each for each in told)


def test_what_no_taxonomy_knows_is_told(tmp_path: Path) -> None:
    bug, told = _one(tmp_path, {"conf.ini": conf(bug_type="Utterly new", symptom="Sadness")})
    assert (bug.labels.fault, bug.labels.symptom) == ("", "")
    assert "'Utterly new' is no name of humbatova: label it by hand" in told
    assert "'Sadness' is no name of symptoms: label it by hand" in told


def test_prose_before_a_run_becomes_missing_data(tmp_path: Path) -> None:
    prose = 'Download data from "https://example.org/sets/Faces.zip" into root\n\t\tpytest'
    bug, _ = _one(tmp_path, {"conf.ini": conf(entry_point=prose)})
    (missing,) = bug.data
    assert missing.path == "Faces.zip"
    assert "https://example.org/sets/Faces.zip" in missing.source
    (told,) = [each for each in problems(bug.folder) if each.severity == "error"]
    assert str(told) == "data/Faces.zip: is missing"
    assert "Faces.zip" in told.next_step


def test_of_what_is_to_be_unpacked_no_file_is_demanded(tmp_path: Path) -> None:
    prose = 'Download "https://example.org/Sets/Faces.zip", extract it as "images"\n\t\tpytest'
    bug, _ = _one(tmp_path, {"conf.ini": conf(entry_point=prose)})
    assert bug.data == ()
    assert any("extract it as" in note for note in bug.notes)
    page = 'Download data from "https://example.org/downloads/"\n\t\tpytest'
    bug, _ = _one(tmp_path / "page", {"conf.ini": conf(entry_point=page)})
    assert bug.data == ()


def test_data_beside_the_sides_keeps_its_place(tmp_path: Path) -> None:
    script = 'import pandas\npandas.read_csv("table.csv")\nopen("log.txt", "w")\n'
    bug, _ = _one(
        tmp_path,
        {"table.csv": "1", "images/one.png": "2", "buggy/script.py": script + "1/0\n",
         "fixed/script.py": script},
    )  # fmt: skip
    assert bug.data_place == "."
    assert {file.path for file in bug.data} == {"table.csv", "images/one.png"}
    assert all(file.digest for file in bug.data)
    assert problems(bug.folder) == []


def test_data_that_a_script_would_download_is_declared_and_linked(tmp_path: Path) -> None:
    script = "from keras.datasets import mnist\nmnist.load_data()\n"
    bug, _ = _one(tmp_path, {"buggy/script.py": script + "1/0\n", "fixed/script.py": script})
    (file,) = bug.data
    assert file.path == "outside/home/.keras/datasets/mnist.npz"
    (command,) = bug.runs["buggy"].commands
    assert command[:2] == ("python", "-c")
    assert command[-1] == "buggy/script.py"
    compile(command[2], "links", "exec")
    assert "('outside/home/.keras', '~/.keras')" in command[2]


@pytest.mark.parametrize(
    ("symptom", "description", "found"),
    [
        ("Incorrect functionality", "The loss shows nan value.", Symptom.NAN),
        ("Memory out of bound", "Too large.", Symptom.OUT_OF_MEMORY),
        ("Hang", "It waits.", Symptom.HANG),
        ("Crash", "It faces a crash, or nan in some cases.", Symptom.CRASH),
        ("Incorrect functionality", "Wrong.", Symptom.CRASH),  # the suite wants an exception
    ],
)
def test_the_oracle_follows_symptom_and_words(
    tmp_path: Path, symptom: str, description: str, found: Symptom
) -> None:
    bug, _ = _one(tmp_path, {"conf.ini": conf(symptom=symptom, description=description)})
    assert bug.oracle.symptom is found


def test_slow_programs_are_measured_by_their_duration(tmp_path: Path) -> None:
    told = conf(symptom="Bad performance", description="A step takes more than usual.")
    bug, _ = _one(tmp_path, {"conf.ini": told})
    assert (bug.oracle.measure, bug.oracle.better) == ("duration", "lower")


@pytest.mark.parametrize(
    ("code", "words", "symptom", "measure"),
    [
        ("bad-performance", "Accuracy stuck at 10 percent", Symptom.BAD_PERFORMANCE, ""),
        ("crash", "how to freeze layers in keras", Symptom.CRASH, ""),
        ("", "training is stuck in a local minimum", Symptom.CRASH, ""),
        ("crash", "the program hangs at the first batch", Symptom.HANG, ""),
        ("bad-performance", "fit never returns", Symptom.HANG, ""),
        ("hang", "it is stuck", Symptom.HANG, ""),
        ("bad-performance", "model learns very slowly, accuracy low", Symptom.BAD_PERFORMANCE, ""),
        ("bad-performance", "slow convergence of the loss", Symptom.BAD_PERFORMANCE, ""),
        ("bad-performance", "takes more than 300 epochs", Symptom.BAD_PERFORMANCE, ""),
        ("bad-performance", "sequences are too long", Symptom.BAD_PERFORMANCE, ""),
        ("bad-performance", "convergence is very slow", Symptom.BAD_PERFORMANCE, ""),
        ("bad-performance", "why is my training so slow", Symptom.BAD_PERFORMANCE, "duration"),
        ("bad-performance", "prediction is too slow", Symptom.BAD_PERFORMANCE, "duration"),
        ("bad-performance", "each step takes longer", Symptom.BAD_PERFORMANCE, "duration"),
        ("bad-performance", "training time doubles", Symptom.BAD_PERFORMANCE, "duration"),
        ("bad-performance", "low efficiency", Symptom.BAD_PERFORMANCE, "duration"),
    ],
)
def test_common_words_of_machine_learning_choose_no_other_oracle(
    code: str, words: str, symptom: Symptom, measure: str
) -> None:
    oracle = of_script(code, words, None, uses_keras=True)
    assert (oracle.symptom, oracle.measure) == (symptom, measure)


APART = """\
    run_{called}()
    file = open(file="{side}/result.json", mode='r')
    accuracy = json.load(file).get('{key}')
    assert accuracy {asked}"""


@pytest.mark.parametrize(
    ("key", "buggy", "fixed", "bounds"),
    [
        ("accuracy", "< 0.5", ">= 0.5", (0.5, None)),
        ("loss", "> 2", "<= 2", (None, 2)),
        ("weight", "< 0.5", ">= 0.5", (0.5, None)),
        ("accuracy", ">= 0.5", "< 0.5", (None, None)),  # the wrong way round: nothing is made of it
        ("accuracy", "< 0.5", "", (None, None)),  # the symptom, or what is right?
    ],
)
def test_only_what_a_suite_asks_of_the_fixed_side_becomes_a_rule(
    tmp_path: Path, key: str, buggy: str, fixed: str, bounds: tuple[float | None, float | None]
) -> None:
    tests = {"buggy": buggy, "fixed": fixed}
    parts = [
        f"def run_{side}():\n    os.system('python {side}/script.py')\n\ndef test_{side}():\n"
        + (APART.format(called=side, side=side, key=key, asked=asked) if asked else "    pass")
        for side, asked in tests.items()
    ]
    bug, told = _one(
        tmp_path,
        {"conf.ini": conf(symptom="Incorrect functionality", description="Wrong labels."),
         "test_suite.py": "import json, os\n" + "\n\n".join(parts)},
    )  # fmt: skip
    assert bug.oracle.symptom is Symptom.INCORRECT_OUTPUT
    assert (bug.oracle.at_least, bug.oracle.at_most) == bounds
    has_none = bounds == (None, None)
    assert any("no oracle could be read from it" in line for line in told) is has_none


def test_a_threshold_becomes_a_rule_of_ours(tmp_path: Path) -> None:
    bug, _ = _one(
        tmp_path,
        {"conf.ini": conf(symptom="Incorrect functionality", description="Wrong labels."),
         "test_suite.py": suite("python {side}/script.py", ACCURACY)},
    )  # fmt: skip
    assert bug.oracle.symptom is Symptom.INCORRECT_OUTPUT
    assert (bug.oracle.at_least, bug.oracle.at_most) == (0.8, None)


def test_sides_that_are_submodules_are_missing_with_the_next_step(tmp_path: Path) -> None:
    bug, told = _one(tmp_path, {"buggy/script.py": "-", "fixed/script.py": "-"})
    assert any("check out https://example.org/project/commit/abc1234" in line for line in told)
    errors = [str(each) for each in problems(bug.folder) if each.severity == "error"]
    assert errors == ["buggy: has no files"]
    assert bug.runs["buggy"].commands == (("python", "buggy/script.py"),)


def test_a_python_that_is_not_declared_is_guessed_from_the_framework(tmp_path: Path) -> None:
    bug, told = _one(
        tmp_path, {"conf.ini": conf(python=""), "requirements.txt": "tensorflow==1.15.0\n"}
    )
    assert bug.environment.python == "3.7"
    assert bug.environment.guessed == ("python",)
    assert bug.fidelity == (Fidelity.GUESSED,)
    assert "python is not declared; 3.7 was guessed from tensorflow 1.15.0" in told


def test_requirements_in_utf_16_are_understood(tmp_path: Path) -> None:
    folder = defect4ml(tmp_path / "set", b001={})
    path = folder / "bugs" / "001" / "requirements.txt"
    path.write_bytes("numpy==1.19.5\r\nkeras==2.3.1\r\n".encode("utf-16"))
    (bug,) = importers()["defect4ml"].import_bugs(folder, tmp_path / "into").bugs
    assert bug.environment.requirements == ("numpy==1.19.5", "keras==2.3.1")


def test_a_fault_of_defects4dl_runs_its_tests_where_its_authors_do(tmp_path: Path) -> None:
    folder = written(tmp_path / "set", {**DEFECTS4DL, "Fault1/files/few.npy": "1"})
    (bug,) = importers()["defects4dl"].import_bugs(folder, tmp_path / "into").bugs
    assert bug.bug_id == "defects4dl/fault1"
    assert bug.environment.python == "2.7"
    assert bug.environment.requirements == ("numpy==1.15.*", "tensorflow==1.15.2")
    assert bug.runs["fixed"].directory == "fixed/test"
    assert bug.runs["fixed"].commands == (("python", "-m", "unittest", "test_it"),)
    assert [file.path for file in bug.data] == ["files/few.npy"]
    assert bug.oracle.symptom is Symptom.CRASH  # how a test fails


def test_tests_of_several_folders_run_each_in_its_own(tmp_path: Path) -> None:
    other = "import unittest\nclass T(unittest.TestCase):\n  def test(self): open('here.txt')\n"
    folder = written(
        tmp_path / "set",
        {
            **DEFECTS4DL,
            "Fault1/buggy/units/deep/test_other.py": other,
            "Fault1/buggy/units/deep/here.txt": "",
        },
    )
    (bug,) = importers()["defects4dl"].import_bugs(folder, tmp_path / "into").bugs
    run = bug.runs["buggy"]
    assert run.directory == "buggy/test"
    assert run.commands[0] == ("python", "-m", "unittest", "test_it")
    _, *words = run.commands[1]
    done = subprocess.run(
        [sys.executable, *words], cwd=bug.folder / run.directory, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert b"Ran 1 test" in done.stderr
    assert bug.own_oracle == {"tests": ["test_it", "test_other"]}


def test_rich_text_is_no_obstacle(tmp_path: Path) -> None:
    rich = (
        "{\\rtf1\\ansi{\\fonttbl\\f0\\fswiss Arial;}\n{\\colortbl;\\red255;}\n"
        "\\f0\\fs24 \\cf0 Python 2.7\\\nnumpy 1.15\\\n}"
    )
    folder = written(tmp_path / "set", {**DEFECTS4DL, "Fault1/requirements.txt": rich})
    (bug,) = importers()["defects4dl"].import_bugs(folder, tmp_path / "into").bugs
    assert (bug.environment.python, bug.environment.requirements) == ("2.7", ("numpy==1.15.*",))
