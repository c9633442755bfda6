"""Bug localization in deep learning systems: five techniques, two raters, dynamic analysis.

Most of its figures follow from other printed numbers. The package has the raters' sheets of the
deep learning systems, the results of four techniques on these, and the dynamic analysis; nothing
of the traditional systems.
"""

from __future__ import annotations

from faultatlas.analysis.replication.figures import (
    Also,
    PrintedOnly,
    PublishedStudy,
    Recomputed,
    RoundPlan,
    Wanted,
)
from faultatlas.analysis.replication.localization import (
    by_label,
    dynamic,
    labels,
    raters,
    techniques,
)
from faultatlas.analysis.replication.localization.results import BJXNET_FILE, BLIA_FILE, BOTH_FILE
from faultatlas.analysis.replication.localization.sheets import BOTH, FIRST, SHEETS
from faultatlas.analysis.replication.package import Package
from faultatlas.annotation.sheets.asking import Asked

_ITEM = "https://github.com/{User/Project}/issues/{Bug/Issue ID}"

_PRINTED = (
    "K074", "K076", "K077", "K078", "K079", "K080", "K088", "K089", "K091", "K092", "K094", "K095",
    "K096", "K097", "K098", "K099", "K100", "K101", "K102", "K103", "K104", "K108", "K109", "K110",
)  # fmt: skip


def _round(name: str, taxonomy: str, *words: str, code: str = "") -> RoundPlan:
    """The labels of both raters for one property."""
    return RoundPlan(
        f"bug-localization-{name}",
        tuple(f"{rater}={file}" for rater, file in SHEETS.items()),
        taxonomy,
        Asked(
            item=_ITEM, fill_down=("User/Project",), skip_nameless=True, code=code, codes_from=words
        ),
    )


def _also(package: Package) -> Also:
    parts = (raters.by_rater(package), techniques.from_results(package), by_label.by_label(package))
    return Also(
        tuple(value for part in parts for value in part.values),
        tuple(table for part in parts for table in part.tables),
        notes=tuple(note for part in parts for note in part.notes),
    )


STUDY = PublishedStudy(
    name="bug-localization",
    title="Challenges of bug localization in deep learning systems",
    source="bug-localization",
    files=(
        *(
            Wanted(
                file,
                (f"denchmark_{rater}.xlsx", f"*denchmark*{rater}*.xlsx"),
                f"the labels of one rater ({rater}) for 385 bugs of deep learning systems",
            )
            for rater, file in SHEETS.items()
        ),
        Wanted(
            BOTH_FILE,
            ("results_rq1_buglocator_bluir_Denchmark.csv",),
            "BugLocator and BLUiR on deep learning systems, bug by bug",
        ),
        Wanted(
            BLIA_FILE,
            ("results_rq1_BLIA_Dechmark.csv", "results_rq1_BLIA_Denchmark.csv"),
            "BLIA on deep learning systems, bug by bug",
        ),
        Wanted(
            BJXNET_FILE, ("bjXnet_result_dlsw.csv",), "bjXnet on deep learning systems, bug by bug"
        ),
        Wanted(
            dynamic.FILE,
            ("dynamic_bug_localization_analysis.xlsx",),
            "which of 21 training bugs each dynamic approach found",
        ),
    ),
    rounds=(
        _round("dl-or-not", "dl-or-not", "DL Bugs=Yes:dl", "DL Bugs=No:non-deep learning"),
        _round("types", "dl-bugs", "DL Bugs=No:ndl", code="DL Bug Type"),
        _round(
            "extrinsic", "extrinsic", "Extrinsic Bug=Yes:extrinsic", "Intrinsic Bug=Yes:intrinsic"
        ),
    ),
    figures=(
        *map(PrintedOnly, _PRINTED),
        PrintedOnly("K071", (BOTH_FILE,), techniques.Losses("buglocator")),
        PrintedOnly("K072", (BOTH_FILE,), techniques.Losses("bluir")),
        PrintedOnly("K073", (BLIA_FILE,), techniques.Losses("blia")),
        PrintedOnly("K075", (BJXNET_FILE, BOTH_FILE), techniques.bjxnet_losses),
        Recomputed("K081", BOTH, labels.chi_square_of_systems, or_printed=True),
        PrintedOnly("K082", (FIRST,), labels.shares_by_type),
        PrintedOnly("K083", (FIRST,), labels.sample_by_type),
        PrintedOnly("K084", BOTH, labels.extrinsic_bugs),
        PrintedOnly("K085", (FIRST,), labels.chi_square_of_types),
        # "Almost four times": a number that rounds to four.
        Recomputed("K086", (FIRST,), labels.ratio_of_systems, printed=("4",), or_printed=True),
        PrintedOnly("K087", BOTH, labels.dl_bugs),
        PrintedOnly("K090", (BOTH_FILE,), techniques.experimental_bugs),
        PrintedOnly("K093", (FIRST,), labels.sample_size),
        *(
            Recomputed(figure_id, (dynamic.FILE,), dynamic.Accuracy(approach), or_printed=True)
            for figure_id, approach in zip(
                ("K105", "K106", "K107"), dynamic.APPROACHES, strict=True
            )
        ),
        PrintedOnly("K111", (dynamic.FILE,), dynamic.accuracies),
        PrintedOnly("K112", by_label.NEEDS, by_label.gpu_bugs),
        PrintedOnly("K113", BOTH, raters.kappas),
    ),
    also=_also,
)
