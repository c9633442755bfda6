"""Distribution, association, comparison and trend: what a user is told, on real and made labels."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from dated_labels import dated_study
from settled import put_final

from faultatlas.analysis.observations import observe
from faultatlas.analysis.studies import association, comparison, distribution, trend
from faultatlas.analysis.tallies import trending
from faultatlas.analysis.tallies.periods import Period, Timed
from faultatlas.annotation.sheets.asking import Asked
from faultatlas.annotation.sheets.command import import_sheets
from faultatlas.data.errors import StudyError
from faultatlas.data.old.results import Result
from faultatlas.data.queries import checked
from faultatlas.data.study import Study

Command = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="module")
def dated(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return dated_study(tmp_path_factory.mktemp("dated") / "study")


@pytest.fixture(scope="module")
def defects(tmp_path_factory: pytest.TempPathFactory, study_fixtures: Path) -> Study:
    """The real high-priority defects of two frameworks."""
    study = Study(tmp_path_factory.mktemp("defects") / "study")
    files = [
        str(study_fixtures / "hp_defects" / f"{name}.csv") for name in ("pytorch", "mindspore")
    ]
    asked = Asked(item="URL", final="Final_label")
    import_sheets(study, "hp", files, asked, taxonomy_name="hp-defects")
    return study


def rows_are_there(study: Study, result: Result) -> None:
    """A claim that counts has as many rows behind it as it says; some of them are looked at."""
    some = result.claims[:: max(1, len(result.claims) // 2)]
    with study.reading() as reader:
        for claim in some:
            assert claim.rows_query is not None
            rows = reader.rows(checked(reader, claim.claim_id, claim.rows_query))
            if claim.count is not None:
                assert len(rows) == claim.count, claim.claim_id


# Distribution.


def test_the_subtypes_of_two_frameworks_come_out_and_the_third_has_no_data(defects: Study) -> None:
    result = distribution.run(defects, "hp-defects", by="framework")
    groups = result.document["groups"]
    assert groups["tensorflow"] == "no data"
    assert "No data: tensorflow." in result.summary
    assert len(groups["pytorch"]) == 21
    # The final labels of the public sheets, counted with a spreadsheet program.
    counted = {code: groups["mindspore"][code]["count"] for code in ("A1", "B1", "E3", "G2")}
    assert counted == {"A1": 13, "B1": 124, "E3": 91, "G2": 128}
    assert groups["pytorch"]["G2"]["count"] == 31
    assert sum(each["count"] for each in result.document["all"].values()) == 2000
    assert result.document["homogeneity"]["v"]["value"] == pytest.approx(0.3109, abs=1e-4)
    figure = result.figures[0]
    assert [series.label for series in figure.series] == ["mindspore", "pytorch", "All"]
    shares = [claim.count or 0 for claim in result.claims[:21]]
    assert sum(shares) == 2000
    assert shares == sorted(shares, reverse=True)
    assert result.claims[21].claim_id.endswith(".groups.v")
    rows_are_there(defects, result)


def test_types_add_up_and_the_top_is_the_most_frequent(defects: Study) -> None:
    result = distribution.run(defects, "hp-defects", level=1, top=2)
    assert [row[0] for row in result.table("distribution").rows] == ["G", "E"]
    assert result.document["all"]["G"]["count"] == 495
    low, high = result.document["all"]["G"]["simultaneous"]
    assert low < result.document["all"]["G"]["interval"][0] < 24.75 < high


def test_a_taxonomy_of_one_category_and_one_that_nobody_knows_are_counted(dated: Study) -> None:
    with dated.writing() as writer:
        put_final(writer, "github:o/r#1", "a1", round_name="one", taxonomy="t", version="1")
    single = distribution.run(dated, "t", by="project")
    assert single.document["all"]["a1"]["percent"] == 100
    assert "There is one group or one category only: nothing to compare." in single.summary


def test_groups_that_nothing_has_are_refused(defects: Study) -> None:
    with pytest.raises(StudyError, match="none of the 2,000 final labels has a value of year"):
        distribution.run(defects, "hp-defects", by="year")
    with pytest.raises(StudyError, match="--top 0 shows nothing"):
        distribution.run(defects, "hp-defects", top=0)


def test_a_group_may_be_called_as_the_total_is(dated: Study) -> None:
    by = "CASE WHEN project = 'pytorch/pytorch' THEN 'All' ELSE 'others' END"
    said = distribution.run(dated, "tree", by=by).document
    whole = distribution.run(dated, "tree").document
    assert (said["items"], said["all"]) == (whole["items"], whole["all"])
    assert {each["a1"]["total"] for each in said["groups"].values()} == {said["items"] // 2}


# Association.


def test_the_printed_p_of_extrinsic_bugs_is_not_reproduced(command: Command) -> None:
    words = ("--counts", "deep=154/385", "others=41/385", "--printed", "p=1.79e-14")
    ended = command("analysis", "associate", *words, "--json")
    document = json.loads(ended.stdout)
    assert f"{document['test']['p']:.1e}" == "7.7e-21"
    (claim,) = [each for each in document["claims"] if each["unit"] == "p"]
    assert (claim["printed"], claim["status"]) == (1.79e-14, "not reproduced")
    told = " ".join(command("analysis", "associate", *words).stdout.split())
    assert "n = 770; not reproduced: the printed p of 1.79e-14." in told
    assert "The printed p of 1.79e-14 differs from ours, 7.7e-21: not reproduced" in told
    assert "medium after Cohen" in told
    right = command("analysis", "associate", *words[:-1], "p=7.66e-21", "--json")
    assert json.loads(right.stdout)["printed"][0]["status"] == "reproduced"


def test_every_printed_number_that_is_judged_has_a_claim(dated: Study) -> None:
    counts = {"rows": ["a", "b"], "columns": ["yes", "no"], "counts": [[154, 231], [41, 344]]}
    printed = ["p=7.66e-21", "chi2=85", "v=0.9", "odds-ratio=5.6", "risk-ratio=3.8",
               "difference=29.4"]  # fmt: skip
    found = [association.run(dated, table={"name": "c", **counts}, printed=printed)]
    values = {"x": [4.1, 5.0, 5.9, 6.2, 5.1, 7.0, 8.6, 7.7, 9.9, 7.6]}
    table = {"name": "v", "values": values, "group": [*"aaaaabbbbb"]}
    printed = ["p=0.01", "d=9", "g=9", "delta=-1"]
    found.append(comparison.run(dated, table=table, printed=printed))
    for result, count in zip(found, (6, 4), strict=True):
        judged = {each.claim_id.rpartition(".")[2] for each in result.claims if each.status}
        assert len(judged) == count, judged


def test_types_by_framework_name_the_cells_that_stand_out(defects: Study) -> None:
    result = association.run(defects, ["hp-defects:1", "framework"])
    assert result.document["test"]["statistic"] == pytest.approx(89.485, abs=1e-3)
    first = result.table("residuals").records()[0]
    assert first["row"] == "A Installation and deployment defects"
    assert first["column"] == "mindspore"
    assert result.claims[-1].statement == "Share of mindspore in G Crash defect"
    rows_are_there(defects, result)


def test_sides_may_be_a_code_or_sql_and_turn_with_their_order(dated: Study) -> None:
    one = association.run(dated, ["tree=a", "year(created_at) >= 2018"])
    other = association.run(dated, ["year(created_at) >= 2018", "tree=a"])
    assert one.document["test"]["v"] == other.document["test"]["v"]
    odds = [each.document["effects"]["odds-ratio"]["value"] for each in (one, other)]
    assert odds[0] == pytest.approx(odds[1])
    rows_are_there(dated, one)
    rows_are_there(dated, other)
    candidates = association.run(dated, ["project", "comment_count > 5"])
    assert candidates.document["n"] == 80
    for row in candidates.document["rows"].values():
        assert [*row["counts"]] == ["true", "false"]  # what holds is the event
    rows_are_there(dated, candidates)


def test_two_taxonomies_meet_in_their_artifacts(dated: Study) -> None:
    with dated.reading() as reader:
        artifacts = [row["artifact_id"] for row in reader.rows("SELECT artifact_id FROM artifacts")]
    with dated.writing() as writer:
        for at, artifact in enumerate(sorted(artifacts)[:40]):
            code = "x" if at % 3 else "y"
            put_final(writer, artifact, code, round_name="two", taxonomy="other", version="1")
    result = association.run(dated, ["tree:1", "other"])
    assert result.document["n"] == 40
    rows_are_there(dated, result)


def test_a_table_is_kept_so_that_the_file_may_go(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "table.csv"
    file.write_text("type,dl,other\ncrash,12,30\nslow,20,11\n", encoding="utf-8")
    stored = json.loads(command("analysis", "associate", "--table", file, "--json").stdout)
    file.unlink()
    again = association.again(Study(tmp_path), stored["parameters"])
    assert again.document["test"]["p"] == stored["test"]["p"]


def test_a_result_that_is_named_has_claims_to_cite(tmp_path: Path, command: Command) -> None:
    words = ("--counts", "deep=154/385", "others=41/385", "--name", "deep")
    stored = json.loads(command("analysis", "associate", *words, "--json").stdout)
    assert stored["claims"][0]["claim_id"] == "associate-deep.p"
    again = association.again(Study(tmp_path), stored["parameters"])
    assert again.name == stored["result"] == "associate-deep"
    assert again.title == "deep and others: 154/385 against 41/385"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("tree",), "two sides are associated, not 1"),
        (("--counts", "154/385"), "one group has nothing to be compared with"),
        (("--counts", "400/385", "1/2"), "'400/385' is no count of a group"),
        (("--counts", "0/5", "0/9"), "there is nothing to associate"),
        (("--counts", "1/5", "2/9", "--printed", "q=1"), "'q=1' is no printed number"),
        (("--table", "none.csv"), "none.csv"),
        (("--counts", "1/5", "2/9", "--name", "../x"), "'../x' is no name for a result"),
    ],
)
def test_what_cannot_be_associated_is_said(
    words: tuple[str, ...], message: str, command: Command
) -> None:
    ended = command("analysis", "associate", *words)
    assert ended.returncode == 1
    assert message in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr


# Comparison.


def test_the_assumptions_choose_the_test(dated: Study) -> None:
    result = comparison.run(dated, ["comment_count"], by="project")
    assert "not normal" in result.summary[0]
    assert "Mann-Whitney U test" in result.summary[1]
    assert "negligible after Romano et al." in result.summary[1]  # both projects are alike
    rows_are_there(dated, result)
    values = {"x": [4.1, 5.0, 5.9, 6.2, 5.1, 7.0, 8.6, 7.7, 9.9, 7.6]}
    table = {"name": "v", "values": values, "group": [*"aaaaabbbbb"]}
    normal = comparison.run(dated, table=table)
    assert "Student's t-test" in normal.summary[1]
    pairs = {**table, "pair": [*"1234512345"]}
    assert "paired t-test" in comparison.run(dated, table=pairs).summary[1]


def test_many_pairs_and_values_are_adjusted_together(dated: Study) -> None:
    result = comparison.run(dated, ["comment_count", "length(body)"], by="tree")
    pairs = result.table("pairs").records()
    assert len(pairs) == 12  # six of each value; length(body) is always the same
    tested = [each for each in pairs if each["p"] is not None]
    assert len(tested) == 6
    least = min(tested, key=lambda each: float(each["p"] or 0))
    assert least["adjusted"] == pytest.approx(6 * float(least["p"] or 0))
    assert {figure.kind for figure in result.figures} == {"boxes"}
    one = comparison.run(dated, ["comment_count"], by="tree=a")
    assert [each["group"] for each in one.table("groups").records()] == ["yes", "no"]
    with dated.reading() as reader:
        rows = reader.rows(one.claims[0].rows_query or "")
    assert Counter(row["label_value"] for row in rows) == {"yes": 50, "no": 30}


def test_real_results_of_two_tools_on_the_same_bugs(
    study_fixtures: Path, tmp_path: Path, command: Command
) -> None:
    source = study_fixtures / "bug_localization" / "results_rq1_buglocator_bluir_Denchmark.csv"
    header = "project,version,bug,tool,files,rank,RR,AP\n"
    file = tmp_path / "tools.csv"
    file.write_text(header + source.read_text(encoding="utf-8"), encoding="utf-8")
    words = ["--table", file, "--value", "AP", "--group", "tool"]
    pair = [word for name in ("project", "version", "bug") for word in ("--paired", name)]
    ended = command("analysis", "compare", *words, *pair, "--json")
    found = json.loads(ended.stdout)["values"]["AP"]
    assert found["groups"]["bluir"]["n"] == 1793
    assert found["bluir-and-buglocator"]["test"]["test"] == "Wilcoxon signed-rank test"
    assert found["bluir-and-buglocator"]["delta"]["word"] == "small"
    again = command("analysis", "compare", *words, "--paired", "bug")
    assert "has two values in group" in again.stderr


def test_one_group_is_nothing_to_compare(defects: Study, dated: Study) -> None:
    with pytest.raises(StudyError, match="0 groups with two values of comment_count"):
        comparison.run(defects, ["comment_count"], by="hp-defects:1")
    with pytest.raises(StudyError, match="is a value of title, and no number"):
        comparison.run(dated, ["title"], by="tree")
    with pytest.raises(StudyError, match="needs a value and groups"):
        comparison.run(dated, ["title"])


# Trend.


def test_a_share_that_rises_is_named(dated: Study) -> None:
    result = trend.run(dated, "tree")
    assert any(line.startswith("a1 Name of a1 rises: 10.0 % to 70.0 %") for line in result.summary)
    assert result.document["codes"]["a1"]["word"] == "large"
    assert result.document["codes"]["a1"]["adjusted"] < 0.001
    rows_are_there(dated, result)


def test_a_trend_beyond_doubt_is_seen_and_a_rare_one_doubted(dated: Study) -> None:
    seen = observe(dated, "tree", by=["year"])
    sure = Timed(
        (Period(("2016",), 5000, 2016.0), Period(("2017",), 5000, 2017.0)),
        {(1, "a1"): 5000, (0, "a2"): 4998, (0, "b1"): 2},
        (),
    )
    of = trending.Trends(seen, sure, seen.codes, "year", "trend", {})
    assert "a1 Name of a1 rises" in trending.summary(of)[1]
    assert (of.tested, of.rare) == (3, ("b1",))
    assert any("Fewer than 5 items have, or have not, b1" in note for note in trending.notes(of))
    assert min(claim.value or 0 for claim in trending.claims(of) if claim.unit == "p") == 1e-300


def test_small_periods_are_joined_and_said(dated: Study) -> None:
    result = trend.run(dated, "tree", by="quarter", smallest=12)
    periods = [each["period"] for each in result.document["periods"]]
    assert all(each["items"] >= 12 for each in result.document["periods"])
    assert any(" to " in period for period in periods)
    assert any(note.startswith("Small periods were joined") for note in result.notes)
    with pytest.raises(StudyError, match="there is no trend to look for"):
        trend.run(dated, "tree", smallest=60)
    with pytest.raises(StudyError, match="'zz' is no category of tree"):
        trend.run(dated, "tree", codes=["zz"])


def test_a_round_that_was_drawn_says_what_it_is_a_sample_of(
    tmp_path: Path, command: Command
) -> None:
    study = dated_study(tmp_path)
    command("annotation", "rater", "add", "ann")
    command("annotation", "sample", "drawn", "--size", "20")
    words = ("--sample", "drawn", "--taxonomy", "tree", "--rater", "ann")
    planned = command("annotation", "round", "second", *words)
    assert planned.returncode == 0, planned.stderr
    with study.writing() as writer:
        for row in writer.rows("SELECT artifact_id FROM samples"):
            put_final(writer, row["artifact_id"], round_name="second", code="a1", taxonomy="tree",
                      version="1.0.0")  # fmt: skip
    notes = distribution.run(study, "tree", round_name="second").notes
    (told,) = [note for note in notes if "sample" in note]
    assert "sample drawn: 20 of 80" in told
    assert "0.871 times as wide" in told  # sqrt(60 / 79)
