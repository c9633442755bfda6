"""Pseudonyms hold for a study and give nobody away; texts lose logins and addresses."""

from __future__ import annotations

import errno
import gzip
import hashlib
import hmac
import json
import os
import re
import string
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen

import pytest
from growth import grows_like_its_text
from hypothesis import example, given, settings
from hypothesis import strategies as st

from faultatlas.data import people
from faultatlas.data.errors import StudyError
from faultatlas.data.people import pseudonym, scrub, study_key

law = settings(max_examples=250)

KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


# The key.


def test_the_first_call_makes_a_key_that_only_its_owner_may_read(tmp_path: Path) -> None:
    told: list[str] = []
    key = study_key(tmp_path / "new" / "study", told.append)
    path = tmp_path / "new" / "study" / "study.key"
    assert len(key) == 32
    assert path.read_text(encoding="ascii") == f"{key.hex()}\n"
    assert mode(path) == 0o600
    assert list(path.parent.iterdir()) == [path]
    assert study_key(path.parent, told.append) == key
    assert told == []


def test_two_studies_have_two_keys(tmp_path: Path) -> None:
    assert study_key(tmp_path / "a") != study_key(tmp_path / "b")


def test_whatever_the_mask_the_key_is_closed(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        study_key(tmp_path)
    finally:
        os.umask(before)
    assert mode(tmp_path / "study.key") == 0o600


PROGRAM = """
import sys
from pathlib import Path
from faultatlas.data.people import study_key
print("ready", flush=True)
sys.stdin.readline()
print(study_key(Path(sys.argv[1])).hex(), flush=True)
"""


def test_processes_that_start_at_once_get_the_same_key(
    tmp_path: Path, start: Callable[..., Popen[str]]
) -> None:
    started = [start(f"maker{number}", PROGRAM, tmp_path / "study") for number in range(6)]
    for process in started:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    keys = {process.communicate(timeout=60)[0].strip() for process in started}
    assert keys == {study_key(tmp_path / "study").hex()}
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["study.key"]


def test_a_process_that_comes_second_takes_the_key_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def slower(source: Path, target: Path) -> None:
        target.write_text("ab" * 32, encoding="ascii")  # between our look and our link
        target.chmod(0o600)
        link(source, target)

    monkeypatch.setattr(os, "link", slower)
    assert study_key(tmp_path) == bytes.fromhex("ab" * 32)
    assert [path.name for path in tmp_path.iterdir()] == ["study.key"]


def test_a_file_system_without_links_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    key = study_key(tmp_path)
    assert study_key(tmp_path) == key
    assert mode(tmp_path / "study.key") == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["study.key"]


@pytest.mark.parametrize("open_mode", [0o644, 0o640, 0o666, 0o602])
def test_a_key_that_others_may_read_is_closed_and_told(tmp_path: Path, open_mode: int) -> None:
    key = study_key(tmp_path)
    (tmp_path / "study.key").chmod(open_mode)
    told: list[str] = []
    assert study_key(tmp_path, told.append) == key
    assert mode(tmp_path / "study.key") == 0o600
    assert len(told) == 1
    assert "it is closed now" in told[0]
    assert key.hex() not in told[0]
    assert study_key(tmp_path, told.append) == key
    assert len(told) == 1


def test_a_key_that_cannot_be_closed_is_used_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = study_key(tmp_path)
    (tmp_path / "study.key").chmod(0o644)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)  # as a disk without permissions does
    told: list[str] = []
    assert study_key(tmp_path, told.append) == key
    assert "another disk" in told[0]


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"00", b"zz" * 32, b"0" * 63, b"0" * 65, b"0" * 64 + b"\n\n", b"\xff" * 64],
)
def test_a_damaged_key_is_refused_and_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "study.key"
    path.write_bytes(content)
    with pytest.raises(StudyError, match=r"damaged|empty") as refused:
        study_key(tmp_path)
    assert "another pseudonym" in refused.value.hint
    assert path.read_bytes() == content


def test_a_key_that_cannot_be_had_is_an_error_with_a_next_step(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder" / "study.key").mkdir(parents=True)
    (tmp_path / "study.key").symlink_to(tmp_path / "unplugged" / "study.key")
    for place in (tmp_path / "file", tmp_path / "folder", tmp_path):
        with pytest.raises(StudyError, match="cannot be read or written") as refused:
            study_key(place)
        assert refused.value.hint
    assert not (tmp_path / "unplugged").exists()


# Pseudonyms.


def test_a_pseudonym_is_a_keyed_hash_of_host_and_login() -> None:
    digest = hmac.new(KEY, b"github.com\nalice", hashlib.sha256).hexdigest()
    assert pseudonym(KEY, "github.com", "Alice") == f"person_{digest[:16]}"


def test_a_person_has_one_pseudonym_for_each_key_and_host() -> None:
    names = {
        pseudonym(KEY, "github.com", "Alice"),
        pseudonym(KEY, "GitHub.com", "alice "),
        pseudonym(KEY, "gitee.com", "alice"),
        pseudonym(OTHER_KEY, "github.com", "alice"),
        pseudonym(KEY, "github.com", "alicf"),
    }
    assert len(names) == 4


def test_nobody_deleted_and_bots_are_told_apart() -> None:
    assert pseudonym(KEY, "github.com", None) is None
    assert pseudonym(KEY, "github.com", "ghost") == "person_unknown"
    assert pseudonym(KEY, "git.example.org", "Ghost") == "person_unknown"
    assert pseudonym(KEY, "github.com", "") == "person_unknown"
    assert pseudonym(KEY, "gitee.com", "ghost").startswith("person_")
    assert pseudonym(KEY, "gitee.com", "ghost") != "person_unknown"
    assert re.fullmatch("bot_[0-9a-f]{16}", pseudonym(KEY, "github.com", "dependabot[bot]"))
    assert pseudonym(KEY, "github.com", "robot").startswith("person_")


@law
@given(st.text(min_size=1), st.text(), st.text(min_size=1), st.text())
def test_different_people_have_different_pseudonyms(
    host: str, login: str, other_host: str, other_login: str
) -> None:
    def same(a: str, b: str) -> bool:
        return a.casefold() == b.casefold()

    one, other = pseudonym(KEY, host, login), pseudonym(KEY, other_host, other_login)
    assert re.fullmatch("(person|bot)_([0-9a-f]{16}|unknown)", one)
    if "\n" not in host + other_host and "person_unknown" not in (one, other):
        assert (one == other) == (
            same(host, other_host) and same(login.strip(), other_login.strip())
        )


# Texts.


def masked(login: str) -> str:
    return pseudonym(KEY, "github.com", login)


def scrubbed(text: str, *known: str) -> str:
    return scrub(text, masked, frozenset(known))


A, B = f"@{masked('alice')}", f"@{masked('bob-b')}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@alice", A),
        ("thanks @Alice!", f"thanks {A}!"),
        ("cc @alice, @bob-b.", f"cc {A}, {B}."),
        ("(@alice) [@alice] \"@alice\" '@alice':", f"({A}) [{A}] \"{A}\" '{A}':"),
        ("@alice's", f"{A}'s"),
        ("@alice...thanks", f"{A}...thanks"),
        ("Hi.@alice", f"Hi.{A}"),
        ("-@alice", f"-{A}"),
        ("*@alice* _@alice_ **@bob-b**", f"*{A}* _{A}_ **{B}**"),
        ("感谢@alice的回复", f"感谢{A}的回复"),
        ("> @alice wrote\n>> @bob-b", f"> {A} wrote\n>> {B}"),
        ("> ```\n> @slow\n@alice", f"> ```\n> @slow\n{A}"),
        ("```\n@slow\n```\n@alice", f"```\n@slow\n```\n{A}"),
        ("\\`@alice\\`", f"\\`{A}\\`"),
        ("a ` b @alice", f"a ` b {A}"),
        ("`unclosed\n\n@alice `x`", f"`unclosed\n\n{A} `x`"),
        ("@dependabot[bot] rebase", f"@{masked('dependabot[bot]')} rebase"),
        # The notification mails of GitHub name the page too.
        (
            "@alice <https://github.com/alice> said",
            f"{A} <https://github.com/{masked('alice')}> said",
        ),
        ("@alice https://gitee.com/Alice/", f"{A} https://gitee.com/{masked('alice')}/"),
    ],
)
def test_a_mention_becomes_a_pseudonym(text: str, expected: str) -> None:
    assert scrubbed(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "@tf.function and @torch.no_grad() are decorators, @jit(nopython=True) too",
        "@pytest.mark.parametrize(...)",
        "@staticmethod\ndef f(): ...",
        "@Override",
        "@inproceedings{humbatova2020taxonomy, title=...}",
        "`@staticmethod` and ``a ` @alice`` ",
        "```python\n@slow\ndef test(): ...\n```",
        "~~~\n@slow\n```\n@slow\n~~~~",
        "````\n@slow\n```\n@slow\n````",
        "```\n@slow\n```py\n@slow\n```",
        "- ```\n  @slow\n  ```",
        "> ```\n> @slow\n> ```",
        "```\n@slow",
        "@types/node, @tensorflow/tfjs and @pytorch/team",
        "@@ -1,3 +1,4 @@ def forward(self):",
        "foo@alice, foo_@alice, user@host, A@B@C",
        "A@B.T, (x@w.t()).sum(), x@w.to(device)",
        "`x@w.grad` and ```x@w.weight```",
        "https://medium.com/@alice",
        "icon@2x.png",
        "actions/checkout@v3.1 python@3.9 image@sha256:0123 datasets.git@main",
        "git@github.com:o/r.git ssh://git@github.com/o/r",
        "***@***.***",
        "@",
        "a @ b",
        "https://github.com/alice https://github.com/alice/repro",
        f"@{'a' * 200}",
        "",
    ],
)
def test_what_is_no_mention_and_no_address_stays(text: str) -> None:
    assert scrubbed(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`@alice` ```@alice``` `@slow`", f"`{A}` ```{A}``` `@slow`"),
        ("```\n@Alice @slow\n```", f"```\n{A} @slow\n```"),
        ("@alice(maintainer) @alice.b", f"{A}(maintainer) {A}.b"),
        ("https://medium.com/@alice", f"https://medium.com/{A}"),
        ("https://github.com/alice", f"https://github.com/{masked('alice')}"),
        ("https://github.com/alice/repro", "https://github.com/alice/repro"),
        ("https://github.com/alice-b", "https://github.com/alice-b"),
        ("foo@alice", "foo@alice"),
    ],
)
def test_a_known_login_is_found_in_code_too(text: str, expected: str) -> None:
    assert scrubbed(text, "alice") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("jane@example.org", "<email>"),
        ("Write to jane.doe+ml@sub.example.co.uk.", "Write to <email>."),
        ("JANE@EXAMPLE.COM, j_d%x@example.io;", "<email>, <email>;"),
        ("mailto:jane@example.org?subject=x", "mailto:<email>?subject=x"),
        ("[mail](mailto:jane@example.org)", "[mail](mailto:<email>)"),
        ("<jane@example.org>", "<email>"),
        ("请联系jane@example.cn谢谢", "请联系<email>谢谢"),
        ("1+alice@users.noreply.github.com", "<email>"),
        (f"reply+{'A' * 100}@reply.github.com", "<email>"),
        ("jane@xn--bcher-kva.example", "<email>"),
        ("`Author: jane@example.org`", "`Author: <email>`"),
        ("```\njane@uni-koeln.de\n```", "```\n<email>\n```"),
        ("a@b.cc@d.ee", "<email>@d.ee"),
        ("Signed-off-by: Jane Doe <jane@example.org>", "Signed-off-by: <name> <email>"),
        ("    Co-authored-by: J. D. <j@x.com>\n", "    Co-authored-by: <name> <email>\n"),
        ("Author: Jane Doe <jane@example.org>", "Author: <name> <email>"),
        ("Signed-off-by: jane@example.org", "Signed-off-by: <email>"),
        (
            "> On Mon, Oct 2, 2023 at 8:11 PM Jane Doe ***@***.***> wrote:\n> > hi",
            "> On Mon, Oct 2, 2023 at 8:11 PM <name> ***@***.***> wrote:\n> > hi",
        ),
        (
            "On 2 Oct 2023, at 20:11, Jane <jane@example.org> wrote:",
            "On 2 Oct 2023, at 20:11, <name> <email> wrote:",
        ),
        ("On Oct 2, 2023, Jane <j@x.com> wrote:", "On Oct 2, 2023, <name> <email> wrote:"),
    ],
)
def test_an_address_becomes_email(text: str, expected: str) -> None:
    assert scrubbed(text) == expected


@pytest.mark.parametrize(
    "unit",
    ["@", "a@", "@a", "a@a.", "a.", "a", "-", "`", "\\`", "``` `` ` ", "```\n", "~~~\n> ", "> ",
     "<a@", "From: ", "From: a\n", "On 1:11 ", "[bot]@", "https://github.com/", "@a/"],
)  # fmt: skip
def test_a_long_run_of_anything_is_read_through_once(unit: str) -> None:
    def read(text: str) -> None:
        assert len(scrub(text, lambda _: "person_unknown")) >= len(text) // 4

    grows_like_its_text(read, "", unit, 25_000)


def test_many_lengths_of_backticks_are_paired_once() -> None:
    text = "".join("`" * length + "x" for length in range(1, 1_400))
    assert scrubbed(text + " @alice") == f"{text} {A}"


def test_real_issues_keep_no_mention_of_their_own_people(study_fixtures: Path) -> None:
    with gzip.open(study_fixtures / "github" / "datasets_issues.jsonl.gz", "rt") as file:
        issues = [json.loads(line) for line in file]
    known = frozenset(issue["user"]["login"].lower() for issue in issues)
    changed = 0
    for issue in issues:
        body = issue["body"] or ""
        clean = scrub(body, masked, known)
        left = {login.lower() for login in re.findall(r"(?<![\w.])@([\w-]*\w)\b", clean)}
        assert not left & known
        assert scrub(clean, masked, known) == clean
        changed += clean != body
    assert changed > 300


# Laws.

WORDS = st.sampled_from(
    ["@", "alice", "bob", "x.org", "a@b.cc", ".", "-", "_", "`", "```", "\n", "\n\n", "> ", "~~~",
     "<", ">", "(", "/", " ", "From: ", "On 1 Oct 2023, at 1:11, ", " wrote:", "***@***.***",
     "https://github.com/", "Signed-off-by: ", "person_unknown", "[bot]", "\\", "é", "git"]
)  # fmt: skip
HOSTILE = st.lists(WORDS | st.text(max_size=2), max_size=14).map("".join)
LOGINS = st.from_regex(r"[a-z][a-z0-9]{2,10}(-[a-z0-9]{1,10})?", fullmatch=True)


@law
@given(HOSTILE, st.sets(st.sampled_from(["alice", "bob", "x"])))
@example("a@b.cc@d", set())
@example("a@b.cc_@d", set())
@example("From: ` <a@b.cc> `@x", set())
def test_scrubbing_twice_is_scrubbing_once(text: str, known: set[str]) -> None:
    once = scrubbed(text, *known)
    assert scrubbed(once, *known) == once


@law
@given(HOSTILE)
def test_what_has_no_at_sign_stays(text: str) -> None:
    text = text.replace("@", "")
    assert scrubbed(text) == text


@law
@given(HOSTILE)
def test_the_parts_of_a_text_are_the_text(text: str) -> None:
    assert "".join(part for part, _ in people._parts(text)) == text  # noqa: SLF001


@law
@given(HOSTILE.filter(lambda text: not set("`~") & set(text)), LOGINS, HOSTILE)
def test_no_mention_in_prose_survives(before: str, login: str, after: str) -> None:
    markers = people._MARKERS  # noqa: SLF001
    clean = scrubbed(f"{before} @{login} {after}")
    assert login in markers or f" @{login} " not in clean


@law
@given(HOSTILE, LOGINS, LOGINS, HOSTILE)
def test_no_address_survives(before: str, name: str, host: str, after: str) -> None:
    assert f"{name}@" not in scrubbed(f"{before} {name}@{host}.org {after}")


@law
@given(HOSTILE, LOGINS, st.text(string.printable.replace("`", ""), max_size=20))
def test_no_known_login_is_mentioned_anywhere(before: str, login: str, after: str) -> None:
    assert f" @{login} " not in scrubbed(f"{before} @{login} {after}", login)
