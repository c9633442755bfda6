"""An OpenAlex on this machine: works, cursors for those who have a key, a budget a day.

Shapes as the API gives them; without a key there is no cursor, `X-RateLimit-Reset` counts seconds
from now, and an abstract is an inverted index.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Any

from loopback.exchange import Reply, Request, as_json
from loopback.index import Index, Paper, said_by, within

KEY = "loopback0OpenAlex9Key7"
MOST_BY_PAGES = 10_000
_YEARS = re.compile(r"publication_year:(?:([0-9]{4})-([0-9]{4})|>([0-9]{4})|<([0-9]{4}))\Z")


@dataclass
class OpenAlex(Index):
    keys: set[str] = field(default_factory=lambda: {KEY})
    expired: set[str] = field(default_factory=set)  # cursors that are no longer known

    def _answer(self, request: Request) -> Reply:  # noqa: PLR0911  (as many ways to refuse)
        query = request.query
        key = query.get("api_key")
        if request.path != "/works":
            return self._error(404, "Not Found", "no such page")
        if key is not None and key not in self.keys:
            return self._error(401, "Unauthorized", "Invalid or expired API key.")
        if "cursor" in query and key is None:
            return self._error(401, "Unauthorized", "Cursor paging requires an API key.")
        if self.left <= 0:
            return self._error(429, "Rate limit exceeded", "Insufficient credits.")
        self.left -= 10
        size = min(int(query.get("per_page", 25)), self.page_limit)
        found = self._found(query.get("filter", ""))
        if found is None:
            return self._error(400, "Invalid query parameters error.", "That is no valid filter.")
        start = self._start(query, size)
        if start is None:
            return self._error(400, "Invalid query parameters error.", "Cursor is not valid.")
        shown = found[start : start + size]
        meta: dict[str, Any] = {
            "count": len(found),
            "db_response_time_ms": 27,
            "page": None if "cursor" in query else start // size + 1,
            "per_page": size,
            "groups_count": None,
        }
        if "cursor" in query:
            meta["next_cursor"] = _cursor(start + size) if shown else None
        said = {"meta": meta, "results": [work(paper) for paper in shown], "group_by": []}
        return as_json(said, 200, self._headers())

    def _start(self, query: dict[str, str], size: int) -> int | None:
        cursor = query.get("cursor")
        if cursor is None:
            start = (int(query.get("page", "1")) - 1) * size
            return start if start + size <= MOST_BY_PAGES else None
        if cursor in self.expired:
            self.expired.remove(cursor)  # it is made anew
            return None
        return 0 if cursor == "*" else int(base64.b64decode(cursor))

    def _found(self, text: str) -> list[Paper] | None:
        found = list(self.papers)
        for part in text.split(","):
            name, _, value = part.partition(":")
            if name == "title_and_abstract.search":
                found = [paper for paper in found if said_by(value, paper)]
            elif years := _YEARS.fullmatch(part):
                since = int(years[1] or 0) or (int(years[3]) + 1 if years[3] else None)
                until = int(years[2] or 0) or (int(years[4]) - 1 if years[4] else None)
                found = within(found, since, until)
            else:
                return None
        return found

    def _headers(self) -> dict[str, str]:
        return {
            "x-ratelimit-limit": "1000",
            "x-ratelimit-remaining": str(max(self.left, 0)),
            "x-ratelimit-reset": "54000",
            "x-ratelimit-limit-usd": "0.1",
        }

    def _error(self, status: int, error: str, message: str) -> Reply:
        headers = {**self._headers(), **({"retry-after": "54000"} if status == 429 else {})}
        return as_json({"error": error, "message": message}, status, headers)


def _cursor(place: int) -> str:
    return base64.b64encode(str(place).encode()).decode()


def inverted(text: str) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, word in enumerate(text.split()):
        places.setdefault(word, []).append(place)
    return places


def work(paper: Paper) -> dict[str, Any]:
    """A work as the API gives it."""
    return {
        "id": f"https://openalex.org/W{4_000_000_000 + paper.number}",
        "doi": f"https://doi.org/{paper.doi}" if paper.doi else None,
        "display_name": paper.title,
        "publication_year": paper.year,
        "type": "preprint" if paper.is_preprint else "article",
        "authorships": [
            {
                "author_position": "first" if place == 0 else "last",
                "author": {
                    "id": f"https://openalex.org/A{paper.number}{place}",
                    "display_name": name,
                    "orcid": None,
                },
                "institutions": [],
                "countries": ["SE"],
                "is_corresponding": place == 0,
                "raw_author_name": name,
                "raw_affiliation_strings": [],
                "affiliations": [],
            }
            for place, name in enumerate(paper.authors)
        ],
        "primary_location": {
            "is_oa": False,
            "landing_page_url": f"https://doi.org/{paper.doi}" if paper.doi else None,
            "pdf_url": None,
            "source": {
                "id": "https://openalex.org/S4306420609",
                "display_name": paper.venue,
                "issn_l": None,
                "issn": None,
                "is_oa": False,
                "is_in_doaj": False,
                "host_organization": None,
                "type": "conference",
            },
            "license": None,
            "version": "publishedVersion",
            "is_accepted": True,
            "is_published": True,
        },
        "abstract_inverted_index": inverted(paper.abstract) if paper.abstract else None,
        "cited_by_count": paper.number * 3,
    }
