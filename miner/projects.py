"""What PROJECT on a command line means: an alias, `owner/name`, or a URL.

The aliases stand in `projects.csv`, with the labels that a published study used for defects of
high priority (`cited`: the study's id in `data/evidence/sources.csv` and the place), as the
paper prints them, and our reading of them. A project for which no study says so has none.
"""

from __future__ import annotations

import csv
import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Literal, cast
from urllib.parse import urlsplit

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import ArtifactId, project_of, shown, split_project
from faultatlas.data.old.results import Column, Table

Source = Literal["github", "gitee"]

_HOSTS: dict[Source, str] = {"github": "github.com", "gitee": "gitee.com"}
_APIS: dict[Source, str] = {"github": "https://api.github.com", "gitee": "https://gitee.com/api/v5"}
_LOOPBACK = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|::1")
_LEVELS = {3: "Main", 4: "Serious"}  # of Gitee's field `priority`: 主要, 严重
_VARIABLE = "GITHUB_API_URL"
_API_HINT = "Write it like https://git.example.org/api/v3 (GitHub) or .../api/v5 (Gitee)."


@dataclass(frozen=True)
class Project:
    """A tracker: where it is, and how its defects of high priority are marked, where known.

    They carry all of `priority_labels` (one of them is enough with `priority_any`), and one of
    `priority_levels`, if there are any: numbers of Gitee's field `priority`.
    """

    source: Source
    host: str
    name: str  # owner/name in lower case, as in ids
    api_url: str
    alias: str | None = None
    priority_labels: tuple[str, ...] = ()
    priority_any: bool = False
    priority_levels: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """`github:pytorch/pytorch`: what an id of its issues begins with, before the `#`."""
        return str(self._issue).rpartition("#")[0]

    @property
    def repository(self) -> str:
        """The name in the column `project`, as `faultatlas.data.identity.project_of` writes it."""
        return self._issue.repository

    @property
    def is_public(self) -> bool:
        """Whether it is on github.com or gitee.com."""
        return self.host in _HOSTS.values()

    @property
    def _issue(self) -> ArtifactId:
        return ArtifactId(self.source, self.host, self.name, "1")


@dataclass(frozen=True)
class _Known:
    project: Project
    spelled: str
    former_names: tuple[str, ...]
    labels_in_paper: tuple[str, ...]
    cited: str
    reading: str


@cache
def _known() -> dict[str, _Known]:
    text = files("faultatlas.miner").joinpath("projects.csv").read_text(encoding="utf-8")
    return {row["alias"]: _row(row) for row in csv.DictReader(text.splitlines())}


def _row(row: dict[str, str]) -> _Known:
    source = cast("Source", row["source"])
    project = Project(
        source=source,
        host=_HOSTS[source],
        name=row["repository"].lower(),
        api_url=_APIS[source],
        alias=row["alias"],
        priority_labels=_list(row["labels"]),
        priority_any=row["combine"] == "any",
        priority_levels=tuple(map(int, _list(row["levels"]))),
    )
    return _Known(
        project, row["repository"], _list(row["former_names"]), _list(row["labels_in_paper"]),
        row["cited"], row["reading"],
    )  # fmt: skip


def _list(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split(";") if part.strip())


def find(text: str, api_url: str | None = None) -> Project:
    """The project that `text` names; see `data.identity.project_of` for what it may look like.

    A host that is neither github.com nor gitee.com needs `api_url`, which also says what it
    runs. An API on this machine stands for the public one: ids do not change with it.
    """
    api = _api(api_url) if api_url is not None else None
    name = text.strip().lower()
    if name in _known():
        return _placed(_known()[name].project, api, text)
    if not re.search("[/:@]", name):
        raise _unknown(text)
    host, project = split_project(project_of(text, hosts(api_url)), "git")
    if api and host == _HOSTS["github"] and not _names_github(text):
        host = api.host or _HOSTS[api.source or "github"]
    return _placed(_at(text, host, project, api), api, text)


def find_usual(text: str, api_url: str | None, environment: Mapping[str, str]) -> Project:
    """`find`, where GITHUB_API_URL says which GitHub is meant unless `api_url` does.

    It says where `owner/name` is, and who answers for github.com if that is this machine. What
    names another server by itself stays there: an alias, a URL, Gitee.
    """
    usual = usual_api(environment)
    if api_url is not None or usual is None:
        return find(text, api_url)
    try:
        named = find(text)
    except StudyError:  # a host that only the variable explains
        return find(text, usual)
    host = _api(usual).host
    may_move = host is None or not (text.strip().lower() in _known() or _names_github(text))
    is_there = host == named.host or (named.host == _HOSTS["github"] and may_move)
    return find(text, usual) if named.source == "github" and is_there else named


def usual_api(environment: Mapping[str, str]) -> str | None:
    """The address in GITHUB_API_URL, which programs of GitHub know too, if there is one."""
    address = environment.get(_VARIABLE, "").strip()
    if not address:
        return None
    try:
        api = _api(address)
    except StudyError as error:
        raise StudyError(f"{_VARIABLE}: {error.message}", error.hint) from None
    if api.source == "gitee":
        raise StudyError(
            f"{_VARIABLE} is {shown(address)}, an address of Gitee",
            "Name a Gitee server with --api-url.",
        )
    return api.url


def hosts(api_url: str | None) -> dict[str, str]:
    """What the private host of an API runs, as `faultatlas.data.identity.parse` takes it."""
    api = _api(api_url) if api_url is not None else None
    return {api.host: api.source} if api and api.host and api.source else {}


def is_this_machine(host: str) -> bool:
    """Whether nobody is on the way to a host."""
    return _LOOPBACK.fullmatch(host) is not None


def refuse_plain_http(api_url: str) -> None:
    """Refuse an address to which a token would travel readable for everybody on the way.

    For a caller that has a token; on this machine nobody is on the way.
    """
    try:
        parts = urlsplit(api_url)
    except ValueError:  # https://[x: who asks it says that it is no address
        return
    if parts.scheme != "https" and not is_this_machine(parts.hostname or ""):
        raise StudyError(
            f"{shown(api_url)} is plain http: the token could be read on the way",
            "Write https:// in --api-url, or go without a token.",
        )


def names_of_aliases() -> dict[str, tuple[str, ...]]:
    """Every alias with the names of its repository, former ones too, as in ids."""
    return {
        alias: (each.project.repository, *(former.lower() for former in each.former_names))
        for alias, each in _known().items()
    }


def aliases_of_study(study: str) -> tuple[str, ...]:
    """The projects whose defects a published study (its id in `sources.csv`) selected."""
    return tuple(alias for alias, each in _known().items() if each.cited.split()[:1] == [study])


def aliases_table() -> Table:
    """The aliases, for `miner projects`."""
    columns = (
        Column("alias", "Alias", "code"),
        Column("source", "Source"),
        Column("repository", "Repository", "code"),
        Column("high_priority", "High priority"),
        Column("labels_in_paper", "Labels in the paper", aside=True),
        Column("cited", "Cited", aside=True),
        Column("reading", "Reading", aside=True),
        Column("former_names", "Former names", aside=True),
    )
    rows = tuple(
        (
            alias,
            each.project.source,
            each.spelled,
            _in_words(each.project) or None,
            "; ".join(each.labels_in_paper) or None,
            each.cited or None,
            each.reading or None,
            "; ".join(each.former_names) or None,
        )
        for alias, each in _known().items()
    )
    note = "High priority: as a published study selected it (-v shows which). Others: owner/name."
    return Table("projects", "Known projects", columns, rows, note)


def _in_words(project: Project) -> str:
    labels = (" or " if project.priority_any else " and ").join(project.priority_labels)
    levels = " or ".join(_LEVELS[level] for level in project.priority_levels)
    return f"{labels}, priority {levels}" if levels else labels


@dataclass(frozen=True)
class _Api:
    url: str
    host: str | None  # of the tracker; None for this machine
    source: Source | None  # what it runs; None where the address does not tell


def _api(url: str) -> _Api:
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError:  # a port that is none, half an IPv6 address
        host = port = None
    plain = host and not (parts.query or parts.fragment or parts.username or parts.password)
    if not plain or not host or parts.scheme not in ("http", "https") or not url.isprintable():
        raise StudyError(f"{shown(url)} is no address of an API", _API_HINT)
    path = parts.path.rstrip("/")
    clean = f"{parts.scheme}://{parts.netloc.lower()}{path}"
    source: Source | None = "gitee" if path.endswith("/api/v5") else None
    if path.endswith("/api/v3") or (not path and host.startswith("api.")):
        source = "github"
    if is_this_machine(host):
        return _Api(clean, None, source)
    if source is None:
        raise StudyError(f"{shown(url)} does not say whether it is GitHub or Gitee", _API_HINT)
    tracker = host if path else host.removeprefix("api.")  # api.github.com, api.acme.ghe.com
    return _Api(clean, f"{tracker}:{port}" if port not in (None, 80, 443) else tracker, source)


def _names_github(text: str) -> bool:
    """Whether the text itself says that it is on github.com: `owner/name` does not."""
    return bool(re.match(r"[a-z+]+:|[^/]*@|(?:www\.)?github\.com/", text.strip().lower()))


def _at(text: str, host: str, name: str, api: _Api | None) -> Project:
    for each in _known().values():
        names = (each.spelled.lower(), *(former.lower() for former in each.former_names))
        if host == each.project.host and name in names:
            return each.project
    for source, public in _HOSTS.items():
        if host == public:
            return Project(source, host, name, _APIS[source])
    if host == "local":
        raise StudyError(
            f"{shown(text)} is a folder, which has no issues", "Give owner/name or a URL."
        )
    prefix = text.strip().partition(":")[0].lower()
    if prefix in _HOSTS:  # an id says itself what its host runs
        source = "gitee" if prefix == "gitee" else "github"
        version = "v3" if source == "github" else "v5"
        return Project(source, host, name, f"https://{host}/api/{version}")
    if api and api.source:
        return Project(api.source, host, name, api.url)
    raise StudyError(
        f"{shown(text)} is on {host}, and nobody said whether that is GitHub or Gitee",
        f"For GitHub Enterprise add --api-url https://{host}/api/v3; others are not supported.",
    )


def _placed(project: Project, api: _Api | None, text: str) -> Project:
    """The project, asked for at that API; the two must mean the same tracker."""
    if api is None:
        return project
    if api.source not in (None, project.source):
        raise StudyError(
            f"{shown(text)} is on {project.source}, and {api.url} is a {api.source} API",
            "Check --api-url, or go without it.",
        )
    if api.host not in (None, project.host):
        hint = f"To ask {api.host} write {project.name}." if project.alias else "Check --api-url."
        raise StudyError(
            f"{shown(text)} means {project.host}/{project.name}, and {api.url} is another host",
            hint,
        )
    return replace(project, api_url=api.url)


def _unknown(text: str) -> StudyError:
    near = difflib.get_close_matches(text.strip().lower(), _known(), n=3)
    meant = f"Did you mean {' or '.join(near)}? " if near else ""
    return StudyError(
        f"there is no project {shown(text.strip())}",
        f"{meant}Known: {', '.join(_known())}; all others: owner/name or a URL.",
    )
