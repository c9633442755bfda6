"""The site in a real browser: it fits a desk and a phone, complains of nothing, asks nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import started

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

WIDE, PHONE = 1280, 390
# The theme hides what reaches beyond the window, and lets the part with the text scroll: all three.
OVERFLOW = """['html', 'body', '.content'].map((name) => {
  const part = document.querySelector(name);
  return part.scrollWidth - part.clientWidth;
})"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as found:
        yield found


def _opened(browser: Browser, path: Path, width: int) -> tuple[Page, list[str]]:
    """A page, and what it complains of or asks for outside of the site."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="light")
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("requestfailed", lambda request: said.append(f"failed: {request.url}"))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((path.parent.as_uri(), "data:"))
            else said.append(f"asked: {request.url}")
        ),
    )
    page.goto(path.as_uri())
    return page, said


@pytest.mark.parametrize("name", ["index", "commands", "label-studio"])
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_nothing_overflows_or_complains(
    browser: Browser, site: Path, name: str, width: int
) -> None:
    page, said = _opened(browser, site / f"{name}.html", width)
    assert page.locator("h1").first.is_visible()
    assert page.evaluate(OVERFLOW) == [0, 0, 0]
    assert said == []


def test_help_texts_of_a_hundred_columns_fit_a_desk(browser: Browser, site: Path) -> None:
    page, _said = _opened(browser, site / "commands.html", WIDE)
    cut = "(all) => all.filter((each) => each.scrollWidth > each.clientWidth).length"
    assert page.locator("pre").evaluate_all(cut) == 0


def test_the_navigation_is_a_press_away_on_a_phone(browser: Browser, site: Path) -> None:
    page, _said = _opened(browser, site / "index.html", PHONE)
    link = page.locator(".sidebar-tree a", has_text="Commits")
    assert not link.is_visible() or link.bounding_box()["x"] < 0
    page.locator("label.mobile-header, .nav-overlay-icon").first.click()
    link.click()
    assert page.url.endswith("/commits.html")


def test_search_finds_a_command_without_a_server(browser: Browser, site: Path) -> None:
    page, said = _opened(browser, site / "index.html", WIDE)
    page.locator("input.sidebar-search").fill("show-before")
    page.keyboard.press("Enter")
    page.locator("#search-results a", has_text="Commits").first.wait_for()
    assert said == []
