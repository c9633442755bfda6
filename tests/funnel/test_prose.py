"""Texts without code blocks and quotations."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from growth import grows_like_its_text
from markdown_it import MarkdownIt

from faultatlas.miner.lexicon import lexicon
from faultatlas.miner.prose import prose

ISSUE = """\
It fails:

```python
raise CodeError
```
> quoted words
> and more
lazily quoted

Own words with `inline` code.

    indented code

- an item

    of which this is a part

~~~
tilde code
```
still code
~~~
<!-- Template words -->
The end"""


def test_an_issue_without_code_and_quotations() -> None:
    text = prose("issue", "Title words", ISSUE)

    for word in ("Title", "fails", "Own", "inline", "item", "part", "end"):
        assert word in text
    for word in ("CodeError", "quoted", "lazily", "indented", "tilde", "still", "Template"):
        assert word not in text


def test_code_and_quotations_are_left_in_on_request() -> None:
    with_code = prose("issue", None, ISSUE, code=True)
    with_quotes = prose("issue", None, ISSUE, quotes=True)

    assert all(word in with_code for word in ("CodeError", "indented", "tilde", "still"))
    assert "quoted" not in with_code
    assert all(word in with_quotes for word in ("quoted", "lazily"))
    assert "CodeError" not in with_quotes
    assert "Template" not in prose("issue", None, ISSUE, code=True, quotes=True)


@pytest.mark.parametrize(
    ("body", "kept", "cut"),
    [
        ("a\n```\ncode", "a", "code"),  # never closed
        ("````\n```\ncode\n````\nb", "b", "code"),
        ("``` not `code\nb", "not b", "zzz"),  # a backtick behind it: no fence
        ("- x\n  ```\n  code\n  ```\n  y", "x y", "code"),
        ("> ```\n> code\n> ```\ny", "y", "code"),
        ("> ```\n> code\n\nFixes #12", "Fixes", "code"),  # the quotation ends, and so its fence
        ("> ```\n> code\nFixes #12", "Fixes", "code"),
        ("> > ```\n> > code\n> words\n\nFixes #12", "Fixes", "words"),
        ("> q\n```\ncode\n```\nFixes #12", "Fixes", "code"),
        ("> cut\n- Fixes #12", "Fixes", "cut"),
        ("> cut\n1. Fixes #12", "Fixes", "cut"),
        ("> cut\n# Heading", "Heading", "cut"),
        ("> cut\n---\nFixes #12", "Fixes", "cut"),
        ("> cut\n<div>Fixes #12</div>", "Fixes", "cut"),
        ("> # cut\nFixes #12", "Fixes", "cut"),  # no paragraph that could go on
        ("> - q\ncut\n\nb", "b", "cut"),
        ("> a\n    cut\n\nb", "b", "cut"),
        ("```\n> ```\ncode\n```\nb", "b", "code"),  # of a quotation that is code
        ("a\r```\rcode\r```\rb", "a b", "code"),
        ("<!-- open", "open", "zzz"),
        ("f(x)\n             ~~~~~^^^\nb", "f b", "zzz"),  # of a traceback
    ],
)
def test_odd_blocks(body: str, kept: str, cut: str) -> None:
    text = prose("issue", None, body)

    assert all(word in text for word in kept.split())
    assert cut not in text


POST = (
    "<p>It &lt;fails&gt; with <code>inline</code></p>\n"
    "<pre><code>raise CodeError</code></pre>"
    "<blockquote><p>outer<blockquote>inner</blockquote>rest</p></blockquote><p>end</p>"
)


def test_a_post_without_code_and_quotations() -> None:
    text = prose("post", "Why?", POST)

    assert "It <fails> with inline" in text
    assert "Why?" in text
    assert "end" in text
    assert not any(word in text for word in ("CodeError", "outer", "inner", "rest", "<p>"))
    assert "CodeError" in prose("post", None, POST, code=True)
    assert all(word in prose("post", None, POST, quotes=True) for word in ("outer", "inner"))


def test_cells_and_lists_of_a_post_do_not_run_together() -> None:
    tags = ("td", "th", "h4", "h5", "h6", "ul", "ol", "dt", "dd", "table", "section")

    for tag in tags:
        assert prose("post", None, f"<{tag}>one</{tag}><{tag}>two</{tag}>").split() == [
            "one",
            "two",
        ]


def test_a_long_reference_in_a_post_is_no_character() -> None:
    assert prose("post", None, f"a &#{'1' * 5_000}; b &#65;").split() == ["a", "b", "A"]


def test_code_in_a_quotation_needs_both_to_be_asked_for() -> None:
    body = "> ```\n> code\n> ```"

    assert "code" not in prose("issue", None, body, code=True)
    assert "code" not in prose("issue", None, body, quotes=True)
    assert "code" in prose("issue", None, body, code=True, quotes=True)


@pytest.mark.parametrize(
    "message", ["Fix a -> b\r\n\nBy A <a@b.example>\n", "Fix\n    > far\n", "a ~~ b `c` ``d``\n"]
)
def test_a_message_without_fence_and_quotation_is_as_it_was(message: str) -> None:
    assert prose("commit", None, message) is message


@pytest.mark.parametrize("message", ["> quoted\nFix", "Fix\r> quoted", "Fix\r\n   > quoted\r\n"])
def test_a_quotation_in_a_message_is_seen_wherever_it_stands(message: str) -> None:
    assert prose("commit", None, message).split() == ["Fix"]


def test_a_commit_message_is_plain_text() -> None:
    text = prose("commit", None, "Fix it\n\n    indented words\n> quoted\nnot quoted\n")

    assert "indented words" in text
    assert "not quoted" in text
    assert "> quoted" not in text


def _by_the_standard(body: str) -> str:
    """The same by a parser of CommonMark."""
    kept, depth = [], 0
    for token in MarkdownIt("commonmark").parse(re.sub("<!--.*?-->", "", body, flags=re.DOTALL)):
        depth += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.content and not depth and token.type not in ("fence", "code_block"):
            kept.append(token.content)
    return "\n".join(kept)


def test_real_issues_have_the_words_that_a_parser_of_markdown_finds(study_fixtures: Path) -> None:
    words = [lexicon("bugfix"), lexicon("ml")]
    differing = []
    with gzip.open(study_fixtures / "github" / "datasets_issues.jsonl.gz") as file:
        for issue in map(json.loads, file):
            ours, theirs = (
                prose("issue", None, issue["body"]),
                _by_the_standard(issue["body"] or ""),
            )
            if any(each.hits(ours) != each.hits(theirs) for each in words):
                differing.append(issue["number"])

    assert len(differing) <= 1, differing


@pytest.mark.parametrize("kind", ["issue", "post", "commit"])
@pytest.mark.parametrize(
    "unit",
    [
        *("```", "> ", "<!--", "<pre>", "<" * 10, "</blockquote>", "&#", "&#1", "<a", "- ", "1) "),
        *(">", " ", "1", "`", "~", "#", "*", "_ ", "\t", "&", "a "),
    ],
)
def test_hostile_texts_take_no_time(kind: str, unit: str) -> None:
    def read(text: str) -> None:
        assert isinstance(prose(kind, None, text), str)

    for start in ("", "<a", "```", "> ", "&#", "1. ", "- "):
        grows_like_its_text(read, start, unit, 4_000)
    grows_like_its_text(read, "<", unit[-1], 50_000)
    grows_like_its_text(read, "", unit + "\n", 8_000)
