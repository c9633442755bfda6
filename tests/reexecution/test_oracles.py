"""What one run shows, symptom by symptom."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from growth import grows_like_its_text
from judged_runs import bug, crashed, cut, good, ran, swapped, traceback

from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.numbers import number_in
from faultatlas.analysis.reexecution.oracles import look, oracles
from faultatlas.analysis.reexecution.runs import Evidence, Outcome
from faultatlas.analysis.reexecution.sightings import Sighting, observe
from faultatlas.analysis.reexecution.traces import matching
from faultatlas.analysis.reexecution.traces.matching import PatternError, find_all
from faultatlas.analysis.reexecution.verdicts import Reason

SIGNALLED = {"outcome": Outcome.SIGNALLED, "exit_code": None}


def seen(of: Bug, run: Evidence, *across: Evidence) -> Sighting:
    first, *others = observe(of, [run, *across])
    return look(of, first, others)


def test_every_symptom_has_its_oracle() -> None:
    assert set(oracles()) == set(Symptom)
    assert all(oracle.ABOUT and callable(oracle.seen) for oracle in oracles().values())


# Crash


@pytest.mark.parametrize(
    ("oracle", "error", "shown"),
    [
        ({}, "ValueError: bad", True),
        ({"exception": "ValueError"}, "ValueError: bad", True),
        ({"exception": "ValueError"}, "TypeError: bad", None),
        ({"exception": "ValueError", "message": "b.d"}, "ValueError: bad", True),
        ({"exception": "ValueError", "message": "good"}, "ValueError: bad", None),
        ({"message": "bad"}, "TypeError: bad", True),
        ({"exception": "InvalidArgumentError"}, "tf.errors_impl.InvalidArgumentError: bad", True),
        ({"exception": "tf.errors.NotFoundError"}, "tf.impl.NotFoundError: bad", True),
        ({"exception": "ImportError"}, "ModuleNotFoundError: No module named 'tf'", True),
        ({"exception": "IOError"}, "FileNotFoundError: [Errno 2] No such file: 'x'", True),
        ({"exception": "FileNotFoundError"}, "IOError: [Errno 2] No such file: 'x'", True),
        ({"exception": "ModuleNotFoundError"}, "ImportError: No module named tf", True),
        ({"exception": "RecursionError"}, "RuntimeError: maximum recursion depth exceeded", True),
        ({"exception": "RuntimeError"}, "RecursionError: maximum recursion depth", True),
        ({"exception": "OSError"}, "socket.error: [Errno 104] Connection reset by peer", True),
        ({"exception": "select.error"}, "OSError: [Errno 9] Bad file descriptor", True),
        ({"exception": "cv2.error"}, "cv2.error: (-215) !ssize.empty()", True),
        ({"exception": "csv.Error"}, "_csv.Error: line contains NUL", True),
        # of the same name, or of a parent's, and another thing all the same
        ({"exception": "cv2.error"}, "OSError: [Errno 5] Input/output error", None),
        ({"exception": "cv2.error"}, "FileNotFoundError: [Errno 2] No such file: 'x'", None),
        ({"exception": "cv2.error"}, "struct.error: unpack requires 4 bytes", None),
        ({"exception": "FileNotFoundError"}, "struct.error: unpack requires 4 bytes", None),
        ({"exception": "OSError"}, "zlib.error: Error -3", None),
        ({"exception": "FileNotFoundError"}, "OSError: [Errno 28] No space left", None),
        ({"exception": "RecursionError"}, "RuntimeError: CUDA error", None),
        ({"exception": "ModuleNotFoundError"}, "ImportError: cannot import name 'merge'", None),
        ({}, "ImportError: cannot import name 'merge' from 'keras.layers'", True),
        ({}, "ModuleNotFoundError: No module named 'keras.layers.merge'", True),
        ({}, "AttributeError: module 'numpy' has no attribute 'int'", True),
    ],
)
def test_a_crash_is_the_one_that_the_oracle_looks_for(
    oracle: dict[str, str], error: str, shown: object
) -> None:
    assert seen(bug(**oracle), crashed("buggy", 1, error)).shown is shown


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("ModuleNotFoundError: No module named 'keras'", Reason.MISSING_DEPENDENCY),
        ("ImportError: No module named keras", Reason.MISSING_DEPENDENCY),
        (
            "ImportError: libcudart.so.10.0: cannot open shared object file: No such file",
            Reason.MISSING_DEPENDENCY,
        ),
        ("FileNotFoundError: [Errno 2] No such file: 'train.csv'", Reason.MISSING_DATA),
        ("IOError: [Errno 2] No such file or directory: 'train.csv'", Reason.MISSING_DATA),
        ("OSError: Unable to open file (unable to open file: name = 'w.h5')", Reason.MISSING_DATA),
        ("urllib.error.URLError: <urlopen error [Errno -2]>", Reason.MISSING_DATA),
        ("Exception: URL fetch failure on https://x/mnist.npz: None", Reason.MISSING_DATA),
    ],
)
def test_crashes_that_speak_of_the_artifact_are_none_unless_they_are_asked_for(
    error: str, reason: Reason
) -> None:
    found = seen(bug(), crashed("buggy", 1, error))
    assert (found.shown, found.reason) == (None, reason)
    assert error.split(":", maxsplit=1)[0].rpartition(".")[2] in found.detail
    asked = bug(exception=error.split(":", maxsplit=1)[0])
    assert seen(asked, crashed("buggy", 1, error)).shown is True


@pytest.mark.parametrize(
    ("stderr", "code"),
    [
        ("python: can't open file '/bug/train.py': [Errno 2] No such file or directory", 2),
        ("/usr/bin/python: No module named pytest", 1),
        ("ERROR: not found: /bug/t.py::test_b\n(no match in any of [<Module t.py>])", 4),
        ("========= 1 deselected in 1.49s =========", 5),
        ("sh: 1: tensorboard: not found", 127),
        ("bash: line 1: tensorboard: command not found", 1),
        ("run.sh: 3: run.sh: tensorboard: not found", 2),
        ("bash: ./train.sh: Permission denied", 2),
        ("env: 'python3.4': No such file or directory", 2),
        ("cp: cannot stat 'result.json': No such file or directory", 1),
        ("ERROR: file or directory not found: tests/test_a.py", 4),
        ("======= no tests ran in 0.01s =======", 5),
        ("python3: Error while finding module specification for 'a.b' (ModuleNotFoundError)", 1),
    ],
)
def test_a_command_that_is_not_there_is_no_crash_of_the_program(stderr: str, code: int) -> None:
    found = seen(bug(), ran("buggy", 1, "", stderr, exit_code=code))
    assert (found.shown, found.reason) == (None, Reason.ARTIFACT_DEFECT)


@pytest.mark.parametrize(
    "last",
    [
        "Error: label 3 not found",
        "not found",
        "config: key 'lr' not found",
        "fatal: Permission denied for user 'a'",
        "sorry, no such test: accuracy",
        "train.py: error: No module named 'resnet' in the zoo",
    ],
)
def test_what_a_program_says_of_itself_is_its_crash(last: str) -> None:
    """As of sys.exit('Error: label 3 not found')."""
    assert seen(bug(), ran("buggy", 1, "epoch 1\n", f"{last}\n", exit_code=1)).shown is True


def test_a_handled_error_is_none_and_a_dead_thread_only_if_it_is_asked_for() -> None:
    handled = crashed("buggy", 1, exit_code=0)
    assert seen(bug(), handled).shown is False
    thread = ran("buggy", 1, "done\n", f"Exception in thread Thread-1:\n{handled.stderr}")
    assert seen(bug(), thread).shown is False
    assert seen(bug(exception="ValueError"), thread).shown is True
    assert seen(bug(exception="KeyError"), thread).shown is False


@pytest.mark.parametrize(
    "fields",
    [{**SIGNALLED, "signal": 9}, {"exit_code": 137}, {**SIGNALLED, "signal": 15}],
)
@pytest.mark.parametrize("symptom", list(Symptom))
def test_a_bare_kill_says_nothing_about_any_symptom(
    symptom: Symptom, fields: dict[str, Any]
) -> None:
    found = seen(bug(symptom), ran("buggy", 1, "loss: nan\n", **fields))
    assert (found.shown, found.reason, found.is_host) == (None, Reason.HOST, True)


@pytest.mark.parametrize(
    "fields",
    [{**SIGNALLED, "signal": 9}, {"exit_code": 137}, {**SIGNALLED, "signal": 15},
     {"exit_code": 143}, {**SIGNALLED, "signal": 1}, {**SIGNALLED, "signal": 2}],
)  # fmt: skip
def test_a_kill_that_happens_again_is_the_programs_own(fields: dict[str, Any]) -> None:
    again = replace(ran("buggy", 1, "loss: nan\n", attempt=2, **fields), killed=2)
    found = seen(bug(), again)
    assert (found.shown, found.is_host) == (True, False)
    assert found.signature.startswith("SIG")
    elsewhere = seen(bug(Symptom.NAN), again)
    assert not elsewhere.is_host
    once = replace(again, killed=1)  # the attempt before was lost with its worker
    assert (seen(bug(), once).shown, seen(bug(), once).is_host) == (None, True)


@pytest.mark.parametrize(
    ("run", "shown"),
    [
        (cut("fixed", 1, "epoch 1\nepoch 2\n", duration_s=10), False),
        (cut("fixed", 1, "epoch 1\nepoch 2\n", duration_s=1.5), None),  # not twice as long
        (cut("fixed", 1, "epoch", duration_s=10), None),  # wrote less than came before the crash
    ],
)
def test_a_fixed_run_that_was_cut_must_be_past_the_point_of_the_crash(
    run: Evidence, shown: object
) -> None:
    found = seen(bug(), run, crashed("buggy", 1, duration_s=1), crashed("buggy", 2, duration_s=1))
    assert found.shown is shown


def test_a_main_thread_that_died_while_others_kept_the_program_alive() -> None:
    died = cut("buggy", 1, "epoch 1\n")
    died = replace(died, stderr=traceback("ValueError: bad"))
    assert seen(bug(exception="ValueError"), died).shown is True
    assert seen(bug(), died).reason is Reason.TIMEOUT  # it may have been caught
    same = crashed("fixed", 1, "ValueError: bad")
    assert seen(bug(), died, same).shown is None  # not past it
    told_to_end = replace(died, stderr=traceback("KeyboardInterrupt"))
    assert seen(bug(exception="KeyboardInterrupt"), told_to_end).shown is None
    went_on = replace(died, stderr=traceback("ValueError: bad") + "INFO: step\n" * 9)
    assert seen(bug(exception="ValueError"), went_on).shown is None


def test_without_output_before_the_crash_only_five_times_as_long_is_past_it() -> None:
    silent = ran("buggy", 1, "", crashed("buggy", 1).stderr, exit_code=1, duration_s=1)
    assert seen(bug(), cut("fixed", 1, "", duration_s=4), silent).shown is None
    assert seen(bug(), cut("fixed", 1, "", duration_s=6), silent).shown is False
    assert seen(bug(), cut("fixed", 1, "x", duration_s=6)).shown is None  # past what?


# NaN


@pytest.mark.parametrize(
    "line",
    [
        "loss: nan",
        "Epoch 2/5 - 3s - loss: nan - acc: 0.1",
        "step 3 loss=nan",
        "step 100, training loss nan",
        "val_loss: inf",
        "'loss': nan, 'acc': 0.5",
        "loss: tensor(nan, grad_fn=<NllLossBackward0>)",
        "[nan nan nan]",
        "[[0.5 nan 0.25]]",
        "tensor([nan, 1.0000])",
        "nan",
        "1 0.693 nan",
        "Loss is NaN, stopping training",
        "grad_norm -nan",
        "W: nan",
        "x = nan",
        "step 10: nan",
        "Minibatch at step 0: nan",
        "D: 0.7 G: nan",
        "w1=nan, b1=nan",
        "best loss: 0.3, loss: nan",
        "nan 0.5 nan",
        "step 5 loss nan acc 0.1",
        "tensor(nan, grad_fn=<NllLossBackward0>)",
        "tensor(nan, device='cuda:0')",
        "[nan, nan,",
        "(nan, 0.1)",
        "[nan ... 0.5]",
        "loss: nan -> nan",
        "weights: inf",
        "weight_1: nan",
    ],
)
def test_a_nan_where_a_number_is_expected(line: str) -> None:
    run = ran("buggy", 1, f"epoch 1\r{line}\n")
    assert seen(bug(Symptom.NAN), run).shown is True


@pytest.mark.parametrize(
    "line",
    [
        "INFO: inference of finance nannies took 3 s",
        "val_loss improved from inf to 0.69, saving model",
        "best_loss: inf",
        "XGBClassifier(max_depth=3, missing=nan, n_jobs=1)",
        "GridSearchCV(cv=5, error_score=nan)",
        "0  1.0  NaN  red",
        "dropped 3 rows with NaN",
        "loss information: 0.5",
        "loss: 0.25 nanoseconds: 3",
        "has nan: False",
        "missing_values: nan",
        "fill_value=nan",
        "Imputer(axis=0, strategy='mean', copy=nan)",
        "{'age': nan, 'name': 'x'}",
        "age: NaN",
        "nan: 3",
        "n_nan: nanmean",
        "best loss: inf",
        "Best validation loss: inf -> 0.43",
        "Minimum loss: inf",
        "best score: -inf",
        "previous loss: inf",
        "Starting with loss = inf",
        "clip norm = inf",
        "loss nan check: passed",
        "nan count: 0",
        "EarlyStopping score: -inf --> 0.3",
        "Validation loss decreased: val_loss (inf --> 0.31). Saving model",
        "loss inf -> 0.3",
        "loss: inf => 0.3",
        "weight_decay inf",
        "weight_decay: inf",
        "[nan handling] 3 rows",
        "(nan values are dropped)",
        "grad_clip = inf",
    ],
)
def test_other_words_are_no_nan(line: str) -> None:
    run = ran("buggy", 1, f"epoch 1\n{line}\nloss: 0.5\n")
    assert seen(bug(Symptom.NAN), run).shown is False


@pytest.mark.parametrize(
    "error",
    [
        "tensorflow.python.training.NanLossDuringTrainingError: NaN loss during training.",
        "RuntimeError: Function 'LogBackward0' returned nan values in its 0th output.",
        "InvalidArgumentError: Nan in summary histogram for: W1",
        "InvalidArgumentError: x : Tensor had NaN values",
        "ValueError: Input X contains NaN.",
    ],
)
def test_an_error_about_nan_shows_it_and_another_error_says_nothing(error: str) -> None:
    assert seen(bug(Symptom.NAN), crashed("buggy", 1, error)).shown is True
    found = seen(bug(Symptom.NAN), crashed("buggy", 1, "ValueError: bad"))
    assert (found.shown, found.reason) == (None, Reason.ARTIFACT_DEFECT)


def test_the_pattern_says_which_numbers_are_looked_at() -> None:
    of = bug(Symptom.NAN, pattern=r"loss (\S+)")
    assert seen(of, good("buggy", 1, "loss 1.0\nloss nan,\nother 3\n")).shown is True
    assert seen(of, good("buggy", 1, "loss 1.0\naccuracy nan\n")).shown is False
    nothing = seen(of, good("buggy", 1, "accuracy nan\n"))
    assert (nothing.shown, nothing.reason) == (None, Reason.ARTIFACT_DEFECT)
    assert "no work done" in nothing.detail


def test_a_stale_file_shows_no_nan() -> None:
    of = bug(Symptom.NAN, pattern=r"(\S+)", file="loss.txt")
    fresh = good("buggy", 1, outputs={"loss.txt": "nan"}, files={"loss.txt": "fresh"})
    stale = good("buggy", 1, outputs={"loss.txt": "nan"}, files={"loss.txt": "stale"})
    assert seen(of, fresh).shown is True
    assert seen(of, stale).shown is None


def test_a_cut_run_is_past_the_nan_if_it_printed_more_numbers_than_came_before_it() -> None:
    of = bug(Symptom.NAN, pattern=r"loss (\S+)")
    other = good("buggy", 1, "loss 1\nloss 2\nloss nan\n")
    assert seen(of, cut("fixed", 1, "loss 1\nloss 2\nloss 3\n"), other).shown is False
    assert seen(of, cut("fixed", 1, "loss 1\n"), other).shown is None


# Hang


@pytest.mark.parametrize(
    ("duration", "last_output", "fixed_takes", "shown"),
    [
        (100, 10, 2, True),  # 90 s of silence
        (100, 45, 2, None),  # 55 s: less than a minute
        (59, 0, 2, None),  # cut too early to say
        (100, 10, 19, None),  # five times 19 s have not passed
        (100, 1, 19, True),
    ],
)
def test_a_hang_is_a_minute_of_silence_and_five_times_what_the_other_side_takes(
    duration: float, last_output: float, fixed_takes: float, shown: object
) -> None:
    run = cut("buggy", 1, "batch 1\n", duration_s=duration, last_output_s=last_output)
    others = [good("fixed", seed, duration_s=fixed_takes) for seed in (1, 2, 3)]
    found = seen(bug(Symptom.HANG), run, *others)
    assert found.shown is shown
    assert seen(bug(Symptom.HANG), *swapped([run, *others])).shown is shown
    if shown is None:
        assert found.reason is Reason.TIMEOUT
        assert "limits.seconds" in found.detail


def test_a_quick_program_may_declare_a_shorter_silence_but_not_less_than_five_times() -> None:
    of = bug(Symptom.HANG, hang_seconds=2.0)
    run = cut("buggy", 1, duration_s=4)
    assert seen(of, run, good("fixed", 1, duration_s=0.5)).shown is True
    assert seen(of, run, good("fixed", 1, duration_s=1.0)).shown is None


def test_what_ends_does_not_hang_and_what_still_writes_is_past_it() -> None:
    of = bug(Symptom.HANG)
    assert seen(of, good("fixed", 1, duration_s=500)).shown is False
    assert seen(of, crashed("fixed", 1)).shown is None
    hung = cut("buggy", 1, "b 1\n", last_output_s=5)
    assert seen(of, cut("fixed", 1, "b 1\nb 2\n", last_output_s=599), hung).shown is False
    assert seen(of, cut("fixed", 1, "b 1\n", last_output_s=599), hung).shown is None


# Out of memory


@pytest.mark.parametrize(
    "run",
    [
        ran("buggy", 1, outcome=Outcome.OUT_OF_MEMORY, exit_code=None, signal=9),
        ran("buggy", 1, **SIGNALLED, signal=9, memory_kills=1),
        ran("buggy", 1, memory_kills=1),
        crashed("buggy", 1, "MemoryError"),
        crashed("buggy", 1, "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 9 GiB"),
        crashed("buggy", 1, "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB"),
        crashed("buggy", 1, "torch.cuda.OutOfMemoryError: x"),
        crashed("buggy", 1, "tf.errors_impl.ResourceExhaustedError: OOM when allocating tensor"),
        crashed("buggy", 1, "OSError: [Errno 12] Cannot allocate memory"),
        ran(
            "buggy", 1, "",
            "terminate called after throwing an instance of 'std::bad_alloc'\n"
            "  what():  std::bad_alloc\n",
            **SIGNALLED, signal=6,
        ),
    ],
)  # fmt: skip
def test_memory_ran_out_if_the_kernel_or_the_framework_says_so(run: Evidence) -> None:
    assert seen(bug(Symptom.OUT_OF_MEMORY), run).shown is True


@pytest.mark.parametrize(
    ("run", "shown"),
    [
        (good("fixed", 1, "W bfc_allocator: ran out of memory trying to allocate 2GiB\n"), False),
        (crashed("fixed", 1, "ValueError: bad"), None),
        (cut("fixed", 1, "x"), None),
    ],
)
def test_a_warning_or_another_error_is_no_want_of_memory(run: Evidence, shown: object) -> None:
    assert seen(bug(Symptom.OUT_OF_MEMORY), run).shown is shown


# Incorrect output


@pytest.mark.parametrize(
    ("oracle", "stdout", "shown"),
    [
        ({"expected": 0.25, "tolerance": 0.01}, "x: 0.251\n", False),
        ({"expected": 0.25, "tolerance": 0.01}, "x: 0.27\n", True),
        ({"expected": 0.25}, "x: 0.5\nx: 0.25\n", False),  # the last one counts
        ({"expected": 0.25}, "x: nan\n", True),
        ({"at_least": 0.9}, "x: 0.95\n", False),
        ({"at_least": 0.9}, "x: 0.85\n", True),
        ({"at_most": 0.1}, "x: inf\n", True),
        ({"at_least": 0.0, "at_most": 0.1}, "x: 5%\n", True),
        ({"expected": "cat"}, "x: cat\n", False),
        ({"expected": "cat"}, "x: dog\n", True),
        ({"expected": 0.25}, "x: abc\n", None),
        ({"expected": 0.25}, "y: 1\n", None),
        ({"expected": 0.25}, "", None),
        ({}, "x: 1\n", None),
    ],
)
def test_output_is_wrong_by_what_the_oracle_says(
    oracle: dict[str, Any], stdout: str, shown: object
) -> None:
    of = bug(Symptom.INCORRECT_OUTPUT, pattern=r"x: (\S+)", **oracle)
    assert seen(of, good("buggy", 1, stdout)).shown is shown


def test_a_program_that_failed_was_cut_or_left_an_old_file_has_said_nothing() -> None:
    of = bug(Symptom.INCORRECT_OUTPUT, pattern=r"x: (\S+)", expected=1, file="r.txt")
    given: dict[str, Any] = {"outputs": {"r.txt": "x: 2"}, "files": {"r.txt": "fresh"}}
    assert seen(of, good("buggy", 1, **given)).shown is True
    for run in (
        crashed("buggy", 1, **given),
        cut("buggy", 1, **given),
        good("buggy", 1, outputs={"r.txt": "x: 2"}, files={"r.txt": "stale"}),
        good("buggy", 1, files={"r.txt": "missing"}),
    ):
        assert seen(of, run).shown is None


@pytest.mark.parametrize(
    ("code", "wrote", "shown"),
    [
        (0, "", False),
        (1, "3 of 60 labels differ\n", True),
        (1, "Traceback (most recent call last):\nAssertionError: 3 differ\n", True),
        (1, "Traceback (most recent call last):\nKeyError: 'loss'\n", None),
        (2, "", None),
        (None, "", None),
    ],
)
def test_the_check_says_wrong_by_one_right_by_zero_and_nothing_by_a_failure_of_its_own(
    code: int | None, wrote: str, shown: object
) -> None:
    of = bug(Symptom.INCORRECT_OUTPUT, check=("python", "check.py"))
    assert seen(of, good("buggy", 1, checked=code, check_wrote=wrote)).shown is shown
    assert seen(of, crashed("buggy", 1, checked=code, check_wrote=wrote)).shown is None


# Bad performance


@pytest.mark.parametrize(
    ("oracle", "run", "value"),
    [
        ({"pattern": r"acc: (\S+)"}, good("buggy", 1, "acc: 0.1\nacc: 0.75,\n"), 0.75),
        ({"pattern": r"acc: (\S+)"}, good("buggy", 1, "loss: 1\n"), None),
        ({"pattern": r"acc: (\S+)"}, crashed("buggy", 1), None),
        ({"measure": "duration"}, good("buggy", 1, duration_s=7.5), 7.5),
        ({"measure": "duration"}, cut("buggy", 1, duration_s=60), math.inf),  # nobody knows
        ({"measure": "peak memory"}, good("buggy", 1, peak_memory_mb=80), 80),
        ({"measure": "peak memory"}, cut("buggy", 1, peak_memory_mb=80), None),
        (  # all that it was given, and nobody knows how much more
            {"measure": "peak memory"},
            cut("buggy", 1, outcome=Outcome.OUT_OF_MEMORY, peak_memory_mb=4096),
            math.inf,
        ),
    ],
)
def test_a_run_is_measured(oracle: dict[str, str], run: Evidence, value: float | None) -> None:
    found = seen(bug(Symptom.BAD_PERFORMANCE, **oracle), run)
    assert (found.shown, found.value) == (None, value)


# Work


@pytest.mark.parametrize("symptom", [Symptom.CRASH, Symptom.HANG, Symptom.OUT_OF_MEMORY])
def test_a_fix_that_does_nothing_removes_nothing(symptom: Symptom) -> None:
    of = bug(symptom)
    buggy = crashed("buggy", 1, "MemoryError", cpu_s=0.4)
    for idle in (
        ran("fixed", 1, cpu_s=0.03),
        ran("fixed", 1, "hello\n", source_bytes=0),
        ran("fixed", 1, "hello\n", files={"model.npy": "missing"}),
        ran("fixed", 1, "hello\n", files={"model.npy": "stale"}),
    ):
        found = seen(of, idle, buggy)
        assert (found.shown, found.reason) == (None, Reason.ARTIFACT_DEFECT)
    assert seen(of, ran("fixed", 1, cpu_s=0.4), buggy).shown is False
    quick = crashed("buggy", 1, "MemoryError", cpu_s=0.06)  # a traceback costs more than the rest
    assert seen(of, ran("fixed", 1, cpu_s=0.02), quick).shown is False
    assert seen(of, ran("fixed", 1, cpu_s=0.03, files={"m": "fresh"}), buggy).shown is False


def test_a_quiet_fix_of_a_program_that_hung_busily_did_its_work() -> None:
    hung = cut("buggy", 1, "", cpu_s=600)
    assert seen(bug(Symptom.HANG), ran("fixed", 1, cpu_s=0.05), hung).shown is False


def test_two_programs_that_do_nothing_visible_did_nothing() -> None:
    assert seen(bug(), ran("buggy", 1, cpu_s=0.1), ran("fixed", 1, cpu_s=0.1)).shown is None
    assert seen(bug(), ran("buggy", 1, cpu_s=60), ran("fixed", 1, cpu_s=60)).shown is False


# Patterns of strangers


def test_a_pattern_finds_the_first_group_in_each_text_or_all_of_it() -> None:
    assert find_all(r"loss=(\S+)", ["loss=1 loss=2\nloss=nan", "", "x"]) == [
        ("1", "2", "nan"),
        (),
        (),
    ]
    assert find_all(r"^ab?$", ["a\nab\nabc"]) == [("a", "ab")]
    with pytest.raises(PatternError, match="missing"):
        find_all("(", ["x"])


def test_a_pattern_that_never_ends_is_stopped_and_is_the_artifact_s_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matching, "SECONDS", 0.1)
    of = bug(Symptom.NAN, pattern="(a+)+$")
    found = seen(of, good("buggy", 1, "a" * 60 + "b\n"))
    assert (found.shown, found.reason) == (None, Reason.ARTIFACT_DEFECT)
    assert "too long" in found.detail


def test_a_pattern_that_keeps_the_whole_text_at_every_place_needs_little_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matching, "MEMORY", 64 << 20)  # all matches whole would be 100 MB
    text = "".join(f"{number:07}\n" for number in range(1_800))
    (found,) = find_all(r"(?=([\s\S]*))", [text])
    assert found[-1] == ""
    assert found[-3] == "9\n"
    assert max(map(len, found)) == matching.LONGEST_MATCH
    assert len("".join(found)) <= 1 << 20


def test_a_pattern_that_needs_much_memory_is_stopped_and_is_the_artifact_s_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matching, "MEMORY", 40 << 20)
    of = bug(Symptom.NAN, pattern=r"((?:ab|ba)*)c")
    found = seen(of, good("buggy", 1, "ab" * 500_000))
    assert (found.shown, found.reason) == (None, Reason.ARTIFACT_DEFECT)
    assert "too much memory" in found.detail


def test_a_group_that_takes_no_part_in_a_match_found_nothing() -> None:
    assert find_all(r"x(?:=(\d))?", ["x=1 x"]) == [("1", "")]


def test_progress_bars_and_colours_do_not_hide_a_number() -> None:
    of = bug(Symptom.BAD_PERFORMANCE, pattern=r"loss: (\S+)")
    text = "1/3 loss: 0.9\b\b\b\b2/3 loss: 0.8\r3/3 loss: \x1b[32m0.7\x1b[0m\r\n"
    assert seen(of, good("buggy", 1, text)).value == 0.7


def test_long_logs_are_read_quickly() -> None:
    def read(log: str) -> None:
        runs = [good("buggy", 1, log), crashed("fixed", 1)]
        for symptom in Symptom:
            observe(bug(symptom), runs)
            seen(bug(symptom), *runs)

    grows_like_its_text(read, "", "step 7 loss: 0.7 - 12ms/step [====>....]\n", 500_000)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12.5s", 12.5), ("250ms", 250), ("93.5%", 93.5), ("1e-3x", 0.001), ("1,234.5", 1234.5),
        ("12,345,678", 12_345_678), ("1,2", 1), ("-.5", -0.5), ("1_000", 1000), ("none", None),
        ("information", None), ("-inf", -math.inf), ("Conan 3.0", 3.0), ("a_nan_1", 1),
        ("x=+inf,", math.inf),
    ],
)  # fmt: skip
def test_a_number_may_have_a_unit_or_commas(text: str, number: float | None) -> None:
    assert number_in(text) == number
