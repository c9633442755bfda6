"""The contract of a published study: every file in analysis/replication/published keeps it."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from faultatlas.analysis.replication.figures import PublishedStudy, Recomputed
from faultatlas.analysis.replication.published import published_studies, published_study
from faultatlas.analysis.studies import replicate
from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Result
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary

STUDIES = published_studies()


@pytest.fixture(params=STUDIES)
def published(request: pytest.FixtureRequest) -> PublishedStudy:
    return STUDIES[request.param]


@pytest.fixture
def nothing(published: PublishedStudy, tmp_path: Path) -> Result:
    """The result where nothing was imported."""
    return replicate.run(Study(tmp_path / "study"), published.name)


def test_it_plans_every_figure_that_was_published_once(published: PublishedStudy) -> None:
    planned = sorted(plan.figure_id for plan in published.figures)
    wanted = [
        each.figure_id for each in evidence.published_figures() if each.study == published.name
    ]
    assert planned == wanted


def test_its_source_taxonomies_and_files_are_known(published: PublishedStudy) -> None:
    assert published.source in {each.source_id for each in evidence.sources()}
    names = TaxonomyLibrary(as_shipped=True).names
    assert all(plan.taxonomy in names for plan in published.rounds)
    for file in published.files:
        assert file.places
        assert file.about
    needed = [
        need for plan in published.figures if isinstance(plan, Recomputed) for need in plan.needs
    ]
    for need in needed:
        package, separator, name = need.rpartition(":")
        of = STUDIES[package] if separator else published
        known = [each.name for each in of.files]
        assert any(fnmatchcase(name, each) or fnmatchcase(each, name) for each in known), need


def test_without_its_package_what_needs_a_file_has_no_data(
    published: PublishedStudy, nothing: Result
) -> None:
    figures = nothing.document["figures"]
    for plan in published.figures:
        if isinstance(plan, Recomputed) and plan.needs and not plan.or_printed:
            said = figures[plan.figure_id]
            assert (said["status"], said["values"]) == ("no data", {})
            assert "not in the folder" in said["reason"]


def test_its_result_is_the_same_again_and_survives_json(
    published: PublishedStudy, nothing: Result, tmp_path: Path
) -> None:
    assert replicate.again(Study(tmp_path / "other"), nothing.parameters) == nothing
    assert Result.from_json(json.loads(json.dumps(nothing.to_json()))) == nothing
    assert nothing.name == f"replicate-{published.name}"
    assert len({claim.claim_id for claim in nothing.claims}) == len(nothing.claims)


def test_an_unknown_study_is_answered_with_the_known_ones() -> None:
    with pytest.raises(StudyError) as caught:
        published_study("hp")
    assert "hp-defects" in caught.value.hint
