"""Shares by status as quantities and as a table: the same for every kind of evidence."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from faultatlas.analysis.coverage.gap import StatusShares
from faultatlas.analysis.coverage.published import Comparison
from faultatlas.analysis.statistics.shares import Share
from faultatlas.data.results import Field, Quantity, Table

ANALYSIS = "coverage-gap"

SHARES = Table(
    "shares",
    "Shares by status",
    rows=(Field("whole", "share_of", "Share of"), Field("status", kind="status")),
    fields=(
        Field("count"),
        Field("n", "total", "Of"),
        Field("value", "percent", "Share"),
        Field("low", title="95 % from"),
        Field("high", title="to"),
    ),
    note="Wilson score intervals. Statuses without a case are omitted.",
    skip_zero=True,
)

# They change nothing that a claim says: what is drawn again, and what it is compared with.
BESIDES = ("seed", "since")


def result_name(parameters: dict[str, Any]) -> str:
    """The name of a result: other parameters are another result, so that none replaces another.

    `coverage-gap` for the survey, `coverage-gap-corpus-without-deepfd`, ... What a file name
    cannot say, or says of other values too (`a` and `b`, `a-b`), is told apart by a digest.
    """
    words, plain = [ANALYSIS], True
    chosen = _choosing(parameters)
    for key, value in chosen.items():
        values = list(map(str, value)) if isinstance(value, list) else [str(value)]
        said = list(map(_word, values))
        # A paper is known in upper and lower case, a round only as it is written.
        texts = [each.lower() if key == "without" else each for each in values]
        plain = plain and said == texts and len(said) == 1
        words += said if key == "evidence" else [key, *said]
    name = "-".join(filter(None, words)).replace(f"{ANALYSIS}-survey", ANALYSIS, 1)
    if plain:
        return name
    text = json.dumps(chosen, sort_keys=True, ensure_ascii=False)
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def share_quantities(
    wholes: Iterable[StatusShares],
    comparisons: Sequence[Comparison] = (),
    statements: Mapping[tuple[str, str], str] | None = None,
    rows: Callable[[str, str], str | None] = lambda _whole, _status: None,
) -> tuple[Quantity, ...]:
    """Every share that occurs, and those that are compared with a printed one or have a statement.

    `rows` gives the SQL of the rows behind a share, if they are in the study.
    """
    compared = {(each.printed.whole, each.printed.status): each for each in comparisons}
    stated = {
        **{
            key: f"{each.printed.statement} ({each.printed.ours_counts})"
            for key, each in compared.items()
        },
        **(statements or {}),
    }
    quantities = []
    for whole in wholes:
        for status, share in whole.shares.items():
            key = (whole.key, status)
            if not share.count and key not in stated:
                continue
            printed = compared.get(key)
            quantities.append(
                Quantity(
                    {"whole": whole.key, "status": status.replace(" ", "-")},
                    share.percent,
                    share.low,
                    share.high,
                    n=share.total,
                    count=share.count,
                    unit="percent",
                    statement=stated.get(key, f"{whole.label}: {status}"),
                    query=rows(*key) or "",
                    method=share.method,
                    printed=None if printed is None else printed.printed.printed,
                    status="" if printed is None else printed.status,
                    reason="" if printed is None else printed.reason,
                )
            )
    return tuple(quantities)


def share_labels(wholes: Iterable[StatusShares]) -> dict[str, str]:
    """The words for the dimensions of shares."""
    return {whole.key: whole.label for whole in wholes} | {"not-mentioned": "not mentioned"}


def told(share: Share) -> str:
    """A share in a sentence."""
    percent = "no share" if share.percent is None else f"{share.percent:.1f} %"
    return f"{share.count:,} of {share.total:,} ({percent})"


def _choosing(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters that say which numbers these are."""
    return {key: value for key, value in parameters.items() if key not in BESIDES}


def _word(text: str) -> str:
    """A text as part of a file name; what cannot be is left out."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
