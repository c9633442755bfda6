"""Data dumps of Stack Exchange as XML, gzip and 7z, with damaged rows, cut, and read again."""

from __future__ import annotations

import gzip
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import compare
from data_dumps import answer, comment, document, question, row, small_comments, small_dump
from golden.stage import Stage

_VIEWS = ("posts", "comments", "artifacts", "dumps")
_STORED = (
    "SELECT artifact_id, (SELECT count(*) FROM comments AS c "
    "WHERE c.artifact_id = p.artifact_id) AS comments FROM posts AS p"
)
_TAGS = ("--tag", "keras", "--tag", "tensorflow")
# One after the other, in one study: each reads what the ones before it have not.
_SELECTIONS = (
    ("accepted", "--tag", "keras", "--accepted", "--no-answers", "--no-comments"),
    ("all tags", "--tag", "Keras", "--tag", "python", "--all-tags", "--no-comments"),
    ("odd tags", "--tag", "c++", "--tag", "keras-layer", "--no-answers"),
    ("unknown", "--tag", "keras", "--tag", "kears"),
    ("since", "--tag", "pandas", "--since", "2020-01-02"),
    ("since later", "--tag", "pandas", "--since", "2020-01-03"),
    ("everything",),
    ("everything again",),
)
# Stands in for 7-Zip, which not every machine has: an archive is the name of a folder.
_SEVEN_ZIP = f"""#!{sys.executable}
import pathlib, shutil, sys
archive = next(word for word in sys.argv if word.endswith(".7z"))
folder = pathlib.Path(open(archive).read())
if sys.argv[1] == "l":
    print("\\n\\n".join(f"Path = {{path.name}}\\nSize = 1" for path in sorted(folder.iterdir())))
    sys.exit(0)
with (folder / sys.argv[-1]).open("rb") as file:
    shutil.copyfileobj(file, sys.stdout.buffer)
sys.exit(2 if "broken" in archive else 0)
"""
_SPELLINGS = (
    "|keras|keras-layer|", "<keras><c++>", "|c++|", "<.net><c#>", "|java|", "<javascript>", "||",
    "<>", "", " <b> <keras>\n", " | b |keras| ", "|KERAS|", "&|keras", "|a&b|\u00e9|", "keras",
)  # fmt: skip
_BODY = '<p Tags="|keras|">a &lt; b</p>\r\n\t<code>x = "1"</code> \u00fc \U0001f525 ]]>'
_ODD = (
    question(101, Score="-3", ViewCount=2**40, AnswerCount="many"),
    question(102, AcceptedAnswerId="x"),
    question(113, OwnerUserId=None, OwnerDisplayName="J\u00f6rg", LastEditorDisplayName="Ed"),
    question(114, OwnerUserId=None),
    question(103, ClosedDate="2021-01-01T00:00:00.123", LastEditDate="2020-06-01T00:00:00"),
    question(104, Title="a < b & c \u00ab\u00fc\u00bb", body=_BODY),
    question(105, CreationDate="2019-12-31T23:59:59.999", OwnerUserId=-1),
    question(106, Score=None, ViewCount=None, AnswerCount=None, ContentLicense=None, Title=None),
    question(12_345_678_901_234).replace(" />", "></row>"),
    question(107).replace("|keras|", "&#124;keras&#x7c;"),
    "<row\n\tTags='|keras|'\n\tPostTypeId='1'\n\tId='108'\n/>",
    question(109).replace("Tags=", "OtherTags='x' Tags="),
    question(110, body="", CommunityOwnedDate="2020-06-01T00:00:00.000"),
    question(111).replace(" Score", "\r\n    Score"),
    question(112, AcceptedAnswerId=2112, OwnerUserId=8),
    answer(2112, 112, OwnerUserId=8, OwnerDisplayName=None, LastEditDate="2020-02-01T00:00:00.1"),
    row(Id=2113, PostTypeId=2, CreationDate="2020-01-03T03:04:05.678", ParentId=112),
    "<row\n Id='2114' ParentId='112' PostTypeId='2' />",
    answer(2115, 9999),
    *(row(Id=3000 + kind, PostTypeId=kind, Tags="|keras|", Body="x") for kind in range(3, 9)),
)
_ODD_COMMENTS = (
    comment(1, 112),
    comment(2, 2112, "Thanks @J\u00f6rg & co <3", UserId=None, UserDisplayName="jane"),
    comment(3, 2113, Score=-1),
    comment(4, 2114, "", CreationDate="2020-01-04T00:00:00"),
    comment(5, 9999),
    comment(6, 3004),
    comment(7, 101, ContentLicense="CC BY-SA 4.0", Score=2**40),
)
_GOOD = question(1)
_DAMAGED = (
    _GOOD.replace('Id="1"', 'Nr="1"', 1),
    _GOOD.replace('Id="1"', 'Id="x"', 1),
    _GOOD.replace('Id="1"', f'Id="{"9" * 5000}"', 1),
    _GOOD.replace(' Score="3"', ' Score="3'),
    _GOOD.replace("Loss", "&bomb;"),
    _GOOD.replace("Loss", "%%"),  # bytes that are no UTF-8
    _GOOD.replace("Loss", "&#x1;"),
    _GOOD.replace("Score", "Id"),
    _GOOD.replace("2020-01-02T", "2020-02-30T"),
    _GOOD.replace("2020-02-03T", "31708-02-03T"),
)
_REFUSED = {
    "type.xml": b'<?xml version="1.0"?><!DOCTYPE posts [<!ENTITY a "b">]><posts></posts>',
    "bomb.xml": b"<!DOCTYPE a [" + b'<!ENTITY a "aaaaaaaa">' * 9000 + b"]><posts><row/></posts>",
    "utf16.xml": document(small_dump()).decode("utf-8-sig").encode("utf-16"),
    "bare.xml": document(small_dump(), mark="").decode().encode("utf-16-le"),
    "latin.xml": document(small_dump(), mark="").replace(b"utf-8", b"iso-8859-1"),
    "users.xml": document([row(Id=1, DisplayName="Jane")], root="users"),
    "page.xml": b"<!doctype html><html><body>Not found</body></html>",
    "words.xml": b"Not found",
    "nothing.xml": b"",
    "empty.xml": document([]),
    "Posts.zip": b"PK",
    "Posts.xml.gz": b"no gzip",
    "none.7z": b"7z",
}
_SITES = {
    "datascience.stackexchange.com/Posts.xml": ("datascience.stackexchange.com", "superuser.com"),
    "stackoverflow.com-Posts.xml": ("stackoverflow.com", "ai"),
    "es.meta.stackoverflow.com-Posts.xml": ("es.meta.stackoverflow.com", "stackoverflow.com"),
    "stackoverflow.com/ai.stackexchange.com-Posts.xml": ("ai", "stackoverflow.com"),
}


def run(stage: Stage) -> None:
    # Bodies so long that a file has more than one of the blocks in which it is read.
    posts = [text.replace("why ", f"{'why' * 100} ") for text in small_dump()]
    whole = _dump(stage.folder / "dumps" / "whole", posts, small_comments())
    _read(stage, "xml", whole, *_TAGS)
    stage.views("xml", *_VIEWS, study="xml")
    undisturbed = _rows(stage, "xml")
    _packed(stage, whole, undisturbed)
    _cut(stage, whole, undisturbed)
    _selected(stage, whole)
    _odd(stage)
    _damaged(stage)
    _another(stage)
    _refused(stage)
    _sites(stage)


def _dump(folder: Path, posts: Iterable[str], comments: Iterable[str], newline: str = "\n") -> Path:
    """Posts.xml with Comments.xml beside it."""
    folder.mkdir(parents=True)
    (folder / "Posts.xml").write_bytes(document(posts, newline=newline))
    comments_file = document(comments, root="comments", newline=newline)
    (folder / "Comments.xml").write_bytes(comments_file)
    return folder / "Posts.xml"


def _read(stage: Stage, label: str, path: Path, *words: str, study: str = "") -> str:
    """Read a dump; what is printed on standard error."""
    ended = stage.run(label, "miner", "posts", *words, "--from-dump", path, study=study or label,
                      environment={"PATH": str(stage.folder / "bin")}, names="none")  # fmt: skip
    return ended.err


def _packed(stage: Stage, whole: Path, undisturbed: dict[str, compare.Observation]) -> None:
    """The same dump in other forms, and packed files that are broken."""
    folder = stage.folder / "dumps" / "packed"
    folder.mkdir(parents=True)
    for name in ("Posts.xml", "Comments.xml"):
        text = whole.with_name(name).read_bytes()
        parts = (text[:9000], text[9000:])  # of several members, as some programs write it
        (folder / f"{name}.gz").write_bytes(b"".join(map(gzip.compress, parts)))
    _read(stage, "gz", folder / "Posts.xml.gz", *_TAGS)
    for name in ("-stackoverflow.com.7z", "broken.7z"):
        (folder / name).write_text(str(whole.parent), encoding="utf-8")
    _read(stage, "no tool", folder / "broken.7z", *_TAGS)
    tool = stage.folder / "bin" / "7zz"
    tool.parent.mkdir()
    tool.write_text(_SEVEN_ZIP, encoding="utf-8")
    tool.chmod(0o755)
    _read(stage, "7z", folder / "-stackoverflow.com.7z", *_TAGS)
    for study in ("gz", "7z"):
        stage.views(study, "dumps", study=study)
        stage.value(f"{study} as xml", _rows(stage, study) == undisturbed)
    for name, study in (("Posts.xml.gz", "broken gz"), ("Comments.xml.gz", "xml")):
        path = folder / name
        packed = gzip.compress(whole.with_name(name[:-3]).read_bytes(), 1, mtime=0)
        for how, content in (
            ("damaged", packed[:-8] + b"12345678"),
            ("cut", packed[: len(packed) // 2]),
        ):
            path.write_bytes(content)
            words = ("--tag", "python" if how == "cut" else "pandas")
            printed = _read(stage, f"{how} {name}", folder / "Posts.xml.gz", *words, study=study)
            stage.value(f"{how} {name} named", name in printed)
            stage.views(f"{how} {name}", "dumps", study=study)
        path.write_bytes(packed)
    _read(stage, "broken 7z", folder / "broken.7z", *_TAGS)
    stage.views("broken 7z", "dumps", study="broken 7z")


def _rows(stage: Stage, study: str) -> dict[str, compare.Observation]:
    return compare.views(stage.study(study), ("posts", "comments", "artifacts"))


def _selected(stage: Stage, whole: Path) -> None:
    """Other questions of the same file, and the whole of it."""
    for name, *words in _SELECTIONS:
        _read(stage, name, whole, *words, study="selected")
        stage.query(name, _STORED, study="selected")
    stage.views("selected", "dumps", study="selected")
    before = _rows(stage, "selected")
    stage.run("rebuild", "miner", "rebuild", study="selected")
    stage.value("rebuilt", _rows(stage, "selected") == before)


def _odd(stage: Stage) -> None:
    """Both spellings of tags, odd values, and rows as other programs write them."""
    spelled = [question(number, tags) for number, tags in enumerate(_SPELLINGS, 1)]
    for newline in ("\r\n", ""):
        folder = stage.folder / "dumps" / f"odd {'lines' if newline else 'one line'}"
        path = _dump(folder, [*spelled, *_ODD], _ODD_COMMENTS, newline)
        _read(stage, folder.name, path, "--tag", "keras")
        stage.views(folder.name, *_VIEWS, study=folder.name)
    for tag in ("c++", ".net", "C#", "c", "java", "net", "a&b", "\u00e9", "|keras|"):
        words = ("--tag", tag, "--no-answers", "--no-comments")
        _read(stage, f"tag {tag}", path, *words, study=folder.name)
    stage.query("tags", "SELECT artifact_id, tags FROM posts", study=folder.name)
    stage.views("tags", "dumps", study=folder.name)


def _damaged(stage: Stage) -> None:
    """Each damaged row is named by its place, and those around it are read."""
    for start in (0, 5):  # so many are named at least
        rows = [question(start + 10)]
        for number, damaged in enumerate(_DAMAGED[start : start + 5], start + 11):
            rows += [damaged, question(number), answer(1000 + number, number)]
        comments = [comment(1, 11), comment(2, 12).replace('Id="2"', ""), comment(3, 1016)]
        label = f"damaged {start}"
        path = _dump(stage.folder / "dumps" / label, rows, comments)
        text = path.read_bytes().replace(b"%%", b"\xe4")
        path.write_bytes(text)
        printed = _read(stage, label, path, "--tag", "keras", study="damaged")
        stage.views(label, *_VIEWS, study="damaged")
        starts = [start for start in range(len(text)) if text.startswith(b"<row", start)]
        places = [start for start in starts if f"{start:,}" in printed or f" {start} " in printed]
        stage.value(f"{label}, rows", places)
    path.write_bytes(document(f'<row Nr="{number}" />' for number in range(500)))
    _read(stage, "500 damaged", path, study="damaged")
    stage.views("500 damaged", "dumps", study="damaged")


def _cut(stage: Stage, whole: Path, undisturbed: dict[str, compare.Observation]) -> None:
    """A file that is cut at five places keeps what is whole, and goes on when it is complete."""
    text = whole.read_bytes()
    third = text.index(b"<row", len(text) // 3)
    late = text.index(b"/>", 3 * len(text) // 4)
    for number, cut in enumerate((third + 30, third, late + 1, late + 2, len(text) - 3)):
        study = f"cut {number}"
        path = shutil.copytree(whole.parent, stage.folder / "dumps" / study) / "Posts.xml"
        path.write_bytes(text[:cut])
        _read(stage, study, path, *_TAGS)
        stage.query(study, _STORED, study=study)
        stage.views(study, "dumps", study=study)
        path.write_bytes(text)
        _read(stage, f"{study}, whole", path, *_TAGS, study=study)
        stage.views(f"{study}, whole", "dumps", study=study)
        stage.value(f"{study}, as xml", _rows(stage, study) == undisturbed)


def _another(stage: Stage) -> None:
    """A file of the same name that is another one: its rows are the newer ones."""
    rows = [question(number) for number in range(1, 9)]
    path = _dump(stage.folder / "dumps" / "another", rows, [comment(1, 4), comment(2, 8)])
    _read(stage, "first", path, "--tag", "keras", study="another")
    newer = [question(1, "|pandas|"), question(4, Title="Newer", Score=9),
             question(5, Title="Older", LastActivityDate="2019-01-01T00:00:00.000"),
             question(90), answer(91, 90), answer(92, 8)]  # fmt: skip
    path.write_bytes(document(newer))
    _read(stage, "second", path, "--tag", "keras", study="another")
    stage.views("second", *_VIEWS, study="another")
    with path.open("ab") as file:
        file.write(b"\n")
    _read(stage, "longer", path, "--tag", "keras", study="another")
    stage.views("longer", *_VIEWS, study="another")


def _refused(stage: Stage) -> None:
    """What is no dump: it makes no study."""
    folder = stage.folder / "dumps" / "refused"
    folder.mkdir(parents=True)
    (folder / "folder.xml").mkdir()
    for name, content in _REFUSED.items():
        (folder / name).write_bytes(content)
    for name in (*_REFUSED, "folder.xml", "missing.xml"):
        _read(stage, name, folder / name, "--tag", "keras", study="refused")
    path = _dump(stage.folder / "dumps" / "badges", [question(1)], [])
    (path.parent / "Comments.xml").write_bytes(document([row(Id=1)], root="badges"))
    _read(stage, "badges", path, "--tag", "keras", study="refused")
    stage.views("refused", "posts", "dumps", study="refused")
    _read(stage, "two sources", path, "--from-sede", str(path), study="refused")
    _read(stage, "no day", path, "--since", "soon", study="refused")


def _sites(stage: Stage) -> None:
    """Dumps whose name tells their site."""
    for name, sites in _SITES.items():
        path = stage.folder / "dumps" / "sites" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(document([question(1), answer(2, 1)]))
        for site in sites:
            _read(stage, f"{name} as {site}", path, "--site", site, study="sites")
    stage.views("sites", *_VIEWS, study="sites")
