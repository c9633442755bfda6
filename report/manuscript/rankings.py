"""Rankings, ratios, formulas and comparisons between printed numbers."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Annotated, Literal

from pydantic import PlainValidator

from faultatlas.data.results import Status
from faultatlas.report.manuscript import (
    EntryError,
    Flag,
    Named,
    Number,
    Numbers,
    Only,
    Outcome,
    Text,
    Texts,
    computed_from,
    kind,
    same_length,
    short,
)
from faultatlas.report.published import Printed, keeps, parse, written_like

_LONGEST_FORMULA = 300
_OPERATIONS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@kind("top-k")
def top_k(printed: Only, top: Named) -> Outcome:
    """A mean reciprocal rank against Top@k of the same ranking.

    MRR is at least T1 + (T5 - T1)/5 + (T10 - T5)/10 and at most T1 + (T5 - T1)/2 + (T10 - T5)/6 +
    (1 - T10)/11 (for 1, 5 and 10), with every number as far off as rounding allows.

    top: Top@k by k: { 1 = "0.344", 5 = "0.547", 10 = "0.615" }

    printed = "0.316"
    top = { 1 = "0.201", 5 = "0.472", 10 = "0.585" }
    """
    if not all(name.isdigit() and 0 < int(name) < 10**6 for name in top):
        raise EntryError(f"top = {', '.join(top)}: the ranks are whole numbers: 1, 5, 10")
    by_rank = {int(name): share.as_fraction() for name, share in top.items()}
    for share in by_rank.values():
        if not 0 <= share.value <= 1:
            raise EntryError(f"top: {share.text} is not a share such as 0.344 or 34.4 %")
    ranks = sorted(by_rank)
    exact = [by_rank[rank].value for rank in ranks]
    low, high = ([by_rank[rank].ends()[end] for rank in ranks] for end in (0, 1))
    if any(later < earlier for earlier, later in zip(low, high[1:], strict=False)):
        return Outcome("inconsistent", "Top@k falls", "Top@k cannot fall as k grows")
    least, most = _least_mrr(ranks, exact), _most_mrr(ranks, exact)
    words = [written_like(end, digits=4) for end in (least, most)]
    computed = f"{words[0]} to {words[1]}"
    value_low, value_high = printed.as_fraction().ends()
    if value_high < _least_mrr(ranks, low) - 1e-12:
        reason = f"MRR {printed.text} is below {words[0]}, which Top@k implies"
        return Outcome("inconsistent", computed, reason, least)
    if value_low > _most_mrr(ranks, high) + 1e-12:
        reason = f"MRR {printed.text} is above {words[1]}, which Top@k allows"
        return Outcome("inconsistent", computed, reason, most)
    return Outcome("consistent", computed, f"MRR {printed.text} is possible")


def _least_mrr(ranks: Sequence[int], shares: Sequence[float]) -> float:
    """All that are found by rank k, but not before, are at k; the rest nowhere."""
    before = [0.0, *shares]
    return sum(
        (share - earlier) / rank
        for rank, share, earlier in zip(ranks, shares, before, strict=False)
    )


def _most_mrr(ranks: Sequence[int], shares: Sequence[float]) -> float:
    """All are as far up as they can be: behind the last rank that did not have them."""
    ends, before = [*shares, 1.0], [0.0, *shares]
    return sum(
        (share - earlier) / (rank + 1)
        for rank, share, earlier in zip([0, *ranks], ends, before, strict=True)
    )


@kind("map-mrr")
def map_mrr(printed: Only, mrr: Number, relevant: Number | None = None) -> Outcome:
    """MAP against MRR of the same ranking, where the number of right answers is known.

    MAP equals MRR with one right answer for each query, and is at least MRR / R with at most R;
    with several right answers it may be more than MRR.

    mrr: the MRR
    relevant: most right answers to one query

    printed = "0.314"
    mrr = "0.371"
    relevant = "227"
    """
    low, high = printed.ends()
    if relevant is None:
        reason = "how many right answers a query has is not known"
        return Outcome("cannot be checked", "-", reason)
    if relevant.value < 1:
        raise EntryError("relevant: a query has at least one right answer")
    if relevant.value == 1:
        agree = high >= mrr.ends()[0] and low <= mrr.ends()[1]
        reason = "one right answer for each query: both are the same"
        return Outcome("consistent" if agree else "inconsistent", mrr.text, reason, mrr.value)
    least = mrr.ends()[0] / relevant.value
    computed = f"at least {written_like(mrr.value / relevant.value, digits=4)}"
    if high < least or low > 1:
        return Outcome("inconsistent", computed, f"MAP {printed.text} is not possible", least)
    return Outcome("consistent", computed, f"MAP {printed.text} is possible", least)


_METRICS: dict[str, tuple[tuple[str, ...], Callable[[Sequence[float]], float]]] = {
    "accuracy": (("tp", "tn", "fp", "fn"), lambda n: (n[0] + n[1]) / sum(n)),
    "precision": (("tp", "fp"), lambda n: n[0] / (n[0] + n[1])),
    "recall": (("tp", "fn"), lambda n: n[0] / (n[0] + n[1])),
    "f1": (("tp", "fp", "fn"), lambda n: 2 * n[0] / (2 * n[0] + n[1] + n[2])),
}


@kind("classification")
def classification(
    metric: Literal["accuracy", "precision", "recall", "f1"],
    *,
    tp: Number | None = None,
    fp: Number | None = None,
    fn: Number | None = None,
    tn: Number | None = None,
    precision: Number | None = None,
    recall: Number | None = None,
    printed: Numbers = (),
) -> Outcome:
    """Accuracy, precision, recall or F1 from counts; F1 also from precision and recall.

    metric: what is printed
    tp: true positives (with fp, fn and, for accuracy, tn)
    fp: false positives
    fn: false negatives
    tn: true negatives
    precision: for F1 without counts
    recall: for F1 without counts

    printed = "0.22"
    metric = "f1"
    precision = "0.25"
    recall = "0.20"
    """
    fields = {"tp": tp, "fp": fp, "fn": fn, "tn": tn, "precision": precision, "recall": recall}
    names, compute = _METRICS[metric]
    if metric == "f1" and precision:
        names, compute = ("precision", "recall"), lambda n: 2 * n[0] * n[1] / (n[0] + n[1])
    inputs = [number.as_fraction() for name in names if (number := fields.pop(name)) is not None]
    if len(inputs) < len(names):
        raise EntryError(f"{metric} needs {', '.join(names)}")
    if unused := [name for name, number in fields.items() if number is not None]:
        raise EntryError(f"{metric} does not use {', '.join(unused)}")
    return computed_from(printed, inputs, compute, fraction=True)


def _multiple(value: object) -> Printed:
    if not isinstance(value, str):
        raise EntryError(f"{short(value)} is not a ratio such as almost four times, twice, 3.8")
    return parse(value, multiple=True)


@kind("ratio")
def ratio(
    printed: Annotated[Printed, PlainValidator(_multiple)], numerator: Number, denominator: Number
) -> Outcome:
    """A ratio of two numbers, in digits or in words: almost four times.

    numerator: the number that is so many times
    denominator: the other one

    printed = "almost four times"
    numerator = "40.00 %"
    denominator = "10.65 %"
    """
    return computed_from((printed,), (numerator, denominator), lambda both: both[0] / both[1])


@kind("relative-difference")
def relative_difference(
    before: Numbers, after: Numbers, *, increase: Flag = False, printed: Numbers = ()
) -> Outcome:
    """(before - after) / before; of several pairs, the mean of these.

    before: the value that is compared with, or several
    after: the other value, or as many
    increase: true: (after - before) / before

    printed = "31.59 %"
    before = "0.459"
    after = "0.314"
    """
    same_length(before=before, after=after)
    sign, count = -1 if increase else 1, len(before)

    def difference(values: Sequence[float]) -> float:
        pairs = zip(values[:count], values[count:], strict=True)
        return fmean(sign * (first - second) / first for first, second in pairs)

    return computed_from(printed, (*before, *after), difference, fraction=True)


@kind("arithmetic")
def arithmetic(
    formula: Text, values: Named, *, share: Flag = False, printed: Numbers = ()
) -> Outcome:
    """A number against a formula (+ - * / and brackets) of other printed numbers.

    formula: such as (f/F) / ((f/F) + (p/P))
    values: the numbers with their names: { f = "9", F = "9" }
    share: true: the result is a fraction, and printed may be in percent

    printed = "284"
    formula = "middle * (1 + margin)"
    values = { middle = "227", margin = "0.25" }
    """
    if len(formula) > _LONGEST_FORMULA:
        raise EntryError(f"formula: at most {_LONGEST_FORMULA} characters")
    try:
        tree = ast.parse(formula, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise EntryError(f"{formula!r} is not a formula of + - * / and brackets") from None

    def compute(numbers: Sequence[float]) -> float:
        return _result(tree, dict(zip(values, numbers, strict=True)))

    return computed_from(printed, list(values.values()), compute, fraction=share)


def _result(node: ast.expr, values: Mapping[str, float]) -> float:
    """The result of a formula; nothing in it is ever run."""
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_result(node.left, values), _result(node.right, values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_result(node.operand, values)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    raise EntryError(f"{ast.unparse(node)[:40]!r} has no value here: + - * / and brackets")


@kind("bound")
def bound(printed: Only, values: Numbers, names: Texts = ()) -> Outcome:
    """A bound (<33 %, >=0.7) that all of several numbers must keep.

    Every printed value must keep the bound as it is printed.

    values: the numbers
    names: what each of them is of

    printed = "<1000"
    values = ["586.818", "994.100"]
    """
    if not printed.is_bound:
        raise EntryError(f"{printed.text} is not a bound such as <33 % or >=0.7")
    if names:
        same_length(names=names, values=values)
    if len({number.percent for number in (printed, *values)}) > 1:
        raise EntryError("some numbers are in percent and some are not: write them alike")
    extreme = (max if printed.sign[0] == "<" else min)(values, key=_value)
    broken = [
        f"{value.text} ({name})" if name else value.text
        for value, name in zip(values, names or [""] * len(values), strict=True)
        if not keeps(printed, value.value)
    ]
    if broken:
        reason = f"{printed.text} does not hold for {', '.join(broken)}"
        return Outcome("inconsistent", ", ".join(broken), reason, extreme.value)
    reason = f"all {len(values)} keep {printed.text}; the nearest is {extreme.text}"
    return Outcome("consistent", extreme.text, reason, extreme.value)


@kind("largest")
def largest(printed: Text, values: Named, *, smallest: Flag = False) -> Outcome:
    """The one that is claimed to be the largest (or smallest) of several.

    No other value may be larger; an equal one is near.

    values: the numbers with their names: { first = "6", second = "7" }
    smallest: true: the smallest is meant

    printed = "G"
    values = { A = "350", F = "300", G = "771" }
    """
    if printed not in values:
        raise EntryError(f"{printed!r} has no value; known: {', '.join(values)}")
    claimed, sign = values[printed], -1 if smallest else 1
    others = {name: number for name, number in values.items() if name != printed}
    ahead = [name for name in others if sign * (others[name].value - claimed.value) > 0]
    if ahead:
        first = max(ahead, key=lambda name: sign * others[name].value)
        relation = "<" if smallest else ">"
        words = f"{first} {others[first].text} {relation} {printed} {claimed.text}"
        return Outcome("inconsistent", words, words)
    if ties := [name for name in others if others[name].value == claimed.value]:
        return Outcome("near", f"{printed} and {', '.join(ties)}", "several are equal")
    return Outcome("consistent", printed, f"{claimed.text} is first")


@kind("order")
def order(higher: Named, lower: Named) -> Outcome:
    """Numbers that are claimed to be higher than others, pair by pair.

    Every number must be higher than the one of the same name; an equal one is near.

    higher: the numbers that are claimed to be higher: { A = "0.4", B = "0.5" }
    lower: the numbers that they are compared with, by the same names

    higher = { MAP = "0.44", MRR = "0.51" }
    lower = { MAP = "0.36", MRR = "0.48" }
    """
    if higher.keys() != lower.keys():
        raise EntryError("higher and lower must have the same names")
    pairs = {name: (higher[name].as_fraction(), lower[name].as_fraction()) for name in higher}
    wrong = [name for name, (high, low) in pairs.items() if high.value < low.value]
    equal = [name for name, (high, low) in pairs.items() if high.value == low.value]
    listed = ", ".join(
        f"{name} {higher[name].text} {'<' if name in wrong else '='} {lower[name].text}"
        for name in (*wrong, *equal)
    )
    holds = len(pairs) - len(wrong) - len(equal)
    computed = f"higher in {holds} of {len(pairs)}"
    status: Status = "inconsistent" if wrong else "near" if equal else "consistent"
    reason = f"not higher: {listed}" if listed else f"all {len(pairs)} are higher"
    return Outcome(status, computed, reason, printed=f"higher in all {len(pairs)}")


def _value(number: Printed) -> float:
    return number.value
