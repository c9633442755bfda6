"""Exactly the questions that somebody names, a hundred in a request.

An answer stands for its question. What the site does not give is marked as not found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from miner import tombstones as forgetting
from miner.posts import naming
from miner.posts.api_rows import questions_of
from miner.posts.fields import filter_for
from miner.sources import PAGE

if TYPE_CHECKING:
    from data.identity import ArtifactId
    from data.store import Reader
    from miner.posts.ingest import PostIngest
    from miner.posts.selection import PostSelection


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
    assert ingest.client is not None  # noqa: S101  (nothing is asked without one)
    for some in _hundreds(sorted(answers)):
        ids = ";".join(map(str, some))
        response = ingest.client.get(f"/answers/{ids}", {"pagesize": PAGE, "site": ingest.site})
        names = [naming.answer_id(ingest.site, number) for number in some]
        ingest.keep(ingest.exchange(response, {"kind": "answers", "artifacts": names}))
        found.update(questions_of(response.json()).values())
    return found


def _fetch(ingest: PostIngest, questions: list[int], selection: PostSelection) -> None:
    if not questions:
        return
    assert ingest.client is not None  # noqa: S101  (nothing is asked without one)
    fields = filter_for(ingest, selection)
    ingest.planned = ingest.client.sent + -(-len(questions) // PAGE)
    for some in _hundreds(questions):
        ids = ";".join(map(str, some))
        response = ingest.client.get(
            f"/questions/{ids}", {"filter": fields, "pagesize": PAGE, "site": ingest.site}
        )
        request = {
            "kind": "questions",
            "answers": selection.answers,
            "comments": selection.comments,
            "artifacts": [naming.question_id(ingest.site, number) for number in some],
        }
        ingest.keep(ingest.exchange(response, request))


def _numbers(reader: Reader, site: str, mark: str, *, only_new: bool) -> set[int]:
    """The posts of a site that need not be asked for: forgotten, there, or known to be gone."""
    known = {*forgetting.forgotten(reader).artifacts}
    if only_new:
        rows = reader.rows(
            "SELECT artifact_id FROM store.post WHERE body IS NOT NULL "
            "UNION ALL SELECT artifact_id FROM store.departure "
            "UNION ALL SELECT comment_id FROM store.reply WHERE is_answer"
        )
        known |= {row["artifact_id"] for row in rows}
    prefix = naming.question_id(site, 0)[:-1] + mark
    keys = {name.removeprefix(prefix) for name in known if name.startswith(prefix)}
    return {int(key) for key in keys if key.isdecimal()}


def _hundreds(numbers: list[int]) -> Iterator[list[int]]:
    for at in range(0, len(numbers), PAGE):
        yield numbers[at : at + PAGE]
