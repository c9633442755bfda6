"""An artifact is read strictly, written back equal, hashed by what is run, and validated whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from artifact_folders import BUG, artifact, written
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faultatlas.analysis.reexecution.artifacts.content import content_hash
from faultatlas.analysis.reexecution.artifacts.problems import Problem
from faultatlas.analysis.reexecution.artifacts.reading import bugs_in, read, requirement_lines
from faultatlas.analysis.reexecution.artifacts.validating import problems
from faultatlas.analysis.reexecution.artifacts.writing import write
from faultatlas.analysis.reexecution.bugs import (
    Bug,
    Commands,
    DataFile,
    EnvironmentSpec,
    Fidelity,
    Labels,
    Limits,
    Oracle,
    Symptom,
)
from faultatlas.analysis.reexecution.environments.interpreters import Interpreter, choose
from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem
from faultatlas.data.errors import StudyError

WRONG = "symptom = 'incorrect output'\npattern = 'a: (.)'\n"


def test_a_whole_artifact_is_read_and_has_no_problem(tmp_path: Path) -> None:
    bug = read(artifact(tmp_path / "axis-1"))
    assert bug.bug_id == "own/axis-1"
    assert bug.set_name == "own"
    assert bug.runs["fixed"].commands == (("python", "train.py"),)
    assert bug.oracle.symptom is Symptom.CRASH
    assert bug.environment.python == "any"
    assert problems(bug.folder) == []


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("[limit]\nseconds = 1\n", "limit: is not known (Is 'limits' meant?)"),
        ("[limits]\nsecond = 1\n", "[limits] second: is not known (Is 'seconds' meant?)"),
        ("[limits]\nseconds = 1e99\n", "[limits] seconds: is 1e+99"),
        ("[limits]\nmemory_mb = nan\n", "[limits] memory_mb: is no finite number"),
        ("[limits]\nmemory_mb = '1 GB'\n", "[limits] memory_mb: is no number"),
        ("[limits]\nprocesses = 1.5\n", "[limits] processes: is 1.5 (Write a whole number.)"),
        ("[environment]\npython = '3'\n", "[environment] python: is '3'"),
        ("[environment]\npython = '>=3.9,<3.8'\n", "python: is '>=3.9,<3.8': no Python is"),
        ("[run]\nclean = ['/etc/*']\n", "[run] clean: '/etc/*' is not relative"),
        ("[run]\noutputs = ['../x']\n", "[run] outputs: '../x' leaves the folder"),
        ("[run]\noutputs = ['*.json']\n", "[run] outputs: '*.json' is a pattern"),
        ("[run]\ndata = 'a/../../b'\n", "[run] data: 'a/../../b' leaves the folder"),
        ("[[data]]\npath = '../secret'\n", "[[data]] 1 path: '../secret' leaves the folder"),
        ("[[data]]\npath = 'a'\nsha256 = 'A'\n", "[[data]] 1 sha256: is 'A'"),
        ("[[data]]\npath = 'a'\n[[data]]\npath = 'a'\n", "'a' is declared twice"),
        ("[data]\npath = 'a'\n", "[[data]]: is no list of tables"),
        ("[fidelity]\nmarks = ['perfect']\n", "[fidelity] marks: has 'perfect'"),
        ("[claims]\noracle = 1\n", "[claims] oracle: is no table"),
        ("[claims]\noracle = {a = inf}\n", "[claims] oracle: is no table of plain values"),
    ],
)
def test_what_is_wrong_is_named_with_its_key(tmp_path: Path, more: str, told: str) -> None:
    toml = BUG
    if more.startswith("[run]"):  # a table stands once
        toml = BUG.replace("[run.buggy]", f"{more}[run.buggy]")
        more = ""
    with pytest.raises(StudyError) as caught:
        read(artifact(tmp_path, more, toml=toml))
    assert f"bug.toml: {told}" in caught.value.message or told in caught.value.message
    assert "--validate" in caught.value.hint


@pytest.mark.parametrize(
    ("oracle", "told"),
    [
        ("symptom = 'crsh'", "symptom: is 'crsh' (Is 'crash' meant?)"),
        ("exception = 'ValueError'", "symptom: is missing"),
        ("symptom = 'nan'\npattern = '(unclosed'", "pattern: is no regular expression"),
        ("symptom = 'nan'\npattern = 'loss'", "pattern: has 0 groups"),
        ("symptom = 'nan'\npattern = '(a)(b)'", "pattern: has 2 groups"),
        ("symptom = 'nan'\npattern = '(?:a+)+(b)'", "repeats what repeats already"),
        (f"symptom = 'nan'\npattern = '({'a' * 400})'", "pattern: has more than 400 characters"),
        ("symptom = 'bad performance'\nmeasure = 'speed'", "measure: is 'speed'"),
        ("symptom = 'incorrect output'\ntolerance = -1", "tolerance: is -1"),
        ("symptom = 'incorrect output'\ncheck = 'x'", "check: is no list of words"),
        (f"{WRONG}expected = 'b'\nat_least = 3", "expected: stands beside at_least"),
        (f"{WRONG}expected = 2\nat_most = 3", "expected: stands beside at_least or at_most"),
        (f"{WRONG}expected = 'b'\ntolerance = 0.1", "tolerance: says nothing without a number"),
        (f"{WRONG}at_least = 3\nat_most = 2", "at_least: 3 is more than at_most, 2"),
        (f"{WRONG}check = ['python', 'c.py']", "check: stands beside a pattern"),
        ("symptom = 'hang'\nhang_seconds = 0", "hang_seconds: is 0"),
    ],
)
def test_an_oracle_that_could_not_be_applied_is_refused(
    tmp_path: Path, oracle: str, told: str
) -> None:
    toml = BUG.replace('[oracle]\nsymptom = "crash"', f"[oracle]\n{oracle}")
    with pytest.raises(StudyError, match="oracle") as caught:
        read(artifact(tmp_path, toml=toml))
    assert told in caught.value.message


@pytest.mark.parametrize(
    "commands", ["[]", "['python']", "[[]]", "[['']]", "[[1]]", r'[["a\u0000"]]', "'python x.py'"]
)
def test_commands_are_lists_of_words(tmp_path: Path, commands: str) -> None:
    toml = BUG.replace('[["python", "train.py"]]', commands, 1)
    with pytest.raises(StudyError, match=r"\[run.buggy\] commands"):
        read(artifact(tmp_path, toml=toml))


@pytest.mark.parametrize(
    ("python", "is_one"),
    [
        ("any", True), ("host", True), ("3.6", True), ("3.7.16", True), (">=3.8", True),
        (">=3.8,<3.12", True), (">= 3.8, < 3.12, != 3.9", True), ("~=3.8", True),
        ("3.8,<3.12", False), (">=3.8,", False), (">=3.8 <3.12", False), ("latest", False),
    ],
)  # fmt: skip
def test_a_python_is_a_version_or_bounds_of_it(
    tmp_path: Path, python: str, *, is_one: bool
) -> None:
    """All that is read is understood by whoever looks for the interpreter."""
    folder = artifact(tmp_path, f"[environment]\npython = '{python}'\n")
    if is_one:
        wanted = read(folder).environment.python
        here = Interpreter("3.8.18", Path("python"), "path")
        with suppress(EnvironmentProblem):
            assert choose(wanted, [here]) == here
    else:
        with pytest.raises(StudyError, match=r"\[environment\] python"):
            read(folder)


@pytest.mark.parametrize(
    "name", ["Own/x", "own", "own/../x", "own/x/y", "own/-x", "../x", "own/x y"]
)
def test_an_id_is_a_set_and_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(StudyError, match=r"\[bug\] id"):
        read(artifact(tmp_path, toml=BUG.replace("own/axis-1", name)))
    with pytest.raises(StudyError, match=r"\[bug\] id: is missing"):
        read(artifact(tmp_path, toml=BUG.replace('id = "own/axis-1"', "")))


def test_files_that_are_no_toml_are_refused_in_one_line(tmp_path: Path) -> None:
    for content in (b"[bug", b"\xff\xfe", b"a = " + b"[" * 50_000, b"a = " + b"9" * 20_000):
        (tmp_path / "bug.toml").write_bytes(content)
        with pytest.raises(StudyError) as caught:
            read(tmp_path)
        assert "bug.toml" in caught.value.message
        assert caught.value.message.count("\n") == 0


def test_a_huge_or_waiting_or_linked_file_is_not_read(tmp_path: Path) -> None:
    toml = tmp_path / "bug.toml"
    toml.write_bytes(b"#" * 300_000)
    with pytest.raises(StudyError, match="262,144 are accepted"):
        read(tmp_path)
    toml.unlink()
    os.mkfifo(toml)
    with pytest.raises(StudyError, match="no plain file"):
        read(tmp_path)
    toml.unlink()
    (tmp_path / "secret").write_text("password = 'x'")
    toml.symlink_to("secret")
    with pytest.raises(StudyError, match="is a link") as caught:
        read(tmp_path)
    assert "password" not in str(caught.value)


def test_control_characters_of_strangers_are_not_shown(tmp_path: Path) -> None:
    toml = BUG.replace('id = "own/axis-1"', r'id = "own/\u001b[31m\u202e"')
    with pytest.raises(StudyError) as caught:
        read(artifact(tmp_path, toml=toml))
    assert str(caught.value).replace("\n", "").isprintable()


def test_requirements_are_taken_as_they_stand_without_comments() -> None:
    text = "# all\r\nnumpy==1.0  # old\r\n\r\nkeras \\\n  >=2\r\n--find-links wheels#x\n"
    assert requirement_lines(text) == ("numpy==1.0", "keras    >=2", "--find-links wheels#x")


def test_bugs_are_found_below_a_folder_of_sets(tmp_path: Path) -> None:
    for place in ("one", "set/two", "set/three", "set/deep/er/four"):
        written(tmp_path / place, {"bug.toml": ""})
    (tmp_path / "loop").symlink_to(tmp_path)
    found = [path.relative_to(tmp_path).as_posix() for path in bugs_in(tmp_path)]
    assert found == ["one", "set/three", "set/two"]
    assert bugs_in(tmp_path / "one") == [tmp_path / "one"]
    with pytest.raises(StudyError, match="is not there"):
        bugs_in(tmp_path / "nowhere")


def test_bugs_that_are_being_brought_in_are_no_bugs_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (".importing-1/set/x", ".draft", "set/one", "set/.two", "gone/three"):
        written(tmp_path / place, {"bug.toml": ""})
    iterdir = Path.iterdir

    def vanished(folder: Path) -> Iterator[Path]:
        if folder.name == "gone":
            raise FileNotFoundError(errno.ENOENT, "", str(folder))
        return iterdir(folder)

    monkeypatch.setattr(Path, "iterdir", vanished)
    assert bugs_in(tmp_path) == [tmp_path / "set/one"]


_WORDS = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=20)
_PRINTED = _WORDS.filter(str.isprintable)
_NAMES = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,8}", fullmatch=True)
_NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
_PATTERNS = st.sampled_from(["", r"loss: (\d+)", '"accuracy": ([-+.\\w]+)', "'(.)\\t#"])
_PLAIN = st.recursive(
    st.one_of(_PRINTED, st.booleans(), st.integers(-(2**62), 2**62), _NUMBERS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_PRINTED, inner, max_size=3),
    max_leaves=6,
)
_COMMANDS = st.builds(
    Commands,
    st.lists(
        st.lists(_PRINTED.filter(lambda word: word.strip()), min_size=1, max_size=3).map(tuple),
        min_size=1,
        max_size=3,
    ).map(tuple),
    _NAMES,
    st.sampled_from([".", "src/deep"]),
)


def _agreeing(oracle: Oracle) -> Oracle:
    """With one rule only about what is right."""
    if oracle.symptom is not Symptom.INCORRECT_OUTPUT:
        return oracle
    if oracle.check:
        oracle = replace(oracle, pattern="", expected=None, at_least=None, at_most=None)
    if oracle.expected is not None:
        oracle = replace(oracle, at_least=None, at_most=None)
    if not isinstance(oracle.expected, float):
        oracle = replace(oracle, tolerance=0.0)
    if oracle.at_least is not None and oracle.at_most is not None:
        low, high = sorted((oracle.at_least, oracle.at_most))
        oracle = replace(oracle, at_least=low, at_most=high)
    return oracle


_BUGS = st.builds(
    Bug,
    bug_id=st.builds("{}/{}".format, _NAMES, _NAMES),
    folder=st.just(Path()),
    title=_PRINTED,
    url=_PRINTED,
    source=_PRINTED,
    labels=st.builds(Labels, *[_PRINTED] * 5, st.booleans()),
    environment=st.builds(
        EnvironmentSpec,
        st.sampled_from(["any", "3.6", "3.7.16", ">=3.8"]),
        st.lists(st.sampled_from(["numpy==1.0", "keras>=2; python_version<'3'"])).map(tuple),
        st.lists(_PRINTED, max_size=2).map(tuple),
        st.lists(_PRINTED, max_size=2).map(tuple),
    ),
    data=st.lists(
        st.builds(
            DataFile, _NAMES, st.sampled_from(["", "0" * 64]), st.booleans(), _PRINTED
        ),
        max_size=3,
        unique_by=lambda file: file.path,
    ).map(tuple),
    runs=st.dictionaries(st.sampled_from(["buggy", "fixed"]), _COMMANDS),
    clean=st.lists(_NAMES, max_size=2).map(tuple),
    outputs=st.lists(_NAMES, max_size=2).map(tuple),
    oracle=st.builds(
        Oracle,
        symptom=st.sampled_from(list(Symptom)),
        exception=_PRINTED,
        message=_PATTERNS,
        pattern=_PATTERNS.filter(lambda each: not each or each.count("(") == 1),
        file=st.sampled_from(["", "out/result.json"]),
        expected=st.none() | _PRINTED | _NUMBERS,
        tolerance=st.floats(0, 10),
        at_least=st.none() | _NUMBERS,
        at_most=st.none() | _NUMBERS,
        check=st.lists(_NAMES, max_size=2).map(tuple),
        measure=st.sampled_from(["", "duration", "peak memory"]),
        better=st.sampled_from(["higher", "lower"]),
        hang_seconds=st.floats(1, 1000),
    ).map(_agreeing),
    limits=st.builds(
        Limits, st.floats(1, 1000), st.integers(16, 10**6), st.integers(1, 99),
        st.integers(1, 99), st.integers(1, 99),
    ),
    fidelity=st.lists(st.sampled_from(list(Fidelity)), max_size=2).map(tuple),
    own_oracle=st.dictionaries(_PRINTED, _PLAIN, max_size=3),
    claimed_verdict=_PRINTED,
    claimed_reason=_PRINTED,
    notes=st.lists(_PRINTED, max_size=2).map(tuple),
    data_place=st.sampled_from([".", "data", "a/b"]),
)  # fmt: skip


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(bug=_BUGS)
def test_what_is_written_is_read_back_equal(tmp_path: Path, bug: Bug) -> None:
    (tmp_path / "requirements.txt").unlink(missing_ok=True)
    write(bug, tmp_path)
    assert read(tmp_path) == replace(bug, folder=tmp_path)


def test_writing_goes_through_no_link(tmp_path: Path) -> None:
    bug = read(artifact(tmp_path / "one"))
    (tmp_path / "two").mkdir()
    victim = written(tmp_path, {"victim": "mine"}) / "victim"
    (tmp_path / "two" / "bug.toml").symlink_to(victim)
    write(bug, tmp_path / "two")
    assert victim.read_text() == "mine"
    assert read(tmp_path / "two").bug_id == "own/axis-1"


def _told(folder: Path, severity: str = "error") -> list[str]:
    return [str(each) for each in problems(folder) if each.severity == severity]


def test_validation_lists_everything_at_once(tmp_path: Path) -> None:
    toml = BUG.replace('"crash"', '"incorrect output"', 2).replace("1.1.L2", "99")
    folder = artifact(
        tmp_path,
        "[[data]]\npath = 'train.csv'\nsource = 'https://example.org/d'\n",
        toml=toml.replace('[["python", "train.py"]]', '[["python", "trian.py"]]', 1),
        **{"requirements.txt": "numpy=1.0=py36_0\n-e .\nnumpy @ file:///home/me/x.whl\n???\n"},
    )
    assert _told(folder) == [
        "data/train.csv: is missing",
        "requirements.txt: 'numpy=1.0=py36_0' is a line of conda",
        "requirements.txt: '-e .' is an option that is not accepted here",
        "requirements.txt: 'numpy @ file:///home/me/x.whl' names a path of somebody's machine",
        "requirements.txt: '???' is no requirement",
        "bug.toml: [run.buggy]: command 1 names 'trian.py', which this side does not have",
        "bug.toml: [oracle]: nothing says what is wrong",
    ]
    assert "bug.toml: [labels] fault: '99' is no code of humbatova" in _told(folder, "warning")
    fetch = next(each for each in problems(folder) if each.where == "data/train.csv")
    assert "https://example.org/d" in fetch.next_step
    assert all(each.next_step for each in problems(folder))


def test_one_mistake_in_the_form_hides_no_other(tmp_path: Path) -> None:
    toml = BUG.replace("title", "titel", 1)
    toml = toml.replace('[["python", "train.py"]]', '[["python", "trian.py"]]', 1)
    told = _told(artifact(tmp_path, toml=toml))
    assert any("[bug] titel" in each for each in told)
    assert any("'trian.py'" in each for each in told)


def test_a_score_wants_to_know_which_way_is_better(tmp_path: Path) -> None:
    before, _, behind = BUG.rpartition('symptom = "crash"\n')
    score = "symptom = 'bad performance'\npattern = 'loss: (\\S+)'\n"
    folder = artifact(tmp_path / "without", toml=f"{before}{score}{behind}")
    assert [each for each in _told(folder, "warning") if "better" in each] == [
        "bug.toml: [oracle] better: is missing: a higher number is taken for the better one"
    ]
    folder = artifact(tmp_path / "with", toml=f"{before}{score}better = 'lower'\n{behind}")
    assert not [each for each in _told(folder, "warning") if "better" in each]


def test_sides_without_files_and_links_that_leave_are_told(tmp_path: Path) -> None:
    folder = artifact(tmp_path / "bug")
    (folder / "buggy" / "train.py").unlink()
    (folder / "fixed" / "train.py").rename(folder / "fixed" / "run.py")
    (folder / "fixed" / "train.py").symlink_to("run.py")  # inside: allowed
    (folder / "fixed" / "passwd").symlink_to("/etc/passwd")
    (folder / "fixed" / "round").symlink_to("round")
    os.mkfifo(folder / "fixed" / "pipe")
    assert _told(folder) == [
        "fixed/passwd: is a link that leaves the folder",
        "fixed/pipe: is no plain file",
        "fixed/round: is a link that leaves the folder",
        "buggy: has no files",
    ]


def test_a_bug_without_a_fix_can_be_run_all_the_same(tmp_path: Path) -> None:
    folder = artifact(tmp_path, toml=BUG.split("[run.fixed]")[0] + '[oracle]\nsymptom = "crash"\n')
    (folder / "fixed" / "train.py").unlink()
    assert _told(folder) == []
    assert "fixed: has no files: the fix cannot be shown" in _told(folder, "warning")


@pytest.mark.parametrize("buggy", ["print(1)\n", "raise ValueError\n"])
def test_an_empty_fix_is_an_error(tmp_path: Path, buggy: str) -> None:
    fixed = buggy if buggy.startswith("print") else "  \n"
    folder = artifact(tmp_path, **{"buggy/train.py": buggy, "fixed/train.py": fixed})
    (told,) = _told(folder)
    assert told.startswith("fixed: ")


def test_results_that_were_shipped_do_not_make_a_fix(tmp_path: Path) -> None:
    toml = BUG.replace("[run.buggy]", '[run]\noutputs = ["result.json"]\n[run.buggy]')
    same = {"buggy/train.py": "print(1)\n", "fixed/train.py": "print(1)\n"}
    results = {"buggy/result.json": "1", "fixed/result.json": "2"}
    folder = artifact(tmp_path, toml=toml, **same, **results)
    assert _told(folder) == ["fixed: is the same as buggy: the fix is empty"]
    assert any("shipped already" in each for each in _told(folder, "warning"))
    cleaned = toml.replace("[run]\n", '[run]\nclean = ["*.json"]\n')
    folder = artifact(tmp_path, toml=cleaned)
    assert not any("shipped already" in each for each in _told(folder, "warning"))


def test_results_of_a_folder_that_is_cleaned_are_not_stale(tmp_path: Path) -> None:
    toml = BUG.replace(
        "[run.buggy]", '[run]\noutputs = ["out/result.json"]\nclean = ["out"]\n[run.buggy]'
    )
    same = {"buggy/train.py": "print(1)\n", "fixed/train.py": "print(1)\n"}
    results = {"buggy/out/result.json": "1", "fixed/out/log.txt": "2"}
    folder = artifact(tmp_path, toml=toml, **same, **results)
    assert not any("shipped already" in each for each in _told(folder, "warning"))
    assert _told(folder) == ["fixed: is the same as buggy: the fix is empty"]


def test_checksums_are_compared(tmp_path: Path) -> None:
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of abc
    more = f"[[data]]\npath = 'a'\nsha256 = '{digest}'\n"
    folder = artifact(tmp_path, more, **{"data/a": "abc"})
    assert problems(folder) == []
    (folder / "data" / "a").write_text("abd")
    (told,) = _told(folder)
    assert told.startswith("data/a: has another checksum")
    (folder / "data" / "b").write_text("x")
    assert "data/b: is not declared" in _told(folder, "warning")


def test_data_that_are_a_link_are_told_and_not_compared(tmp_path: Path) -> None:
    more = "".join(f"[[data]]\npath = '{name}'\nsha256 = '{'0' * 64}'\n" for name in "ab")
    folder = artifact(tmp_path, more, **{"data/b": "abc"})
    (folder / "data" / "a").symlink_to("b")
    first, second = _told(folder)
    assert first == "data/a: is no plain file"
    assert second.startswith("data/b: has another checksum")


def test_a_command_may_name_what_the_data_bring(tmp_path: Path) -> None:
    toml = BUG.replace('[["python", "train.py"]]', '[["python", "../data/make.py"]]').replace(
        "[run.buggy]", '[run.buggy]\ndirectory = "work"\nplace = "work"'
    )
    folder = artifact(tmp_path, toml=toml, **{"data/make.py": "pass"})
    (told,) = _told(folder)
    assert told.startswith("bug.toml: [run.fixed]: command 1 names '../data/make.py'")


def test_an_oracle_that_says_too_little_or_too_much_is_told(tmp_path: Path) -> None:
    for oracle, told in (
        ("symptom = 'bad performance'", "nothing says what is measured"),
        ("symptom = 'nan'\nfile = 'log.txt'", "'log.txt' is not among [run] outputs"),
    ):
        toml = BUG.replace('[oracle]\nsymptom = "crash"', f"[oracle]\n{oracle}")
        assert any(told in each for each in _told(artifact(tmp_path, toml=toml)))
    toml = BUG.replace('symptom = "crash"\n', 'symptom = "crash"\nbetter = "lower"\n')
    toml = toml.replace('better = "lower"\n', "", 1)  # that of [labels]
    (told,) = _told(artifact(tmp_path, toml=toml), "warning")
    assert told == "bug.toml: [oracle]: better says nothing about crash"


def test_the_hash_is_of_what_is_run_and_not_of_how_it_is_judged(tmp_path: Path) -> None:
    bug = read(artifact(tmp_path, **{"data/a": "1"}))
    known = content_hash(bug)
    judged = replace(
        bug,
        title="another",
        labels=Labels(symptom="hang"),
        oracle=replace(bug.oracle, exception="KeyError", message="x"),
        notes=("one",),
        claimed_verdict="verified",
    )
    assert content_hash(judged) == known
    run = [
        replace(bug, runs={"buggy": bug.runs["buggy"]}),
        replace(bug, runs={**bug.runs, "fixed": Commands((("python", "-O", "train.py"),))}),
        replace(bug, limits=Limits(seconds=1)),
        replace(bug, clean=("*.log",)),
        replace(bug, outputs=("a",)),
        replace(bug, data_place="."),
        replace(bug, environment=EnvironmentSpec("3.6")),
        replace(bug, environment=EnvironmentSpec(requirements=("numpy",))),
        replace(bug, oracle=replace(bug.oracle, check=("python", "check.py"))),
    ]
    hashes = {content_hash(each) for each in run}
    assert known not in hashes
    assert len(hashes) == len(run)


def test_the_hash_sees_every_file_and_which_side_it_is_on(tmp_path: Path) -> None:
    folder = artifact(tmp_path)
    known = content_hash(read(folder))
    written(folder, {"buggy/__pycache__/x.pyc": "1"})
    assert content_hash(read(folder)) == known
    written(folder, {"data/x": ""})
    other = content_hash(read(folder))
    (folder / "buggy").rename(folder / "swapped")
    (folder / "fixed").rename(folder / "buggy")
    (folder / "swapped").rename(folder / "fixed")
    assert len({known, other, content_hash(read(folder))}) == 3


def test_the_hash_sees_what_is_said_of_the_data(tmp_path: Path) -> None:
    """A wrong checksum ends in a verdict: who corrects it gets another one."""
    folder = artifact(tmp_path, **{"data/a": "1"})
    known = content_hash(read(folder))
    hashes = {known}
    for digest in ("0" * 64, "1" * 64):
        with_data = BUG + f"[[data]]\npath = 'a'\nsha256 = '{digest}'\n"
        written(folder, {"bug.toml": with_data})
        hashes.add(content_hash(read(folder)))
    assert len(hashes) == 3


def test_the_hash_sees_the_files_that_the_requirements_name(tmp_path: Path) -> None:
    lines = "-r more.txt\n-c bounds.txt\n--find-links wheels\n./own/leaf-1.0-py3-none-any.whl\n"
    files = {
        "deep.txt": "scipy<1\n",
        "bounds.txt": "six<2\n",
        "wheels/tree-1.0.whl": "1",
        "own/leaf-1.0-py3-none-any.whl": "1",
        "more.txt": "numpy==1.0\n-c deep.txt\n",
    }
    folder = artifact(tmp_path, **{"requirements.txt": lines, **files})
    hashes = [content_hash(read(folder))]
    for name in files:
        written(folder, {name: "six==1.0\n"})
        hashes.append(content_hash(read(folder)))
    written(folder, {"wheels/tree-2.0.whl": "2"})
    hashes.append(content_hash(read(folder)))
    assert len(set(hashes)) == len(hashes)
    known = hashes[-1]
    written(folder, {"wheels/README": "2", "other.txt": "3"})
    assert content_hash(read(folder)) == known


def test_a_list_that_is_named_is_accepted_by_whoever_validates_too(tmp_path: Path) -> None:
    lines = "-r more.txt\n-r gone.txt\n-c ../bounds.txt\n./own/leaf-1.0-py3-none-any.whl\n"
    lines += 'numpy; os_name ~= "posix"\n'
    folder = artifact(tmp_path / "bug", **{"requirements.txt": lines, "more.txt": "numpy\n"})
    assert _told(folder) == [
        "requirements.txt: '-r gone.txt' names a file that is not there",
        "requirements.txt: '-c ../bounds.txt' names a place outside of the bug's folder",
        "requirements.txt: 'numpy; os_name ~= \"posix\"' is no requirement",
    ]


def test_the_hash_sees_the_files_that_the_check_is_given(tmp_path: Path) -> None:
    toml = BUG.replace('symptom = "crash"\n', 'symptom = "incorrect output"\n', 2)
    toml += (
        'check = ["python", "./oracle/check.py", "-v", "expected.txt", "/etc/hostname", "out"]\n'
    )
    more = {"oracle/check.py": "1", "expected.txt": "2", "out.txt": "3"}
    folder = artifact(tmp_path, toml=toml, **more)
    known = content_hash(read(folder))
    written(folder, {"out.txt": "not named by it"})
    assert content_hash(read(folder)) == known
    written(folder, {"expected.txt": "other"})
    other = content_hash(read(folder))
    written(folder, {"oracle/check.py": "other"})
    assert len({known, other, content_hash(read(folder))}) == 3


def test_a_check_may_lie_beside_its_description(tmp_path: Path) -> None:
    toml = BUG.replace('[oracle]\nsymptom = "crash"', '[oracle]\nsymptom = "incorrect output"')
    folder = artifact(tmp_path, toml=toml + 'check = ["python", "check.py"]\n')
    (buggy, _fixed) = _told(folder)
    assert buggy.startswith("bug.toml: [run.buggy]: [oracle] check names 'check.py'")
    written(folder, {"check.py": "pass"})
    assert _told(folder) == []


def test_the_hash_of_a_folder_with_a_link_that_leaves_is_refused(tmp_path: Path) -> None:
    folder = artifact(tmp_path / "bug")
    (folder / "buggy" / "secret").symlink_to("/etc/hostname")
    with pytest.raises(StudyError, match="link that leaves"):
        content_hash(read(folder))


def test_a_file_that_nobody_could_hash_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """Of a terabyte on no disk: read, it would keep every call waiting for an hour."""
    folder = artifact(tmp_path / "axis-1")
    (folder / "buggy" / "small.bin").write_bytes(b"x" * (3 << 20))
    with (folder / "buggy" / "huge.bin").open("wb") as file:
        file.truncate(1 << 40)
    said = "'huge.bin' has 1,048,576 MB (1,048,579 MB with the others); 500 are accepted"
    with pytest.raises(StudyError) as refused:
        content_hash(read(folder))
    assert refused.value.message == f"{folder}/buggy {said}"
    assert f"buggy: {said}" in [str(each) for each in problems(folder) if each.severity == "error"]
    (folder / "buggy" / "huge.bin").unlink()
    assert content_hash(read(folder))


def test_a_check_that_nobody_could_hash_is_refused_too(tmp_path: Path) -> None:
    folder = artifact(tmp_path / "axis-1")
    with (folder / "check.py").open("wb") as file:
        file.truncate(1 << 40)
    bug = read(folder)
    bug = replace(bug, oracle=replace(bug.oracle, check=("python", "check.py")))
    with pytest.raises(StudyError, match=r"'check.py' has 1,048,576 MB; 500 are accepted"):
        content_hash(bug)


def test_a_problem_is_a_line() -> None:
    assert str(Problem("bug.toml", "is missing")) == "bug.toml: is missing"
