"""What PROJECT on a command line means."""

from __future__ import annotations

import csv
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import parse, project_of
from faultatlas.miner import projects
from faultatlas.miner.projects import (
    Project,
    aliases_table,
    find,
    find_usual,
    refuse_plain_http,
    usual_api,
)

law = settings(max_examples=250)

ENTERPRISE = "https://git.example.org/api/v3"
HERE = "http://127.0.0.1:8080"
ROWS = aliases_table().records()
ALIASES = [str(row["alias"]) for row in ROWS]


@pytest.mark.parametrize(
    ("text", "key", "api_url"),
    [
        ("pytorch", "github:pytorch/pytorch", "https://api.github.com"),
        (" PyTorch ", "github:pytorch/pytorch", "https://api.github.com"),
        ("mindspore", "gitee:mindspore/mindspore", "https://gitee.com/api/v5"),
        ("paddle", "github:paddlepaddle/paddle", "https://api.github.com"),
        ("huggingface/datasets", "github:huggingface/datasets", "https://api.github.com"),
        ("Huggingface/Datasets.git", "github:huggingface/datasets", "https://api.github.com"),
        ("github.com/o/r", "github:o/r", "https://api.github.com"),
        ("https://github.com/o/r", "github:o/r", "https://api.github.com"),
        ("https://github.com/o/r/issues?q=label%3Abug", "github:o/r", "https://api.github.com"),
        ("https://github.com/o/r/issues/7#issuecomment-1", "github:o/r", "https://api.github.com"),
        ("https://api.github.com/repos/o/r/issues", "github:o/r", "https://api.github.com"),
        ("git@github.com:o/r.git", "github:o/r", "https://api.github.com"),
        ("github:o/r", "github:o/r", "https://api.github.com"),
        ("gitee.com/o/r", "gitee:o/r", "https://gitee.com/api/v5"),
        ("https://gitee.com/o/r/issues/I65G7B", "gitee:o/r", "https://gitee.com/api/v5"),
        ("git@gitee.com:o/r.git", "gitee:o/r", "https://gitee.com/api/v5"),
        ("gitee:o/r", "gitee:o/r", "https://gitee.com/api/v5"),
        ("github:git.example.org/o/r", "github:git.example.org/o/r", ENTERPRISE),
    ],
)
def test_a_project_is_found_by_alias_name_or_url(text: str, key: str, api_url: str) -> None:
    found = find(text)
    assert (found.key, found.api_url) == (key, api_url)


@pytest.mark.parametrize(
    ("text", "api_url", "key"),
    [
        ("team/app", ENTERPRISE, "github:git.example.org/team/app"),
        ("team/app", f"{ENTERPRISE}/", "github:git.example.org/team/app"),
        ("team/team.github.com", ENTERPRISE, "github:git.example.org/team/team.github.com"),
        ("pytorch/pytorch", ENTERPRISE, "github:git.example.org/pytorch/pytorch"),
        ("git.example.org/team/app", ENTERPRISE, "github:git.example.org/team/app"),
        (
            "https://git.example.org/Team/app/issues/4",
            ENTERPRISE,
            "github:git.example.org/team/app",
        ),
        ("git@git.example.org:team/app.git", ENTERPRISE, "github:git.example.org/team/app"),
        ("o/r", "https://git.example.org:8443/api/v3", "github:git.example.org:8443/o/r"),
        ("o/r", "https://api.acme.ghe.com", "github:acme.ghe.com/o/r"),
        ("o/r", "https://git.example.org/api/v5", "gitee:git.example.org/o/r"),
        ("o/r", "https://gitee.com/api/v5", "gitee:o/r"),
        ("o/r", "https://api.github.com/", "github:o/r"),
        # This machine stands for the public API: ids do not change.
        ("o/r", HERE, "github:o/r"),
        ("o/r", "http://localhost:8080", "github:o/r"),
        ("o/r", "http://[::1]:8080", "github:o/r"),
        ("o/r", f"{HERE}/api/v5", "gitee:o/r"),
        ("pytorch", HERE, "github:pytorch/pytorch"),
        ("mindspore", HERE, "gitee:mindspore/mindspore"),
        ("mindspore", f"{HERE}/api/v5", "gitee:mindspore/mindspore"),
        ("https://gitee.com/o/r", HERE, "gitee:o/r"),
    ],
)
def test_an_api_address_says_where_to_ask(text: str, api_url: str, key: str) -> None:
    found = find(text, api_url)
    assert (found.key, found.api_url) == (key, api_url.rstrip("/"))


PUBLIC = "https://api.github.com"
GITEE = "https://gitee.com/api/v5"


@pytest.mark.parametrize(
    ("text", "usual", "key", "asked"),
    [
        ("team/app", ENTERPRISE, "github:git.example.org/team/app", ENTERPRISE),
        ("git.example.org/team/app", ENTERPRISE, "github:git.example.org/team/app", ENTERPRISE),
        ("github:git.example.org/o/r", ENTERPRISE, "github:git.example.org/o/r", ENTERPRISE),
        # What says itself where it is stays there.
        ("pytorch", ENTERPRISE, "github:pytorch/pytorch", PUBLIC),
        ("https://github.com/o/r", ENTERPRISE, "github:o/r", PUBLIC),
        ("github:git.example.org/o/r", HERE, "github:git.example.org/o/r", ENTERPRISE),
        ("mindspore", ENTERPRISE, "gitee:mindspore/mindspore", GITEE),
        ("mindspore", HERE, "gitee:mindspore/mindspore", GITEE),
        ("gitee:o/r", HERE, "gitee:o/r", GITEE),
        # This machine stands for github.com; so does its own API, which is set in GitHub's jobs.
        ("pytorch", HERE, "github:pytorch/pytorch", HERE),
        ("https://github.com/o/r", f" {HERE}/ ", "github:o/r", HERE),
        ("o/r", PUBLIC, "github:o/r", PUBLIC),
        ("mindspore", PUBLIC, "gitee:mindspore/mindspore", GITEE),
        ("pytorch", " ", "github:pytorch/pytorch", PUBLIC),
    ],
)
def test_a_variable_names_the_usual_server(text: str, usual: str, key: str, asked: str) -> None:
    found = find_usual(text, None, {"GITHUB_API_URL": usual})
    assert (found.key, found.api_url) == (key, asked)


def test_an_option_wins_over_the_variable() -> None:
    assert find_usual("o/r", HERE, {"GITHUB_API_URL": ENTERPRISE}).api_url == HERE


@pytest.mark.parametrize(
    ("usual", "words"),
    [
        ("git.example.org", "GITHUB_API_URL: .*is no address of an API"),
        (f"{HERE}/api/v5", "GITHUB_API_URL is .*an address of Gitee"),
    ],
)
def test_a_variable_that_names_no_github_is_refused(usual: str, words: str) -> None:
    with pytest.raises(StudyError, match=words) as refused:
        usual_api({"GITHUB_API_URL": usual})
    assert refused.value.hint
    assert refused.value.hint not in refused.value.message


def test_what_a_project_is_called_fits_its_ids() -> None:
    for text, api_url in [("pytorch", None), ("mindspore", None), ("team/app", ENTERPRISE)]:
        found = find(text, api_url)
        issue = parse(f"{found.key}#12")
        assert (issue.source, issue.host, issue.project) == (found.source, found.host, found.name)
        assert found.repository == issue.repository == project_of(found.key)


@pytest.mark.parametrize("text", ["apache/incubator-mxnet", "https://github.com/google/jax"])
def test_a_former_name_is_the_same_project(text: str) -> None:
    assert find(text).alias in ("mxnet", "jax")
    assert find(text).name in ("apache/mxnet", "jax-ml/jax")


def test_a_known_project_has_its_labels_however_it_is_named() -> None:
    for text in ("pytorch", "pytorch/pytorch", "https://github.com/pytorch/pytorch/issues"):
        assert find(text) == find("pytorch")
    # On another host it is another tracker, whose labels nobody knows.
    assert find("pytorch/pytorch", ENTERPRISE).priority_labels == ()


@pytest.mark.parametrize(
    ("text", "near"),
    [("tensorflwo", "tensorflow"), ("torch", "pytorch"), ("sklearn", "scikit-learn")],
)
def test_an_unknown_alias_is_answered_with_near_spellings_and_all(text: str, near: str) -> None:
    with pytest.raises(StudyError, match=f"there is no project '{text}'") as refused:
        find(text)
    assert f"Did you mean {near}" in refused.value.hint
    assert all(alias in refused.value.hint for alias in ALIASES)


@pytest.mark.parametrize(
    ("text", "api_url", "words"),
    [
        ("", None, "there is no project"),
        ("zzz", None, "there is no project 'zzz'"),
        ("github.com/pytorch", None, "names no repository"),
        ("local/app", None, "is a folder"),
        ("doi:10.1145/3377811.3380395", None, "belongs to no repository"),
        ("https://git.example.org/team/app", None, "nobody said"),
        ("https://gitlab.com/a/b", None, "nobody said"),
        ("pytorch", ENTERPRISE, "another host"),
        ("https://github.com/o/r", ENTERPRISE, "another host"),
        ("https://other.example.org/o/r", ENTERPRISE, "another host"),
        ("mindspore", "https://api.github.com", "is a github API"),
        ("https://github.com/o/r", f"{HERE}/api/v5", "is a gitee API"),
        ("o/r", "https://git.example.org", "whether it is GitHub or Gitee"),
        ("o/r", "git.example.org/api/v3", "no address of an API"),
        ("o/r", "ftp://git.example.org/api/v3", "no address of an API"),
        ("o/r", "https://git.example.org/api/v3?page=1", "no address of an API"),
        ("o/r", "https://git.example.org:port/api/v3", "no address of an API"),
        ("o/r", "http://[::1", "no address of an API"),
        ("o/r", "", "no address of an API"),
    ],
)
def test_what_names_no_tracker_is_refused_with_a_next_step(
    text: str, api_url: str | None, words: str
) -> None:
    with pytest.raises(StudyError, match=words) as refused:
        find(text, api_url)
    assert refused.value.hint


def test_a_password_in_an_address_is_refused_and_not_shown() -> None:
    for call in (lambda: find("o/r", "https://jane:s3cret@git.example.org/api/v3"),
                 lambda: find("https://jane:s3cret@git.example.org/o/r")):  # fmt: skip
        with pytest.raises(StudyError) as refused:
            call()
        assert "s3cret" not in str(refused.value)


def test_the_next_step_for_an_enterprise_host_works() -> None:
    text = "https://git.example.org/team/app/"
    with pytest.raises(StudyError) as refused:
        find(text)
    assert ENTERPRISE in refused.value.hint
    assert find(text, ENTERPRISE).key == "github:git.example.org/team/app"


@pytest.mark.parametrize("api_url", ["https://api.github.com", ENTERPRISE, HERE,
                                     "http://localhost:1", "http://[::1]:1"])  # fmt: skip
def test_a_token_may_travel_over_https_and_on_this_machine(api_url: str) -> None:
    refuse_plain_http(api_url)


@pytest.mark.parametrize("api_url", ["http://git.example.org/api/v3", "http://127.0.0.1.evil.org/",
                                     "http://localhost.evil.org", "http://10.0.0.1/api/v3"],
                         )  # fmt: skip
def test_a_token_may_not_travel_in_the_open(api_url: str) -> None:
    with pytest.raises(StudyError, match="could be read on the way") as refused:
        refuse_plain_http(api_url)
    assert "https" in refused.value.hint


# The data file.


def test_the_projects_of_the_studies_are_there() -> None:
    assert sorted(ALIASES) == ALIASES
    assert set(ALIASES) >= {
        "pytorch", "tensorflow", "keras", "mindspore", "onnx", "jax", "mxnet", "paddle",
        "scikit-learn",
    }  # fmt: skip


@pytest.mark.parametrize("alias", ALIASES)
def test_every_alias_is_sound(alias: str) -> None:
    found = find(alias)
    assert found.alias == alias
    assert found.name == found.name.lower()
    assert parse(f"{found.key}#1").project == found.name
    (row,) = (row for row in ROWS if row["alias"] == alias)
    assert find(f"{found.host}/{row['repository']}") == found
    marked = bool(found.priority_labels)
    assert marked == bool(row["labels_in_paper"]) == bool(row["cited"]) == bool(row["reading"])
    assert marked or not found.priority_levels


def test_labels_are_cited_from_a_source_that_is_listed() -> None:
    text = files("faultatlas.data").joinpath("evidence", "sources.csv").read_text(encoding="utf-8")
    sources = {row["source_id"] for row in csv.DictReader(text.splitlines())}
    cited = {str(row["cited"]).partition(" ")[0] for row in ROWS if row["cited"]}
    assert cited
    assert cited <= sources


@pytest.mark.parametrize(
    ("alias", "labels", "levels", "in_paper"),
    [
        ("pytorch", ("high priority",), (), "high priority; bug"),
        ("tensorflow", ("type:bug",), (), "type bug"),
        ("mindspore", ("kind/bug",), (3, 4), "Main; Serious; kind/bug"),
        ("onnx", (), (), None),
    ],
)
def test_high_priority_is_what_the_study_says_and_how_we_read_it(
    alias: str, labels: tuple[str, ...], levels: tuple[int, ...], in_paper: str | None
) -> None:
    found = find(alias)
    assert (found.priority_labels, found.priority_levels) == (labels, levels)
    assert not found.priority_any
    (row,) = (row for row in ROWS if row["alias"] == alias)
    assert row["labels_in_paper"] == in_paper


def test_the_reading_for_pytorch_holds_in_the_sheet_of_the_study(study_fixtures: Path) -> None:
    with (study_fixtures / "hp_defects" / "pytorch.csv").open(encoding="utf-8") as sheet:
        numbers = {int(row["URL"].rpartition("/")[2]) for row in csv.DictReader(sheet)}
    assert {33001, 33899} <= numbers  # `high priority` without `bug` in the tracker
    assert min(numbers) == 31758
    assert 1318 not in numbers  # both labels, 2017


def test_the_table_says_high_priority_in_words() -> None:
    shown = {row["alias"]: row["high_priority"] for row in ROWS}
    assert shown["mindspore"] == "kind/bug, priority Main or Serious"
    assert shown["pytorch"] == "high priority"
    assert shown["jax"] is None
    assert [column.key for column in aliases_table().narrow().columns] == [
        "alias", "source", "repository", "high_priority",
    ]  # fmt: skip


def test_one_of_several_labels_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    row = dict.fromkeys(next(csv.reader([HEADER])), "") | {
        "alias": "a", "source": "gitee", "repository": "O/r", "labels": "x; y", "combine": "any",
    }  # fmt: skip
    monkeypatch.setattr(projects, "_known", lambda: {"a": projects._row(row)})  # noqa: SLF001
    found = find("a")
    assert (found.priority_labels, found.priority_any) == (("x", "y"), True)
    assert aliases_table().records()[0]["high_priority"] == "x or y"


HEADER = (
    files("faultatlas.miner").joinpath("projects.csv").read_text(encoding="utf-8").splitlines()[0]
)


@law
@given(st.text(max_size=40) | st.text("pytorch/:@.#?git ehub-com", max_size=30),
       st.none() | st.just(ENTERPRISE) | st.text("htps:/.api3v@[]1 ", max_size=20))  # fmt: skip
def test_any_words_name_a_project_or_are_refused_cleanly(text: str, api_url: str | None) -> None:
    with suppress(StudyError):  # any other error is a bug
        found = find(text, api_url)
        assert isinstance(found, Project)
        assert parse(f"{found.key}#1").project == found.name
