"""Studies of a team that become one, in both directions.

`ann` and `ben` fetched the same tracker at different times, with different keys; they labelled
different rounds and forgot different people and artifacts. `cleo` has the key of `ann`.
"""

from __future__ import annotations

import csv
import hashlib
import shutil
from collections.abc import Mapping, Sequence
from itertools import cycle

import compare
from data_dumps import SITE, answer, comment, document, question
from golden.stage import Stage
from loopback import TOKEN, World
from loopback.payloads import USERS
from loopback.stackexchange import StackExchange
from loopback.stackexchange_payloads import generated
from repositories_on_disk import PERSON, linear

LONGEST = 2_000  # so many rows are recorded as hashes
_PROJECT = "example/tensors"
_ISSUE = f"github:{_PROJECT}#"
_OTHER_KEY = "7" * 64
_CODES = ("4.2.1.L2", "5.4.1.L1", "5.4.2.L1")
_CHANGED, _DELETED, _ABROAD = 11, 13, 15  # what happened to issues between the fetches
_BIBTEX = """
@article{one, title = {Faults in Layers}, author = {Doe, Jane}, year = 2021, doi = {10.1000/one}}
@article{two, title = {Repair of Models}, author = {Roe, Max}, year = 2022, doi = {10.1000/two}}
@article{three, title = {Tests of Training}, author = {Poe, Ida}, year = 2023}
"""
_CSV = """Title,Year,DOI,Abstract
Repair of models,2022,,What it says
Tests of Training,2024,10.1000/three,
Faults in Layers,2021,10.1000/ONE,Shapes
Only Here,2020,10.1000/four,
"""
_CLEOS = """@article{five, title = {Only with Cleo}, year = 2020, doi = {10.1000/five}}
@article{four, title = {Only Here}, year = 2020, doi = {10.1000/four}}
"""
_OF_RUNS = ("run_id", "fetched_at", "response_id")


def run(stage: Stage) -> None:
    hub = World.small(_PROJECT)
    words = {login: _words(login) for login in ("person", "stranger")}
    places = {
        "github": stage.serve(hub).url,
        "exchange": stage.serve(
            StackExchange(list(generated(12, first=100_000)), page_limit=5)
        ).url,
    }
    logins = [str(user["login"]) for user in USERS]
    hub.touch(_by(logins[1]), body=words["person"])
    hub.touch(_by(logins[2]), body=words["stranger"])
    _ann(stage, places, logins)
    _happens(hub)
    _ben(stage, places, logins)
    _cleo(stage, places)
    _merged(stage, "ann", "ben")
    _merged(stage, "ben", "ann")
    _merged(stage, "cleo", "ann", twice=False)
    for name in ("ann and ben", "ben and ann"):
        stage.nowhere(name, [*words.values()], stage.study(name))
    _afterwards(stage, places, "ann and ben")
    _refused(stage)


def _words(name: str) -> str:
    """What somebody wrote: text that no compression hides."""
    return hashlib.shake_256(name.encode()).hexdigest(60)


def _by(login: str) -> int:
    """An issue that a user wrote."""
    return next(n for n in range(1, 27) if USERS[n * 7 % len(USERS)]["login"] == login)


def _happens(hub: World) -> None:
    """Between the two fetches."""
    hub.touch(_CHANGED, title="Newer title", comment="more of it", labels=["bug"])
    hub.touch(_ABROAD, state="closed")
    hub.delete(_DELETED)
    hub.create("crash")


def _ann(stage: Stage, places: Mapping[str, str], logins: Sequence[str]) -> None:
    """Issues, commits, a dump, papers, a sample and its round, labels of a sheet."""
    _miner(stage, "ann", "fetch", _PROJECT, "--max-wait", "0", "--api-url", places["github"])
    made = linear(stage.folder / "history.git", 8)
    _miner(stage, "ann", "commits", made.folder, "--project", _PROJECT, "--functions")
    rows = [question(n, "|keras|", AcceptedAnswerId=1000 + n, OwnerUserId=n) for n in range(1, 9)]
    rows += [answer(1000 + n, n, OwnerUserId=n + 1) for n in range(1, 9)]
    folder = stage.folder / "dump"
    folder.mkdir()
    (folder / "Posts.xml").write_bytes(document(rows))
    comments = document([comment(n, n % 8 + 1) for n in range(1, 9)], root="comments")
    (folder / "Comments.xml").write_bytes(comments)
    words = ("--tag", "keras", "--site", SITE, "--from-dump", folder / "Posts.xml")
    _miner(stage, "ann", "posts", *words)
    _papers(stage, "ann", "papers.bib", _BIBTEX)
    _miner(stage, "ann", "filter", "words", "--on", "commit", "--lexicon", "bugfix")
    raters = ("--rater", "ann", "--rater", "abe")
    for step, *rest in (
        ("sample", "main", "--size", "12", "--stratify", "kind", "--seed", "7"),
        ("round", "pilot", "--sample", "main", "--taxonomy", "humbatova", *raters),
    ):
        stage.run(f"ann {step}", "annotation", step, *rest, study="ann")
    _fill_in(stage, "ann", "pilot")
    stage.run("ann adjudicate", "annotation", "adjudicate", "pilot", "--rule", "majority",
              study="ann")  # fmt: skip
    items = [f"{_ISSUE}{number}" for number in range(2, 8)]
    _sheet(stage, "ann", "shared", items, {"ann": _CODES})
    _sheet(stage, "ann", "clash", items, {"ann": _CODES})
    for subject in (f"{_ISSUE}3", logins[1]):
        _miner(stage, "ann", "forget", subject)


def _ben(stage: Stage, places: Mapping[str, str], logins: Sequence[str]) -> None:
    """The tracker as it was later, posts of the site, other papers, other labels."""
    stage.study("ben", _OTHER_KEY)
    words = (_PROJECT, "--timeline", "--max-wait", "0", "--api-url", places["github"])
    stage.run("ben fetch", "miner", "fetch", *words, study="ben",
              environment={"GITHUB_TOKEN": TOKEN})  # fmt: skip
    words = ("--tag", "tensorflow", "--max-wait", "0", "--api-url", f"{places['exchange']}/2.3")
    _miner(stage, "ben", "posts", *words)
    _papers(stage, "ben", "papers.csv", _CSV)
    made = linear(stage.folder / "other.git", 3)
    _miner(stage, "ben", "commits", made.folder, "--project", "example/other", "--all")
    _miner(stage, "ben", "filter", "new", "--on", "issue", "--where", "state = 'open'")
    items = [f"{_ISSUE}{number}" for number in range(2, 10)]
    _sheet(stage, "ben", "second", [*items, "stackoverflow:2"], {"ben": _CODES, "bea": _CODES[:2]})
    stage.run("ben adjudicate", "annotation", "adjudicate", "second", "--rule", "majority",
              study="ben")  # fmt: skip
    for subject in ("stackoverflow:100020", "doi:10.1000/one", logins[2]):
        _miner(stage, "ben", "forget", subject)


def _cleo(stage: Stage, places: Mapping[str, str]) -> None:
    """The key of `ann`: some issues, more commits, the same items labelled by somebody else."""
    words = ("--state", "open", "--no-comments", "--max-wait", "0", "--api-url", places["github"])
    _miner(stage, "cleo", "fetch", _PROJECT, *words)
    made = linear(stage.folder / "longer.git", 8)
    tip = made.git("rev-parse", "main").decode()
    made.commit({"x.py": b"def f():\n    pass\n"}, b"fix more", [tip],
                author=PERSON.replace(b"ada@", b"cleo@") + b" 1600000000 +0000")  # fmt: skip
    _miner(stage, "cleo", "commits", made.folder, "--project", _PROJECT, "--all", "--functions")
    _papers(stage, "cleo", "cleo.bib", _CLEOS)
    items = [f"{_ISSUE}{number}" for number in range(2, 8)]
    _sheet(stage, "cleo", "third", items[1:], {"cleo": _CODES[::-1]})


def _miner(stage: Stage, study: str, command: str, *words: object) -> None:
    """A command of `miner` on somebody's study."""
    label = f"{study} {command} {words[0]}" if command in {"forget", "filter"} else command
    label = label if label.startswith(study) else f"{study} {command}"
    stage.run(label, "miner", command, *words, study=study)


def _papers(stage: Stage, study: str, name: str, text: str) -> None:
    path = stage.folder / name
    path.write_text(text, encoding="utf-8")
    _miner(stage, study, "papers", "--from", path)


def _sheet(
    stage: Stage, study: str, name: str, items: Sequence[str], raters: Mapping[str, Sequence[str]]
) -> None:
    """A round that is imported: raters give codes in turn."""
    path = stage.folder / f"{study}-{name}.csv"
    turns = [cycle(codes) for codes in raters.values()]
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["item", *raters])
        lines.writerows([item, *map(next, turns)] for item in items)
    words = ("--item", "item", "--rater-columns", "[abc]*", "--taxonomy", "humbatova")
    stage.run(f"{study} import {name}", "annotation", "import", name, path, *words, study=study)


def _fill_in(stage: Stage, study: str, name: str) -> None:
    """The raters fill the sheet of a round in."""
    path = stage.folder / f"{study}-{name}.csv"
    stage.run(f"{study} export", "annotation", "export", name, path, study=study)
    with path.open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    for number, row in enumerate(rows):
        row[head.index("ann")] = _CODES[number % 3]
        row[head.index("abe")] = _CODES[number % 2]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    stage.run(f"{study} import", "annotation", "import", name, path, study=study)


def _merged(stage: Stage, into: str, other: str, *, twice: bool = True) -> None:
    """A copy of one study takes the other, which stays as it is."""
    study = f"{into} and {other}"
    shutil.copytree(stage.study(into), stage.folder / study)
    before = compare.views(stage.study(other)) if twice else {}
    stage.run(study, "miner", "merge", stage.study(other), study=study)
    merged = _observe(stage, study)
    if twice:
        stage.run(f"{study}, again", "miner", "merge", stage.study(other), study=study)
        stage.value(f"{study}, again", _same(merged, compare.views(stage.study(study))))
        stage.value(f"{study}, other", _same(before, compare.views(stage.study(other))))


def _same(
    one: Mapping[str, compare.Observation], other: Mapping[str, compare.Observation]
) -> list[str]:
    """The views that are not the same."""
    return [name for name in one if one[name] != other[name]]


def _observe(stage: Stage, study: str) -> dict[str, compare.Observation]:
    """All views; of the time at which something was found to be gone only that it was."""
    gone, others = [], []
    views = compare.views(stage.study(study))
    for name, found in views.items():
        if found["rows"]:
            (gone if "gone_at" in found["columns"] else others).append(name)
    stage.views(study, *others, study=study)
    for name in gone:
        stage.query(
            f"{study} {name}",
            f"SELECT COLUMNS(lambda c: c NOT IN {_OF_RUNS}) "
            f"FROM (SELECT * REPLACE (gone_at IS NOT NULL AS gone_at) FROM {name})",
            study=study,
        )
    return views


def _afterwards(stage: Stage, places: Mapping[str, str], study: str) -> None:
    """The merged study is fetched again: what is forgotten stays away."""
    words = (_PROJECT, "--verify", "--max-wait", "0", "--api-url", places["github"])
    stage.run("verify", "miner", "fetch", *words, study=study)
    stage.query("verified", "SELECT artifact_id, title, gone_reason FROM artifacts", study=study)


def _refused(stage: Stage) -> None:
    """Rounds of one name with other labels, a study that is missing, and the study itself."""
    items = [f"{_ISSUE}{number}" for number in range(2, 8)]
    _sheet(stage, "cleo", "clash", items, {"ann": _CODES[1:]})
    for into, other in (("ann", "cleo"), ("ann", "ann")):
        before = compare.views(stage.study(into))
        label = f"{other} into {into}"
        stage.run(label, "miner", "merge", stage.study(other), study=into)
        stage.value(label, _same(before, compare.views(stage.study(into))))
    stage.run("missing", "miner", "merge", stage.folder / "nowhere", study="ann")
    stage.run("into none", "miner", "merge", stage.study("ben"), study="new")
    stage.query("new", "SELECT artifact_id, author FROM issues", study="new")
