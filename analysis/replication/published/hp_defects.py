"""Deep Learning Framework Testing via Model Mutation: high-priority defects and mutation."""

from __future__ import annotations

from faultatlas.analysis.replication.figures import (
    Also,
    PrintedOnly,
    PublishedStudy,
    Recomputed,
    RoundPlan,
    Unavailable,
    Wanted,
)
from faultatlas.analysis.replication.hp import found_defects, labels, mutation
from faultatlas.analysis.replication.package import Package
from faultatlas.annotation.sheets.asking import Asked

_LABELS = Asked(item="URL", rater_columns=("volunteer_*",), final="Final_label")

# Subtypes whose shares were printed; where the paper adds two, together.
_SHARES = {
    "K006": ("A1",), "K007": ("A2",), "K008": ("A3",), "K009": ("A4",), "K010": ("B1",),
    "K011": ("B2",), "K012": ("B3",), "K013": ("C1",), "K014": ("C2",), "K015": ("D",),
    "K016": ("D1",), "K017": ("D2",), "K018": ("E1",), "K019": ("E2", "E3"), "K020": ("F1",),
    "K021": ("F2",), "K022": ("G1", "G3"), "K023": ("G2",), "K024": ("G4", "G5"),
}  # fmt: skip


def _also(package: Package) -> Also:
    parts = (labels.by_framework(package), found_defects.by_type(package))
    return Also(
        tuple(value for part in parts for value in part.values),
        tuple(table for part in parts for table in part.tables),
        tuple(figure for part in parts for figure in part.figures),
        tuple(note for part in parts for note in part.notes),
    )


STUDY = PublishedStudy(
    name="hp-defects",
    title="High-priority defects and model mutation",
    source="hp-defects",
    files=(
        *(
            Wanted(
                f"labels/{name}.csv",
                (f"RQ1_result/*{name}*.csv", f"{name}.csv"),
                f"the six volunteers' labels of the {title} defects, and the final one",
            )
            for name, title in labels.FRAMEWORKS.items()
        ),
        Wanted(found_defects.FILE, ("defects.xlsx",), "the defects that the study found"),
        Wanted(
            "mutation/*.csv",
            ("mutation_type*mutation_order/*.csv", "mutation/*.csv"),
            "output differences of mutants, a file for each operator",
        ),
        Wanted(
            "mutation_position/*.csv",
            ("mutation_position/*.csv",),
            "output differences by the mutated part, a file for each model",
        ),
        Wanted("method_runs/*.csv", ("method_runs/*.csv",), "runs of the existing methods"),
    ),
    rounds=tuple(
        RoundPlan(f"hp-defects-{name}", (f"labels/{name}.csv",), "hp-defects", _LABELS)
        for name in labels.FRAMEWORKS
    ),
    figures=(
        Recomputed("K001", ("labels/mindspore.csv",), labels.Kappa(("labels/mindspore.csv",))),
        Recomputed("K002", ("labels/pytorch.csv",), labels.Kappa(("labels/pytorch.csv",))),
        Recomputed("K003", ("labels/tensorflow.csv",), labels.Kappa(("labels/tensorflow.csv",))),
        Recomputed("K004", labels.ALL, labels.Kappa(labels.ALL)),
        Unavailable(
            "K005",
            "the authors' script is a program, and programs of a package are not run",
        ),
        *(
            Recomputed(figure_id, labels.ALL, labels.ShareOf(codes))
            for figure_id, codes in _SHARES.items()
        ),
        Recomputed("K025", labels.ALL, labels.most_common_type),
        # What is agreed upon by all is what most said: a share of 1.
        Recomputed("K026", labels.ANY, labels.final_is_mode, printed=("1.0000",)),
        Recomputed("K027", (found_defects.FILE,), found_defects.found_confirmed_fixed),
        PrintedOnly("K028"),
        PrintedOnly("K029"),
        Recomputed("K030", mutation.FILES, mutation.averages, mutation.printed_averages()),
        Recomputed("K031", mutation.FILES, mutation.illegal_rates, mutation.printed_illegal()),
        Recomputed("K032", ("mutation_position/*.csv",), mutation.backbone_beats_head),
    ),
    also=_also,
)
