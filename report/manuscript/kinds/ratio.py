"""How many times: a ratio in digits (`3.8`) or in words (`almost four times`)."""

from __future__ import annotations

import re
from operator import truediv

from faultatlas.report.manuscript.comparing import computed_from, failed
from faultatlas.report.manuscript.entries import Entry
from faultatlas.report.manuscript.numbers import shown
from faultatlas.report.manuscript.outcomes import Outcome

NAME = "ratio"
ABOUT = "a ratio of two numbers, in digits or in words: almost four times"
FIELDS = {"numerator": "the number that is so many times", "denominator": "the other one"}
EXAMPLE = """
printed = "almost four times"
numerator = "40.00 %"
denominator = "10.65 %"
"""
RULE = (
    "almost, nearly: below, and the nearest half or whole number; more than, over: above, by less "
    "than one; about or nothing: the nearest"
)
_NUMBERS = {
    "half": 0.5, "twice": 2, "double": 2, "triple": 3, "thrice": 3, "two": 2, "three": 3,
    "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "twenty": 20, "hundred": 100,
}  # fmt: skip
_WORDS = re.compile(
    r"(?P<how>almost|nearly|close to|more than|over|about|around|roughly|approximately)?\s*"
    r"(?P<number>[a-z]+|\d+(?:\.\d+)?)(?:\s*(?:times|x|fold|-fold))?",
    re.IGNORECASE,
)
_ALMOST = ("almost", "nearly", "close to")
_MORE = ("more than", "over")


def check(entry: Entry) -> Outcome:
    """The ratio, against digits or words."""
    upper, lower = entry.number("numerator"), entry.number("denominator")
    said = entry.words("printed")
    if not re.search("[a-z]{3}", said):
        return computed_from(entry, [upper, lower], lambda both: both[0] / both[1])
    found = _WORDS.fullmatch(said.strip())
    number = found["number"].lower() if found else ""
    if not found or (number not in _NUMBERS and not number[0].isdigit()):
        raise entry.error(f"printed = {said!r}", "such as: almost four times, twice, 3.8")
    times = float(_NUMBERS.get(number, 0) or number)
    ratio = entry.guarded(truediv, upper.value, lower.value)
    how = (found["how"] or "about").lower()
    step = 0.5 if times >= 1 else 0.25
    if how in _ALMOST:
        holds = times - step <= ratio < times
    elif how in _MORE:
        holds = times < ratio < times + 2 * step
    else:
        holds = abs(ratio - times) <= step
    words = shown(ratio)
    reason = f"{words} is {'' if holds else 'not '}{said}"
    return Outcome("consistent" if holds else failed(entry), words, RULE, reason, ratio)
