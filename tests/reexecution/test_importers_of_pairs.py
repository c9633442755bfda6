"""Pairs of scripts, and projects whose versions stand in a clone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from artifact_folders import written
from openpyxl import Workbook

from faultatlas.analysis.reexecution import workspace
from faultatlas.analysis.reexecution.artifacts.validating import problems
from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.importers import importers
from faultatlas.analysis.reexecution.importers.bugsinpy import read_info
from faultatlas.analysis.reexecution.importing import copying
from faultatlas.analysis.reexecution.importing.clones import export
from faultatlas.analysis.reexecution.importing.days import day_of_post, day_of_script
from faultatlas.analysis.reexecution.importing.guessing import asserted, bounds_of
from faultatlas.analysis.reexecution.importing.pairs import find_pairs
from faultatlas.analysis.reexecution.importing.printed_scores import printed_measure
from faultatlas.analysis.reexecution.importing.versions_by_date import newest, python_for, python_on

OLD = 'import tensorflow as tf\nassert tf.__version__ == "1.8.0"\ntf.Session()\n'


def _imported(folder: Path, into: Path) -> tuple[dict[str, Bug], list[str]]:
    found = importers()["script-pairs"].import_bugs(folder, into)
    return {bug.folder.name: bug for bug in found.bugs}, found.problems


def test_pairs_are_found_in_every_usual_form(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "Stack/IPS-1/123-buggy/a.py": "",
            "Stack/IPS-1/123-fix/a.py": "",
            "posts/7/Buggy Code/x.py": "",
            "posts/7/Correct Code/x.py": "",
            "plain/buggy/x.py": "",
            "plain/fixed/x.py": "",
            "alone/x_buggy.py": "",
            "alone/x_fixed.py": "",
            "alone/y_buggy.py": "",
            **{f"hub/{kind} Model/{name}/x.py": "" for kind in ("Buggy", "Correct")
               for name in ("one", "two", "three")},
        },
    )  # fmt: skip
    found = [(pair.path, pair.stem) for pair in find_pairs(tmp_path)]
    assert found == [
        ("Stack/IPS-1", "123"), ("alone", "x"), ("hub", "one"), ("hub", "three"), ("hub", "two"),
        ("plain", ""), ("posts/7", ""),
    ]  # fmt: skip


def test_a_pair_runs_with_the_version_that_it_asserts(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "TF-Bugs",
        {
            "Stack/UT-1/40000000-buggy/feed.py": OLD + "import numpy\n1/0\n",
            "Stack/UT-1/40000000-fix/feed.py": OLD,
            "Stack/UT-2/41000001-buggy/feed.py": OLD.replace(' == "1.8.0"', '[:4] == "1.4."'),
            "Stack/UT-2/41000001-fix/feed.py": OLD,
        },
    )
    bugs, told = _imported(folder, tmp_path / "into")
    first = bugs["stack-ut-1"]
    assert first.bug_id == "tf-bugs/stack-ut-1"
    assert first.url == "https://stackoverflow.com/questions/40000000"
    assert first.environment.python == "3.6"
    assert first.environment.requirements[:2] == ("tensorflow==1.8.0", "numpy==1.14.3")
    assert first.environment.guessed == ("python", "numpy")
    assert first.runs["buggy"].commands == (("python", "feed.py"),)
    assert "tensorflow==1.4.1" in bugs["stack-ut-2"].environment.requirements
    assert any("sides ask for different versions" in line for line in told)
    errors = [each for each in problems(first.folder) if each.severity == "error"]
    assert errors == []


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ('>= "1.0"', "1.0.0"),  # of the day is 0.12.1: the lowest that is accepted
        ("> '1.0.0'", "1.0.1"),
        ('<= "0.12.0"', "0.12.0"),
        ('>= "0.12"', "0.12.1"),
    ],
)
def test_a_version_that_is_asserted_as_a_bound_is_kept_to(
    tmp_path: Path, asked: str, taken: str
) -> None:
    script = f"import tensorflow as tf\nassert tf.__version__ {asked}\ntf.summary.scalar(1)\n"
    files = {"p/buggy/x.py": script + "1/0", "p/fixed/x.py": script}
    module = importers()["script-pairs"]
    folder = written(
        tmp_path / "s",
        {f"40000000-{name[2:].replace('fixed', 'fix')}": text for name, text in files.items()},
    )
    found = module.import_bugs(folder, tmp_path / "into", dated=lambda _: "2017-01-30")
    (bug,) = found.bugs
    assert f"tensorflow=={taken}" in bug.environment.requirements
    assert "tensorflow" in bug.environment.guessed
    assert any("it asks for TensorFlow" in line and taken in line for line in found.problems)


@pytest.mark.parametrize(
    ("script", "version"),
    [
        ("import keras\nassert keras.__version__ == '2.0.6'\n", ""),
        ("import keras as tf\nassert tf.__version__ == '2.0.6'\n", ""),
        ("import numpy as np\nassert np.__version__[:4] == '1.8.'\n", ""),
        ("assert keras.__version__ == '2.0'\nassert tf.__version__ == '1.8.0'\n", "1.8.0"),
        ("import tensorflow as flow\nassert flow.__version__ == '1.4.0'\n", "1.4.0"),
        ("import tensorflow.compat.v1 as t\nassert t.VERSION == '1.15.0'\n", "1.15.0"),
        ("assert tensorflow.__version__[:4] == '0.12'\n", "0.12"),
    ],
)  # fmt: skip
def test_the_version_of_another_package_is_not_that_of_tensorflow(
    script: str, version: str
) -> None:
    assert asserted([script]) == version
    assert bounds_of([script.replace("[:4]", "").replace("==", ">=")]) == (
        ((">=", version.rstrip(".")),) if version else ()
    )


def test_versions_that_nobody_declares_are_those_of_the_day(tmp_path: Path) -> None:
    created = '"""\nCreated on Fri Jan  3 10:20:03 2020\n"""\n'
    script = created + "import keras\nimport sklearn\n"
    folder = written(tmp_path / "s", {"p/buggy/x.py": script + "1/0", "p/fixed/x.py": script})
    bugs, _ = _imported(folder, tmp_path / "into")
    environment = bugs["p"].environment
    assert environment.python == "3.7"
    assert "keras==2.3.1" in environment.requirements
    assert "tensorflow==2.0.0" in environment.requirements
    assert "scikit-learn==0.22.1" in environment.requirements
    assert set(environment.guessed) >= {"python", "keras", "tensorflow", "scikit-learn"}


def test_a_study_that_knows_the_day_is_asked(tmp_path: Path) -> None:
    script = "import tensorflow as tf\ntf.Session()\n"
    folder = written(
        tmp_path / "s", {"40000000-buggy/x.py": script, "40000000-fix/x.py": script + "1"}
    )
    module = importers()["script-pairs"]
    found = module.import_bugs(folder, tmp_path / "into", dated=lambda _: "2018-01-30")
    assert "tensorflow==1.5.0" in found.bugs[0].environment.requirements


def test_the_spreadsheet_and_the_readme_of_a_set_are_believed(tmp_path: Path) -> None:
    plain = "import tensorflow as tf\nprint('loss %g, acc %g' % (1, 2))\n"
    folder = written(
        tmp_path / "s",
        {
            "README.md": "Most of the subjects run on TensorFlow 1.4.0. Python 3, except for "
            "`Hub/IPS-2` using python2.7.x.\n",
            **{f"Stack/IPS-{number}/4000000{number}-{side}/x.py": f"{plain}# {side}\n"
               for number in (1, 2) for side in ("buggy", "fix")},
            **{f"Hub/IPS-2/thing-{side}/x.py": f"{plain}# {side}\n" for side in ("buggy", "fix")},
        },
    )  # fmt: skip
    book = Workbook()
    for sheet, base in (("Stack", "https://stackoverflow.com/questions/4000000"), ("Hub", "")):
        page = book.create_sheet(sheet)
        page.append(["urls", "cause", "symptom"])
        page.append(
            [f"{base}1/loss-is-nan" if base else "https://x.org/other/1", "A. IPS", "Error"]
        )
        page.append([f"{base}2/no-learning" if base else "https://x.org/thing/2", "A. IPS",
                     "Low Effectiveness"])  # fmt: skip
    book.save(folder / "Statistics.xlsx")
    bugs, _ = _imported(folder, tmp_path / "into")
    assert bugs["stack-ips-1"].oracle.symptom is Symptom.NAN
    assert bugs["stack-ips-1"].labels.symptom == "crash"
    second = bugs["stack-ips-2"]
    assert second.oracle.symptom is Symptom.BAD_PERFORMANCE
    assert second.oracle.better == "higher"
    assert second.title == "no learning"
    assert second.environment.requirements[0] == "tensorflow==1.4.0"
    hub = bugs["hub-ips-2"]
    assert (hub.url, hub.environment.python) == ("https://x.org/thing/2", "2.7")


def test_what_cannot_be_told_is_said_and_left_to_a_person(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "s",
        {
            "two/buggy/one.py": "print(1)\n",
            "two/buggy/other.py": "print(2)\n",
            "two/fixed/one.py": "",
            "ps/a-buggy/x.py": "",
            "ps/a-fix/x.py": "1",
            "ps/README": "Two:\nServer: $ python x.py --job ps\nWorker: $ python x.py --job w\n",
        },
    )
    bugs, told = _imported(folder, tmp_path / "into")
    assert "buggy" not in bugs["two"].runs
    assert bugs["ps"].runs == {}
    assert any("which script is run could not be told" in line for line in told)
    assert any("nobody says its symptom" in line for line in told)


def test_a_test_script_for_two_folders_is_read(tmp_path: Path) -> None:
    test_script = (
        "import subprocess, sys\nimport tensorflow as tf\ninterpreter_path = sys.executable\n"
        'assert tf.__version__ == "1.8.0"\n'
        'subprocess.call([interpreter_path, "./%s/download.py" % get_target_dir()])\n'
        'subprocess.call([interpreter_path, "./%s/main.py" % get_target_dir(), "--steps", "5"])\n'
    )
    folder = written(
        tmp_path / "s",
        {
            "UT-1/gan-buggy/main.py": "import tensorflow\n1/0\n",
            "UT-1/gan-buggy/helper.py": "",
            "UT-1/gan-fix/main.py": "import tensorflow\n",
            "UT-1/test_script.py": test_script,
            "UT-1/faces/1.txt": "x",
        },
    )
    bugs, _ = _imported(folder, tmp_path / "into")
    bug = bugs["ut-1"]
    assert bug.runs["fixed"].commands == (("python", "./gan-fix/main.py", "--steps", "5"),)
    assert bug.runs["fixed"].place == "gan-fix"
    assert [file.path for file in bug.data] == ["faces/1.txt"]
    assert any("download.py" in note for note in bug.notes)
    assert [each for each in problems(bug.folder) if each.severity == "error"] == []


def test_a_folder_called_shipped_is_not_taken_for_the_bugs_of_the_program(tmp_path: Path) -> None:
    folder = written(tmp_path / "Shipped", {"a/buggy/x.py": "1/0", "a/fixed/x.py": "1"})
    bugs, _ = _imported(folder, tmp_path / "into")
    assert bugs["a"].bug_id == "shipped-pairs/a"


def test_a_file_beside_a_pair_is_never_run_instead_of_a_side(tmp_path: Path) -> None:
    folder = written(
        tmp_path / "s",
        {
            "case1/buggy/main.py": "1/0\n",
            "case1/buggy/lib/net.py": "buggy = 1\n",
            "case1/fixed/main.py": "print(1)\n",
            "case1/main.py": "print('neither')\n",
            "case1/lib/net.py": "neither = 1\n",
            "case1/lib/words.txt": "a\n",
            "case1/table.csv": "1\n",
        },
    )
    bugs, told = _imported(folder, tmp_path / "into")
    bug = bugs["case1"]
    for side, text in (("buggy", "1/0\n"), ("fixed", "print(1)\n")):
        made = workspace.make(bug, side, tmp_path / side)
        assert (made.folder / "main.py").read_text() == text
        assert (made.folder / "table.csv").is_file()
        assert (made.folder / "lib/words.txt").is_file()
    assert (tmp_path / "buggy" / "lib/net.py").read_text() == "buggy = 1\n"
    assert "case1: main.py beside the pair: left out, for a side has its own" in told
    assert any("lib/net.py beside the pair: left out" in line for line in told)
    assert [each for each in problems(bug.folder) if each.severity == "error"] == []


@pytest.mark.parametrize(
    ("script", "name", "better"),
    [
        ("print('step %d, acc %g, loss %g' % (1, 2, 3))", "acc", "higher"),
        ("print('loss: ' + str(1))", "loss", "lower"),
        ("print('cost=', cost)", "cost", "lower"),
        ("print(sess.run(accuracy))", "accuracy", "higher"),
        ("print(f'Accuracy: {x}')", "Accuracy", "higher"),
        ("print('Test score:', score[0])", "score", "lower"),  # what Keras evaluates first
        ("print('Test score:', score)", "score", "higher"),
        ("print('precision loss: %g' % x)", "loss", "lower"),
    ],
)
def test_the_score_that_a_script_prints_is_found(script: str, name: str, better: str) -> None:
    found = printed_measure(script)
    assert found is not None
    assert (found.name, found.better) == (name, better)


def test_a_score_that_the_fix_computes_in_another_way_compares_nothing(tmp_path: Path) -> None:
    script = "accuracy = {}\nprint('loss %g' % loss)\nprint('accuracy', accuracy)\n"
    folder = written(
        tmp_path / "s", {"p/buggy/x.py": script.format(1), "p/fixed/x.py": script.format("tf.f()")}
    )
    bugs, _ = _imported(folder, tmp_path / "into")
    assert bugs["p"].oracle.better == "lower"
    assert "loss" in bugs["p"].oracle.pattern
    assert printed_measure(script.format(1)) != printed_measure(script.format(1), "accuracy = 2")


def test_what_scripts_need_without_importing_it_is_installed(tmp_path: Path) -> None:
    script = OLD + "tf.keras.preprocessing.image.load_img('a.png')\n"
    folder = written(tmp_path / "s", {"p/buggy/x.py": script, "p/fixed/x.py": OLD})
    bugs, _ = _imported(folder, tmp_path / "into")
    assert "pillow==5.1.0" in bugs["p"].environment.requirements


def test_a_script_without_a_score_has_none() -> None:
    assert printed_measure("print('done', 3)\nprint(total)") is None
    assert printed_measure("print 'loss', 3") is None  # Python 2


def test_patterns_of_scores_find_what_scripts_print() -> None:
    cases = {
        "print('step %d, acc %g, loss %g' % x)": ("step 1, acc 0.25, loss 7\n", "0.25"),
        "print('Accuracy:', x)": ("Accuracy: 0.75\n", "0.75"),
        "print('accuracy: ' + str(r) + '%')": ("accuracy: 75.0%\n", "75.0"),
        "print('loss', x)": ("loss nan\n", "nan"),
        "print(loss)": ("x\n1.5e-05\n", "1.5e-05"),
        "print('Accuracy at step %s: %s' % (i, x))": ("Accuracy at step 990: 0.91\n", "0.91"),
        "print('Cost after epoch %i: %f' % (i, x))": ("Cost after epoch 95: 0.125\n", "0.125"),
        "print('Loss after {} steps: {}'.format(i, x))": ("Loss after 100 steps: 0.5\n", "0.5"),
        "print(f'accuracy at step {i}: {x}')": ("accuracy at step 7: 0.25\n", "0.25"),
        "print('loss at step', i, ':', x)": ("loss at step 7 : 0.25\n", "0.25"),
        "print('cost=', x)": ("('Epoch:', '0025', 'cost=', '33.0')\n", "33.0"),
    }
    for script, (printed, number) in cases.items():
        found = printed_measure(script)
        assert found is not None
        assert re.findall(found.pattern, printed)[-1] == number


def test_versions_are_those_that_were_out_and_have_a_wheel() -> None:
    release = newest("tensorflow", "2018-01-30")
    assert release is not None
    assert (release.version, release.day) == ("1.5.0", "2018-01-26")
    assert newest("tensorflow", "2016-01-01") is None
    assert python_for("tensorflow", "1.15.0") == "3.7"
    assert python_for("tensorflow", "1.8.0") == "3.6"
    assert python_for("tensorflow", "0.5.0") == ""
    series = newest("Tensorflow", "2030-01-01", prefix="1.")
    assert series is not None
    assert series.version == "1.15.5"
    fitting = newest("numpy", "2030-01-01", python="3.6")
    assert fitting is not None
    assert fitting.version == "1.19.5"
    assert (python_on("2018-01-30"), python_on("2020-11-01")) == ("3.6", "3.8")


def test_days_come_from_posts_and_headers() -> None:
    assert day_of_post(30_000_000) == "2015-05-02"
    assert "2017" in day_of_post(45_000_000)
    assert day_of_post(999_999_999) == ""
    assert day_of_script("# Created on Wed Mar 15 21:26:04 2017\n") == "2017-03-15"
    assert day_of_script("# Created on Wed Foo 15 2017\n") == ""


def _git(clone: Path, *words: str) -> str:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", "-C", str(clone), *identity, *words], capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def with_clone(tmp_path: Path) -> Path:
    """A set in the form of BugsInPy with a clone whose settings would run a program."""
    clone = written(
        tmp_path / "set" / "clones" / "keras",
        {"keras.py": "bug = 1\n", ".gitattributes": "* filter=x\n"},
    )
    _git(clone.parent, "init", "--quiet", str(clone))
    (clone / "out").symlink_to("/etc/passwd")
    _git(clone, "add", ".")
    _git(clone, "commit", "--quiet", "-m", "buggy", "--date", "2019-05-01T12:00:00Z")
    buggy = _git(clone, "rev-parse", "HEAD")
    written(clone, {"keras.py": "bug = 0\n", "tests/one_test.py": "def test_it(): pass\n"})
    _git(clone, "add", ".")
    _git(clone, "commit", "--quiet", "-m", "fixed")
    fixed = _git(clone, "rev-parse", "HEAD")
    _git(clone, "config", "filter.x.smudge", f"touch {tmp_path}/executed")
    _git(clone, "config", "core.fsmonitor", f"touch {tmp_path}/executed")
    return written(
        tmp_path / "set",
        {
            "projects/keras/project.info": 'github_url="https://example.org/team/keras"\n',
            "projects/keras/bugs/1/bug.info": f'python_version="3.7.3"\nbuggy_commit_id="{buggy}"\n'
            f'fixed_commit_id ="{fixed}"\ntest_file="tests/one_test.py"\n',
            "projects/keras/bugs/1/run_test.sh": "pytest -q tests/one_test.py::test_it\n",
            "projects/keras/bugs/2/bug.info": f"buggy_commit_id={'0' * 40}\nfixed_commit_id='-x'\n",
            "projects/keras/bugs/2/run_test.sh": "python3 -m unittest -q tests.test_it\n",
        },
    )


def test_both_versions_come_out_of_a_clone_and_nothing_is_executed(
    with_clone: Path, tmp_path: Path
) -> None:
    found = importers()["bugsinpy"].import_bugs(with_clone, tmp_path / "into")
    first, second = found.bugs
    assert (first.folder / "buggy" / "keras.py").read_text() == "bug = 1\n"
    assert (first.folder / "fixed" / "keras.py").read_text() == "bug = 0\n"
    # The test that shows the bug came with the fix.
    assert (first.folder / "buggy" / "tests" / "one_test.py").is_file()
    assert not (first.folder / "buggy" / "out").exists()
    assert "keras-1: buggy: out is a link that leaves the folder: it was left out" in found.problems
    assert first.runs["buggy"].commands == (
        ("python", "-m", "pytest", "-q", "tests/one_test.py::test_it"),
    )
    assert first.environment.python == "3.7.3"
    assert first.url.startswith("https://example.org/team/keras/commit/")
    assert [each for each in problems(first.folder) if each.severity == "error"] == []
    assert not (tmp_path / "executed").exists()
    # A commit that is not there costs its own bug the sides, not the import.
    assert not (second.folder / "buggy").exists()
    # Its tests fail on one side only: that is an exception, whatever ran them.
    assert (first.oracle.symptom, second.oracle.symptom) == (Symptom.CRASH, Symptom.CRASH)
    assert any(
        line.startswith("keras-2: ") and "does not have commit" in line for line in found.problems
    )


def _bug_info(folder: Path, text: str) -> None:
    """The first bug with this in place of its test_file."""
    info = folder / "projects/keras/bugs/1/bug.info"
    info.write_text(info.read_text().replace('test_file="tests/one_test.py"', text))


@pytest.mark.parametrize("said", ["", 'test_file=""', "test_file=\nbuggy_note=x"])
def test_without_a_test_the_buggy_side_stays_buggy(
    with_clone: Path, tmp_path: Path, said: str
) -> None:
    _bug_info(with_clone, said)
    found = importers()["bugsinpy"].import_bugs(with_clone, tmp_path / "into")
    first = found.bugs[0]
    assert (first.folder / "buggy" / "keras.py").read_text() == "bug = 1\n"
    assert not (first.folder / "buggy" / "tests").exists()
    assert any("keras-1: no test_file is named" in line for line in found.problems)
    assert first.own_oracle == {"tests": []}


def test_tests_are_found_by_their_names_and_told_where_the_fix_has_none(
    with_clone: Path, tmp_path: Path
) -> None:
    _bug_info(with_clone, 'test_file="tests/gone_test.py; tests/one_test.py"')
    found = importers()["bugsinpy"].import_bugs(with_clone, tmp_path / "into")
    first = found.bugs[0]
    assert (first.folder / "buggy" / "tests" / "one_test.py").is_file()
    assert (first.folder / "buggy" / "keras.py").read_text() == "bug = 1\n"
    assert any(
        "keras-1: its test on the buggy side: tests/gone_test.py is not in commit" in line
        for line in found.problems
    )


def test_a_value_that_is_missing_is_empty_and_not_the_next_line() -> None:
    assert read_info('python_version=\ntest_file = "a.py"\r\nx=\n') == {
        "python_version": "", "test_file": "a.py", "x": "",
    }  # fmt: skip


def test_links_that_lead_through_each_other_make_nothing_outside(tmp_path: Path) -> None:
    clone, target = tmp_path / "clone", tmp_path / "above" / "in" / "target"
    written(clone, {"a/b/c/plain.txt": "1"})
    _git(tmp_path, "init", "--quiet", str(clone))
    (clone / "a/b/c/q").symlink_to("../../..")
    (clone / "z").symlink_to("a/b/c/q/../../..")
    (clone / "inner").symlink_to("a/b/c/plain.txt")
    _git(clone, "add", ".")
    _git(clone, "commit", "--quiet", "-m", "one")
    first = _git(clone, "rev-parse", "HEAD")
    (clone / "z").unlink()
    written(clone, {"z/made/here/evil": "2"})
    _git(clone, "add", "--all")
    _git(clone, "commit", "--quiet", "-m", "two")
    told = export(clone, first, target)
    assert told == ["z is a link that leaves the folder: it was left out"]
    (target / "z").symlink_to("a/b/c/q/../../..")  # as if it had been accepted
    second = _git(clone, "rev-parse", "HEAD")
    assert export(clone, second, target, only=["z/made/here/evil"]) == [
        "z/made/here/evil lies behind a link: it was left out"
    ]
    assert {each.name for each in tmp_path.iterdir()} == {"clone", "above"}
    assert (target / "inner").read_text() == "1"


def test_a_project_that_is_too_large_is_left_out(
    with_clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faultatlas.analysis.reexecution.importing.clones.MOST_MB", 0.00001)
    monkeypatch.setattr(copying, "MOST_MB", 0.00001)
    found = importers()["bugsinpy"].import_bugs(with_clone, tmp_path / "into")
    assert [bug.folder.name for bug in found.bugs] == ["keras-2"]
    assert any("it was left out" in line for line in found.problems)
    assert [path.name for path in (tmp_path / "into").iterdir()] == ["keras-2"]


def test_a_clone_that_is_a_link_out_of_the_set_is_none(with_clone: Path, tmp_path: Path) -> None:
    (with_clone / "clones" / "keras").rename(tmp_path / "private")
    (with_clone / "clones" / "keras").symlink_to(tmp_path / "private")
    found = importers()["bugsinpy"].import_bugs(with_clone, tmp_path / "into")
    assert any("the set has no sources" in line for line in found.problems)
    assert not list((tmp_path / "into").rglob("keras.py"))
    # beside the set it is the user's own
    (with_clone / "clones").rename(tmp_path / "clones")
    found = importers()["bugsinpy"].import_bugs(with_clone, tmp_path / "again")
    assert (found.bugs[0].folder / "buggy" / "keras.py").is_file()


def test_without_a_clone_the_next_step_is_told(with_clone: Path, tmp_path: Path) -> None:
    (with_clone / "clones").rename(tmp_path / "elsewhere")
    found = importers()["bugsinpy"].import_bugs(with_clone, tmp_path / "into")
    assert any(
        "clone https://example.org/team/keras into clones/keras" in line for line in found.problems
    )
    errors = [str(each) for each in problems(found.bugs[0].folder) if each.severity == "error"]
    assert errors == ["buggy: has no files"]
