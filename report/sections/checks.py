"""Whether the data of a study fill what a checklist asks for: one small function an item.

Each gives a state, the evidence in words, and the key of the section where it stands. What the
data cannot show is never called filled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from report.formatting import counted
from report.sections import Material
from report.sections.agreement import entries

FILLED, PARTLY, MISSING, NOT_APPLICABLE = "filled", "partly", "missing", "not applicable"


@dataclass(frozen=True)
class Found:
    """What came of a check."""

    state: str
    evidence: str = ""
    section: str = ""


NONE = Found(MISSING)
WRITTEN = Found(MISSING, "No data of the study can show it: the manuscript must say it.")


@dataclass(frozen=True)
class Facts:
    """What several checks ask of the study, each asked once."""

    material: Material

    def value(self, sql: str) -> int:
        """A count."""
        return int(self.material.reader.value(sql) or 0)

    @cached_property
    def artifacts(self) -> int:
        """What was mined, papers aside."""
        return self.value(
            "SELECT count(*) FROM artifacts WHERE gone_at IS NULL AND kind IN "
            "('issue', 'pull', 'commit', 'post')"
        )

    @cached_property
    def papers(self) -> int:
        """Papers."""
        return self.value("SELECT count(*) FROM papers")

    @cached_property
    def labels(self) -> int:
        """Final labels and those of raters."""
        return self.value(
            "SELECT (SELECT count(*) FROM labels) + (SELECT count(*) FROM final_labels)"
        )

    @cached_property
    def draws(self) -> list[dict[str, Any]]:
        """The last draw of each sample."""
        return self.material.reader.rows(
            "SELECT * FROM sample_draws QUALIFY draw = max(draw) OVER (PARTITION BY sample) "
            "ORDER BY sample"
        )

    @cached_property
    def rounds(self) -> list[dict[str, Any]]:
        """The rounds, in their order."""
        return self.material.reader.rows("SELECT * FROM rounds ORDER BY created_at, run_id, round")

    @cached_property
    def agreement(self) -> list[dict[str, Any]]:
        """What was measured of raters on their own."""
        found = entries(self.material.of("agreement"))
        return [entry for _, entry in found if entry.get("stage") == "independent"]

    @cached_property
    def findings(self) -> list[Any]:
        """Results that are neither agreement nor the study's own numbers."""
        return [
            each for each in self.material.results if each.analysis not in {"agreement", "study"}
        ]


APPLIES: dict[str, tuple[Callable[[Facts], bool], str]] = {
    "always": (lambda _: True, ""),
    "mined": (lambda facts: facts.artifacts > 0, "Nothing was mined."),
    "labelled": (lambda facts: facts.labels > 0 or bool(facts.rounds), "Nothing was labelled."),
    "papers": (lambda facts: facts.papers > 0, "The study has no papers."),
}


def _if(condition: object, evidence: str, section: str, state: str = FILLED) -> Found:
    return Found(state, evidence, section) if condition else NONE


# --- general -------------------------------------------------------------------------


def collected(facts: Facts) -> Found:
    """What, where, when and how."""
    mined = facts.artifacts + facts.papers
    if mined:
        return Found(FILLED, f"{counted(mined, 'artifact')} with source, time and run.", "summary")
    return _if(
        facts.labels,
        "Labels were imported; where they come from is not known here.",
        "rounds",
        PARTLY,
    )


def analysed(facts: Facts) -> Found:
    """By which analyses."""
    kinds = sorted({each.analysis for each in facts.findings})
    return _if(kinds, f"Stored with their parameters: {', '.join(kinds)}.", "findings")


def evidence(facts: Facts) -> Found:
    """From a number to its rows."""
    claims = [claim for each in facts.findings for claim in each.claims]
    rows = sum(1 for claim in claims if claim.rows_query)
    told = f"{counted(len(claims), 'claim')}, {rows:,} of them with the rows behind them."
    return _if(claims, told, "findings", FILLED if rows == len(claims) else PARTLY)


def intervals(facts: Facts) -> Found:
    """Shares with their intervals."""
    claims = [
        claim
        for each in facts.findings
        for claim in each.claims
        if claim.unit == "percent" and claim.value is not None
    ]
    sure = sum(1 for claim in claims if claim.low is not None)
    told = f"{sure:,} of {counted(len(claims), 'share')} have an interval."
    return _if(claims, told, "findings", FILLED if sure == len(claims) else PARTLY)


def limitations(_facts: Facts) -> Found:
    """Those that data show; the rest is the authors'."""
    return Found(PARTLY, "Those that the data show; the manuscript must weigh them.", "threats")


def written(_facts: Facts) -> Found:
    """Only a manuscript can say it."""
    return WRITTEN


def people(facts: Facts) -> Found:
    """People are pseudonyms."""
    told = "Authors are pseudonyms in every table; the manuscript must discuss the rest."
    return _if(facts.artifacts, told, "summary", PARTLY)


# --- mining --------------------------------------------------------------------------


def unit(facts: Facts) -> Found:
    """What is one case."""
    kinds = facts.material.reader.rows(
        "SELECT DISTINCT kind FROM artifacts WHERE kind IS NOT NULL AND artifact_id IN "
        "(SELECT artifact_id FROM items UNION SELECT artifact_id FROM samples) ORDER BY kind"
    )
    names = ", ".join(row["kind"] for row in kinds)
    return _if(names, f"What is drawn and labelled: {names}.", "rounds")


def sources(facts: Facts) -> Found:
    """Where from."""
    rows = facts.material.reader.rows(
        "SELECT DISTINCT source FROM artifacts WHERE kind IS NOT NULL ORDER BY source"
    )
    names = ", ".join(row["source"] for row in rows)
    return _if(names, f"{names}; why these, the manuscript must say.", "summary", PARTLY)


def projects(facts: Facts) -> Found:
    """Which repositories."""
    number = facts.value("SELECT count(DISTINCT project) FROM artifacts WHERE kind <> 'paper'")
    searched = facts.value("SELECT count(DISTINCT search) FROM search_results")
    if searched:
        told = f"{counted(number, 'project')}; {counted(searched, 'search', 'searches')} stored."
        return Found(FILLED, told, "summary")
    return _if(number, f"{counted(number, 'project')}, named by hand.", "summary", PARTLY)


def funnel(facts: Facts) -> Found:
    """Steps with their counts."""
    steps = facts.value("SELECT count(DISTINCT step) FROM funnel WHERE position > 0")
    return _if(steps, f"{counted(steps, 'step')} with counts by source.", "funnel")


def validated(facts: Facts) -> Found:
    """Whether somebody looked at what the criteria let through."""
    wrong = facts.value("SELECT count(*) FROM final_labels WHERE code = '~not-a-fault'")
    looked = facts.value("SELECT count(DISTINCT artifact_id) FROM final_labels")
    told = f"{looked:,} artifacts were read by raters, {wrong:,} were found to be no fault."
    return _if(looked, told, "rounds")


def acquisition(facts: Facts) -> Found:
    """Runs."""
    runs = facts.value("SELECT count(*) FROM runs WHERE starts_with(command, 'miner')")
    told = f"{counted(runs, 'run')} of `miner` with arguments, version and time."
    return _if(runs, told, "summary")


def characteristics(facts: Facts) -> Found:
    """Size and period."""
    return _if(
        facts.artifacts, f"{counted(facts.artifacts, 'artifact')} by source and project.", "summary"
    )


def preprocessing(facts: Facts) -> Found:
    """Links and duplicates."""
    links = facts.value("SELECT count(*) FROM links")
    told = f"{counted(links, 'link')} between artifacts, duplicates among them."
    return _if(links, told, "summary", PARTLY)


# --- sampling ------------------------------------------------------------------------


def sample(facts: Facts) -> Found:
    """How it was drawn."""
    methods = ", ".join(f"{draw['sample']} ({draw['method']})" for draw in facts.draws)
    return _if(methods, f"{methods}.", "sample")


def sample_size(facts: Facts) -> Found:
    """The rule of the size."""
    given = [draw["sample"] for draw in facts.draws if draw["confidence"] is None]
    if given:
        return Found(PARTLY, f"Given, not computed: {', '.join(given)}.", "sample")
    return _if(facts.draws, "Computed from confidence and margin.", "sample")


def frame(facts: Facts) -> Found:
    """The frame."""
    sizes = ", ".join(f"{draw['sample']} {draw['frame_count']:,}" for draw in facts.draws)
    return _if(sizes, f"Artifacts in the frame: {sizes}.", "sample")


def seed(facts: Facts) -> Found:
    """Query, hash and seed."""
    return _if(facts.draws, "Query, hash of the frame and seed are stored.", "sample")


def representative(facts: Facts) -> Found:
    """Strata compared with the frame."""
    strata = [draw["sample"] for draw in facts.draws if draw["strata"]]
    if strata:
        return Found(FILLED, f"Strata beside those of the frame: {', '.join(strata)}.", "sample")
    told = "Drawn at random, without strata to compare."
    return _if(any(draw["method"] == "simple" for draw in facts.draws), told, "sample", PARTLY)


# --- annotation ----------------------------------------------------------------------


def taxonomy(facts: Facts) -> Found:
    """What was rated."""
    names = sorted({f"{each['taxonomy']} {each['taxonomy_version']}" for each in facts.rounds})
    return _if(names, f"{', '.join(names)}; the text of each version is stored.", "rounds")


def raters(facts: Facts) -> Found:
    """How many."""
    numbers = [len(each["raters"] or ()) for each in facts.rounds]
    told = ", ".join(
        f"{each['round']} {number}" for each, number in zip(facts.rounds, numbers, strict=True)
    )
    return _if(
        any(numbers), f"{told}.", "rounds", FILLED if min(numbers, default=0) > 1 else PARTLY
    )


def independent(facts: Facts) -> Found:
    """Blind or not."""
    several = [each for each in facts.rounds if len(each["raters"] or ()) > 1]
    blind = [each for each in several if each["blindness"]]
    if several and len(blind) == len(several):
        kinds = sorted({each["blindness"] for each in blind})
        return Found(FILLED, f"Every rater had an own place: {', '.join(kinds)}.", "rounds")
    return _if(several, "Of rounds from sheets nothing is known.", "rounds", PARTLY)


def pilot(facts: Facts) -> Found:
    """A round before another."""
    chained = [f"{each['after_round']} before {each['round']}" for each in facts.rounds
               if each["after_round"]]  # fmt: skip
    return _if(chained, f"{', '.join(chained)}.", "rounds")


def agreement(facts: Facts) -> Found:
    """A statistic with its interval."""
    return _if(
        facts.agreement, f"Measured for {counted(len(facts.agreement), 'round')}.", "agreement"
    )


def beforehand(facts: Facts) -> Found:
    """Fixed before the first label."""
    fixed = sum(1 for entry in facts.agreement if entry.get("fixed_beforehand"))
    told = f"{fixed} of {len(facts.agreement)} fixed beforehand; all statistics are reported."
    return _if(
        facts.agreement, told, "agreement", FILLED if fixed == len(facts.agreement) else PARTLY
    )


def agreement_parts(facts: Facts) -> Found:
    """By category."""
    parts = sum(len(entry.get("category") or ()) for entry in facts.agreement)
    return _if(parts, f"{counted(parts, 'category', 'categories')} measured.", "agreement")


def scale(facts: Facts) -> Found:
    """Its name."""
    names = sorted({str(entry["scale"]) for entry in facts.agreement if entry.get("scale")})
    return _if(names, f"{', '.join(names)}.", "agreement")


def settled(facts: Facts) -> Found:
    """By which rule."""
    rows = facts.material.reader.rows(
        "SELECT settled_by, count(DISTINCT (round, item_id)) AS n FROM final_labels GROUP BY ALL "
        "ORDER BY settled_by"
    )
    told = ", ".join(f"{row['settled_by']} {row['n']:,}" for row in rows)
    return _if(rows, f"{told}.", "rounds")


def saturation(facts: Facts) -> Found:
    """When new codes stopped."""
    names = [each.name for each in facts.material.of("saturation")]
    return _if(names, f"{', '.join(names)}.", "findings")


# --- papers --------------------------------------------------------------------------


def paper_search(facts: Facts) -> Found:
    """Queries are stored."""
    searches = facts.value("SELECT count(DISTINCT search) FROM paper_records WHERE search <> ''")
    if searches:
        return Found(FILLED, f"{counted(searches, 'query', 'queries')} with responses.", "papers")
    return _if(facts.papers, "From files: the query is not known here.", "papers", PARTLY)


def paper_sources(facts: Facts) -> Found:
    """Several indexes or files."""
    number = facts.value("SELECT count(DISTINCT source) FROM paper_records")
    told = f"{counted(number, 'source')}."
    return _if(number, told, "papers", FILLED if number > 1 else PARTLY)


def screening(facts: Facts) -> Found:
    """Steps and reasons."""
    excluded = facts.value("SELECT count(*) FROM papers WHERE screening_decision = 'excluded'")
    steps = facts.value("SELECT count(*) FROM screenings")
    return _if(
        steps, f"{counted(steps, 'step')}; {excluded:,} papers excluded with a reason.", "papers"
    )


def paper_flow(facts: Facts) -> Found:
    """From records to included papers."""
    included = facts.value("SELECT count(*) FROM papers WHERE screening_decision = 'included'")
    state = FILLED if included else PARTLY
    return _if(
        facts.value("SELECT count(*) FROM screenings"), f"{included:,} included.", "papers", state
    )


def known_papers(facts: Facts) -> Found:
    """Known papers that were found."""
    known = facts.value("SELECT count(*) FROM known_papers")
    return _if(known, f"{counted(known, 'known paper')} to compare with.", "papers")


def paper_codes(facts: Facts) -> Found:
    """Codes with their places."""
    codes = facts.value("SELECT count(*) FROM paper_codes")
    placed = facts.value("SELECT count(*) FROM paper_codes WHERE place IS NOT NULL")
    told = f"{placed:,} of {counted(codes, 'code')} with the place that says so."
    return _if(codes, told, "papers", FILLED if placed == codes else PARTLY)


def screeners(facts: Facts) -> Found:
    """Two or more."""
    number = facts.value(
        "SELECT count(*) FROM rounds WHERE len(raters) > 1 AND round IN (SELECT round FROM screenings)"
    )
    return _if(number, f"{counted(number, 'step')} with two or more raters.", "rounds")


# --- open science --------------------------------------------------------------------


def package(facts: Facts) -> Found:
    """Not known from the study: a package is made of it."""
    ready = bool(facts.findings)
    return Found(
        PARTLY if ready else MISSING,
        "The study can be packed; that it is archived, the manuscript must say." if ready else "",
    )


def claims(facts: Facts) -> Found:
    """Claims that came out again."""
    number = sum(len(each.claims) for each in facts.material.results)
    state = PARTLY if facts.material.failed else FILLED
    return _if(
        number, f"{counted(number, 'claim')} with an id and the way to it.", "findings", state
    )


CHECKS: dict[str, Callable[[Facts], Found]] = {
    each.__name__: each
    for each in (
        collected, analysed, evidence, intervals, limitations, written, people, unit, sources,
        projects, funnel, validated, acquisition, characteristics, preprocessing, sample,
        sample_size, frame, seed, representative, taxonomy, raters, independent, pilot, agreement,
        beforehand, agreement_parts, scale, settled, saturation, paper_search, paper_sources,
        screening, paper_flow, known_papers, paper_codes, screeners, package, claims,
    )
}  # fmt: skip
