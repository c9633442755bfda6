"""The coverage gap by shipped evidence, by papers that a study coded, and by its own labels."""

from __future__ import annotations

from golden.stage import Stage

_CHOICES = {
    "survey": (),
    "corpus": ("--evidence", "corpus"),
    "without a paper": ("--evidence", "corpus", "--without", "ShapeTracer"),
    "without two, by support": (
        "--evidence", "corpus", "--without", "ShapeTracer", "--without", "care",
        "--support", "explicit", "--support", "theme",
    ),
    "no labels": ("--evidence", "study"),
    "no such paper": ("--evidence", "corpus", "--without", "nothing-like-it"),
}  # fmt: skip
_OF_A_STUDY = {
    "both": ("--evidence", "corpus", "--round", "main"),
    "own papers": ("--evidence", "corpus", "--papers", "study", "--round", "main"),
    "shipped papers": ("--evidence", "corpus", "--papers", "shipped", "--support", "unplaced"),
    "labels": ("--evidence", "study", "--round", "main", "--seed", "2"),
    "labels of another taxonomy": ("--evidence", "study", "--round", "hp"),
    "two rounds of an artifact": ("--evidence", "study"),
}


def run(stage: Stage) -> None:
    for label, words in _CHOICES.items():
        stage.run(label, "analysis", "coverage-gap", *words, study="shipped")
    stage.claims("shipped", study="shipped")
    _tables(stage, "shipped", "coverage-gap", "coverage-gap-corpus")

    stage.run("papers", "miner", "papers", "--from", stage.inputs / "papers.bib")
    stage.run("coding", "annotation", "places", stage.inputs / "coding.csv", "--codes")
    _labels(stage, "main", "main", "humbatova")
    _labels(stage, "hp", "hp", "hp-defects")
    _labels(stage, "hp again", "again", "hp-defects", "hp")
    for label, words in _OF_A_STUDY.items():
        stage.run(label, "analysis", "coverage-gap", *words)
    stage.claims("first")
    _tables(stage, "study", "coverage-gap-corpus-round-main", "coverage-gap-study-round-hp")

    # More papers and labels: what changed since.
    stage.run("later coding", "annotation", "places", stage.inputs / "later.csv", "--codes")
    _labels(stage, "more", "main", "humbatova", "more")
    words = _OF_A_STUDY["both"]
    stage.run("later", "analysis", "coverage-gap", *words)
    stage.claims("later")
    _tables(stage, "later", "coverage-gap-corpus-round-main")
    stage.run("since a day", "analysis", "coverage-gap", *words, "--since", "2000-01-01")


def _labels(stage: Stage, label: str, name: str, taxonomy: str, file: str = "") -> None:
    sheet = stage.inputs / f"{file or name}.csv"
    words = ("--item", "item", "--final", "final", "--taxonomy", taxonomy)
    stage.run(f"labels {label}", "annotation", "import", name, sheet, *words)


def _tables(stage: Stage, label: str, *results: str) -> None:
    for result in results:
        study = stage.study("shipped" if label == "shipped" else "study")
        stage.files(f"{label} {result}", study / "out" / result, "[!c]*.csv", "c[!l]*.csv")
