"""A small package in the layout of the public one of the high-priority defects, made up."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from openpyxl import Workbook

from faultatlas.data.evidence import mutation_table

RATERS = tuple(f"volunteer_{number}" for number in range(1, 7))
DISTANCES = (
    "Output_Distance_ms_PyTorch",
    "Output_Distance_PyTorch_ONNX",
    "Output_Distance_ms_ONNX",
)
# Six ratings and the final label: one item is tied, one has a final label that is no mode.
LABELS = (
    ("A1 A1 A1 A1 A1 A1", "A1"),
    ("B1 B1 B1 B1 A1 A1", "B1"),
    ("B1 B1 B1 G4 G4 G4", "G4"),
    ("G4 G4 G4 G4 G4 C1", "G4"),
)


def write_csv(path: Path, rows: Iterable[Sequence[object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def labels(path: Path, project: str, said: Sequence[tuple[str, str]] = LABELS) -> Path:
    rows = [
        (f"https://github.com/{project}/issues/{number}", *ratings.split(), final)
        for number, (ratings, final) in enumerate(said, start=1)
    ]
    return write_csv(path, [("URL", *RATERS, "Final_label"), *rows])


def made_up_package(folder: Path) -> Path:
    """Two frameworks, three found defects, mutants of all operators, one model by position."""
    labels(folder / "RQ1_result" / "pytorch.csv", "pytorch/pytorch")
    labels(folder / "RQ1_result" / "mindspore.csv", "mindspore/mindspore", LABELS[:2])
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ("Description", "Confirmed", "Fixed", "Tag", "Type", "Framework"),
        ("one", True, True, None, "Crash", "pytorch"),
        ("two", True, False, None, "nan", "pytorch"),
        ("three", "Rejected", False, None, "crash", "tensorflow"),
    ):
        sheet.append(row)
    book.save(folder / "defects.xlsx")
    for each in mutation_table():
        write_csv(
            folder / "RQ3_result" / "mutation_type:mutation_order" / f"{each.file}.csv",
            [
                ("model_name", "iterations", *DISTANCES),
                ("resnet50", 5, *each.averages),
                ("resnet50", 10, -100, -100, -100),
                ("resnet50", 15, 20_000, 20_000, 20_000),
                ("resnet50", 20, "nan", 1, ""),
            ],
        )
    pairs = ["(2.0, 1.0)", "(3.0, nan)", "(-100.0, 1.0)"]
    write_csv(
        folder / "RQ3_result" / "mutation_position" / "vgg16.csv",
        [("mutation_type", "iterations", *DISTANCES), ("GF", 5, *pairs), ("GF", 10, *pairs)],
    )
    return folder
