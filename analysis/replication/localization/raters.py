"""The raters of the Denchmark bugs: how far they agree, and what each says, as claims."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace

from faultatlas.analysis.replication.agreeing import agreement, share
from faultatlas.analysis.replication.figures import Also, Value
from faultatlas.analysis.replication.localization.labels import (
    EXTRINSIC,
    by_type,
    dl_count,
    extrinsic_count,
    sizes,
)
from faultatlas.analysis.replication.localization.sheets import (
    BOTH,
    SHEETS,
    TYPES,
    Labelled,
    is_yes,
    labelled,
    paired,
)
from faultatlas.analysis.replication.localization.tables import beside_table
from faultatlas.analysis.replication.package import Package

# Section 4.2: share of each type in the sample (%); the paper adds a zero to each.
_SHARES = dict(zip(TYPES, ("35.2", "13.3", "27.3", "5.5", "14.3", "4.4"), strict=True))
_PROPERTIES: dict[str, tuple[str, str, Callable[[Labelled], Hashable | None]]] = {
    "dl-or-not": ("deep learning or not", "", lambda each: each.is_dl),
    "types": ("six types of bugs", "0.80", lambda each: each.code),
    "extrinsic": ("extrinsic or intrinsic", "0.87", lambda each: each.is_extrinsic),
}


def kappas(package: Package) -> str:
    """Beside the words for kappa: what the sheets give."""
    return "the sheets give " + ", ".join(
        f"{value.value:.3f} ({_PROPERTIES[name][0]}; printed {value.printed or 'nothing'})"
        for name, value in _agreement(package)
    )


def _agreement(package: Package) -> Iterator[tuple[str, Value]]:
    pairs = list(paired(package))
    for name, (title, printed, of) in _PROPERTIES.items():
        rows = [[of(one), of(two)] for one, two in pairs]
        found = agreement(f"kappa.{name}", rows, "cohen", seed=package.seed, files=BOTH)
        if found:
            statement = f"Cohen's kappa of the two raters: {title}"
            yield name, replace(found, statement=statement, printed=printed)


def by_rater(package: Package) -> Also:
    """Agreement of the raters, and the types and extrinsic bugs that each sheet gives."""
    if package.missing(BOTH):
        return Also()
    measured = tuple(value for _name, value in _agreement(package))
    agreed = beside_table(
        "agreement", "Agreement of the two raters, all rows of the sheets", measured,
        "The paper does not say of which labels it took the first kappa; it stands at the types.",
    )  # fmt: skip
    first, second = SHEETS
    labels = tuple(_shares(package, first, "first sheet"))
    # The printed shares are those of one sheet.
    others = [replace(each, printed="") for each in _shares(package, second, "second sheet")]
    return Also(
        (*measured, *labels, *others),
        (
            agreed,
            beside_table(
                "labels-rater1", "Bugs of the first sheet beside Section 4.2 and Table 29", labels
            ),
            beside_table("labels-rater2", "Bugs of the second sheet", others, folded=True),
        ),
    )


def _shares(package: Package, rater: str, where: str) -> Iterator[Value]:
    file = SHEETS[rater]
    rows = labelled(package, file)
    totals = (
        ("dl", "bugs that concern deep learning", "64.8", dl_count(rows), False),
        ("extrinsic", "extrinsic bugs", "40.00", extrinsic_count(rows), True),
    )
    for key, title, printed, (count, total), extrinsic in totals:
        yield replace(
            share(f"{rater}.{key}", count, total, files=(file,)),
            rows=is_yes(package, file, extrinsic=extrinsic),
            statement=f"Share (%) of {title}, {where}",
            printed=printed,
        )
    for code, count in sizes(rows).items():
        yield replace(
            share(f"{rater}.type.{code}", count, len(rows), files=(file,)),
            rows=_lines(rows, code),
            statement=f"Share (%) of {code} bugs, {where}",
            printed=_SHARES[code],
        )
    for code, (count, total) in by_type(rows).items():
        yield replace(
            share(f"{rater}.extrinsic.{code}", count, total, files=(file,)),
            rows=_lines(rows, code),
            statement=f"Share (%) of extrinsic bugs among {code} bugs, {where}",
            printed=EXTRINSIC[code],
        )


def _lines(rows: list[Labelled], code: str) -> str:
    """The rows of a type: their cells say it in several words."""
    found = ", ".join(str(each.line) for each in rows if each.code == code)
    return f"line IN ({found})" if found else "false"
