"""The figures of six published studies, computed from their public packages, and without them."""

from __future__ import annotations

import shutil

from golden.stage import Stage

REAL = True
LONGEST = 60_000  # the claims: a status that changes is to be seen
_PACKAGES = {
    "hp-defects": "hp_defects", "dl-faults": "dl_faults", "defect4ml": "defect4ml",
    "bug-localization": "bug_localization",
}  # fmt: skip
_WITHOUT = ("survey", "maintenance")  # they have none; what they need is in that of another
# K047 adds up searches that overlap: that was no contradiction.
_OTHERWISE = ("replicate-survey.k047",)


def run(stage: Stage) -> None:
    assert stage.real_data
    for name in (*_PACKAGES, *_WITHOUT):
        stage.run(f"{name} from nothing", "analysis", "replicate", name, study="empty")
    stage.claims("from nothing", study="empty", without=_OTHERWISE)
    for name, folder in _PACKAGES.items():
        # A copy without anything beside it: no facts that could be looked up.
        copy = shutil.copytree(stage.real_data / folder, stage.folder / name)
        stage.run(name, "analysis", "replicate", name, "--from", copy)
        shutil.rmtree(copy)
    for name in _WITHOUT:
        stage.run(name, "analysis", "replicate", name)
    stage.claims("from packages", without=_OTHERWISE)
    stage.query(
        "labels",
        "SELECT round, rater, stage, code, count(*), min(item_id), max(item_id) FROM labels "
        "GROUP BY ALL",
    )
    stage.query(
        "final labels",
        "SELECT round, taxonomy_version, settled_by, code, count(*), min(artifact_id), "
        "max(artifact_id) FROM final_labels GROUP BY ALL",
    )
    stage.run("from what was imported", "analysis", "replicate", "hp-defects")
    stage.run("agreement", "annotation", "agreement", "--resamples", "20", "--by", "pair")
    stage.claims("agreement", "agreement")
    stage.run("unknown study", "analysis", "replicate", "no-such-study")
