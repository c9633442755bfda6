"""A rater at the labelling page of a real Label Studio, in a real browser."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from labelstudio import LabelStudio

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@dataclass
class Desk:
    """A rater at the labelling page, and what happened around her."""

    page: Page
    dialogs: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)  # addresses that were asked for, not here
    opened: list[str] = field(default_factory=list)

    @classmethod
    def at(cls, browser: Browser, server: LabelStudio, email: str, password: str) -> Desk:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(20_000)
        desk = cls(context.new_page())
        context.on("dialog", lambda dialog: (desk.dialogs.append(dialog.message), dialog.dismiss()))
        context.on("page", lambda page: desk.opened.append(page.url))
        context.on("request", lambda request: desk.see(request.url))
        desk.page.goto(f"{server.url}/user/login/")
        desk.page.fill("input[name=email]", email)
        desk.page.fill("input[name=password]", password)
        desk.page.press("input[name=password]", "Enter")
        desk.page.wait_for_url(lambda url: "/user/login" not in url)
        return desk

    def see(self, address: str) -> None:
        parts = urlsplit(address)
        if parts.scheme not in {"data", "blob"} and parts.hostname != "127.0.0.1":
            self.outside.append(address)

    def open(self, server: LabelStudio, project_id: int) -> None:
        self.page.goto(f"{server.url}/projects/{project_id}/data?labeling=1")
        self.page.wait_for_selector(".fa-title")

    def choose(self, search: str, name: str) -> None:
        """Look for a code in the tree and tick it."""
        from playwright.sync_api import TimeoutError as PlaywrightTimeout

        self.page.click(".fa-side .htx-taxonomy")
        self.page.fill("[data-testid=taxonomy-search]", search)
        row = self.page.locator(".ant-select-tree-treenode", has_text=name)
        chosen = self.page.locator(".fa-side .ant-select-selection-item", has_text=name)
        for _time in range(5):  # a tree that is being searched moves under the pointer
            row.locator(".ant-select-tree-checkbox").click()
            with suppress(PlaywrightTimeout):
                chosen.first.wait_for(timeout=4_000)
                break
        assert chosen.count() == 1
        self.page.keyboard.press("Escape")
        self.page.locator(".ant-select-dropdown").wait_for(state="hidden")

    def submit(self) -> None:
        with self.page.expect_response(
            lambda answer: "/annotations" in answer.url and answer.request.method == "POST"
        ) as answer:
            self.page.get_by_role("button", name="Submit", exact=False).first.click()
        assert answer.value.status == 201
