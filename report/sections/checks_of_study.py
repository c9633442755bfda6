"""Checks of how a study was made: general, mining and open science."""

from __future__ import annotations

from faultatlas.report.formatting import counted
from faultatlas.report.sections.facts import FILLED, MISSING, PARTLY, Facts, Found, found_if


def collected(facts: Facts) -> Found:
    """What, where, when and how."""
    mined = facts.artifacts + facts.papers
    bugs = sum(facts.bug_sets.values())
    told = [f"{counted(mined, 'artifact')} with source, time and run."] if mined else []
    if bugs:
        sets = ", ".join(facts.bug_sets)
        told.append(f"{counted(bugs, 'bug')} of {sets}, imported with content, time and run.")
    if told:
        return Found(FILLED, " ".join(told), "summary" if mined else "re-execution")
    return found_if(
        facts.labels,
        "Labels were imported; where they come from is not known here.",
        "rounds",
        PARTLY,
    )


def analysed(facts: Facts) -> Found:
    """By which analyses."""
    kinds = sorted({each.analysis for each in facts.findings})
    return found_if(kinds, f"Stored with their parameters: {', '.join(kinds)}.", "findings")


def evidence(facts: Facts) -> Found:
    """From a number to its rows."""
    claims = [claim for each in facts.findings for claim in each.claims]
    rows = sum(1 for claim in claims if claim.rows_query)
    told = f"{counted(len(claims), 'claim')}; {rows:,} list the rows of the study behind them."
    return found_if(claims, told, "findings")


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
    return found_if(claims, told, "findings", FILLED if sure == len(claims) else PARTLY)


def limitations(_facts: Facts) -> Found:
    """Those that data show; the rest is the authors'."""
    return Found(PARTLY, "Those that the data show; the manuscript must weigh them.", "threats")


def written(_facts: Facts) -> Found:
    """Only a manuscript can say it."""
    return Found(MISSING, "No data of the study can show it: the manuscript must say it.")


def people(facts: Facts) -> Found:
    """People are pseudonyms."""
    told = "Authors are pseudonyms in every table; the manuscript must discuss the rest."
    return found_if(facts.artifacts, told, "summary", PARTLY)


def unit(facts: Facts) -> Found:
    """What is one case."""
    kinds = facts.material.reader.rows(
        "SELECT DISTINCT kind FROM artifacts WHERE kind IS NOT NULL AND artifact_id IN "
        "(SELECT artifact_id FROM items UNION SELECT artifact_id FROM samples) ORDER BY kind"
    )
    names = ", ".join(row["kind"] for row in kinds)
    return found_if(names, f"What is drawn and labelled: {names}.", "rounds")


def sources(facts: Facts) -> Found:
    """Where from."""
    rows = facts.material.reader.rows(
        "SELECT DISTINCT source FROM artifacts WHERE kind IS NOT NULL ORDER BY source"
    )
    names = ", ".join(row["source"] for row in rows)
    return found_if(names, f"{names}; why these, the manuscript must say.", "summary", PARTLY)


def projects(facts: Facts) -> Found:
    """Which repositories."""
    number = facts.value("SELECT count(DISTINCT project) FROM artifacts WHERE kind <> 'paper'")
    searched = facts.value("SELECT count(DISTINCT search) FROM search_results")
    if searched:
        told = f"{counted(number, 'project')}; {counted(searched, 'search', 'searches')} stored."
        return Found(FILLED, told, "summary")
    return found_if(number, f"{counted(number, 'project')}, named by hand.", "summary", PARTLY)


def funnel(facts: Facts) -> Found:
    """Steps with their counts."""
    steps = facts.value("SELECT count(DISTINCT step) FROM funnel WHERE position > 0")
    return found_if(steps, f"{counted(steps, 'step')} with counts by source.", "funnel")


def validated(facts: Facts) -> Found:
    """Whether somebody looked at what the criteria let through."""
    wrong = facts.value("SELECT count(*) FROM final_labels WHERE code = '~not-a-fault'")
    looked = facts.value("SELECT count(DISTINCT artifact_id) FROM final_labels")
    told = f"{looked:,} artifacts were read by raters, {wrong:,} were found to be no fault."
    return found_if(looked, told, "rounds")


def acquisition(facts: Facts) -> Found:
    """Runs."""
    runs = facts.value("SELECT count(*) FROM runs WHERE starts_with(command, 'miner')")
    told = f"{counted(runs, 'run')} of miner with arguments, version and time."
    return found_if(runs, told, "summary")


def characteristics(facts: Facts) -> Found:
    """Size and period."""
    return found_if(
        facts.artifacts, f"{counted(facts.artifacts, 'artifact')} by source and project.", "summary"
    )


def preprocessing(facts: Facts) -> Found:
    """Links and duplicates."""
    links = facts.value("SELECT count(*) FROM links")
    told = f"{counted(links, 'link')} between artifacts, duplicates among them."
    return found_if(links, told, "summary", PARTLY)


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
    return found_if(
        number, f"{counted(number, 'claim')} with an id and the way to it.", "findings", state
    )
