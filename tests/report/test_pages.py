"""The page: whole, inert, the same every time, and fit for a phone.

The browser tests open it in a real Chromium; where there is none they are skipped,
but not in CI.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import browsing
import pytest
from needed import need

from faultatlas.data.errors import StudyError
from faultatlas.data.results import (
    Bar,
    Claim,
    ClaimStatus,
    Column,
    Figure,
    Part,
    Result,
    Series,
    Table,
)
from faultatlas.report import formatting, pages

ROOT = Path(__file__).parents[2]
TEMPLATE = (ROOT / "report/templates/result.html.j2").read_text(encoding="utf-8")
STATUSES: tuple[ClaimStatus, ...] = (
    "reproduced",
    "near",
    "not reproduced",
    "inconsistent",
    "no data",
)
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "javascript:alert(1)",
    "</style><script>alert(1)</script>",
    "{{ 7 * 7 }}{% raise %}",
    "\u202egnp.exe \u2066x\u2069 \x00\x1b[31m \ud800",
    "--><svg onload=alert(1)>",
    "http://evil.example/x.png",
)


def shares(name: str) -> Figure:
    bar = Bar("Faults", (Part("Targeted", 44), Part("Untargeted", 46), Part("New", 6)))
    return Figure(name, "Research and practice", "shares", "44 of 96 are targeted.", (bar,))


FAULTS = Table(
    name="faults",
    title="All faults",
    columns=(
        Column("code", "Code", "code"),
        Column("fault", "Fault"),
        Column("status", "Status", "status"),
        Column("artifacts", "Artifacts", "count"),
        Column("share", "Share", "percent"),
        Column("kappa", "Kappa", "number"),
        Column("interval", "95 % interval", "interval"),
        Column("reading", "How the text is read"),
    ),
    rows=tuple(
        (
            f"4.2.{i}",
            f"Wrong shape of input data for layer {i}",
            ("Targeted", "untargeted", "near", "unheard of")[i % 4],
            1000 + i * 37,
            i * 1.37,
            i / 97,
            f"{i}.1 to {i}.9",
            "https://example.org/" + "a-long-word-without-any-space/" * 3,
        )
        for i in range(96)
    ),
    note="A mention is one coded segment of an interview.",
    folded=True,
)
TOP = replace(
    FAULTS, name="top-ten", title="The ten most frequent", rows=FAULTS.rows[:10], folded=False
)
MATRIX = Figure(
    name="techniques",
    title="Papers by fault and technique",
    kind="matrix",
    description="Most cells are empty.",
    categories=tuple(f"Technique number {i} with a long name" for i in range(20)),
    series=tuple(Series(f"Category {i}", tuple(map(float, range(20)))) for i in range(18)),
)
CLAIMS = tuple(
    Claim(
        claim_id=f"coverage-gap.faults.{status.replace(' ', '-')}",
        statement="of the faults are targeted by no technique.",
        value=47.916,
        unit="percent",
        query="coverage-gap(evidence=survey): faults.untargeted.percent",
        count=1046,
        total=2096,
        low=38.24,
        high=57.81,
        method="Wilson",
        printed=46.9,
        status=status,
        reason="The denominator is not given.",
    )
    for status in STATUSES
)
RESULT = Result(
    analysis="coverage-gap",
    name="gap",
    title="Research and practice",
    parameters={"evidence": "survey", "seeds": [1, 2], "strict": True},
    summary=("Almost half of the faults are addressed by no technique.",),
    claims=CLAIMS,
    tables=(TOP, FAULTS),
    figures=(shares("shares"), shares("shares-2"), MATRIX),
    notes=("Two faults are not mentioned.",),
    sources=("Humbatova et al., https://doi.org/10.1145/3377811.3380395",),
)
SMALL = replace(RESULT, figures=(shares("shares"),), tables=(TOP,))
EMPTY = Result("distribution", "empty", "Nothing yet", {})


def hostile_result() -> Result:
    """A result in which every text that can be hostile is."""
    text = " ".join(HOSTILE)
    table = Table(
        "table",
        text,
        (Column(text, text, "code"), Column("s", text, "status"), Column("n", text, "count")),
        tuple((each, each, each) for each in HOSTILE),
        note=text,
    )
    claim = Claim(text, text, 50.0, "percent", text, 1, 2, 40.0, 60.0, text, 51.0, "near", text)
    figure = Figure("figure", text, "shares", text, (Bar(text, (Part(text, 1),)),))
    return Result(
        analysis=text,
        name=text,
        title=text,
        parameters={text: text, "nested": {text: [text]}},
        summary=(text,),
        claims=(claim, replace(claim, unit=text)),
        tables=(table, replace(table, name="folded", folded=True)),
        figures=(figure,),
        notes=(text,),
        sources=HOSTILE,
        document={"text": text},
    )


@dataclass
class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    page: str
    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    style: str = ""

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)
        self._inside = ""
        self.feed(self.page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.style += data
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def values(self, name: str) -> list[str]:
        return [attrs[name] or "" for _, attrs in self.elements if name in attrs]

    def tags(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.elements if tag == name]


def read(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


# --- what a reader gets --------------------------------------------------------------


def test_same_result_gives_the_same_bytes(tmp_path: Path) -> None:
    first = pages.write_result(RESULT, tmp_path / "a")
    other = replace(RESULT, parameters=dict(reversed(RESULT.parameters.items())))
    second = pages.write_result(other, tmp_path / "b")
    assert first == tmp_path / "a" / "report.html"
    names = {path.name for path in first.parent.iterdir()}
    assert names == {path.name for path in second.parent.iterdir()}
    assert {"report.html", "shares.svg", "shares.pdf", "faults.csv", "faults.tex"} <= names
    for name in names:
        assert (first.parent / name).read_bytes() == (second.parent / name).read_bytes()


def test_every_number_of_every_table_is_on_the_page() -> None:
    text = Page(pages.render(RESULT, {})).text
    for table in RESULT.tables:
        for row in table.rows:
            for value, column in zip(row, table.columns, strict=True):
                assert formatting.cell(value, column.kind) in text


def test_claims_are_shown_with_all_that_belongs_to_them() -> None:
    page = Page(pages.render(RESULT, {}))
    for part in (
        "47.9 %",
        "1,046 of 2,096",
        "38.2\N{EN DASH}57.8 %",
        "Published: 46.9 %",
        "The denominator is not given.",
        *(claim.claim_id for claim in CLAIMS),
        CLAIMS[0].query,
    ):
        assert part in page.text
    assert "--low:38.24%;--high:57.81%;--value:47.92%;--printed:46.90%" in page.values("style")


@pytest.mark.parametrize("status", STATUSES)
def test_status_is_told_by_sign_and_words(status: ClaimStatus) -> None:
    page = pages.render(replace(EMPTY, claims=(replace(CLAIMS[0], status=status),)), {})
    name = status.replace(" ", "-")
    badge = re.search(rf'class="badge badge-{name}"><span [^>]*>(.)</span>{status}<', page)
    assert badge
    assert badge[1] == pages.SIGNS[status]
    assert len(set(pages.SIGNS.values())) == len(STATUSES)


def test_more_claims_than_cards_are_all_listed() -> None:
    many = tuple(replace(CLAIMS[0], claim_id=f"claim.{i:02}") for i in range(30))
    page = Page(pages.render(replace(EMPTY, claims=many), {}))
    assert len([each for each in page.tags("li") if each.get("class") == "card"]) == pages.HEADLINES
    assert all(claim.claim_id in page.text for claim in many)


@pytest.mark.parametrize(
    "claim",
    [
        Claim("a", "no value", None, "percent", "q"),
        Claim("b", "kappa", 0.817, "", "q", low=0.799, high=0.834),
        Claim("c", "papers", 52.0, "papers", "q", low=40.0, high=60.0, status="no data"),
        Claim("d", "difference", -3.0, "percent", "q", low=-9.0, high=3.0, printed=2.0),
    ],
    ids=lambda claim: claim.claim_id,
)
def test_claim_with_gaps_still_renders(claim: Claim) -> None:
    page = Page(pages.render(replace(EMPTY, claims=(claim,)), {}))
    assert claim.statement in page.text
    assert any("--low" in style for style in page.values("style")) == (claim.claim_id == "b")


def test_empty_result_renders() -> None:
    page = Page(pages.render(EMPTY, {}))
    assert "Nothing yet" in page.text
    assert not page.tags("table")


def test_structure_that_assistive_technology_needs(tmp_path: Path) -> None:
    page = read(pages.write_result(RESULT, tmp_path / "out"))
    assert page.tags("html") == [{"lang": "en"}]
    assert len(page.tags("h1")) == len(page.tags("main")) == len(page.tags("title")) == 1
    assert len(page.tags("caption")) == len(page.tags("table")) == 3
    assert all(each.get("scope") in {"col", "row"} for each in page.tags("th"))
    drawings = page.tags("svg")
    assert len(drawings) == 3 + 2  # two fit a phone, which shows them narrow
    assert all(each["role"] == "img" for each in drawings)
    assert drawings[-1]["aria-label"] == "Papers by fault and technique. Most cells are empty."
    assert len(page.tags("details")) == 2  # the claims and the folded table


def test_ids_are_unique_and_links_lead_somewhere(tmp_path: Path) -> None:
    path = pages.write_result(RESULT, tmp_path / "out")
    page = read(path)
    ids = Counter(page.values("id"))
    assert {name for name, times in ids.items() if times > 1} == set()
    assert {"faults", "top-ten", "figure-shares"} <= set(ids)
    for target in page.values("href") + page.values("xlink:href"):
        if target.startswith("#"):
            assert target[1:] in ids
        elif not target.startswith("https://doi.org/"):
            assert target.startswith("./")
            assert (path.parent / target).is_file()


# --- what a stranger's text can do: nothing ------------------------------------------


def test_hostile_text_is_inert(tmp_path: Path) -> None:
    path = pages.write_result(hostile_result(), tmp_path / "out")
    page = read(path)
    names = {tag for tag, _ in page.elements}
    assert not names & {"script", "img", "iframe", "object", "embed", "form", "base", "link"}
    assert not any(name.startswith("on") for _, attrs in page.elements for name in attrs)
    assert not any("javascript" in target.lower() for target in page.values("href"))
    assert not any("evil" in style for style in page.values("style"))
    for text in HOSTILE[:6]:
        assert text in page.text  # shown, not swallowed
    assert not set("\u202e\u2066\u2069\x00\x1b\ud800") & set(page.page)
    assert len(page.tags("h1")) == 1


def test_page_loads_nothing_and_forbids_it(tmp_path: Path) -> None:
    page = read(pages.write_result(hostile_result(), tmp_path / "out"))
    (policy,) = [
        attrs["content"]
        for attrs in page.tags("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline';")
    assert not page.values("src")
    assert not page.values("srcset")
    assert "@import" not in page.style
    assert "url(" not in page.style
    outside = [target for target in page.values("href") if "//" in target]
    assert all(tag == "a" for tag, attrs in page.elements if attrs.get("href") in outside)


def test_only_web_addresses_become_links() -> None:
    sources = ("javascript:alert(1)", "see https://example.org/a?b=1&c=2.", "data:text/html,x")
    page = Page(pages.render(replace(EMPTY, sources=sources), {}))
    links = [attrs for attrs in page.tags("a") if "//" in (attrs["href"] or "")]
    assert links == [{"href": "https://example.org/a?b=1&c=2", "rel": "noopener noreferrer"}]


@pytest.mark.parametrize(
    "change",
    [
        {"tables": (replace(TOP, name="../../up"),)},
        {"tables": (replace(TOP, name="javascript:x"),)},
        {"figures": (shares("a/b"),)},
        {"tables": (TOP, replace(TOP, name="TOP-TEN"))},
        {"tables": (replace(TOP, name="claims"),)},
    ],
    ids=["path", "scheme", "folder", "twice", "reserved"],
)
def test_unusable_names_are_refused_before_anything_is_written(
    change: dict[str, Any], tmp_path: Path
) -> None:
    with pytest.raises(StudyError) as error:
        pages.write_result(replace(SMALL, **change), tmp_path / "out")
    assert error.value.hint
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StudyError):
        pages.render(replace(SMALL, **change), {})


def test_importing_the_page_does_not_load_what_is_heavy() -> None:
    program = (
        "import sys, faultatlas.report.pages;"
        "print([name for name in ('matplotlib', 'pandas', 'duckdb') if name in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert run.stdout.strip() == "[]"


# --- a real browser ------------------------------------------------------------------

WIDTHS = (360, 768, 1280)

# The page stands in a frame of each width, because a window cannot be made as narrow as a
# phone everywhere; media queries see the frame's width.
FRAMES = """<!doctype html><meta charset="utf-8"><pre id="measured"></pre>
{frames}
<script>
addEventListener("load", () => {{
  const measured = [...document.querySelectorAll("iframe")].map((frame) => {{
    const page = frame.contentDocument;
    for (const details of page.querySelectorAll("details")) details.open = true;
    const root = page.documentElement;
    return {{
      width: frame.clientWidth,
      overflow: root.scrollWidth - frame.clientWidth,
      title: page.title,
      drawings: [...page.querySelectorAll("svg[role=img]")].map((svg) =>
        svg.getBoundingClientRect().width / svg.viewBox.baseVal.width),
    }};
  }});
  document.getElementById("measured").textContent = JSON.stringify(measured);
}});
</script>
"""


@pytest.fixture(scope="session")
def chromium() -> str:
    path = next(filter(None, map(shutil.which, browsing.NAMES)), None)
    need(path, "there is no chromium on the path")
    assert path
    return path


def opened(chromium: str, page: str, folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """What a browser measures at each width, and what it writes to its console."""
    frame = f'height="900" style="border:0" srcdoc="{html.escape(page)}"></iframe>'
    frames = "\n".join(f'<iframe width="{width}" {frame}' for width in WIDTHS)
    (folder / "frames.html").write_text(FRAMES.format(frames=frames), encoding="utf-8")
    run = subprocess.run(
        [
            chromium,
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
            *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
            *("--hide-scrollbars", "--enable-logging=stderr", "--virtual-time-budget=10000"),
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            (folder / "frames.html").as_uri(),
        ],
        capture_output=True,
        check=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
    )
    found = re.search(r'<pre id="measured">(.*?)</pre>', run.stdout, re.DOTALL)
    assert found, run.stderr[-2000:]
    # The browser's own pages (chrome://) speak up too, of a slow network for instance.
    said = re.findall(r".*CONSOLE(?!.*source: chrome[a-z-]*://).*", run.stderr)
    return json.loads(html.unescape(found[1])), said


@pytest.mark.browser
@pytest.mark.parametrize("result", [RESULT, hostile_result()], ids=["real", "hostile"])
def test_browser_shows_the_page_at_every_width(
    result: Result, chromium: str, tmp_path: Path
) -> None:
    path = pages.write_result(result, tmp_path / "out")
    measured, console = opened(chromium, path.read_text(encoding="utf-8"), tmp_path)
    assert [each["width"] for each in measured] == list(WIDTHS)
    assert [each["overflow"] for each in measured] == [0, 0, 0]
    assert all(each["title"].endswith("faultatlas") for each in measured)
    # A unit of a drawing is a point, 4/3 of a pixel on paper: 8 pt type never gets tiny.
    shown = [[scale for scale in each["drawings"] if scale] for each in measured]
    assert [len(scales) for scales in shown] == 3 * [len(result.figures)]  # wide or narrow
    scales = [scale for each in shown for scale in each]
    assert min(scales) > 0.9 * 4 / 3
    assert console == []


def test_page_names_only_commands_that_exist() -> None:
    named = re.findall(r"<code>((?:miner|annotation|analysis|report) .*?)</code>", TEMPLATE)
    reference = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert [command for command in named if f"\n## {command}\n" not in reference] == []


@pytest.mark.browser
def test_browser_check_would_notice(chromium: str, tmp_path: Path) -> None:
    page = "<p style='width:700px'>wide</p><script>console.error('seen')</script>"
    measured, console = opened(chromium, page, tmp_path)
    assert [each["overflow"] > 0 for each in measured] == [True, False, False]
    assert len(console) == len(WIDTHS)
