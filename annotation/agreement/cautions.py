"""What a reader of an agreement value must know: how it was chosen, and what weakens it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from faultatlas.annotation.agreement.choices import variant
from faultatlas.annotation.agreement.gate import CHANGED
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.annotation.agreement.choices import Choice
    from faultatlas.annotation.agreement.measuring import Agreement
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.settings import Settings

_ALL = 100.0
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Fixed:
    """Which statistic leads, and whether it was fixed before the first label."""

    key: str
    beforehand: bool
    said: str  # how it was chosen, in words
    threshold: float | None = None  # of the round, or of study.toml


@dataclass(frozen=True)
class Caution:
    """A sentence for the reader, with the kind that tests and programs know it by."""

    kind: str
    message: str
    source: str = ""


DEFAULT = "krippendorff"


def fixed_for(rounds: Sequence[Round], choice: Choice, settings: Settings) -> Fixed:
    """The leading statistic of a round, or of several that are measured together."""
    threshold = common(each.threshold for each in rounds)
    limit = settings.threshold if threshold is None else threshold
    key, said, beforehand = _leading(rounds, choice, settings)
    chosen = dict.fromkeys(
        option for each in rounds for option in choice.chosen_of(each.taxonomy_version)
    )
    if chosen:
        joint = ", but" if beforehand else ";"
        said += f"{joint} which labels count was chosen afterwards ({', '.join(chosen)})"
    return Fixed(key, beforehand=beforehand and not chosen, said=said, threshold=limit)


def _leading(rounds: Sequence[Round], choice: Choice, settings: Settings) -> tuple[str, str, bool]:
    """The leading statistic, how it was chosen, and whether that was before the first label."""
    statistic = common(each.statistic for each in rounds)
    imported = any(each.origin == "imported" for each in rounds)
    many = len(rounds) > 1
    asked = choice.statistic
    if asked and (imported or statistic is None or _differ(asked, statistic, rounds)):
        fixed = statistic and not imported
        instead = f", not {statistic}, which was fixed beforehand" if fixed else ""
        return asked, f"{asked} was chosen after the labels were there{instead}", False
    if statistic and not imported:
        when = "the rounds were" if many else "the round was"
        return statistic, f"{statistic} was fixed when {when} made", True
    unseen = "nothing shows that it was fixed before the first label"
    if statistic:
        sheets = "sheets were" if many else "the sheet was"
        said = f"study.toml said {statistic} when {sheets} imported, with labels in it: {unseen}"
        return statistic, said, False
    key = settings.statistic or DEFAULT
    fixed_ones = sorted({each.statistic for each in rounds if each.statistic})
    if fixed_ones:
        said = (
            f"the rounds fixed different statistics ({', '.join(fixed_ones)})"
            if len(fixed_ones) > 1
            else f"only some of the rounds fixed {fixed_ones[0]}"
        )
        return key, f"{said}: {key} leads for all of them together", False
    if settings.statistic:
        made = "the rounds were" if many else "the round was"
        return key, f"study.toml says {key}, but {made} made without it: {unseen}", False
    said = "no statistic was fixed before the first label: all are shown, and none may be picked"
    return key, said, False


def _differ(asked: str, fixed: str, rounds: Sequence[Round]) -> bool:
    multiple = any(each.choice == "multiple" for each in rounds)
    return variant(asked, is_multiple=multiple) != variant(fixed, is_multiple=multiple)


def common(values: Iterable[_Value]) -> _Value | None:
    """What all have; None if they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def cautions_for(found: Agreement, fixed: Fixed) -> tuple[Caution, ...]:
    """All that there is to say of an agreement."""
    own = [] if fixed.beforehand else [Caution("after-the-fact", _sentence(fixed.said))]
    own += _of_labels(found)
    own += _of_rounds(found)
    return tuple(own) + _of_statistics(found)


def _of_labels(found: Agreement) -> list[Caution]:
    counts, rated = found.counts, found.rated
    own = []
    if counts.single:
        has = "has" if counts.single == 1 else "have"
        text = (
            f"{counted(counts.single, 'item')} {has} one rating: no agreement is seen there. For "
            "Fleiss' kappa and AC1 such items still say how frequent the codes are."
        )
        own.append(Caution("single-ratings", text))
    if counts.none:
        has = "has" if counts.none == 1 else "have"
        own.append(Caution("no-ratings", f"{counted(counts.none, 'item')} {has} no rating."))
    if rated.unfinished:
        text = f"{counted(rated.unfinished, 'label')} of this round still to come."
        own.append(Caution("unfinished", text))
    if counts.undecided:
        text = (
            f"{counted(counts.undecided, 'rating')} in another version of the taxonomy that does "
            f"not say what they are in {rated.taxonomy.version}: not counted."
        )
        own.append(Caution("undecided", text))
    if rated.repeated:
        text = (
            f"{counted(rated.repeated, 'artifact')} in several of these rounds: each counts "
            "every time."
        )
        own.append(Caution("repeated", text))
    if rated.changed:
        own.append(Caution("changed-after-gate", _sentence(changed_words(rated.changed))))
    if rated.stage == "negotiated":
        text = (
            f"{counted(rated.negotiated, 'rating')} given after discussion, the others as they "
            "were: this says how far raters came to agree, not how reliable the labels are."
        )
        own.append(Caution("negotiated", text))
    return own


def changed_words(changed: int) -> str:
    """What is to be said of independent labels that are not those a gate was decided on."""
    were = "was" if changed == 1 else "were"
    these = "it belongs" if changed == 1 else "they belong"
    return (
        f"{counted(changed, 'independent label')} {were} {CHANGED} "
        f"{'it' if changed == 1 else 'them'}; after a discussion {these} to the stage negotiated"
    )


def _of_rounds(found: Agreement) -> list[Caution]:
    rounds = found.rated.rounds
    own = []
    imported = [each.name for each in rounds if each.origin == "imported"]
    if imported:
        text = "Labels from sheets: that raters worked independently cannot be seen from them."
        own.append(Caution("imported", _named(text, imported, len(rounds))))
    for blindness, text in _BLINDNESS.items():
        found_so = [each.name for each in rounds if blindness in (each.blindness or "")]
        if found_so:
            own.append(Caution("blindness", _named(text, found_so, len(rounds))))
    partly = [f"{each.name} {each.overlap:g} %" for each in rounds if _partly(each.overlap)]
    if partly:
        text = f"Not all items go to all raters (overlap: {', '.join(partly)})."
        own.append(Caution("overlap", text))
    led = [each.name for each in rounds if each.suggestions]
    if led:
        text = "Raters saw what a model proposes: their agreement is partly the model's."
        own.append(Caution("suggestions", _named(text, led, len(rounds))))
    return own


_BLINDNESS = {
    "own project": "Raters labelled on one server, each in an own project: the page shows "
    "nothing of others, but nothing kept them from looking.",
    "own server": "Each rater labelled on an own server (strict blindness).",
}


def _partly(overlap: float | None) -> bool:
    return overlap is not None and overlap < _ALL


def _of_statistics(found: Agreement) -> tuple[Caution, ...]:
    from faultatlas.analysis.statistics.agreement.warnings import warnings

    estimates = [measured.estimate for measured in found.measures]
    names = [measured.key for measured in found.measures]
    return tuple(
        Caution(each.kind, each.message, each.source)
        for each in warnings(found.coding.coded, estimates, names, found.coding.raters)
    )


def _named(text: str, names: list[str], of: int) -> str:
    return text if len(names) == of else f"{', '.join(names)}: {text[0].lower()}{text[1:]}"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
