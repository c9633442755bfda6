"""What a user types for a search of repositories, and what GitHub is asked for."""

from __future__ import annotations

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.miner.search.query import repository_query


def test_a_plain_query_is_asked_as_it_is() -> None:
    query = repository_query("  topic:keras   stars:>10 ")
    assert query.queries == ("topic:keras stars:>10",)
    assert query.name == "topic:keras stars:>10"
    assert query.leave_out == ("fork", "disabled")


def test_the_search_of_a_published_study_is_one_query_for_each_language() -> None:
    query = repository_query(
        "tensorflow",
        languages=["Python", "Jupyter Notebook", "Python"],
        pushed="2019-01-01..2021-08-30",
    )
    pushed = "pushed:2019-01-01T00:00:00Z..2021-08-30T23:59:59Z"
    assert query.queries == (
        f'tensorflow {pushed} language:"Jupyter Notebook"',
        f"tensorflow {pushed} language:Python",
    )
    assert query.name == f'tensorflow language:"Jupyter Notebook" language:Python {pushed}'


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"pushed": "2019-01-01.."}, "pushed:>=2019-01-01T00:00:00Z"),
        ({"pushed": "2019-01-01..*"}, "pushed:>=2019-01-01T00:00:00Z"),
        ({"pushed": "..2019-01-01"}, "pushed:<=2019-01-01T23:59:59Z"),
        ({"pushed": "2019-01-01"}, "pushed:2019-01-01T00:00:00Z..2019-01-01T23:59:59Z"),
        ({"pushed": "2019-01-01T08:00:00+08:00.."}, "pushed:>=2019-01-01T00:00:00Z"),
        ({"stars": "10.."}, "stars:>=10"),
        ({"stars": "10..50"}, "stars:10..50"),
        ({"stars": "..50"}, "stars:<=50"),
        ({"stars": "10"}, "stars:10"),
        ({"forks": "also"}, "fork:true"),
        ({"forks": "only"}, "fork:only"),
    ],
)
def test_options_in_githubs_words(option: dict[str, str], words: str) -> None:
    query = repository_query("net", **option)  # type: ignore[arg-type]
    assert query.queries == (f"net {words}",)
    assert query.name == f"net {words}"


def test_forks_that_are_asked_for_are_not_left_out() -> None:
    assert "fork" in repository_query("net fork:false").leave_out
    assert "fork" not in repository_query("net fork:true").leave_out
    assert "fork" not in repository_query("net FORK:only").leave_out
    assert "fork" not in repository_query("net", forks="also").leave_out


def test_searches_that_keep_different_repositories_have_different_names() -> None:
    queries = [
        repository_query("net"),
        repository_query("net", with_disabled=True),
        repository_query("net", with_archived=False),
        repository_query("net", created="2019-01-01.."),
    ]
    assert len({query.name for query in queries}) == len(queries)
    assert queries[1].leave_out == ("fork",)
    assert queries[2].leave_out == ("fork", "disabled", "archived")


@pytest.mark.parametrize(
    ("text", "options", "cause"),
    [
        ("net created:>2019-01-01", {}, "holds created:"),
        (" ", {}, "the query is empty"),
        ("net", {"pushed": ".."}, "is no range of days"),
        ("net", {"pushed": "2020-01-01..2019-01-01"}, "ends before it begins"),
        ("net", {"pushed": "yesterday.."}, "is not a time"),
        ("net", {"stars": "many"}, "is no number of stars"),
        ("net", {"stars": ".."}, "is no number of stars"),
        ("net", {"stars": "50..10"}, "is no number of stars"),
        ("net", {"forks": "some"}, "is no choice for forks"),
        ("net", {"languages": ['"']}, "a language without a name"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_next_step(
    text: str, options: dict[str, str], cause: str
) -> None:
    with pytest.raises(StudyError, match=cause) as raised:
        repository_query(text, **options)  # type: ignore[arg-type]
    assert raised.value.hint
