"""Themes of interviews as claims and as plain values."""

from __future__ import annotations

from typing import Any

from faultatlas.analysis.statistics.shares import Share
from faultatlas.analysis.tallies.naming import called, key
from faultatlas.analysis.tallies.theme_tables import Counted, title
from faultatlas.data.old.results import Claim

ANALYSIS = "challenges"


def claims(of: Counted) -> tuple[Claim, ...]:
    """How many themes there are; of each theme and group the mentions and the interviews."""
    heard = of.themes
    start = called(ANALYSIS, of.parameters)
    found = [
        Claim(
            f"{of.name}.themes", "Themes that the interviews speak of", len(heard.ranked),
            "themes", f"{start}: themes_heard", len(heard.ranked), len(heard.themes),
            rows_query=heard.seen.rows_query(),
        )
    ]  # fmt: skip
    rest = [code for code in heard.themes if code not in heard.ranked]
    every = [*heard.ranked, *heard.parents, *rest]  # a page shows the first ones large
    rows = {code: heard.seen.rows_query(heard.below(code)) for code in every}
    found += [
        _share_claim(
            f"{of.name}.{key(code)}.interviews", f"{start}: themes.{key(code)}.percent",
            f"Share of the interviews that speak of {_called(of, code)}", heard.share(code),
            rows[code],
        )
        for code in every
    ]  # fmt: skip
    found += [
        Claim(
            f"{of.name}.{key(code)}.mentions", f"Passages that speak of {_called(of, code)}",
            heard.mentions(code), "mentions", f"{start}: themes.{key(code)}.mentions",
            rows_query=rows[code],
        )
        for code in every
    ]  # fmt: skip
    for group in heard.group_names:
        found += [
            _share_claim(
                f"{of.name}.groups.{key(group)}.{key(code)}",
                f"{start}: groups.{key(group)}.{key(code)}.percent",
                f"Share of the interviews of {group} that speak of {_called(of, code)}",
                heard.share(code, group), heard.seen.rows_query([code], [group]),
            )
            for code in heard.themes
        ]  # fmt: skip
    return tuple(found)


def _share_claim(claim_id: str, query: str, statement: str, share: Share, rows: str) -> Claim:
    return Claim(
        claim_id, statement, share.percent, "percent", query, share.count, share.total,
        share.low, share.high, share.method, rows_query=rows,
    )  # fmt: skip


def _called(of: Counted, code: str) -> str:
    return f"{code} {title(of.themes, code)}".strip()


def document(of: Counted) -> dict[str, Any]:
    """All of it as plain values, where the claims say that they are."""
    heard = of.themes
    chance = heard.next_is_new
    return {
        "interviews": len(heard.interviews),
        "passages": heard.passages,
        "coded_passages": heard.seen.items,
        "themes_heard": len(heard.ranked),
        "themes": {
            key(code): {
                "code": code,
                "mentions": heard.mentions(code),
                **_plain(heard.share(code)),
                "passages": list(heard.places(code)),
            }
            for code in (*heard.parents, *heard.themes)
        },
        "groups": {
            key(group): {key(code): _plain(heard.share(code, group)) for code in heard.themes}
            for group in heard.group_names
        },
        "differences": {key(code): test.document() for code, test in of.differences.items()},
        "together": [
            {"codes": [one, two], "both": both, "percent": percent}
            for one, two, both, percent in heard.together()
        ],
        "saturation": {
            "new": [len(each.new) for each in heard.saturation],
            "once": heard.once,
            "next_is_new": {"count": chance.count, "total": chance.total, "value": chance.percent},
        },
    }


def _plain(share: Share) -> dict[str, Any]:
    return {
        "interviews": share.count,
        "of": share.total,
        "percent": share.percent,
        "interval": [share.low, share.high],
    }
