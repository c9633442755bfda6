"""Samples: who is drawn, in which order, and the same again, with every kind of size and strata."""

from __future__ import annotations

import shlex

from golden.stage import INPUTS, Stage

# The frame that a sample is drawn from has other members once more was mined.
_DRAWS = (
    "SELECT sample, draw, seed, asked, size, frame_count, frame_hash, confidence, margin, rounding,"
    " method, allocation, strata FROM sample_draws"
)


def run(stage: Stage) -> None:
    dump = INPUTS / "G32" / "Posts.xml"
    stage.run("posts", "miner", "posts", "--tag", "keras", "--from-dump", dump)
    stage.run("papers", "miner", "papers", "--from", INPUTS / "G31" / "papers.bib")
    stage.run("step", "miner", "filter", "bug-words", "--lexicon", "bugfix", "--on", "post")
    stage.run("last step", "miner", "filter", "scored", "--where", "coalesce(score, 9) > 3")
    for call in (stage.inputs / "calls.txt").read_text(encoding="utf-8").splitlines():
        stage.run(call, *shlex.split(call))
    stage.query("funnel", "SELECT step, source, rows_in, rows_out FROM funnel")
    stage.views("first", "samples")
    stage.query("first draws", _DRAWS)

    more = ("--tag", "pytorch", "--from-dump", dump)
    stage.run("more posts", "miner", "posts", *more)
    stage.run("again", "miner", "filter", "--again")
    for label, name in (("larger", "plain"), ("other frame", "five")):
        stage.run(f"{label} checked", "annotation", "sample", name, "--check")
        stage.run(label, "annotation", "sample", name, "--size", 40, "--extend")
    stage.views("second", "samples")
    stage.query("second draws", _DRAWS)
