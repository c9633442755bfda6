"""What a rater's browser gets to see of hostile and of honest texts."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hostile_texts import BOMBS, HTML, MARKDOWN
from hypothesis import given
from hypothesis import strategies as st

from faultatlas.annotation.bridge.page.cleaning import DEPTH, visible, web_address
from faultatlas.annotation.bridge.page.rendering import (
    BODY_LIMIT,
    END,
    markdown,
    plain,
    post,
    rendered,
)

ORIGIN = "https://github.com/o/r/issues/1"
ATTRIBUTES = {
    "a": {"href", "target", "rel"},
    "div": {"class"},
    "ol": {"start"},
    "p": {"class"},
    "pre": {"class"},
    "span": {"class"},
}
FORBIDDEN = {"script", "style", "img", "iframe", "svg", "math", "form", "input", "object", "link"}


class Inspector(HTMLParser):
    """Reads HTML and notes what must not be in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.wrong: list[str] = []
        self.text = ""
        self.links: list[str] = []
        self.classes: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in FORBIDDEN:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES.get(tag, ()):
                self.wrong.append(f"{tag} {name}={value}")
            if name == "href":
                self.links.append(value or "")
                if web_address(value or "") != value:
                    self.wrong.append(f"href={value}")
            if name == "class":
                self.classes.add(value or "")
        if tag == "a" and dict(attrs).get("rel") != "noopener noreferrer":
            self.wrong.append("a without rel")

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}-->")


def shown(html: str) -> Inspector:
    found = Inspector(html)
    assert not found.wrong, html
    assert all(re.fullmatch(r"fa-[a-z]+|hl-[a-z0-9]+", name) for name in found.classes), html
    return found


def as_markdown(text: str) -> str:
    return rendered(markdown, text, ORIGIN, BODY_LIMIT)


def as_post(text: str) -> str:
    return rendered(post, text, ORIGIN, BODY_LIMIT)


@pytest.mark.parametrize("text", MARKDOWN)
def test_hostile_markdown_is_only_text(text: str) -> None:
    shown(as_markdown(text))
    shown(rendered(plain, text, ORIGIN, BODY_LIMIT))


@pytest.mark.parametrize("text", [*HTML, *MARKDOWN])
def test_hostile_html_of_posts_is_only_text(text: str) -> None:
    shown(as_post(text))


@given(st.lists(st.sampled_from([*MARKDOWN, *"<>[]()`*_~#!|\"'&\n\\"]) | st.text(), max_size=8))
def test_any_mixture_of_them_is_only_text(parts: list[str]) -> None:
    shown(as_markdown("".join(parts)))
    shown(as_post("".join(parts)))
    shown(as_markdown(" ".join(parts) + "\n\n"))


@pytest.mark.parametrize("render", [as_markdown, as_post])
@pytest.mark.parametrize("name", BOMBS)
def test_bombs_stay_small_and_flat(name: str, render: Callable[[str], str]) -> None:
    html = render(BOMBS[name])
    shown(html)
    assert len(html) < 40 * BODY_LIMIT
    depth = deepest = 0
    for tag in re.finditer(r"<(/?)(?!br|hr)[a-z]", html):
        depth += -1 if tag[1] else 1
        deepest = max(deepest, depth)
    assert deepest < 3 * DEPTH


def test_scripts_can_be_read_but_are_none() -> None:
    html = as_markdown('before\n\n<script>alert("1")</script>\n\nafter')

    assert "&lt;script&gt;" in html
    assert shown(html).text.split() == ["before", '<script>alert("1")</script>', "after"]


def test_a_traceback_outside_of_code_keeps_its_module() -> None:
    assert "in <module>" in shown(as_markdown('File "<stdin>", line 1, in <module>')).text


def test_markdown_is_read_as_github_reads_it() -> None:
    html = as_markdown(
        "# Title\n\nfirst line\nsecond **bold** ~~gone~~ see https://a.example/b_c_d.\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n- [ ] open\n\n"
        "<details><summary>Log</summary>\n\n```python\nimport os\n```\n\n</details>\n"
        "<!-- a hint of the template -->"
    )

    assert "<h1>Title</h1>" in html
    assert "first line<br>" in html
    assert "<strong>bold</strong> <s>gone</s>" in html
    assert shown(html).links == ["https://a.example/b_c_d"]
    assert "<td>1</td>" in html
    assert "☑ done" in html
    assert "☐ open" in html
    assert "<details><summary>Log</summary>" in html
    assert '<pre class="fa-code"><span class="hl-kn">import</span>' in html
    assert "template" not in html


def test_pictures_are_links_and_load_nothing() -> None:
    found = shown(as_markdown("![a plot](https://a.example/p.png) <img src=/q.png width=9>"))

    assert "[picture: a plot]" in found.text
    assert found.links == ["https://a.example/p.png", "https://github.com/q.png"]


def test_links_lead_to_the_web_only_and_relative_ones_to_where_they_stood() -> None:
    found = shown(as_markdown("[a](../2) [b](#x) [c](mailto:a@b.example) [d](http://127.0.0.1:1/)"))

    assert found.links == ["https://github.com/o/r/2", f"{ORIGIN}#x"]
    assert found.text.split() == ["a", "b", "c", "d"]


def test_posts_keep_their_paragraphs_and_their_code_gets_colours() -> None:
    html = as_post(
        "<p>How <em>so</em>?</p>\n<pre class='lang-py s-code-block'><code>def f(x):\n"
        "    return x &lt; 1\n</code></pre><ul><li>a<li>b</ul>"
    )

    assert "<p>How <em>so</em>?</p>" in html
    assert '<span class="hl-k">def</span>' in html
    assert "return x < 1" in shown(html).text
    assert html.count("<li>") == html.count("</li>") == 2


@pytest.mark.parametrize("language", ["", "pytb", "pycon", "console", "brainfuck", "python x"])
def test_only_code_whose_lexer_is_fast_on_anything_gets_colours(language: str) -> None:
    text = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    import os\n'

    html = as_markdown(f"```{language}\n{text}```")

    assert ("hl-" in html) == language.startswith("python")
    assert shown(html).text.strip() == text.strip()


def test_a_log_of_a_megabyte_is_cut_with_its_end_and_the_way_to_the_rest() -> None:
    lines = [f"step {n}: loss nan" for n in range(50_000)]
    log = "```\n" + "\n".join(lines) + "\nCUDA error: out of memory\n```"
    assert len(log) > 1_000_000

    found = shown(html := as_markdown(log))

    assert len(html) < 2 * BODY_LIMIT
    assert "step 0: loss nan" in found.text
    assert "CUDA error: out of memory" in found.text
    assert ORIGIN in found.links
    left = int(re.search(r"([\d,]+) characters are left out", found.text)[1].replace(",", ""))  # type: ignore[index]
    assert left == pytest.approx(len(log) - BODY_LIMIT, abs=END)


def test_nothing_hides_in_the_text() -> None:
    assert visible("a\x1b[31mb\x1b[0m\x00\u200bc\u202ed\r\ne\rf\ud800\ufeff") == (
        "ab\ufffdc⟦U+202E⟧d\ne\nf\ufffd"
    )
    assert visible("👩\u200d🔬 נכון ok\tx") == "👩\u200d🔬 נכון ok\tx"
