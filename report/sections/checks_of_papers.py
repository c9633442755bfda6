"""Checks of how papers were found, screened and coded."""

from __future__ import annotations

from faultatlas.report.formatting import counted
from faultatlas.report.sections.facts import FILLED, PARTLY, Facts, Found, found_if


def paper_search(facts: Facts) -> Found:
    """Queries are stored."""
    searches = facts.value("SELECT count(DISTINCT search) FROM paper_records WHERE search <> ''")
    if searches:
        return Found(FILLED, f"{counted(searches, 'query', 'queries')} with responses.", "papers")
    return found_if(facts.papers, "From files: the query is not known here.", "papers", PARTLY)


def paper_sources(facts: Facts) -> Found:
    """Several indexes or files."""
    number = facts.value("SELECT count(DISTINCT source) FROM paper_records")
    told = f"{counted(number, 'source')}."
    return found_if(number, told, "papers", FILLED if number > 1 else PARTLY)


def screening(facts: Facts) -> Found:
    """Steps and reasons."""
    excluded = facts.value("SELECT count(*) FROM papers WHERE screening_decision = 'excluded'")
    steps = facts.value("SELECT count(*) FROM screenings")
    return found_if(
        steps, f"{counted(steps, 'step')}; {excluded:,} papers excluded with a reason.", "papers"
    )


def paper_flow(facts: Facts) -> Found:
    """From records to included papers."""
    included = facts.value("SELECT count(*) FROM papers WHERE screening_decision = 'included'")
    state = FILLED if included else PARTLY
    return found_if(
        facts.value("SELECT count(*) FROM screenings"), f"{included:,} included.", "papers", state
    )


def known_papers(facts: Facts) -> Found:
    """Known papers that were found."""
    known = facts.value("SELECT count(*) FROM known_papers")
    return found_if(known, f"{counted(known, 'known paper')} to compare with.", "papers")


def paper_codes(facts: Facts) -> Found:
    """Codes with their places."""
    codes = facts.value("SELECT count(*) FROM paper_codes")
    placed = facts.value("SELECT count(*) FROM paper_codes WHERE place IS NOT NULL")
    told = f"{placed:,} of {counted(codes, 'code')} with the place that says so."
    return found_if(codes, told, "papers", FILLED if placed == codes else PARTLY)


def screeners(facts: Facts) -> Found:
    """Two or more."""
    number = facts.value(
        "SELECT count(*) FROM rounds WHERE len(raters) > 1 "
        "AND round IN (SELECT round FROM screenings)"
    )
    return found_if(number, f"{counted(number, 'step')} with two or more raters.", "rounds")
