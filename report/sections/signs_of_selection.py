"""Threats that mining, selection and sampling leave in the data."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from faultatlas.report.formatting import counted
from faultatlas.report.sections import Material
from faultatlas.report.sections.numbers import count, share
from faultatlas.report.sections.sample import strata_of
from faultatlas.report.sections.signs import Sign, listed, sign

_GONE = "SELECT artifact_id, gone_reason, run_id FROM artifacts WHERE gone_at IS NOT NULL"
_NEW = (
    "SELECT artifact_id, run_id FROM artifacts WHERE gone_at IS NULL AND kind IS NOT NULL "
    "AND artifact_id NOT IN (SELECT artifact_id FROM selected WHERE position = 0) "
    "ORDER BY artifact_id"
)
_CUT = (
    "SELECT search, turn, number, query, missing_count, run_id FROM search_slices "
    "WHERE coalesce(missing_count, 0) > 0 OR is_incomplete OR NOT is_done "
    "ORDER BY search, turn, number"
)
_WALKS = (
    "SELECT DISTINCT project FROM git_walks WHERE project NOT IN "
    "(SELECT project FROM git_walks WHERE is_complete) ORDER BY project"
)
_PAPERS = "SELECT artifact_id, run_id FROM papers WHERE gone_at IS NULL"
FEW = 10


def signs(material: Material) -> Iterator[Sign]:
    """Those that are there."""
    yield from _gone(material)
    yield from _stale(material)
    yield from _unknown(material)
    yield from _strata(material)
    yield from _not_random(material)
    yield from _cut_off(material)
    yield from _papers(material)


def _gone(material: Material) -> Iterator[Sign]:
    rows = f"{_GONE} ORDER BY artifact_id"
    reasons = material.reader.rows(
        f"SELECT gone_reason, count(*) AS n FROM ({_GONE}) GROUP BY ALL ORDER BY ALL"
    )
    if reasons:
        claim = count(material.reader, ("threats", "gone"), "artifacts that are gone", rows)
        why = ", ".join(f"{row['n']:,} {row['gone_reason']}" for row in reasons)
        text = (
            f"{counted(int(claim.value or 0), 'artifact')} gone at the source or forgotten: {why}."
        )
        yield sign("gone", "Gone artifacts", text, "", claim)
    labelled = (
        "SELECT DISTINCT artifact_id FROM final_labels WHERE artifact_id IN "
        "(SELECT artifact_id FROM artifacts WHERE gone_at IS NOT NULL) ORDER BY artifact_id"
    )
    if material.has(labelled):
        claim = count(
            material.reader,
            ("threats", "gone-labelled"),
            "labelled artifacts that are gone",
            labelled,
        )
        text = (
            f"{counted(int(claim.value or 0), 'labelled artifact')} can no longer be looked up at "
            "the source; what was fetched is kept."
        )
        yield sign("gone-labelled", "Labelled artifacts that are gone", text, "", claim)


def _stale(material: Material) -> Iterator[Sign]:
    if material.has("SELECT 1 FROM funnel") and material.has(_NEW):
        claim = count(
            material.reader, ("threats", "unselected"), "artifacts mined after the selection", _NEW
        )
        text = f"{counted(int(claim.value or 0), 'artifact')} came after the steps were last run."
        yield sign(
            "stale-selection", "Selection is not up to date", text, "miner filter --again", claim
        )


def _unknown(material: Material) -> Iterator[Sign]:
    rows = material.reader.rows(
        "SELECT step, sum(rows_unknown)::BIGINT AS n, sum(rows_in)::BIGINT AS came FROM funnel "
        "GROUP BY ALL HAVING sum(rows_unknown) > 0 ORDER BY any_value(position)"
    )
    if rows:
        what = listed(f"{row['step']} ({row['n']:,} of {row['came']:,})" for row in rows)
        text = f"Conditions that say nothing about some artifacts, which were left out: {what}."
        yield sign("unknown", "Selected by values that are missing", text)


def _strata(material: Material) -> Iterator[Sign]:
    draws = material.reader.rows(
        "SELECT * FROM sample_draws QUALIFY draw = max(draw) OVER (PARTITION BY sample) "
        "ORDER BY sample"
    )
    for draw in draws:
        strata = strata_of(material.reader, draw)
        empty = [each for each in strata if not each.drawn]
        few = [each for each in strata if 0 < each.drawn < min(FEW, each.frame)]
        name = draw["sample"]
        if empty:
            lost = sum(each.frame for each in empty)
            text = (
                f"Of sample {name}, {len(empty)} of {counted(len(strata), 'stratum', 'strata')} "
                f"have no drawn artifact; {lost:,} of {draw['frame_count']:,} artifacts of the "
                f"frame are in them: {listed(each.stratum for each in empty)}."
            )
            yield sign(
                f"uncovered-{name}", "Strata that are not covered", text,
                f"annotation sample {shlex.quote(name)} --extend --size N",
            )  # fmt: skip
        if few:
            text = (
                f"Of sample {name}, {counted(len(few), 'stratum', 'strata')} have fewer than {FEW} "
                f"artifacts: {listed(f'{each.stratum} ({each.drawn})' for each in few)}. Shares "
                "within them have wide intervals."
            )
            yield sign(f"few-{name}", "Strata with few artifacts", text)


def _not_random(material: Material) -> Iterator[Sign]:
    rows = material.reader.rows(
        "SELECT DISTINCT sample, ordered_by FROM sample_draws WHERE method = 'highest' ORDER BY ALL"
    )
    for row in rows:
        text = (
            f"Sample {row['sample']} took the highest by {row['ordered_by']}: what is found in it "
            "holds for those, not for the frame."
        )
        yield sign(f"highest-{row['sample']}", "A sample that is not random", text)


def _cut_off(material: Material) -> Iterator[Sign]:
    if material.has(_CUT):
        claim = count(
            material.reader,
            ("threats", "searches-cut"),
            "ranges of searches that are not whole",
            _CUT,
        )
        missing = material.reader.value(f"SELECT sum(missing_count) FROM ({_CUT})") or 0
        text = (
            f"{counted(int(claim.value or 0), 'range')} of searches did not come to their end; the "
            f"source counted {int(missing):,} results that it did not give."
        )
        yield sign("searches", "Searches that were cut off", text, "miner repos QUERY", claim)
    unread = material.reader.rows(_WALKS)
    if unread:
        text = f"Not read to their end: {listed(row['project'] for row in unread)}."
        yield sign("walks", "Repositories that were read in part", text, "miner commits PROJECT")
    dumps = material.reader.rows(
        "SELECT DISTINCT name FROM dumps WHERE NOT is_complete ORDER BY name"
    )
    if dumps:
        text = f"Not read to their end: {listed(row['name'] for row in dumps)}."
        yield sign("dumps", "Dumps that were read in part", text, "miner posts --from-dump FILE")


def _papers(material: Material) -> Iterator[Sign]:
    bare = f"{_PAPERS} AND coalesce(abstract, '') = '' ORDER BY artifact_id"
    if material.has(bare):
        claim = share(
            material.reader, ("threats", "papers-without-abstract"), "papers without an abstract",
            bare, _PAPERS,
        )  # fmt: skip
        text = (
            f"{claim.count:,} of {counted(claim.total or 0, 'paper')} have no abstract: they "
            "can be screened by title and full text only."
        )
        yield sign("no-abstract", "Papers without an abstract", text, "", claim)
    open_ones = f"{_PAPERS} AND screening_decision IS NULL ORDER BY artifact_id"
    if material.has("SELECT 1 FROM screenings") and material.has(open_ones):
        claim = share(
            material.reader, ("threats", "papers-open"), "papers that are not screened to the end",
            open_ones, _PAPERS,
        )  # fmt: skip
        text = f"{claim.count:,} of {counted(claim.total or 0, 'paper')} are still to be decided."
        yield sign("screening", "Screening is not finished", text, "annotation status", claim)
