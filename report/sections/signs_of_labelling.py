"""Threats that labelling leaves in the data: raters, agreement, and what was not decided."""

from __future__ import annotations

from collections.abc import Iterator

from faultatlas.report.formatting import counted, number
from faultatlas.report.sections import Material, changed_labels
from faultatlas.report.sections.agreement import ANALYSIS as AGREEMENT
from faultatlas.report.sections.agreement import entries
from faultatlas.report.sections.numbers import share
from faultatlas.report.sections.signs import Sign, listed, sign

# Krippendorff (2004, p. 241): below 0.667 not even tentative conclusions.
LEAST = 0.667

_SPECIAL = {"~unclear": "unclear", "~not-a-fault": "not a fault", "~new": "a new code is needed"}
_FINAL = "SELECT DISTINCT round, item_id, artifact_id FROM final_labels"
_LABELLED = (
    "SELECT DISTINCT round, item_id, artifact_id FROM labels "
    "WHERE stage = 'independent' AND is_current"
)
_UNDECIDED = (
    f"{_LABELLED} AND (round, item_id) NOT IN (SELECT (round, item_id) FROM final_labels) "
    "ORDER BY round, item_id, artifact_id"
)
_UNLABELLED = (
    "SELECT DISTINCT round, item_id, rater, run_id FROM assignments WHERE (round, item_id, rater) "
    "NOT IN (SELECT (round, item_id, rater) FROM labels WHERE stage = 'independent' "
    "AND is_current) ORDER BY round, item_id, rater, run_id"
)
_SINGLE = (
    f"{_FINAL} WHERE (round, item_id) IN (SELECT (round, item_id) FROM labels WHERE "
    "stage = 'independent' AND is_current GROUP BY round, item_id "
    "HAVING count(DISTINCT rater) = 1) ORDER BY round, item_id, artifact_id"
)


def signs(material: Material) -> Iterator[Sign]:
    """Those that are there."""
    yield from _agreement(material)
    yield from _gates(material)
    yield from changed_labels.signs(material)
    yield from _rules(material)
    yield from _items(material)
    yield from _special(material)


def _agreement(material: Material) -> Iterator[Sign]:
    low, weak = [], []
    for name, entry in entries(material.of(AGREEMENT)):
        if entry.get("stage") != "independent":
            continue
        main = entry["statistics"].get(entry.get("main"), {})
        value = main.get("value")
        least = entry.get("threshold") or LEAST
        if isinstance(value, int | float) and value < least:
            low.append(f"{name} ({main.get('title')} {number(float(value))}, wanted {least:g})")
        for code, part in (entry.get("category") or {}).items():
            found = part.get("value")
            if isinstance(found, int | float) and found < LEAST:
                weak.append(f"{code} ({number(float(found))}, {name})")
    if low:
        text = f"Below what was wanted: {listed(low)}."
        yield sign("low-agreement", "Low agreement", text, "annotation adjudicate ROUND")
    if weak:
        text = (
            f"{counted(len(weak), 'category', 'categories')} below {LEAST}, the least that "
            f"Krippendorff (2004) asks for tentative conclusions: {listed(sorted(set(weak)))}."
        )
        yield sign("weak-categories", "Categories that raters confuse", text)


def _gates(material: Material) -> Iterator[Sign]:
    rows = material.reader.rows(
        "SELECT round, stage, reason, kind FROM gates "
        "QUALIFY row_number() OVER (PARTITION BY round, stage "
        "ORDER BY decided_at DESC, run_id DESC) = 1 AND NOT is_passed ORDER BY ALL"
    )
    over = [row for row in rows if row["kind"] == "override"]
    closed = [row for row in rows if row not in over]
    if closed:
        which = listed(f"{row['round']} ({row['stage']})" for row in closed)
        text = f"Not passed: {which}."
        yield sign("gate", "Gates that were not passed", text, "annotation agreement ROUND")
    if over:
        which = listed(f"{row['round']} ({row['reason']})" for row in over)
        text = f"The study went on although a gate was not passed: {which}."
        yield sign("gate-overruled", "Gates that were overruled", text)


def _rules(material: Material) -> Iterator[Sign]:
    rounds = material.reader.rows("SELECT * FROM rounds ORDER BY created_at, run_id, round")
    several = [row for row in rounds if len(row["raters"] or ()) > 1]
    loose = [row["round"] for row in several if not row["statistic"] or row["origin"] == "imported"]
    if loose:
        text = (
            f"Nothing shows that the statistic was fixed before the first label: {listed(loose)}."
        )
        yield sign("statistic", "Statistic not fixed beforehand", text)
    shown = [row["round"] for row in rounds if row["suggestions"]]
    if shown:
        text = f"Raters saw what a model proposes, and may have followed it: {listed(shown)}."
        yield sign("suggestions", "Suggestions were shown to raters", text)
    seeing = [row["round"] for row in several if row["blindness"] != "own server"]
    if seeing:
        text = (
            "Raters could have seen each other's labels, or nothing is known of it: "
            f"{listed(seeing)}."
        )
        yield sign("blindness", "Raters who may not have been blind", text)
    alone = [row["round"] for row in rounds if len(row["raters"] or ()) == 1]
    if alone:
        text = f"One rater only, so that agreement cannot be measured: {listed(alone)}."
        yield sign("one-rater", "Rounds with one rater", text)
    versions = material.reader.rows(
        "SELECT round, count(DISTINCT taxonomy_version) AS n FROM final_labels GROUP BY ALL "
        "HAVING count(DISTINCT taxonomy_version) > 1 ORDER BY round"
    )
    if versions:
        text = f"Final labels of several versions: {listed(row['round'] for row in versions)}."
        yield sign(
            "versions",
            "Several versions of a taxonomy",
            text,
            "annotation taxonomy migrate TAXONOMY",
        )


def _items(material: Material) -> Iterator[Sign]:
    for key, title, rows, of, told, command in (
        ("undecided", "Items without a decision", _UNDECIDED, _LABELLED,
         "labelled items have no final label", "annotation adjudicate ROUND"),
        ("unlabelled", "Items that were not labelled", _UNLABELLED,
         "SELECT DISTINCT round, item_id, rater FROM assignments",
         "assignments have no label", "annotation status"),
        ("single", "Items that one rater labelled", _SINGLE, _FINAL,
         "items with a final label were labelled by one rater only", ""),
    ):  # fmt: skip
        if material.has(rows):
            claim = share(material.reader, ("threats", key), told, rows, of)
            text = f"{claim.count:,} of {claim.total:,} {told}."
            yield sign(key, title, text, command, claim)


def _special(material: Material) -> Iterator[Sign]:
    of = "SELECT artifact_id, item_id, round, code, run_id FROM final_labels"
    rows = f"{of} WHERE starts_with(code, '~') ORDER BY round, item_id, code"
    codes = material.reader.rows(
        f"SELECT code, count(*) AS n FROM ({rows}) GROUP BY ALL ORDER BY code"
    )
    if codes:
        claim = share(
            material.reader, ("threats", "no-code"), "final labels that are no code", rows, of
        )
        what = listed(f"{_SPECIAL.get(row['code'], row['code'])} {row['n']:,}" for row in codes)
        text = f"{claim.count:,} of {claim.total:,} final labels are no code of a taxonomy: {what}."
        yield sign("no-code", "Items without a code", text, "", claim)
