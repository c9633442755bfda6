"""Laws of judging: order, swapped sides, how many runs are wanted, what is never said."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from judged_runs import bug, crashed, cut, good, ran, swapped, told

from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.judging import judge
from faultatlas.analysis.reexecution.runs import Evidence, Outcome
from faultatlas.analysis.reexecution.verdicts import Reason, Verdict

law = settings(max_examples=60)

Made = Callable[[str, int], Evidence]


def lost(side: str, seed: int) -> Evidence:
    return ran(side, seed, outcome=Outcome.LOST, exit_code=None, problem="worker died")


def no_environment(side: str, seed: int) -> Evidence:
    return ran(side, seed, outcome=Outcome.NO_ENVIRONMENT, exit_code=None, problem="no match")


def out_of_memory(side: str, seed: int) -> Evidence:
    return ran(side, seed, "x", outcome=Outcome.OUT_OF_MEMORY, exit_code=None, signal=9)


def silent(side: str, seed: int) -> Evidence:
    return cut(side, seed, "b 1\n", last_output_s=2)


WORTHLESS: list[Made] = [
    lost,
    no_environment,
    lambda side, seed: ran(side, seed, outcome=Outcome.SIGNALLED, exit_code=None, signal=9),
    lambda side, seed: crashed(side, seed, "ModuleNotFoundError: No module named 'keras'"),
    lambda side, seed: crashed(side, seed, "FileNotFoundError: [Errno 2] No such file: 'x'"),
    lambda side, seed: good(side, seed, files={"model.npy": "stale"}),
    lambda side, seed: good(side, seed, source_bytes=0),
    lambda side, seed: cut(side, seed, "", duration_s=0.5, last_output_s=0.4),
]
PALETTES: dict[Symptom, list[Made]] = {
    Symptom.CRASH: [
        good, good, crashed, crashed,
        lambda side, seed: crashed(side, seed, "TypeError: other", function="save"),
        lambda side, seed: cut(side, seed, "epoch 1\nepoch 2\n"),
    ],
    Symptom.NAN: [good, good, lambda side, seed: good(side, seed, "loss: nan\n"), crashed],
    Symptom.HANG: [good, good, silent, silent, crashed],
    Symptom.OUT_OF_MEMORY: [good, good, out_of_memory, out_of_memory, crashed],
}  # fmt: skip
counted = st.sampled_from(sorted(PALETTES))


def drawn(draw: Callable[..., Made], palette: list[Made], runs: int) -> list[Evidence]:
    """Runs of both sides; whole sides are often alike, as they are in life."""
    evidence = []
    for side in ("buggy", "fixed"):
        usual = draw(st.sampled_from(palette))
        for seed in range(1, runs + 1):
            made = draw(st.sampled_from([usual, usual, usual, *palette]))
            evidence.append(made(side, seed))
    return evidence


@st.composite
def cases(draw: Callable[..., object], *, worthless: bool = True) -> tuple[Bug, list[Evidence]]:
    symptom = draw(counted)
    assert isinstance(symptom, Symptom)
    palette = [*PALETTES[symptom], *(WORTHLESS if worthless else [])]
    runs = draw(st.sampled_from([1, 3, 3, 10, 10, 12]))
    assert isinstance(runs, int)
    return bug(symptom), drawn(draw, palette, runs)  # type: ignore[arg-type]


@given(cases(), st.randoms(use_true_random=False))
@law
def test_the_order_of_the_evidence_does_not_matter(
    case: tuple[Bug, list[Evidence]], chance: random.Random
) -> None:
    of, evidence = case
    shuffled = list(evidence)
    chance.shuffle(shuffled)
    assert judge(of, shuffled) == judge(of, evidence)


@given(cases())
@law
def test_swapped_sides_flip_the_verdict(case: tuple[Bug, list[Evidence]]) -> None:
    of, evidence = case
    first, second = judge(of, evidence), judge(of, swapped(evidence))
    was_verified = first.verdict is Verdict.VERIFIED
    assert was_verified == (told(second) == ("not reproduced", "reversed"))
    assert (second.verdict is Verdict.VERIFIED) == (told(first) == ("not reproduced", "reversed"))


@given(cases(worthless=False), cases())
@law
def test_runs_wanted_are_more_than_there_are_and_it_ends(
    case: tuple[Bug, list[Evidence]], other: tuple[Bug, list[Evidence]]
) -> None:
    for of, evidence in (case, other):
        by_side = {side: [e for e in evidence if e.run.side == side] for side in ("buggy", "fixed")}
        asked, steps = 3, [3]
        while True:
            # as many as are asked for: those that were drawn, over and over
            runs = [
                _as_seed(made[(seed - 1) % len(made)], seed)
                for made in by_side.values()
                for seed in range(1, asked + 1)
            ]
            found = judge(of, runs)
            if not found.wanted or found.verdict is Verdict.INFRASTRUCTURE:
                break
            assert found.wanted > asked
            asked = found.wanted
            steps.append(asked)
        assert steps in ([3], [3, 10])


def _as_seed(evidence: Evidence, seed: int) -> Evidence:
    return replace(evidence, run=replace(evidence.run, seed=seed))


@given(counted, st.sampled_from([3, 10]), st.data())
@law
def test_runs_that_are_worth_nothing_never_say_that_it_is_not_reproduced(
    symptom: Symptom, runs: int, data: st.DataObject
) -> None:
    worthless = drawn(data.draw, WORTHLESS, runs)
    usable = drawn(data.draw, PALETTES[symptom], runs)
    for side in ("buggy", "fixed"):
        mixed = [e for e in worthless if e.run.side == side]
        mixed += [e for e in usable if e.run.side != side]
        for evidence in (worthless, mixed):
            found = judge(bug(symptom), evidence)
            assert found.verdict not in {Verdict.VERIFIED, Verdict.NOT_REPRODUCED}


@given(st.lists(st.integers(0, 10), min_size=4, max_size=4))
@law
def test_runs_that_were_cut_never_raise_the_claim(numbers: list[int]) -> None:
    """What is verified with them is so too if they had all spoken against it."""
    early, evidence = WORTHLESS[-1], []
    for side, were_cut, others in (("buggy", *numbers[:2]), ("fixed", *numbers[2:])):
        usual, rare = (crashed, good) if side == "buggy" else (good, crashed)
        few = others % 3  # of the runs that were not cut
        kinds = [early] * were_cut + [rare] * few + [usual] * 10
        evidence += [made(side, seed) for seed, made in enumerate(kinds[:10], 1)]
    against = {"buggy": good, "fixed": crashed}
    worst = [
        against[each.run.side](each.run.side, each.run.seed)
        if each.run.outcome is Outcome.TIMED_OUT
        else each
        for each in evidence
    ]
    found, least = judge(bug(), evidence), judge(bug(), worst)
    if found.verdict is Verdict.VERIFIED:
        assert least.verdict is Verdict.VERIFIED
    if found.verdict is Verdict.REPRODUCED:
        assert found.buggy_shown == found.buggy_runs == 10
    if found.reason is Reason.NOT_TRIGGERED:
        assert worst == evidence


@given(cases())
@law
def test_verdict_reason_and_counts_fit_together(case: tuple[Bug, list[Evidence]]) -> None:
    found = judge(*case)
    reasons = {
        Verdict.VERIFIED: {Reason.NONE},
        Verdict.REPRODUCED: {Reason.FIX_NOT_SHOWN},
        Verdict.NOT_REPRODUCED: {Reason.NOT_TRIGGERED, Reason.REVERSED},
        Verdict.FLAKY: {Reason.DISAGREEMENT},
        Verdict.INVALID: {
            Reason.MISSING_DEPENDENCY, Reason.MISSING_DATA, Reason.INTERPRETER, Reason.TIMEOUT,
            Reason.ARTIFACT_DEFECT,
        },
        Verdict.INFRASTRUCTURE: {Reason.HOST, Reason.INTERPRETER, Reason.DEVICE},
    }  # fmt: skip
    assert found.reason in reasons[found.verdict]
    assert found.detail
    assert found.rule
    if found.verdict is Verdict.VERIFIED:
        assert found.buggy_shown >= 3
        assert found.p_value is not None
        assert found.p_value <= (0.05 if found.rule == "all and none" else 0.01)
    if found.verdict is Verdict.REPRODUCED:
        assert found.buggy_shown == found.buggy_runs >= 3
    if found.reason is Reason.NOT_TRIGGERED:
        assert found.buggy_shown == found.fixed_shown == 0
        assert min(found.buggy_runs, found.fixed_runs) >= 3


@given(
    st.lists(st.integers(0, 6), min_size=5, max_size=20),
    st.lists(st.integers(2, 8), min_size=5, max_size=20),
    st.randoms(use_true_random=False),
)
@law
def test_measured_symptoms_obey_the_same_laws(
    buggy: list[int], fixed: list[int], chance: random.Random
) -> None:
    of = bug(Symptom.BAD_PERFORMANCE, measure="duration")
    evidence = [
        good(side, seed, duration_s=float(value))
        for side, values in (("buggy", buggy), ("fixed", fixed))
        for seed, value in enumerate(values, 1)
    ]
    found = judge(of, evidence)
    shuffled = list(evidence)
    chance.shuffle(shuffled)
    assert judge(of, shuffled) == found
    other = judge(of, swapped(evidence))
    assert (found.verdict is Verdict.VERIFIED) == (other.reason is Reason.REVERSED)
    assert (other.verdict is Verdict.VERIFIED) == (found.reason is Reason.REVERSED)
    pairs = min(len(buggy), len(fixed))
    assert found.wanted in {0, 10, 20}
    assert found.wanted == 0 or found.wanted > pairs
    if found.verdict is Verdict.NOT_REPRODUCED and found.reason is Reason.NOT_TRIGGERED:
        assert pairs == 20 or len({*buggy[:pairs], *fixed[:pairs]}) == 1
