"""The shipped bugs really run, and three with their sides exchanged.

Those that take long, want a GPU or want PyTorch are left out: G35 judges recorded runs of them.
"""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

from golden.stage import Stage

NEEDS = ("bubblewrap",)
_QUICK = (
    "checkpoint-one-epoch-off", "division-of-python-2", "empty-fix", "fix-that-fixes-nothing",
    "half-made-fix", "helper-module-not-included", "interpreter-of-tomorrow",
    "labels-in-eight-bits", "linear-layer-input-size", "one-reading-without-a-batch",
    "result-of-another-day", "sides-exchanged", "without-its-data",
)  # fmt: skip
_EXCHANGED = ("checkpoint-one-epoch-off", "labels-in-eight-bits", "sides-exchanged")
_JUDGED = (
    "SELECT bug_id, content, device, verdict, reason, signature, claimed_verdict, claimed_reason, "
    "wanted FROM verdicts"
)
# Of an invalid bug as many runs are begun as there are workers when that is seen.
_SHOWN = (
    "SELECT bug_id, buggy_runs, buggy_shown, fixed_runs, fixed_shown FROM verdicts "
    "WHERE verdict <> 'invalid'"
)
_RAN = (
    "SELECT bug_id, content, side, seed, exit_code FROM executions "
    "WHERE bug_id NOT IN (SELECT bug_id FROM verdicts WHERE verdict = 'invalid')"
)


def run(stage: Stage) -> None:
    quick = [f"shipped/{name}" for name in _QUICK]
    words = ("--seeds", "3", "--workers", "2")
    stage.run("shipped", "analysis", "reexecute", *quick, *words, names="none")
    stage.query("shipped", _JUDGED)
    stage.query("shipped runs", _RAN)
    stage.query("shipped shown", _SHOWN)
    stage.run("again", "analysis", "reexecute", "--judge-again", names="none")
    stage.query("again", _JUDGED)
    folder = stage.folder / "exchanged"
    analysis = Path(str(resources.files("faultatlas.analysis"))).resolve()
    shipped = next(analysis.glob(f"**/shipped/{_EXCHANGED[0]}")).parent
    for name in _EXCHANGED:
        made = folder / name
        shutil.copytree(shipped / name, made, ignore=shutil.ignore_patterns("__pycache__"))
        (made / "buggy").rename(made / "was buggy")
        (made / "fixed").rename(made / "buggy")
        (made / "was buggy").rename(made / "fixed")
        description = made / "bug.toml"
        text = description.read_text(encoding="utf-8").replace("shipped/", "exchanged/")
        description.write_text(text, encoding="utf-8")
    stage.run("import", "analysis", "bugs", "import", folder, study="exchanged")
    stage.run("exchanged", "analysis", "reexecute", "exchanged/*", *words, study="exchanged",
              names="none")  # fmt: skip
    stage.query("exchanged", _JUDGED, study="exchanged")
    stage.query("exchanged runs", _RAN, study="exchanged")
    stage.query("exchanged shown", _SHOWN, study="exchanged")
