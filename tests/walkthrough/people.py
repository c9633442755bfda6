"""What the people of the tutorial do between its commands, and the pictures of it."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from labelling_desk import Desk
from labelstudio import LabellingRater, LabelStudio

from faultatlas.annotation.bridge.installation import Installation, cache_folder
from faultatlas.annotation.bridge.own_server import OwnServer
from faultatlas.annotation.bridge.page.answers import result_of
from faultatlas.data.taxonomy import Taxonomy
from faultatlas.data.taxonomy_library import TaxonomyLibrary
from walkthrough import tracker

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TAXONOMY = "hp-defects"
SHEET = "open.csv"


@dataclass
class People:
    """Ann and Ben, with a browser between them."""

    folder: Path  # of the study
    pictures: Path
    browser: Browser
    port: int

    def do(self, name: str, said: Mapping[str, str]) -> None:
        """One of the things that the page asks for; `said` is what commands have printed."""
        deeds: dict[str, Callable[[Mapping[str, str]], None]] = {
            "ann and ben label": self.label,
            "ann and ben decide": self.decide,
            "look at the report": self.look,
        }
        deeds[name](said)

    def label(self, said: Mapping[str, str]) -> None:
        """Both log in with what was printed. Ann labels her first issue in the browser."""
        server = LabelStudio(OwnServer(self.folder), Installation(cache_folder()), self.port)
        taxonomy = TaxonomyLibrary().taxonomy(TAXONOMY)
        wanted = {tracker.item_of(issue): issue for issue in tracker.issues()}
        for name in ("ann", "ben"):
            login = said[f"annotation rater add {name}"]
            email, password = (_after(word, login) for word in ("account", "password"))
            address = _after(f"{name} labels here:", said["annotation push main"])
            rater = server.known_rater(email, password)
            tasks = rater.tasks(int(address.rpartition("/")[2]))
            codes = {item: wanted[item]["raters"][name] for item in tasks}
            if name == "ann":
                first = next(iter(tasks))
                desk = Desk.at(self.browser, server, email, password)
                self._in_browser(desk, address, taxonomy, codes[first])
                del tasks[first]
            _by_wire(rater, tasks, codes, taxonomy)

    def _in_browser(self, desk: Desk, address: str, taxonomy: Taxonomy, code: str) -> None:
        name = f"{code} {taxonomy.node(code).name}"
        parent = taxonomy.node(taxonomy.node(code).parent or code)
        desk.page.goto(address)
        desk.page.get_by_role("button", name="Label All Tasks").click()
        desk.page.wait_for_selector(".fa-title")
        desk.page.click(f".fa-codebook >> text={parent.code} {parent.name}")
        desk.choose(code, name)
        desk.page.click("text=4 ")
        desk.page.screenshot(path=self.pictures / "tutorial-labelling.png")
        desk.submit()
        assert desk.outside == []
        desk.page.context.close()

    def decide(self, _said: Mapping[str, str]) -> None:
        """They fill in the column `final` of the sheet."""
        decided = {tracker.item_of(issue): issue.get("final") for issue in tracker.issues()}
        with (self.folder / SHEET).open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            row["final"] = decided[row["item"]] or ""
        with (self.folder / SHEET).open("w", encoding="utf-8", newline="") as file:
            sheet = csv.DictWriter(file, list(rows[0]))
            sheet.writeheader()
            sheet.writerows(rows)

    def look(self, _said: Mapping[str, str]) -> None:
        """Open the report in the browser."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.goto((self.folder / "out" / "report" / "index.html").as_uri())
        page.screenshot(path=self.pictures / "tutorial-report.png")
        context.close()


def _by_wire(
    rater: LabellingRater, tasks: Mapping[str, int], codes: Mapping[str, str], taxonomy: Taxonomy
) -> None:
    for item, task in tasks.items():
        rater.label(task, result_of([codes[item]], taxonomy))


def _after(word: str, text: str) -> str:
    """What stands after a word, in its line."""
    found = re.search(rf"{re.escape(word)}\s+(\S+)", text)
    assert found is not None, f"there is no {word} in {text!r}"
    return found[1]
