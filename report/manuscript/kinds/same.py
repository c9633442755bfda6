"""The same quantity, printed in several places."""

from __future__ import annotations

from faultatlas.report.manuscript.comparing import failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import Printed, match, parse
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "same"
ABOUT = "the same quantity, or the same word, in two or more places"
FIELDS = {"places": "where each of them stands (optional)"}
EXAMPLE = """
printed = ["23.8 %", "0.24"]
places = ["Table 21", "Table 20"]
"""
RULE = "equal in the digits of the one that has fewer; words are compared without case"


def check(entry: Entry) -> Outcome:
    """Whether all places say the same."""
    texts = [str(each) for each in entry.texts("printed", least=2)]
    places = entry.texts("places") if entry.has("places") else [""] * len(texts)
    if len(places) != len(texts):
        raise entry.error(f"{len(places)} places for {len(texts)} printed")
    listed = ", ".join(
        f"{text} ({place})" if place else text for text, place in zip(texts, places, strict=True)
    )
    finest, differ = _compared(texts)
    if not differ:
        return Outcome("consistent", finest, RULE, f"all {len(texts)} places agree")
    return Outcome(failed(entry), " and ".join(dict.fromkeys(texts)), RULE, f"differ: {listed}")


def _compared(texts: list[str]) -> tuple[str, bool]:
    """The one with the most digits, and whether another is not that one with fewer."""
    try:
        numbers = [parse(text) for text in texts]
    except ValueError:
        return texts[0], len({" ".join(text.casefold().split()) for text in texts}) > 1
    finest = min(numbers, key=lambda each: each.unit / (100 if each.percent else 1))
    return finest.text, any(
        match(each, _in_its_unit(finest, each)) not in ("rounded", "cut") for each in numbers
    )


def _in_its_unit(value: Printed, like: Printed) -> float:
    fraction = value.value / 100 if value.percent else value.value
    return like.scaled(fraction)
