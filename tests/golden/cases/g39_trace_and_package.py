"""The way out of a study: numbers for a manuscript, traces, packages, backups; and damaged ones."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from golden.stage import Stage
from loopback import World
from program import Call, Ended

_PROJECT = "example/tensors"
_FOLDER, _SUMS = "replication-package", "SHA256SUMS"
_RATERS = ("trillianastra", "arthurdent")
_COLUMNS = [word for rater in _RATERS for word in ("--rater-columns", rater)]
_TOKEN = "ghp_" + "Zq7" * 12
_TEXT = (
    "It crashes, says @zaphodbeeblebrox (marvin.paranoid@heart-of-gold.org), "
    f"see /home/fordprefect/hitchhiking/labels.xlsx with {_TOKEN}."
)
_SECRET = (_TOKEN, "marvin.paranoid@heart", "zaphodbeeblebrox", "fordprefect", "magrathea/planets")
_AUTHOR = ("Slartibartfast", "0000-0002-1825-0097", "10.5555/12345678")
_GAPS = ("labels.unmapped", "mapped.untargeted", "techniques.untargeted")
_IDS = ("artifact_id", "item_id", "rater", "code")
Files = dict[str, bytes]


def run(stage: Stage) -> None:
    _make_study(stage)
    stage.claims("study")
    _export(stage)
    _trace(stage)
    stage.run("check", "report", "claims", "check")
    files = _pack(stage, "open")
    stage.nowhere("open", (*_SECRET, *_RATERS), stage.folder / "open")
    _pack(stage, "review", "--double-blind", "--with-texts")
    _verify(stage, "review", stage.folder / "review.zip")
    texts = (stage.folder / "review" / "data" / "artifacts.csv").read_text(encoding="utf-8")
    stage.value("texts in review", "It crashes, says @" in texts)
    stage.nowhere("review", (*_SECRET, *_RATERS, *_AUTHOR), stage.folder / "review")
    _altered(stage, files)
    _hostile(stage)
    _backups(stage)
    _stale(stage)


def _make_study(stage: Stage) -> None:
    """Issues with texts that tell of people, labels of two raters, and numbers of both."""
    study = stage.study()
    stage.settings((stage.inputs / "study.toml").read_text(encoding="utf-8"))
    shutil.copy(stage.inputs / "claims.toml", study)
    world = World.small(_PROJECT)
    for number in (3, 4, 5):
        world.touch(number, _TEXT, title=_TEXT, body=f"{_TEXT} {'x' * number}")
    words = (_PROJECT, "--max-wait", "0", "--api-url", stage.serve(world).url)
    stage.run("fetch", "miner", "fetch", *words)
    stage.query("texts", "SELECT count(*) FROM artifacts WHERE body LIKE '%fordprefect%'")
    words = ("--item", "URL", *_COLUMNS, "--final", "final", "--stratum", "part")
    stage.run("import", "annotation", "import", "hp", stage.inputs / "labels.csv", *words,
              "--taxonomy", "hp-defects")  # fmt: skip
    stage.run("agreement", "annotation", "agreement", "hp", "--resamples", "50")
    stage.run("adjudicate", "annotation", "adjudicate", "hp", "--accuracy")
    stage.run("saturation", "annotation", "taxonomy", "saturation", "hp")
    stage.run("distribution", "analysis", "distribution", "hp-defects")
    stage.run("gap", "analysis", "coverage-gap", "--evidence", "study")
    stage.run("claims", "analysis", "claims")


# Numbers for a manuscript


def _export(stage: Stage) -> None:
    latex, table = stage.folder / "numbers.tex", stage.folder / "numbers.csv"
    stage.run("export", "report", "claims", "export", "--latex", latex, "--csv", table)
    stage.numbers("export", stage.folder, "numbers.tex")
    with table.open(encoding="utf-8", newline="") as file:
        names = [(row["claim_id"], row["command"]) for row in csv.DictReader(file)]
    text = latex.read_text(encoding="utf-8")
    rows = [(claim, command, claim in text) for claim, command in names]
    stage.table("names in LaTeX", ("claim", "command", "is in the file"), rows)
    stage.run("siunitx", "report", "claims", "export", "agreement-hp", "--latex", latex,
              "--siunitx", "--prefix", "My")  # fmt: skip
    stage.numbers("siunitx", stage.folder, "numbers.tex")
    found = stage.run("json", "report", "claims", "export", "claims", "--csv", table, "--json")
    stage.value("json", bool(json.loads(found.out)))
    for paper in ("paper", "good"):
        words = ("--check", stage.inputs / f"{paper}.tex")
        stage.run(f"manuscript {paper}", "report", "claims", "export", *words, names="none")
    stage.run("no target", "report", "claims", "export", names="none")
    stage.run("no result", "report", "claims", "export", "y", "--csv", table, names="none")


# Traces


def _trace(stage: Stage) -> None:
    """Claims of each result, with the ids of the rows behind them."""
    table = stage.folder / "all.csv"
    stage.run("all", "report", "claims", "export", "--csv", table)
    with table.open(encoding="utf-8", newline="") as file:
        ids = [row["claim_id"] for row in csv.DictReader(file)]
    chosen = [name for name in ids if name.startswith("claims.")]
    for result, most in (("agreement", 3), ("accuracy", 1), ("saturation", 1), ("distrib", 4)):
        chosen += [name for name in ids if name.startswith(result)][:most]
    chosen += [f"coverage-gap-study.{name}" for name in _GAPS]
    for name in chosen:
        ended = _called(stage, "report", "trace", name, "--rows", "10000", "--json")
        assert ended.code == 0, ended.err
        stage.value(f"trace {name}", _traced(ended))
    for label, words in (("start", ["claims.f"]), ("command", [r"\FAclaimsIssues"]),
                         ("unknown", ["claims.final-e2"]), ("several", ["claims."])):  # fmt: skip
        stage.run(f"trace by {label}", "report", "trace", *words, names="none")


def _traced(ended: Ended) -> dict[str, Any]:
    """What is behind a claim: the one place that knows the JSON of the command."""
    found = json.loads(ended.out)
    found = found.get("data", found)  # of the new program's document
    rows = found["rows"] and {
        "count": found["rows"]["count"],
        "ids": _digest([[row[key] for key in _IDS if key in row] for row in found["rows"]["first"]])
    }  # fmt: skip
    return {
        "result": found["result"]["result"],
        "run": found["run"]["command"],
        "rows": rows,
        "origins": {name: origin["count"] for name, origin in found["origins"].items()},
        "runs": [run["command"] for run in found["runs"]],
        "never mined": found["never_mined"],
        "has sources": bool(found["sources"]),
    }


def _digest(rows: list[list[str]]) -> str:
    text = json.dumps(sorted(rows), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


# Packages


def _pack(stage: Stage, name: str, *words: str) -> Files:
    """A package is made; its files, and they as text in a folder."""
    path = stage.folder / f"{name}.zip"
    stage.run(f"pack {name}", "report", "package", path, *words)
    with zipfile.ZipFile(path) as archive:
        files = {info.split("/", 1)[1]: archive.read(info) for info in archive.namelist()}
    for file, data in files.items():
        target = stage.folder / name / file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        if file.endswith(".parquet"):
            rows = pq.read_table(pa.BufferReader(data)).to_pylist()
            text = json.dumps(rows, default=str, ensure_ascii=False)
            target.with_suffix(".txt").write_text(text, encoding="utf-8")
    results = json.loads(files["claims.json"])["results"]
    claims = [claim for result in results for claim in result["claims"]]
    rows = [(claim["claim_id"], claim["value"]) for claim in claims]
    stage.table(f"{name}: claims", ("claim", "value"), rows)
    wrong = [
        file for file, digest in _sums(files[_SUMS]).items()
        if hashlib.sha256(files[file]).hexdigest() != digest
    ]  # fmt: skip
    stage.value(f"wrong sums in {name}", wrong)
    return files


def _verify(stage: Stage, label: str, path: Path) -> None:
    ended = stage.run(f"verify {label}", "report", "package", "--verify", path, "--json",
                      study=None, names="none")  # fmt: skip
    stage.table(f"not verified {label}", ("what",), _not_verified(ended))


def _not_verified(ended: Ended) -> list[list[str]]:
    """What was not verified: the one place that knows the JSON of the command."""
    if not ended.out:
        return [["the package"]]
    found = json.loads(ended.out)
    found = found.get("data", found)  # of the new program's document
    assert found["verified"]
    return [
        *([f"{claim['claim_id']} differs"] for claim in found["differs"]),
        *([f"{claim['claim_id']} cannot be"] for claim in found["cannot_be_verified"]),
        *([f"{name} is unclaimed"] for name in found["unclaimed"]),
        *(
            [f"{name} is unlike"]
            for name in found.get("unlike", found.get("differing_files")) or ()
        ),
    ]


def _sums(text: bytes) -> dict[str, str]:
    return {line.split()[1]: line.split()[0] for line in text.decode().splitlines()}


def _altered(stage: Stage, files: Files) -> None:
    """Packages that somebody changed; where it matters the checksums are right again."""
    changes: dict[str, Callable[[Files], object]] = {
        "label and claims": lambda new: (_change_label(new), _change_claims(new)),
        "readers": _change_tables,
        "no claims": lambda new: new.update({"claims.json": b"[" * 200_000}),
    }  # fmt: skip
    for label, change in changes.items():
        new = dict(files)
        change(new)
        _verify(stage, label, _zipped(stage, label, new))
    data = (stage.folder / "open.zip").read_bytes()
    flipped = bytearray(data)
    flipped[60] ^= 0xFF
    for label, content in (("flipped", bytes(flipped)), ("cut", data[: len(data) // 2])):
        path = stage.folder / f"{label}.zip"
        path.write_bytes(content)
        _verify(stage, label, path)
    for label, new in (("file and no sum", {**files, "more": b"x"}),
                       ("file unlike its sum", {**files, "claims.csv": b"x"})):  # fmt: skip
        _verify(stage, label, _zipped(stage, label, new, sums=files[_SUMS]))


def _zipped(stage: Stage, label: str, files: Files, sums: bytes | None = None) -> Path:
    path = stage.folder / f"{label}.zip"
    rest = {name: data for name, data in files.items() if name != _SUMS}
    lines = [f"{hashlib.sha256(rest[name]).hexdigest()}  {name}\n" for name in sorted(rest)]
    rest[_SUMS] = "".join(lines).encode() if sums is None else sums
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in rest.items():
            archive.writestr(f"{_FOLDER}/{name}", data)
    return path


def _change_label(files: Files) -> None:
    rows = pq.read_table(pa.BufferReader(files["study/answer.parquet"]))
    codes = rows.column("codes").to_pylist()
    codes[0] = ["E1"] if codes[0] != ["E1"] else ["A1"]
    at = rows.column_names.index("codes")
    changed = rows.set_column(at, "codes", pa.array(codes, rows.schema.field("codes").type))
    out = pa.BufferOutputStream()
    pq.write_table(changed, out)
    files["study/answer.parquet"] = out.getvalue().to_pybytes()


def _change_claims(files: Files) -> None:
    """Of the study's own claims one is raised, one excused, one missing, and one reads a file."""
    document = json.loads(files["claims.json"])
    [own] = [result for result in document["results"] if result["name"] == "claims"]
    claims = {claim["claim_id"]: claim for claim in own["claims"]}
    claims["claims.final-e1"]["value"] += 1
    claims["claims.issues"].update(value=claims["claims.issues"]["value"] + 1, cannot="no texts")
    hers = claims.pop("claims.hers")
    sql = "SELECT count(*) FROM read_text('/etc/passwd')"
    own["parameters"]["claims"].append({"name": "his", "statement": "His", "sql": sql})
    own["claims"] = [*claims.values(), {**hers, "claim_id": "claims.his"}]
    files["claims.json"] = json.dumps(document).encode()


def _change_tables(files: Files) -> None:
    """What readers open is something else than what is verified."""
    files["claims.csv"] += b"x\n"
    files["data/labels.csv"] = files["data/labels.csv"].replace(b"rater-01", b"rater-02")
    files["data/labels.parquet"] = files["data/raters.parquet"]
    files["data/more.csv"] = b"a\n"
    del files["data/runs.csv"]


def _hostile(stage: Stage) -> None:
    """Zip files that are no packages, and would do harm if they were unpacked."""
    names = (f"{_FOLDER}/../../evil", "/etc/evil", "evil", f"{_FOLDER}/a\\..\\evil")
    members: dict[str, list[tuple[zipfile.ZipInfo | str, bytes]]] = {
        **{f"name {number}": [(name, b"x")] for number, name in enumerate(names)},
        "link": [(_link(f"{_FOLDER}/claims.json"), b"/etc/passwd")],
        "bomb": [(f"{_FOLDER}/claims.json", bytes(30_000_000))],
        "clash": [(f"{_FOLDER}/a", b"x"), (f"{_FOLDER}/A", b"y")],
        "file and folder": [(f"{_FOLDER}/a", b"x"), (f"{_FOLDER}/a/b", b"y")],
        "no sums": [(f"{_FOLDER}/x", b"x")],
    }
    for label, content in members.items():
        path = stage.folder / f"{label}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in content:
                archive.writestr(name, data)
        _verify(stage, label, path)
    (stage.folder / "none.zip").write_bytes(b"PK\x03\x04 no zip file")
    for label in ("none", "missing"):
        _verify(stage, label, stage.folder / f"{label}.zip")
    stage.value("written elsewhere", sorted(path.name for path in stage.folder.rglob("evil*")))


def _link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


# Backups


def _backups(stage: Stage) -> None:
    whole = stage.folder / "whole.tar.gz"
    stage.run("backup", "miner", "backup", whole)
    stage.run("backup again", "miner", "backup", whole, names="none")
    stage.run("backup with key", "miner", "backup", whole, "--with-key", "--replace")
    with tarfile.open(whole) as archive:
        stage.value("backup files", sorted(archive.getnames()))
        archive.extractall(stage.folder / "restored", filter="data")
    stage.views("restored", "labels", "final_labels", study="restored")
    data = whole.read_bytes()
    for label, content in (("half", data[: len(data) // 2]), ("short", data[:-100]), ("empty", b""),
                           ("no archive", b"no archive"), ("whole", data)):  # fmt: skip
        _check_backup(stage, label, content)
    for name in ("../evil", "/evil", "study.duckdb/../../evil"):
        _check_backup(stage, f"name {name}", _tar({name: b"evil"}))
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
        link = tarfile.TarInfo("study.duckdb")
        link.type, link.linkname = kind, "/etc/passwd"
        _check_backup(stage, f"kind {kind.decode()}", _tar({"study.duckdb": link}))
    database = (stage.study() / "study.duckdb").read_bytes()
    _check_backup(stage, "other rows", _tar({"study.duckdb": database}, rows={"run": 1}))
    _check_backup(stage, "newer", _tar({"study.duckdb": database}, schema=999))
    _check_backup(stage, "no database", _tar({"study.duckdb": b"no database"}))


def _check_backup(stage: Stage, label: str, content: bytes) -> None:
    path = stage.folder / "backup.tar.gz"
    path.write_bytes(content)
    stage.run(f"backup {label}", "miner", "backup", path, "--check", study=None, names="none")


def _tar(members: dict[str, bytes | tarfile.TarInfo], **more: Any) -> bytes:
    """A backup as anybody could make one."""
    digests = {
        name: hashlib.sha256(data).hexdigest() if isinstance(data, bytes) else "0" * 64
        for name, data in members.items()
    }
    about = {"made_at": "", "version": "", "schema": 1, "rows": {}, "sha256": digests, **more}
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz", compresslevel=1) as archive:
        for name, data in {"backup.json": json.dumps(about).encode(), **members}.items():
            info = data if isinstance(data, tarfile.TarInfo) else tarfile.TarInfo(name)
            content = data if isinstance(data, bytes) else b""
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content) if content else None)
    return made.getvalue()


# A label that changes afterwards


def _stale(stage: Stage) -> None:
    sheet = stage.folder / "corrected.csv"
    text = (stage.inputs / "labels.csv").read_text(encoding="utf-8")
    sheet.write_text(re.sub(r"(issues/1,)\w+,", r"\1C2,", text), encoding="utf-8")
    words = ("--item", "URL", *_COLUMNS, "--stratum", "part")
    stage.run("correct", "annotation", "import", "hp", sheet, *words)
    ended = stage.run("check stale", "report", "claims", "check", "--json", names="none")
    found = json.loads(ended.out)
    found = found.get("data", found)["differences"]
    stage.table("stale", ("claim",), [[difference["claim_id"]] for difference in found])


def _called(stage: Stage, program: str, *words: str) -> Ended:
    """Like `stage.run`, for calls of which only the end is observed."""
    given = [*words, "--study", str(stage.study())]
    return stage.call(Call(program, given, str(stage.folder)))
