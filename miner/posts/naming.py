"""Names of sites, questions, answers and comments, the same whoever tells of them."""

from __future__ import annotations

import re
from datetime import datetime

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import ArtifactId, shown

STACK_OVERFLOW = "stackoverflow.com"
_NETS = {"mathoverflow": "mathoverflow.net"}
_COMS = frozenset({"stackoverflow", "superuser", "serverfault", "askubuntu", "stackapps"})
_SHORT = re.compile(r"[a-z0-9-]+(?:\.meta)?")


def site_of(text: str) -> str:
    """The host of a site: `datascience`, `datascience.stackexchange.com` or its address."""
    name = text.strip().lower()
    name = re.sub(r"\Ahttps?://", "", name).partition("/")[0].removeprefix("www.")
    if name in _COMS:
        name = f"{name}.com"
    elif name in _NETS:
        name = _NETS[name]
    elif _SHORT.fullmatch(name):
        name = f"{name}.stackexchange.com"
    try:
        return ArtifactId("stackoverflow", name, "", "1").host
    except StudyError:
        raise StudyError(
            f"{shown(text)} is no site of Stack Exchange",
            "Write its host or its short name: stackoverflow.com, datascience.",
        ) from None


def project_of_site(site: str) -> str:
    """What stands for a site among projects: `stackoverflow:stackoverflow.com`."""
    return f"stackoverflow:{site}"


def question_id(site: str, number: int) -> str:
    """`stackoverflow:47267612`; the host comes first where it is another site."""
    return f"{_prefix(site)}{number}"


def answer_id(site: str, number: int) -> str:
    """`stackoverflow:a/47267613`."""
    return f"{_prefix(site)}a/{number}"


def comment_id(site: str, number: int) -> str:
    """`stackoverflow:comment/60495069`."""
    return f"{_prefix(site)}comment/{number}"


def question_url(site: str, number: int) -> str:
    """The page of a question."""
    return f"https://{site}/questions/{number}"


def answer_url(site: str, number: int) -> str:
    """The place of an answer on its question's page."""
    return f"https://{site}/a/{number}"


def comment_url(site: str, number: int) -> str:
    """The place of a comment, which the site redirects to."""
    return f"https://{site}/posts/comments/{number}"


def to_the_second(value: datetime | None) -> datetime | None:
    """A time as all sources tell it: dumps have milliseconds, the API has none."""
    return None if value is None else value.replace(microsecond=0)


def _prefix(site: str) -> str:
    return "stackoverflow:" if site == STACK_OVERFLOW else f"stackoverflow:{site}/"
