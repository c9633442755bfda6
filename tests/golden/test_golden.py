"""What the program did before it was rewritten, it does still: `golden/record.py` says how."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sandboxed
from golden.stage import EXPECTED, Case, Stage, cases, differences, played

# Golden cases make and open studies as users do.
pytestmark = [pytest.mark.usual_opening, pytest.mark.timeout(300)]

_ALL = cases()
_TOGETHER, _ONE = 3_000_000, 1_000_000  # bytes


@pytest.mark.parametrize("case", _ALL, ids=lambda case: case.name)
def test_new_program_does_what_the_old_one_did(
    case: Case, tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    for part in case.needs:
        sandboxed.needs(part)
    real = request.getfixturevalue("study_fixtures").resolve() if case.is_real else None
    recorded = json.loads(case.expected.read_text(encoding="utf-8"))
    found = differences(recorded, played(case, Stage(case, tmp_path / "stage", real_data=real)))
    if found.additions and request.config.get_verbosity() > 0:
        with capsys.disabled():
            print("\n  new: " + "\n  new: ".join(found.additions))  # noqa: T201 - with -v only
    if found.problems:
        listed = "\n".join(found.problems)
        pytest.fail(f"{case.name} differs from what was recorded:\n{listed}", pytrace=False)


def test_what_is_recorded_has_a_case_and_is_small() -> None:
    sizes = {path.stem: path.stat().st_size for path in EXPECTED.iterdir()}
    assert sizes.keys() == {case.name for case in _ALL}
    assert max(sizes.values(), default=0) <= _ONE
    assert sum(sizes.values()) <= _TOGETHER
