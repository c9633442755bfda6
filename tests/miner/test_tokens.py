"""Tokens are found where the user put them, and shown nowhere."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faultatlas.data.errors import StudyError
from faultatlas.data.redaction import MASK, redact
from faultatlas.miner.tokens import Token, find_token, variable_of

law = settings(max_examples=250)

VALUE = "0123-correct-horse-9876"
OTHER = "other-secret-of-mine"


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    path = tmp_path / "token"
    path.touch(mode=0o600)
    return path


def test_each_source_has_its_variable() -> None:
    environment = {"GITHUB_TOKEN": VALUE, "GITEE_TOKEN": f" {OTHER}\n"}
    assert find_token("github", None, environment) == Token(VALUE, "GITHUB_TOKEN")
    assert find_token("gitee", None, environment) == Token(OTHER, "GITEE_TOKEN")
    assert variable_of("gitee") == "GITEE_TOKEN"


@pytest.mark.parametrize("environment", [{}, {"GITHUB_TOKEN": ""}, {"GITHUB_TOKEN": " \n"},
                                         {"GITEE_TOKEN": VALUE}])  # fmt: skip
def test_no_token_is_no_error(environment: dict[str, str]) -> None:
    assert find_token("github", None, environment) is None


@pytest.mark.parametrize(
    "content",
    [
        VALUE,
        f"{VALUE}\n",
        f"\n  \n\t{VALUE} \r\nexpires in May\n",
        f"\ufeff{VALUE}\n",
        f"{VALUE}\nfür später\n",
    ],
)
def test_the_first_line_of_the_file_that_is_not_empty_is_the_token(
    token_file: Path, content: str
) -> None:
    token_file.write_text(content, encoding="utf-8", newline="")
    found = find_token("gitee", token_file, {"GITEE_TOKEN": OTHER})
    assert found == Token(VALUE, "--token-file")


def test_what_follows_the_token_may_be_in_any_encoding(token_file: Path) -> None:
    token_file.write_bytes(VALUE.encode() + b"\nf\xfcr sp\xe4ter\n")
    assert find_token("github", token_file, {}) == Token(VALUE, "--token-file")


def test_a_token_may_come_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"  # what a shell hands over for <(gh auth token)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(f"{VALUE}\n", "utf-8"))
    writer.start()
    told: list[str] = []
    assert find_token("github", pipe, {}, told.append) == Token(VALUE, "--token-file")
    writer.join()
    assert told == []


def test_a_token_shows_itself_nowhere(token_file: Path) -> None:
    token_file.write_text(VALUE, encoding="utf-8")
    assert redact(f"sent {VALUE}", {}) == f"sent {VALUE}"
    token = find_token("github", token_file, {})
    assert VALUE not in f"{token} {token!r} {[token]}"
    assert redact(f"sent {VALUE}", {}) == f"sent {MASK}"


REFUSED = {
    "empty": b"",
    "blank": b" \n\n\t\n",
    "binary": b"\x7fELF\0\1\2\3",
    "hidden in a binary": VALUE.encode() + b"\n\0",
    "space": b"0123-correct horse-9876",
    "quotes and words": f'token = "{VALUE}"'.encode(),
    "escape": b"0123-correct\x1b[31m-9876",
    "no break space": "0123-correct\u00a0horse-9876".encode(),
    "not ascii": "0123-corréct-horse-9876".encode(),
    "no utf-8": b"0123-corr\xe9ct-horse-9876",
    "too long": b"0123-correct" * 100,
    "far too long": b"0123-correct" * 1_000_000,
    "too short": b"0123-co",
}


@pytest.mark.parametrize("content", REFUSED.values(), ids=REFUSED)
def test_what_is_no_token_is_refused_and_not_shown(token_file: Path, content: bytes) -> None:
    token_file.write_bytes(content)
    with pytest.raises(StudyError) as refused:
        find_token("github", token_file, {"GITHUB_TOKEN": OTHER})
    assert "token file" in refused.value.message
    assert refused.value.hint
    assert "0123-co" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert redact(OTHER, {}) == OTHER


@pytest.mark.parametrize(
    "value", ["0123-co", "0123-correct horse", "0123-c\x1b[m-9876", "x" * 1001]
)
def test_a_variable_with_something_else_is_named_and_not_shown(value: str) -> None:
    with pytest.raises(StudyError) as refused:
        find_token("github", None, {"GITHUB_TOKEN": value})
    assert refused.value.message.startswith("GITHUB_TOKEN ")
    assert value[:6] not in str(refused.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(StudyError, match="cannot be read") as refused:
            find_token("github", path, {"GITHUB_TOKEN": VALUE})
        assert str(path) in refused.value.message
        assert "--token-file" in refused.value.hint


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o400, False), (0o640, True),
                                              (0o604, True), (0o644, True)])  # fmt: skip
def test_a_file_that_others_may_read_is_used_and_told(
    token_file: Path,
    mode: int,
    warned: bool,  # noqa: FBT001  (a case)
) -> None:
    token_file.write_text(VALUE, encoding="utf-8")
    token_file.chmod(mode)
    told: list[str] = []
    assert find_token("github", token_file, {}, told.append) == Token(VALUE, "--token-file")
    assert [f"chmod 600 {token_file}" in message for message in told] == [True] * warned
    assert find_token("github", token_file, {}) is not None  # nobody need listen


@law
@given(st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_any_file_gives_a_clean_token_or_a_clean_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(content)
    with suppress(StudyError):  # any other error is a bug
        token = find_token("github", path, {})
        assert token is not None
        assert token.value.encode() in content
        assert token.value.isprintable()
        assert " " not in token.value
