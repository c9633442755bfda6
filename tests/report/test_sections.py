"""Sections: what a report says of a study is what the study holds, and threats are not invented."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import executed
import pytest
from executed import made_bug, new_study
from labelling import Labelled
from population import Population
from program import tree
from reported import CLAIM, RESULT, labelled, store

from faultatlas.analysis.reexecution.drawing import draw
from faultatlas.data.clock import utc_now
from faultatlas.data.old.gates import GONE_ON
from faultatlas.data.old.results import Claim
from faultatlas.data.queries import checked
from faultatlas.data.study import Study
from faultatlas.report.sections import Material, Section, checks, sections
from faultatlas.report.sections.checklist import checklist
from faultatlas.report.sections.facts import FILLED, MISSING, NOT_APPLICABLE
from faultatlas.report.study.building import stored_results

ROOT = Path(__file__).parents[2]
AT = "TIMESTAMP '2024-01-02'"


def told(study: Study) -> dict[str, Section]:
    with study.reading() as reader:
        return {each.key: each for each in sections(Material(reader, stored_results(reader)))}


def threats(study: Study) -> dict[str, str]:
    return {point.key: point.text for point in told(study)["threats"].points}


def numbers(section: Section) -> dict[str, float | None]:
    return {claim.claim_id: claim.value for claim in section.claims}


def states(study: Study) -> dict[str, str]:
    (table,) = told(study)["checklist"].tables
    return {str(row["id"]): str(row["state"]) for row in table.records() if row["id"]}


def put(study: Study, *statements: str) -> None:
    with study.writing() as writer:
        for statement in statements:
            writer.execute(statement)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return labelled(tmp_path / "study")


def test_numbers_of_the_study_are_those_of_its_rows(study: Study) -> None:
    Population(study).commits("one", "two")
    found = numbers(told(study)["summary"])
    assert found == {
        "study.summary.artifacts.git.commit": 2,
        "study.summary.artifacts.github.issue": 20,
        "study.summary.rounds": 1,
        "study.summary.labels": 40,
    }


def test_every_number_lists_its_rows_with_a_query_that_can_be_repeated(study: Study) -> None:
    put(
        study,
        f"INSERT INTO store.departure VALUES ('github:o/r#1', 'deleted', NULL, {AT}, 'r', '')",
    )
    claims: list[Claim] = [claim for each in told(study).values() for claim in each.claims]
    assert any(claim.claim_id == "study.threats.gone" for claim in claims)
    with study.reading() as reader:
        for claim in claims:
            assert claim.rows_query
            query = checked(reader, claim.claim_id, claim.rows_query)
            rows = reader.value(f"SELECT count(*) FROM ({query})")
            assert rows == (claim.value if claim.count is None else claim.count)
            assert query.split(" ORDER BY ")[1:], f"{claim.claim_id} has no order"


def test_rounds_tell_of_raters_and_blindness(study: Study) -> None:
    rounds = told(study)["rounds"]
    (row,) = rounds.tables[0].records()
    assert (row["items"], row["raters"], row["blindness"]) == (20, 2, "not known")
    work = rounds.tables[1].records()
    assert [(each["rater"], each["labelled"]) for each in work] == [("ann", 20), ("bob", 20)]
    assert rounds.tables[1].grouped_by == "round"


def test_agreement_that_was_not_measured_is_asked_for(study: Study) -> None:
    assert "annotation agreement" in told(study)["agreement"].text[0]


def test_agreement_comes_next_until_it_is_measured(study: Study) -> None:
    def commands() -> list[str]:
        return [point.command for point in told(study)["next"].points]

    assert "annotation agreement main" in commands()
    document: dict[str, object] = {"rounds": {"main": {}}}
    store(study, replace(RESULT, analysis="agreement", name="agreement-main", document=document))
    assert not [each for each in commands() if each.startswith("annotation agreement")]


def test_a_study_of_bugs_is_neither_empty_nor_to_be_mined(tmp_path: Path) -> None:
    study = new_study(tmp_path / "study")
    bugs = [made_bug(f"set/{at}") for at in range(3)]
    executed.put(study, [(bug, None) for bug in bugs])

    def commands() -> list[str]:
        return [point.command for point in told(study)["next"].points]

    assert told(study)["summary"].text == (
        "Nothing was mined for this study: it has 3 bugs that can be run.",
    )
    assert commands() == ["analysis reexecute --sample 10"]
    executed.put(study, [(bugs[0], "verified")])
    assert commands() == ["analysis reproducibility"]
    store(study, replace(RESULT, analysis="reproducibility", name="reproducibility-set-set"))
    assert "next" not in told(study)


def test_threats_are_those_that_the_data_show(study: Study) -> None:
    before = threats(study)
    assert before.keys() == {"statistic", "blindness", "undecided"}
    assert before["undecided"] == "20 of 20 labelled items have no final label."
    put(
        study,
        f"INSERT INTO store.departure VALUES ('github:o/r#1', 'deleted', NULL, {AT}, 'r', '')",
        "UPDATE store.round SET suggestions = true",
        "INSERT INTO store.settlement VALUES ('s', 'main', 'github:o/r#1', 'github:o/r#1', 'tree', "
        "'1.0.0', ['~unclear'], 'unanimous', '', NULL, NULL, NULL, NULL, 'r', false)",
    )
    after = threats(study)
    assert after["gone"] == "1 artifact gone at the source or forgotten: 1 deleted."
    assert "main" in after["suggestions"]
    assert after["no-code"] == "1 of 1 final labels are no code of a taxonomy: unclear 1."
    assert after["undecided"] == "19 of 20 labelled items have no final label."
    assert after["gone-labelled"].startswith("1 labelled artifact")


def gate(study: Study, *, passed: bool, reason: str) -> None:
    """Decided now."""
    kind = "override" if reason.startswith(GONE_ON) else "measured"
    with study.writing() as writer:
        writer.execute(
            "INSERT INTO store.gate VALUES ('main', 'independent', 'krippendorff', 0.7, ?, NULL, "
            "NULL, 20, ?, ?, ?, 'r', ?, NULL, NULL)",
            [0.8 if passed else 0.4, passed, reason, utc_now(), kind],
        )


def test_labels_of_sheets_that_were_changed_after_the_gate_are_counted(study: Study) -> None:
    desk = Labelled(study)
    with study.reading() as reader:
        said = reader.rows(
            "SELECT item_id, code FROM labels WHERE rater = 'ann' ORDER BY item_id LIMIT 3"
        )
    changed, again, withdrawn = (row["item_id"] for row in said)
    gate(study, passed=True, reason="passed")
    assert "corrected" not in threats(study)
    desk.say("main", {changed: {"ann": "b2" if said[0]["code"] != "b2" else "a1"}})
    desk.say("main", {again: {"ann": "b2" if said[1]["code"] != "b2" else "a1"}})
    desk.say("main", {again: {"ann": said[1]["code"]}})  # as it was
    desk.say("main", {withdrawn: {"ann": ()}})
    assert threats(study)["corrected"] == (
        "2 labels of raters on their own were changed after agreement had been measured."
    )
    (claim,) = (
        each for each in told(study)["threats"].claims if each.claim_id.endswith("corrected")
    )
    with study.reading() as reader:
        rows = reader.rows(checked(reader, claim.claim_id, claim.rows_query or ""))
    assert claim.value == len(rows) == 2
    assert {(row["item_id"], row["rater"]) for row in rows} == {
        (changed, "ann"),
        (withdrawn, "ann"),
    }


def test_a_gate_that_somebody_overruled_is_told_with_the_reason(study: Study) -> None:
    gate(study, passed=False, reason="0.4 is below 0.7")
    assert threats(study)["gate"] == "Not passed: main (independent)."
    gate(study, passed=False, reason=f"{GONE_ON}rest goes on in spite of it: no time")
    found = threats(study)
    assert "gate" not in found
    assert found["gate-overruled"] == (
        "The study went on although a gate was not passed: "
        "main (not passed, and round rest goes on in spite of it: no time)."
    )


def test_final_labels_that_were_changed_after_they_were_settled_are_counted(study: Study) -> None:
    row = "'main', 'github:o/r#{0}', 'github:o/r#{0}', 'tree', '1.0.0'"
    put(
        study,
        *(
            "INSERT INTO store.settlement VALUES "
            f"('{name}', {row.format(item)}, ['{code}'], '{by}', '', "
            f"NULL, NULL, NULL, {before}, 'r', true)"
            for name, item, code, by, before in (
                ("one", 1, "a1", "imported", "NULL"),
                ("two", 1, "b1", "negotiated", "'one'"),
                ("same", 2, "a1", "imported", "NULL"),
                ("confirmed", 2, "a1", "negotiated", "'same'"),
                ("only", 3, "a1", "imported", "NULL"),
            )
        ),
    )
    assert threats(study)["resettled"].startswith(
        "1 final label was changed after being settled: imported, then negotiated 1."
    )
    (claim,) = (
        each for each in told(study)["threats"].claims if each.claim_id.endswith("resettled")
    )
    assert claim.value == 1
    with study.reading() as reader:
        query = checked(reader, claim.claim_id, claim.rows_query or "")
        assert [each["settlement_id"] for each in reader.rows(query)] == ["two"]


def test_uncovered_and_thin_strata_are_named(tmp_path: Path) -> None:
    study = Population.at(tmp_path / "study").study
    frame = ", ".join(
        f"('h', '{stratum}{at}', '{stratum}', NULL, 'r')" for stratum in "ab" for at in range(20)
    )
    put(
        study,
        "INSERT INTO store.sample VALUES "
        "('main', '', 'stratified', 'equal', ['project'], '', 1, 'r', NULL, NULL)",
        "INSERT INTO store.sample_draw VALUES "
        f"('main', 1, 'q', 40, 'h', 2, 'given', NULL, NULL, NULL, {AT}, 'r', 2, 2)",
        f"INSERT INTO store.frame_member VALUES {frame}",
        "INSERT INTO store.sampled VALUES "
        "('main', 1, 'a1', 'a', 1, 'r'), ('main', 2, 'a2', 'a', 1, 'r')",
    )
    found = threats(study)
    assert "1 of 2 strata have no drawn artifact; 20 of 40 artifacts" in found["uncovered-main"]
    assert "a (2)" in found["few-main"]
    assert "1 of 2 strata have a drawn artifact" in told(study)["sample"].text[0]


def test_papers_tell_of_records_and_of_missing_abstracts(tmp_path: Path) -> None:
    study = Population.at(tmp_path / "study").study
    put(study)
    assert "papers" not in told(study)
    with study.writing() as writer:
        for key, abstract in (("doi:10.1/a", None), ("doi:10.1/b", "We test.")):
            columns = (
                "artifact_id, title, abstract, authors, row_hash, run_id, fetched_at, response_id"
            )
            writer.execute(
                f"INSERT INTO store.paper ({columns}) VALUES (?, 'T', ?, [], 1, 'r', {AT}, '')",
                [key, abstract],
            )
    assert threats(study)["no-abstract"].startswith("1 of 2 papers have no abstract")
    desk = Labelled(study)
    desk.taxonomy({"include": "", "off-topic": ""})
    desk.round("by-title", {"doi:10.1/a": {"ann": "off-topic"}})
    put(
        study,
        "INSERT INTO store.screening (round, step, position, run_id) "
        "VALUES ('by-title', 'title', 1, 'r')",
        "INSERT INTO store.settlement VALUES ('s', 'by-title', 'doi:10.1/a', 'doi:10.1/a', "
        "'tree', '1.0.0', ['off-topic'], 'unanimous', '', NULL, NULL, NULL, NULL, 'r', false)",
    )
    papers = told(study)["papers"]
    assert numbers(papers) == {
        "study.papers.records": 0,
        "study.papers.all": 2,
        "study.papers.included": 0,
        "study.papers.excluded": 1,
    }
    assert papers.tables[0].rows == (("title", "excluded", "off-topic", 1),)
    assert threats(study)["screening"] == "1 of 2 papers are still to be decided."


def test_low_agreement_by_category_comes_from_the_stored_result(study: Study) -> None:
    entry = {
        "stage": "independent",
        "main": "k",
        "statistics": {"k": {"title": "Kappa", "value": 0.61, "items": 20, "raters": 2}},
        "category": {"a1": {"value": 0.5}, "b1": {"value": 0.9}},
        "threshold": 0.7,
        "fixed_beforehand": True,
        "scale": "landis-koch",
    }
    store(study, replace(RESULT, analysis="agreement", name="agreement-main", claims=(),
                         document={"rounds": {"main": entry}}))  # fmt: skip
    found = threats(study)
    assert found["low-agreement"] == "Below what was wanted: main (Kappa 0.610, wanted 0.7)."
    assert "a1 (0.500, main)" in found["weak-categories"]
    assert "b1" not in found["weak-categories"]
    assert states(study)["annotation.beforehand"] == FILLED
    (row,) = told(study)["agreement"].tables[0].records()
    assert (row["round"], row["value"], row["fixed"]) == ("main", 0.61, True)


def test_published_figures_that_differ_are_a_threat(study: Study) -> None:
    bad = replace(CLAIM, claim_id="made-up.other", status="not reproduced")
    store(study, replace(RESULT, claims=(CLAIM, bad)))
    assert (
        threats(study)["published"]
        == "Of 2 claims compared with published figures: 1 not reproduced."
    )


def test_the_checklist_never_calls_filled_what_is_not_there(tmp_path: Path) -> None:
    study = Study(tmp_path / "new")
    put(study)
    (table,) = told(study)["checklist"].tables
    rows = table.records()
    assert not [row for row in rows if row["state"] == FILLED]
    alone = [row for row in rows if row["state"] == NOT_APPLICABLE]
    assert [row["evidence"] for row in alone] == [
        "Nothing was mined.", "Nothing was labelled, and no sample was drawn.",
        "Nothing was labelled.", "The study has no papers.",
    ]  # fmt: skip
    assert all(row["todo"] for row in rows if row["state"] == MISSING)


def test_the_checklist_is_filled_as_the_study_goes_on(study: Study) -> None:
    before = states(study)
    assert before["annotation.raters"] == FILLED
    assert (before["annotation.settled"], before["mining.criteria"]) == (MISSING, MISSING)
    Labelled(study).round("next", {"github:o/r#1": {"ann": "a1"}})
    assert states(study)["annotation.raters"] == "partly"


def test_the_checklist_knows_a_study_of_bugs(tmp_path: Path) -> None:
    study = new_study(tmp_path / "bugs")
    executed.put(study, [(made_bug(f"set/{at}"), "verified") for at in range(4)])
    before = states(study)
    assert before["general.collected"] == FILLED
    assert "sampling.frame" not in before  # nothing was drawn
    draw(study, 2, ("framework",))
    (table,) = told(study)["checklist"].tables
    rows = {row["id"]: row for row in table.records()}
    assert rows["general.collected"]["evidence"] == (
        "4 bugs of set, imported with content, time and run."
    )
    assert rows["sampling.frame"]["evidence"] == "Bugs in the frame: all-by-framework-seed-1 4."
    assert (rows["sampling.replicable"]["state"], rows["sampling.representative"]["state"]) == (
        FILLED, FILLED,
    )  # fmt: skip
    assert rows["sampling.size"]["state"] == "partly"
    assert rows["sampling.frame"]["section"] == rows["general.collected"]["section"]
    assert str(rows["sampling.frame"]["section"]) in told(study)


def test_an_empty_study_is_told_of_bugs_too(tmp_path: Path) -> None:
    study = Study(tmp_path / "new")
    put(study)
    assert "analysis reexecute --import" in told(study)["next"].points[0].text


def test_every_item_has_a_check_and_every_check_an_item() -> None:
    items = [item for standard in checklist()["standard"] for item in standard["item"]]
    assert {item["check"] for item in items} == set(checks.CHECKS)
    assert len({item["id"] for item in items}) == len(items)
    assert {standard["applies"] for standard in checklist()["standard"]} == set(checks.APPLIES)


def test_commands_that_are_named_exist() -> None:
    programs = ("miner", "annotation", "analysis", "report")
    known = {f"{program} {name}" for program in programs for name in tree(program).commands}
    sources = [ROOT / "report/checklist.toml", *(ROOT / "report/sections").glob("*.py")]
    # In quotes, behind a comma of a list of commands, or in backquotes.
    said = re.compile(rf"[\"`] ?((?:{'|'.join(programs)}) [a-z][a-z-]+)(?=[\"`]| [-A-Z<])")
    named = {name for path in sources for name in said.findall(path.read_text(encoding="utf-8"))}
    assert len(named) > 10
    assert named - known <= {"report package"}
