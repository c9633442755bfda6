"""Speed and memory as ratios within one run: machines are noisy, ratios less so.

Each line compares two ways to do one thing, measured in turn. A target that is missed makes
the exit code 1.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))  # the loopback server of the tests

import agreement
import commit_mining
import dump_mining
import issue_mining
import links
from measured import Measured, in_turn

from data import provenance
from data.store import Study

BIN = Path(sys.executable).parent
EMPTY_PROGRAM = """
import typer
app = typer.Typer()
@app.command()
def nothing() -> None: ...
@app.command()
def more() -> None: ...
app()
"""
LABELS = 20_000


def start_up(program: str) -> Measured:
    """`--help` against that of an empty Typer program."""

    def run(command: list[str | Path]) -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    ours, other = in_turn(
        lambda: run([BIN / program, "--help"]),
        lambda: run([sys.executable, "-c", EMPTY_PROGRAM, "--help"]),
        rounds=15,
    )
    return Measured(f"{program} --help / empty Typer program", ours, other, "<= 1.3",
                    ours / other <= 1.3)  # fmt: skip


def bulk_insert() -> Measured:
    """Labels as one Arrow batch against row by row (a tenth of them, scaled)."""
    batch = pa.table(
        {
            "settlement_id": [f"{number:016x}" for number in range(LABELS)],
            "round": ["r"] * LABELS,
            "item_id": [f"github:o/r#{number}" for number in range(LABELS)],
            "artifact_id": [f"github:o/r#{number}" for number in range(LABELS)],
            "taxonomy": ["hp-defects"] * LABELS,
            "taxonomy_version": ["1.0.0"] * LABELS,
            "codes": [["A1"]] * LABELS,
            "settled_by": ["imported"] * LABELS,
            "rule": ["as the sheet says"] * LABELS,
            "run_id": ["run"] * LABELS,
        }
    )
    part = batch.slice(0, LABELS // 10).to_pylist()

    def by_batch() -> None:
        with tempfile.TemporaryDirectory() as folder, Study(Path(folder)).writing() as writer:
            writer.insert("store.settlement", batch)

    def by_row() -> None:
        with tempfile.TemporaryDirectory() as folder, Study(Path(folder)).writing() as writer:
            for row in part:
                writer.execute(
                    f"INSERT INTO store.settlement ({', '.join(row)}) VALUES "
                    "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    list(row.values()),
                )

    ours, other = in_turn(by_batch, by_row, rounds=3)
    return Measured(f"{LABELS:,} rows by Arrow / row by row", ours, other * 10, "<= 0.1",
                    ours / (other * 10) <= 0.1)  # fmt: skip


def short_transactions() -> Measured:
    """A transaction that opens and closes the file, in a study that has 10 times the rows."""

    def study_with(rows: int) -> Study:
        study = Study(Path(tempfile.mkdtemp(prefix="faultatlas-bench-")))
        numbers = [f"{number:08}" for number in range(rows)]
        with study.writing() as writer:
            writer.insert(
                "store.run",
                pa.table(
                    {
                        "run_id": numbers,
                        "command": ["x"] * rows,
                        "arguments": ["{}"] * rows,
                        "version": ["0"] * rows,
                        "started_at": [provenance.utc_now()] * rows,
                        "outcome": ["ok"] * rows,
                    }
                ),
            )
        return study

    def write(study: Study) -> None:
        with study.writing(keep_log=True) as writer:
            provenance.record(writer, provenance.begin("bench", {}), "ok")

    large, small = study_with(200_000), study_with(20_000)
    ours, other = in_turn(lambda: write(large), lambda: write(small), rounds=9)
    return Measured("one short transaction, 10 times the rows", ours, other, "<= 2",
                    ours / other <= 2)  # fmt: skip


def kept_log() -> Measured:
    """A short transaction that keeps the log against one that writes it back."""
    study = Study(Path(tempfile.mkdtemp(prefix="faultatlas-bench-")))

    def write(*, keep_log: bool) -> None:
        with study.writing(keep_log=keep_log) as writer:
            provenance.record(writer, provenance.begin("bench", {}), "ok")

    ours, other = in_turn(lambda: write(keep_log=True), lambda: write(keep_log=False), rounds=9)
    return Measured("one short transaction, log kept / written back", ours, other, "<= 1",
                    ours / other <= 1)  # fmt: skip


def main() -> int:
    """Print the table."""
    os.environ["NO_COLOR"] = "1"
    programs = ("miner", "annotation", "analysis", "report")
    found = [
        *(start_up(program) for program in programs),
        bulk_insert(),
        short_transactions(),
        kept_log(),
        issue_mining.bulk_insert(),
        issue_mining.memory(),
        *commit_mining.measures(),
        *dump_mining.measures(),
        links.again(),
        links.duplicates(),
        agreement.resamples(),
    ]
    print(f"{'what':48} {'ours':>9} {'other':>10} {'ratio':>7}  target")
    for each in found:
        ours, other = each.figures()
        verdict = "met" if each.met else "MISSED"
        print(f"{each.what:48} {ours:>9} {other:>10} {each.ratio:7.2f}  {each.target} {verdict}")
    return 0 if all(each.met for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
