"""The shipped claims files against the published figures, and the contract of the kinds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.data.evidence import published_figures, status_rules
from faultatlas.data.old.figures import status_by_hand
from faultatlas.data.old.results import old_status
from faultatlas.report.manuscript.check import (
    Finding,
    by_figure,
    check,
    check_text,
    kinds,
    shipped_studies,
)

ROOT = Path(__file__).parents[2]
STUDIES = ("bug-localization", "defect4ml", "dl-faults", "hp-defects", "maintenance", "survey")
PUBLISHED = {figure.figure_id: figure for figure in published_figures()}

# The contradictions that were established in the texts.
SLIPS = {
    "K049", "K054", "K055", "K066", "K070", "K076", "K083", "K084", "K088", "K089", "K091",
    "K095", "K096", "K097", "K098", "K103", "K111", "K112", "K113",
}  # fmt: skip

# What makes the example of each kind wrong.
BROKEN = {
    "arithmetic": ('"284"', '"290"'),
    "bound": ('"994.100"', '"1,000.1"'),
    "chi-square": ('"7.66e-21"', '"1.79e-14"'),
    "classification": ('"0.22"', '"0.24"'),
    "effect-word": ('"small"', '"medium"'),
    "group-size": ('"214"', '"350"'),
    "integer-mean": ('"3.48"', '"3.47"'),
    "kappa-word": ('"0.80"', '"0.87"'),
    "largest": ('"771"', '"349"'),
    "order": ('"0.36"', '"0.46"'),
    "map-mrr": ('"227"', '"1"'),
    "marks": ('"60 %"', '"40 %"'),
    "mean": ('"227"', '"229"'),
    "overlap": ('"365"', '"495"'),
    "p-value": ('"0.15"', '"0.015"'),
    "percentage": ('"40.0 %"', '"40.2 %"'),
    "percentages": ('"35.29 %"', '"35.32 %"'),
    "ratio": ('"10.65 %"', '"12.00 %"'),
    "relative-difference": ('"31.59 %"', '"34.14 %"'),
    "same": ('"0.24"', '"0.25"'),
    "sample-size": ('"380"', '"382"'),
    "shares": ('"384"', '"385"'),
    "sum": ('"86"', '"87"'),
    "t-test": ('"0.0046"', '"0.12"'),
    "table": ('"1,795"', '"1,796"'),
    "top-k": ('"0.316"', '"0.244"'),
    "whole-from-groups": ('"38.8 %"', '"40.0 %"'),
}


def claims(kind: str, fields: str) -> list[Finding]:
    return check_text(f'[[claim]]\nid = "a"\nkind = "{kind}"\n{fields}', "a.toml", "a")


def one(kind: str, fields: str) -> Finding:
    [finding] = claims(kind, fields)
    return finding


# The shipped studies.


@pytest.fixture(scope="module")
def findings() -> dict[str, list[Finding]]:
    return {name: check(name) for name in shipped_studies()}


def test_the_studies_that_are_shipped(findings: dict[str, list[Finding]]) -> None:
    assert shipped_studies() == STUDIES
    for name, found in findings.items():
        assert {each.study for each in found} == {name}
        assert all(each.place and each.what and each.rule and each.reason for each in found)


def test_every_figure_of_a_text_has_the_status_that_was_established(
    findings: dict[str, list[Finding]],
) -> None:
    seen = {}
    for name, found in findings.items():
        for figure_id, figure in by_figure(found).items():
            assert PUBLISHED[figure_id].study == name
            by_hand = status_by_hand(PUBLISHED[figure_id])
            # Searches overlap, so the sum of the hits contradicts nothing.
            assert figure_id == "K047" or old_status(figure.status) == by_hand, figure
            seen[figure_id] = figure.status
    of_texts = {key for key, figure in PUBLISHED.items() if figure.data.startswith("paper text")}
    assert of_texts <= set(seen)
    by_hand = {key for key in of_texts if status_by_hand(PUBLISHED[key]) == "inconsistent"}
    assert by_hand == SLIPS | {"K047"}
    assert seen["K047"] == "consistent"
    assert {key for key in of_texts if seen[key] == "inconsistent"} == SLIPS


def test_the_computed_values_are_those_of_the_facts(
    findings: dict[str, list[Finding]], study_fixtures: Path
) -> None:
    facts = json.loads((study_fixtures / "facts" / "checks.json").read_text(encoding="utf-8"))
    rules = {rule.wording: rule.status for rule in status_rules()}
    figures = by_figure(each for found in findings.values() for each in found)
    checked = 0
    for fact in facts:
        if not fact["data_file"].startswith("seed text"):
            continue
        figure = figures[f"K{int(fact['id'][1:]):03}"]
        if fact["id"] == "K47":  # the fact is the sum
            continue
        assert old_status(figure.status) == rules[fact["status"]], fact
        words = str(fact["computed"])
        if fact["id"] in {"K54", "K70", "K113"}:  # words, not numbers
            assert all(word in figure.computed for word in _words_of(words)), figure
        else:
            here = {value for value in figure.values if value is not None}
            here |= {value for value, _digits in _numbers(figure.computed)}
            for value, digits in _numbers(words.replace(", Table 22", "")):
                assert any(abs(round(each, digits) - value) < 1e-9 for each in here), figure
                checked += 1
    assert checked > 90


def test_slips_beyond_the_list_are_found(findings: dict[str, list[Finding]]) -> None:
    found = {each.entry_id: each for each in findings["bug-localization"] if each.is_contradiction}
    dnnloc = found["table-8.dlsw.dnnloc.mrr"]  # its MRR is below its Top@1
    assert dnnloc.printed == "0.455"
    assert dnnloc.value == pytest.approx(0.5212)
    assert sum(each.kind == "top-k" for each in found.values()) == 12
    others = {each.entry_id for each in findings["defect4ml"] if each.is_contradiction}
    assert others >= {"data-sets.github", "tables-2-and-4.stackoverflow", "posts.tensorflow"}


CONTRADICTIONS = {
    "defect4ml": {
        "table-6.neuralint": "7 of 12 are f",
        "table-6.deeplocalize": "9 of 12 are r",
    },
    "bug-localization": {
        "table-30.intrinsic.map": "BLUiR 0.359 < 0.369, bjXnet 0.470 < 0.510",
        "table-30.blia.extrinsic": "MAP 0.321 < 0.382",
        "table-30.bjxnet.extrinsic.ndlsw": "MAP 0.367 < 0.390",
        "table-22.api-over-model.map": "DNNLOC 0.493 < 0.593, bjXnet 0.460 < 0.650",
        "table-22.api-over-model.mrr": "DNNLOC 0.548 < 0.585, bjXnet 0.510 < 0.720",
    },
}


def test_what_tables_say_against_the_sentences_about_them(
    findings: dict[str, list[Finding]],
) -> None:
    for study, contradictions in CONTRADICTIONS.items():
        rows = {finding.entry_id: finding for finding in findings[study]}
        for name, why in contradictions.items():
            # The paper does not say that the order holds for each technique of Table 22.
            is_inferred = name.startswith("table-22.")
            assert rows[name].status == ("does not follow" if is_inferred else "inconsistent")
            assert why in rows[name].reason
        for name in ("table-30.bjxnet.extrinsic.dlsw", "table-30.extrinsic.best.ndlsw"):
            assert study == "defect4ml" or rows[name].status == "consistent"


def test_a_changed_number_changes_the_claim(tmp_path: Path) -> None:
    shipped_file = ROOT / "data" / "manuscripts" / "survey.toml"
    text = shipped_file.read_text(encoding="utf-8")
    changed = tmp_path / "changed.toml"
    changed.write_text(text.replace('printed = "212"', 'printed = "213"'), encoding="utf-8")
    found = by_figure(check(changed))
    assert (found["K048"].status, found["K048"].computed) == ("inconsistent", "212")


def _numbers(text: str) -> Iterator[tuple[float, int]]:
    for hit in re.finditer(r"(?<![A-Za-z\d.])\d[\d,]*(?:\.(\d+))?(?:e(-\d+))?", text):
        digits = len(hit[1] or "") - int(hit[2] or 0)
        yield float(hit[0].rstrip(",").replace(",", "")), digits


def _words_of(text: str) -> list[str]:
    if text == "both":
        return ["targeted", "untargeted"]
    known = ("substantial", "almost perfect", "strong", "weak", "moderate")
    return [word for word in known if word in text]


# The contract of a kind.


@pytest.mark.parametrize("name", BROKEN)
def test_every_kind_accepts_its_example_and_notices_a_wrong_number(name: str) -> None:
    kind = kinds()[name]
    right = one(name, kind.example)
    assert right.status == "consistent", right
    assert right.rule
    assert right.printed
    old, new = BROKEN[name]
    assert kind.example.count(old) >= 1
    wrong = one(name, kind.example.replace(old, new, 1))
    assert wrong.status in ("inconsistent", "does not follow"), wrong
    assert wrong.is_contradiction
    assert wrong.reason != right.reason


def test_every_kind_is_in_the_contract_and_says_what_it_is() -> None:
    assert set(BROKEN) == set(kinds())
    for kind in kinds().values():
        assert kind.about
        assert all(kind.fields.values())
        fields = set(re.findall(r"^(\w+) =", kind.example, re.MULTILINE))
        assert fields <= {"printed", *kind.fields}
    page = (ROOT / "docs" / "manuscript.md").read_text(encoding="utf-8")
    for name, kind in kinds().items():
        listed = ", ".join(f"`{field}`" for field in kind.fields)
        assert f"| `{name}` | {kind.about} | {listed} |" in page


@pytest.mark.parametrize("name", BROKEN)
def test_every_kind_refuses_a_field_that_it_does_not_know(name: str) -> None:
    with pytest.raises(StudyError, match=f"a: unknown field 'pupulation' of {name}"):
        claims(name, f'{kinds()[name].example}\npupulation = "1"')


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("bad", ["3.4", "true", '"x1"', "[]", "{}", '"1e999"', "[[]]"])
def test_no_kind_takes_nonsense_for_a_number(name: str, bad: str) -> None:
    for field in re.findall(r"^(\w+) =", kinds()[name].example, re.MULTILINE):
        changed = re.sub(rf"(?m)^{field} = .*$", f"{field} = {bad}", kinds()[name].example)
        allowed: tuple[Any, ...] = ("same", "marks", "formula")  # texts may be any text
        if name in allowed or field in allowed or (field, bad) == ("paired", "true"):
            continue
        with pytest.raises(StudyError, match=r"a\.toml:\d+: a: "):
            claims(name, changed)


# Verdicts.


def test_a_difference_from_inferred_inputs_is_no_contradiction() -> None:
    fields = 'printed = "96.6 %"\ncount = "2012"\ntotal = "2365"'
    assert one("percentage", fields).status == "inconsistent"
    inferred = one("percentage", f'{fields}\ninputs = "inferred"')
    assert inferred.status == "does not follow"


@pytest.mark.parametrize(
    ("printed", "status", "why"),
    [
        ("26.26 %", "consistent", "when rounded to"),
        ("26.25 %", "consistent", "when cut, not rounded"),
        ("26 %", "consistent", "when rounded to"),
        ("0.262", "consistent", "when cut, not rounded"),
        ("26.3 %", "consistent", "when rounded to"),
        ("27 %", "near", "only when rounded up"),
        ("26.4 %", "near", "unrounded inputs give 26.1 % to 26.4 %"),
        ("28 %", "inconsistent", "printed 28 %, computed 26 %"),
        ("~26 %", "consistent", "26.26 % is ~26 %"),
        ("~30 %", "near", "rounds to"),
        ("~20 %", "inconsistent", "26.26 % is not ~20 %"),
        ("almost 27 %", "inconsistent", "26.26 % is not almost 27 %"),
        ("almost 26.3 %", "consistent", "is almost 26.3 %"),
        ("over 26 %", "consistent", "is over 26 %"),
        ("<27 %", "consistent", "keeps"),
        (">27 %", "inconsistent", "breaks"),
    ],
)
def test_how_digits_are_compared(printed: str, status: str, why: str) -> None:
    found = one("relative-difference", f'printed = "{printed}"\nbefore = "0.617"\nafter = "0.455"')
    assert found.status == status, found.reason
    assert why in found.reason


@pytest.mark.parametrize(
    ("kind", "fields", "status"),
    [
        # t would be 2.042 at p = .05, and 2.04 may have been 2.0449.
        ("p-value", 'printed = "<.05"\nstatistic = "t"\nvalue = "2.04"\ndf = "30"', "near"),
        ("p-value", 'printed = "<.05"\nstatistic = "t"\nvalue = "2.03"\ndf = "30"', "inconsistent"),
        ("p-value", 'printed = "<.001"\nstatistic = "z"\nvalue = "9.4"', "consistent"),
        ("p-value", 'printed = "0"\nstatistic = "r"\nvalue = "1.5"\ndf = "30"', "inconsistent"),
        ("p-value", 'printed = "1"\nstatistic = "F"\nvalue = "-1"\ndf = [1, 3]', "inconsistent"),
        ("kappa-word", 'values = [["1.7", "almost perfect"]]', "inconsistent"),
        ("ratio", 'printed = "3.8"\nnumerator = "40 %"\ndenominator = "11 %"', "near"),
        ("ratio", 'printed = "3.8"\nnumerator = "40"\ndenominator = "11"', "inconsistent"),
        ("sum", 'printed = "100 %"\nparts = ["33 %", "33 %", "33 %"]', "near"),
        ("sum", 'printed = "100"\nparts = ["33", "33", "33"]', "inconsistent"),
        (
            "sum",
            'printed = "2,000,000,001"\nparts = ["1,000,000,000", "1,000,000,000"]',
            "inconsistent",
        ),
    ],
)
def test_rounding_explains_what_it_can_and_no_more(kind: str, fields: str, status: str) -> None:
    assert one(kind, fields).status == status


@pytest.mark.parametrize(
    ("kind", "fields", "said"),
    [
        ("percentage", 'printed = "40.0"\ncount = "154"\ntotal = "385"', 'in percent: "40.0 %"'),
        ("percentages", 'printed = ["48.15"]\ncounts = ["65"]\ntotals = ["135"]', "48.15 %"),
        ("marks", 'printed = "60 %"\nmarks = "FFPPF"\ncounted = "F"', 'of = "share"'),
        ("bound", 'printed = ["<3", "<4"]\nvalues = ["3"]', "one printed number"),
        ("top-k", 'printed = ["0.4", "0.5"]\ntop = { 1 = "0.3" }', "one printed number"),
        ("t-test", 'printed = "0.5"\nfirst = ["1", "1"]\nsecond = ["1", "1"]', "do not vary"),
        ("sum", 'printed = "3"\nparts = ["3 x 1024", "1"]', "is not a number"),
        ("sum", f'printed = "3"\nparts = ["{"9" * 30}e300", "1"]', "beyond what"),
        ("sum", f"printed = {'9' * 5000}", "cannot be read as TOML"),
    ],
)
def test_what_would_look_like_a_contradiction_is_a_slip_of_the_file(
    kind: str, fields: str, said: str
) -> None:
    with pytest.raises(StudyError) as error:
        one(kind, fields)
    assert said in error.value.message


def test_nothing_printed_is_computed_but_not_checked() -> None:
    found = one("percentage", 'count = "172"\ntotal = "228"')
    assert (found.computed, found.status) == ("75.4 %", "cannot be checked")


def test_the_worst_place_decides() -> None:
    found = one("sum", 'printed = ["87", "89"]\nparts = ["18", "29", "42"]')
    assert (found.status, found.computed) == ("inconsistent", "89")
    assert "printed 87" in found.reason
    assert "89 adds up" not in found.reason


@pytest.mark.parametrize(
    ("size", "population", "status", "why"),
    [
        ("380", "38463", "consistent", "380.36 rounded to the nearest (N = 38,463)"),
        ("381", "38463", "consistent", "380.36 rounded up (N = 38,463)"),
        ("385", "", "consistent", "384.15 rounded up"),
        ("350", "1795", "does not follow", "so that the margin holds"),
        ("300", "1795", "inconsistent", "no population gives 300"),
        ("350", "", "cannot be checked", "350 is the size for about 3,927"),
    ],
)
def test_samples_and_their_rounding(size: str, population: str, status: str, why: str) -> None:
    given = f'population = "{population}"' if population else ""
    found = one("sample-size", f'printed = "{size}"\n{given}')
    assert found.status == status
    assert why in found.reason


def test_searches_are_limited() -> None:
    many = one("integer-mean", 'printed = "3e5"\nn = "1000000"')
    assert many.status == "cannot be checked"
    for fields in (
        'printed = "9e9"\nshares = ["50 %", "50 %"]',
        'printed = "100"\nshares = ["3e5 %"]',
        'printed = "100"\nshares = [' + '"1 %", ' * 51 + "]",
    ):
        with pytest.raises(StudyError):
            one("shares", fields)


def test_shares_of_a_whole_add_up_to_it() -> None:
    halves = one("shares", 'printed = "4"\nshares = ["50 %", "50 %", "50 %"]')
    assert halves.status == "inconsistent"


def test_kappa_words_need_one_scale_for_all() -> None:
    words = 'values = [["0.80", "substantial"], ["0.87", "substantial"], ["0.88", "strong"]]'
    found = one("kappa-word", words)
    assert (found.status, found.reason) == ("inconsistent", "no single scale gives all the words")
    assert "McHugh: strong, strong, strong" in found.computed
    cited = 'scale = "mchugh"\nvalues = [["58 %", "moderate"], ["89.6 %", "almost perfect"]]'
    assert "Landis and Koch has all the words" in one("kappa-word", cited).reason
    edge = one("kappa-word", 'scale = "landis-koch"\nvalues = [["0.80", "almost perfect"]]')
    assert edge.status == "near"  # 0.804 is printed as 0.80
