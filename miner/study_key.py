"""The pseudonyms of a study's people, and that they stay those of one key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.data.people import pseudonym, study_key
from faultatlas.miner.payload import Who

if TYPE_CHECKING:
    from faultatlas.data.study import Writer


def who_in(directory: Path) -> Callable[[str], Who]:
    """For a host, the pseudonyms of its people in a study."""
    key = study_key(directory)
    return lambda host: lambda login: pseudonym(key, host, login)


def check_key(writer: Writer, directory: Path, run_id: str) -> None:
    """Refuse a key other than the one that made the study's pseudonyms."""
    known = writer.value("SELECT fingerprint FROM store.key_check")
    found = pseudonym(study_key(directory), "", "fingerprint")
    if known is None:
        writer.execute("INSERT INTO store.key_check VALUES (?, ?)", [found, run_id])
    elif known != found:
        raise StudyError(
            f"{directory / 'study.key'} is not the key that made this study's pseudonyms",
            "Put the old key back; or run `miner rebuild`, which gives everybody a new pseudonym.",
        )
