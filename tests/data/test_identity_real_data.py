"""Every reference in the real data is read."""

from __future__ import annotations

import csv
import gzip
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import artifact_id, parse, project_of, url_of


def column(path: Path, header: str) -> list[str]:
    # The titles beside the links of SO_init are Mac Roman, not UTF-8; the links are ASCII.
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
        return [row[header] for row in csv.DictReader(file)]


def payloads(path: Path) -> Iterator[dict[str, Any]]:
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)
    else:
        yield from json.loads(path.read_text(encoding="utf-8"))


# Some URLs stand in two rows of their list, hence fewer artifacts than rows.
@pytest.mark.parametrize(
    ("name", "header", "rows", "artifacts", "provisional"),
    [
        ("hp_defects/pytorch.csv", "URL", 1000, 1000, 0),
        ("hp_defects/mindspore.csv", "URL", 1000, 998, 0),
        ("facts/humbatova_artifacts.csv", "link", 158, 158, 37),
        ("defect4ml/bugs.csv", "url", 70, 67, 43),
        ("dl_faults/SO_init/keras.csv", "Link", 1000, 1000, 0),
        ("dl_faults/SO_init/pytorch.csv", "Link", 653, 653, 0),
        ("dl_faults/SO_init/tensorflow.csv", "Link", 1000, 1000, 0),
    ],
)
def test_every_artifact_of_the_published_lists_is_read(
    study_fixtures: Path, name: str, header: str, rows: int, artifacts: int, provisional: int
) -> None:
    found = [parse(url) for url in column(study_fixtures / name, header)]
    assert len(found) == rows
    assert len(set(found)) == artifacts
    assert sum(it.provisional for it in set(found)) == provisional
    for it in found:
        assert parse(str(it)) == it == parse(str(url_of(it)))


@pytest.mark.parametrize("framework", ["keras", "tensorflow", "torch"])
@pytest.mark.parametrize("kind", ["init", "after_init_removal", "top_100"])
def test_every_repository_of_the_published_lists_is_read(
    study_fixtures: Path, framework: str, kind: str
) -> None:
    path = study_fixtures / f"dl_faults/GitHub_init/{framework}_{kind}.csv"
    urls = column(path, "project")
    assert len(urls) >= 100
    for url in urls:
        assert project_of(url) == url.removeprefix("https://github.com/").lower()
        with pytest.raises(StudyError):
            parse(url)
    # The exception: this column names people, who are neither artifacts nor repositories.
    for url in column(path, "top-contributor"):
        assert url.startswith("https://api.github.com/users/")
        for read in (parse, project_of):
            with pytest.raises(StudyError):
                read(url)


@pytest.mark.parametrize("number", range(1, 7))
def test_every_artifact_of_the_labelling_rounds_is_read(study_fixtures: Path, number: int) -> None:
    path = study_fixtures / f"dl_faults/Analysed_Artifacts/round_{number}.xlsx"
    with zipfile.ZipFile(path) as book:
        text = b"".join(book.read(part) for part in book.namelist()).decode("utf-8", "replace")
    urls = set(re.findall(r"https?://(?:github|stackoverflow)\.com[^\s<\"]*", text))
    assert len(urls) >= 29
    for url in urls:
        assert parse(url).source in ("github", "git", "stackoverflow")


def test_the_urls_of_github_payloads_agree_with_their_numbers(study_fixtures: Path) -> None:
    seen = 0
    for issue in payloads(study_fixtures / "github" / "datasets_issues.jsonl.gz"):
        expected = f"github:huggingface/datasets#{issue['number']}"
        pull = issue.get("pull_request") or {}
        urls = [issue[key] for key in ("url", "html_url", "comments_url", "events_url")]
        urls += [issue["labels_url"], *(v for k, v in pull.items() if k.endswith("url"))]
        assert {artifact_id(url) for url in urls} == {expected}
        assert project_of(issue["repository_url"]) == "huggingface/datasets"
        seen += 1
    assert seen == 3655


@pytest.mark.parametrize("page", ["gitee_issues1.json", "gitee_issues2.json"])
def test_the_urls_of_gitee_payloads_agree_with_their_numbers(
    study_fixtures: Path, page: str
) -> None:
    issues = list(payloads(study_fixtures / "gitee" / page))
    assert issues
    for issue in issues:
        project = project_of(issue["repository_url"])
        expected = artifact_id(issue["number"], default_project=project)
        for key in ("url", "html_url", "comments_url", "labels_url"):
            assert artifact_id(issue[key]) == expected
