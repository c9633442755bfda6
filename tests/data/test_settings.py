"""`study.toml`: what it says, and what is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.data.settings import (
    SCALES,
    STATISTICS,
    TEXT,
    About,
    Author,
    Settings,
    read_settings,
)
from faultatlas.data.study import Study


def _settings(folder: Path, text: str) -> Settings:
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return read_settings(folder)


def test_a_new_study_has_a_file_that_says_nothing_yet(tmp_path: Path) -> None:
    assert read_settings(tmp_path) == Settings(None, None, "landis-koch")
    with Study(tmp_path / "study").writing():
        pass
    assert (tmp_path / "study" / "study.toml").read_text(encoding="utf-8") == TEXT
    assert read_settings(tmp_path / "study") == Settings()


def test_the_example_in_a_new_file_works_when_it_is_switched_on(tmp_path: Path) -> None:
    lines = [line.removeprefix("#") if "[" in line or "=" in line else line for line in
             TEXT.splitlines()]  # fmt: skip
    found = _settings(tmp_path, "\n".join(lines))
    assert replace(found, about=About()) == Settings(
        "krippendorff", 0.7, "landis-koch", figures=False
    )
    assert found.title == found.about.title == "Faults of deep learning frameworks"
    assert found.about.authors == [Author("Doe, Jane", "0000-0002-1825-0097", "A University")]
    assert found.about.keywords == ["deep learning", "bugs"]


def test_all_that_can_be_chosen(tmp_path: Path) -> None:
    for statistic in STATISTICS:
        for scale in SCALES:
            text = (
                f'\ufeff[agreement]\nstatistic = "{statistic}"\nthreshold = 1\nscale = "{scale}"\n'
            )
            assert _settings(tmp_path, text) == Settings(statistic, 1.0, scale)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agreement = 0.7", "line 1: agreement = 0.7: expected a section [agreement]"),
        ("[agrement]\nthreshold = 0.7", "line 1: unknown key 'agrement'"),
        ("[agreement]\ntreshold = 0.7", "line 2: unknown key 'agreement.treshold'"),
        (
            '[agreement]\nthreshold = "0.7"',
            "line 2: agreement.threshold = '0.7': expected a number",
        ),
        (
            "\n[agreement]\nthreshold = true",
            "line 3: agreement.threshold = True: expected a number",
        ),
        (
            "[agreement]\nstatistic = 3",
            "line 2: agreement.statistic = 3: expected 'krippendorff', ",
        ),
        ('[agreement]\nstatistic = "kappa"', "line 2: agreement.statistic = 'kappa': expected 'kr"),
        ('[agreement]\nscale = "fleiss"', "line 2: agreement.scale = 'fleiss': expected 'landis-"),
        (
            '[agreement]\nstatistic = "gwet"\nthreshold = 70',
            "line 1: agreement: threshold = 70: expected a number from -1 to 1",
        ),
        ('[agreement]\nstatistic = "gwet"\nthreshold = nan', "line 1: agreement: threshold = nan"),
        ("[agreement]\nthreshold = 0.7", "line 1: agreement: a threshold needs a statistic"),
        ("[agreement]\nstatistic = fleiss", "Invalid value (at line 2"),
        ("x = 1\n[agreement]\ny = 2", "line 3: unknown key 'agreement.y'; line 1: unknown key 'x'"),
        ("[study]\nauthors = [{orcid = 'x'}]", "line 2: study.authors.0.name is missing"),
        (
            "[study]\nauthors = ['Doe, Jane']",
            "line 2: study.authors.0 = 'Doe, Jane': expected a sec",
        ),
        ("[study]\nauthors = [{name = ' '}]", "line 2: study.authors.0: an author needs a name"),
        (
            "[study]\nauthors = [{name = 'D', orcid = '1'}]",
            "line 2: study.authors.0: orcid = '1': it must look like 0000-",
        ),
        (
            "[study]\ndate = 'May 2026'",
            "line 1: study: date = 'May 2026': it must look like 2026-01",
        ),
        (
            "[study]\nlicence = 'CC BY 4.0'",
            "line 1: study: licence = 'CC BY 4.0': it must look like",
        ),
        ("[report]\nfigures = 'no'", "line 2: report.figures = 'no': expected true or false"),
        ("[report]\nfigures = 0", "line 2: report.figures = 0: expected true or false"),
        ("[study]\nkeywords = 'bugs'", "line 2: study.keywords = 'bugs': expected a list"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(StudyError) as caught:
        _settings(tmp_path, text)
    assert caught.value.message.startswith(f"{tmp_path / 'study.toml'}: {said}")
    assert caught.value.hint


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_bytes(b"\xff\xfe[\x00")
    with pytest.raises(StudyError, match=r"study\.toml cannot be read"):
        read_settings(tmp_path)
    (tmp_path / "study.toml").unlink()
    (tmp_path / "study.toml").mkdir()
    with pytest.raises(StudyError, match=r"study\.toml cannot be read"):
        read_settings(tmp_path)
