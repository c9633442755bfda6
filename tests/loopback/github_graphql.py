"""GitHub's GraphQL API, executed against the part of its schema that the miners ask."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLSchema,
    IntValueNode,
    ListValueNode,
    VariableNode,
    build_schema,
    execute_sync,
    parse,
    validate,
)

from loopback import github_search, graphql_objects
from loopback.exchange import Reply, Request, as_json, error
from loopback.graphql_objects import MOST, Object, refusal
from loopback.payloads import zulu

if TYPE_CHECKING:
    from loopback.world import World

SCHEMA = Path(__file__).with_name("github_schema.graphql")
TIMED_OUT = (
    "Something went wrong while executing your query. This may be the result of a timeout, or it "
    "could be a GitHub bug. Please include `0400:0001` when reporting this issue."
)


def answer(world: World, request: Request) -> Reply:
    if request.method != "POST":
        return error(404, "Not Found")
    try:
        asked = json.loads(request.body)
        text, variables = asked["query"], asked.get("variables") or {}
    except (ValueError, TypeError, KeyError):
        return error(400, "Problems parsing JSON", "/graphql")
    try:
        document = parse(text)
    except GraphQLError as problem:
        return as_json({"errors": [_formatted(problem)]})
    schema = executable()
    problems = validate(schema, document)
    if problems:
        return as_json({"errors": [_formatted(problem) for problem in problems]})
    if world.node_limit is not None and nodes_asked(document, variables) > world.node_limit:
        return as_json({"data": None, "errors": [{"message": TIMED_OUT}]}, 502)
    result = execute_sync(
        schema, document, root_value=_Root(world, request.token), variable_values=variables
    )
    body: Object = {"data": result.data}
    if result.errors:
        body["errors"] = [_formatted(problem) for problem in result.errors]
    return as_json(body)


@cache
def executable() -> GraphQLSchema:
    return build_schema(SCHEMA.read_text(encoding="utf-8"))


def nodes_asked(document: Any, variables: dict[str, Any]) -> int:
    """How many nodes a query may give at most: the pages inside pages multiplied."""
    fragments = {d.name.value: d for d in document.definitions if d.kind == "fragment_definition"}

    def count(selections: Any, times: int) -> int:
        total = 0
        for selection in selections:
            inner, wanted = times, 0
            if isinstance(selection, FragmentSpreadNode):
                selected = fragments[selection.name.value].selection_set
            else:
                selected = selection.selection_set
            if isinstance(selection, FieldNode):
                wanted = _rows_asked(selection, variables)
                inner = times * (wanted or 1)
                total += times * wanted
            if selected is not None:
                total += count(selected.selections, inner)
        return total

    operations = [d for d in document.definitions if d.kind == "operation_definition"]
    return sum(count(operation.selection_set.selections, 1) for operation in operations)


def _rows_asked(field: FieldNode, variables: dict[str, Any]) -> int:
    if field.name.value == "issueOrPullRequest":
        return 1
    for argument in field.arguments or ():
        name, value = argument.name.value, argument.value
        given = variables.get(value.name.value) if isinstance(value, VariableNode) else None
        if name in {"first", "last"}:
            return int(value.value) if isinstance(value, IntValueNode) else int(given or 0)
        if name == "ids":
            return len(value.values) if isinstance(value, ListValueNode) else len(given or ())
    return 0


class _Root:
    """What a query begins with; the names are those of the schema."""

    def __init__(self, world: World, token: str | None) -> None:
        self._world = world
        self._token = token

    def node(self, _info: Any, id: str) -> Object:  # noqa: A002
        for tracker in self._world.trackers:
            number = tracker.number_of(id)
            if number is not None and self._world.may_see(tracker, self._token):
                return graphql_objects.issue(self._world, tracker, number)
        raise refusal("NOT_FOUND", f"Could not resolve to a node with the global id of '{id}'.")

    def nodes(self, info: Any, ids: list[str]) -> list[Any]:
        if len(ids) > MOST:
            raise refusal(
                "ARGUMENT_LIMIT",
                f"You may not provide more than {MOST} node ids; you provided {len(ids)}.",
            )
        found: list[Any] = []
        for one in ids:
            try:
                found.append(self.node(info, one))
            except GraphQLError as problem:  # an error beside the data, null in its place
                found.append(problem)
        return found

    def repository(self, _info: Any, owner: str, name: str, **asked: bool) -> Object:
        tracker, is_former = self._world.find(f"{owner}/{name}")
        is_lost = is_former and not asked["followRenames"]
        if tracker is None or is_lost or not self._world.may_see(tracker, self._token):
            raise refusal(
                "NOT_FOUND", f"Could not resolve to a Repository with the name '{owner}/{name}'."
            )
        return graphql_objects.repository(self._world, tracker)

    def search(self, _info: Any, query: str, **asked: Any) -> Object:
        try:
            rows = github_search.issues(self._world, query, self._token)
        except ValueError:
            rows = []  # what cannot be searched is not there
        page = graphql_objects.connection(
            "search",
            rows[: github_search.CEILING],
            lambda row: graphql_objects.issue(self._world, row[0], row[1].number),
            asked,
        )
        return {**page, "issueCount": len(rows)}

    def rateLimit(self, _info: Any, **_asked: Any) -> Object:  # noqa: N802
        quota = self._world.quotas.of(self._token, "graphql")
        return {
            "cost": 1,
            "limit": quota.limit,
            "nodeCount": 0,
            "remaining": quota.remaining - 1,
            "resetAt": zulu(quota.reset if isinstance(quota.reset, int) else 0),
            "used": quota.used + 1,
        }


def _formatted(problem: GraphQLError) -> Object:
    """An error as GitHub writes it: its type stands beside the message."""
    said: Object = {**problem.formatted}
    more = said.pop("extensions", None) or {}
    return {"type": more["type"], **said} if "type" in more else said
