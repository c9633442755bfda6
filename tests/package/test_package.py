"""A package verifies without the study, and nobody's name, address, token or path is in it."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import CompletedProcess

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from planting import AUTHOR, PLANTED, RATERS, planted
from population import Population

from faultatlas.data.errors import StudyError
from faultatlas.data.settings import read_settings
from faultatlas.data.study import Study
from faultatlas.report.console import Console
from faultatlas.report.package import make, people, verify
from faultatlas.report.package.archive import ROOT, SUMS, sums, write
from faultatlas.report.package.contents import Options
from faultatlas.report.package.make import PackageSummary, pack, summary_result
from faultatlas.report.package.people import Scanner, scan
from faultatlas.report.package.verify import verification_result, verify_package

pytestmark = pytest.mark.usual_opening

Command = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return planted(tmp_path_factory.mktemp("planted") / "study")


@pytest.fixture(scope="module")
def packed(study: Study, tmp_path_factory: pytest.TempPathFactory) -> PackageSummary:
    return pack(study, Options(), tmp_path_factory.mktemp("packed") / "p.zip")


@pytest.fixture(scope="module")
def files(packed: PackageSummary) -> dict[str, bytes]:
    return content(packed.path)


@pytest.fixture
def without_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report of the copy is what takes long; one package of these tests has it."""
    monkeypatch.setattr(make, "_report", lambda *_given: ({}, {}))


def content(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {
            name.removeprefix(f"{ROOT}/"): archive.read(name) for name in sorted(archive.namelist())
        }


def texts(files: dict[str, bytes]) -> Iterator[tuple[str, str]]:
    """Everything in a package that can be read, also inside Parquet."""
    for name, data in files.items():
        yield name, name
        if name.endswith(".parquet"):
            rows = pq.read_table(pa.BufferReader(data))
            yield name, json.dumps(rows.to_pylist(), default=str, ensure_ascii=False)
            yield name, str(rows.schema)
        yield name, data.decode("utf-8", errors="replace")


def repacked(files: dict[str, bytes], target: Path) -> Path:
    """The same package with other files, whose checksums are right."""
    write(target, {name: data for name, data in files.items() if name != SUMS})
    return target


def test_nothing_that_was_planted_is_in_it(files: dict[str, bytes], study: Study) -> None:
    sought = {**PLANTED, "study": str(study.directory), "mail's host": "heart-of-gold"}
    for name, text in texts(files):
        for kind, words in sought.items():
            assert words.casefold() not in text.casefold(), (kind, name)
        assert "@zaphod" not in text


def test_what_was_planted_is_in_the_study(study: Study) -> None:
    """Else the test above would show nothing."""
    with study.reading() as reader:
        tables = reader.rows("SELECT table_name AS name FROM duckdb_tables() ORDER BY name")
        whole = "".join(
            json.dumps(reader.rows(f"SELECT * FROM store.{row['name']}"), default=str)
            for row in tables
        )
    assert all(words in whole for words in PLANTED.values())


def test_it_verifies_elsewhere_when_the_study_is_gone(
    packed: PackageSummary, tmp_path: Path
) -> None:
    away = tmp_path / "another home"
    away.mkdir()
    moved = shutil.copy(packed.path, away / "got.zip")
    elsewhere = {"HOME": str(away), "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}
    code = "from faultatlas.report.start import report; report()"
    done = subprocess.run(
        [sys.executable, "-c", code, "package", "--verify", moved, "--json"],
        cwd=away, capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], **elsewhere},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["data"]
    assert found["verified"] == packed.claims - 2
    assert found["differs"] == found["unclaimed"] == found["differing_files"] == []
    cannot = {each["claim_id"]: each["reason"] for each in found["cannot_be_verified"]}
    assert cannot.keys() == {"claims.words", "made-up.x"}
    assert "needs texts" in cannot["claims.words"]
    left = {path.name for path in away.iterdir()}
    assert left - {".cache"} == {"got.zip"}


def test_the_command_that_is_told_verifies_and_the_verdict_counts_all(
    packed: PackageSummary, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    Console().show_result(summary_result(packed))
    *_rest, last = capsys.readouterr().out.splitlines()
    [path] = shlex.split(last.partition(" --verify ")[2])
    Console().show_result(verification_result(verify_package(Path(path))))
    said = capsys.readouterr().out
    assert f"{packed.claims - 2} of {packed.claims} claims verified; 2 cannot be verified" in said


def test_the_study_is_only_read_and_made_twice_it_is_the_same_bytes(
    study: Study, packed: PackageSummary, tmp_path: Path
) -> None:
    before = study.database.read_bytes()
    again = pack(study, Options(), tmp_path / "another name.zip")
    assert again.path.read_bytes() == packed.path.read_bytes()
    assert study.database.read_bytes() == before


def test_a_changed_cell_is_found_by_its_claims(files: dict[str, bytes], tmp_path: Path) -> None:
    rows = pq.read_table(pa.BufferReader(files["study/answer.parquet"]))
    values = rows.column("codes").to_pylist()
    assert values[0] != ["b2"]
    values[0] = ["b2"]
    at = rows.column_names.index("codes")
    changed = rows.set_column(at, "codes", pa.array(values, rows.schema.field("codes").type))
    file = pa.BufferOutputStream()
    pq.write_table(changed, file)
    forged = repacked({**files, "study/answer.parquet": bytes(file.getvalue())}, tmp_path / "f.zip")
    found = verify_package(forged)
    assert "data/labels.csv" in (found.differing_files or ())
    names = {each.claim_id for each in found.differences}
    assert any(name.startswith("agreement-main") for name in names)
    assert "claims.issues" not in names


def test_a_changed_number_is_found_and_named(
    files: dict[str, bytes], tmp_path: Path, command: Command
) -> None:
    claims = json.loads(files["claims.json"])
    claim = next(
        claim
        for result in claims["results"]
        for claim in result["claims"]
        if claim["claim_id"] == "claims.issues"
    )
    claim["value"] += 1
    forged = repacked({**files, "claims.json": json.dumps(claims).encode()}, tmp_path / "f.zip")
    done = command("report", "package", "--verify", forged)
    assert done.returncode == 1
    assert "1 claim of the package differs" in done.stderr
    assert "claims.issues" in done.stderr
    assert "20" in done.stdout
    assert "21" in done.stdout


def test_that_a_number_cannot_be_verified_is_never_taken_on_the_packages_word_alone(
    files: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    claims = json.loads(files["claims.json"])
    own = next(each for each in claims["results"] if each["name"] == "claims")
    issues = next(each for each in own["claims"] if each["claim_id"] == "claims.issues")
    issues.update(value=issues["value"] + 1, cannot="it needs texts")
    hers = next(each for each in own["claims"] if each["claim_id"] == "claims.hers")
    own["claims"].remove(hers)
    own["besides"].append("claims.hers")
    main = next(each for each in claims["results"] if each["name"].startswith("agreement-main"))
    for claim in main["claims"]:
        claim["cannot"] = "it needs texts"  # a lie that hides nothing
    forged = repacked({**files, "claims.json": json.dumps(claims).encode()}, tmp_path / "f.zip")
    found = verify_package(forged)
    on_its_word = {each.claim.claim_id: each.now for each in found.of("cannot be verified")}
    assert on_its_word.keys() == {"claims.issues", "claims.words", "made-up.x"}
    assert on_its_word["claims.issues"] is not None
    assert on_its_word["claims.issues"].value == issues["value"] - 1
    assert found.unclaimed == ("claims.hers",)
    # Who forges one list forges the other.
    Console().show_result(verification_result(replace(found, differing_files=())))
    said = " ".join(capsys.readouterr().out.split())
    assert "have to trust its authors (its rows give another number for 2)" in said
    assert "1 number of its rows is not among its claims: claims.hers" in said


def test_what_readers_open_is_what_was_verified(files: dict[str, bytes], tmp_path: Path) -> None:
    forged = {
        **files,
        "claims.csv": files["claims.csv"] + b"x\n",
        "data/labels.csv": files["data/labels.csv"].replace(b"rater-01", b"rater-02"),
        "data/labels.parquet": files["data/raters.parquet"],
        "data/more.csv": b"a\n",
    }
    del forged["data/runs.csv"]
    found = verify_package(repacked(forged, tmp_path / "f.zip"))
    assert not found.differences
    assert set(found.differing_files or ()) == {
        "claims.csv", "data/labels.csv", "data/labels.parquet", "data/more.csv", "data/runs.csv",
    }  # fmt: skip
    missing = verification_result(found).missing
    assert "5 files for readers of the package are not what" in missing[0]


def test_a_query_without_end_in_a_package_is_ended(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "_LONGEST_S", 2.0)  # the conditions need some of it
    claims = json.loads(files["claims.json"])
    compare = next(each for each in claims["results"] if each["analysis"] == "compare")
    endless = "(SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a <> b)"
    compare["parameters"]["value"] = [endless]
    claims["results"] = [compare]
    forged = repacked({**files, "claims.json": json.dumps(claims).encode()}, tmp_path / "f.zip")
    outcomes = verify_package(forged).checks
    assert {each.verdict for each in outcomes} == {"differs"}
    assert "needs more than 2 s" in outcomes[0].reason


def test_claims_that_are_no_words_and_numbers_are_one_message(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    hostile = ["[" * 200_000]
    for key in ("claim_id", "value", "cannot", "statement"):
        claims = json.loads(files["claims.json"])
        claims["results"][0]["claims"][0][key] = {"x": [1]}
        hostile.append(json.dumps(claims))
    for text in hostile:
        forged = repacked({"claims.json": text.encode()}, tmp_path / "f.zip")
        with pytest.raises(StudyError, match=r"claims\.json of the package cannot be read"):
            verify_package(forged)


def test_rows_that_would_fill_the_memory_are_not_read(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "MOST_ROW_BYTES", 10_000_000)
    bomb = pa.table({"artifact_id": pa.array(["x" * 100_000] * 1_000)})
    file = pa.BufferOutputStream()
    pq.write_table(bomb, file)
    assert len(file.getvalue()) < 200_000
    forged = repacked({**files, "study/issue.parquet": bytes(file.getvalue())}, tmp_path / "f.zip")
    with pytest.raises(StudyError, match=r"column artifact_id has too many bytes"):
        verify_package(forged)
    wide = pa.table({f"c{at}": [1] for at in range(2_000)})
    file = pa.BufferOutputStream()
    pq.write_table(wide, file)
    forged = repacked({**files, "study/issue.parquet": bytes(file.getvalue())}, tmp_path / "f.zip")
    with pytest.raises(StudyError, match=r"the table has no c0, c1") as refused:
        verify_package(forged)
    assert len(refused.value.message) < 200


def test_sql_in_a_package_reaches_no_file_and_no_network(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n42\n", encoding="utf-8")
    claims = json.loads(files["claims.json"])
    own = next(each for each in claims["results"] if each["name"] == "claims")
    compare = next(each for each in claims["results"] if each["analysis"] == "compare")
    hostile = (
        f"SELECT a FROM read_csv('{secret}')",
        f"SELECT a FROM '{secret}'",
        "SELECT count(*) FROM read_text('https://example.org/x')",
        "ATTACH '/etc/passwd' AS x",
    )
    for at, sql in enumerate(hostile):
        alone = [{"name": "issues", "statement": "Issues", "sql": sql}]
        claim = {**own["claims"][0], "cannot": ""}
        own = {**own, "parameters": {"claims": alone}, "claims": [claim]}
        compare["parameters"]["value"] = [f"({sql})"]
        claims["results"] = [own, compare] if at == 0 else [own]
        forged = repacked({**files, "claims.json": json.dumps(claims).encode()}, tmp_path / "f.zip")
        outcomes = verify_package(forged).checks
        assert {each.verdict for each in outcomes} == {"differs"}, sql
        assert all(each.now is None and "42" not in each.reason for each in outcomes), sql


@pytest.fixture(scope="module")
def review(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For reviewers, with texts; the report of the copy, which takes long, is left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(make, "_report", lambda *_given: ({}, {}))
        options = Options(with_texts=True, double_blind=True)
        return pack(study, options, tmp_path_factory.mktemp("review") / "p.zip").path


def test_texts_have_their_licence_and_no_people(review: Path) -> None:
    found = content(review)
    artifacts = found["data/artifacts.csv"].decode()
    assert "It crashes, says @person" in artifacts
    assert "<email>" in artifacts
    assert "/home/<name>/hitchhiking" in artifacts
    for name, text in texts(found):
        for kind in PLANTED.keys() - {"file"}:  # it is a stranger's, in the text of an issue
            assert PLANTED[kind].casefold() not in text.casefold(), (kind, name)
    attribution = found["ATTRIBUTION.md"].decode()
    assert "github: of their authors, under GitHub's terms" in attribution
    assert "`github:o/r#1`" in attribution
    assert "abstract" not in found["data/papers.csv"].decode().splitlines()[0]


def test_for_double_blind_review_nothing_tells_whose_it_is(review: Path) -> None:
    found = content(review)
    for name, text in texts(found):
        for words in (*AUTHOR.split(", "), "0000-0002-1825-0097", "10.5555/12345678"):
            assert words.casefold() not in text.casefold(), (words, name)
        assert not re.search(r"person_[0-9a-f]{16}", text)
    assert yaml.safe_load(found["CITATION.cff"])["authors"] == [{"name": "Anonymous"}]
    runs = pq.read_table(pa.BufferReader(found["data/runs.parquet"])).to_pylist()
    assert all(re.fullmatch(r"run-\d+", run["run_id"]) for run in runs)
    assert {run["started_at"].hour for run in runs} == {0}
    assert not verify_package(review).differences


@pytest.mark.usefixtures("without_report")
def test_texts_of_stack_overflow_name_their_licence(tmp_path: Path) -> None:
    there = Population.at(tmp_path / "study")
    there.posts(2, tags=["keras"], body="<p>Why?</p>")
    with there.study.writing() as writer:
        writer.execute("UPDATE store.post SET license = 'CC BY-SA 3.0' WHERE post_id = 1")
    found = content(pack(there.study, Options(with_texts=True), tmp_path / "p.zip").path)
    lines = found["ATTRIBUTION.md"].decode().splitlines()
    assert any("`stackoverflow:1`" in line and "CC BY-SA 3.0" in line for line in lines)
    assert any("`stackoverflow:2`" in line and "CC BY-SA 4.0" in line for line in lines)


def test_archives_and_citation_tools_can_read_it(files: dict[str, bytes]) -> None:
    cited = yaml.safe_load(files["CITATION.cff"])
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited["authors"][0]["family-names"] == "Slartibartfast"
    assert cited["license"] == "CC-BY-4.0"
    zenodo = json.loads(files[".zenodo.json"])
    assert zenodo["upload_type"] == "dataset"
    assert zenodo["creators"][0] == {
        "name": AUTHOR, "orcid": "0000-0002-1825-0097", "affiliation": "Magrathea",
    }  # fmt: skip
    crate = json.loads(files["ro-crate-metadata.json"])
    entities = {each["@id"]: each for each in crate["@graph"]}
    assert entities["ro-crate-metadata.json"]["conformsTo"]["@id"].endswith("/ro/crate/1.1")
    parts = {each["@id"] for each in entities["./"]["hasPart"]}
    assert parts == files.keys() - {"ro-crate-metadata.json"}
    assert all(entities[name]["description"] for name in parts), "every file is described"
    assert {"name", "description", "datePublished", "license"} <= entities["./"].keys()
    assert files[SUMS] == sums({name: data for name, data in files.items() if name != SUMS})


def test_readers_find_claims_rows_codes_and_the_way_to_the_texts(files: dict[str, bytes]) -> None:
    readme = files["README.md"].decode()
    assert "report package --verify" in readme
    assert "| `agreement-main" in readme
    assert "no: it needs texts" in readme
    assert "What a1 is." in files["codebook.md"].decode()
    assert "miner fetch --from ids.csv" in files["REFETCH.md"].decode()
    assert files["ids.csv"].decode().splitlines()[0].endswith(",url")
    assert "To be written by the authors" in files["datasheet.md"].decode()
    assert "rater-01" in files["data/labels.csv"].decode()
    assert "forgotten" in files["data/artifacts.csv"].decode()  # that it was, not what
    assert "report/index.html" in files


def test_the_name_of_an_author_in_a_taxonomy_or_of_a_rater_in_the_name_of_a_file_is_seen(
    study: Study, tmp_path: Path
) -> None:
    family = AUTHOR.partition(",")[0]
    with study.writing() as writer:
        writer.execute("UPDATE store.taxonomy_text SET text = text || ?", [f"# by {family}"])
    with study.reading() as reader:
        about = read_settings(study.directory).about
        cleaner = people.cleaner_of(study, reader, about, is_blind=True)
    assert family.casefold() in cleaner.vocabulary
    assert family not in cleaner.words(f"source: By {family}, 2024")
    scanner = Scanner(cleaner, ())
    named = {f"study/taxonomies/{RATERS[0]}.yaml": b"", "codebook.md": family.upper().encode()}
    found = scan(scanner, {}, named)
    assert [each.place for each in found] == list(named)
    with pytest.raises(StudyError, match=r"our tree\.yaml' cannot be the name"):
        write(tmp_path / "p.zip", {"study/taxonomies/our tree.yaml": b""})


def test_a_stale_study_is_not_packed(study: Study, tmp_path: Path) -> None:
    copy = Study(shutil.copytree(study.directory, tmp_path / "copy"))
    with copy.writing() as writer:
        writer.execute("DELETE FROM store.answer WHERE item_id = 'github:o/r#1'")
    with pytest.raises(
        StudyError, match="of the study changed since stored: agreement-main"
    ) as refused:
        pack(copy, Options(), tmp_path / "p.zip")
    assert "report build" in refused.value.hint
    assert not (tmp_path / "p.zip").exists()


def test_a_result_that_nobody_can_compute_is_told_and_kept(
    packed: PackageSummary, files: dict[str, bytes]
) -> None:
    assert "does not have" in packed.unverifiable["made-up.x"]
    stored = json.loads(files["claims.json"])["results"]
    (kept,) = [each for each in stored if each["name"] == "made-up"]
    assert kept["claims"][0]["statement"] == "faults, says rater-02 (<email>)"
    assert kept["parameters"] == {"file": "<path>"}
