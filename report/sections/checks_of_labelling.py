"""Checks of samples, raters and their agreement."""

from __future__ import annotations

from faultatlas.report.formatting import counted
from faultatlas.report.sections.facts import FILLED, PARTLY, Facts, Found, found_if


def sample(facts: Facts) -> Found:
    """How it was drawn."""
    methods = [f"{draw['sample']} ({draw['method']})" for draw in facts.draws]
    for draw in facts.bug_draws:
        strata = f"in strata of {', '.join(draw['strata'])}" if draw["strata"] else "simple"
        methods.append(f"{draw['sample']} (bugs, {strata})")
    return found_if(methods, f"{', '.join(methods)}.", _section(facts))


def sample_size(facts: Facts) -> Found:
    """The rule of the size."""
    given = [draw["sample"] for draw in facts.draws if draw["confidence"] is None]
    given += [draw["sample"] for draw in facts.bug_draws]
    if given:
        return Found(PARTLY, f"Given, not computed: {', '.join(given)}.", _section(facts))
    return found_if(facts.draws, "Computed from confidence and margin.", "sample")


def frame(facts: Facts) -> Found:
    """The frame."""
    told = []
    for what, draws in (("Artifacts", facts.draws), ("Bugs", facts.bug_draws)):
        sizes = ", ".join(f"{draw['sample']} {draw['frame_count']:,}" for draw in draws)
        told += [f"{what} in the frame: {sizes}."] if sizes else []
    return found_if(told, " ".join(told), _section(facts))


def seed(facts: Facts) -> Found:
    """Query, hash and seed."""
    told = [
        *(["Query, hash of the frame and seed are stored."] if facts.draws else []),
        *(["Sets, hash of the frame and seed of bugs are stored."] if facts.bug_draws else []),
    ]
    return found_if(told, " ".join(told), _section(facts))


def representative(facts: Facts) -> Found:
    """Strata compared with the frame."""
    strata = [draw["sample"] for draw in (*facts.draws, *facts.bug_draws) if draw["strata"]]
    if strata:
        told = f"Strata beside those of the frame: {', '.join(strata)}."
        return Found(FILLED, told, _section(facts))
    simple = facts.bug_draws or any(draw["method"] == "simple" for draw in facts.draws)
    told = "Drawn at random, without strata to compare."
    return found_if(simple, told, _section(facts), PARTLY)


def _section(facts: Facts) -> str:
    """Where samples are told of: those of bugs with their runs."""
    return "sample" if facts.draws else "re-execution"


def taxonomy(facts: Facts) -> Found:
    """What was rated."""
    names = sorted({f"{each['taxonomy']} {each['taxonomy_version']}" for each in facts.rounds})
    return found_if(names, f"{', '.join(names)}; the text of each version is stored.", "rounds")


def raters(facts: Facts) -> Found:
    """How many."""
    numbers = [len(each["raters"] or ()) for each in facts.rounds]
    told = ", ".join(
        f"{each['round']} {number}" for each, number in zip(facts.rounds, numbers, strict=True)
    )
    return found_if(
        any(numbers), f"{told}.", "rounds", FILLED if min(numbers, default=0) > 1 else PARTLY
    )


def independent(facts: Facts) -> Found:
    """Blind or not."""
    several = [each for each in facts.rounds if len(each["raters"] or ()) > 1]
    blind = [each for each in several if each["blindness"]]
    if several and len(blind) == len(several):
        kinds = sorted({each["blindness"] for each in blind})
        return Found(FILLED, f"Every rater had an own place: {', '.join(kinds)}.", "rounds")
    return found_if(several, "Of rounds from sheets nothing is known.", "rounds", PARTLY)


def pilot(facts: Facts) -> Found:
    """A round before another."""
    chained = [f"{each['after_round']} before {each['round']}" for each in facts.rounds
               if each["after_round"]]  # fmt: skip
    return found_if(chained, f"{', '.join(chained)}.", "rounds")


def agreement(facts: Facts) -> Found:
    """A statistic with its interval."""
    return found_if(
        facts.agreement, f"Measured for {counted(len(facts.agreement), 'round')}.", "agreement"
    )


def beforehand(facts: Facts) -> Found:
    """Fixed before the first label."""
    fixed = sum(1 for entry in facts.agreement if entry.get("fixed_beforehand"))
    told = f"{fixed} of {len(facts.agreement)} fixed beforehand; all statistics are reported."
    return found_if(
        facts.agreement, told, "agreement", FILLED if fixed == len(facts.agreement) else PARTLY
    )


def agreement_parts(facts: Facts) -> Found:
    """By category."""
    parts = sum(len(entry.get("category") or ()) for entry in facts.agreement)
    return found_if(parts, f"{counted(parts, 'category', 'categories')} measured.", "agreement")


def scale(facts: Facts) -> Found:
    """Its name."""
    names = sorted({str(entry["scale"]) for entry in facts.agreement if entry.get("scale")})
    return found_if(names, f"{', '.join(names)}.", "agreement")


def settled(facts: Facts) -> Found:
    """By which rule."""
    rows = facts.material.reader.rows(
        "SELECT settled_by, count(DISTINCT (round, item_id)) AS n FROM final_labels GROUP BY ALL "
        "ORDER BY settled_by"
    )
    told = ", ".join(f"{row['settled_by']} {row['n']:,}" for row in rows)
    return found_if(rows, f"{told}.", "rounds")


def saturation(facts: Facts) -> Found:
    """When new codes stopped."""
    names = [each.name for each in facts.material.of("saturation")]
    return found_if(names, f"{', '.join(names)}.", "findings")
