"""Logins, mails, tokens and paths wherever people write: packages have none of them, and what is
forgotten is gone. Each command fails once before it succeeds.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import compare
import pyarrow.parquet as pq
from data_dumps import answer, comment, document, question
from golden.stage import Stage
from loopback import Tracker, World, payloads
from loopback.entries import START, Entry
from loopback.payloads import user, zulu
from loopback.ways import PLENTY
from repositories_on_disk import Repository

_PROJECT = "example/engines"
_TOKEN = "ghp_" + "Zq7" * 12
_MAIL = "marvin.paranoid@heart-of-gold.org"
_LOGIN = "zaphodbeeblebrox"
_RATERS = ("trillianastra", "arthurdent")
_SHEET = "tricia_mcmillan_private.csv"
_AUTHOR = "Slartibartfast, Magrathea"
_TEXT = (
    f"It crashes, says @{_LOGIN} ({_MAIL}), see /home/fordprefect/hitchhiking/labels.xlsx and "
    f"/mnt/magrathea/planets.csv with {_TOKEN}."
)
# Nothing of these may be in a package, wherever it is looked for.
_PLANTED = {
    "token": _TOKEN, "mail": _MAIL, "login": _LOGIN, "home": "fordprefect", "rater": _RATERS[0],
    "other rater": _RATERS[1], "sheet": "tricia_mcmillan", "share": "magrathea/planets",
}  # fmt: skip
_OF_AUTHORS = {"author": "slartibartfast", "orcid": "0000-0002-1825-0097", "paper": "10.5555/1234"}
# Who is forgotten, and what they wrote: no compression hides it.
_HERS, _HER_ISSUE, _FORGOTTEN = "jeltz-prostetnic", 5, 7
_WORDS = base64.b85encode(hashlib.shake_256(b"what she wrote").digest(120)).decode()
_POEM = base64.b85encode(hashlib.shake_256(b"a poem").digest(120)).decode()
_VIEWS = ("issues", "comments", "labels", "final_labels", "links", "funnel", "samples")
LONGEST = 4_000
_ABOUT = f"""\
[study]
title = "Faults of probable engines"
authors = [{{name = "{_AUTHOR}", orcid = "0000-0002-1825-0097", affiliation = "Magrathea"}}]
licence = "CC-BY-4.0"
paper = "10.5555/12345678"
version = "1.0.0"
date = "2026-01-31"
"""
_OWN = f"""\
[claims.issues]
statement = "Issues, as {_RATERS[0]} at {_MAIL} counted them in /mnt/magrathea/planets.csv"
sql = "SELECT count(*) FROM issues"
[claims.hers]
statement = "Labels of one rater"
sql = "SELECT count(*) FROM labels WHERE rater = '{_RATERS[0]}'"
"""
_TREE = f"""\
taxonomy: tree
version: "1.0.0"
title: A small tree
source: Made up by {_MAIL}.
choice: single
select: leaves
question: Which is it?
nodes:
""" + "".join(
    f'  - code: "{code}"\n    name: Name of {code}\n    definition: What {code} is.\n'
    f"    not: What {code} is not, says {_MAIL}.\n" + (f"    parent: {code[0]}\n" * (len(code) > 1))
    for code in ("a", "a1", "a2", "b", "b1", "b2")
)
_BIB = f"""\
@article{{one, title = {{Faults in Engines}}, author = {{Doe, Jane}}, year = 2021,
  doi = {{10.1000/one}}, abstract = {{{_TEXT}}}}}
"""


def run(stage: Stage) -> None:
    study = stage.study()
    stage.settings(_ABOUT)
    (study / "claims.toml").write_text(_OWN, encoding="utf-8")
    (study / "taxonomies").mkdir()
    (study / "taxonomies" / "tree.yaml").write_text(_TREE, encoding="utf-8")
    hub = _hub()
    fetch = ("fetch", _PROJECT, "--max-wait", "0", "--api-url", stage.serve(hub).url)
    _plant(stage, fetch)
    stage.value("planted", _found(_in_study(stage), _PLANTED))
    _build(stage)
    _package(stage)
    _forget(stage)
    stage.run("fetched again", "miner", *fetch)
    stage.value("fetched again: found", _found(_in_study(stage), {"hers": _WORDS, "poem": _POEM}))
    stage.views("at last", *_VIEWS)
    _back_up(stage)


def _plant(stage: Stage, fetch: tuple[str, ...]) -> None:
    """Everything that people write into a study by commands."""
    sheet, bib, dump = (stage.folder / name for name in (_SHEET, "marvin.bib", "Posts.xml"))
    _write_sheet(sheet)
    bib.write_text(_BIB, encoding="utf-8")
    told = f"<p>{_TEXT}</p>"
    rows = [question(1, body=told, Title=_TEXT), answer(2, 1, told, OwnerDisplayName=_LOGIN)]
    dump.write_bytes(document(rows))
    dump.with_name("Comments.xml").write_bytes(document([comment(3, 1, _TEXT)], "comments"))
    made = Repository(stage.folder / "repository")
    for number in range(4):
        author = f"{_LOGIN} <{_MAIL}> {START + number} +0000".encode()
        made.commit({}, f"Fix #{number}: {_TEXT}\n".encode(), author=author, committer=author)
    condition = f"kind = 'issue' AND url IS DISTINCT FROM '{_MAIL}'"
    columns = (
        "--item", "item", "--rater-column", "rater", "--code", "code", "--comment", "comment",
    )  # fmt: skip
    for words in (
        ("miner", *fetch),
        ("miner", "commits", made.folder, "--project", _PROJECT, "--all"),
        ("miner", "posts", "--tag", "keras", "--from-dump", dump),
        ("miner", "papers", "--from", bib),
        ("miner", "link"),
        ("miner", "filter", "issues", "--where", condition),
        ("annotation", "sample", "odd", "--size", "5", "--stratify", "project", "--seed", "3"),
        ("annotation", "import", "main", sheet, *columns, "--taxonomy", "tree"),
        ("annotation", "agreement", "main", "--resamples", "20"),
        ("annotation", "adjudicate", "main", "--rule", "unanimous"),
        ("analysis", "claims"),
    ):
        stage.run(" ".join(map(str, words[:2])), *words)


def _write_sheet(path: Path) -> None:
    codes = ["a1"] * 6 + ["a2"] * 4 + ["b1"] * 6 + ["b2"] * 2
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["item", "rater", "code", "comment"])
        for number, code in enumerate(codes, 1):
            other = "b1" if number % 6 == 0 else code
            for rater, said in zip(_RATERS, (code, other), strict=True):
                lines.writerow([f"github:{_PROJECT}#{number}", rater, said, _TEXT])


def _build(stage: Stage) -> None:
    """A report, at first where a file is in the way."""
    out = stage.study() / "out"
    aside = out.rename(stage.folder / "aside") if out.exists() else None
    out.write_text("in the way", encoding="utf-8")
    stage.run("build refused", "report", "build")
    stage.value("in the way", out.read_text(encoding="utf-8"))
    out.unlink()
    if aside:
        aside.rename(out)
    stage.run("build", "report", "build")
    secrets = {kind: _PLANTED[kind] for kind in ("token", "login", "home")}
    stage.value("report: found", _found(_texts(_files(out)), secrets))


def _package(stage: Stage) -> None:
    """Packages for readers and for reviewers, at first over a file that is there."""
    before = compare.views(stage.study(), ["issues", "labels"])
    # In texts, strangers may name their disks, though not their own folders.
    in_texts = {kind: words for kind, words in _PLANTED.items() if kind != "share"}
    for label, options, sought in (
        ("package", ("--with-texts",), in_texts),
        ("review", ("--double-blind",), _PLANTED | _OF_AUTHORS),
    ):
        path = stage.folder / f"{label}.zip"
        path.mkdir()
        stage.run(f"{label} refused", "report", "package", path, *options, names="none")
        stage.value(f"{label} refused: left behind", [item.name for item in path.iterdir()])
        path.rmdir()
        stage.run(label, "report", "package", path, *options)
        with zipfile.ZipFile(path) as archive:
            files = [(name, archive.read(name)) for name in archive.namelist()]
        stage.value(f"{label}: found", _found(_texts(files), sought))
        stage.value(f"{label}: has", sorted({"data/labels.csv", "claims.csv"} & {
            name.partition("/")[2] for name, _data in files
        }))  # fmt: skip
    after = compare.views(stage.study(), ["issues", "labels"])
    stage.value("packages only read", after == before)


def _forget(stage: Stage) -> None:
    """A person and an issue, after somebody whom nobody knows."""
    sought = {"hers": _WORDS, "poem": _POEM}
    stage.value("to be forgotten", _found(_in_study(stage), sought))
    stage.run("forget nobody", "miner", "forget", "agrajag", names="none")
    stage.value("forget nobody: found", _found(_in_study(stage), sought))
    stage.run("forget her", "miner", "forget", _HERS)
    stage.run("forget an issue", "miner", "forget", f"github:{_PROJECT}#{_FORGOTTEN}")
    stage.value("forgotten: found", _found(_in_study(stage), {**sought, "her login": _HERS}))
    stage.run("rebuild", "miner", "rebuild")
    stage.views("forgotten", *_VIEWS)


def _back_up(stage: Stage) -> None:
    """A backup, at first over a file that is there."""
    path = stage.folder / "backup.tar.gz"
    path.write_text("precious", encoding="utf-8")
    stage.run("backup refused", "miner", "backup", path, names="none")
    stage.value("precious", path.read_text(encoding="utf-8"))
    path.unlink()
    stage.run("backup", "miner", "backup", path)
    stage.run("backup checked", "miner", "backup", path, "--check", study=None)
    with tarfile.open(path) as archive:
        files = [
            (member.name, archive.extractfile(member).read())  # type: ignore[union-attr]
            for member in archive.getmembers()
        ]
    stage.value("backup: key", any(name == "study.key" for name, _data in files))
    key = (stage.study() / "study.key").read_text(encoding="ascii").strip()
    sought = {"hers": _WORDS, "poem": _POEM, "key": key}
    stage.value("backup: found", _found(_texts(files), sought))
    restored = stage.folder / "restored"
    shutil.rmtree(restored, ignore_errors=True)
    restored.mkdir()
    with tarfile.open(path) as archive:
        archive.extractall(restored, filter="data")
    same = compare.views(restored, _VIEWS) == compare.views(stage.study(), _VIEWS)
    stage.value("backup: the same rows", same)


# Looking for strings


def _found(contents: Iterable[str | bytes], sought: dict[str, str]) -> list[str]:
    """Of which kinds something is in these contents: in texts whatever the case."""
    whole = [each if isinstance(each, bytes) else each.casefold() for each in contents]
    return sorted(
        kind
        for kind, words in sought.items()
        if any(
            words.encode() in each if isinstance(each, bytes) else words.casefold() in each
            for each in whole
        )
    )


def _in_study(stage: Stage) -> Iterator[str | bytes]:
    """All rows of all views, and the bytes of the database."""
    names = compare.view_names(stage.study())
    with compare.opened(stage.study()) as connection:
        for name in names:
            rows = connection.execute(f"FROM {name}").fetchall()
            yield json.dumps(rows, default=str, ensure_ascii=False)
    for path in stage.study().glob("study.duckdb*"):
        yield path.read_bytes()


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def _texts(files: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    """Everything in files that can be read, also inside Parquet."""
    for name, data in files:
        yield name
        yield data.decode("utf-8", errors="replace")
        if name.endswith(".parquet"):
            rows = pq.read_table(io.BytesIO(data))
            yield json.dumps(rows.to_pylist(), default=str, ensure_ascii=False)
            yield str(rows.schema)


def _hub() -> World:
    """Issues in which everybody writes what they should not."""
    tracker = Tracker(_PROJECT, 77, [])
    people = {login: user(login, 100 + place) for place, login in enumerate((_LOGIN, _HERS, "ann"))}
    for number in range(1, 19):
        at = START + number * 3600
        issue = payloads.issue(Entry(number, 500 + number, at, at, None, 2, (), False), "a/b")
        words = {_HER_ISSUE: _WORDS, _FORGOTTEN: _POEM}.get(number, "x" * number)
        issue |= {"title": f"{number}: {_TEXT}", "body": f"{_TEXT} {words}"}
        issue["user"] = people[{3: _LOGIN, _HER_ISSUE: _HERS}.get(number, "ann")]
        issue["milestone"] = {"title": f"for @{_LOGIN}", "number": 1}
        issue["labels"] = [payloads.label(_PROJECT, name) for name in (f"for @{_LOGIN}", _MAIL)]
        said = {"created_at": zulu(at), "updated_at": zulu(at)}
        hers = {**said, "user": people[_HERS], "body": f"{_WORDS} {number}"}
        tracker.receive(
            issue, [hers, {**said, "user": people["ann"], "body": _TEXT}], number, at + 60
        )
    world = World(tracker)
    for resource in ("core", "search"):
        world.quota(None, resource).remaining = PLENTY
    return world
