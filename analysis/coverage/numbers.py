"""Shares as claims, as plain values and in a sentence: the same for every kind of evidence."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from faultatlas.analysis.coverage.gap import StatusShares
from faultatlas.analysis.coverage.published import Comparison
from faultatlas.analysis.statistics.intervals import Share
from faultatlas.data.results import Claim

ANALYSIS = "coverage-gap"

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


def claim(
    parameters: dict[str, Any],
    whole: StatusShares,
    status: str,
    statement: str,
    comparison: Comparison | None = None,
    *,
    rows_query: str | None = None,
) -> Claim:
    """A share as a claim, beside a printed one if there is a comparison."""
    share = whole.shares[status]
    chosen = _choosing(parameters)
    arguments = ", ".join(f"{key}={_argument(value)}" for key, value in chosen.items())
    return Claim(
        claim_id=f"{result_name(parameters)}.{whole.key}.{status.replace(' ', '-')}",
        statement=statement,
        value=share.percent,
        unit="percent",
        query=f"{ANALYSIS}({arguments}): {whole.key}.{status.replace(' ', '_')}.percent",
        count=share.count,
        total=share.total,
        low=share.low,
        high=share.high,
        method=share.method,
        printed=None if comparison is None else comparison.printed.printed,
        status="" if comparison is None else comparison.status,
        reason="" if comparison is None else comparison.reason,
        rows_query=rows_query,
    )


def shares_document(whole: StatusShares) -> dict[str, Any]:
    """Shares as plain values."""
    return {
        "total": whole.total,
        **{
            status.replace(" ", "_"): {
                "count": share.count,
                "percent": share.percent,
                "interval": [share.low, share.high],
                "method": share.method,
            }
            for status, share in whole.shares.items()
        },
    }


def told(share: Share) -> str:
    """A share in a sentence."""
    percent = "no share" if share.percent is None else f"{share.percent:.1f} %"
    return f"{share.count:,} of {share.total:,} ({percent})"


def _choosing(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters that say which numbers these are."""
    return {key: value for key, value in parameters.items() if key not in BESIDES}


def _argument(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)


def _word(text: str) -> str:
    """A text as part of a file name; what cannot be is left out."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
