"""The dynamic approaches on 21 training bugs: which bug each of them found."""

from __future__ import annotations

from dataclasses import dataclass, replace

from faultatlas.analysis.replication.agreeing import share
from faultatlas.analysis.replication.figures import Found
from faultatlas.analysis.replication.package import Package
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import folded

FILE = "dynamic_analysis.xlsx"
APPROACHES = ("DeepLocalize", "DeepFD", "DeepDiagnosis")
_HEADER = "Issue No"


def _marks(package: Package, approach: str) -> list[bool]:
    """Whether the approach found each bug."""
    [sheet, *_others] = package.sheets(FILE) or [""]
    marks = []
    for record in package.records(FILE, (_HEADER, approach), sheet):
        said = folded(record[approach])
        if said not in {"yes", "no"}:
            raise StudyError(
                f"{FILE} row {record.line} says {record[approach]!r} of {approach}",
                "It says Yes or No of each bug.",
            )
        marks.append(said == "yes")
    if not marks:
        raise StudyError(f"{FILE} has no bugs", "Give the file as it was published.")
    return marks


@dataclass(frozen=True)
class Accuracy:
    """The share of the bugs that an approach found: in percent, and as a fraction."""

    approach: str

    def __call__(self, package: Package) -> Found:
        """Both, with the interval."""
        marks = _marks(package, self.approach)
        count, total = sum(marks), len(marks)
        percent = share("percent", count, total)
        low, high = (None if end is None else end / 100 for end in (percent.low, percent.high))
        fraction = replace(
            percent, key="fraction", value=count / total, unit="coefficient", low=low, high=high
        )
        return Found(
            (percent, fraction),
            text=f"{percent.value:.1f} / {fraction.value:.2f}",
            note=f"{count} of {total} bugs found",
        )


def accuracies(package: Package) -> str:
    """Beside the bound on all approaches: what each of them found."""
    found = [(approach, _marks(package, approach)) for approach in APPROACHES]
    return "the sheet gives " + ", ".join(
        f"{100 * sum(marks) / len(marks):.1f} % ({approach}, {sum(marks)} of {len(marks)})"
        for approach, marks in found
    )
