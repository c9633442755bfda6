"""Texts without code blocks and quotations."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from miner.lexicon import lexicon
from miner.prose import prose

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
@pytest.mark.parametrize("unit", ["```", "> ", "<!--", "<pre>", "<" * 10, "</blockquote>", "&#"])
def test_hostile_texts_take_no_time(kind: str, unit: str) -> None:
    assert isinstance(prose(kind, None, unit * 200_000), str)
    assert isinstance(prose(kind, None, (unit + "\n") * 100_000), str)
