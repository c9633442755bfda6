"""References in texts: what is one, what is none, and that no text takes long."""

from __future__ import annotations

import pytest
from growth import grows_like_its_text
from hypothesis import given, settings
from hypothesis import strategies as st
from linking import OTHER_SHA, SHA

from faultatlas.data.identity import parse
from faultatlas.miner.links.references import LIMIT, references

OWN = "example/lib"


def found(text: str, kind: str = "pull", project: str = OWN, **more: object) -> dict[str, str]:
    """Targets, short where they are of this project, with their kinds."""
    said = references(text, project=project, kind=kind, **more)  # type: ignore[arg-type]
    names = [each.target_id.replace(f"github:{OWN}#", "#") for each in said]
    return dict(zip(names, (each.kind for each in said), strict=True))


@pytest.mark.parametrize(
    "words",
    ["Fixes #12", "fix: #12", "FIXED #12", "closes #12", "close  #12", "Closed: #12", "resolve #12",
     "Resolves: #12", "resolved #12", "this (fixes #12) too", "**Fixes** #12", "Fixes GH-12",
     "Fixes example/lib#12", "fixes https://github.com/example/lib/issues/12.",
     "Fixes [#12](https://github.com/example/lib/issues/12)",
     "Fixes <https://github.com/example/lib/issues/12>"],
)  # fmt: skip
def test_closing_keywords_are_those_of_github(words: str) -> None:
    assert found(words) == {"#12": "fixes"}
    assert found(words, kind="commit") == {"#12": "fixes"}


@pytest.mark.parametrize(
    "words",
    ["prefix #12", "bugfix #12", "fixing #12", "fixe #12", "bug-fixes #12", "fix issue #12",
     "fix, #12", "fixes\n#12", "#12 fixes", "unresolved #12", "see #12", "GH-12", "(#12)", "gh-12",
     "#12.", "#12, the", "\u4fee\u590d#12\u95ee\u9898"],
)  # fmt: skip
def test_what_only_stands_near_is_a_mention(words: str) -> None:
    assert found(words) == {"#12": "mentions"}


def test_one_keyword_holds_for_a_list() -> None:
    text = "Closes: #12, #13 and other/lib#14; #15. See #16"
    assert found(text) == {
        "#12": "fixes", "#13": "fixes", "github:other/lib#14": "fixes", "#15": "fixes",
        "#16": "mentions",
    }  # fmt: skip
    (*_rest, last, _mention) = references(text, project=OWN, kind="pull")
    assert last.evidence == "Closes: #12, #13 and other/lib#14; #15"


@pytest.mark.parametrize(
    "text",
    ["C#7", "word#12", "docs/page.html#12", "https://example.org/page#12", "&#39;", "# 12", "#0",
     "#012", "##12", "#fff", "#12345678", "#12px", "#1.5", "a@b.com#", "PR #0", "@user #", "/#12",
     "#1 0x00007fff in main ()", "GH-", "XGH-12", "!12", "#I65G7B", "0123456", "deadbeef",
     f"{SHA}0", f"x{SHA}", f"sha1:{SHA}", "https://github.com/example/lib",
     "https://github.com/example/lib/issues", "https://github.com/example/lib/issues?q=12",
     "https://example.org/issues/12", "org/lib@v1.2.3"],
)  # fmt: skip
def test_what_looks_like_a_reference_is_none(text: str) -> None:
    assert found(text) == {}


@pytest.mark.parametrize(
    "text",
    ["`#12`", "`` a ` #12 ``", "```\n#12\n```", "~~~python\n#12\n~~~", "> Fixes #12",
     "<!-- #12 -->", "x\n\n    #12\n"],
)  # fmt: skip
def test_code_and_quotations_are_not_the_authors_words(text: str) -> None:
    assert found(text) == {}
    assert found(f"{text}\n\nbut `x` #13") == {"#13": "mentions"}


def test_in_a_commit_message_everything_counts() -> None:
    assert found("`#12`\n\n    #13\n> #14", kind="commit") == dict.fromkeys(
        ["#12", "#13", "#14"], "mentions"
    )


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("other/lib#12", "github:other/lib#12"),
        ("Other/Lib.js#12", "github:other/lib.js#12"),
        ("https://github.com/other/lib/pull/12/files", "github:other/lib#12"),
        ("[x](https://github.com/o/l/issues/3#issuecomment-5)", "github:o/l#3"),
        ("github.com/o/l/issues/3", "github:o/l#3"),
        (f"https://github.com/o/l/commit/{SHA}", f"git:o/l@{SHA}"),
        ("o/l@0123456", "git:o/l@0123456"),
        (f"since {SHA}:", f"git:example/lib@{SHA}"),
        ("https://stackoverflow.com/questions/5/some-title", "stackoverflow:5"),
        ("https://stackoverflow.com/q/5/77", "stackoverflow:5"),
        ("https://stackoverflow.com/a/6", "stackoverflow:a/6"),
        ("https://ai.stackexchange.com/q/5", "stackoverflow:ai.stackexchange.com/5"),
        ("https://gitee.com/m/m/issues/I65G7B", "gitee:m/m#I65G7B"),
        ("HTTPS://GITHUB.COM/O/L/issues/3", "github:o/l#3"),
        ("GitHub.com/o/l/issues/3", "github:o/l#3"),
        ("<https://github.com/o/l/issues/3>", "github:o/l#3"),
        ("https://github.com/o/l/issues/3\uff0c\u8bf7\u770b", "github:o/l#3"),
        ("\u89c1https://github.com/o/l/issues/3\u3002", "github:o/l#3"),
        ("\uff08https://github.com/o/l/issues/3\uff09", "github:o/l#3"),
        ("https://github.com/o/l/issues/3\u8fd9\u4e2a", "github:o/l#3"),
        ("https://gitee.com/m/m/issues/I65G7B\u3001\u53e6", "gitee:m/m#I65G7B"),
    ],
)  # fmt: skip
def test_names_and_addresses_of_other_artifacts(text: str, target: str) -> None:
    assert found(text, kind="issue") == {target: "mentions"}


def test_what_follows_an_address_in_chinese_is_read_too() -> None:
    text = "https://github.com/o/l/issues/3\uff0c\u89c1#12\u3002https://e.org/\u4e2d#13"
    assert found(text) == {"github:o/l#3": "mentions", "#12": "mentions"}


def test_a_mention_is_shown_without_the_brackets_around_it() -> None:
    address = "https://github.com/o/l/issues/3"
    (said,) = references(f"See <{address}>.", project=OWN, kind="commit")
    assert said.evidence == address
    said, more = references(f"Fixes <{address}>, <{address}4>", project=OWN, kind="commit")
    assert (said.kind, said.evidence) == ("fixes", f"Fixes <{address}>")
    assert more.kind == "fixes"


def test_of_a_label_the_address_counts() -> None:
    text = "Bumps x. Fixes [#12](https://redirect.github.com/other/lib/issues/13)"
    assert found(text) == {"github:other/lib#13": "fixes"}


def test_commits_name_their_pull_request() -> None:
    assert found("Fix it (#12)\n\nAlso (#13)", "commit") == {"#12": "part of", "#13": "mentions"}
    assert found("Fix #11 (#12)", "commit") == {"#11": "fixes", "#12": "part of"}
    assert found("Merge pull request #12 from a/b", "commit") == {"#12": "part of"}
    # PyTorch's way; the word before is no closing keyword.
    text = "x\n\nPull Request resolved: https://github.com/pytorch/pytorch/pull/12"
    assert found(text, "commit") == {"github:pytorch/pytorch#12": "part of"}
    # TensorFlow's two ways.
    page = "https://github.com/tensorflow/tensorflow/pull/12"
    for text in (
        f"PR #12: x\n\nImported from GitHub PR {page}\n",
        f"x\n\nPUB_INTEGRATE_REVIEW={page} ",
    ):
        assert found(text, "commit")["github:tensorflow/tensorflow#12"] == "part of"
        assert "part of" not in found(text, "pull").values()


def test_picked_and_reverted_commits() -> None:
    assert found(f"x\n\n(cherry picked from commit {SHA})", "commit") == {
        f"git:{OWN}@{SHA}": "picks"
    }
    text = f'Revert "Fixes #10" (#11)\n\nThis reverts commit 0123456, made to {OTHER_SHA}. Fixes #9'
    assert found(text, "commit") == {
        "#10": "mentions", "#11": "part of", f"git:{OWN}@0123456": "reverts",
        f"git:{OWN}@{OTHER_SHA}": "mentions", "#9": "fixes",
    }  # fmt: skip
    assert found("Reverts example/lib#12") == {"#12": "reverts"}
    assert found("Cherry-pick of #12") == {"#12": "picks"}
    assert found("Cherry-picks pull request #12", "issue") == {"#12": "mentions"}


@pytest.mark.parametrize(
    "text",
    ['Revert "Fix #3"', 'Merge pull request #12 from a/b\n\nRevert "Fix #3"',
     '[Cherry-pick] Revert "Fix #3" (#9)', '* Add x\n* Revert "Fix #3"\n', "revert: Fix #3",
     "revert(core)!: Fix #3", "Revert \u201cFix #3\u201d", "Revert 'Add x, fixes #3'",
     'Reapply "Fix #3"',
     "Revert Fix #3", "Reverting the fix #3", 'Revert "Fix the quote \' (closes #3)"',
     'Reverts commit 0123456 "Fix #3"', 'Revert "Fix #2, #3"', 'Back out "Fix #3"',
     'Revert "Fix #3\n',
     "\u56de\u9000 'Pull Request !12 : Fix #3'"],
)  # fmt: skip
def test_what_is_reverted_is_not_repaired(text: str) -> None:
    for kind in ("commit", "pull"):
        assert found(text, kind)["#3"] == "mentions"
        assert found(f"{text}\nFixes #4", kind)["#4"] == "fixes"


@pytest.mark.parametrize(
    "text",
    ['Revert "Add x" because it breaks, fixes #3', "This reverts commit 0123456. Fixes #3",
     "Revert PR #12 to fix #3", "Fix #3 (do not revert)", 'Revert "Add x"\n\nFixes #3',
     "Unreverted: fixes #3", "Revert it, as it's wrong: fixes #3 that doesn't work"],
)  # fmt: skip
def test_to_revert_something_else_may_repair(text: str) -> None:
    assert found(text, "commit")["#3"] == "fixes"


def test_lines_about_people_name_no_artifacts() -> None:
    text = "x\n\nCo-authored-by: bot #12 <b@c.de>\nSigned-off-by: GH-13\nCloses: #14"
    assert found(text, "commit") == {"#14": "fixes"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [("Duplicate of #12", "duplicate"), ("Closing as a duplicate of #12.", "duplicate"),
     ("duplicate of https://github.com/example/lib/issues/12", "duplicate"),
     ("this is not a duplicate of #12", "mentions"), ("Possible duplicate of #12", "mentions"),
     ("similar to #12", "mentions"), ("Fixes #12", "mentions")],
)  # fmt: skip
def test_an_issue_is_a_duplicate_and_repairs_nothing(text: str, kind: str) -> None:
    assert found(text, "issue") == {"#12": kind}


def test_a_comment_closes_nothing() -> None:
    assert found("Fixes #12", can_close=False) == {"#12": "mentions"}


def test_gitee_has_its_own_notation() -> None:
    text = "!12 repair #I65G7B\nMerge pull request !12 from x"
    assert found(text, "commit", "gitee.com/m/m") == {
        "gitee:m/m#12": "part of", "gitee:m/m#I65G7B": "mentions",
    }  # fmt: skip


def test_posts_have_addresses_and_no_numbers() -> None:
    html = (
        '<p>See #12, <a href="https://github.com/o/l/issues/1?a=1&amp;b=2">here</a>, '
        '<a href="/questions/5/t">there</a>, https://github.com/o/l/pull/2</p>'
        "<pre><code>https://github.com/o/l/issues/3</code></pre>"
        '<blockquote><a href="https://github.com/o/l/issues/4">x</a></blockquote>'
    )
    assert found(html, "post", "stackoverflow.com") == dict.fromkeys(
        ["github:o/l#1", "stackoverflow:5", "github:o/l#2"], "mentions"
    )


def test_numbers_on_a_private_host_need_to_be_told_what_it_runs() -> None:
    text = "#4 https://git.example.org/t/a/issues/5"
    assert found(text, "commit", "git.example.org/t/a") == {}
    assert found(text, "commit", "git.example.org/t/a", hosts={"git.example.org": "github"}) == {
        "github:git.example.org/t/a#4": "mentions", "github:git.example.org/t/a#5": "mentions",
    }  # fmt: skip
    assert found("#4 (#5)", "commit", "local/folder") == {}


def test_a_target_is_named_once_and_by_the_stronger_words() -> None:
    assert found("see #12, then #12. Fixes #12") == {"#12": "fixes"}


PIECES = ["#12", "#", "(", ")", "[", "](", "`", "```", "\n", " ", "fixes", ":", ",", "a/b", "@",
          SHA, "abcdef0", "https://github.com/a/b/issues/1", "https://", "<a href=", ">", "<",
          "GH-7", "!3", "duplicate of", "revert", '"', "HTTPS://GitHub.com/a/b/issues/2", "\uff0c",
          "#I65G7B", "\u4fee", "&", "/", "\x00", "\ud800"]  # fmt: skip


@settings(max_examples=300)
@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join),
    st.sampled_from(["issue", "pull", "commit", "post"]),
)
def test_whatever_a_text_holds_references_are_sound(text: str, kind: str) -> None:
    for each in references(text, project=OWN, kind=kind):
        assert str(parse(each.target_id)) == each.target_id
        assert 0 < len(each.evidence) <= 200
        assert kind == "post" or each.evidence in " ".join(text.split())
        assert each.kind in ("fixes", "mentions", "picks", "reverts", "duplicate", "part of")


@pytest.mark.parametrize(
    "piece",
    ["#12 ", "fix #1 ", 'revert "fix #1 ', "revert ", "(#1) ",
     "[#1](", "a/a#", "a/", "fixes ", "`", "` ``", "\n ", "\n> ", "https://",
     "https://github.com/a/b/issues/1 ", "abcdef0 ", "0", "<a href="],
)  # fmt: skip
def test_a_long_run_of_anything_is_quick(piece: str) -> None:
    for kind in ("pull", "commit", "post"):
        grows_like_its_text(
            lambda text, kind=kind: references(text, project=OWN, kind=kind), "", piece, 20_000
        )


def test_a_text_has_so_many_references_at_most() -> None:
    text = " ".join(f"#{number}" for number in range(1, 3 * LIMIT))
    assert len(references(text, project=OWN, kind="issue")) == LIMIT
