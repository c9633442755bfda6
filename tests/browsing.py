"""A real Chromium for tests of pages; where there is none they are skipped, but not in CI."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from needed import need

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def started() -> Iterator[Browser]:
    """A browser that talks to nobody."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, NAMES)), None)
    need(found, "there is no chromium on the path")
    with sync_playwright() as playwright:
        quiet = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=found, args=quiet)
        yield browser
        browser.close()


def axe() -> str:
    """The code of axe-core, which `.ci/run` fetches into the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = sorted((cache / "faultatlas").glob("axe-core-*/axe.min.js"))
    need(found, "there is no axe-core in the cache: .ci/run fetches it")
    return found[-1].read_text(encoding="utf-8")
