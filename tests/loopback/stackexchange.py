"""A Stack Exchange API 2.3 on this machine: questions with answers and comments, pages, quota.

Errors, `backoff` and the quota stand in the body, as there; bodies are always compressed. Whoever
asks for a method again before its `backoff` is over is refused.
"""

from __future__ import annotations

import gzip
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from loopback.exchange import Refused, Reply, Request, as_json
from loopback.faults import Faults
from loopback.stackexchange_payloads import Question, generated, selected

KEY = "loopback*Key(4the))"  # as odd as real ones
WITHOUT_KEY, WITH_KEY = 300, 10_000
LAST_PAGE_WITHOUT_KEY = 25
_ROOT = re.compile(r"/2\.3(/.*)")
Hook = Callable[[int, Request], object]


@dataclass
class StackExchange:
    """Sites with questions, callers, and what is to go wrong. The first site is the main one."""

    questions: list[Question]
    site: str = "stackoverflow.com"
    others: dict[str, list[Question]] = field(default_factory=dict)  # other sites
    keys: set[str] = field(default_factory=lambda: {KEY})
    left: dict[str | None, int] = field(default_factory=dict)  # of the quota, by key
    page_limit: int = 100
    backoffs: dict[int, int] = field(default_factory=dict)  # request number -> seconds
    clock: Callable[[], float] = time.time
    filters: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.requests: list[Request] = []
        self.errors: list[BaseException] = []  # of the server itself
        self.faults = Faults()
        self.gzip = False  # bodies are compressed here, small ones as well
        self.keeps_log = True
        self.before_response: Hook | None = None
        self.mid_body: Hook | None = None
        self.after_response: Hook | None = None
        self.base_url = ""
        self.lock = threading.RLock()
        self.now = 1 + max((each.active for each in self.questions), default=0)
        self._not_before: dict[str, float] = {}

    @classmethod
    def small(cls, count: int = 12, **options: Any) -> StackExchange:
        """A few made-up questions about tensorflow, keras or both."""
        return cls(list(generated(count)), **options)

    # Happening; each is later than everything before it

    def tick(self, seconds: int = 60) -> int:
        self.now += seconds
        return self.now

    def find(self, number: int) -> Question:
        return next(each for each in self.questions if each.number == number)

    def ask(self, *tags: str) -> int:
        """A new question; its number."""
        number = max((each.number for each in self.questions), default=0) + 10
        at = self.tick()
        self.questions.append(next(generated(1, first=number, at=at, tags=tags)))
        return number

    def edit(self, number: int, **changes: Any) -> None:
        """Change a question's fields, as an edit that bumps it."""
        question = self.find(number)
        question.active = self.tick()
        question.changes |= {"last_edit_date": question.active, **changes}

    def delete(self, number: int) -> None:
        self.questions.remove(self.find(number))

    # Answering

    def answer(self, request: Request) -> Reply:
        with self.lock:
            if self.keeps_log:
                self.requests.append(request)
            fault = self.faults.take(request)

            def go() -> Reply:
                return self._answer(request)

            reply = fault.act(request, self, go) if fault else go()  # type: ignore[arg-type]
            request.status = reply.status
            if reply.headers.get("content-type", "").startswith("application/json"):
                reply.body = gzip.compress(reply.body, 1, mtime=0)
                reply.headers["content-encoding"] = "gzip"
            return reply

    def _answer(self, request: Request) -> Reply:
        found = _ROOT.fullmatch(request.path)
        if found is None:
            return error(404, "no_method", "this method cannot be called")
        key = request.query.get("key")
        if key is not None and key not in self.keys:
            return error(400, "bad_parameter", "`key` doesn't match a known application")
        limit = WITHOUT_KEY if key is None else WITH_KEY
        left = self.left.setdefault(key, limit)
        if left <= 0:
            seconds = 86_400 - int(self.clock()) % 86_400
            words = f"too many requests from this IP, more requests available in {seconds} seconds"
            return error(502, "throttle_violation", words)
        method = re.sub(r"/[0-9;]+(?=/|\Z)", "/{ids}", found[1])
        if self._not_before.get(method, 0) > self.clock():
            return error(502, "throttle_violation", "Violation of backoff parameter")
        self.left[key] = left - 1
        try:
            said = self._said(found[1], request)
        except Refused as refused:
            return refused.reply
        if request.number in self.backoffs:
            said["backoff"] = self.backoffs[request.number]
            self._not_before[method] = self.clock() + self.backoffs[request.number]
        if "total" not in said:
            said |= {"quota_max": limit, "quota_remaining": left - 1}
        return as_json(said)

    def _said(self, method: str, request: Request) -> dict[str, Any]:
        query = request.query
        if method == "/filters/create":
            return self._new_filter(query)
        site, questions = self._site(query.get("site"))
        fields = self._fields(query.get("filter", "default"))
        number = _integer(query.get("page", "1"))
        if number is None or number < 1:
            raise Refused(error(400, "bad_parameter", "page"))
        if number > LAST_PAGE_WITHOUT_KEY and "key" not in query:
            words = "page above 25 requires access token or app key"
            raise Refused(error(403, "access_denied", words))
        items = _items(method, questions, query, site)
        if query.get("filter") == "total":
            return {"total": len(items)}
        size = min(_integer(query.get("pagesize", "30")) or 30, self.page_limit)
        shown = items[(number - 1) * size : number * size]
        return {
            "items": [selected(kind, item, fields) for kind, item in shown],
            "has_more": len(items) > number * size,
        }

    def _site(self, name: str | None) -> tuple[str, list[Question]]:
        if name is None:
            raise Refused(error(400, "bad_parameter", "site is required"))
        for host, questions in {self.site: self.questions, **self.others}.items():
            if name in (host, host.partition(".")[0]):
                return host, questions
        raise Refused(error(400, "bad_parameter", f"No site found for name `{name}`"))

    def _new_filter(self, query: dict[str, str]) -> dict[str, Any]:
        included = set(query.get("include", "").split(";"))
        if query.get("base", "default") != "none":
            included |= DEFAULT
        name = f"!made{len(self.filters) + 1}~_("
        for known, fields in self.filters.items():
            name = known if fields == included else name
        self.filters[name] = included
        made = {"filter": name, "filter_type": "safe", "included_fields": sorted(included)}
        return {"items": [made], "has_more": False}

    def _fields(self, name: str) -> set[str]:
        if name in ("default", "total"):
            return DEFAULT
        if name == "withbody":
            return DEFAULT | {"question.body", "answer.body", "comment.body"}
        if name not in self.filters:
            raise Refused(error(400, "bad_parameter", "Invalid filter specified"))
        return self.filters[name]


DEFAULT = {
    f"{kind}.{name}"
    for kind, names in {
        "question": "accepted_answer_id answer_count closed_date content_license creation_date "
        "last_activity_date last_edit_date link owner question_id score tags title view_count",
        "answer": "answer_id content_license creation_date is_accepted last_activity_date "
        "last_edit_date owner question_id score",
        "comment": "comment_id content_license creation_date edited owner post_id score",
        "shallow_user": "display_name link profile_image reputation user_id user_type",
    }.items()
    for name in names.split()
}


def _items(
    method: str, questions: list[Question], query: dict[str, str], site: str
) -> list[tuple[str, dict[str, Any]]]:
    """Everything that a method gives, sorted; of all pages."""
    match = re.fullmatch(r"/(questions|answers)(?:/([0-9;]+)(?:/(answers|comments))?)?", method)
    if match is None or (match[1] == "answers" and not match[2]):
        raise Refused(error(404, "no_method", "this method cannot be called"))
    ids = [int(each) for each in (match[2] or "").split(";") if each]
    if len(ids) > 100:
        raise Refused(error(400, "bad_parameter", "ids"))
    pages = [each.payload(site) for each in questions]
    tags = [tag for tag in query.get("tagged", "").split(";") if tag]
    found: Iterable[tuple[str, dict[str, Any]]]
    if match[1] == "answers":
        found = [("answer", a) for q in pages for a in q["answers"] if a["answer_id"] in ids]
    else:
        found = [
            ("question", q)
            for q in pages
            if (not ids or q["question_id"] in ids) and all(tag in q["tags"] for tag in tags)
        ]
    if match[3]:
        kind = match[3].removesuffix("s")
        found = [(kind, inner) for _kind, item in found for inner in item.get(match[3], ())]
    by = {"creation": "creation_date", "votes": "score"}.get(
        query.get("sort", "activity"), "last_activity_date"
    )
    kept = [(kind, item) for kind, item in found if _is_between(item, by, query)]
    descending = query.get("order", "desc") == "desc"
    return sorted(kept, key=lambda pair: pair[1].get(by, 0), reverse=descending)


def _is_between(item: dict[str, Any], by: str, query: dict[str, str]) -> bool:
    bounds = (
        (by, "min", "max"),
        ("creation_date", "fromdate", "todate"),
    )
    return all(
        (low not in query or item.get(name, 0) >= int(query[low]))
        and (high not in query or item.get(name, 0) <= int(query[high]))
        for name, low, high in bounds
    )


def _integer(text: str) -> int | None:
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None


def error(number: int, name: str, message: str) -> Reply:
    """An error as the API words it: the status is 400 whatever the number."""
    return as_json({"error_id": number, "error_name": name, "error_message": message}, 400)
