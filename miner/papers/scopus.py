"""Scopus: the Search API of Elsevier, with a key.

Subscribers get abstracts and all authors (view COMPLETE) and a cursor without end. Other keys get
the view STANDARD, without abstracts and with the first author only, and the first 5,000 results.
A page has 25. An empty result is one entry with an `error`. `X-RateLimit-Reset` is a moment, in
seconds or milliseconds; the quota is for a week.
(dev.elsevier.com: ScopusSearchAPI.wadl, api_key_settings.)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

from faultatlas.data.identity import title_key
from faultatlas.miner.papers.entries import (
    Entry,
    abstract_of,
    address_of,
    authors_of,
    doi_of,
    title_of,
    words_of,
    year_of,
)
from faultatlas.miner.papers.service import Manner, Page, Query
from faultatlas.miner.payload import entries, entry, text
from faultatlas.miner.tokens import Wanted

PAGE = 25
MOST_BY_PAGES = 5_000
_PATH = "/content/search/scopus"
_FIELD = re.compile(r"\b[A-Z][A-Z-]{2,}\s*\(")  # TITLE-ABS-KEY(, CONF(, ...
_RESTRICTED = re.compile(r"not authorized|restricted|entitle|insufficient privil", re.IGNORECASE)
_BARE = "no abstracts, and of the authors the first only"
_MILLISECONDS = 1e11


class Scopus:
    """The API of api.elsevier.com."""

    name: Wanted = "scopus"
    title = "Scopus"
    api = "https://api.elsevier.com"
    key_header = "X-ELS-APIKey"
    key_parameter = ""
    kind = "scopus search"
    longest_wait_s = 7 * 86_400.0

    def query(self, text: str, since: int | None, until: int | None) -> Query:
        """Words without a field are looked for in titles, abstracts and keywords."""
        words = " ".join(text.split())
        if not _FIELD.search(words):
            words = f"TITLE-ABS-KEY({words})"
        years = [f"PUBYEAR > {since - 1}"] if since is not None else []
        years += [f"PUBYEAR < {until + 1}"] if until is not None else []
        return Query(" AND ".join([f"({words})" if years else words, *years]))

    def manners(self, *, has_key: bool) -> Sequence[Manner]:  # noqa: ARG002  (there must be one)
        """What subscribers may, then what everybody may."""
        return [
            Manner("complete", {"view": "COMPLETE", "cursor": "*"}),
            Manner("standard by cursor", {"view": "STANDARD", "cursor": "*"}, None, _BARE),
            Manner("standard", {"view": "STANDARD", "start": "0"}, MOST_BY_PAGES, _BARE),
        ]

    def first_url(self, query: Query, manner: Manner) -> str:
        """The first page of results."""
        given = {"query": query.text, "count": str(PAGE), **manner.parameters}
        return f"{_PATH}?{urlencode(sorted(given.items()))}"

    def page(self, said: Any, url: str) -> Page | None:
        """Results, and where to go on: the next cursor or start."""
        results = entry(said, "search-results")
        if not isinstance(entry(results, "entry"), list):
            return None
        items = [item for item in entries(results["entry"]) if "error" not in item]
        number = str(results.get("opensearch:totalResults"))
        if not re.fullmatch(r"[0-9]{1,9}", number):  # without it nobody knows where pages end
            return None
        total = int(number)
        given = dict(parse_qsl(url.partition("?")[2]))
        if "cursor" in given:
            following = text(entry(results, "cursor", "@next"))
            is_more = bool(items and following)
            given["cursor"] = following or ""
        else:
            start = int(given["start"]) if given.get("start", "").isdecimal() else 0
            following = str(start + PAGE)
            given["start"] = following
            is_more = bool(items) and start + PAGE < min(total, MOST_BY_PAGES)
        url = f"{_PATH}?{urlencode(sorted(given.items()))}"
        return Page(items, total, url if is_more else None)

    def entries(self, items: Sequence[Mapping[str, Any]]) -> list[Entry | None]:
        """Results; one without a title is none."""
        return [_entry(item) for item in items]

    def error_words(self, said: Any) -> str:
        """Elsevier has two ways to tell an error."""
        words = (
            text(entry(said, "service-error", "status", "statusText"))
            or text(entry(said, "error-response", "error-message"))
            or ""
        )
        return " ".join(words.split())[:300]

    def is_not_allowed(self, status: int, words: str) -> bool:
        """A view or a cursor that the key does not include."""
        return status in {401, 403} and bool(_RESTRICTED.search(words))

    def refusal(self, status: int, words: str, *, key_name: str, has_key: bool) -> tuple[str, str]:  # noqa: ARG002  (there is one)
        """Why it refuses, and the next step."""
        if self.is_not_allowed(status, words):
            return (
                f'Scopus: the key in {key_name} does not include what was asked for ("{words}")',
                "Most keys include it only in the network of the institution that subscribes.",
            )
        if status in {401, 403}:
            return (
                f'Scopus refuses the key in {key_name} ("{words}")',
                "Copy it again from dev.elsevier.com; most work only in the subscriber's network.",
            )
        return (
            f'Scopus does not take the query (status {status}: "{words}")',
            "Try it at scopus.com under Advanced search: the same language is understood here.",
        )

    def seconds_to_reset(self, header: float, now_s: float) -> float:
        """A moment, in seconds or milliseconds."""
        return (header / 1000 if header >= _MILLISECONDS else header) - now_s


def _entry(item: Mapping[str, Any]) -> Entry | None:
    title = title_of(item.get("dc:title"))
    key = text(item.get("eid")) or (text(item.get("dc:identifier")) or "").rpartition(":")[2]
    if not key or not title_key(title):
        return None
    people: list[Any] = [each.get("authname") for each in entries(item.get("author"))]
    number = str(item.get("citedby-count") or "")
    pages = {
        each.get("@ref"): each.get("@href") for each in entries(item.get("link")) if "@ref" in each
    }
    return Entry(
        key=key[:60],
        title=title,
        year=year_of(item.get("prism:coverDate")) or year_of(item.get("prism:coverDisplayDate")),
        venue=words_of(item.get("prism:publicationName")),
        doi=doi_of(item.get("prism:doi")),
        authors=authors_of(people or [item.get("dc:creator")]),
        abstract=abstract_of(item.get("dc:description")),
        publication_type=words_of(item.get("subtypeDescription")),
        url=address_of(pages.get("scopus")),
        cited_by=int(number) if re.fullmatch(r"[0-9]{1,7}", number) else None,
    )


SERVICE = Scopus()
