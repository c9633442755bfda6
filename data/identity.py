"""Artifact ids: what a URL, an id or a shorthand names.

One artifact has one id in a study, however a spreadsheet, an API or a paper spells it; miners,
label imports and links all ask this module. Everything here is a pure function of its text: it
looks nothing up, so it knows neither whether an artifact exists nor what a short hash or an
answer belongs to. Such an id is `provisional` and becomes final through an alias, which a miner
learns. It does not find references inside longer text either; that is the miner's `links`.

    github:pytorch/pytorch#123            issue or pull request: they share one numbering
    gitee:mindspore/mindspore#I65G7B      issue; `#12` is a pull request, numbered apart
    git:keras-team/keras@<sha>            commit, on github.com unless a host is named
    stackoverflow:47267612                question; `stackoverflow:a/5` is an answer (provisional)
    doi:10.1145/3377811.3380395           paper; without a DOI `paper:<hash of title and year>`
    interview:pilot/7                     interview, as the study numbers it; never a name

A host that is not the public one is part of the name: `github:git.example.org/team/app#4`,
`git:gitee.com/mindspore/mindspore@<sha>`, `stackoverflow:datascience.stackexchange.com/123`.
`git:local/<folder>@<sha>` is a repository without a remote.
"""

from __future__ import annotations

import hashlib
import re
import string
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args
from urllib.parse import quote, unquote

from faultatlas.data.errors import StudyError

MAX_LENGTH = 4096  # what is mined is hostile; no real reference comes near this

Hosts = Mapping[str, str]  # host -> what it runs: "github", "gitee", "git" or "stackoverflow"

_GITHUB = "github.com"
_PUBLIC = {
    "github": _GITHUB,
    "git": _GITHUB,
    "gitee": "gitee.com",
    "stackoverflow": "stackoverflow.com",
    "doi": "doi.org",
    "paper": "",
    "interview": "",
}
_FORGES = ("github", "gitee", "git")
_STACK_EXCHANGE = re.compile(
    r"(?:[^/]+\.)?(?:stackexchange|stackoverflow)\.com|mathoverflow\.net"
    r"|(?:superuser|serverfault|askubuntu|stackapps)\.com"
)
# Dependency bots write the last two so that GitHub shows no back-reference.
_SAME_HOST = {"dx.doi.org": "doi.org", "ssh.github.com": _GITHUB} | dict.fromkeys(
    ("redirect.github.com", "togithub.com"), _GITHUB
)
# First parts of GitHub paths that are pages of GitHub and never an owner.
_NOT_OWNER = re.compile(
    r"apps|collections|features|login|marketplace|notifications|orgs|repos|search|settings"
    r"|sponsors|topics|trending|users"
)
_PAGES = frozenset({"issues", "pull", "pulls", "commit", "commits", "tree", "blob", "repos"})

_ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
# Explicit classes, no IGNORECASE: that flag lets the Kelvin sign pass for a k.
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)")
_SCP = re.compile(r"[^@/:]+@([^@/:]+):(.+)")
_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*(?::[0-9]{1,5})?")
_SEGMENT = re.compile(r"[a-z0-9_.~+-]+")
_GITHUB_OWNER = re.compile(r"[a-z0-9_-]+")  # no dot, so that a dotted first part is a host
_LOCAL_FOLDER = re.compile(r"(?:[a-z0-9_.~+-]|%[0-9a-f]{2})+")
_HASH = re.compile(r"[0-9a-f]{4,40}|[0-9a-f]{64}")
_SHORTHAND = re.compile(r"([^#@?/]+/[^#@?:]+)([#@][0-9A-Za-z]+)")
_KEYS = {
    "github": re.compile(r"[1-9][0-9]{0,17}"),
    "git": _HASH,
    "gitee": re.compile(r"[1-9][0-9]{0,17}|I[0-9A-Z]{1,15}"),
    "stackoverflow": re.compile(r"(?:a/)?[1-9][0-9]{0,17}"),
    "doi": re.compile(r"10\.[0-9]{4,9}(?:\.[0-9]+)*/.*[^.,;/]"),
    "paper": re.compile(r"[0-9a-f]{20}"),
    "interview": re.compile(r"(?:[a-z0-9_-][a-z0-9_.-]*/)?[a-z0-9_-][a-z0-9_.-]*"),
}
_HINT = "Give the URL of an issue, commit, question or DOI, or an id: github:pytorch/pytorch#123."
_REPOSITORY_HINT = "Give owner/name or the URL of a repository."


@dataclass(frozen=True, slots=True)
class ArtifactId:
    """One artifact's canonical name; what is not canonical cannot be made (see `parse`)."""

    source: str
    host: str  # "local" for a git repository without a remote, "" for what has no address
    project: str  # "owner/name"; "" where there is no repository
    key: str  # number, hash, DOI

    def __post_init__(self) -> None:
        if not _is_canonical(self):
            raise StudyError(f"{shown(str(self))} is not an artifact id", _HINT)

    def __str__(self) -> str:
        public = _PUBLIC.get(self.source, "")
        if self.source not in _FORGES:
            return f"{self.source}:{'' if self.host == public else f'{self.host}/'}{self.key}"
        name = _qualified(self.host, self.project, public)
        return f"{self.source}:{name}{'@' if self.source == 'git' else '#'}{self.key}"

    @property
    def repository(self) -> str:
        """The project as `project_of` writes it, the same for issues and commits; or ""."""
        return _qualified(self.host, self.project, _GITHUB) if self.source in _FORGES else ""

    @property
    def provisional(self) -> bool:
        """A short hash or an answer: only a lookup can tell which artifact it is."""
        if self.source == "git":
            return len(self.key) < 40
        return self.source == "stackoverflow" and self.key.startswith("a/")


def parse(text: str, default_project: str | None = None, hosts: Hosts | None = None) -> ArtifactId:
    """Read an id, a URL, `owner/name#1`, `owner/name@sha` or a DOI.

    With `default_project` (as `project_of` takes it) also what is written inside a project:
    `#1`, `1`, `GH-1`, `I65G7B`, `@sha`. `hosts` says what a private host runs, for example
    `{"git.example.org": "github"}`; an id names its source itself and needs none.
    """
    hosts = _checked_hosts(hosts)
    text = _clean(text)
    if text[:4].translate(_ASCII_LOWER) == "doi:" or _KEYS["doi"].match(text):
        return _doi(text)
    if " " in text:
        raise StudyError(f"{shown(text)} is more than one word", _HINT)
    source, body = _prefix(text)
    if source:
        return _from_id(source, body)
    if where := _split_url(text, hosts):
        return _from_url(text, *where, hosts)
    if inside := _SHORTHAND.fullmatch(text):
        return _in_project(text, inside[2], *split_project(inside[1], "git"), hosts)
    if default_project is not None:
        name = project_of(default_project, hosts)
        return _in_project(text, text, *split_project(name, "git"), hosts)
    raise StudyError(f"{shown(text)} names no artifact", _HINT)


def artifact_id(text: str, default_project: str | None = None, hosts: Hosts | None = None) -> str:
    """The canonical id of what `text` names; see `parse`."""
    return str(parse(text, default_project, hosts))


def url_of(artifact: ArtifactId | str) -> str | None:
    """The page of an artifact; None for a local commit, a paper without a DOI, an interview.

    A pull request is given as an issue, which GitHub redirects. A commit on an unknown host is
    given as `/commit/<sha>`, which GitHub, Gitee, GitLab and Gitea understand.
    """
    it = parse(artifact) if isinstance(artifact, str) else artifact
    if it.source in {"paper", "interview"} or it.host == "local":
        return None
    if it.source == "doi":
        return f"https://doi.org/{quote(it.key, safe='/:;()')}"
    if it.source == "stackoverflow":
        path = it.key if it.provisional else f"questions/{it.key}"
        return f"https://{it.host}/{path}"
    page = "commit" if it.source == "git" else "issues"
    if it.source == "gitee" and not it.key.startswith("I"):
        page = "pulls"
    return f"https://{it.host}/{it.project}/{page}/{it.key}"


def project_of(text: str, hosts: Hosts | None = None) -> str:
    """The repository that a URL, ssh address, id or `owner/name` names.

    It is `owner/name` on github.com, `host/owner/name` elsewhere, `local/folder` without a
    remote: the notation of `git:` ids, so that the issues and commits of a repository agree.
    """
    hosts = _checked_hosts(hosts)
    text = _clean(text)
    source, body = _prefix(text)
    if source in _FORGES:
        name = body.rpartition("@")[0] or body if source == "git" else body.partition("#")[0]
        host, project = split_project(name, source)
    elif source:
        raise StudyError(f"{shown(text)} belongs to no repository", _REPOSITORY_HINT)
    elif where := _split_url(text, hosts):
        host, project = _repository_url(text, *where, hosts)
    else:
        inside = _SHORTHAND.fullmatch(text)
        host, project = split_project(inside[1] if inside else text, "git")
    if not _is_project("git", host, project):
        raise StudyError(f"{shown(text)} names no repository", _REPOSITORY_HINT)
    return _qualified(host, project, _GITHUB)


def local_project(folder: str) -> str:
    """`local/<folder>` for the name of a folder; what ids cannot hold is percent-encoded."""
    # macOS hands out decomposed names: the same folder must not have two ids.
    name = unicodedata.normalize("NFC", folder.strip().rstrip("/\\"))
    name = re.split(r"[/\\]", name)[-1].lower().removesuffix(".git")
    if not name or name in (".", "..") or len(name) > 255:
        raise StudyError(f"{shown(folder)} is no folder's name", "Give the folder's own name.")
    # A file name that is not UTF-8 reaches Python with surrogates in it.
    return f"local/{quote(name, safe='', errors='surrogatepass').lower()}"


def title_key(title: str) -> str:
    """A title without case, accents, punctuation and spaces: equal for equal titles.

    Indexes disagree on all of these, and on hyphens ("re-training", "retraining"), so nothing
    but letters and digits is kept; `+` and `#` are, since C, C++ and C# are three things. LaTeX
    and HTML commands are text here: decode them first.
    """
    if len(title) > MAX_LENGTH:  # normalising a long run of marks takes quadratic time
        raise StudyError(f"a title has more than {MAX_LENGTH} characters", "Check the column.")
    key = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", title).casefold())
    kept = (c for c in key if c in "+#" or unicodedata.category(c)[0] in "LNM")
    # Latin accents and variation selectors; the marks of other scripts are letters to readers.
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f\ufe00-\ufe0f]", "", "".join(kept)))


def paper_id(title: str, year: int | None, doi: str | None = None) -> str:
    """`doi:...`, or `paper:<hash>` of title and year where there is no DOI."""
    if doi and doi.strip():
        found = parse(doi)
        if found.source != "doi":
            raise StudyError(f"{shown(doi)} is no DOI", "Leave it empty where there is none.")
        return str(found)
    key = title_key(title)
    if not key:
        raise StudyError(f"{shown(title)} has no letter or digit", "A paper needs a title.")
    digest = hashlib.sha256(f"{key}\n{'' if year is None else year}".encode()).hexdigest()
    return str(ArtifactId("paper", "", "", digest[:20]))


def _clean(text: str) -> str:
    if len(text) > MAX_LENGTH:
        raise StudyError(f"a reference has more than {MAX_LENGTH} characters", _HINT)
    text = text.strip().strip("\ufeff\u200b").strip()  # spreadsheets leave these around cells
    if not text or not text.isprintable():
        raise StudyError(f"{shown(text)} is empty or holds control characters", _HINT)
    return text


def shown(text: str) -> str:
    """Text as an error may quote it: short, and without what may be a password or a token."""
    text = re.sub(r"(\A|//)[^/\s]+@", r"\1***@", text[: 2 * MAX_LENGTH])
    text = re.sub(r"\?.*", "?...", text, flags=re.DOTALL)
    return repr(text if len(text) <= 120 else f"{text[:117]}...")


def _checked_hosts(hosts: Hosts | None) -> Hosts:
    for runs in (hosts or {}).values():
        if runs not in (*_FORGES, "stackoverflow"):
            hint = "A host runs github, gitee, git or stackoverflow."
            raise StudyError(f"no host runs {shown(runs)}", hint)
    return {_host(name): runs for name, runs in (hosts or {}).items()}


def _runs(host: str, hosts: Hosts) -> str | None:
    if _STACK_EXCHANGE.fullmatch(host):
        return "stackoverflow"
    known = {_GITHUB: "github", "gitee.com": "gitee", "doi.org": "doi"}
    return known.get(host) or hosts.get(host)


def _host(raw: str, *, ssh: bool = False) -> str:
    """One spelling for a host. Logins are dropped: a token must not end up in an id.

    No host may be called `local`, which means that there is no remote.
    """
    host = raw.rpartition("@")[2].translate(_ASCII_LOWER)
    # The port of an ssh address says nothing about the host's pages.
    host = re.sub(r":[0-9]*\Z" if ssh else r":(?:80|443)?\Z", "", host).rstrip(".")
    plain = host.removeprefix("www.")
    plain = _SAME_HOST.get(plain, plain)
    return plain if _runs(plain, {}) else host if host != "local" else ""


def _is_canonical(it: ArtifactId) -> bool:
    # With these lengths an id and its percent-encoded page stay below MAX_LENGTH.
    if it.source not in _KEYS or len(it.key) > 300 or not _KEYS[it.source].fullmatch(it.key):
        return False
    if it.source in _FORGES:
        return _is_project(it.source, it.host, it.project)
    if it.source == "stackoverflow":
        return not it.project and _looks_hosted(it.host) and _is_host(it.source, it.host)
    # A DOI may hold any printable character, but an escape would be read in two ways.
    lower = it.key == it.key.translate(_ASCII_LOWER)
    readable = it.key.isprintable() and not re.search(r"[ \ufffd]|%[0-9a-f]{2}", it.key)
    return lower and readable and (it.host, it.project) == (_PUBLIC[it.source], "")


def _looks_hosted(name: str) -> bool:
    return "." in name or ":" in name


def _is_host(source: str, host: str) -> bool:
    fits = ("github", "gitee", None) if source == "git" else (source, None)
    name, _, port = host.partition(":")
    # `git:8080/o/r` would be read as an id.
    canonical = host == _host(host) and not (port and name in _PUBLIC) and len(host) <= 255
    return canonical and bool(_HOST.fullmatch(host)) and _runs(host, {}) in fits


def _is_project(source: str, host: str, project: str) -> bool:
    if project.endswith(".git") or len(project) > 3100:
        return False
    if host == "local":
        return source == "git" and bool(_LOCAL_FOLDER.fullmatch(project))
    names = project.split("/")
    sound = all(_SEGMENT.fullmatch(name) and name not in (".", "..", "-") for name in names)
    if source == "github" or host == _GITHUB:
        owned = _GITHUB_OWNER.fullmatch(names[0]) and not _NOT_OWNER.fullmatch(names[0])
        sound = sound and bool(owned)
    # Elsewhere groups may be nested; one name alone needs a host that looks like one.
    nested = source == "git" and not _runs(host, {})
    depth = len(names) == 2 or (nested and (len(names) > 2 or _looks_hosted(host)))
    return sound and depth and _is_host(source, host)


def _qualified(host: str, project: str, public: str) -> str:
    # `local/x` means a folder, so an owner who is called "local" keeps the host.
    return project if host == public and not project.startswith("local/") else f"{host}/{project}"


def _name(parts: list[str]) -> str:
    return "/".join(parts).translate(_ASCII_LOWER).removesuffix(".git")


def _prefix(text: str) -> tuple[str, str]:
    source, _, body = text.partition(":")
    source = source.translate(_ASCII_LOWER)
    is_id = source in _PUBLIC and body and not body.startswith("//")  # git:// is a URL
    return (source, body) if is_id else ("", "")


def split_project(name: str, source: str) -> tuple[str, str]:
    """Host and project of a name inside an id; three parts or a dotted first one name a host."""
    first, *rest = name.rstrip("/").split("/")
    hosted = len(rest) > 1 or (source == "git" and _looks_hosted(first))
    if source == "git" and first.translate(_ASCII_LOWER) == "local" and len(rest) == 1:
        return "local", _name(rest)
    return (_host(first), _name(rest)) if hosted else (_PUBLIC[source], _name([first, *rest]))


def _split_url(text: str, hosts: Hosts) -> tuple[str, str] | None:
    """Host and path, or None for what is no URL; a known host needs no scheme."""
    bare = False
    if found := _SCP.fullmatch(text):
        host, path = _host(found[1], ssh=True), found[2]
    elif found := _URL.match(text):
        scheme = found[1].translate(_ASCII_LOWER)
        if scheme not in ("http", "https", "ssh", "git"):
            raise StudyError(f"{shown(text)} is no web or git address", _HINT)
        host, path = _host(found[2], ssh=scheme in ("ssh", "git")), found[3]
    else:
        bare = True
        first, _, path = re.split(r"[?#]", text.removeprefix("//"))[0].partition("/")
        host = _host(first)
    if host.startswith("api.") and _runs(host[4:], hosts) == "github":
        host = host[4:]
    runs = _runs(host, hosts)
    # `gitee.com/o/r#I1` and `github.com/o/r@sha` are shorthands, not pages.
    if bare and (runs is None or (runs in _FORGES and path.count("/") < 2)):
        return None
    path = path.lstrip("/")
    if runs in ("github", "gitee"):  # the APIs of enterprise hosts and Gitee; api.github.com
        path = re.sub(r"\A(?:api/[^/]+/)?repos/", "", path)
    return host, path


def _unknown_host(text: str, host: str) -> StudyError:
    return StudyError(
        f"{shown(text)} is on {shown(host)}, and nobody said what that host runs",
        f"Name it among the hosts (github, gitee, git), or write github:{host}/owner/name#1.",
    )


def _repository_url(text: str, host: str, path: str, hosts: Hosts) -> tuple[str, str]:
    runs, parts = _runs(host, hosts), path.strip("/").split("/")
    if runs in ("github", "gitee"):
        return host, _name(parts[:2])
    parts = parts[: parts.index("-")] if "-" in parts else parts  # GitLab: pages follow a dash
    if runs is None and not _PAGES.isdisjoint(parts[2:]):
        raise _unknown_host(text, host)
    return host, _name(parts)


def _from_id(source: str, body: str) -> ArtifactId:
    if source in {"paper", "interview"}:
        return ArtifactId(source, "", "", body.translate(_ASCII_LOWER))
    if source == "stackoverflow":
        site, _, key = body.rpartition("/")
        if site == "a" or site.endswith("/a"):
            site, key = site[:-2], f"a/{key.lstrip('0')}"
        return ArtifactId(source, _host(site) if site else _PUBLIC[source], "", key.lstrip("0"))
    name, separator, key = body.rpartition("@" if source == "git" else "#")
    if not separator:
        raise StudyError(f"{shown(f'{source}:{body}')} names a repository or less", _HINT)
    return ArtifactId(source, *split_project(name, source), _key(source, key))


def _key(source: str, text: str) -> str:
    if source == "git":
        return text.translate(_ASCII_LOWER)
    return text.upper() if source == "gitee" and text.isascii() else text.lstrip("0")


def _in_project(text: str, ref: str, host: str, project: str, hosts: Hosts) -> ArtifactId:
    runs = "git" if host == "local" else _runs(host, hosts)
    number = re.fullmatch(r"(?:#|GH-|gh-)?([0-9]{1,18}|[iI][0-9A-Za-z]{1,15})", ref)
    sha = ref.removeprefix("@").translate(_ASCII_LOWER)
    if number and runs in ("github", "gitee"):
        return ArtifactId(runs, host, project, _key(runs, number[1]))
    if number and runs is None:
        raise _unknown_host(text, host)
    if _HASH.fullmatch(sha) and (ref.startswith("@") or len(sha) >= 7) and not number:
        return ArtifactId("git", host, project, sha)
    raise StudyError(f"{shown(text)} names no artifact", _HINT)


def _from_url(text: str, host: str, path: str, hosts: Hosts) -> ArtifactId:
    runs = _runs(host, hosts)
    if runs is None:
        raise _unknown_host(text, host)
    if runs == "doi":
        return _doi(path)
    found = _question(host, path) if runs == "stackoverflow" else _page(runs, host, path)
    if found is None:
        raise StudyError(f"{shown(text)} is no page of an artifact", _HINT)
    return found


def _question(host: str, path: str) -> ArtifactId | None:
    found = re.match(r"(?:questions|q|(a))/0*([1-9][0-9]*)(?:/|\Z)", path)
    key = f"{'a/' if found[1] else ''}{found[2]}" if found else ""
    return ArtifactId("stackoverflow", host, "", key) if found else None


def _page(runs: str, host: str, path: str) -> ArtifactId | None:
    parts = path.rstrip("/").split("/")
    # Where groups may be nested, the page is what stands at the end.
    start = -2 if runs == "git" else 2
    project = _name(parts[:start]).removesuffix("/-")
    match [re.sub(r"\.(?:diff|patch)\Z", "", part) for part in parts[start:]]:
        case (
            ["commit", sha, *_]
            | ["commits", sha]
            | ["git", "commits", sha]
            | ["pull" | "pulls", _, "commits", sha, *_]
        ):
            return ArtifactId("git", host, project, _key("git", sha))
        case ["issues" | "pull" | "pulls" as page, number, *_] if runs != "git":
            # Gitee numbers issues I65G7B and pull requests 12; GitHub has one numbering.
            if runs == "github" or number.isdigit() == (page == "pulls"):
                return ArtifactId(runs, host, project, _key(runs, number))
    return None


def _doi(text: str) -> ArtifactId:
    key = unquote(re.sub(r"\A[A-Za-z]{3}:\s*", "", text)).translate(_ASCII_LOWER)
    return ArtifactId("doi", _PUBLIC["doi"], "", key.rstrip(".,;/"))


# --- aliases: old repository names, transferred issues, node ids, short hashes ---------------

AliasKind = Literal["repository", "transfer", "node", "short_hash", "answer", "paper"]


@dataclass(frozen=True, slots=True)
class Alias:
    """`alias` is another name of `artifact_id`.

    `repository`: an old name of a project, both as `project_of` writes them; it holds for all
    issues and commits of that project. `transfer`: an issue's id before it was moved.
    `short_hash`, `answer`: a provisional id. `node`: an API's opaque id, kept as it is.
    `paper`: the id that another record of the same paper would have had alone.
    """

    alias: str
    artifact_id: str
    kind: AliasKind

    def __post_init__(self) -> None:
        canonical = project_of if self.kind == "repository" else artifact_id
        names = [self.artifact_id] if self.kind == "node" else [self.alias, self.artifact_id]
        sound = self.kind in get_args(AliasKind) and self.alias not in ("", self.artifact_id)
        # An alias in another spelling would never be found, and nobody would notice.
        if not sound or any(canonical(name) != name for name in names):
            hint = f"Use two canonical names, and one of {', '.join(get_args(AliasKind))}."
            message = f"{shown(self.alias)} is no {self.kind} alias of {shown(self.artifact_id)}"
            raise StudyError(message, hint)


def alias_index(aliases: Iterable[Alias]) -> dict[str, str]:
    """Aliases by name, for many calls of `resolve`; a name for two artifacts is refused."""
    index: dict[str, str] = {}
    for item in aliases:
        other = index.setdefault(item.alias, item.artifact_id)
        if other != item.artifact_id:
            message = f"{shown(item.alias)} is an alias of {other} and of {item.artifact_id}"
            raise StudyError(message, "Remove one of the two.")
    return index


def resolve(name: str, aliases: Mapping[str, str] | Iterable[Alias]) -> str:
    """Follow aliases from an id (or a node id) to the name that has no further alias."""
    index = aliases if isinstance(aliases, Mapping) else alias_index(aliases)
    path = {name: None}  # a dictionary keeps the order for the message
    while (following := _next_name(name, index)) is not None:
        if following in path:
            circle = " -> ".join([*map(shown, path), shown(following)][-5:])
            hint = "Remove the alias that is out of date."
            raise StudyError(f"the aliases run in a circle: {circle}", hint)
        name = following
        path[name] = None
    return name


def _next_name(name: str, index: Mapping[str, str]) -> str | None:
    if name in index:
        return index[name]
    try:
        it = parse(name)
    except StudyError:  # a node id, or a name of a kind that only the index knows
        return None
    host, project = split_project(index.get(it.repository, it.repository), "git")
    # Commits keep their hashes wherever a repository moves; issue numbers belong to one tracker.
    if it.repository not in index or (it.source != "git" and host != it.host):
        return None
    return str(ArtifactId(it.source, host, project, it.key))
