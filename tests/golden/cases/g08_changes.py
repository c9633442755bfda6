"""What changes on a tracker between two fetches, however the comments are fetched."""

from __future__ import annotations

from dataclasses import dataclass

import compare
from golden.stage import Stage
from loopback.entries import Entry
from loopback.tracker import Gone
from loopback.ways import WAYS, Way
from loopback.world import TOKEN, World

# Everything of a view but run and times of fetching; of a time at which something was noticed
# only whether there is one.
_ROWS = {
    "issues": "SELECT i.* EXCLUDE (gone_at, run_id, fetched_at, response_id), "
    "i.gone_at IS NOT NULL AS is_gone, body, url FROM issues i JOIN artifacts USING (artifact_id)",
    "comments": "SELECT * EXCLUDE (gone_at, run_id, fetched_at, response_id), "
    "gone_at IS NOT NULL AS is_gone FROM comments",
    "issue_events": "SELECT * EXCLUDE (run_id, fetched_at, response_id) FROM issue_events",
    "artifact_aliases": "SELECT alias, artifact_id, kind FROM artifact_aliases",
}
LONGEST = 4_000
# After these fetches all rows are compared, after the others the requests only.
_OBSERVED = ("changed", "verified", "returned", "renamed")
_RENAMED = "better/arrays"


def run(stage: Stage) -> None:
    for name, way in WAYS.items():
        _Fetches(stage, name, _world(name, way), way.arguments, way.token).run_all()
    gitee = Way(_mindspore, "", (), TOKEN)
    _Fetches(stage, "gitee", gitee.world(), (), TOKEN, is_gitee=True).run_all()


def _world(name: str, way: Way) -> World:
    """The world of a way, in which more issues have the label that it asks for."""
    world = way.world()
    if name == "issue":
        for number in (1, 3, 7, 9, 12, 17, 19):
            world.tracker.entries[number].labels = ("crash",)
    return world


def _mindspore() -> World:
    world = World.generated(40, comments_each=3, name="mindspore/mindspore")
    world.page_limit = 20
    for number, entry in world.tracker.entries.items():
        entry.labels = ("kind/bug", "device/ascend") if number % 2 else ("kind/feature",)
    world.touch(9, state="closed", state_reason="not_planned")
    return world


@dataclass
class _Fetches:
    """One project in one study, fetched again and again while it changes."""

    stage: Stage
    name: str
    world: World
    arguments: tuple[str, ...]
    token: str | None
    is_gitee: bool = False

    def run_all(self) -> None:
        running = self.stage.serve(self.world)
        url = running.gitee_url if self.is_gitee else running.url
        project = self.world.tracker.name
        self._words = (project, *self.arguments, "--max-wait", "0", "--api-url", url)
        self._fetch("first")
        self._fetch("unchanged")
        hidden = self._change()
        self._fetch("changed")
        self._fetch("verified", "--verify")
        self._return(hidden)
        self._fetch("returned")
        self._rebuild("returned")
        if not self.is_gitee:
            self._rename()
            self._rebuild("renamed")

    def _fetch(self, label: str, *more: str) -> None:
        variable = "GITEE_TOKEN" if self.is_gitee else "GITHUB_TOKEN"
        asked = len(self.world.requests)
        self.stage.run(
            f"{self.name} {label}", "miner", "fetch", *self._words, *more, study=self.name,
            environment={variable: self.token} if self.token else {},
        )  # fmt: skip
        self.stage.requests(f"{self.name} {label}", self.world.requests[asked:])
        if label in _OBSERVED:
            for view, rows in _ROWS.items():
                self.stage.query(f"{self.name} {label}: {view}", rows, self.name)

    def _rebuild(self, after: str) -> None:
        """Without the network there are the same rows as after that fetch."""
        self.stage.run(f"{self.name} {after}, rebuilt", "miner", "rebuild", study=self.name)
        for view, rows in _ROWS.items():
            before = self.stage.observed[f"{self.name} {after}: {view}: query"]
            now = compare.query(self.stage.study(self.name), rows, self.stage.neutral)
            self.stage.value(f"{self.name} {after}, rebuilt: {view} are the same", now == before)

    def _change(self) -> tuple[int, Entry]:
        """A dozen changes; the issue that is hidden, to be shown again."""
        world = self.world
        asked = {"crash"} if "crash" in self.arguments else set()
        issues = (
            number
            for number, entry in list(world.tracker.entries.items())
            if not entry.is_pull and asked <= set(entry.labels)
        )
        edited, shortened, renamed, deleted, hidden, moved, unlabelled = (
            next(number for number in issues if world.tracker.entries[number].comments)
            for _ in range(7)
        )
        world.touch(renamed, title="Another title")
        world.touch(renamed, body="Another text, with thanks to @someone.")
        world.touch(renamed, comment="one more, see #1")
        world.edit_comment(edited)
        world.touch(edited, state="closed")
        world.delete_comment(shortened)
        world.touch(shortened, labels=["crash", "kind/bug", "new"])
        kept = world.tracker.entries[hidden]
        world.hide(hidden)
        world.delete(deleted)
        world.transfer(moved, "example/other")
        for label in world.tracker.entries[unlabelled].labels:
            world.remove_label(unlabelled, label)
        if not self.is_gitee:
            world.to_discussion(shortened)
        created = world.create("crash", "kind/bug")
        world.touch(created, comment="the first")
        return hidden, kept

    def _return(self, hidden: tuple[int, Entry]) -> None:
        """What was hidden by mistake is shown again."""
        number, entry = hidden
        assert self.world.tracker.gone.pop(number) == Gone("hidden")
        self.world.tracker.entries[number] = entry
        self.world.touch(number, title="I am back")

    def _rename(self) -> None:
        """The repository is called something else, and asked for by its earlier name."""
        self.world.rename(_RENAMED)
        self.world.touch(1, title="Changed under the new name", comment="and told")
        self._fetch("renamed")
