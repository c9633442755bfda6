"""What a paper printed beside what its labels give."""

from __future__ import annotations

import json
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest
from labelling import Labelled

from faultatlas.analysis.statistics.agreement.ratings import AgreementEstimate
from faultatlas.annotation.agreement.measuring import Measured
from faultatlas.annotation.agreement.printed import Printed, compare, read_printed

Command = Callable[..., CompletedProcess[str]]


def of(value: float | None, key: str = "cohen") -> Measured:
    return Measured(
        key, f"The {key}", AgreementEstimate(key, value, 10, 2, 20, 0.85, 0.95, reason="one rater")
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.80", Printed(None, None, 0.8, 2)),
        (".8", Printed(None, None, 0.8, 1)),
        ("cohen=0.897", Printed(None, "cohen", 0.897, 3)),
        ("89.6%", Printed(None, None, 0.896, 3)),
        ("a: b:krippendorff-tree=-0.1", Printed("a: b", "krippendorff-tree", -0.1, 1)),
    ],
)
def test_printed_values_keep_their_digits(text: str, expected: Printed) -> None:
    assert read_printed(text) == expected


@pytest.mark.parametrize(
    ("printed", "value", "status"),
    [
        ("0.89", 0.8949, "reproduced"),
        ("0.89", 0.8899, "reproduced"),
        ("0.89", 0.8999, "reproduced"),  # cut, not rounded
        ("0.890", 0.8949, "near"),
        ("0.80", 0.8949, "not reproduced"),
        ("0.80", None, "no data"),
    ],
)
def test_status_follows_the_stated_rule(printed: str, value: float | None, status: str) -> None:
    assert compare(read_printed(printed), of(value), [of(value)]).status == status


def test_what_differs_is_explained() -> None:
    reason = compare(read_printed("0.80"), of(0.894), [of(0.894), of(0.83, "gwet")]).reason
    assert "printed 0.80, computed 0.894" in reason
    assert "outside our interval" in reason
    assert "The gwet comes nearest (0.830)" in reason


@pytest.mark.usefixtures("stored")
def test_the_claim_carries_what_was_printed(labelled: Labelled, command: Command) -> None:
    pairs = [("a1", "a1")] * 9 + [("b1", "b1")] * 9 + [("a1", "b1"), ("b1", "a1")]
    said = {f"github:o/r#{at}": {"ann": one, "bob": other} for at, (one, other) in enumerate(pairs)}
    labelled.round("types", said, statistic="cohen")
    labelled.round("other", said, statistic="cohen")
    line = (
        "annotation",
        "agreement",
        "types",
        "--printed",
        "0.60",
        "--printed",
        "percent=0.90",
        "--resamples",
        50,
    )
    shown = " ".join(command(*line).stdout.split())
    assert "types: Cohen's kappa printed 0.60, computed 0.800: not reproduced." in shown
    assert "types: Percent agreement printed 0.90, computed 0.900: reproduced." in shown
    with labelled.study.reading() as reader:
        rows = reader.rows("SELECT claim_id, printed, status FROM claims WHERE printed IS NOT NULL")
    assert [tuple(row.values()) for row in rows] == [
        ("agreement-types.cohen", 0.6, "not reproduced"),
        ("agreement-types.percent", 0.9, "reproduced"),
    ]
    both = ("annotation", "agreement", "--json", "--printed", "other:0.80", "--resamples", 0)
    document = json.loads(command(*both).stdout)["data"]
    assert document["rounds"]["types"]["printed"] == []
    assert document["rounds"]["other"]["printed"][0]["status"] == "reproduced"
    refused = command("annotation", "agreement", "--printed", "0.80")
    assert "does not say of which round" in refused.stderr
