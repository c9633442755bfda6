"""A fetch that is broken off again and again has in the end what an undisturbed one has."""

from __future__ import annotations

import compare
from golden.stage import Stage
from loopback import Fault, Request
from loopback.ways import WAYS, Way

_AT_ONCE = 4  # requests that are answered before the quota is used up
_NEVER = 4_102_444_800  # in 2100
_VIEWS = ("issues", "comments", "issue_events")


def run(stage: Stage) -> None:
    for name, way in WAYS.items():
        _fetched(stage, f"{name} undisturbed", way, breaks=False)
        _fetched(stage, f"{name} resumed", way, breaks=True)
        whole, resumed = (
            compare.views(stage.study(f"{name} {how}"), _VIEWS)
            for how in ("undisturbed", "resumed")
        )
        stage.value(f"{name}: the same", whole == resumed)


def _fetched(stage: Stage, study: str, way: Way, *, breaks: bool) -> None:
    """One fetch, or as many as it takes when each gets a few answers."""
    world = way.world()
    url = stage.serve(world).url
    words = (world.tracker.name, "--max-wait", "0", "--api-url", url, *way.arguments)
    token = {"GITHUB_TOKEN": way.token} if way.token else {}
    for number in range(1, 20):
        if breaks:
            world.faults.clear()
            world.faults.add(Fault.primary_limit(_NEVER, times=None, on=_After(_AT_ONCE)))
        label = f"{study} {number}"
        ended = stage.run(
            label, "miner", "fetch", *words, study=study, environment=token, names="none"
        )
        if not ended.code:
            break
    stage.requests(study, world.requests)
    stage.views(study, *_VIEWS, study=study)


class _After:
    """The requests behind the first few."""

    def __init__(self, answered: int) -> None:
        self._left = answered

    def __call__(self, _request: Request) -> bool:
        self._left -= 1
        return self._left < 0
