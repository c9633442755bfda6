"""OpenAlex: works by the words of title and abstract.

Since February 2026 a key is wanted (free of charge); `mailto` is ignored. Without one there is a
small budget a day, and a list is read by page numbers, which end at 10,000 results. A page has at
most 100 works. `X-RateLimit-Reset` counts seconds from now.
(developers.openalex.org: guides/page-through-results, api-reference/authentication.)
"""

from __future__ import annotations

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
from faultatlas.miner.payload import entries, entry, integer, text
from faultatlas.miner.tokens import Wanted

PAGE = 100
MOST_BY_PAGES = 10_000
_FIELDS = (
    "id,doi,display_name,publication_year,type,authorships,primary_location,"
    "abstract_inverted_index,cited_by_count"
)
_LONGEST_ABSTRACT = 5_000  # words


class OpenAlex:
    """The API of openalex.org."""

    name: Wanted = "openalex"
    title = "OpenAlex"
    api = "https://api.openalex.org"
    key_header = ""
    key_parameter = "api_key"
    kind = "openalex works"
    longest_wait_s = 86_400.0  # the budget is for a day

    def query(self, text: str, since: int | None, until: int | None) -> Query:
        """The words as a filter; commas and bars separate filters there."""
        words = " ".join(text.replace(",", " ").replace("|", " ").split())
        return Query(f"title_and_abstract.search:{words}{_years(since, until)}")

    def manners(self, *, has_key: bool) -> Sequence[Manner]:
        """Cursors are for those who have a key."""
        if has_key:
            return [Manner("cursor", {"cursor": "*"})]
        return [Manner("pages", {"page": "1"}, MOST_BY_PAGES)]

    def first_url(self, query: Query, manner: Manner) -> str:
        """The first page of works."""
        given = {"filter": query.text, "per_page": str(PAGE), "select": _FIELDS}
        return f"/works?{urlencode(sorted({**given, **manner.parameters}.items()))}"

    def page(self, said: Any, url: str) -> Page | None:
        """Works, and where to go on: the next cursor or page."""
        results = entry(said, "results")
        if not isinstance(results, list) or not isinstance(entry(said, "meta"), Mapping):
            return None
        items = list(entries(results))
        total = integer(entry(said, "meta", "count"))
        if total is None:  # without it nobody knows where pages end
            return None
        path, _, asked = url.partition("?")
        given = dict(parse_qsl(asked))
        if "cursor" in given:
            following = text(entry(said, "meta", "next_cursor"))
            given["cursor"] = following or ""
            return Page(items, total, _joined(path, given) if following and items else None)
        number = int(given["page"]) if given.get("page", "").isdecimal() else 1
        reached = number * PAGE
        given["page"] = str(number + 1)
        is_more = bool(items) and reached < min(total, MOST_BY_PAGES)
        return Page(items, total, _joined(path, given) if is_more else None)

    def entries(self, items: Sequence[Mapping[str, Any]]) -> list[Entry | None]:
        """Works; one without a title is none."""
        return [_entry(item) for item in items]

    def error_words(self, said: Any) -> str:
        """`message` tells more than `error`."""
        words = text(entry(said, "message")) or text(entry(said, "error")) or ""
        return " ".join(words.split())[:300]

    def is_not_allowed(self, status: int, words: str) -> bool:  # noqa: ARG002  (as of every index)
        """There is no other manner."""
        return False

    def refusal(self, status: int, words: str, *, key_name: str, has_key: bool) -> tuple[str, str]:
        """Why it refuses, and the next step."""
        if status in {401, 403} and has_key:
            return (
                f'OpenAlex refuses the key in {key_name} ("{words}")',
                "Copy it again from openalex.org/settings/api.",
            )
        if status in {401, 403}:
            return (
                f'OpenAlex wants a key ("{words}")',
                f"Get one at openalex.org/settings/api, it is free, and set {key_name}.",
            )
        return (
            f'OpenAlex does not take the query (status {status}: "{words}")',
            "Words, AND, OR, NOT, parentheses and quotation marks are understood.",
        )

    def seconds_to_reset(self, header: float, now_s: float) -> float:  # noqa: ARG002  (the same)
        """They count from now."""
        return header


def abstract_text(index: Any) -> str:
    """The text of an inverted index: every word with the places where it stands."""
    if not isinstance(index, Mapping):
        return ""
    places: dict[int, str] = {}
    for word, found in index.items():
        for place in found if isinstance(found, list) else ():
            if isinstance(place, int) and 0 <= place < _LONGEST_ABSTRACT:
                places[place] = str(word)
    return " ".join(places[place] for place in sorted(places))


def _entry(item: Mapping[str, Any]) -> Entry | None:
    title = title_of(item.get("display_name") or item.get("title"))
    key = (text(item.get("id")) or "").rpartition("/")[2]
    if not key or not title_key(title):
        return None
    place = item.get("primary_location")
    names = [
        entry(each, "author", "display_name") or each.get("raw_author_name")
        for each in entries(item.get("authorships"))
    ]
    return Entry(
        key=key[:60],
        title=title,
        year=year_of(item.get("publication_year")),
        venue=words_of(entry(place, "source", "display_name"))
        or words_of(entry(place, "raw_source_name")),
        doi=doi_of(item.get("doi")),
        authors=authors_of(names),
        abstract=abstract_of(abstract_text(item.get("abstract_inverted_index"))),
        publication_type=words_of(item.get("type")),
        url=address_of(entry(place, "landing_page_url")) or address_of(item.get("id")),
        cited_by=integer(item.get("cited_by_count")),
    )


def _years(since: int | None, until: int | None) -> str:
    if since is None and until is None:
        return ""
    if since is None:
        return f",publication_year:<{(until or 0) + 1}"
    return f",publication_year:{f'>{since - 1}' if until is None else f'{since}-{until}'}"


def _joined(path: str, given: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(sorted(given.items()))}"


SERVICE = OpenAlex()
