"""What is fixed before the first label: the statistic, its threshold, and the round before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from faultatlas.annotation.planning.gates import gate_before
from faultatlas.annotation.planning.options import NO_ROUND, Options
from faultatlas.annotation.rounds import Assignment, Round, find_round
from faultatlas.data.errors import StudyError
from faultatlas.data.settings import STATISTICS, Settings

if TYPE_CHECKING:
    from faultatlas.data.study import Reader


def round_before(reader: Reader, options: Options, taxonomy: str) -> str | None:
    """The round whose gate comes first: as given, or the last one that has a gate."""
    if options.after is not None:
        return None if options.after == NO_ROUND else find_round(reader, options.after).name
    found = reader.value(
        "SELECT round FROM store.round WHERE sample = ? AND taxonomy = ? AND threshold IS NOT NULL "
        "ORDER BY created_at DESC, round DESC LIMIT 1",
        [options.sample, taxonomy],
    )
    return None if found is None else str(found)


def fixed_gate(
    options: Options, settings: Settings, who: Sequence[Assignment]
) -> tuple[str | None, float | None]:
    """The statistic and what it must reach: fixed now, before there are labels."""
    statistic = options.statistic or settings.statistic
    threshold = settings.threshold if options.gate is None else options.gate
    if statistic is not None and statistic not in STATISTICS:
        raise StudyError(f"there is no statistic {statistic!r}", f"Known: {', '.join(STATISTICS)}.")
    if threshold is not None and not -1 <= threshold <= 1:
        raise StudyError(f"a gate of {threshold:g}", "It lies between -1 and 1: --gate 0.7.")
    if options.gate is not None and statistic is None:
        raise StudyError(
            "a gate needs a statistic that is fixed before the first label",
            'Write it into study.toml ([agreement] statistic = "krippendorff"), or give '
            "--statistic.",
        )
    if statistic == "cohen" and len(options.raters) > 2:
        raise StudyError(
            f"Cohen's kappa is for two raters, and {len(options.raters)} are named",
            "Take pairwise, fleiss or krippendorff, in study.toml or with --statistic.",
        )
    if max(Counter(each.item_id for each in who).values()) < 2:
        if options.gate is not None:
            raise StudyError(
                "no item has two raters, so that agreement cannot be measured",
                "Leave --gate out, or give an --overlap or --raters-per-item 2.",
            )
        threshold = None
    return statistic, threshold if statistic else None


def gate_remarks(
    reader: Reader, options: Options, settings: Settings, made: Sequence[Round]
) -> list[str]:
    """What a user may not expect of gate and statistic."""
    first = made[0]
    found = []
    if first.statistic is None:
        found.append(
            "no statistic of agreement was fixed beforehand: study.toml or --statistic does that"
        )
    elif settings.statistic is not None and options.statistic not in (None, settings.statistic):
        found.append(f"study.toml says {settings.statistic}, this round holds to {first.statistic}")
    single = [each.name for each in made if each.threshold is None]
    if first.statistic and settings.threshold is not None and single:
        found.append(
            f"the threshold {settings.threshold:g} of study.toml does not apply to "
            f"{', '.join(single)}: no item has two raters"
        )
    if first.after is not None and options.after is None:
        found.append(
            f"it comes after round {first.after}, the last of this sample that has a gate: "
            f"--after {NO_ROUND} would not wait for it"
        )
    elif first.after is not None and gate_before(reader, first) is None:
        found.append(
            f"round {first.after} has no gate, nor has any before it: nothing holds this one up"
        )
    return found
