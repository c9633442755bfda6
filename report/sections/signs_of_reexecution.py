"""Threats that re-execution leaves in the data: fidelity, devices, isolation, oracles."""

from __future__ import annotations

from collections.abc import Iterator

from faultatlas.report.formatting import counted
from faultatlas.report.sections import Material
from faultatlas.report.sections.numbers import count, share
from faultatlas.report.sections.reexecution import STARTED
from faultatlas.report.sections.signs import Sign, sign

_ROWS = "SELECT bug_id, verdict, reason, device, content, artifact_id, run_id FROM verdicts"
_OTHER = f"{_ROWS} WHERE fidelity NOT IN ([], ['declared']) ORDER BY bug_id"
_GPU = (
    f"{_ROWS} WHERE device = 'cpu' AND bug_id IN (SELECT bug_id FROM bugs WHERE about_gpu) "
    "ORDER BY bug_id"
)
_OPEN = (
    "SELECT bug_id, side, seed, attempt, device, content, isolation, run_id FROM executions "
    f"WHERE (isolation = 'none' OR has_network) AND {STARTED} "
    "ORDER BY bug_id, side, seed, attempt, execution_id"
)
_STALE = f"{_ROWS} WHERE NOT oracle_is_current ORDER BY bug_id"


def signs(material: Material) -> Iterator[Sign]:
    """Those that are there."""
    if material.has(_OTHER):
        claim = share(
            material.reader,
            ("threats", "fidelity"),
            "Judged bugs that were not run as their reporter ran them",
            _OTHER,
            f"{_ROWS} ORDER BY bug_id",
        )
        text = (
            f"{claim.count:,} of {counted(claim.total or 0, 'judged bug')} were run with versions "
            "that were guessed, repaired or substituted, or with stand-in data."
        )
        yield sign("fidelity", "Not what the reporters ran", text, "", claim)
    if material.has(_GPU):
        claim = count(
            material.reader, ("threats", "gpu-bugs"), "bugs about a GPU judged on a CPU", _GPU
        )
        number = int(claim.value or 0)
        text = (
            f"{counted(number, 'bug')} about a GPU {'was' if number == 1 else 'were'} judged "
            "without one. Run this on a host with a GPU: `analysis reexecute --device cuda`."
        )
        yield sign("gpu-bugs", "No GPU", text, "", claim)
    if material.has(_OPEN):
        claim = count(
            material.reader,
            ("threats", "isolation"),
            "runs that could see the host or a network",
            _OPEN,
        )
        text = (
            f"{counted(int(claim.value or 0), 'run')} could see the host or a network: what is on "
            "it may have decided the outcome."
        )
        yield sign("isolation", "Runs without isolation", text, "", claim)
    if material.has(_STALE):
        claim = count(
            material.reader,
            ("threats", "old-oracles"),
            "verdicts of another oracle than the bug has now",
            _STALE,
        )
        text = f"{counted(int(claim.value or 0), 'verdict')} of an oracle that was changed since."
        yield sign(
            "old-oracles", "Verdicts are not up to date", text,
            "analysis reexecute --judge-again", claim,
        )  # fmt: skip
