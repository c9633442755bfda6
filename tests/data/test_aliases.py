"""Other names of artifacts are followed to the last one."""

from __future__ import annotations

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import Alias, AliasKind, alias_index, resolve

SHA = "0123456789abcdef0123456789abcdef01234567"

ALIASES = [
    Alias("apache/incubator-mxnet", "apache/mxnet", "repository"),
    Alias("dmlc/mxnet", "apache/incubator-mxnet", "repository"),
    Alias("github:apache/mxnet#8", "github:apache/tvm#3", "transfer"),
    Alias("git:o/r@d816971", f"git:o/r@{SHA}", "short_hash"),
    Alias("stackoverflow:a/2", "stackoverflow:1", "answer"),
    Alias("MDU6SXNzdWUx", "github:dmlc/mxnet#8", "node"),
    Alias("gitee.com/mindspore/mindspore", "mindspore-ai/mindspore", "repository"),
    Alias("local/mine", "o/r", "repository"),
]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("github:dmlc/mxnet#7", "github:apache/mxnet#7"),
        (f"git:dmlc/mxnet@{SHA}", f"git:apache/mxnet@{SHA}"),
        ("github:dmlc/mxnet#8", "github:apache/tvm#3"),
        ("MDU6SXNzdWUx", "github:apache/tvm#3"),
        ("git:o/r@d816971", f"git:o/r@{SHA}"),
        ("git:local/mine@d816971", f"git:o/r@{SHA}"),
        ("stackoverflow:a/2", "stackoverflow:1"),
        ("stackoverflow:2", "stackoverflow:2"),
        ("github:pytorch/pytorch#1", "github:pytorch/pytorch#1"),
        ("unknown node id", "unknown node id"),
        # A repository that moves to another host takes its commits along, not its numbers.
        (f"git:gitee.com/mindspore/mindspore@{SHA}", f"git:mindspore-ai/mindspore@{SHA}"),
        ("gitee:mindspore/mindspore#I65G7B", "gitee:mindspore/mindspore#I65G7B"),
    ],
)
def test_aliases_lead_to_the_last_name(name: str, expected: str) -> None:
    assert resolve(name, ALIASES) == expected
    assert resolve(name, alias_index(ALIASES)) == expected


@pytest.mark.parametrize(
    "aliases",
    [
        [
            Alias("github:o/a#1", "github:o/b#1", "transfer"),
            Alias("github:o/b#1", "github:o/a#1", "transfer"),
        ],
        [Alias("o/a", "o/b", "repository"), Alias("o/b", "o/a", "repository")],
        [
            Alias("o/a", "o/b", "repository"),
            Alias("github:o/b#1", "github:o/a#1", "transfer"),
        ],
    ],
)
def test_a_circle_of_aliases_is_refused_and_shown(aliases: list[Alias]) -> None:
    with pytest.raises(StudyError, match="circle") as refused:
        resolve("github:o/a#1", aliases)
    assert "'github:o/a#1' -> 'github:o/b#1' -> 'github:o/a#1'" in refused.value.message


def test_a_long_chain_of_aliases_is_followed() -> None:
    index = {f"github:o/r#{n}": f"github:o/r#{n + 1}" for n in range(1, 20_000)}
    assert resolve("github:o/r#1", index) == "github:o/r#20000"


def test_one_name_for_two_artifacts_is_refused() -> None:
    same = Alias("github:o/a#1", "github:o/b#1", "transfer")
    assert alias_index([same, same]) == {"github:o/a#1": "github:o/b#1"}
    with pytest.raises(StudyError, match="github:o/b#1 and of github:o/c#1"):
        alias_index([same, Alias("github:o/a#1", "github:o/c#1", "transfer")])


@pytest.mark.parametrize(
    ("alias", "target", "kind"),
    [
        ("github:o/a#1", "github:o/a#1", "transfer"),
        ("https://github.com/o/a/issues/1", "github:o/b#1", "transfer"),
        ("github:O/a#1", "github:o/b#1", "transfer"),
        ("O/a", "o/b", "repository"),
        ("", "github:o/b#1", "node"),
        ("X", "not an id", "node"),
    ],
)
def test_an_alias_that_could_never_be_found_is_refused(
    alias: str, target: str, kind: AliasKind
) -> None:
    with pytest.raises(StudyError):
        Alias(alias, target, kind)


def test_an_alias_of_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(StudyError, match="short_hash"):
        Alias("github:o/a#1", "github:o/b#1", "nickname")  # type: ignore[arg-type]
