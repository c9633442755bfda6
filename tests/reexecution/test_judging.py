"""From runs to verdicts: every verdict with every reason that it can have."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from judged_runs import bug, crashed, cut, good, ran, swapped, told, traceback, verdict

from faultatlas.analysis.reexecution.bugs import Bug, Commands, Labels, Symptom
from faultatlas.analysis.reexecution.judging import judge
from faultatlas.analysis.reexecution.runs import Evidence, Outcome

VERIFIED = ("verified", "", 0)
NOT_TRIGGERED = ("not reproduced", "not triggered", 0)
REVERSED = ("not reproduced", "reversed", 0)
FIX_NOT_SHOWN = ("reproduced", "fix not shown", 0)
FLAKY = ("flaky", "disagreement", 0)
DEFECT = ("invalid", "artifact defect", 0)
NO_MODULE = "ModuleNotFoundError: No module named 'keras'"
NO_FILE = "FileNotFoundError: [Errno 2] No such file or directory: 'train.csv'"
SYNTAX = '  File "train.py", line 7\n    print "x"\n            ^\nSyntaxError: invalid syntax\n'

Made = Callable[[str, int], Evidence]


def runs(
    buggy: int = 3,
    fixed: int = 3,
    *,
    of: int = 3,
    shows: Made = crashed,
    clear: Made = good,
) -> list[Evidence]:
    """So many runs of each side show the symptom, of so many."""
    return [
        (shows if seed <= count else clear)(side, seed)
        for side, count in (("buggy", buggy), ("fixed", fixed))
        for seed in range(1, of + 1)
    ]


def side(name: str, made: Made, of: int = 3) -> list[Evidence]:
    return [made(name, seed) for seed in range(1, of + 1)]


def failing(error: str, **fields: Any) -> Made:
    return lambda side, seed: crashed(side, seed, error, **fields)


# Three runs a side


@pytest.mark.parametrize(
    ("buggy", "fixed", "expected"),
    [
        (3, 0, VERIFIED),
        (0, 0, NOT_TRIGGERED),
        (0, 3, REVERSED),
        (3, 3, DEFECT),
        (2, 0, ("flaky", "disagreement", 10)),
        (3, 1, ("flaky", "disagreement", 10)),
        (0, 1, ("flaky", "disagreement", 10)),
    ],
)
def test_three_runs_a_side_settle_it_unless_they_disagree(
    buggy: int, fixed: int, expected: tuple[str, str, int]
) -> None:
    assert verdict(bug(), runs(buggy, fixed)) == expected


@pytest.mark.parametrize(
    ("buggy", "fixed", "expected"),
    [
        (10, 0, VERIFIED),
        (6, 0, VERIFIED),  # p = 0.0054
        (5, 0, FLAKY),  # p = 0.016
        (10, 4, VERIFIED),  # p = 0.0054
        (10, 5, FLAKY),
        (0, 6, REVERSED),
        (1, 9, REVERSED),
        (5, 5, FLAKY),
        (0, 0, NOT_TRIGGERED),
        (10, 10, DEFECT),
    ],
)
def test_ten_runs_a_side_are_tested_at_one_percent(
    buggy: int, fixed: int, expected: tuple[str, str, int]
) -> None:
    assert verdict(bug(), runs(buggy, fixed, of=10)) == expected


def test_the_judgement_carries_its_evidence() -> None:
    found = judge(bug(), runs(3, 0))
    assert (found.rule, found.p_value) == ("all and none", 0.05)
    assert (found.buggy_runs, found.buggy_shown, found.fixed_runs, found.fixed_shown) == (
        3,
        3,
        3,
        0,
    )
    assert found.signature == "ValueError: shapes (#,#) and (#,#) not aligned in train.py, fit"
    assert "3 of 3 buggy runs show it, 0 of 3 fixed ones (Fisher p = 0.05)" in found.detail
    assert "shapes (3,4) and (5,6) not aligned" in found.detail
    assert [each["shown"] for each in found.evidence["buggy"]] == [True] * 3
    assert json.loads(json.dumps(found.evidence, allow_nan=False)) == found.evidence


def test_more_seeds_may_be_asked_for_and_fewer_than_three_are_three() -> None:
    assert verdict(bug(), runs(3, 0), seeds=5) == ("infrastructure", "host", 5)
    assert verdict(bug(), runs(5, 0, of=5), seeds=5) == VERIFIED
    assert verdict(bug(), runs(1, 0, of=1), seeds=1) == ("infrastructure", "host", 3)
    assert verdict(bug(), runs(11, 9, of=20), seeds=20) == FLAKY


# What the fixed side may do besides


@pytest.mark.parametrize(
    "fixed",
    [
        failing("TypeError: unsupported operand"),
        failing(NO_FILE),
        failing(NO_MODULE),
        lambda side, seed: crashed(side, seed, function="evaluate"),
        lambda side, seed: cut(side, seed, "epoch"),
        lambda side, seed: ran(side, seed, cpu_s=0.01),  # silent, and done in no time
    ],
)
def test_a_fix_that_cannot_be_shown_leaves_it_reproduced(fixed: Made) -> None:
    found = judge(bug(), [*side("buggy", crashed), *side("fixed", fixed)])
    assert (*told(found), found.wanted) == FIX_NOT_SHOWN
    assert "the fixed side" in found.detail


@pytest.mark.parametrize(
    "fixed",
    [
        lambda side, seed: good(side, seed, source_bytes=0),
        lambda side, seed: good(side, seed, files={"model.npy": "missing"}),
        lambda side, seed: good(side, seed, files={"model.npy": "stale"}),
    ],
)
def test_an_empty_fix_is_invalid(fixed: Made) -> None:
    evidence = [*side("buggy", crashed), *side("fixed", fixed)]
    assert verdict(bug(), evidence) == DEFECT
    assert verdict(bug(), swapped(evidence)) == DEFECT


def test_without_a_fixed_side_it_is_reproduced_at_best() -> None:
    alone = bug(sides="buggy")
    assert verdict(alone, side("buggy", crashed)) == FIX_NOT_SHOWN
    assert verdict(alone, side("buggy", good)) == NOT_TRIGGERED
    mixed = [crashed("buggy", 1), crashed("buggy", 2), good("buggy", 3)]
    assert verdict(alone, mixed) == FLAKY  # further runs would not make it every run
    assert verdict(alone, [*mixed[:2], cut("buggy", 3)]) == ("flaky", "disagreement", 10)


def test_a_fixed_run_that_was_cut_past_the_crash_shows_the_fix() -> None:
    past = side("fixed", lambda side, seed: cut(side, seed, "epoch 1\nepoch 2\n"))
    assert verdict(bug(), [*side("buggy", crashed), *past]) == VERIFIED
    assert verdict(bug(), swapped([*side("buggy", crashed), *past])) == REVERSED


def test_a_fix_that_fails_half_of_the_time_in_another_way_is_not_shown() -> None:
    fixed = [
        (good if seed <= 5 else failing("TypeError: other"))("fixed", seed) for seed in range(1, 11)
    ]
    evidence = [*side("buggy", crashed, 10), *fixed]
    assert verdict(bug(), evidence) == FIX_NOT_SHOWN
    assert verdict(bug(), swapped(evidence)) not in {VERIFIED, REVERSED, NOT_TRIGGERED}


# Runs that were cut before they could show anything


def early(side: str, seed: int) -> Evidence:
    return cut(side, seed, "", duration_s=0.5, last_output_s=0.4)


def mixed(name: str, *parts: tuple[Made, int]) -> list[Evidence]:
    """So many runs of each kind, one after the other."""
    kinds = [made for made, times in parts for _ in range(times)]
    return [made(name, seed) for seed, made in enumerate(kinds, 1)]


@pytest.mark.parametrize(
    ("buggy", "fixed", "expected", "words"),
    [
        # as four of ten without a cut: p = 0.043
        (
            [(crashed, 4), (early, 6)], [(good, 10)], FLAKY,
            "4 of 10 buggy runs show it (6 were cut), 0 of 10 fixed ones",
        ),
        ([(crashed, 6), (early, 4)], [(good, 10)], VERIFIED, "6 of 10 buggy runs show it (4 were"),
        (
            [(crashed, 10)], [(good, 3), (early, 7)], FIX_NOT_SHOWN,
            "10 of 10 buggy runs show it",
        ),
        ([(crashed, 10)], [(good, 9), (early, 1)], VERIFIED, "0 of 10 fixed ones (1 was cut)"),
        ([(crashed, 3), (early, 7)], [(early, 10)], FLAKY, "3 of 10 buggy runs show it (7 were"),
        ([(crashed, 2), (early, 8)], [(early, 10)], ("invalid", "timeout", 0), "cut after"),
        # nor do they say that it does not happen
        ([(good, 3), (early, 7)], [(good, 10)], ("invalid", "timeout", 0), "3 of 10 buggy runs"),
        ([(good, 10)], [(good, 3), (early, 7)], ("invalid", "timeout", 0), "3 of 10 fixed runs"),
    ],
)  # fmt: skip
def test_runs_that_were_cut_count_against_the_claim(
    buggy: list[tuple[Made, int]],
    fixed: list[tuple[Made, int]],
    expected: tuple[str, str, int],
    words: str,
) -> None:
    found = judge(bug(), [*mixed("buggy", *buggy), *mixed("fixed", *fixed)])
    assert (*told(found), found.wanted) == expected
    assert words in found.detail
    if found.buggy_runs:
        assert found.buggy_runs == 10  # all that happened count


def test_a_program_that_is_sometimes_silent_and_sometimes_only_slow_is_not_called_hung() -> None:
    hung = lambda side, seed: cut(side, seed, "b 1\n", last_output_s=3)  # noqa: E731
    slow = lambda side, seed: cut(side, seed, "b 1\nb 2\n", last_output_s=599)  # noqa: E731
    evidence = [*mixed("buggy", (hung, 4), (slow, 6)), *side("fixed", good, 10)]
    assert verdict(bug(Symptom.HANG), evidence) == FLAKY


def test_a_crash_of_another_kind_on_the_fixed_side_needs_every_buggy_run_too() -> None:
    other = failing("KeyError: 'b'", function="load")
    evidence = [*mixed("buggy", (crashed, 3), (early, 7)), *mixed("fixed", (other, 3), (early, 7))]
    assert verdict(bug(), evidence) == FLAKY


@pytest.mark.parametrize("last", [failing(NO_FILE), early, good])
def test_a_fixed_run_that_cannot_say_does_not_hide_those_that_show_it(last: Made) -> None:
    fixed = mixed("fixed", (crashed, 5), (good, 4), (last, 1))
    assert verdict(bug(), [*side("buggy", crashed, 10), *fixed]) == FLAKY


def test_runs_that_disagree_are_extended_though_the_fixed_side_was_cut() -> None:
    evidence = [*mixed("buggy", (crashed, 2), (good, 1)), *side("fixed", early)]
    found = judge(bug(), evidence)
    assert (*told(found), found.wanted) == ("flaky", "disagreement", 10)
    assert "2 of 3 buggy runs show it, 0 of 3 fixed ones (3 were cut)" in found.detail
    ten = [*mixed("buggy", (crashed, 7), (good, 3)), *side("fixed", early, 10)]
    assert verdict(bug(), ten) == FLAKY


# Invalid


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("ValueError: bad", "artifact defect"),
        (NO_MODULE, "missing dependency"),
        ("ImportError: cannot import name 'merge' from 'keras.layers'", "missing dependency"),
        (NO_FILE, "missing data"),
        ("urllib.error.URLError: <urlopen error>", "missing data"),
        ("tensorflow.python.framework.errors_impl.NotFoundError: push/push_train", "missing data"),
        ("errors_impl.NotFoundError: Key w/b not found in checkpoint", "artifact defect"),
    ],
)
def test_the_same_failure_on_both_sides_is_invalid(error: str, expected: str) -> None:
    evidence = [*side("buggy", failing(error)), *side("fixed", failing(error))]
    found = judge(bug(), evidence)
    assert (*told(found), found.wanted) == ("invalid", expected, 0)
    assert error.split(":", maxsplit=1)[0].rpartition(".")[2] in found.detail


def test_another_syntax_on_both_sides_is_another_interpreter_and_on_one_side_a_crash() -> None:
    wrong = runs(3, 3, shows=lambda side, seed: ran(side, seed, "", SYNTAX, exit_code=1))
    assert verdict(bug(), wrong) == ("invalid", "interpreter", 0)
    assert verdict(bug(), [*wrong[:3], *side("fixed", good)]) == VERIFIED


@pytest.mark.parametrize(
    ("buggy", "fixed", "reason"),
    [
        ("SyntaxError: Missing: print(a)?", "SyntaxError: Missing: print(b)?", "interpreter"),
        ("SyntaxError: invalid syntax", "TabError: inconsistent use of tabs", "interpreter"),
        (
            "ImportError: cannot import name 'a' from 'keras'",
            "ImportError: cannot import name 'b' from 'keras'",
            "missing dependency",
        ),
    ],
)
def test_another_syntax_or_api_is_a_crash_only_where_the_other_side_works(
    buggy: str, fixed: str, reason: str
) -> None:
    shown = side("buggy", failing(buggy))
    invalid = ("invalid", reason, 0)
    assert verdict(bug(), [*shown, *side("fixed", failing(fixed))]) == invalid
    assert verdict(bug(sides="buggy"), shown) == invalid
    assert verdict(bug(), [*shown, *side("fixed", failing("TypeError: bad"))]) == invalid
    assert verdict(bug(), [*shown, *side("fixed", good)]) == VERIFIED
    named = bug(sides="buggy", exception=buggy.split(":", maxsplit=1)[0])
    assert verdict(named, shown) == FIX_NOT_SHOWN


@pytest.mark.parametrize("error", [NO_MODULE, NO_FILE])
def test_what_is_missing_on_the_buggy_side_is_invalid_unless_it_is_the_bug(error: str) -> None:
    evidence = [*side("buggy", failing(error)), *side("fixed", good)]
    assert verdict(bug(), evidence)[0] == "invalid"
    assert verdict(bug(exception=error.split(":", maxsplit=1)[0]), evidence) == VERIFIED
    both = [*side("buggy", failing(error)), *side("fixed", failing(error))]
    assert verdict(bug(exception=error.split(":", maxsplit=1)[0]), both)[0] == "invalid"


def test_one_run_a_side_is_enough_where_a_package_is_missing() -> None:
    first = [crashed("buggy", 1, NO_MODULE), crashed("fixed", 1, NO_MODULE)]
    assert verdict(bug(), first) == ("invalid", "missing dependency", 0)
    assert verdict(bug(), first[:1]) == ("infrastructure", "host", 3)


def test_another_crash_than_the_declared_one_is_a_defect_of_the_artifact() -> None:
    evidence = [*side("buggy", failing("TypeError: other")), *side("fixed", good)]
    found = judge(bug(exception="ValueError"), evidence)
    assert (*told(found), found.wanted) == DEFECT
    assert "fails with TypeError: other in train.py, fit, not with ValueError" in found.detail


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome.NO_ENVIRONMENT, ("invalid", "missing dependency", 0)),
        (Outcome.NO_DATA, ("invalid", "missing data", 0)),
        (Outcome.BAD_ARTIFACT, ("invalid", "artifact defect", 0)),
        (Outcome.NO_INTERPRETER, ("infrastructure", "interpreter", 0)),
        (Outcome.NOT_STARTED, ("infrastructure", "host", 3)),
        (Outcome.LOST, ("infrastructure", "host", 3)),
        (Outcome.TIMED_OUT, ("invalid", "timeout", 0)),
        (Outcome.OUT_OF_MEMORY, ("invalid", "artifact defect", 0)),
        (Outcome.DISK_FULL, ("invalid", "artifact defect", 0)),
        (Outcome.TOO_MANY_PROCESSES, ("invalid", "artifact defect", 0)),
        (Outcome.OUTPUT_LIMIT, ("invalid", "artifact defect", 0)),
    ],
)
def test_runs_that_did_not_happen_or_were_cut_say_nothing(
    outcome: Outcome, expected: tuple[str, str, int]
) -> None:
    def made(side: str, seed: int) -> Evidence:
        return ran(side, seed, outcome=outcome, exit_code=None, problem="pip says: no match")

    evidence = runs(3, 3, shows=made)
    found = judge(bug(), evidence)
    assert (*told(found), found.wanted) == expected
    if outcome in {Outcome.NO_ENVIRONMENT, Outcome.NOT_STARTED}:
        assert "pip says: no match" in found.detail
    if outcome in {Outcome.NO_ENVIRONMENT, Outcome.NO_DATA}:
        assert verdict(bug(), evidence[:1]) == expected  # one is enough


@pytest.mark.parametrize("symptom", [Symptom.CRASH, Symptom.HANG])
def test_programs_that_do_nothing_are_invalid(symptom: Symptom) -> None:
    idle = runs(3, 3, shows=lambda side, seed: ran(side, seed, cpu_s=0.02))
    found = judge(bug(symptom), idle)
    assert (*told(found), found.wanted) == DEFECT
    assert "no work done" in found.detail


def test_an_artifact_without_commands_is_invalid() -> None:
    made = bug()
    made.runs["fixed"] = Commands(())
    assert verdict(made, side("buggy", crashed)) == DEFECT
    assert verdict(bug(sides="fixed"), []) == DEFECT
    assert verdict(bug(Symptom.BAD_PERFORMANCE, sides="buggy", measure="duration"), []) == DEFECT


def test_outputs_that_were_there_before_are_no_work() -> None:
    def stale(side: str, seed: int) -> Evidence:
        return good(side, seed, files={"result.json": "stale"})

    found = judge(bug(), [*side("buggy", stale), *side("fixed", stale)])
    assert (*told(found), found.wanted) == DEFECT
    assert "result.json is stale" in found.detail
    wrong = bug(Symptom.INCORRECT_OUTPUT, pattern=r"x: (\S+)", expected=1, file="result.json")
    evidence = [*side("buggy", stale), *side("fixed", stale)]
    assert "result.json is stale" in judge(wrong, evidence).detail


# Infrastructure


def test_what_the_host_lost_is_left_out_when_there_is_enough_besides() -> None:
    lost = ran("buggy", 9, outcome=Outcome.LOST, exit_code=None, problem="worker died")
    killed = ran("fixed", 9, outcome=Outcome.SIGNALLED, exit_code=None, signal=9)
    assert verdict(bug(), [*runs(3, 0), lost, killed]) == VERIFIED
    few = [*runs(3, 0)[:-1], killed]
    assert verdict(bug(), few) == ("infrastructure", "host", 3)


def test_what_the_host_lost_might_have_decided() -> None:
    lost = [ran("fixed", seed, outcome=Outcome.LOST, exit_code=None) for seed in range(4, 11)]
    few = [*runs(7, 1, of=10)[:13], *lost]  # 7 of 10 buggy runs, 1 of 3 fixed ones
    assert verdict(bug(), few) == ("infrastructure", "host", 10)
    decided = [*runs(10, 0, of=10)[:13], *lost[:-1], crashed("buggy", 11), good("fixed", 11)]
    decided.append(cut("fixed", 12))
    assert verdict(bug(), decided) == VERIFIED


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome.NOT_STARTED, "host"),
        (Outcome.LOST, "host"),
        (Outcome.NO_INTERPRETER, "interpreter"),
        (Outcome.NO_ENVIRONMENT, "host"),
    ],
)
@pytest.mark.parametrize("sides", ["buggy", "fixed"])
def test_a_disagreement_that_the_host_keeps_from_being_settled_is_not_flaky(
    outcome: Outcome, reason: str, sides: str
) -> None:
    assert verdict(bug(), runs(2, 0)) == ("flaky", "disagreement", 10)
    refused = ran(sides, 4, outcome=outcome, exit_code=None, problem="no room on the disk")
    found = judge(bug(), [*runs(2, 0), refused])
    assert (*told(found), found.wanted) == ("infrastructure", reason, 10)
    assert "buggy runs show it" in found.detail
    assert found.detail.count("no room on the disk") == 1


def test_a_later_attempt_stands_for_an_earlier_one_that_the_host_lost() -> None:
    evidence = runs(3, 0)
    lost = ran("buggy", 1, outcome=Outcome.LOST, exit_code=None)
    again = replace(evidence[0], run=replace(evidence[0].run, attempt=2))
    assert verdict(bug(), [lost, again, *evidence[1:]]) == VERIFIED


def test_a_bug_about_a_gpu_is_not_judged_on_a_cpu_whatever_came_out() -> None:
    about = bug(labels=Labels(about_gpu=True))
    for evidence in (runs(3, 0), runs(0, 0), runs(3, 3)):
        assert verdict(about, evidence) == ("infrastructure", "device", 0)
    on_gpu = runs(
        3,
        0,
        shows=lambda side, seed: crashed(side, seed, on_gpu=True),
        clear=lambda side, seed: good(side, seed, on_gpu=True),
    )
    assert verdict(about, on_gpu) == VERIFIED
    assert verdict(about, [*on_gpu, *runs(0, 0)]) == VERIFIED


def test_of_a_bug_about_a_gpu_that_never_ran_nobody_says_that_it_did() -> None:
    about = bug(labels=Labels(about_gpu=True))
    lacking = ran("buggy", 1, outcome=Outcome.NO_INTERPRETER, problem="pip install 'torch>=1.12'")
    found = judge(about, [lacking])
    assert told(found) == ("infrastructure", "device")
    assert "ran on a CPU" not in found.detail
    assert "pip install 'torch>=1.12'" in found.detail


def test_nothing_yet_asks_for_the_first_runs() -> None:
    assert verdict(bug(), []) == ("infrastructure", "host", 3)
    assert verdict(bug(Symptom.BAD_PERFORMANCE, measure="duration"), []) == (
        "infrastructure",
        "host",
        5,
    )


def test_runs_of_other_bugs_or_of_other_contents_are_refused() -> None:
    evidence = runs(3, 0)
    other = replace(evidence[0], run=replace(evidence[0].run, bug_id="made/two"))
    with pytest.raises(ValueError, match="made/two"):
        judge(bug(), [other])
    other = replace(evidence[0], run=replace(evidence[0].run, content="beef", seed=7))
    with pytest.raises(ValueError, match="contents"):
        judge(bug(), [*evidence, other])


# Bad performance


def scored(buggy: list[float], fixed: list[float]) -> list[Evidence]:
    return [
        good(name, seed, f"accuracy: {value}\n")
        for name, values in (("buggy", buggy), ("fixed", fixed))
        for seed, value in enumerate(values, 1)
    ]


HIGHER = bug(Symptom.BAD_PERFORMANCE, pattern=r"accuracy: (\S+)")
LOWER = bug(Symptom.BAD_PERFORMANCE, pattern=r"accuracy: (\S+)", better="lower")
LOW, HIGH = [0.1, 0.2, 0.3, 0.4, 0.5], [0.6, 0.7, 0.8, 0.9, 1.0]


def test_five_seeds_a_side_apart_are_enough() -> None:
    found = judge(HIGHER, scored(LOW, HIGH))
    assert (*told(found), found.wanted) == VERIFIED
    assert (found.rule, found.effect) == ("mann-whitney", 1.0)
    assert found.p_value == pytest.approx(1 / 252)
    assert verdict(HIGHER, scored(HIGH, LOW)) == REVERSED
    assert verdict(LOWER, scored(HIGH, LOW)) == VERIFIED
    assert verdict(HIGHER, scored(LOW[:3], HIGH[:3])) == ("infrastructure", "host", 5)


def test_seeds_grow_from_five_to_ten_to_twenty_and_no_further() -> None:
    near = [0.1, 0.2, 0.3, 0.4, 0.9]
    assert verdict(HIGHER, scored(near, HIGH)) == ("flaky", "disagreement", 10)
    assert verdict(HIGHER, scored(near * 2, HIGH * 2)) == VERIFIED
    mixed = [0.1, 0.9, 0.2, 0.8, 0.3]
    assert verdict(HIGHER, scored(mixed, LOW)) == ("flaky", "disagreement", 10)
    assert verdict(HIGHER, scored(mixed * 2, LOW * 2)) == ("flaky", "disagreement", 20)
    assert verdict(HIGHER, scored(mixed * 4, LOW * 4)) == NOT_TRIGGERED


def test_what_differs_for_certain_but_little_is_not_called_either_way() -> None:
    fixed = [0.1 * each for each in range(20)]
    buggy = [each - 0.52 for each in fixed]
    found = judge(HIGHER, scored(buggy, fixed))
    assert found.p_value is not None
    assert found.p_value <= 0.01
    assert found.effect is not None
    assert found.effect < 0.8
    assert (*told(found), found.wanted) == FLAKY
    other = judge(HIGHER, scored(fixed, buggy))
    assert other.p_value == found.p_value  # of the direction in which they differ


def test_scores_that_never_change_need_no_further_seeds() -> None:
    assert verdict(HIGHER, scored([0.5] * 5, [0.5] * 5)) == NOT_TRIGGERED


def test_nan_is_the_worst_score_of_all() -> None:
    for of in (HIGHER, LOWER):
        assert verdict(of, scored([math.nan] * 5, HIGH)) == VERIFIED
        assert verdict(of, scored(HIGH, [math.nan] * 5)) == REVERSED
    assert verdict(HIGHER, scored([math.nan] * 5, [math.nan] * 5)) == NOT_TRIGGERED


def test_only_seeds_that_both_sides_have_are_compared() -> None:
    evidence = scored([*LOW, 5.0], [*HIGH, 5.0])
    missing = [*evidence[:5], crashed("buggy", 6), *evidence[6:]]
    found = judge(HIGHER, missing)
    assert (found.buggy_runs, found.fixed_runs, found.effect) == (5, 5, 1.0)


def test_a_side_that_cannot_be_measured_is_invalid() -> None:
    measured = scored(LOW, HIGH)
    broken = [crashed("fixed", seed, NO_FILE) for seed in range(1, 6)]
    assert verdict(HIGHER, [*measured[:5], *broken]) == ("invalid", "missing data", 0)
    silent = [good("buggy", seed, "done\n") for seed in range(1, 6)]
    assert verdict(HIGHER, [*silent, *measured[5:]]) == DEFECT
    some = [*measured[:2], *[crashed("buggy", seed) for seed in (3, 4, 5)], *measured[5:]]
    assert verdict(HIGHER, some) == ("flaky", "disagreement", 10)


def test_a_score_that_is_infinite_was_not_cut() -> None:
    found = judge(LOWER, scored([math.inf] * 5, [math.inf] * 5))
    assert (*told(found), found.wanted) == NOT_TRIGGERED
    assert "cut" not in found.detail
    assert verdict(LOWER, scored([math.inf] * 5, LOW)) == VERIFIED


def test_time_and_memory_are_better_when_lower_and_a_cut_run_is_the_slowest() -> None:
    slow = bug(Symptom.BAD_PERFORMANCE, measure="duration", better="higher")
    buggy = [cut("buggy", seed, "x", duration_s=60) for seed in range(1, 6)]
    fixed = [good("fixed", seed, duration_s=1 + seed / 10) for seed in range(1, 6)]
    assert verdict(slow, [*buggy, *fixed]) == VERIFIED
    assert verdict(slow, swapped([*buggy, *fixed])) == REVERSED


def test_sides_that_are_both_cut_are_not_compared_by_how_late() -> None:
    slow = bug(Symptom.BAD_PERFORMANCE, measure="duration", better="lower")
    late = [
        cut(name, seed, "x", duration_s=3 + more)
        for name, more in (("buggy", 0.2), ("fixed", 0.1))
        for seed in range(1, 6)
    ]
    assert verdict(slow, late) == ("invalid", "timeout", 0)


def test_memory_that_reaches_the_limit_is_the_worst() -> None:
    large = bug(Symptom.BAD_PERFORMANCE, measure="peak memory", better="lower")
    buggy = [
        cut("buggy", seed, "x", outcome=Outcome.OUT_OF_MEMORY, peak_memory_mb=4096)
        for seed in range(1, 6)
    ]
    fixed = [good("fixed", seed, peak_memory_mb=300) for seed in range(1, 6)]
    assert verdict(large, [*buggy, *fixed]) == VERIFIED


@pytest.mark.parametrize(
    ("failing_buggy", "failing_fixed", "expected"),
    [
        (0, 1, VERIFIED),  # nineteen of twenty are better for certain
        (1, 0, VERIFIED),
        (0, 15, FLAKY),
        (10, 0, FLAKY),
        (8, 8, FLAKY),
    ],
)
def test_runs_that_fail_count_against_what_the_others_measure(
    failing_buggy: int, failing_fixed: int, expected: tuple[str, str, int]
) -> None:
    evidence = [
        *[crashed("buggy", seed) for seed in range(1, failing_buggy + 1)],
        *[good("buggy", seed, "accuracy: 0.1\n") for seed in range(failing_buggy + 1, 21)],
        *[crashed("fixed", seed) for seed in range(1, failing_fixed + 1)],
        *[
            good("fixed", seed, f"accuracy: 0.{seed + 20}\n")
            for seed in range(failing_fixed + 1, 21)
        ],
    ]
    found = judge(HIGHER, evidence)
    assert (*told(found), found.wanted) == expected
    assert "could not be measured" in found.detail
    if expected is VERIFIED:
        flipped = judge(HIGHER, swapped(evidence))
        assert (*told(flipped), flipped.wanted) == REVERSED


def test_runs_that_fail_do_not_show_that_there_is_no_difference() -> None:
    evidence = scored([0.5] * 20, [0.5] * 20)
    evidence[3] = crashed("buggy", 4)
    assert told(judge(HIGHER, evidence)) == ("invalid", "artifact defect")
    evidence[3] = cut("buggy", 4)  # nobody knows its score
    assert told(judge(HIGHER, evidence)) == ("invalid", "timeout")


# Whatever the artifact says


PAIRS: dict[str, tuple[Bug, list[Evidence]]] = {
    "crash": (bug(), runs(3, 0)),
    "declared crash": (bug(exception="ValueError", message="aligned"), runs(3, 0)),
    "segmentation fault": (
        bug(),
        runs(3, 0, shows=lambda side, seed: ran(
            side, seed, "x", outcome=Outcome.SIGNALLED, exit_code=None, signal=11)),
    ),
    "nan": (bug(Symptom.NAN), runs(3, 0, shows=lambda side, seed: good(side, seed, "loss: nan\n"))),
    "hang": (
        bug(Symptom.HANG),
        runs(3, 0, shows=lambda side, seed: cut(side, seed, "b 1\n", last_output_s=3)),
    ),
    "out of memory": (
        bug(Symptom.OUT_OF_MEMORY),
        runs(3, 0, shows=lambda side, seed: ran(
            side, seed, "x", outcome=Outcome.OUT_OF_MEMORY, exit_code=None, signal=9)),
    ),
    "at least": (
        bug(Symptom.INCORRECT_OUTPUT, pattern=r"x: (\S+)", at_least=0.5),
        runs(3, 0, shows=lambda side, seed: good(side, seed, "x: 0.1\n"),
             clear=lambda side, seed: good(side, seed, "x: 0.9\n")),
    ),
    "expected": (
        bug(Symptom.INCORRECT_OUTPUT, pattern=r"x: (\S+)", expected="cat"),
        runs(3, 0, shows=lambda side, seed: good(side, seed, "x: dog\n"),
             clear=lambda side, seed: good(side, seed, "x: cat\n")),
    ),
    "check": (
        bug(Symptom.INCORRECT_OUTPUT, check=("python", "check.py")),
        runs(3, 0, shows=lambda side, seed: good(side, seed, checked=1),
             clear=lambda side, seed: good(side, seed, checked=0)),
    ),
    "bad performance": (HIGHER, scored(LOW, HIGH)),
}  # fmt: skip


@pytest.mark.parametrize("name", list(PAIRS))
def test_swapping_the_sides_flips_the_verdict_whatever_the_artifact_claims(name: str) -> None:
    made, evidence = PAIRS[name]
    claims = replace(made, claimed_verdict="verified", own_oracle={"passes": True})
    assert verdict(claims, evidence) == VERIFIED
    assert verdict(claims, swapped(evidence)) == REVERSED


def test_a_hostile_log_stays_on_one_printable_line() -> None:
    evil = "ValueError: \x1b]0;owned\x07\x1b[2J" + "x" * 5_000
    found = judge(bug(), runs(3, 0, shows=failing(evil)))
    assert found.detail.isprintable()
    assert found.signature.isprintable()
    assert len(found.detail) <= 600


A, B = failing("ValueError: a"), failing("KeyError: 'b'", function="load")


@pytest.mark.parametrize(
    ("buggy", "fixed", "expected"),
    [
        ((A, 9, B, 1), (B, 10, A, 0), ("reproduced", "fix not shown")),
        ((A, 2, B, 1), (B, 3, A, 0), ("reproduced", "fix not shown")),
        ((A, 9, B, 1), (B, 4, good, 6), ("flaky", "disagreement")),  # of A nine against none
        ((A, 10, B, 0), (A, 9, B, 1), ("invalid", "artifact defect")),
    ],
)
def test_a_crash_that_the_other_side_has_more_often_is_not_the_bugs(
    buggy: tuple[Made, int, Made, int],
    fixed: tuple[Made, int, Made, int],
    expected: tuple[str, str],
) -> None:
    evidence = [
        (first if seed <= many else second)(name, seed)
        for name, (first, many, second, few) in (("buggy", buggy), ("fixed", fixed))
        for seed in range(1, many + few + 1)
    ]
    assert told(judge(bug(), evidence)) == expected


def test_crashes_of_two_kinds_on_the_buggy_side_are_both_its_crash() -> None:
    evidence = runs(3, 0)
    evidence[1] = ran("buggy", 2, "epoch 1\n", traceback("TypeError: other"), exit_code=1)
    assert verdict(bug(), evidence) == VERIFIED
