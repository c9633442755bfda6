"""Exactly the questions that somebody names, a hundred in a request.

An answer stands for its question. What the site does not give is marked as not found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from faultatlas.miner import tombstones as forgetting
from faultatlas.miner.payload import entry
from faultatlas.miner.posts import naming
from faultatlas.miner.posts.api_rows import numbers_in, questions_of
from faultatlas.miner.posts.fields import filter_for
from faultatlas.miner.sources import PAGE

if TYPE_CHECKING:
    from faultatlas.data.identity import ArtifactId
    from faultatlas.data.study import Reader
    from faultatlas.miner.http import Response
    from faultatlas.miner.posts.ingest import PostIngest
    from faultatlas.miner.posts.selection import PostSelection


def fetch_named(
    ingest: PostIngest, posts: Iterable[ArtifactId], selection: PostSelection, *, only_new: bool
) -> None:
    """Bring these posts of one site into the study; with `only_new`, those it lacks."""
    keys = [it.key for it in posts]
    answers = {int(key[2:]) for key in keys if key.startswith("a/")}
    questions = {int(key) for key in keys if not key.startswith("a/")}
    if ingest.study.exists:
        with ingest.study.writing(keep_log=True) as writer:
            answers -= _numbers(writer, ingest.site, "a/", only_new=only_new)
            known = _numbers(writer, ingest.site, "", only_new=only_new)
    else:
        known = set()
    questions |= _questions_of_answers(ingest, answers)
    _fetch(ingest, sorted(questions - known), selection)


def _questions_of_answers(ingest: PostIngest, answers: set[int]) -> set[int]:
    found: set[int] = set()

    def keep(response: Response, left: list[int]) -> None:
        names = [naming.answer_id(ingest.site, number) for number in left]
        ingest.keep(ingest.exchange(response, {"kind": "answers", "artifacts": names}))
        found.update(questions_of(response.json()).values())

    for some in _hundreds(sorted(answers)):
        _ask(ingest, "answer", some, {}, keep)
    return found


def _fetch(ingest: PostIngest, questions: list[int], selection: PostSelection) -> None:
    if not questions:
        return
    assert ingest.client is not None  # noqa: S101  (nothing is asked without one)
    fields = filter_for(ingest, selection)
    ingest.planned = ingest.client.sent + -(-len(questions) // PAGE)

    def keep(response: Response, left: list[int]) -> None:
        request = {
            "kind": "questions",
            "answers": selection.answers,
            "comments": selection.comments,
            "artifacts": [naming.question_id(ingest.site, number) for number in left],
        }
        ingest.keep(ingest.exchange(response, request))

    for some in _hundreds(questions):
        _ask(ingest, "question", some, {"filter": fields}, keep)


def _ask(
    ingest: PostIngest,
    kind: str,
    numbers: list[int],
    parameters: Mapping[str, str],
    keep: Callable[[Response, list[int]], None],
) -> None:
    """Ask for posts until all are there that the site has.

    A site may give fewer at once than were asked for. The rest is asked for then, not the next
    page: nothing moves from a page to another while they are read.
    """
    assert ingest.client is not None  # noqa: S101  (nothing is asked without one)
    left = numbers
    while left:
        ids = ";".join(map(str, left))
        response = ingest.client.get(
            f"/{kind}s/{ids}",
            {**parameters, "pagesize": PAGE, "site": ingest.site},
            partial(_fault, kind=kind, wanted=frozenset(left)),
        )
        said = response.json()
        keep(response, left)
        there = numbers_in(said, kind)
        left = [each for each in left if each not in there] if entry(said, "has_more") else []


def _fault(said: Mapping[str, Any], kind: str, wanted: frozenset[int]) -> str | None:
    """What makes an answer useless: by it, posts that are there would be marked as gone."""
    there, has_more = numbers_in(said, kind), said.get("has_more")
    if not isinstance(has_more, bool):
        return f"it does not say whether more {kind}s follow"
    if None in there:
        return f"it has {kind}s without a number"
    if has_more and not there & wanted:
        return f"it has none of the {kind}s that were asked for, and says that more follow"
    return None


def _numbers(reader: Reader, site: str, mark: str, *, only_new: bool) -> set[int]:
    """The posts of a site that need not be asked for: forgotten, there, or known to be gone."""
    known = {*forgetting.forgotten(reader).artifacts}
    if only_new:
        rows = reader.rows(
            "WITH whole AS (SELECT artifact_id FROM store.post WHERE body IS NOT NULL) "
            "FROM whole UNION ALL SELECT artifact_id FROM store.departure "
            # An answer of which a file told has not brought its question.
            "UNION ALL SELECT comment_id FROM store.reply "
            "WHERE is_answer AND artifact_id IN (FROM whole)"
        )
        known |= {row["artifact_id"] for row in rows}
    prefix = naming.question_id(site, 0)[:-1] + mark
    keys = {name.removeprefix(prefix) for name in known if name.startswith(prefix)}
    return {int(key) for key in keys if key.isdecimal()}


def _hundreds(numbers: list[int]) -> Iterator[list[int]]:
    for at in range(0, len(numbers), PAGE):
        yield numbers[at : at + PAGE]
