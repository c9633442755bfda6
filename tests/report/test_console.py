"""The manners of all four commands: options, messages, errors and exit codes."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
import typer
from executed import executed_bugs
from loopback import TOKEN as tracker_token  # noqa: N811  (TOKEN is another one here)
from loopback import World, serving
from program import exit_code
from program import tree as program_tree
from repositories_on_disk import linear
from rich.table import Table

from faultatlas.analysis.reexecution.collecting import shipped
from faultatlas.data import queries
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.report.claims.check import recompute_all
from faultatlas.report.console import Console
from faultatlas.report.old.console import Output
from faultatlas.report.program import guarded

Command = Callable[..., CompletedProcess[str]]
PROGRAMS = ("miner", "annotation", "analysis", "report")
SCRIPTS = Path(sys.executable).parent
TOKEN = "ghp_" + "x1" * 18
SHEET = "URL,rater_1,rater_2,Final_label\nhttps://github.com/o/r/issues/1,A1,A1,A1\n"
CODING = "paper,taxonomy,code\nA Paper,humbatova,1.1.L2\n"
OWN = '[claims.issues]\nstatement = "Issues"\nsql = "SELECT count(*) FROM issues"\n'
DATED = {1000: "api", 1001: "gpu", 1012: "api", 1013: "model"}  # posts of several years
IMPORT = ("import", "hp", "sheet.csv", "--item", "URL", "--final", "Final_label", "--taxonomy",
          "hp-defects")  # fmt: skip
RATED = ("import", "rated", "sheet.csv", "--item", "URL", "--rater-columns", "rater_*",
         "--taxonomy", "hp-defects")  # fmt: skip

# A call of every command that succeeds in a study with one label, one result and some issues.
CALLS = {
    ("miner", "fetch"): ("example/tensors", "--dry-run"),
    ("miner", "repos"): ("tensors", "--plan"),
    ("miner", "commits"): ("./layers.git",),
    ("miner", "filter"): ("--again",),
    ("miner", "lexicons"): (),
    ("miner", "papers"): ("--from", "more.bib"),
    ("miner", "posts"): ("--from-sede", "posts.csv"),
    ("miner", "projects"): (),
    ("miner", "rebuild"): (),
    ("miner", "forget"): ("github:example/tensors#1", "--plan"),
    ("miner", "backup"): (),
    ("miner", "merge"): ("other",),
    ("miner", "link"): (),
    ("miner", "status"): (),
    ("annotation", "taxonomy", "list"): (),
    ("annotation", "taxonomy", "show"): ("dl-bugs",),
    ("annotation", "taxonomy", "validate"): (),
    ("annotation", "taxonomy", "copy"): ("humbatova",),
    ("annotation", "taxonomy", "diff"): ("dl-bugs", "1.0.0", "1.0.0"),
    ("annotation", "taxonomy", "migrate"): ("hp-defects",),
    ("annotation", "taxonomy", "relabel"): ("hp",),
    ("annotation", "taxonomy", "crosswalk"): ("hp", "--to", "humbatova", "--final"),
    ("annotation", "taxonomy", "saturation"): ("hp",),
    ("annotation", "sample"): ("more", "--size", "1"),
    ("annotation", "sample-size"): ("38463",),
    ("annotation", "round"): (
        "pilot",
        "--sample",
        "drawn",
        "--taxonomy",
        "hp-defects",
        "--rater",
        "ann",
    ),
    ("annotation", "status"): (),
    ("annotation", "serve"): ("--stop",),
    ("annotation", "push"): ("hp", "--plan"),
    ("annotation", "pull"): ("hp",),
    ("annotation", "rater", "add"): ("ann",),
    ("annotation", "rater", "list"): (),
    ("annotation", "import"): IMPORT[1:],
    ("annotation", "agreement"): ("rated",),
    ("annotation", "export"): ("hp", "labels.csv"),
    ("annotation", "adjudicate"): ("hp",),
    ("annotation", "suggest"): ("texts",),
    ("annotation", "screen"): ("title", "--rater", "ann"),
    ("annotation", "code"): ("--rater", "ann"),
    ("annotation", "places"): ("coding.csv", "--codes"),
    ("analysis", "associate"): ("--counts", "154/385", "41/385"),
    ("analysis", "challenges"): ("dl-bugs",),
    ("analysis", "claims"): (),
    ("analysis", "compare"): ("length(title)", "--by", "kind"),
    ("analysis", "coverage-gap"): (),
    ("analysis", "distribution"): ("dl-bugs", "--by", "year"),
    ("analysis", "known-papers"): (),
    ("analysis", "methods"): (),
    ("analysis", "prisma"): (),
    ("analysis", "replicate"): ("hp-defects",),
    ("analysis", "reexecute"): ("--validate", str(shipped()[0])),
    ("analysis", "reproducibility"): (),
    ("analysis", "trend"): ("dl-bugs", "--smallest", "1"),
    ("report", "build"): (),
    ("report", "claims", "check"): (),
    ("report", "claims", "export"): ("--csv", "numbers.csv"),
    ("report", "claims", "list"): ("--published",),
    ("report", "manuscript"): ("--shipped", "maintenance"),
    ("report", "package"): (),
    ("report", "trace"): ("coverage-gap.faults.untargeted",),
}


def application(program: str) -> Any:
    return program_tree(program)


def tree(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A command and all below it, with the words that lead there."""
    yield words, command
    for name, each in getattr(command, "commands", {}).items():
        yield from tree((*words, name), each)


TREE = {words: each for name in PROGRAMS for words, each in tree((name,), application(name))}
LEAVES = {words: each for words, each in TREE.items() if not getattr(each, "commands", None)}

each_command = pytest.mark.parametrize("words", TREE, ids=" ".join)
each_call = pytest.mark.parametrize("words", LEAVES, ids=" ".join)


def environment() -> dict[str, str]:
    """As a user has it: no study is named, and output is buffered."""
    ours = ("STUDY", "PYTHONUNBUFFERED")
    return {name: value for name, value in os.environ.items() if name not in ours}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, tracker: str) -> Path:
    """A study with one label, one result and some issues, made by the commands."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "sheet.csv").write_text(SHEET, encoding="utf-8")
    (folder / "more.bib").write_text("@misc{b, title={Another}}", encoding="utf-8")
    (folder / "papers.bib").write_text("@misc{a, title={A Paper}}", encoding="utf-8")
    (folder / "coding.csv").write_text(CODING, encoding="utf-8")
    (folder / "posts.csv").write_text("Id,Title\n4,Why is it slow?\n", encoding="utf-8")
    (folder / "claims.toml").write_text(OWN, encoding="utf-8")
    dated = [f"stackoverflow:{number},{code}" for number, code in DATED.items()]
    (folder / "dated.csv").write_text("\n".join(["item,code", *dated, ""]), encoding="utf-8")
    linear(folder / "layers.git", 3)
    words_of = {"E1": "slow data loader takes hours", "D1": "typo in the docs of an operator"}
    texts = [(number, code) for number in range(100, 112) for code in words_of]
    titles = [
        f"{number}{at},{words_of[code]} {number},{2010 + at % 4}-03-01 10:00:00"
        for at, (number, code) in enumerate(texts)
    ]
    labels = [f"stackoverflow:{number}{at},{code}" for at, (number, code) in enumerate(texts)]
    (folder / "texts.csv").write_text(
        "\n".join(["Id,Title,CreationDate", *titles, ""]), encoding="utf-8"
    )
    (folder / "texts_labels.csv").write_text("\n".join(["item,ann", *labels, ""]), encoding="utf-8")
    calls = (
        ("annotation", *IMPORT),
        ("annotation", *RATED),
        ("miner", "posts", "--from-sede", "texts.csv"),
        (
            "annotation",
            "import",
            "texts",
            "texts_labels.csv",
            "--item",
            "item",
            "--rater-columns",
            "ann",
            "--taxonomy",
            "hp-defects",
        ),
        ("analysis", "coverage-gap", "--quiet"),
        ("miner", "fetch", "example/tensors", "--api-url", tracker),
        ("annotation", "sample", "drawn", "--size", "2"),
        ("miner", "papers", "--from", "papers.bib"),
        (
            "annotation",
            "import",
            "dated",
            "dated.csv",
            "--item",
            "item",
            "--final",
            "code",
            "--taxonomy",
            "dl-bugs",
        ),
        ("miner", "papers", "--from", "papers.bib"),
        ("miner", "papers", "--known", "survey"),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("STUDY", raising=False)
        patch.setenv("GITHUB_TOKEN", tracker_token)
        for words in calls:
            patch.setattr(sys, "argv", [*words])
            assert exit_code(words[0]) == 0
    executed_bugs(Study(folder))
    return folder


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Path:
    """A copy of it in the folder where `command` runs."""
    return Path(shutil.copytree(made, tmp_path, dirs_exist_ok=True))


@pytest.fixture(scope="module")
def tracker() -> Iterator[str]:
    """The address of a tracker that `made` was fetched from."""
    with serving(World.small()) as server:
        yield server.url


@pytest.fixture
def call(
    made: Path,
    study: Path,
    tracker: str,
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
) -> Command:
    """Runs the call of a command, with the tracker where one is needed."""
    monkeypatch.setenv("GITHUB_TOKEN", tracker_token)

    def run(words: tuple[str, ...], *more: str) -> CompletedProcess[str]:
        asks = words in {("miner", "fetch"), ("miner", "repos")}
        where = ("--api-url", tracker) if asks else ()
        if words == ("miner", "merge"):
            shutil.copytree(made, study / "other")
        return command(*words, *CALLS[words], *where, *more)

    return run


# Help.


@each_command
def test_every_command_and_every_option_has_help(words: tuple[str, ...]) -> None:
    command = TREE[words]
    assert command.help
    for parameter in command.params:
        assert parameter.help, f"{' '.join(words)} {parameter.name}"


@each_call
def test_every_command_shows_an_example_of_itself(words: tuple[str, ...]) -> None:
    said = LEAVES[words].help or ""
    heading, _, examples = said.partition("Example")
    assert heading
    assert f"\n{' '.join(words)}" in examples


@each_call
def test_what_is_to_be_typed_in_is_in_capitals(words: tuple[str, ...]) -> None:
    for parameter in LEAVES[words].params:
        if parameter.param_type_name == "argument" or parameter.name == "version":
            said = parameter.metavar
            assert said, f"{' '.join(words)} {parameter.name}"
            assert said == said.upper()


@each_call
def test_every_command_takes_the_shared_options(words: tuple[str, ...]) -> None:
    options = {name for parameter in LEAVES[words].params for name in parameter.opts}
    assert options >= {"--study", "--json", "-q", "--quiet", "-v", "--verbose"}


@each_command
def test_help_is_printed_on_request(words: tuple[str, ...], command: Command) -> None:
    for option in ("--help", "-h"):
        shown = command(*words, option)
        assert (shown.returncode, shown.stderr) == (0, "")
        assert "Usage:" in shown.stdout


def test_a_shell_completes_commands(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    monkeypatch.setenv("_MINER_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "miner fe")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert command("miner").stdout.split() == ["fetch"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_unknown_command_or_option_is_a_usage_error(program: str, command: Command) -> None:
    for word in ("nonsense", "--nonsense"):
        ended = command(program, word)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert word in ended.stderr


# Output.


def test_every_command_is_called_below() -> None:
    assert set(CALLS) == set(LEAVES)


@each_call
def test_json_is_one_document_on_standard_output(words: tuple[str, ...], call: Command) -> None:
    ended = call(words, "--json")
    assert ended.returncode == 0
    assert isinstance(json.loads(ended.stdout), dict)
    assert ended.stdout.endswith("}\n")


@each_call
def test_a_quiet_command_prints_nothing(words: tuple[str, ...], call: Command) -> None:
    ended = call(words, "-q")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@each_call
def test_a_command_prints_its_result_on_standard_output(
    words: tuple[str, ...], call: Command
) -> None:
    ended = call(words)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.strip()


@pytest.mark.parametrize(
    "words", [words for words in LEAVES if words[0] in {"analysis", "annotation"}], ids=" ".join
)
def test_a_result_that_a_command_stores_can_be_computed_again(
    words: tuple[str, ...], call: Command, study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "faultatlas.report.publish.write_result", lambda _result, folder, **_: folder
    )
    opened = Study(study)
    newest = "SELECT result, run_id FROM results WHERE is_latest"
    with opened.reading() as reader:
        before = reader.rows(newest)
    assert call(words, "-q").returncode == 0
    with opened.reading() as reader:
        new = [row["result"] for row in reader.rows(newest) if row not in before]
    for again in recompute_all(opened, new) if new else ():
        assert again.problem == ""
        assert again.is_same
    with opened.reading() as reader:
        for row in reader.rows("SELECT claim_id, result, rows_query FROM claims"):
            if row["result"] in new and row["rows_query"] is not None:
                query = queries.checked(reader, row["claim_id"], row["rows_query"])
                queries.rows_of(reader, row["claim_id"], query, 1)


def test_a_quiet_command_says_nothing_of_a_new_study_either(
    tmp_path: Path, command: Command
) -> None:
    (tmp_path / "sheet.csv").write_text(SHEET, encoding="utf-8")
    loud = command("annotation", *IMPORT, "--study", "loud")
    assert loud.stderr == "new study in loud\n"
    quiet = command("annotation", *IMPORT, "--study", "quiet", "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert Study(tmp_path / "quiet").exists


def test_what_is_missing_is_told_in_silence_too(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = Output(quiet=True)
    quiet.end(["three are new"], is_whole=True)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(typer.Exit) as end:
        quiet.end(["Posts.xml is cut"], is_whole=False)
    assert end.value.exit_code == 1
    assert capsys.readouterr() == ("", "Posts.xml is cut\n")


def test_messages_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    text = "[red]o/r#1[/red] sheet.csv:100: :bug: " + "x" * 200
    Console().tell(text)
    Console(quiet=True, verbose=True).tell("silenced")
    assert capsys.readouterr().err == f"{text}\n"
    table = Table(box=None, show_header=False)
    table.add_row("[red]o/r[/red]:100:")
    Console().show("[red]x[/red]:100:", table)
    Console(as_json=True).document({"é": [1]})
    shown, row, *document = capsys.readouterr().out.splitlines()
    assert (shown, row.strip()) == ("[red]x[/red]:100:", "[red]o/r[/red]:100:")
    assert document == ["{", ' "é": [', "  1", " ]", "}"]


HOSTILE = f"\x1b[31mred\r\x9b2J {TOKEN}\nsecond \u202eline"
HARMLESS = "\ufffd[31mred \ufffd2J ***\nsecond \ufffdline"


def test_messages_hold_no_terminal_escapes_and_no_secrets(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Console().tell(HOSTILE)
    Console().show(HOSTILE)
    assert capsys.readouterr() == (f"{HARMLESS}\n", f"{HARMLESS}\n")


# The study.


def test_the_study_is_that_of_the_option_then_of_the_variable_then_here(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sheet.csv").write_text(SHEET, encoding="utf-8")
    monkeypatch.setenv("STUDY", str(tmp_path / "named"))
    assert command("annotation", *IMPORT).returncode == 0
    assert Study(tmp_path / "named").exists
    found = json.loads(command("miner", "status", "--json").stdout)
    assert (found["study"], found["rows"]["final_labels"]) == (str(tmp_path / "named"), 1)
    missed = command("miner", "status", "--study", tmp_path / "other")
    assert missed.returncode == 1
    assert missed.stderr.startswith(f"error: there is no study in {tmp_path / 'other'}\n")
    monkeypatch.delenv("STUDY")
    assert command("miner", "status").stderr.startswith("error: there is no study in .\n")
    assert not Study(tmp_path).exists


# Errors.

CHECK = "Check the path and its permissions, then run this again.\n"


def failing(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def run(action: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(sys, "argv", ["fails", "--"])
    with pytest.raises(SystemExit) as end:
        guarded(action)
    return int(end.value.code or 0)


def test_an_error_is_a_message_a_hint_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "[bold]cause[/bold] " + "y" * 300
    assert run(failing(StudyError(long, "next step")), monkeypatch) == 1
    assert capsys.readouterr() == ("", f"error: {long}\nnext step\n")
    assert run(failing(StudyError("no way out")), monkeypatch) == 1
    assert capsys.readouterr() == ("", "error: no way out\n")


def test_secrets_in_an_error_are_masked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "a-secret-of-mine")
    error = StudyError(
        f"https://me:pass@example.org/?access_token=abc said no to {TOKEN}",
        "Is a-secret-of-mine right? Sent: Authorization: Bearer abc123def456",
    )
    assert run(failing(error), monkeypatch) == 1
    out, shown = capsys.readouterr()
    assert (out, shown.splitlines()) == (
        "",
        [
            "error: https://***@example.org/?access_token=*** said no to ***",
            "Is *** right? Sent: Authorization: Bearer ***",
        ],
    )


def test_an_error_holds_no_terminal_escapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(failing(StudyError(HOSTILE, HOSTILE)), monkeypatch) == 1
    assert capsys.readouterr() == ("", f"error: {HARMLESS}\n{HARMLESS}\n")


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (
            PermissionError(errno.EACCES, "Permission denied", "out/x\x1b"),
            "error: out/x\ufffd cannot be read or written: Permission denied\n" + CHECK,
        ),
        (
            OSError(errno.ENOSPC, "No space left on device", "out/x"),
            "error: no room left to write out/x\nFree disk space, then run this again.\n",
        ),
        (  # as a copy fails that has been read and cannot be written
            OSError(errno.ENOSPC, "No space left on device", "shipped/x", None, "study/x"),
            "error: no room left to write study/x\nFree disk space, then run this again.\n",
        ),
        (
            OSError(errno.EIO, "Input/output error"),
            "error: the output cannot be read or written: Input/output error\n" + CHECK,
        ),
    ],
    ids=["permission", "full", "full copy", "nameless"],
)
def test_an_error_of_the_system_is_a_message_too(
    error: OSError, shown: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(failing(error), monkeypatch) == 1
    assert capsys.readouterr() == ("", shown)


def test_secrets_on_the_command_line_are_masked(command: Command) -> None:
    ended = command("annotation", "taxonomy", "show", TOKEN)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert TOKEN not in ended.stderr
    assert ended.stderr.startswith("error: there is no taxonomy '***'\n")


def test_an_error_leaves_no_json_behind(command: Command) -> None:
    ended = command("report", "claims", "list", "--json")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("error: there is no study in .\n")


def test_a_bug_is_not_disguised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["fails", "--"])
    with pytest.raises(ZeroDivisionError):
        guarded(failing(ZeroDivisionError()))
    with pytest.raises(OSError, match="a library's own"):  # as the errors of requests are
        guarded(failing(OSError("a library's own")))


# Real processes.


@pytest.mark.parametrize(
    "words",
    [
        ("annotation", "taxonomy", "list", "--json"),  # fits into a buffer
        ("annotation", "taxonomy", "show", "humbatova", "--json"),  # does not
        ("annotation", "taxonomy", "show", "humbatova"),
    ],
    ids=" ".join,
)
def test_a_reader_that_goes_away_is_no_traceback(words: tuple[str, ...], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [SCRIPTS / words[0], *words[1:]],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, env=environment(),
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.close()  # as `head` does when it has seen enough
    _, errors = process.communicate(timeout=60)
    assert errors == b""
    assert process.returncode == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "words",
    [
        ("annotation", "taxonomy", "list", "--json"),
        ("annotation", "taxonomy", "show", "humbatova", "--json"),
        ("report", "claims", "list", "--published"),
        ("report", "--help"),
    ],
    ids=" ".join,
)
def test_output_without_room_is_told(
    words: tuple[str, ...], unbuffered: str, tmp_path: Path
) -> None:
    line = [SCRIPTS / words[0], *words[1:]]
    variables = environment() | {"PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
                               env=variables, check=False)  # fmt: skip
        assert ended.returncode == 1
        told = "error: no room left to write the output\nFree disk space, then run this again.\n"
        assert ended.stderr == told
        both = subprocess.run(line, stdout=full, stderr=full, cwd=tmp_path, env=variables,
                              check=False)  # fmt: skip
        assert both.returncode > 0


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_encoding_will_do(encoding: str, study: Path) -> None:
    def printed(*words: str) -> str:
        ended = subprocess.run([SCRIPTS / words[0], *words[1:]], cwd=study, capture_output=True,
                               env=environment() | {"PYTHONIOENCODING": encoding}, check=False,
                               )  # fmt: skip
        assert b"Traceback" not in ended.stderr
        return ended.stdout.decode(encoding) + ended.stderr.decode(encoding)

    dash = "\N{EN DASH}" if encoding == "utf-8" else r"\u2013"
    assert f"38.2{dash}57.8 %" in printed("report", "trace", "coverage-gap.faults.untargeted")
    assert ("Łódź" if encoding == "utf-8" else r"\u0141") in printed("report", "build", "Łódź")
    (study / "Łódź").mkdir()
    shutil.copy(study / "study.duckdb", study / "Łódź")
    document = printed("miner", "status", "--study", "Łódź", "--json")
    assert json.loads(document)["study"] == "Łódź"
    assert document.isascii() == (encoding != "utf-8")


def test_an_interrupt_is_told_and_leaves_the_study_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text(SHEET, encoding="utf-8")
    study = Study(tmp_path)
    with study.writing() as writer:
        writer.execute("SELECT 1")
    with study.reading() as reader:  # holds the database, so that the import must wait
        process = subprocess.Popen(
            [SCRIPTS / "annotation", *IMPORT],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
            env=environment(),
        )  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline().startswith("waiting for process ")
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
        assert reader.value("SELECT count(*) FROM final_labels") == 0
    assert (process.returncode, out) == (130, "")
    assert errors == "interrupted; what was stored is complete\n"
