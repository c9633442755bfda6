"""Tasks: the data that a labelling page is filled with."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from faultatlas.annotation.bridge.page.cleaning import escaped, web_address
from faultatlas.annotation.bridge.page.rendering import (
    BODY_LIMIT,
    REPLY_LIMIT,
    changes,
    cut,
    link,
    markdown,
    plain,
    post,
    rendered,
)
from faultatlas.annotation.bridge.page.texts import ArtifactText, ChangedFile, Reply
from faultatlas.annotation.labels import SPECIAL
from faultatlas.data.taxonomy import Taxonomy

REPLIES_LIMIT = 200_000  # characters of all comments; later ones are cut short
CHANGES_LIMIT = 60_000  # of all changes; files behind that stand without theirs
_START = 90  # characters of a comment in its heading
_SHORT = 300  # what is left of a comment then
_KINDS = {"issue": "Issue", "pull": "Pull request", "commit": "Commit", "post": "Question",
          "paper": "Paper"}  # fmt: skip
_MARKS = re.compile(r"</?[a-z][^<>]*+>|[`*#>|]++")  # left out where only the beginning is shown


@dataclass(frozen=True, slots=True)
class Said:
    """What one rater said before, without the rater."""

    codes: tuple[str, ...]
    confidence: float | None = None
    comment: str | None = None
    proposed: str | None = None


@dataclass(frozen=True, slots=True)
class Suggested:
    """A code that a model proposes."""

    code: str
    probability: float


def task_data(
    item_id: str,
    text: ArtifactText,
    taxonomy: Taxonomy,
    *,
    said: Sequence[Said] = (),
    suggested: Sequence[Suggested] = (),
) -> dict[str, str]:
    """The data of a task. `said` and `suggested` are shown only by a page that was made for it."""
    return {
        "item_id": item_id,
        "artifact_id": text.artifact_id,
        "title": _title(text),
        "url": (web_address(text.url) if text.url else None) or "",
        "html": artifact_html(text),
        "said": said_html(said, taxonomy),
        "suggested": suggested_html(suggested, taxonomy),
    }


def content_hash(data: Mapping[str, object]) -> str:
    """What tells whether a task is to be made again, or was changed on the server."""
    return hashlib.sha256(json.dumps(dict(data), sort_keys=True).encode()).hexdigest()[:16]


def artifact_html(text: ArtifactText) -> str:
    """An artifact with everything that the study has of it."""
    made = f'<h2 class="fa-title">{escaped(_title(text))}</h2>{_about(text)}'
    if text.kind is None:
        why = f" (it is gone: {text.gone_reason})" if text.gone_reason else ""
        return made + f'<p class="fa-note">{escaped(f"The study has no text of it{why}.")}</p>'
    if not text.body.strip():
        made += '<p class="fa-note">It has no text.</p>'
    elif text.kind in ("commit", "paper"):  # no markup
        made += rendered(plain, text.body, text.url, BODY_LIMIT)
    else:
        render = post if text.kind == "post" else markdown
        made += f'<div class="fa-body">{rendered(render, text.body, text.url, BODY_LIMIT)}</div>'
    return made + _files(text) + _replies(text)


def said_html(said: Sequence[Said], taxonomy: Taxonomy) -> str:
    """What raters said, in an order that tells nothing about who."""
    lines = sorted(_said_line(one, taxonomy) for one in said)
    if not lines:
        return ""
    return "<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"


def suggested_html(suggested: Sequence[Suggested], taxonomy: Taxonomy) -> str:
    """What a model proposes, most likely first."""
    if not suggested:
        return ""
    ordered = sorted(suggested, key=lambda one: (-one.probability, one.code))
    return (
        "<ol>"
        + "".join(
            f"<li>{_code_name(one.code, taxonomy)} ({100 * one.probability:.0f} %)</li>"
            for one in ordered
        )
        + "</ol>"
    )


def _title(text: ArtifactText) -> str:
    return " ".join(text.title.split())[:300] or text.artifact_id


def _about(text: ArtifactText) -> str:
    parts = [escaped(_KINDS.get(text.kind or "", text.kind or ""))]
    parts += [escaped(part) for part in (text.project, _date(text.created_at), text.state) if part]
    if text.gone_reason and text.kind:
        parts.append(escaped(f"gone: {text.gone_reason}"))
    address = web_address(text.url) if text.url else None
    parts.append(
        link(address, f"open {text.artifact_id} ↗") if address else escaped(text.artifact_id)
    )
    made = f'<p class="fa-about">{" · ".join(part for part in parts if part)}</p>'
    if text.tags:
        tags = "".join(f'<span class="fa-tag">{escaped(tag[:80])}</span>' for tag in text.tags[:40])
        made += f'<p class="fa-about">{tags}</p>'
    return made


def _date(when: datetime | None) -> str:
    return f"{when:%Y-%m-%d}" if when else ""


def _replies(text: ArtifactText) -> str:
    if not text.replies:
        return ""
    is_post = text.kind == "post"
    render = post if is_post else markdown
    count = len(text.replies) + text.replies_left_out
    called = ("answer or comment", "answers and comments") if is_post else ("comment", "comments")
    made = f'<h3 class="fa-replies">{count} {called[count != 1]}</h3>'
    room = REPLIES_LIMIT
    gap = _gap(text)
    for place, reply in enumerate(text.replies):
        if place == gap:
            made += f'<p class="fa-note">{text.replies_left_out} are left out here; '
            made += f"{link(text.url, 'read them at the origin')}.</p>"
        limit = REPLY_LIMIT if room > 0 else _SHORT
        room -= min(reply.size, limit)
        body = rendered(render, reply.body, text.url, limit, reply.size)
        made += f"<details><summary>{_heading(reply)}</summary>{body}</details>"
    return made


def _gap(text: ArtifactText) -> int:
    from faultatlas.annotation.bridge.page.texts import FIRST_REPLIES

    return FIRST_REPLIES if text.replies_left_out else -1


def _heading(reply: Reply) -> str:
    accepted = " (accepted)" if reply.is_accepted else ""
    kind = f"answer{accepted} by " if reply.is_answer else ""
    start = " ".join(_MARKS.sub(" ", reply.body[:600]).split())
    start = start if len(start) <= _START else f"{start[:_START].rpartition(' ')[0]} …"
    parts = (_date(reply.created_at), f"{kind}{reply.role}")
    head = " · ".join(part for part in parts if part)
    return f'{escaped(head)} <span class="fa-start">{escaped(start)}</span>'


def _files(text: ArtifactText) -> str:
    if not text.files:
        return ""
    count = len(text.files) + text.files_left_out
    made = f'<h3 class="fa-replies">{count} changed file{"s" if count != 1 else ""}</h3>'
    room = CHANGES_LIMIT
    for file in text.files:
        made += _file(file, text.url, room)
        room -= file.size
    if text.files_left_out:
        made += f'<p class="fa-note">{text.files_left_out} more; '
        made += f"{link(text.url, 'see them at the origin')}.</p>"
    return made


def _file(file: ChangedFile, origin: str | None, room: int) -> str:
    was = f" (was {file.old_path})" if file.old_path and file.old_path != file.path else ""
    counts = "binary" if file.added is None else f"+{file.added} -{file.deleted}"
    name = f"{escaped(file.path + was)} · {escaped(file.change)} · {counts}"
    if not file.changes or room <= 0:
        return f'<p class="fa-file">{name}</p>'
    passage = cut(file.changes, min(room, 20_000), max(file.size, len(file.changes)))
    more = ""
    if passage.left_out:
        more = f'<p class="fa-note">The rest: {link(origin, "at the origin")}.</p>'
    return f"<details><summary>{name}</summary>{changes(passage.text)}{more}</details>"


def _said_line(said: Said, taxonomy: Taxonomy) -> str:
    codes = ", ".join(_code_name(code, taxonomy) for code in sorted(said.codes)) or "nothing"
    more = []
    if said.confidence is not None:
        more.append(f"confidence {said.confidence:g}")
    if said.proposed:
        more.append(f"proposes: {escaped(said.proposed)}")
    if said.comment:
        more.append(f"“{escaped(said.comment)}”")
    return codes + (f' <span class="fa-start">{" · ".join(more)}</span>' if more else "")


def _code_name(code: str, taxonomy: Taxonomy) -> str:
    if code in SPECIAL:
        return f"<b>{escaped(SPECIAL[code])}</b>"
    name = taxonomy.node(code).name if code in taxonomy else ""
    return f"<b>{escaped(code)}</b> {escaped(name)}".strip()
