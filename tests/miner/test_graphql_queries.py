"""Every query that we send is one that GitHub's published schema allows."""

from __future__ import annotations

import pytest
from graphql import parse, validate
from loopback import published
from needed import need

from faultatlas.miner.sources import github_graphql as graphql

QUERIES = {
    "comments": graphql.COMMENTS_QUERY,
    "events": graphql.EVENTS_QUERY,
    "counts": graphql.COUNT_QUERY,
    "issues": graphql.issues_query(range(1, 101)),
    "commits": graphql.commits_query(["0123456789abcdef0123456789abcdef01234567"] * 100),
}


@pytest.fixture(scope="module")
def whole_schema() -> published.GraphQLSchema:
    file = published.path()
    need(file, "GitHub's published schema is not in the cache folder: .ci/run gets it")
    assert file
    return published.schema(file)


@pytest.mark.parametrize("name", QUERIES)
def test_the_published_schema_allows_it(name: str, whole_schema: published.GraphQLSchema) -> None:
    assert validate(whole_schema, parse(QUERIES[name])) == []


def test_a_field_that_github_does_not_have_is_noticed(
    whole_schema: published.GraphQLSchema,
) -> None:
    wrong = graphql.COMMENTS_QUERY.replace("fullDatabaseId", "fullDatabaseID")
    (error,) = validate(whole_schema, parse(wrong))
    assert error.message.startswith("Cannot query field 'fullDatabaseID' on type 'IssueComment'.")
