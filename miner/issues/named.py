"""`--from FILE`: exactly the issues that a file names, in as few requests as the API allows.

Questions of Stack Overflow that it names are the business of `faultatlas.miner.posts.from_file`.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError
from faultatlas.data.identity import ArtifactId, parse
from faultatlas.miner import tombstones as forgetting
from faultatlas.miner.issues import completeness, plan, scope
from faultatlas.miner.issues.asking import FEW, ask_for
from faultatlas.miner.issues.comments import read_comments
from faultatlas.miner.issues.commit_issues import issues_of_commits
from faultatlas.miner.selection import Selection
from faultatlas.miner.sources import github_graphql as graphql
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.data.study import Reader
    from faultatlas.miner.http import Response
    from faultatlas.miner.ingest import Ingest

_MOST_BYTES = 50_000_000
_LONGEST_CELL = 131_072  # characters
_WORTH_COUNTING = 4  # issues: to count takes two requests, and a list that goes on two or more
_COLUMNS = ("url", "artifact_id", "issue", "link", "id")


@dataclass
class Named:
    """What a file names."""

    issues: dict[str, list[ArtifactId]] = field(default_factory=dict)  # by project key
    commits: dict[str, list[ArtifactId]] = field(default_factory=dict)  # on GitHub, the same
    posts: dict[str, list[ArtifactId]] = field(default_factory=dict)  # by site
    others: list[str] = field(default_factory=list)  # papers, commits elsewhere
    unreadable: list[tuple[int, str]] = field(default_factory=list)  # line, text

    def only(self, key: str) -> None:
        """Keep what it names of one project."""
        if key not in self.issues and key not in self.commits:
            there = ", ".join(dict.fromkeys([*self.issues, *self.commits])) or "none at all"
            raise StudyError(f"the file names no issue of {key}", f"It names issues of {there}.")
        self.issues = {key: self.issues[key]} if key in self.issues else {}
        self.commits = {key: self.commits[key]} if key in self.commits else {}
        self.posts = {}

    def only_posts(self) -> None:
        """Name everything else, instead of keeping it."""
        for groups in (self.issues, self.commits):
            self.others += [str(it) for group in groups.values() for it in group]
            groups.clear()

    def no_posts(self) -> None:
        """Name posts, instead of keeping them."""
        self.others += [str(it) for group in self.posts.values() for it in group]
        self.posts.clear()


def read_file(path: Path, hosts: Mapping[str, str] | None = None) -> Named:
    """The artifacts in a CSV column (`url`, ...; else the first), or one on each line.

    `hosts` says what a private host runs; see `faultatlas.data.identity.parse`.
    """
    named = Named()
    for line, text in _cells(path):
        try:
            it = parse(text, hosts=hosts)
        except StudyError:
            named.unreadable.append((line, text))
            continue
        if it.source in ("github", "gitee"):
            named.issues.setdefault(str(it).rpartition("#")[0], []).append(it)
        elif it.source == "git" and it.host == "github.com":
            named.commits.setdefault(f"github:{it.project}", []).append(it)
        elif it.source == "stackoverflow":
            named.posts.setdefault(it.host, []).append(it)
        else:
            named.others.append(str(it))
    for groups in (named.issues, named.commits, named.posts):
        for key, group in groups.items():
            groups[key] = list(dict.fromkeys(group))
    if not named.issues and not named.commits and not named.posts and not named.others:
        raise StudyError(
            f"{path} names no issue",
            "It needs a column url with addresses such as "
            "https://github.com/pytorch/pytorch/issues/1, or one address on each line.",
        )
    return named


def fetch_named(
    ingest: Ingest,
    issues: Sequence[ArtifactId],
    commits: Sequence[ArtifactId] = (),
    *,
    comments: bool,
    only_new: bool,
    tell: Callable[[str], None],
) -> plan.Plan:
    """Bring these issues of one project into the study; with `only_new`, those it lacks."""
    before = ingest.client.sent
    # The repository may have a new name since the file was written.
    here = [ArtifactId(it.source, it.host, ingest.name, it.key) for it in issues]
    issues = list(dict.fromkeys([*here, *_of_commits(ingest, commits, tell)]))
    with ingest.study.writing(keep_log=True) as writer:
        gone = forgetting.forgotten(writer).artifacts
        issues = [it for it in issues if str(it) not in gone]
        writer.execute(
            "INSERT OR IGNORE INTO store.wanted SELECT unnest(?), ?",
            [[str(it) for it in issues], ingest.run.run_id],
        )
        wanted = _missing(writer, issues) if only_new else _all(issues)
    if wanted:
        _bring(ingest, wanted, _digest(issues), tell)
    area = scope.of_wanted(ingest.project.key)
    listing = ingest.client.sent - before
    made = plan.Plan("none", listing, 0)
    if comments:
        strategy, cost, is_exact = read_comments(ingest, area, is_whole=False, tell=tell)
        made = plan.Plan(strategy, listing, cost, is_exact=is_exact)
    return made


def _of_commits(
    ingest: Ingest, commits: Sequence[ArtifactId], tell: Callable[[str], None]
) -> list[ArtifactId]:
    """What the commits brought or closed in this project; here others have other numbers."""
    found = issues_of_commits(ingest, commits)
    here = [it for it in found if it.project == ingest.project.name]
    if elsewhere := [str(it) for it in found if it not in here]:
        tell(f"of other repositories, and so not fetched: {', '.join(elsewhere[:5])}")
    return here


def _bring(
    ingest: Ingest, wanted: list[dict[str, Any]], file: str, tell: Callable[[str], None]
) -> None:
    """By number, or from the list of everything where that is shorter."""
    if ingest.client.has_token and ingest.project.source == "github":
        if len(wanted) > FEW:
            batches = counted(-(-len(wanted) // graphql.BATCH), "request")
            tell(f"plan: {batches} for {len(wanted):,} issues, by GraphQL")
        ask_for(ingest, wanted)
        return
    if len(wanted) > 1 and _list_all(ingest, len(wanted), file, tell):
        with ingest.study.reading() as reader:
            wanted = _missing(reader, [parse(row["artifact_id"]) for row in wanted])
    elif len(wanted) > 1:
        tell(f"plan: {len(wanted):,} requests, one for each issue")
    ask_for(ingest, wanted)


def _list_all(ingest: Ingest, dearest: int, file: str, tell: Callable[[str], None]) -> bool:
    """Read the list of all issues, if that takes fewer requests; whether it did.

    Each file has its own walk: what another one names was passed over.
    """
    everything = Selection(pulls=ingest.tracker.has_pulls)
    is_taken = True

    def is_cheap(first: Response) -> bool:
        nonlocal is_taken
        pages = ingest.tracker.pages(first)
        rows = None if pages is None else plan.rows_of_pages(pages)
        if rows is None and dearest > _WORTH_COUNTING:
            found = completeness.count(ingest, everything)
            rows = None if found.issues is None else found.issues + (found.pulls or 0)
        cost = None if rows is None else plan.walk_requests(rows)
        is_taken = cost is not None and cost < dearest
        if is_taken:
            about = "about" if pages is None else "at most"
            tell(f"plan: {about} {cost:,} requests, the list of all issues")
        return is_taken

    ingest.walk(
        f"issues of file {file}",
        {"kind": "issues", "selection": everything.as_json(), "only_wanted": True},
        lambda since: ingest.tracker.issues_url(ingest.name, everything, since),
        selection=everything,
        on_first=is_cheap,
    )
    return is_taken


def _digest(issues: Sequence[ArtifactId]) -> str:
    said = "\n".join(sorted(map(str, issues)))
    return hashlib.blake2b(said.encode(), digest_size=6).hexdigest()


def _all(issues: Sequence[ArtifactId]) -> list[dict[str, Any]]:
    return [{"artifact_id": str(it), "number": it.key} for it in issues]


def _missing(reader: Reader, issues: Sequence[ArtifactId]) -> list[dict[str, Any]]:
    """Those that the study neither has nor knows to be gone."""
    known = reader.rows(
        "SELECT artifact_id FROM (SELECT artifact_id FROM store.issue UNION ALL "
        "SELECT artifact_id FROM store.departure UNION ALL SELECT alias FROM store.alias "
        "UNION ALL SELECT subject FROM store.forgotten) "
        "WHERE artifact_id IN (SELECT unnest(?::VARCHAR[]))",
        [[str(it) for it in issues]],
    )
    there = {row["artifact_id"] for row in known}
    return _all([it for it in issues if str(it) not in there])


def _cells(path: Path) -> list[tuple[int, str]]:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise StudyError(f"{path} has more than 50 MB", "Give a file with addresses only.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise StudyError(f"{path} is not UTF-8", "Save it as CSV in UTF-8.") from None
    csv.field_size_limit(_LONGEST_CELL)  # of the whole process: other readers set their own
    reader = csv.reader(text.splitlines())
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise StudyError(
            f"{path}, line {reader.line_num} is no CSV: {error}", "Save it as CSV in UTF-8."
        ) from None
    if not rows:
        return []
    header = [cell.strip().lower() for cell in rows[0][1]]
    column = next((header.index(name) for name in _COLUMNS if name in header), None)
    return [
        (line, row[column or 0].strip())
        for line, row in rows[0 if column is None else 1 :]
        if len(row) > (column or 0) and row[column or 0].strip()
    ]
