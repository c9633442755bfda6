"""What `annotation adjudicate --accuracy` does: compare, store, show."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.settling.accuracy import (
    compare,
    confusions,
    order_of_labelling,
    wanted_of_others,
)
from faultatlas.annotation.settling.accuracy_result import Measured, result_of
from faultatlas.annotation.settling.situation import read_situation
from faultatlas.annotation.typed import typed
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study
    from faultatlas.report.old.console import Output


def show_accuracy(
    study: Study,
    output: Output,
    round_name: str,
    version: str | None,
    *,
    with_others: bool,
    parts: int,
) -> None:
    """Compare each rater with the final labels or with the others; store and show it."""
    from faultatlas.report.publish import publish, show

    given = {"round": round_name, "version": version, "accuracy": True, "parts": parts,
             "against": "others" if with_others else ""}  # fmt: skip
    run = provenance.begin(
        "annotation adjudicate", {name: value for name, value in given.items() if value}
    )
    result = accuracy_of(study, round_name, version, with_others=with_others, parts=parts)
    page = publish(study, result, run)
    show(output, result, page)


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result with these parameters."""
    return accuracy_of(
        study,
        parameters["round"],
        parameters.get("version"),
        with_others=parameters.get("against") == "others",
        parts=parameters["parts"],
    )


def accuracy_of(
    study: Study, round_name: str, version: str | None, *, with_others: bool, parts: int
) -> Result:
    """The result; nothing is stored."""
    with study.reading() as reader:
        situation = read_situation(reader, study.directory, round_name, version)
        ratings = situation.said["independent"]
        order, basis = order_of_labelling(reader, round_name, ratings)
    if with_others:
        wanted = wanted_of_others(ratings)
    else:
        wanted = {
            (item, rater): situation.finals[item]
            for item, rater in ratings.given
            if item in situation.finals
        }
    if not wanted:
        raise StudyError(
            f"round {round_name!r} has no labels of which two could be compared"
            if with_others
            else f"round {round_name!r} has no final labels of items with labels of raters",
            f"See what is open: annotation adjudicate {typed(round_name)}"
            if with_others
            else f"Settle it first: annotation adjudicate {typed(round_name)} --rule majority",
        )
    raters = compare(ratings, wanted, order, parts)
    items = {item for item, _rater in wanted}
    return result_of(
        Measured(
            round=round_name,
            version=version,
            with_others=with_others,
            parts=parts,
            taxonomy=situation.taxonomy,
            raters=tuple(raters),
            confusions=tuple(confusions(raters)),
            basis={rater.rater: basis[rater.rater] for rater in raters},
            items=len(items),
            settled_by=dict(
                Counter(situation.settlements[item].decision.settled_by for item in sorted(items))
            )
            if not with_others
            else {},
        )
    )
