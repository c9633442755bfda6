"""A tracker on which somebody is to be forgotten, and everything that a study holds of it."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

from loopback import World
from loopback.payloads import USERS
from mining import Mining
from settled import put_final

from faultatlas.data.study import Study
from faultatlas.miner import archive

LOGIN = "bkowalski"
PROJECT = "example/tensors"
ISSUE = f"github:{PROJECT}#"
# Text that no compression hides.
WORDS = base64.b85encode(hashlib.shake_256(b"what she wrote").digest(120)).decode()
HERS = next(number for number in range(1, 27) if USERS[number * 7 % len(USERS)]["login"] == LOGIN)
MENTIONED = 5


def world() -> World:
    """She wrote an issue and a comment, closed another, and is mentioned by others."""
    made = World.small()
    made.touch(HERS, body=f"hers: {WORDS}")
    she_says(made, f"a comment: {WORDS}")
    made.touch(MENTIONED, comment=f"@{LOGIN} see https://github.com/{LOGIN} and {PROJECT}#{HERS}")
    closer = next(user for user in USERS if user["login"] == LOGIN)
    made.touch(7, state="closed", closed_by=closer, assignees=[closer])
    return made


def she_says(made: World, text: str) -> int:
    """Her comment on somebody else's issue gets another text; the issue's number."""
    for number in made.tracker.entries:
        if made.tracker.payload(number)["user"]["login"] == LOGIN:
            continue
        for at, remark in enumerate(made.tracker.comments_of(number)):
            if made.tracker.comment_payload(remark)["user"]["login"] == LOGIN:
                made.edit_comment(number, at, text)
                return number
    raise AssertionError("she has commented on nothing")


def study_of(mine: Mining) -> Study:
    return Study(mine.study)


def everything(study: Study) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables."""
    with study.reading() as reader:
        tables = [row["t"] for row in reader.rows("SELECT table_name AS t FROM duckdb_tables()")]
        return {each: reader.rows(f"SELECT * FROM store.{each} ORDER BY ALL") for each in tables}


def strings(study: Study) -> str:
    """Every text in the study, stored responses unpacked."""
    said = [str(everything(study))]
    with study.reading() as reader:
        said += [str(each) for _number, each in archive.replay(reader)]
    return "\n".join(said)


def held(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(directory.iterdir()) if path.is_file())


def label(study: Study, *artifacts: str) -> None:
    with study.writing() as writer:
        for artifact in artifacts:
            put_final(writer, artifact)


def pseudonym(mine: Mining, artifact: str) -> str:
    return mine.column("SELECT author FROM issues WHERE artifact_id = ?", artifact)[0]  # type: ignore[no-any-return]
