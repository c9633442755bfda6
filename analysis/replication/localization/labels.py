"""What the two raters' sheets give: agreement, types of bugs, extrinsic bugs.

The package has no final labels. The printed counts are those of the first sheet, so figures are
computed from it; what the second one gives stands beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from faultatlas.analysis.replication.figures import Found, Value
from faultatlas.analysis.replication.localization.sheets import (
    BOTH,
    FIRST,
    NDL,
    TYPES,
    Labelled,
    is_yes,
    labelled,
)
from faultatlas.analysis.replication.package import Package
from faultatlas.analysis.statistics.tables import chi_square

# Table 29: share of extrinsic bugs in each type (%).
EXTRINSIC = dict(zip(TYPES, ("48.15", "35.29", "21.90", "38.10", "38.19", "82.35"), strict=True))
# Section 4.3: 10.65 % of 385 bugs of traditional systems, whose sheets are not in the package.
_TRADITIONAL = (41, 385)


def extrinsic_count(rows: list[Labelled]) -> tuple[int, int]:
    """Extrinsic bugs, of how many."""
    said = [each.is_extrinsic for each in rows if each.is_extrinsic is not None]
    return sum(said), len(said)


def by_type(rows: list[Labelled]) -> dict[str, tuple[int, int]]:
    """Extrinsic bugs of each type, of how many; types that occur, in the order of the paper."""
    groups = {code: [each for each in rows if each.code == code] for code in TYPES}
    return {code: extrinsic_count(group) for code, group in groups.items() if group}


def chi_square_of_systems(package: Package) -> Found:
    """Extrinsic bugs by the kind of system: the sheet's against the printed ones."""
    p, yates, told = _systems(labelled(package, FIRST))
    _p, _yates, other = _systems(labelled(package, BOTH[1]))
    return Found(
        (Value("p", p, rows=is_yes(package, FIRST, extrinsic=True), files=(FIRST,)),),
        text=f"{p:.2e} (Yates {yates:.2e})",
        note=f"first sheet {told}; the traditional systems are the printed 10.65 % of 385",
        readings=f"the second sheet gives {other}",
    )


def _systems(rows: list[Labelled]) -> tuple[float, float, str]:
    count, total = extrinsic_count(rows)
    traditional, of = _TRADITIONAL
    table = [[count, total - count], [traditional, of - traditional]]
    plain, yates = (chi_square(table, yates=each) for each in (False, True))
    told = (
        f"{count}/{total} against {traditional}/{of}: chi-square {plain.statistic:.2f} "
        f"(Yates {yates.statistic:.2f}), p {plain.p_value:.2e}"
    )
    return plain.p_value or 0.0, yates.p_value or 0.0, told


def ratio_of_systems(package: Package) -> Found:
    """How many times more extrinsic bugs deep learning systems have."""
    count, total = extrinsic_count(labelled(package, FIRST))
    traditional, of = _TRADITIONAL
    ratio = (count / total) / (traditional / of)
    where = is_yes(package, FIRST, extrinsic=True)
    return Found(
        (Value("ratio", ratio, "times", files=(FIRST,), rows=where),),
        text=f"{ratio:.2f}",
        note=f"first sheet {count}/{total}; the traditional systems are the printed 10.65 % of 385",
    )


def shares_by_type(package: Package) -> str:
    """Beside Table 29: the extrinsic share of each type, and what was exchanged."""
    found = by_type(labelled(package, FIRST))
    told = ", ".join(
        f"{code} {100 * count / total:.2f} ({count}/{total})"
        for code, (count, total) in found.items()
    )
    swapped = [
        code
        for code, (count, total) in found.items()
        if f"{100 * (total - count) / total:.2f}" == EXTRINSIC[code] and 2 * count != total
    ]
    also = "; what is printed as extrinsic is the sheet's share of intrinsic bugs: "
    return f"the first sheet gives {told}" + (also + ", ".join(swapped) if swapped else "")


def sample_by_type(package: Package) -> str:
    """Beside the sample size: the counts of the sheet, and spellings that stand alone."""
    rows = labelled(package, FIRST)
    counts = sizes(rows).values()
    said = f"the first sheet has {' + '.join(map(str, counts))} = {sum(counts)}"
    spellings: dict[str, Counter[str]] = {}
    for each in rows:
        if each.code and each.code != NDL:
            spellings.setdefault(each.code, Counter())[each.spelled] += 1
    rare = [
        f"{count} of the {code} bugs is spelled {word!r}, and without it {len(rows) - count} remain"
        for code, words in spellings.items()
        for word, count in words.items()
        if count == 1 < words.total()
    ]
    return "; ".join([said, *rare])


def sizes(rows: list[Labelled]) -> dict[str, int]:
    """Bugs of each type."""
    counts = Counter(each.code for each in rows)
    return {code: counts[code] for code in TYPES}


def extrinsic_bugs(package: Package) -> str:
    """Beside the number of extrinsic bugs: what each rater says."""
    return _told_by_rater(package, extrinsic_count)


def dl_bugs(package: Package) -> str:
    """Beside the share of bugs that concern deep learning: what each rater says."""
    return _told_by_rater(package, dl_count)


def dl_count(rows: list[Labelled]) -> tuple[int, int]:
    """Bugs that concern deep learning, of how many."""
    said = [each.is_dl for each in rows if each.is_dl is not None]
    return sum(said), len(said)


def _told_by_rater(package: Package, count: Callable[[list[Labelled]], tuple[int, int]]) -> str:
    told = []
    for word, file in zip(("first", "second"), BOTH, strict=True):
        hits, total = count(labelled(package, file))
        told.append(f"the {word} sheet gives {hits} of {total} ({100 * hits / total:.2f} %)")
    return ", ".join(told)


def chi_square_of_types(package: Package) -> str:
    """Beside the test of the inferred counts: that of the sheet's."""
    found = by_type(labelled(package, FIRST))
    test = chi_square([[count, total - count] for count, total in found.values()])
    return (
        f"the first sheet gives chi2={test.statistic:.2f}, df={test.degrees:.0f}, "
        f"p={test.p_value:.2e}"
    )


def sample_size(package: Package) -> str:
    """Beside the sample size: rows, bugs and projects of the sheets."""
    rows = labelled(package, FIRST)
    bugs, projects = len({each.key for each in rows}), len({each.project for each in rows})
    return f"the first sheet has {len(rows)} rows, {bugs} bugs of {projects} projects"
