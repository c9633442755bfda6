"""A study with labels whose taxonomy is going to change."""

from __future__ import annotations

from pathlib import Path

import pytest
from changing import SAID
from labelling import Labelled


@pytest.fixture
def labelled(tmp_path: Path) -> Labelled:
    study = Labelled.at(tmp_path)
    study.taxonomy()
    study.round("pilot", SAID)
    return study
