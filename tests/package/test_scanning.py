"""The last look finds what slipped through, and lets ordinary words pass."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from faultatlas.data.errors import StudyError
from faultatlas.report.package.people import Cleaner, Scanner, refuse, scan

CLEANER = Cleaner(
    names={"rater": {"trillian": "rater-01", "tree": "rater-02"}},
    vocabulary=frozenset({"tree"}),
    own_names=("deepthought",),
)
SCANNER = Scanner(CLEANER, ["/srv/studies/improbable"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("with ghp_" + "a1" * 12, "a secret"),
        ("https://me:pw@example.org/x", "a secret"),
        ("ask marvin@gold.org", "an e-mail address"),
        ("see /home/ford/x.csv", "a path on a disk"),
        (r"see C:\Users\ford\x.csv", "a path on a disk"),
        ("in /mnt/lab/x.csv", "a path on a disk"),
        ("at /srv/studies/improbable", "the path of the study"),
        ("says trillian.", "the name of a rater (trillian)"),
        ("on deepthought", "a name of this machine, its user or an author (deepthought)"),
    ],
)
def test_what_must_not_be_published_is_found(text: str, kind: str) -> None:
    assert kind in set(SCANNER.text(text))


@pytest.mark.parametrize(
    "text",
    ["@tf.function", "icon@2x.png", "git@github.com:o/r", "a tree of codes",
     "trillian/repository", "data/labels.csv", "tokens and token classification", "B:\\n and C:",
     "https://example.org/home/page"],
)  # fmt: skip
def test_ordinary_words_pass(text: str) -> None:
    assert not list(SCANNER.text(text))


def test_for_review_names_are_found_in_addresses_as_well() -> None:
    blind = Scanner(replace(CLEANER, is_blind=True), [])
    assert list(blind.text("github:trillian/repository#1"))


def test_a_finding_says_where_and_not_what() -> None:
    rows = pa.table({"label": ["ok", "marvin@gold.org"], "labels": [["x"], ["ghp_" + "a1" * 12]]})
    found = scan(SCANNER, {"issue": rows}, {"README.md": b"by marvin@gold.org"})
    with pytest.raises(StudyError, match="3 things that must not be") as refused:
        refuse(found)
    assert "issue.label: an e-mail address; issue.labels: a secret; README.md: an e-mail" in (
        refused.value.message
    )
    assert "marvin" not in refused.value.message
    assert "--allow" in refused.value.hint
