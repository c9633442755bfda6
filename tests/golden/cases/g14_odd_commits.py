"""A git repository of commits that break miners, read with all changes and functions; others
read by keywords, after history was rewritten, and after objects were lost.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence

import compare
from golden.stage import Stage
from repositories_on_disk import EPOCH, PERSON, Repository, linear

_VIEWS = ("commits", "commit_files", "commit_hunks", "commit_functions")
_TEXT = b"".join(b"line %d of a file\n" % number for number in range(20))
_MAILMAP = b"Ada Lovelace <ada@example.org> <ada@old.example>\nBob <bob@example.org> Bobby <b@x>\n"
_AUTHORS = (
    b"Nobody",
    b"Ada <ada@example.org>",
    b"Ada <ada@example.org> never",
    b"Ada <ada@example.org> 99999999999999999999999 +0000",
    b"Ada <ada@example.org> 100000000000000 +051800",
    b"Ada <ada@example.org> 253402300799 +0000",
    b"Ada <ada@example.org> 253402300800 +0000",
    b"Ada <ada@example.org> -5 -0000",
    b"Ada <ada@example.org> -62135596801 +0000",
    b"A > B <ada@example.org> 7 utc",
    b" <> 0 +0100",
    b"<> 1 +9999",
    b"A <ADA@old.example> 1 +0000",
    b"Bobby <b@x> 2 +0000",
    b"Octo <7+octo@users.noreply.github.com> 3 -0330",
    b"octo <octo@users.noreply.github.com> 4 +0000",
    b"dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com> 5 +0000",
    b"J\xf6rg <joerg@example.org> 6 +0000",
    "Jörg <joerg@example.org> 6 +0000".encode(),
    b'"Ada, B." <ada @ example . org> 8 +0000',
)
_MESSAGES = (
    (b"encoding ISO-8859-1\n", b"r\xe9sum\xe9\n"),
    (b"", b"r\xe9sum\xe9\n"),
    (b"", b"\x81\x8d\x8f\n"),
    (b"encoding windows-1251\n", b"\xe4\xe0\n"),
    (b"encoding ISO-2022-JP\n", "修正 fix".encode("iso-2022-jp")),
    (b"encoding ISO-2022-JP\n", b"plain fix"),
    (b"encoding HZ-GB-2312\n", "修正".encode("hz")),
    (b"encoding GB18030\n", "修正 bug".encode("gb18030")),
    (b"encoding UTF-16\n", "fix".encode("utf-16")),
    (b"encoding no-such-thing\n", "ja é".encode()),
    (b"encoding zlib_codec\n", b"\xff\xfe"),
    (b"encoding UTF-8\n", "résumé".encode()),
    (b"encoding UTF-8\nencoding latin1\n", b"r\xe9"),
    (b"gpgsig -----BEGIN\n \n author X <x> 1 +0\n -----END\n", b"signed"),
    (b"mergetag object 1\n type commit\n\n", b"a tag"),
    (b"", b""),
    (b"", b"\n\n\n"),
    (b"", b"before\x00behind\n"),
    (b"", b"\n\n  body\r\n\x01mark\n\n"),
    (b"", b"long " * 300_000),
    (b"", "Fix: 損失 of the 🔥 layer (#12)\n\nFixes o/m#3, closes #4".encode()),
    (b"", b"Merge pull request #5 from x/y\n\nCo-authored-by: Bob <bob@example.org>\n"),
    (b"", b"This reverts commit 0123456789abcdef0123456789abcdef01234567.\n"),
    (b"", b"bug\n(cherry picked from commit 0123456789abcdef0123456789abcdef01234567)\n"),
    (b"", b"Thanks to @octo and bob@example.org\n\nSigned-off-by: Ada <ada@example.org>\n"),
    (b"", b"prefix suffix debugging FIXED fixes Bugfix bug-fix b\xc3\xbcg\n"),
)  # fmt: skip
_FILES = "SELECT artifact_id, path, old_blob, new_blob, added, deleted, hunks FROM commit_files"
_KEYWORDS = (
    ("bugfix", "--keywords", "bugfix"),
    ("both", "--keywords", "bugfix", "--keywords", "ml"),
    ("either", "--keywords", "bugfix", "--keywords", "ml", "--any-keyword"),
    ("own", "--keywords", "own", "--functions"),
    ("unknown", "--keywords", "nowhere"),
    ("since", "--all", "--since", "2017-07-14"),
    ("since later", "--since", "2030-01-01"),
    ("branches", "--keywords", "ml", "--all-branches"),
    ("default", "--project", "else/where"),
)


def run(stage: Stage) -> None:
    _odd(stage)
    _many_files(stage)
    _long_hashes(stage)
    _keywords(stage)
    _rewritten(stage)
    _lost(stage)


def _odd(stage: Stage) -> None:
    """Everything odd on branches of one repository, and files as they were before commits."""
    made = Repository(stage.folder / "odd.git")
    made.git("config", "remote.origin.url", "https://github.com/o/m.git")
    first = made.commit({"a": b"1\n"})
    made.commit({"a": b"2\n", ".mailmap": _MAILMAP}, b"fix: mailmap", [first])
    for number, author in enumerate(_AUTHORS):
        made.commit({"a": b"1\n"}, b"author %d" % number, author=author, branch=f"a{number}")
        made.commit({"a": b"1\n"}, b"committer %d" % number, committer=author, branch=f"c{number}")
    for number, (headers, message) in enumerate(_MESSAGES):
        made.commit({"a": b"1\n"}, message, headers=headers, branch=f"m{number}")
    before = [*_names(made), *_contents(made), *_moves(made), *_sources(stage, made)]
    _merges(made)
    words = (made.folder, "--all", "--all-branches", "--functions")
    stage.run("odd", "miner", "commits", *words, study="odd")
    stage.views("odd", *_VIEWS, study="odd")
    stage.run("odd again", "miner", "commits", *words, study="odd")
    again = (compare.views(stage.study("odd"), [name])[name] for name in _VIEWS)
    stage.value("odd again", [len(found["rows"]) for found in again])
    _show(stage, [*before, *_refused(before[-1][0], first)])


def _show(stage: Stage, versions: Sequence[tuple[str, str]]) -> None:
    """Bytes of files before commits."""
    for number, (sha, path) in enumerate(versions):
        label = f"before {number}, {path!r}"
        ended = stage.run(label, "miner", "commits", "--show-before", sha, path, study="odd")
        stage.value(label, ended.out.encode(errors="surrogateescape"))


def _refused(sha: str, root: str) -> Iterator[tuple[str, str]]:
    for path in ("nowhere", "", "/etc/passwd", "../x", "kinds/"):
        yield sha, path
    for commit in ("0000000", "HEAD", "--upload-pack=x", sha + "0" * 24, "abc", sha[:-1] + "g"):
        yield commit, "a"
    yield root, "a"


def _names(made: Repository) -> list[tuple[str, str]]:
    """Names with tabs, line feeds, quotes and bytes that are no UTF-8."""
    names = [b"tab\there", b"line\nfeed", b'quo"te', b"back\\slash", b" blank ", b"-dash", b"%s",
             "ü.txt".encode(), "u\u0308.txt".encode(), b"{a => b}", b"a => b", b"c\x01",
             b"caf\xe9/x"]  # fmt: skip
    old = {name: b"1 " + name for name in names}
    new = {name: b"2 " + name for name in names}
    first = made.commit({**old, b"latin\xe9": _TEXT}, b"names", branch="names")
    second = made.commit({**new, b"\xe9new": _TEXT}, b"fix names", [first], branch="names")
    odd = (*names, b"latin\xe9", b"\xe9new")
    return [(second, name.decode(errors="surrogateescape")) for name in odd]


def _contents(made: Repository) -> list[tuple[str, str]]:
    """Lines that look like patches, line ends, binary files, long lines, cut hunks."""
    old = b"- a\n-- b\n+++ c\ndiff --git a/x b/x\n@@ -1 +1 @@\n\x01" + b"0" * 40 + b"\n:100644\n"
    new = old.replace(b"-- b\n", b"++ b\n--- a/x\n") + b"no end"
    late, wide = b"x\n" * 5000, b"w" * 100_000
    files: list[dict[str | bytes, bytes | tuple[str, str]]] = [
        {"patch.py": old, "crlf": b"1\r\n2\r\n", "cr": b"1\r2\r3", "b": b"\0\1\2", "empty": b"",
         "late": late + b"\0y\n", "latin": b"caf\xe9\r\n no end", "wide": wide, "same": b"s",
         "long": b"".join(b"line %07d\n" % number for number in range(12_000))},
        {"patch.py": new, "crlf": b"1\r\n3\r\n", "cr": b"1\r4\r3", "b": b"\0\1\3", "empty": b"\n",
         "late": late + b"\0z\n", "latin": b"caf\xe9s\r\n no end\n", "wide": wide + b"!",
         "same": b"s", "long": b"", "gone bad": b"\xff\xfe\0"},
        {"patch.py": old, "crlf": b"1\n3\n", "cr": b"", "b": b"text now\n", "empty": b"\0",
         "wide": b"narrow\n", "same": b"s", "long": b"short"},
    ]  # fmt: skip
    parents: list[str] = []
    for number, contents in enumerate(files):
        parents = [made.commit(contents, b"fix %d" % number, parents, branch="contents")]
    parent = made.git("rev-parse", "contents~1").decode()
    return [
        *((parents[0], name) for name in files[0]),
        *((parent, name) for name in ("latin", "b", "late", "gone bad")),
    ]


def _moves(made: Repository) -> list[tuple[str, str]]:
    """Renames, copies, modes, links, submodules, and commits that change nothing."""
    run = made.blob(b"#!\n")
    first = made.commit(
        {"moved": _TEXT, "edited": _TEXT + b"x\n", "far": _TEXT, "run": b"#!\n", "gone": b"1\n",
         "link": ("120000", made.blob(b"run")), "folder/x": b"4\n", "file": b"f\n",
         "modules/one": ("160000", "1" * 40), "copied": _TEXT * 2},
        b"one", branch="moves",
    )  # fmt: skip
    files: dict[str | bytes, bytes | tuple[str, str]] = {
        "to/moved": _TEXT, "to/edited": _TEXT + b"y\n", "run": ("100755", run),
        "far": b"".join(_TEXT.splitlines(keepends=True)[::3]), "link": b"a file\n",
        "folder": b"now a file\n", "file/x": b"f\n", "modules/one": ("160000", "2" * 40),
        "modules/two": ("160000", "3" * 40), "copied": _TEXT * 2, "copy": _TEXT * 2,
    }  # fmt: skip
    second = made.commit(files, b"fix: two", [first], branch="moves")
    tree = made.git("rev-parse", f"{second}^{{tree}}").decode()
    empty = made.commit(tree, b"empty", [second], branch="moves")
    files = {
        "to/moved": ("120000", made.blob(b"edited")), "to/edited": ("100755", run), "run": b"#!\n",
        "modules/one": b"no module\n", "link": ("120000", made.blob(b"folder")),
    }  # fmt: skip
    last = made.commit(files, b"fix: four", [empty], branch="moves")
    made.commit({}, b"fix: nothing left", [last], branch="moves")
    names = ("to/moved", "to/edited", "run", "gone", "link", "folder", "file", "far", "copy",
             "file/x", "folder/x", "modules/one", "modules/two", "copied")  # fmt: skip
    return [(sha, name) for sha in (second, last) for name in names] + [(empty, "run")]


def _sources(stage: Stage, made: Repository) -> list[tuple[str, str]]:
    """Versions of Python files: also of Python 2, half of one, and what is none."""
    text = (stage.inputs / "sources.json").read_text(encoding="utf-8")
    sources: dict[str, list[str | None]] = json.loads(text)
    parents: list[str] = []
    for number in range(max(map(len, sources.values()))):
        files: dict[str | bytes, bytes | tuple[str, str]] = {}
        for name, versions in sources.items():
            version = versions[min(number, len(versions) - 1)]
            if version is not None:
                files[f"kinds/{name}"] = version.encode()
        files["kinds/latin.py"] = b"def caf\xe9():\n    return '\xe9%d'\n" % number
        files[f"kinds/renamed_{number}.py"] = b"def a():\n    return %d\n" % number + _TEXT
        parents = [made.commit(files, b"fix sources %d" % number, parents, branch="sources")]
    return [(parents[0], f"kinds/{name}") for name in ("python2.py", "cr.py", "bom.py", "half.py")]


def _merges(made: Repository) -> None:
    """An octopus, a merge that changes what neither side has, and unrelated histories."""
    root = made.commit({"a": b"1\n"}, branch="merges")
    sides = [
        made.commit({"a": b"1\n", f"{number}": b"1\n"}, b"fix", [root], branch=None)
        for number in range(9)
    ]
    merge = made.commit({"a": b"1\n"}, b"fix: merge all", sides, branch="merges")
    other = made.commit({"b": b"other\n"}, b"another root", branch=None)
    made.commit({"c": b"evil\n"}, b"fix: evil merge", [merge, other], branch="merges")
    twice = made.commit({"d": b"1\n"}, b"twice the same parent", [root, root], branch="twice")
    made.commit({"d": b"2\n"}, b"fix behind it", [twice], branch="twice")


def _many_files(stage: Stage) -> None:
    """Five thousand files in one commit, and again in the next."""
    made = Repository(stage.folder / "many.git")
    blobs = [("100644", made.blob(b"x = 1\ny = %d\n" % number)) for number in (2, 3)]
    names = [f"d{number % 50}/f{number}.txt" for number in range(5000)]
    first = made.commit(dict.fromkeys(names, blobs[0]))
    made.commit(dict.fromkeys(names[:2500], blobs[1]), b"fix", [first])
    stage.run("many", "miner", "commits", made.folder, "--all", study="many")
    stage.views("many", "commits", study="many")
    for view, text in (("commit_files", "change"), ("commit_hunks", "text")):
        stage.query(
            f"many {view}",
            f"SELECT artifact_id, split_part(path, '/', 1) AS folder, count(*) AS files, "
            f"min(position) AS low, max(position) AS high, "
            f"md5(string_agg(concat_ws(' ', path, position, {text}), chr(10) ORDER BY path)) "
            f"AS digest FROM {view} GROUP BY ALL",
            study="many",
        )


def _long_hashes(stage: Stage) -> None:
    made = Repository(stage.folder / "long.git", "--object-format=sha256")
    first = made.commit({"a.py": b"def f():\n    pass\n"})
    made.commit({"a.py": b"def f():\n    return 1\n"}, b"fix", [first])
    stage.run("long", "miner", "commits", made.folder, "--functions", study="long")
    stage.views("long", *_VIEWS, study="long")


def _keywords(stage: Stage) -> None:
    """A plain history: which commits match, and whose changes are read."""
    made = linear(stage.folder / "plain.git", 12)
    tip = made.git("rev-parse", "main").decode()
    made.commit({"x.py": b"x = 1\n"}, b"Fix the gradients\n", [tip], branch="side")
    day = b" %d +0000" % (EPOCH + 86_400)
    made.commit({"x.py": b"x = 2\n"}, b"Fix the loss\n", [tip], author=PERSON + day,
                committer=PERSON + day)  # fmt: skip
    lexicons = stage.study("words") / "lexicons"
    lexicons.mkdir()
    (lexicons / "own.txt").write_text("# entries: words\npage\ncrash\n", encoding="utf-8")
    for name, *words in _KEYWORDS:
        copy = shutil.copytree(made.folder, stage.folder / f"{name}.git")
        stage.run(f"words {name}", "miner", "commits", copy, *words, study="words")
    _brief(stage, "words")
    words = ("--keywords", "own", "--functions")
    stage.run("more words", "miner", "commits", stage.folder / "bugfix.git", *words, study="words")
    _brief(stage, "words", "more words")


def _brief(stage: Stage, study: str, label: str = "") -> None:
    """Of plain histories: what was selected and read."""
    stage.query(
        label or study,
        "SELECT artifact_id, keyword_hits, diff, functions_read, files, added, gone_reason, "
        "(SELECT count(*) FROM commit_functions AS f WHERE f.artifact_id = c.artifact_id) "
        "AS functions FROM commits AS c",
        study=study,
    )


def _rewritten(stage: Stage) -> None:
    """Branches that were moved and deleted: their commits are marked, and may come back."""
    made = linear(stage.folder / "rewritten.git", 8)
    tips = {name: made.git("rev-parse", name).decode() for name in ("main", "main~3")}
    made.commit({"x.py": b"x = 1\n"}, b"fix aside", [tips["main~3"]], branch="side")
    words = ("commits", made.folder, "--all-branches")
    stage.run("before", "miner", *words, study="rewritten")
    made.git("update-ref", "-d", "refs/heads/side")
    made.commit({"y.py": b"y = 1\n"}, b"fix instead", [tips["main~3"]])
    stage.run("rewritten", "miner", *words, study="rewritten")
    _brief(stage, "rewritten")
    made.point("back", tips["main"])
    stage.run("come back", "miner", *words, study="rewritten")
    _brief(stage, "rewritten", "come back")
    stage.query("walks", "SELECT number, project, tips, seen, is_complete FROM git_walks",
                study="rewritten")  # fmt: skip


def _lost(stage: Stage) -> None:
    """Objects that a disk has lost: what can be read is read, and the rest when it is back."""
    for name in ("main~1:layers/layer_1.py", "main~3^{tree}", "main~5"):
        folder = f"lost {name[5]}"
        made = linear(stage.folder / f"{folder}.git", 8)
        lost = made.object_file(made.git("rev-parse", name).decode())
        content = lost.read_bytes()
        lost.unlink()
        words = ("commits", made.folder, "--all")
        stage.run(folder, "miner", *words, study="lost")
        stage.query(folder, "SELECT artifact_id, diff, files, added FROM commits", study="lost")
        stage.query(f"{folder}, files", _FILES, study="lost")
        lost.write_bytes(content)
        stage.run(f"{folder} and found", "miner", *words, study="lost")
    stage.query("found", _FILES, study="lost")
