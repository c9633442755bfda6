"""Bugs, runs and verdicts in the study. The files stay where they are: here are the rows.

Nothing of it is stored twice: a run by the hash of its record, a verdict only where it differs from
the last one of the same bug, content and device.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.reexecution import stored_words
from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.host_places import hiding
from faultatlas.analysis.reexecution.runs import Run
from faultatlas.analysis.reexecution.verdicts import Judgement
from faultatlas.data import clock, provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.identity import artifact_id, resolve
from faultatlas.data.old import arrow_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.provenance import Outcome
    from faultatlas.data.study import Reader, Study, Writer

FOLDER = "bugs"  # of a study: where imported bugs lie, <set>/<name>
SHIPPED = "shipped"  # the set that comes with the program
COMMAND = "analysis reexecute"
_LONGEST_URL = 2_000


@dataclass(frozen=True)
class Registered:
    """What an import changed in the study."""

    new: tuple[str, ...] = ()  # ids of bugs
    changed: tuple[str, ...] = ()
    unchanged: int = 0
    forgotten: tuple[str, ...] = ()  # left out: the study has forgotten what they are about


@dataclass(frozen=True)
class KnownBug:
    """A bug of the study; `folder` holds its files, if they are there."""

    bug_id: str
    set_name: str
    folder: Path
    content: str
    framework: str
    symptom: str
    about_gpu: bool
    oracle_symptom: str = ""  # what its oracle looks for; `symptom` is a label

    @property
    def is_there(self) -> bool:
        """Whether its files are."""
        return (self.folder / "bug.toml").is_file()


@dataclass(frozen=True)
class Judged:
    """A bug with the verdict on what it is now; `content` is that of the runs it rests on."""

    bug: Bug
    content: str
    judgement: Judgement
    device: str = "cpu"


@dataclass(frozen=True)
class Stored:
    """How many rows are new."""

    executions: int = 0
    verdicts: int = 0


def register(
    study: Study,
    bugs: Iterable[Bug],
    *,
    run: provenance.Run | None = None,
    outcome: Outcome = "ok",
    content_of: Callable[[Bug], str] | None = None,
) -> Registered:
    """Put bugs into the study, or what they have become; a run is recorded if one changes.

    The set decides what a bug is: one that lies elsewhere is to be copied to `bug_folder` first.
    """
    listed = list(bugs)
    if content_of is None:
        from faultatlas.analysis.reexecution.artifacts.content import content_hash

        content_of = content_hash
    contents = {bug.bug_id: content_of(bug) for bug in listed}
    with hiding(study.directory), study.writing() as writer:
        own = run or provenance.begin(COMMAND, {})
        found = _register(writer, listed, contents, own)
        if found.new or found.changed:
            provenance.record(writer, own, outcome)
    return found


def registered(study: Study, sets: Collection[str] = ()) -> list[KnownBug]:
    """The bugs of the study, or of these sets, in the order of their ids."""
    if not study.exists:
        return []
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT bug_id, set_name, content, framework, symptom, about_gpu, oracle_symptom "
            "FROM bugs WHERE len(?::VARCHAR[]) = 0 OR list_contains(?::VARCHAR[], set_name) "
            "ORDER BY bug_id",
            [list(sets), list(sets)],
        )
    return [KnownBug(folder=bug_folder(study, row["bug_id"]), **row) for row in rows]


def bug_folder(study: Study, bug_id: str) -> Path:
    """Where the files of a bug lie: in the study, else with the program if it was shipped."""
    inside = study.directory / FOLDER / bug_id
    set_name, _, name = bug_id.partition("/")
    if set_name == SHIPPED and not inside.is_dir():
        return Path(__file__).parent / "shipped" / name
    return inside


def store(
    study: Study,
    runs: Iterable[Run],
    judged: Iterable[Judged],
    *,
    run: provenance.Run | None = None,
    outcome: Outcome = "ok",
) -> Stored:
    """Store runs and verdicts that are not stored yet, in one transaction.

    Bugs that the study does not have are registered by the way; those about something that it has
    forgotten leave nothing. A run of the program is recorded if a row is new.
    """
    executed, decided = list(runs), list(judged)
    with hiding(study.directory), study.writing() as writer:
        own = run or provenance.begin(COMMAND, {})
        known = {row["bug_id"] for row in writer.rows("SELECT bug_id FROM store.bug")}
        missing = [each for each in decided if each.bug.bug_id not in known]
        contents = {each.bug.bug_id: each.content for each in missing}
        found = _register(writer, [each.bug for each in missing], contents, own)
        known |= set(found.new)
        stored = Stored(
            _store_runs(writer, [each for each in executed if each.bug_id in known], own),
            _store_verdicts(writer, [each for each in decided if each.bug.bug_id in known], own),
        )
        if stored.executions or stored.verdicts or found.new:
            provenance.record(writer, own, outcome)
    return stored


def oracle_hash(bug: Bug) -> str:
    """Of the oracle alone: it is no part of what is run."""
    return _digest(json.dumps(asdict(bug.oracle), sort_keys=True, default=str))


def _oracle(bug: Bug) -> dict[str, Any]:
    return {
        name: value for name, value in asdict(bug.oracle).items() if value not in ("", (), None)
    }


def _register(
    writer: Writer, bugs: Collection[Bug], contents: dict[str, str], run: provenance.Run
) -> Registered:
    if not bugs:
        return Registered()
    forgotten = {
        row["subject"]
        for row in writer.rows("SELECT subject FROM store.forgotten WHERE kind = 'artifact'")
    }
    aliases = _aliases(writer)
    rows, left_out = [], []
    for bug in sorted({bug.bug_id: bug for bug in bugs}.values(), key=lambda each: each.bug_id):
        named = artifact_of(bug.url)
        artifact = named and resolve(named, aliases)
        if {named, artifact} & forgotten:
            left_out.append(bug.bug_id)
        else:
            rows.append(_bug_row(bug, artifact, contents[bug.bug_id]))
    before = {
        row["bug_id"]: row["row_hash"]
        for row in writer.rows("SELECT bug_id, row_hash FROM store.bug")
    }
    new = tuple(row["bug_id"] for row in rows if row["bug_id"] not in before)
    changed = tuple(
        row["bug_id"]
        for row in rows
        if before.get(row["bug_id"], row["row_hash"]) != row["row_hash"]
    )
    if new or changed:
        now = clock.utc_now()
        batch = [{**row, "registered_at": now, "run_id": run.run_id} for row in rows]
        arrow_rows.upsert(writer, "store.bug", "bug_id", _arrow(batch))
    return Registered(new, changed, len(rows) - len(new) - len(changed), tuple(left_out))


def _aliases(reader: Reader) -> dict[str, str]:
    rows = reader.rows("SELECT alias, artifact_id FROM store.alias")
    return {row["alias"]: row["artifact_id"] for row in rows}


def artifact_of(url: str) -> str | None:
    """What an address names, if it is the address of an artifact at all."""
    if not url or len(url) > _LONGEST_URL:
        return None
    try:
        return artifact_id(url)
    except StudyError:
        return None


def _bug_row(bug: Bug, artifact: str | None, content: str) -> dict[str, Any]:
    words = stored_words.line
    row = {
        "bug_id": bug.bug_id,
        "set_name": bug.set_name,
        "artifact_id": artifact,
        "url": words(bug.url, _LONGEST_URL),
        "title": words(bug.title),
        "source": words(bug.source, 100),
        "symptom": words(bug.labels.symptom, 100),
        "fault": words(bug.labels.fault, 100),
        "taxonomy": words(bug.labels.taxonomy, 100),
        "property": words(bug.labels.property, 100),
        "framework": words(bug.labels.framework, 100),
        "about_gpu": bug.labels.about_gpu,
        "python": words(bug.environment.python, 100),
        "requirements": _json_list(bug.environment.requirements),
        "guessed": [words(each, 100) for each in bug.environment.guessed],
        "sides": sorted(bug.runs),
        "fidelity": sorted({str(each) for each in bug.fidelity}),
        "oracle_symptom": str(bug.oracle.symptom),
        "oracle": stored_words.json_text(_oracle(bug)),
        "oracle_hash": oracle_hash(bug),
        "own_oracle": stored_words.json_text(bug.own_oracle),
        "claimed_verdict": words(bug.claimed_verdict, 100),
        "claimed_reason": words(bug.claimed_reason),
        "content": content,
    }
    return {**row, "row_hash": int(_digest(repr(row))[:16], 16)}


def _json_list(texts: Iterable[str]) -> str:
    return json.dumps([stored_words.line(each) for each in texts], ensure_ascii=False)


def _store_runs(writer: Writer, runs: Collection[Run], own: provenance.Run) -> int:
    there = {
        tuple(row.values())
        for row in writer.rows(
            f"SELECT {', '.join(_SAME_RUN)} FROM store.execution "
            "WHERE list_contains(?::VARCHAR[], bug_id)",
            [sorted({run.bug_id for run in runs})],
        )
    }
    # To clean their texts takes a moment each: most of a second call's runs are stored.
    runs = [run for run in runs if not run.started_at or _same_run(run) not in there]
    if not runs:
        return 0
    rows = {row["execution_id"]: row for row in map(_execution_row, runs)}
    known = writer.rows(
        "SELECT execution_id FROM store.execution WHERE list_contains(?::VARCHAR[], execution_id)",
        [list(rows)],
    )
    new = rows.keys() - {row["execution_id"] for row in known}
    batch = [{**row, "run_id": own.run_id} for name, row in rows.items() if name in new]
    return arrow_rows.insert(writer, "store.execution", _arrow(batch)) if batch else 0


# No two runs of a side and seed begin in the same microsecond and take as long.
_SAME_RUN = (
    "bug_id", "content", "device", "side", "seed", "attempt", "outcome", "started_at", "duration_s",
)  # fmt: skip


def _same_run(run: Run) -> tuple[Any, ...]:
    return (
        run.bug_id, run.content, run.device.kind, run.side, run.seed, run.attempt,
        str(run.outcome), _time(run.started_at), run.duration_s,
    )  # fmt: skip


def _execution_row(run: Run) -> dict[str, Any]:
    words = stored_words.line
    row = {
        "bug_id": run.bug_id,
        "content": run.content,
        "side": run.side,
        "seed": run.seed,
        "attempt": run.attempt,
        "outcome": str(run.outcome),
        "exit_code": run.exit_code,
        "signal": run.signal,
        "duration_s": run.duration_s,
        "cpu_s": run.cpu_s,
        "peak_memory_mb": run.peak_memory_mb,
        "memory_kills": run.memory_kills,
        "last_output_s": run.last_output_s,
        "output_bytes": run.output_bytes,
        "output_cut": run.output_cut,
        "written_mb": run.written_mb,
        "files": stored_words.json_text(run.files),
        "checked": run.checked,
        "environment": words(run.environment, 100),
        "versions": stored_words.json_text(run.versions),
        "repairs": [words(each) for each in run.repairs],
        "fidelity": sorted({str(each) for each in run.fidelity}),
        "device": run.device.kind,
        "device_name": words(run.device.name, 100),
        "device_memory_mb": run.device.memory_mb,
        "device_peak_mb": run.device.peak_memory_mb,
        "device_use": run.device.mean_utilisation,
        "isolation": run.isolation.kind,
        "has_network": run.isolation.network,
        "memory_limit": run.isolation.memory,
        "process_limit": run.isolation.processes,
        "problem": words(run.problem),
        "host": stored_words.json_text(run.host),
        "started_at": _time(run.started_at),
    }
    return {"execution_id": _digest(repr(row))[:32], **row}


def _store_verdicts(writer: Writer, judged: Collection[Judged], own: provenance.Run) -> int:
    last = {
        (row["bug_id"], row["content"], row["device"]): row
        for row in writer.rows("SELECT * FROM store.verdict ORDER BY run_id, number, verdict_id")
    }
    batch = []
    for each in judged:
        row = _verdict_row(each)
        said = last.get((row["bug_id"], row["content"], row["device"]))
        if said is not None and all(said[name] == value for name, value in row.items()):
            continue
        number = 1 if said is None else said["number"] + 1
        own_id = _digest(repr((row, number, own.run_id)))[:32]
        batch.append(
            {
                "verdict_id": own_id,
                **row,
                "number": number,
                "judged_at": clock.utc_now(),
                "run_id": own.run_id,
            }
        )
    # Of several on the same in one run, the last holds: the others would tie with it.
    kept = {(row["bug_id"], row["content"], row["device"]): row for row in batch}
    return arrow_rows.insert(writer, "store.verdict", _arrow(list(kept.values()))) if kept else 0


def _verdict_row(judged: Judged) -> dict[str, Any]:
    said, words = judged.judgement, stored_words.line
    return {
        "bug_id": judged.bug.bug_id,
        "content": judged.content,
        "device": judged.device,
        "oracle_hash": oracle_hash(judged.bug),
        "verdict": str(said.verdict),
        "reason": str(said.reason),
        "detail": words(said.detail),
        "rule": words(said.rule, 100),
        "wanted": said.wanted,
        "buggy_runs": said.buggy_runs,
        "buggy_shown": said.buggy_shown,
        "fixed_runs": said.fixed_runs,
        "fixed_shown": said.fixed_shown,
        "p_value": _finite(said.p_value),
        "effect": _finite(said.effect),
        "signature": words(said.signature),
        "evidence": stored_words.json_text(said.evidence),
    }


def _time(text: str) -> datetime | None:
    """UTC without a zone; NULL where there is none that can be read."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


_KINDS = {
    "about_gpu": "bool", "output_cut": "bool", "has_network": "bool", "row_hash": "uint64",
    "seed": "int64", "attempt": "int32", "exit_code": "int32", "signal": "int32",
    "duration_s": "float64", "cpu_s": "float64", "peak_memory_mb": "float64",
    "memory_kills": "int32", "last_output_s": "float64", "output_bytes": "int64",
    "written_mb": "float64", "checked": "int32", "device_memory_mb": "int32",
    "device_peak_mb": "int32", "device_use": "float64", "wanted": "int32", "number": "int32",
    "buggy_runs": "int32", "buggy_shown": "int32", "fixed_runs": "int32", "fixed_shown": "int32",
    "p_value": "float64", "effect": "float64",
}  # fmt: skip
_TIMES = frozenset({"registered_at", "started_at", "judged_at"})
_LISTS = frozenset({"guessed", "sides", "fidelity", "repairs"})


def _arrow(rows: list[dict[str, Any]]) -> pa.Table:
    import pyarrow as pa

    def kind(name: str) -> pa.DataType:
        if name in _LISTS:
            return pa.list_(pa.string())
        if name in _TIMES:
            return pa.timestamp("us")
        return pa.type_for_alias(_KINDS.get(name, "string"))

    return pa.Table.from_pylist(rows, pa.schema([(name, kind(name)) for name in rows[0]]))
