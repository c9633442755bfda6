"""What two raters said of twenty items: for tests of agreement."""

from __future__ import annotations

# Twenty items: both raters agree on sixteen; three times inside a branch, once across.
CODES = ["a1"] * 6 + ["a2"] * 4 + ["b1"] * 4 + ["b2"] * 2
APART = [("a1", "a2"), ("a2", "a1"), ("b1", "b2"), ("a1", "b2")]


def said(pairs: list[tuple[str, str]], *raters: str) -> dict[str, dict[str, str]]:
    return {
        f"github:o/r#{at}": dict(zip(raters or ("ann", "bob"), pair, strict=True))
        for at, pair in enumerate(pairs, 1)
    }


TWENTY = said([*((code, code) for code in CODES), *APART])
