"""GitHub's published GraphQL schema, where this machine has it, and how ours compares with it.

It is `schema.graphql` of the npm package @octokit/graphql-schema; CI unpacks it into the user's
cache folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from graphql import (
    GraphQLEnumType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
    is_introspection_type,
    is_required_argument,
    is_specified_scalar_type,
)
from graphql.type import GraphQLField, GraphQLNamedType


def path() -> Path | None:
    """The file of the schema, the newest version of several."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = (cache / "faultatlas").glob("github-schema-*/schema.graphql")
    return max(found, key=lambda file: [part.zfill(6) for part in _version(file)], default=None)


def schema(file: Path) -> GraphQLSchema:
    return build_schema(file.read_text(encoding="utf-8"), assume_valid=True)


def differences(ours: GraphQLSchema, whole: GraphQLSchema) -> list[str]:
    """What our schema says and the whole one does not; what ours leaves out is no difference."""
    found: list[str] = []
    for name, kind in sorted(ours.type_map.items()):
        if is_introspection_type(kind) or is_specified_scalar_type(kind):
            continue
        other = whole.type_map.get(name)
        if type(other) is not type(kind):
            found.append(f"{name} is no {type(kind).__name__}")
        else:
            found += _of_type(kind, other)
    return found


def _of_type(ours: GraphQLNamedType, whole: GraphQLNamedType) -> list[str]:
    name, found = ours.name, []
    if isinstance(ours, GraphQLEnumType) and isinstance(whole, GraphQLEnumType):
        found += [f"{name}.{value}" for value in ours.values.keys() - whole.values.keys()]
    if isinstance(ours, GraphQLUnionType) and isinstance(whole, GraphQLUnionType):
        members = {member.name for member in whole.types}
        found += [f"{name} | {m.name}" for m in ours.types if m.name not in members]
    kinds = GraphQLObjectType | GraphQLInterfaceType
    if isinstance(ours, kinds) and isinstance(whole, kinds):
        interfaces = {interface.name for interface in whole.interfaces}
        found += [f"{name} & {i.name}" for i in ours.interfaces if i.name not in interfaces]
        for field, said in ours.fields.items():
            found += _of_field(f"{name}.{field}", said, whole.fields.get(field))
    return found


def _of_field(place: str, ours: GraphQLField, whole: GraphQLField | None) -> list[str]:
    if whole is None:
        return [f"{place} is unknown"]
    found = []
    if str(ours.type) != str(whole.type):
        found.append(f"{place}: {ours.type} is {whole.type}")
    for name, said in ours.args.items():
        other = whole.args.get(name)
        if other is None or (str(said.type), said.default_value) != (
            str(other.type),
            other.default_value,
        ):
            found.append(f"{place}({name}: {said.type})")
    required = {name for name, argument in whole.args.items() if is_required_argument(argument)}
    return found + [f"{place} needs {name}" for name in required - ours.args.keys()]


def _version(file: Path) -> list[str]:
    return file.parent.name.removeprefix("github-schema-").split(".")
