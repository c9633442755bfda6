"""Pages of lists, and the Link headers that lead from one to the next."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlencode

from loopback.exchange import Request

Row = TypeVar("Row")


@dataclass(frozen=True)
class Page:
    """The rows of a page and the Link header, empty where there is but one page."""

    rows: Sequence[Any]
    link: str

    @property
    def headers(self) -> dict[str, str]:
        return {"link": self.link} if self.link else {}


def size(request: Request, limit: int) -> int:
    """How many rows a page has: what was asked for within bounds, else 30."""
    asked = request.query.get("per_page", "")
    return min(int(asked) if asked.isdigit() and int(asked) > 0 else 30, limit, 100)


def number(request: Request) -> int:
    asked = request.query.get("page", "")
    return int(asked) if asked.isdigit() and int(asked) > 0 else 1


def by_number(request: Request, rows: Sequence[Row], address: str, limit: int) -> Page:
    """The page that `page=` asks for; `address` is that of the list without its query."""
    step, here = size(request, limit), number(request)
    last = max(1, -(-len(rows) // step))
    links = []
    if here > 1:
        links.append(("prev", min(here - 1, last)))
    if here < last:
        links += [("next", here + 1), ("last", last)]
    if here > 1:
        links.append(("first", 1))
    pairs = [(name, value) for name, value in request.pairs if name != "page"]
    link = ", ".join(
        f'<{address}?{urlencode([*pairs, ("page", page)])}>; rel="{rel}"' for rel, page in links
    )
    return Page(rows[(here - 1) * step : here * step], link)


def by_cursor(
    request: Request,
    rows: Sequence[Row],
    address: str,
    limit: int,
    key: Callable[[Row], list[Any]],
    *,
    descending: bool,
) -> Page:
    """The page after a row; rows that move behind it meanwhile are neither lost nor repeated."""
    step = size(request, limit)
    if "after" in request.query:
        after = json.loads(base64.urlsafe_b64decode(request.query["after"]))
        rows = [row for row in rows if (key(row) < after if descending else key(row) > after)]
    shown = rows[:step]
    if len(rows) <= step:
        return Page(shown, "")
    cursor = base64.urlsafe_b64encode(json.dumps(key(shown[-1])).encode()).decode()
    pairs = [(name, value) for name, value in request.pairs if name not in {"page", "after"}]
    return Page(shown, f'<{address}?{urlencode([*pairs, ("after", cursor)])}>; rel="next"')
