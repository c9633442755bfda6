"""What a bug or its log says is stored as one clean line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faultatlas.analysis.reexecution import stored_words
from faultatlas.analysis.reexecution.host_places import hiding


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("a\nb\tc\x1b[31m d", "a b c [31m d"),
        ("no /home/ann/envs/x/bin/python here", "no <path>/python here"),
        ("File '/home/ann/.cache/uv/a.whl', line 3", "File '<path>/a.whl', line 3"),
        (
            "data/outside/home/.keras/mnist/m.npz is gone",
            "data/outside/home/.keras/mnist/m.npz is gone",
        ),
        ("at /bug/sub/train.py:12", "at /bug/sub/train.py:12"),
        ("half of 3/4 and a/b/c", "half of 3/4 and a/b/c"),
        ("see https://github.com/o/r/issues/1", "see https://github.com/o/r/issues/1"),
        (r"C:\Users\ann\train.py failed", "<path>/train.py failed"),
        ("plugins:/opt/ann/.pyenv/lib:/x:/srv/ann/b", "plugins:<path>/lib:/x:<path>/b"),
        (
            "cc -I/home/ann/inc -L/home/ann/lib -isystem/a/b",
            "cc -I<path>/inc -L<path>/lib -isystem<path>/b",
        ),
        ("--prefix=/home/ann/x, a:/home/ann/x.py:7", "--prefix=<path>/x, a:<path>/x.py:7"),
        ("at /bug/../home/ann/k, /bug/a/../b.py", "at <path>/k, /bug/a/../b.py"),
        (r"on \\server\share\ann\x.py and \\\\server\\share\\x", "on <path>/x.py and <path>/x"),
        ("in /home/ann smith/a b/c", "in <path>/a b/c"),
        ("in '/home/ann smith/a b/c d', '/bug/a b/c'", "in '<path>/c d', '/bug/a b/c'"),
        ("/home/ann and ~ann/x/y, /Users/ann: no", "<path> and <path>/y, <path>: no"),
        (r"C:\Users\Ann Smith\x.py, C:\Users\ann", "<path>/x.py, <path>"),
        ("//home//ann//x.py ->/home/ann/y file:///home/ann/z", "<path>/x.py -><path>/y <path>/z"),
        (r"no match for \\d+\\w in /x", r"no match for \\d+\\w in /x"),
        ("thanks @octocat, mail ann@example.org", "thanks @person_unknown, mail <email>"),
        ("token ghp_" + "x1" * 18, "token ***"),
        ("\u202eabc", "abc"),
    ],
)
def test_a_line_holds_no_place_no_person_no_secret_and_no_control(said: str, kept: str) -> None:
    assert stored_words.line(said) == kept


def test_a_line_is_cut() -> None:
    assert stored_words.line("x" * 900) == "x" * 499 + "\N{HORIZONTAL ELLIPSIS}"


def test_json_holds_what_json_can() -> None:
    said = {"nan": float("nan"), "list": ("/srv/a/b", 1), "deep": {"x": {1, 2}}, "bytes": b"x"}
    assert json.loads(stored_words.json_text(said)) == {
        "nan": "nan",
        "list": ["<path>/b", 1],
        "deep": {"x": [1, 2]},
        "bytes": "b'x'",
    }


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4)
        ),
        max_leaves=8,
    )
)
def test_anything_becomes_json_that_can_be_stored(value: object) -> None:
    text = stored_words.json_text(value)
    text.encode()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_known_folders_of_the_host_are_found_whatever_they_are_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "Ann, of (all) people"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a cache; mine"))
    cache = tmp_path / "a cache; mine/faultatlas/environments"
    said = f"exit 2: {home}/venv/bin/python: {cache}/envs/x/a.py, {home}; {sys.prefix}"
    assert stored_words.line(said) == "exit 2: <path>/python: <path>/a.py, <path>; <path>"
    study = tmp_path / "my study (2)"
    with hiding(study):
        assert stored_words.line(f"in {study}/reexecution/a/x") == "in <path>/x"
    monkeypatch.setenv("HOME", "/root")
    said = "at /root: /root/x; https://example.org/root/x, a/root/b"
    assert stored_words.line(said) == ("at <path>: <path>/x; https://example.org/root/x, a/root/b")
