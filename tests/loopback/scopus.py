"""A Scopus Search API on this machine: views and cursors by what a key includes, a weekly quota.

Shapes as Elsevier gives them: numbers are texts, an empty result is an entry with an error, the
key is repeated in a header, and there are two ways to tell an error.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Any

from loopback.exchange import Reply, Request, as_json
from loopback.index import Index, Paper, said_by, within

KEY = "a9f0" * 8  # thirty-two hexadecimal digits, as real ones
MOST_BY_PAGES = 5_000
WEEK = 604_800
_WORDS = re.compile(r"TITLE-ABS-KEY\((.*)\)")
_VENUES = re.compile(r"CONF\(([^()]*)\)")
_NOT_AUTHORIZED = (
    "The requestor is not authorized to access the requested view or fields of the resource"
)


@dataclass
class Scopus(Index):
    keys: set[str] = field(default_factory=lambda: {KEY})
    has_complete: bool = True
    has_cursor: bool = True

    def _answer(self, request: Request) -> Reply:  # noqa: PLR0911  (as many ways to refuse)
        key, query = request.headers.get("x-els-apikey"), request.query
        if key not in self.keys:
            words = "The provided apiKey is not valid."
            said = {"error-code": "APIKEY_INVALID", "error-message": words}
            return as_json({"error-response": said}, 401)
        headers = self._headers(key)
        if self.left <= 0:
            return as_json(_error("QUOTA_EXCEEDED", "Quota Exceeded"), 429, headers)
        self.left -= 1
        if query.get("view") == "COMPLETE" and not self.has_complete:
            return as_json(_error("AUTHORIZATION_ERROR", _NOT_AUTHORIZED), 401, headers)
        if "cursor" in query and not self.has_cursor:
            words = "Use of the cursor parameter is restricted"
            return as_json(_error("AUTHORIZATION_ERROR", words), 403, headers)
        size, start = int(query.get("count", 25)), self._start(query)
        if size > 25 or ("cursor" not in query and start + size > MOST_BY_PAGES):
            words = "Exceeds the maximum number allowed for the service level"
            return as_json(_error("INVALID_INPUT", words), 400, headers)
        if query["query"].count("(") != query["query"].count(")"):
            words = "Error translating query"
            return as_json(_error("INVALID_INPUT", words), 400, headers)
        size = min(size, self.page_limit)
        found = self._found(query["query"])
        shown = found[start : start + size]
        return as_json(self._said(request, found, shown, start, size), 200, headers)

    def _said(
        self, request: Request, found: list[Paper], shown: list[Paper], start: int, size: int
    ) -> dict[str, Any]:
        query = request.query
        is_complete = query.get("view") == "COMPLETE"
        results: dict[str, Any] = {
            "opensearch:totalResults": str(len(found)),
            "opensearch:startIndex": str(start),
            "opensearch:itemsPerPage": str(len(shown)),
            "opensearch:Query": {"@role": "request", "@searchTerms": query["query"]},
            "link": [{"@_fa": "true", "@ref": "self", "@href": f"{self.base_url}{request.target}"}],
            "entry": [entry(paper, is_complete=is_complete) for paper in shown]
            or [{"@_fa": "true", "error": "Result set was empty"}],
        }
        if "cursor" in query:
            following = base64.b64encode(str(start + size).encode()).decode()
            results["cursor"] = {"@current": query["cursor"], "@next": following}
        return {"search-results": results}

    def _start(self, query: dict[str, str]) -> int:
        cursor = query.get("cursor")
        if cursor is None:
            return int(query.get("start", 0))
        return 0 if cursor == "*" else int(base64.b64decode(cursor))

    def _found(self, text: str) -> list[Paper]:
        found = list(self.papers)
        for sign, year in re.findall(r"PUBYEAR ([<>]) ([0-9]{4})", text):
            found = within(
                found, *((int(year) + 1, None) if sign == ">" else (None, int(year) - 1))
            )
        if venues := _VENUES.search(text):
            found = [paper for paper in found if paper.venue in re.split(r"\s+OR\s+", venues[1])]
        if words := _WORDS.search(text.partition(" AND PUBYEAR")[0]):
            found = [paper for paper in found if said_by(words[1], paper)]
        return found

    def _headers(self, key: str) -> dict[str, str]:
        return {
            "x-els-apikey": key,
            "x-els-status": "OK" if self.left > 0 else "QUOTA_EXCEEDED - Quota Exceeded",
            "x-ratelimit-limit": "20000",
            "x-ratelimit-remaining": str(max(self.left - 1, 0)),
            "x-ratelimit-reset": str(int((self.clock() + WEEK) * 1000)),
        }


def _error(code: str, words: str) -> dict[str, Any]:
    return {"service-error": {"status": {"statusCode": code, "statusText": words}}}


def entry(paper: Paper, *, is_complete: bool) -> dict[str, Any]:
    """A result as the API gives it; few fields in the view STANDARD."""
    number = 85_000_000_000 + paper.number
    said: dict[str, Any] = {
        "@_fa": "true",
        "link": [
            {"@_fa": "true", "@ref": "self",
             "@href": f"https://api.elsevier.com/content/abstract/scopus_id/{number}"},
            {"@_fa": "true", "@ref": "scopus",
             "@href": f"https://www.scopus.com/inward/record.uri?scp={number}"},
        ],
        "prism:url": f"https://api.elsevier.com/content/abstract/scopus_id/{number}",
        "dc:identifier": f"SCOPUS_ID:{number}",
        "eid": f"2-s2.0-{number}",
        "dc:title": paper.title,
        "dc:creator": paper.authors[0],
        "prism:publicationName": paper.venue,
        "prism:coverDate": f"{paper.year}-05-21",
        "prism:coverDisplayDate": f"21 May {paper.year}",
        "citedby-count": str(paper.number * 2),
        "prism:aggregationType": "Conference Proceeding",
        "subtype": "cp",
        "subtypeDescription": "Conference Paper",
    }  # fmt: skip
    if paper.doi:
        said["prism:doi"] = paper.doi
    if is_complete:
        said["author"] = [
            {"@_fa": "true", "@seq": str(place), "authid": f"{paper.number}{place}",
             "authname": name, "surname": name.split()[-1], "afid": []}
            for place, name in enumerate(paper.authors, 1)
        ]  # fmt: skip
        if paper.abstract:
            said["dc:description"] = paper.abstract
    return said
