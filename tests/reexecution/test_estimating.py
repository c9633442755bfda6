"""The share of bugs that can be made to happen, from verdicts that are known."""

from __future__ import annotations

from pathlib import Path

import pytest
from executed import content_of, judged, made_bug, made_run, new_study, put

from faultatlas.analysis.reexecution.drawing import draw
from faultatlas.analysis.reexecution.estimating import RATES, attempts
from faultatlas.analysis.reexecution.published_rates import beside
from faultatlas.analysis.reexecution.storing import register, store
from faultatlas.analysis.statistics.shares import StratumCount, exact_share, weighted_share
from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.old.figures import status_by_hand
from faultatlas.data.study import Study

SEVEN = [
    "verified", "verified", "reproduced", "not reproduced", "flaky", "invalid", "infrastructure",
]  # fmt: skip


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return new_study(tmp_path / "study")


def test_attempts_are_the_denominator_and_verdicts_stand_apart(study: Study) -> None:
    bugs = [made_bug(f"set/{at}") for at in range(8)]
    put(study, zip(bugs, [*SEVEN, None], strict=True))
    found = attempts(study)
    assert len(found.attempted) == 7
    assert {key: (found.rate(key).count, found.rate(key).tried) for key in RATES} == {
        "reproduced": (3, 7),
        "verified": (2, 7),
        "not-reproduced": (1, 7),
        "flaky": (1, 7),
        "invalid": (1, 7),
        "infrastructure": (1, 7),
    }
    plain = exact_share(3, 7)
    rate = found.rate("reproduced")
    assert (rate.percent, rate.low, rate.high) == (plain.percent, plain.low, plain.high)
    assert not found.is_census
    assert not found.sample


def test_a_bug_whose_runs_have_not_settled_it_is_no_attempt(study: Study) -> None:
    settled, open_one = made_bug("set/a"), made_bug("set/b")
    put(study, [(settled, "verified"), (open_one, None)])
    store(study, [], [judged(open_one, "flaky", "disagreement", wanted=10)])
    found = attempts(study)
    assert [case.bug_id for case in found.attempted] == ["set/a"]
    assert found.unsettled == 1
    with study.reading() as reader:
        assert len(reader.rows(found.rows_query())) == 1


def test_what_the_host_failed_to_run_is_an_attempt(study: Study) -> None:
    """The sampler gave up on it: it stands in the table of verdicts, and so in the rate."""
    lost, fine = made_bug("set/a"), made_bug("set/b")
    put(study, [(lost, None), (fine, "verified")])
    store(study, [made_run(lost)], [judged(lost, "infrastructure", "host", wanted=3)])
    found = attempts(study)
    assert (found.rate("infrastructure").count, found.rate("infrastructure").tried) == (1, 2)
    assert found.unsettled == 0
    assert found.is_census
    with study.reading() as reader:
        assert len(reader.rows(found.rows_query())) == 2


def test_what_is_left_bounds_the_rate(study: Study) -> None:
    keras = [made_bug(f"set/k{at}", "keras") for at in range(6)]
    torch = [made_bug(f"set/t{at}", "pytorch") for at in range(2)]
    register(study, [*keras, *torch], content_of=content_of)
    draw(study, 8, ("framework",))
    put(study, zip(keras, ["verified"] * 3 + ["invalid"] * 2, strict=False))
    put(study, [(torch[0], "invalid")])
    found = attempts(study)
    assert found.left == {"keras": 1, "pytorch": 1}
    assert found.bounds("reproduced") == pytest.approx((100 * 3 / 8, 100 * 5 / 8))
    rate = found.rate("reproduced").percent
    assert rate == pytest.approx(100 * 6 / 8 * 3 / 5)


def test_strata_weigh_by_their_bugs_in_the_frame(study: Study) -> None:
    keras = [made_bug(f"set/k{at:02}", "keras") for at in range(16)]
    torch = [made_bug(f"set/t{at}", "pytorch") for at in range(4)]
    register(study, [*keras, *torch], content_of=content_of)
    sample = draw(study, 6, ("framework",))
    chosen = [bug for bug in (*keras, *torch) if bug.bug_id in sample.bug_ids]
    put(study, [(b, "verified" if b.labels.framework == "keras" else "invalid") for b in chosen])
    found = attempts(study)
    counts = {each.name: each.drawn for each in sample.strata}
    assert (found.sample, found.frame) == (sample.sample, {"keras": 16, "pytorch": 4})
    rate = found.rate("verified")
    assert rate.percent == pytest.approx(80)
    wanted = weighted_share(
        [StratumCount(16, counts["keras"], counts["keras"]), StratumCount(4, counts["pytorch"], 0)]
    )
    assert (rate.low, rate.high) == (wanted.low, wanted.high)


def test_only_what_was_drawn_counts(study: Study) -> None:
    bugs = [made_bug(f"set/{at}") for at in range(6)]
    register(study, bugs, content_of=content_of)
    sample = draw(study, 2)
    put(study, [(b, "verified" if b.bug_id in sample.bug_ids else "invalid") for b in bugs])
    assert attempts(study, sample=sample.sample).rate("verified").percent == 100
    assert attempts(study, sets=["set"]).rate("verified").tried == 6
    assert attempts(study, sets=["set"]).is_census


def test_the_last_sample_is_taken_and_its_last_draw(study: Study) -> None:
    bugs = [made_bug(f"set/{at}") for at in range(6)]
    put(study, [(bug, "verified") for bug in bugs])
    draw(study, 2, seed=1)
    assert len(attempts(study).cases) == 2
    draw(study, 4, seed=1)
    assert len(attempts(study).cases) == 4
    draw(study, 3, seed=2)
    assert attempts(study).sample == "all-seed-2"


def test_a_table_by_other_columns_leaves_the_weights_alone(study: Study) -> None:
    bugs = [made_bug(f"set/{at}", "ab"[at % 2], ("crash", "hang")[at // 4]) for at in range(8)]
    register(study, bugs, content_of=content_of)
    draw(study, 8, ("framework",))
    put(study, [(bug, "verified") for bug in bugs])
    found = attempts(study, stratify=("symptom",))
    assert (found.columns, found.by) == (("framework",), ("symptom",))
    assert (found.frame, found.groups) == ({"a": 4, "b": 4}, {"crash": 4, "hang": 4})


def test_without_a_sample_columns_weigh(study: Study) -> None:
    bugs = [made_bug(f"set/{at}", "a" if at < 6 else "b") for at in range(8)]
    verdicts = ["verified", "verified", None, None, None, None, "invalid", "invalid"]
    put(study, zip(bugs, verdicts, strict=True))
    found = attempts(study, sets=["set"], stratify=("framework",))
    assert found.rate("verified").percent == pytest.approx(75)


def test_what_cannot_be_estimated_is_said(study: Study) -> None:
    put(study, [(made_bug("set/a"), None)])
    with pytest.raises(StudyError, match="no bug of set set was attempted") as raised:
        attempts(study)
    assert "analysis reexecute" in raised.value.hint
    with pytest.raises(StudyError, match="no sample of bugs 'x'"):
        attempts(study, sample="x")
    with pytest.raises(StudyError, match="two frames"):
        attempts(study, sample="x", sets=["set"])
    with pytest.raises(StudyError, match="there is no set 'y'"):
        attempts(study, sets=["y"])


def test_published_rates_have_the_status_that_the_shipped_figures_say(study: Study) -> None:
    bugs = [made_bug(f"set/{at}", source="github" if at < 3 else "own") for at in range(5)]
    put(study, zip(bugs, ["verified", "reproduced", "invalid", "flaky", "flaky"], strict=True))
    figures = {each.figure_id: each for each in evidence.published_figures()}
    found = {each.rate.key: each for each in beside(attempts(study))}
    for each in found.values():
        assert each.status == status_by_hand(figures[each.rate.figure_id])
    github, posts, verified = found["github"], found["stackoverflow"], found["verified"]
    assert github.share.percent == pytest.approx(5.27, abs=0.005)
    assert (posts.status, posts.printed_value) == ("inconsistent", 3.34)
    assert "3.33" in posts.reason
    assert (github.ours.count, github.ours.total) == (2, 3)  # those from GitHub
    assert (posts.ours.count, posts.ours.total) == (0, 0)  # there are none
    assert (verified.ours.count, verified.ours.total) == (1, 2)
    assert verified.share.percent == pytest.approx(13.33, abs=0.005)
