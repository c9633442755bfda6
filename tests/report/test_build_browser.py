"""The report in a real browser: nothing overflows, nothing complains, and anybody can use it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsing import axe, started
from reported import RESULT, hostile, labelled, store

from faultatlas.data.old.results import Column, Figure, Series, Table
from faultatlas.data.study import Study
from faultatlas.report.sections import Section
from faultatlas.report.study.building import build_report, write

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WIDE, PHONE = 1280, 390
SERIOUS = {"serious", "critical"}
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
UNFOLD = "for (const each of document.querySelectorAll('details')) each.open = true"
UNSEEN = """[...document.querySelectorAll('figure')].filter((figure) => {
  const boxes = [...figure.querySelectorAll('svg')].map((svg) => svg.getBoundingClientRect());
  return boxes.filter((box) => box.width >= 50 && box.height >= 10).length !== 1;
}).length"""
SCROLLING = """[...document.querySelectorAll('.scroll')].filter(
  (each) => each.scrollWidth > each.clientWidth + 1
).length"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = labelled(tmp_path_factory.mktemp("study"))
    store(study)
    return build_report(study, []).page


@dataclass
class Opened:
    page: Page
    said: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)


def opened(browser: Browser, path: Path, width: int, **options: Any) -> Opened:
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    found = Opened(page)
    page.on("console", lambda message: found.said.append(message.text))
    page.on("pageerror", lambda error: found.said.append(str(error)))
    page.on("request", lambda request: found.asked.append(request.url))
    page.goto(path.as_uri())
    return found


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_nothing_overflows_and_every_figure_is_seen(
    browser: Browser, report: Path, width: int
) -> None:
    found = opened(browser, report, width)
    assert found.page.evaluate(OVERFLOW) == 0
    found.page.evaluate(UNFOLD)
    assert found.page.evaluate(OVERFLOW) == 0
    assert found.page.locator("figure svg:visible").count() == len(RESULT.figures)
    assert found.page.evaluate(UNSEEN) == 0
    assert found.said == []
    assert found.asked == [report.as_uri()]  # nothing else is loaded


def long_texts(folder: Path) -> Path:
    """A report with a table whose rows have long texts, and a figure with long names."""
    columns = (
        Column("bug", "Bug", "code"),
        Column("runs", "Runs", "count"),
        Column("framework", "Framework", aside=True),
        Column("evidence", "Evidence", aside=True, below=True),
    )
    rows = tuple(
        (f"set/bug-{name}", number, f"framework {name}", f"{name} " + "was seen to fail " * 20)
        for name, number in (("a", 3), ("b", 1), ("c", 2))
    )
    share = Series("Share", (60.0, 10.0), (26.2, 0.3), (87.8, 44.5))
    names = ("verified (n = 6)", "invalid: missing dependency (n = 1)")
    figure = Figure(
        "f", "Reasons", "bars", "Bars.", categories=names, series=(share,), unit="percent"
    )
    table = Table("bugs", "The bugs", columns, rows)
    part = Section("r", "R", ("Said.",), tables=(table,), figures=(figure,), result="r")
    return write("Report", [Section("x", "X", parts=(part,))], folder)


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_long_texts_and_figures_need_no_scrolling(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    page = opened(browser, long_texts(tmp_path / "out"), width).page
    assert page.evaluate(SCROLLING) == 0
    assert page.get_by_text("a was seen to fail was seen").is_visible()
    assert page.get_by_role("columnheader", name="Framework").is_visible() == (width == WIDE)
    assert page.get_by_text("Without Framework, for which").is_visible() == (width == PHONE)


def test_a_long_text_goes_where_its_row_goes(browser: Browser, tmp_path: Path) -> None:
    page = opened(browser, long_texts(tmp_path / "out"), WIDE).page

    def order() -> list[str]:
        page.get_by_role("button", name="Runs").click()
        rows = page.locator("table tbody tr").all_inner_texts()
        return [row.removeprefix("Evidence:").split()[0] for row in rows]

    assert order() == ["set/bug-b", "b", "set/bug-c", "c", "set/bug-a", "a"]
    assert order() == ["set/bug-a", "a", "set/bug-c", "c", "set/bug-b", "b"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_axe_finds_no_serious_fault(
    browser: Browser, report: Path, width: int, scheme: str
) -> None:
    found = opened(browser, report, width, color_scheme=scheme)
    found.page.evaluate(UNFOLD)
    found.page.evaluate(axe())
    faults = found.page.evaluate("axe.run().then((run) => run.violations)")
    told = [(each["id"], each["nodes"][0]["html"]) for each in faults if each["impact"] in SERIOUS]
    assert told == []


def test_axe_would_notice(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content("<html><body><img src='x'><button></button></body></html>")
    page.evaluate(axe())
    faults = page.evaluate("axe.run().then((run) => run.violations.map((each) => each.impact))")
    assert SERIOUS & set(faults)


def test_a_table_is_sorted_by_keyboard_within_its_groups(browser: Browser, report: Path) -> None:
    page = opened(browser, report, WIDE).page
    table = page.locator("table.sortable", has_text="Wrong loss")
    names = "(table) => [...table.querySelectorAll('tbody th')].map((cell) => cell.textContent)"
    before = ["Training", "Wrong loss", "Missing data", "Model", "Wrong layer", "Wrong shape"]
    assert table.evaluate(names) == before
    head = table.locator("thead th", has_text="Artifacts")
    head.locator("button").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    assert head.get_attribute("aria-sort") == "descending"
    assert table.evaluate(names) == [
        "Training", "Missing data", "Wrong loss", "Model", "Wrong shape", "Wrong layer",
    ]  # fmt: skip
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") is None
    assert table.evaluate(names) == before


def test_without_script_everything_is_there(browser: Browser, report: Path) -> None:
    found = opened(browser, report, WIDE, java_script_enabled=False)
    assert found.page.locator("table.sortable").count() > 3
    assert found.page.locator("thead button").count() == 0


def test_a_link_to_a_number_opens_what_it_is_folded_in(browser: Browser, report: Path) -> None:
    page = opened(browser, report, PHONE).page
    page.goto(f"{report.as_uri()}#made-up.untargeted")
    assert page.locator("[id='made-up.untargeted']").is_visible()


def test_print_shows_what_is_folded_and_fits_the_page(browser: Browser, report: Path) -> None:
    page = opened(browser, report, 794).page
    page.emulate_media(media="print")
    assert page.evaluate(OVERFLOW) == 0
    folded = page.locator("details table").first
    assert folded.bounding_box()
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_hostile_texts_do_nothing(browser: Browser, tmp_path: Path, width: int) -> None:
    study: Study = labelled(tmp_path / "study")
    store(study, hostile())
    found = opened(browser, build_report(study, [], as_stored=True).page, width)
    found.page.evaluate(UNFOLD)
    assert found.page.evaluate(OVERFLOW) == 0
    assert found.page.evaluate("window.ran") is None
    assert found.said == []
    assert len(found.asked) == 1
