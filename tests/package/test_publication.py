"""What a package publishes: by privacy class, after the last scan, and against attacks."""

from __future__ import annotations

import csv
import io
import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import time
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from population import Population

from faultatlas.data import evidence
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Claim, Result
from faultatlas.data.people import pseudonym, study_key
from faultatlas.data.results import Bar, Figure, Part
from faultatlas.data.schema import schema
from faultatlas.data.settings import About, Author
from faultatlas.report.package import contents, make, people
from faultatlas.report.package.archive import ROOT, SUMS, write
from faultatlas.report.package.claims import same_numbers
from faultatlas.report.package.contents import Options, parquet_parts
from faultatlas.report.package.make import figure_labels, pack
from faultatlas.report.package.people import Cleaner, Finding, Scanner, names_of_authors, scan
from faultatlas.report.package.verify import verify_package
from faultatlas.report.sections import Section

pytestmark = pytest.mark.usual_opening

Command = Callable[..., CompletedProcess[str]]

R = "a1B2c3D4e5F6g7H8i9J0" * 3
# As attackers found them in packages with texts.
LEAKED = {
    "AWS": "AKIA" + "ABCDEFGHIJ234567",
    "Hugging Face": "hf_" + R[:34],
    "Google": "AIza" + R[:35],
    "npm": "npm_" + R[:36],
    "Weights & Biases": "WANDB_API_KEY=" + R[:40],
    "password": "password=hunter2hunter2",
    "private key": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{R}\n-----END OPENSSH PRIVATE KEY-----",
}
# Times at which somebody else did something; all others show when the team worked.
OF_SOURCES = {"created_at", "updated_at", "closed_at", "merged_at", "edited_at", "pushed_at",
              "created_from", "created_to", "counted_from"}  # fmt: skip


@pytest.fixture(autouse=True)
def without_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of the copy is what takes long."""
    monkeypatch.setattr(make, "_report", lambda *_given: ({}, {}))


@pytest.fixture
def there(tmp_path: Path) -> Population:
    return Population.at(tmp_path / "study")


def content(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name.removeprefix(f"{ROOT}/"): archive.read(name) for name in archive.namelist()}


def packed(there: Population, options: Options) -> dict[str, bytes]:
    return content(pack(there.study, options, there.study.directory / "p.zip").path)


# Privacy classes


def test_every_privacy_class_is_published_by_its_own_rule() -> None:
    cleaner = Cleaner(names={"rater": {}, "server": {}, "file": {}, "run": {}})
    as_it_is = {"kept", "omitted", "never", "subject"}
    for name, privacy in schema().privacy.items():
        cleaning = contents._cleaning(name, cleaner, Options(with_texts=True))  # noqa: SLF001
        is_named = name == "person" or name in cleaner.names
        assert (cleaning is None) is (privacy.package in as_it_is and not is_named), name


def test_every_time_of_the_team_has_the_class_of_times() -> None:
    wrong = [
        f"{table.name}.{name}"
        for table in schema().packaged()
        for name, column in table.columns.items()
        if column.value_type == "TIMESTAMP"
        and (column.privacy == "time") is (name in OF_SOURCES)
        and (table.name, name) not in {("search_slice", "updated_at"), ("round", "created_at")}
    ]
    assert wrong == []


def test_for_double_blind_review_all_times_of_the_team_are_days(there: Population) -> None:
    there.issues("a", "b")
    with there.study.writing() as writer:
        writer.execute("UPDATE store.issue SET fetched_at = '2024-01-02 03:04:05'")
    files = packed(there, Options(double_blind=True))
    for table in schema().packaged():
        if (rows := files.get(f"study/{table.name}.parquet")) is None:
            continue
        for row in pq.read_table(pa.BufferReader(rows)).to_pylist():
            for name, column in table.columns.items():
                if column.privacy == "time" and row[name]:
                    assert row[name].time() == time(), (table.name, name)
    assert b"03:04:05" not in files["data/issues.csv"] + files["data/artifacts.csv"]


# People


def test_who_wrote_an_artifact_and_is_mentioned_does_not_stop_a_blind_package(
    there: Population,
) -> None:
    key = study_key(there.study.directory)
    there.issues("Thanks to @alice, see https://github.com/alice", "nothing")
    with there.study.writing() as writer:
        alice = pseudonym(key, "github.com", "alice")
        writer.execute("UPDATE store.issue SET author = ?", [alice])
    files = packed(there, Options(with_texts=True, double_blind=True))
    artifacts = files["data/artifacts.csv"].decode()
    assert "Thanks to @person-1" in artifacts
    assert "alice" not in artifacts
    assert alice not in artifacts


def test_a_mention_that_is_left_anywhere_is_found() -> None:
    scanner = Scanner(Cleaner(names={"person": {"person_0": "person-1"}}, is_blind=True), [])
    assert scanner.text("thanks @person-1") == []
    assert scanner.text("thanks @person-2") == ["a mention of a person"]
    assert scanner.text(f"by person_{'0' * 16}") == ["a pseudonym of the study"]
    named = {"claims.json": b'{"@id": "1", "statement": "says \\u0040zaphod"}', "x.css": b"@media"}
    assert scan(scanner, {}, named) == [Finding("claims.json", "a mention of a person")]


def test_labels_of_figures_are_scanned() -> None:
    figure = Figure("f", "Shares", "shares", "", bars=(Bar("trillian", (Part("x", 1),)),))
    labels = figure_labels([Section("k", "t", parts=(Section("p", "t", figures=(figure,)),))])
    scanner = Scanner(Cleaner(names={"rater": {"trillian": "rater-01"}}), [])
    assert scan(scanner, {}, {}, labels) == [Finding("figure f", "the name of a rater (trillian)")]


@pytest.mark.parametrize(
    ("name", "spellings"),
    [
        ("Doe, Jane", {"Doe, Jane", "Doe", "Jane Doe", "Doe Jane"}),
        ("Jane  Doe", {"Doe", "Jane Doe", "Doe, Jane"}),
        ("Müller, Änne", {"Müller", "Muller", "Änne Müller", "Anne Muller"}),
        ("Plato", {"Plato"}),
        (" ,", set()),
    ],
)
def test_an_author_is_known_in_every_spelling(name: str, spellings: set[str]) -> None:
    about = About(authors=[replace(Author("x"), name=name)] if name.strip(" ,") else [])
    assert spellings <= set(names_of_authors(about))
    assert all(spelling.strip() for spelling in names_of_authors(about))


def test_a_blank_author_is_one_message(there: Population, command: Command) -> None:
    there.issues("a")
    settings = there.study.directory / "study.toml"
    settings.write_text('[study]\nauthors = [{name = " "}]\n', encoding="utf-8")
    done = command("report", "package", "--double-blind", "--study", there.study.directory)
    assert done.returncode == 1
    assert "an author needs a name" in done.stderr
    assert "Traceback" not in done.stderr


# Attacks


def test_secrets_of_every_usual_shape_are_masked_in_texts(there: Population) -> None:
    there.issues(*(f"It fails with {secret} here" for secret in LEAKED.values()))
    files = packed(there, Options(with_texts=True))
    assert b"It fails with" in files["data/artifacts.csv"]
    for name, data in files.items():
        text = data
        if name.endswith(".parquet"):
            text = repr(pq.read_table(pa.BufferReader(data)).to_pylist()).encode()
        for kind, part in (("a secret", R[:14]), ("AWS", "AKIAABC"), ("a password", "hunter2")):
            assert part.encode() not in text, (kind, name)


def test_no_cell_of_a_csv_file_is_executed(there: Population) -> None:
    there.issues("=cmd|' /C calc'!A0", "@SUM(1)", "-1+1")
    files = packed(there, Options(with_texts=True))
    cells = [
        cell
        for name, data in files.items()
        if name.endswith(".csv")
        for row in csv.reader(io.StringIO(data.decode(), newline=""))
        for cell in row
    ]
    assert "'=cmd|' /C calc'!A0" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "-1+"))]


def test_a_small_package_that_would_fill_the_memory_is_refused(
    there: Population, tmp_path: Path
) -> None:
    there.issues("a")
    files = packed(there, Options())
    column = pa.DictionaryArray.from_arrays([0] * 4_000, ["x" * 100_000])
    bomb = pa.table({"artifact_id": column})
    file = pa.BufferOutputStream()
    pq.write_table(bomb, file, store_schema=False)
    assert len(file.getvalue()) < 200_000
    files["study/issue.parquet"] = bytes(file.getvalue())
    del files[SUMS]
    write(tmp_path / "f.zip", files)
    before = pa.default_memory_pool().max_memory()
    with pytest.raises(StudyError, match=r"issue\.parquet .* artifact_id has too many bytes"):
        verify_package(tmp_path / "f.zip")
    assert pa.default_memory_pool().max_memory() - before < 200_000_000


def test_rows_of_a_package_are_read_in_parts(tmp_path: Path) -> None:
    rows = pa.table({"a": [str(number % 7) for number in range(10_000)], "b": range(10_000)})
    pq.write_table(rows, tmp_path / "t.parquet")
    parts = list(parquet_parts(tmp_path / "t.parquet", 1_000_000))
    assert len(parts) > 1
    assert pa.concat_tables(parts).equals(rows)


def test_swapped_values_of_two_claims_are_noticed() -> None:
    def result(**values: float) -> Result:
        claims = tuple(Claim(f"r.{name}", name, value, "", "q") for name, value in values.items())
        return Result("a", "r", "", {}, claims=claims)

    cleaner = Cleaner(names={"rater": {"ann": "rater-01", "E1": "rater-02"}})
    assert same_numbers(result(x=1, y=2), result(y=2, x=1), cleaner)
    assert not same_numbers(result(x=1, y=2), result(x=2, y=1), cleaner)
    renamed = result(ann=1, E1=2), result(**{"rater-01": 1, "rater-02": 2})
    assert same_numbers(*renamed, cleaner)
    assert not same_numbers(renamed[0], result(**{"rater-01": 2, "rater-02": 1}), cleaner)
    pair = result(**{"ann~E1": 1, "ann~x": 2}), result(**{"rater-01~rater-02": 2, "other": 1})
    assert not same_numbers(*pair, cleaner)


# Published packages, files and options


def test_whether_rows_may_be_redistributed_is_a_fact_of_their_source(
    there: Population, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = {source.source_id for source in evidence.sources() if source.redistributable}
    assert free == {"dl-faults", "bug-localization"}
    there.issues("a")
    with there.study.writing() as writer:
        for name in ("dl-faults", "hp-defects", "unknown"):
            writer.insert(
                "package_file",
                {"package": [name], "file": ["f"], "digest": ["d"], "size": [1], "run_id": ["r"]},
            )
    with there.study.reading() as reader:
        assert contents.omitted(reader).packages == ("hp-defects", "unknown")
        worded = [replace(one, licence="not under CC BY") for one in evidence.sources()]
        monkeypatch.setattr(evidence, "sources", lambda: worded)
        assert contents.omitted(reader).packages == ("hp-defects", "unknown")


def test_a_package_is_for_others_to_read(there: Population) -> None:
    there.issues("a")
    before = os.umask(0o022)
    try:
        path = pack(there.study, Options(), there.study.directory / "p.zip").path
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_options_of_making_do_not_go_with_verifying(command: Command, tmp_path: Path) -> None:
    done = command("report", "package", "--verify", tmp_path / "p.zip", "--with-texts")
    assert done.returncode == 1
    assert "--verify cannot be combined with --with-texts" in done.stderr


def test_the_scanner_does_not_ask_what_a_column_is_for() -> None:
    rows = pa.table({"state": ["see /home/ford/x"], "body": ["see /home/ford/x"]})
    for with_texts in (False, True):
        scanner = Scanner(Cleaner(), [], with_texts=with_texts)
        found = {finding.place for finding in people.scan(scanner, {"issue": rows}, {})}
        assert found == {"issue.state", "issue.body"}
