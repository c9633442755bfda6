from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress

import pytest
from growth import grows_like_its_text
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import (
    MAX_LENGTH,
    ArtifactId,
    artifact_id,
    local_project,
    paper_id,
    parse,
    project_of,
    title_key,
    url_of,
)

SHA = "0123456789abcdef0123456789abcdef01234567"
ENTERPRISE = {"git.example.org": "github", "localhost:8080": "github", "gitlab.com": "git"}
law = settings(max_examples=400)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # GitHub issues and pull requests: one numbering, one id.
        ("https://github.com/pytorch/pytorch/issues/1", "github:pytorch/pytorch#1"),
        ("https://github.com/pytorch/pytorch/pull/1", "github:pytorch/pytorch#1"),
        ("https://github.com/pytorch/pytorch/pull/1/files", "github:pytorch/pytorch#1"),
        ("https://github.com/pytorch/pytorch/pull/1.diff", "github:pytorch/pytorch#1"),
        ("https://github.com/o/r/pull/1/commits", "github:o/r#1"),
        ("https://github.com/o/r/issues/1#issuecomment-12345", "github:o/r#1"),
        ("https://github.com/o/r/issues/1?foo=bar&x=/y", "github:o/r#1"),
        ("https://github.com/o/r/issues/1/", "github:o/r#1"),
        ("http://github.com/o/r/issues/1", "github:o/r#1"),
        ("HTTPS://WWW.GitHub.com/PyTorch/PyTorch/issues/1", "github:pytorch/pytorch#1"),
        ("https://github.com:443/o/r/issues/1", "github:o/r#1"),
        ("github.com/o/r/issues/1#issuecomment-2", "github:o/r#1"),
        ("www.github.com/o/r/issues/1", "github:o/r#1"),
        ("https://redirect.github.com/o/r/issues/1", "github:o/r#1"),
        ("https://api.github.com/repos/o/r/issues/1", "github:o/r#1"),
        ("https://api.github.com/repos/o/r/pulls/1", "github:o/r#1"),
        ("https://api.github.com/repos/o/r/issues/1/labels{/name}", "github:o/r#1"),
        ("o/r#1", "github:o/r#1"),
        ("O/R.js#007", "github:o/r.js#7"),
        ("github.com/o/r#1", "github:o/r#1"),
        ("GitHub:O/R#1", "github:o/r#1"),
        ("github:github.com/o/r#1", "github:o/r#1"),
        ("\ufeff  o/r#1 \n", "github:o/r#1"),
        # Commits.
        (f"https://github.com/Keras-Team/keras/commit/{SHA}", f"git:keras-team/keras@{SHA}"),
        (f"https://github.com/o/r/commit/{SHA.upper()}", f"git:o/r@{SHA}"),
        (f"https://github.com/o/r/commit/{SHA}.patch", f"git:o/r@{SHA}"),
        (f"https://github.com/o/r/commit/{SHA}#diff-1", f"git:o/r@{SHA}"),
        (f"https://github.com/o/r/pull/1/commits/{SHA}", f"git:o/r@{SHA}"),
        (f"https://api.github.com/repos/o/r/commits/{SHA}", f"git:o/r@{SHA}"),
        (f"https://api.github.com/repos/o/r/git/commits/{SHA}", f"git:o/r@{SHA}"),
        ("https://github.com/o/r/commit/46779540", "git:o/r@46779540"),
        (f"o/r@{SHA}", f"git:o/r@{SHA}"),
        (f"git:github.com/o/r@{SHA}", f"git:o/r@{SHA}"),
        (f"git:local/My_Folder@{SHA}", f"git:local/my_folder@{SHA}"),
        (f"git:gitlab.com/a/b/c@{SHA}", f"git:gitlab.com/a/b/c@{SHA}"),
        # Gitee.
        (
            "https://gitee.com/mindspore/mindspore/issues/I65G7B",
            "gitee:mindspore/mindspore#I65G7B",
        ),
        ("https://gitee.com/O/R/issues/i65g7b?from=project-issue", "gitee:o/r#I65G7B"),
        ("https://gitee.com/api/v5/repos/o/r/issues/I65G7B", "gitee:o/r#I65G7B"),
        ("https://gitee.com/o/r/pulls/12", "gitee:o/r#12"),
        ("gitee.com/o/r#I65G7B", "gitee:o/r#I65G7B"),
        (f"https://gitee.com/o/r/commit/{SHA}", f"git:gitee.com/o/r@{SHA}"),
        # Stack Exchange.
        ("https://stackoverflow.com/questions/47267612", "stackoverflow:47267612"),
        ("https://stackoverflow.com/questions/1/a-slug?x#2", "stackoverflow:1"),
        ("https://stackoverflow.com/questions/1/a-slug/2#2", "stackoverflow:1"),
        ("https://stackoverflow.com/questions/1#answer-2", "stackoverflow:1"),
        ("http://www.stackoverflow.com/q/1", "stackoverflow:1"),
        ("https://stackoverflow.com/q/1/2", "stackoverflow:1"),
        ("stackoverflow.com/q/1#2", "stackoverflow:1"),
        (
            "https://datascience.stackexchange.com/questions/123/slug",
            "stackoverflow:datascience.stackexchange.com/123",
        ),
        ("https://ru.stackoverflow.com/q/5/как", "stackoverflow:ru.stackoverflow.com/5"),
        ("https://askubuntu.com/questions/5", "stackoverflow:askubuntu.com/5"),
        ("stackoverflow:stackoverflow.com/5", "stackoverflow:5"),
        # DOIs.
        ("https://doi.org/10.1145/3377811.3380395", "doi:10.1145/3377811.3380395"),
        ("http://dx.doi.org/10.1109/ICSE.2019.00001", "doi:10.1109/icse.2019.00001"),
        ("https://www.doi.org/10.1145/1.2?x=1", "doi:10.1145/1.2"),
        ("DOI: 10.1145/ABC", "doi:10.1145/abc"),
        ("doi:10.1145/ABC", "doi:10.1145/abc"),
        ("10.1145/3377811.3380395.", "doi:10.1145/3377811.3380395"),
        (
            "https://doi.org/10.1016%2FS0010-8650%2880%2980003-9",
            "doi:10.1016/s0010-8650(80)80003-9",
        ),
        ("10.1002/(SICI)1%3C3::AID%3E3.0.CO;2-2", "doi:10.1002/(sici)1<3::aid>3.0.co;2-2"),
        ("https://doi.org/10.48550/arXiv.1910.11015", "doi:10.48550/arxiv.1910.11015"),
        # Other hosts, by the syntax of the id.
        ("github:git.example.org/Team/App#4", "github:git.example.org/team/app#4"),
        ("github:localhost:8080/team/app#4", "github:localhost:8080/team/app#4"),
    ],
)
def test_every_spelling_of_an_artifact_has_one_id(text: str, expected: str) -> None:
    assert artifact_id(text) == expected
    assert artifact_id(expected) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://git.example.org/Team/App/issues/4", "github:git.example.org/team/app#4"),
        (
            "https://git.example.org/api/v3/repos/team/app/issues/4",
            "github:git.example.org/team/app#4",
        ),
        (
            f"https://git.example.org/team/app/commit/{SHA}",
            f"git:git.example.org/team/app@{SHA}",
        ),
        ("http://localhost:8080/team/app/pull/4", "github:localhost:8080/team/app#4"),
        ("git.example.org/team/app#4", "github:git.example.org/team/app#4"),
        ("https://api.git.example.org/repos/team/app/pulls/4", "github:git.example.org/team/app#4"),
        (f"https://gitlab.com/a/b/c/-/commit/{SHA}", f"git:gitlab.com/a/b/c@{SHA}"),
    ],
)
def test_a_private_host_is_read_once_it_is_told_what_it_runs(text: str, expected: str) -> None:
    assert artifact_id(text, hosts=ENTERPRISE) == expected
    with pytest.raises(StudyError) as refused:
        parse(text)
    assert "host" in refused.value.hint


def test_a_host_can_only_run_what_is_known() -> None:
    with pytest.raises(StudyError, match="jira"):
        parse("o/r#1", hosts={"bugs.example.org": "jira"})


@pytest.mark.parametrize(
    ("text", "project", "expected"),
    [
        ("#12", "pytorch/pytorch", "github:pytorch/pytorch#12"),
        ("12", "https://github.com/PyTorch/pytorch.git", "github:pytorch/pytorch#12"),
        ("GH-12", "pytorch/pytorch", "github:pytorch/pytorch#12"),
        ("I65G7B", "gitee.com/mindspore/mindspore", "gitee:mindspore/mindspore#I65G7B"),
        ("#i65g7b", "gitee.com/mindspore/mindspore", "gitee:mindspore/mindspore#I65G7B"),
        (SHA, "keras-team/keras", f"git:keras-team/keras@{SHA}"),
        ("@1234567", "keras-team/keras", "git:keras-team/keras@1234567"),
        ("abc1234", "keras-team/keras", "git:keras-team/keras@abc1234"),
        (f"@{SHA}", "local/mine", f"git:local/mine@{SHA}"),
        ("other/repo#3", "pytorch/pytorch", "github:other/repo#3"),
        ("#4", "git.example.org/team/app", "github:git.example.org/team/app#4"),
    ],
)
def test_inside_a_project_the_number_is_enough(text: str, project: str, expected: str) -> None:
    assert artifact_id(text, default_project=project, hosts=ENTERPRISE) == expected


@pytest.mark.parametrize("text", ["12", "#12", "abc1234", SHA, f"@{SHA}"])
def test_outside_a_project_a_number_or_hash_names_nothing(text: str) -> None:
    with pytest.raises(StudyError, match="names no artifact"):
        parse(text)


def test_no_text_is_longer_than_the_limit() -> None:
    url = "https://github.com/o/r/issues/1?"
    assert artifact_id(url.ljust(MAX_LENGTH, "x")) == "github:o/r#1"
    for read in (parse, project_of):
        with pytest.raises(StudyError, match="characters"):
            read(url.ljust(MAX_LENGTH + 1, "x"))


def test_what_is_accepted_is_short_enough_to_be_read_again() -> None:
    for text in ("10.1145/y", f"git:local/{'%aa' * 1000}@{SHA}", "github:o/r#1"):
        for length in range(len(text), MAX_LENGTH, 97):
            long = text.replace("/", f"/{'x' * (length - len(text))}", 1)
            try:
                it = parse(long)
            except StudyError:
                assert length > 300
            else:
                assert parse(str(it)) == it
                assert url_of(it) is None or parse(str(url_of(it))) == it
    deepest = parse(f"@{SHA}", default_project=local_project("\U0001f41b" * 255))
    assert parse(str(deepest)) == deepest
    widest = parse("doi:10.1145/" + "\U0001f41b" * 292)
    assert parse(str(url_of(widest))) == widest


def test_a_local_repository_has_no_issues() -> None:
    with pytest.raises(StudyError):
        parse("#12", default_project="local/mine")


@pytest.mark.parametrize(
    ("text", "provisional"),
    [
        ("https://github.com/tensorflow/models/commit/d816971", True),
        (f"o/r@{SHA}", False),
        (f"git:o/r@{SHA}{SHA[:24]}", False),  # SHA-256 repositories
        ("https://stackoverflow.com/a/2", True),
        ("https://stackoverflow.com/a/2/99#2", True),
        ("https://stackoverflow.com/q/2", False),
        ("o/r#1", False),
    ],
)
def test_what_needs_a_lookup_says_so(text: str, provisional: bool) -> None:  # noqa: FBT001
    assert parse(text).provisional is provisional


def test_an_answer_is_not_taken_for_the_question_of_that_number() -> None:
    answer = parse("https://stackoverflow.com/a/2")
    assert str(answer) == "stackoverflow:a/2"
    assert url_of(answer) == "https://stackoverflow.com/a/2"
    assert answer != parse("https://stackoverflow.com/q/2")
    elsewhere = parse("https://datascience.stackexchange.com/a/2/7")
    assert str(elsewhere) == "stackoverflow:datascience.stackexchange.com/a/2"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "nonsense",
        "github",
        "github:",
        "github:o/r",
        "github:o/r#0",
        "github:o/r#-1",
        "github:o/r#\u0661",  # an Arabic digit
        "github:o/r#I65G7B",
        "github:o#1",
        "github:a/b/c/d#1",
        "github:../r#1",
        "github:gitee.com/o/r#1",
        "gitee:o/r#65G7B",
        "git:o/r@main",
        "git:o/r@abc",
        "git:o/r@" + "a" * 41,
        "git:local/a/b@" + SHA,
        "paper:xyz",
        "stackoverflow:abc",
        "stackoverflow:a/b/1",
        "doi:",
        "doi:11.1145/x",
        "doi:10.1145/",
        "doi:10.1145/a b",
        "doi:10.1145/a%2541",
        "doi:10.1145/a%ff",
        "10.1145/a\u200bb",
        "https://",
        "https://[::1",
        "https://github.com",
        "https://github.com/pytorch",
        "https://github.com/pytorch/pytorch",
        "https://github.com/pytorch/pytorch/issues",
        "https://github.com/pytorch/pytorch/issues/new",
        "https://github.com/pytorch/pytorch/discussions/1",
        "https://github.com/pytorch/pytorch/blob/main/setup.py",
        "https://github.com/pytorch/pytorch/commits/main",
        "https://github.com/orgs/pytorch/issues/1",
        "https://api.github.com/users/keras",
        "https://api.github.com/repos/o/r/issues/comments/5",
        "https://gitee.com/o/r/issues/12",
        "https://gitee.com/o/r/pulls/I65G7B",
        "https://stackoverflow.com/questions/tagged/keras",
        "https://stackoverflow.com/users/1",
        "https://doi.org/",
        "https://doi.org/10/short",
        "https://example.org/o/r/issues/1",
        "https://github.com.evil.org/o/r/issues/1",
        "https://github.com@evil.org/o/r/issues/1",
        "https://evil.org/github.com/o/r/issues/1",
        "javascript:alert(1)//github.com/o/r/issues/1",
        "file:///o/r/issues/1",
        "see o/r#1",
        "https://github.com/o/r/iss\nues/1",
        "https://github.com/\u212aeras/r/issues/1",  # the Kelvin sign
        "o/r#1\x00",
        "o/r#1\ud800",
        "x" * (MAX_LENGTH + 1),
    ],
)
def test_what_names_nothing_is_refused_with_a_next_step(text: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse(text)
    assert refused.value.hint
    assert "\n" not in refused.value.message
    assert len(refused.value.message) < 400


@pytest.mark.parametrize(
    "text",
    [
        "https://user:hunter2@github.com/o/r",
        "https://user:hun@ter2:hunter2@github.com/o/r/wiki",
        "https://x:hunter2@example.org/o/r/issues/1",
        "https://example.org/o/r/issues/1?access_token=hunter2",
        "https://api.github.com/user?access_token=hunter2",
        "x:hunter2@example.org/o/r",
    ],
)
def test_no_error_shows_a_token(text: str) -> None:
    with pytest.raises(StudyError) as refused:
        parse(text)
    assert "hunter2" not in str(refused.value)


def test_a_token_in_a_url_never_reaches_the_id() -> None:
    assert artifact_id("https://x:hunter2@github.com/o/r/issues/1?token=z") == "github:o/r#1"
    assert project_of("https://x-access-token:hunter2@github.com/o/r.git") == "o/r"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("github:pytorch/pytorch#1", "https://github.com/pytorch/pytorch/issues/1"),
        ("github:git.example.org/a/b#4", "https://git.example.org/a/b/issues/4"),
        (f"git:o/r@{SHA}", f"https://github.com/o/r/commit/{SHA}"),
        (f"git:gitee.com/o/r@{SHA}", f"https://gitee.com/o/r/commit/{SHA}"),
        ("gitee:o/r#I65G7B", "https://gitee.com/o/r/issues/I65G7B"),
        ("gitee:o/r#12", "https://gitee.com/o/r/pulls/12"),
        ("stackoverflow:1", "https://stackoverflow.com/questions/1"),
        ("stackoverflow:askubuntu.com/1", "https://askubuntu.com/questions/1"),
        ("doi:10.1002/(sici)1<2#3?4", "https://doi.org/10.1002/(sici)1%3C2%233%3F4"),
        (f"git:local/x@{SHA}", None),
        (paper_id("A title", 2020), None),
        ("interview:pilot/7", None),
    ],
)
def test_an_artifact_has_a_page_unless_it_is_nowhere_on_the_web(
    text: str, expected: str | None
) -> None:
    assert url_of(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://github.com/Keras-Team/Keras", "keras-team/keras"),
        ("https://github.com/keras-team/keras/", "keras-team/keras"),
        ("https://github.com/keras-team/keras.git", "keras-team/keras"),
        ("https://github.com/keras-team/keras.git/", "keras-team/keras"),
        ("https://github.com/keras-team/keras/tree/master/docs?x#y", "keras-team/keras"),
        ("https://github.com/keras-team/keras/issues/1", "keras-team/keras"),
        ("https://api.github.com/repos/keras-team/keras", "keras-team/keras"),
        ("git@github.com:keras-team/keras.git", "keras-team/keras"),
        ("ssh://git@github.com/keras-team/keras.git", "keras-team/keras"),
        ("ssh://git@ssh.github.com:443/keras-team/keras.git", "keras-team/keras"),
        ("git://github.com/keras-team/keras.git", "keras-team/keras"),
        ("github.com/keras-team/keras", "keras-team/keras"),
        ("keras-team/keras", "keras-team/keras"),
        ("keras-team/keras/", "keras-team/keras"),
        ("github:keras-team/keras", "keras-team/keras"),
        ("github:keras-team/keras#1", "keras-team/keras"),
        (f"git:keras-team/keras@{SHA}", "keras-team/keras"),
        ("pytorch/.github", "pytorch/.github"),
        ("https://gitee.com/mindspore/mindspore", "gitee.com/mindspore/mindspore"),
        ("https://gitee.com/api/v5/repos/mindspore/mindspore", "gitee.com/mindspore/mindspore"),
        ("gitee:mindspore/mindspore#I65G7B", "gitee.com/mindspore/mindspore"),
        ("git@git.example.org:team/app.git", "git.example.org/team/app"),
        ("ssh://git@git.example.org:7999/team/app.git", "git.example.org/team/app"),
        ("https://git.example.org/team/app", "git.example.org/team/app"),
        ("https://git.example.org:8443/team/app", "git.example.org:8443/team/app"),
        ("https://gitlab.com/group/sub/app/-/tree/main", "gitlab.com/group/sub/app"),
        ("https://git.example.org/app.git", "git.example.org/app"),
        ("https://svn.example.org/repos/app.git", "svn.example.org/repos/app"),
        ("local/folder", "local/folder"),
        ("https://github.com/local/folder", "github.com/local/folder"),
    ],
)
def test_every_spelling_of_a_repository_has_one_name(text: str, expected: str) -> None:
    assert project_of(text) == expected
    assert project_of(expected) == expected


def test_issues_and_commits_of_a_repository_name_the_same_project() -> None:
    issue = parse("https://gitee.com/mindspore/mindspore/issues/I65G7B")
    commit = parse(f"https://gitee.com/mindspore/mindspore/commit/{SHA}")
    assert issue.repository == commit.repository == "gitee.com/mindspore/mindspore"
    assert parse("stackoverflow:1").repository == ""


def test_an_owner_called_local_is_not_a_local_folder() -> None:
    remote = parse(f"https://github.com/local/app/commit/{SHA}")
    assert str(remote) == f"git:github.com/local/app@{SHA}"
    assert parse(str(remote)) == remote != parse(f"git:local/app@{SHA}")
    assert url_of(remote) is not None


@pytest.mark.parametrize(
    "text",
    [
        "keras",
        "https://github.com/keras-team",
        "https://api.github.com/users/mark-20n",
        "https://github.com/topics/keras",
        "https://stackoverflow.com/questions/1",
        "https://doi.org/10.1145/1.2",
        "stackoverflow:1",
        "https://git.example.org/team/app/issues/4",  # groups nest: this may be four levels
        "/home/me/keras",
        "./keras",
        "../keras",
        "~/keras",
        "C:\\keras",
        "ssh://local/x.git",
        "me@local/x",
        "local/x.git.git",
        "http://git:8080/team/app",
        "o/..",
        "o/.git",
        "a b/c",
    ],
)
def test_what_is_no_repository_is_refused(text: str) -> None:
    with pytest.raises(StudyError) as refused:
        project_of(text)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("keras", "local/keras"),
        ("/home/me/Keras/", "local/keras"),
        ("C:\\work\\Keras", "local/keras"),
        ("keras.git", "local/keras"),
        ("my study", "local/my%20study"),
        ("cafe\u0301", "local/caf%c3%a9"),
        ("caf\u00e9", "local/caf%c3%a9"),
        ("a@b#c", "local/a%40b%23c"),
        ("bad\udcff", "local/bad%ed%b3%bf"),
    ],
)
def test_any_folder_can_be_named(folder: str, expected: str) -> None:
    assert local_project(folder) == expected
    assert project_of(expected) == expected
    assert artifact_id(f"@{SHA}", default_project=expected) == f"git:{expected}@{SHA}"


@pytest.mark.parametrize("folder", ["", "/", ".", "a/..", ".git", "x" * 300])
def test_what_is_no_folder_is_refused(folder: str) -> None:
    with pytest.raises(StudyError):
        local_project(folder)


SPELLINGS = [
    "Taxonomy of Real Faults in Deep Learning Systems",
    "taxonomy of real faults in deep-learning systems.",
    "{T}axonomy of {R}eal {F}aults in {D}eep {L}earning {S}ystems",
    "Taxonomy  of\nReal Faults\u00a0in Deep\u2010Learning Systems",
    "TAXONOMY OF REAL FAULTS \u2014 IN DEEP LEARNING SYSTEMS",
]


@pytest.mark.parametrize("title", SPELLINGS)
def test_a_title_in_two_spellings_is_one_paper(title: str) -> None:
    assert paper_id(title, 2020) == paper_id(SPELLINGS[0], 2020)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("M\u00fcller\u2019s tests", "M{\\\"u}ller's tests"),
        ("M\u00fcller", "Mu\u0308ller"),
        ("\ufb01nding bugs", "Finding bugs"),
        ("Gro\u00dfe Netze", "GROSSE NETZE"),
        ("\uff24\uff4e\uff4e", "dnn"),
    ],
)
def test_letters_that_look_the_same_are_the_same(one: str, other: str) -> None:
    assert title_key(one) == title_key(other)


def test_different_papers_have_different_ids() -> None:
    titles = ["Bugs in C", "Bugs in C++", "Bugs in C#", "Bugs in D", "错误", "错", "कि", "का"]
    assert len({paper_id(title, 2020) for title in titles}) == len(titles)
    assert len({paper_id("Bugs", year) for year in (2019, 2020, None)}) == 3


def test_the_hash_of_a_paper_never_changes() -> None:
    # Studies store these ids: a change here would split every paper in two.
    assert paper_id(SPELLINGS[0], 2020) == "paper:e05e980191536da9a8a1"


def test_a_paper_with_a_doi_is_named_by_it() -> None:
    expected = "doi:10.1145/3377811.3380395"
    assert paper_id("A", 2020, "https://doi.org/10.1145/3377811.3380395") == expected
    assert paper_id("A", 2020, " ") == paper_id("A", 2020, None) == paper_id("A", 2020)


@pytest.mark.parametrize(
    ("title", "doi"),
    [("", None), ("...", ""), ("A", "n/a"), ("A", "o/r#1"), ("x" * (MAX_LENGTH + 1), None)],
)
def test_a_paper_without_a_name_is_refused(title: str, doi: str | None) -> None:
    with pytest.raises(StudyError):
        paper_id(title, 2020, doi)


# Laws.

numbers = st.integers(1, 10**17).map(str)
hashes = st.from_regex(r"[0-9a-f]{40}|[0-9a-f]{4,39}|[0-9a-f]{64}", fullmatch=True)
owners = st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}", fullmatch=True)
names = st.from_regex(r"[a-z0-9_.-]{1,8}[a-z0-9]", fullmatch=True).filter(
    lambda name: not name.endswith(".git")
)
two = st.builds("{}/{}".format, owners, names)
hosted = st.from_regex(r"git[0-9]?(?:\.[a-z]{1,5}){1,2}(?::80[0-9]{2})?", fullmatch=True)
doi_keys = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30).map(
    lambda text: f"10.1145/{text}x"
)
valid_ids = st.one_of(
    st.builds(ArtifactId, st.just("github"), st.just("github.com") | hosted, two, numbers),
    st.builds(ArtifactId, st.just("git"), st.just("github.com") | hosted, two, hashes),
    st.builds(ArtifactId, st.just("git"), hosted, st.builds("{}/{}".format, two, names), hashes),
    st.builds(
        ArtifactId,
        st.just("git"),
        st.just("local"),
        st.text(min_size=1, max_size=20)
        .filter(lambda name: name.strip().strip("./\\") not in ("", "git", ".git"))
        .filter(lambda name: not re.search(r"[/\\]|\.git\Z", name.strip(), re.IGNORECASE))
        .map(lambda name: local_project(name).removeprefix("local/")),
        hashes,
    ),
    st.builds(
        ArtifactId,
        st.just("gitee"),
        st.just("gitee.com") | hosted,
        two,
        numbers | st.from_regex(r"I[0-9A-Z]{1,8}", fullmatch=True),
    ),
    st.builds(
        ArtifactId,
        st.just("stackoverflow"),
        st.sampled_from(["stackoverflow.com", "datascience.stackexchange.com", "qa.example.org"]),
        st.just(""),
        numbers | numbers.map("a/{}".format),
    ),
)
# Pieces that mean something somewhere: put together at random, they find the seams.
pieces = st.sampled_from(
    re.findall(
        r"\S+",
        """github git gitee stackoverflow doi paper interview local : / / // # # @ @ ? % . .. - .git
        a b a.b orgs repos api v3 github.com gitee.com stackoverflow.com doi.org www. api. x.org :80
        :8080 https:// ssh:// git@ 1 0 12 I65G7B abc1234 10.1145/ %41 %25 issues pull commits commit
        questions q a/ github: git: gitee: stackoverflow: doi: local/ o/r o/r x.org/""",
    )
)
junk = st.one_of(st.text(), st.lists(pieces | st.text(max_size=2), max_size=10).map("".join))


def hosts_for(it: ArtifactId) -> dict[str, str]:
    return {it.host: it.source} if it.source in ("github", "git", "gitee", "stackoverflow") else {}


@law
@given(valid_ids)
def test_an_id_reads_back_as_itself(it: ArtifactId) -> None:
    assert parse(str(it)) == it


@law
@given(valid_ids)
def test_a_page_leads_back_to_its_artifact(it: ArtifactId) -> None:
    url = url_of(it)
    if it.host == "local":
        assert url is None
    else:
        assert url is not None
        assert parse(url, hosts=hosts_for(it)) == it


@law
@given(doi_keys)
def test_a_doi_is_one_id_by_text_and_by_page(key: str) -> None:
    try:
        it = parse(f"doi:{key}")
    except StudyError:
        assert "%" in key or not key.isprintable() or "\ufffd" in key
        return
    assert parse(str(it)) == it == parse(str(url_of(it)))
    assert parse(str(it).upper()) == it or not key.isascii()


@law
@given(two, numbers)
def test_the_case_of_owner_and_name_does_not_matter(project: str, number: str) -> None:
    assert artifact_id(f"{project.upper()}#{number}") == artifact_id(f"{project}#{number}")
    shouted = f"https://GITHUB.com/{project.upper()}/issues/{number}"
    assert artifact_id(shouted) == f"github:{project}#{number}"
    assert project_of(project.upper()) == project


@law
@given(
    st.sampled_from(["github", "git", "gitee", "stackoverflow", "doi", "paper", "interview", "x"]),
    st.sampled_from(["github.com", "gitee.com", "doi.org", "local", ""]) | junk,
    junk | two,
    junk | numbers | hashes,
)
def test_what_can_be_made_at_all_is_canonical(
    source: str, host: str, project: str, key: str
) -> None:
    try:
        it = ArtifactId(source, host, project, key)
    except StudyError:
        return
    assert parse(str(it)) == it
    if (url := url_of(it)) is not None:
        assert parse(url, hosts=hosts_for(it)) == it


@settings(law, max_examples=3_000)
@given(junk, st.none() | junk, st.sampled_from([None, ENTERPRISE]))
def test_junk_is_read_canonically_or_refused(
    text: str, project: str | None, hosts: dict[str, str] | None
) -> None:
    try:
        it = parse(text, default_project=project, hosts=hosts)
    except StudyError:
        pass
    else:
        assert parse(str(it)) == it
    try:
        name = project_of(text, hosts=hosts)
    except StudyError:
        pass
    else:
        assert project_of(name) == name


@law
@given(st.text())
def test_the_key_of_a_title_is_its_own_key(title: str) -> None:
    key = title_key(title)
    assert title_key(key) == key
    assert title_key(f" {title.upper().lower()}. ") == title_key(title.upper().lower())


@pytest.mark.parametrize(
    "text",
    [
        "a" * 4000,
        "a." * 2000,
        "a/" * 2000,
        "@" * 4000,
        "a@" * 2000,
        "//@" * 1300,
        "%25" * 1300,
        "10.1145/" + "." * 4000,
        "10.1145" + ".1" * 2000,
        "doi:10.1145/" + "%25" * 1300,
        "doi:" + " " * 4000 + "x",
        "https://" + "a." * 2000,
        "https://" + "a:" * 2000 + "@",
        "https://github.com/" + "/" * 4000,
        "github:" + "a-" * 2000 + "#1",
        "git:local/" + "%a" * 2000 + "@" + SHA,
        "stackoverflow:" + "a/" * 2000,
        "a/" + "b" * 4000 + "#",
        "\u0300" * 4000,
    ],
)
def test_hostile_text_comes_to_an_end(text: str) -> None:
    for read in (parse, project_of, title_key, local_project):

        def read_or_refuse(text: str, read: Callable[[str], object] = read) -> None:
            with suppress(StudyError):
                read(text)

        grows_like_its_text(read_or_refuse, "", text, len(text))
