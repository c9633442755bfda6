"""The shipped bugs: what they cover, and that each ends in its known verdict."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import util
from pathlib import Path

import pytest
from needed import need

from faultatlas.analysis.reexecution import results
from faultatlas.analysis.reexecution.artifacts.content import content_hash
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.artifacts.validating import problems
from faultatlas.analysis.reexecution.bugs import Bug, Symptom
from faultatlas.analysis.reexecution.collecting import shipped
from faultatlas.analysis.reexecution.executing import Task, execute
from faultatlas.analysis.reexecution.judging import judge
from faultatlas.analysis.reexecution.pools import LocalPool
from faultatlas.analysis.reexecution.runs import Evidence
from faultatlas.analysis.reexecution.sampler import Done, Handling, Job, Kept, Sampler
from faultatlas.analysis.reexecution.sandbox.choosing import choose
from faultatlas.analysis.reexecution.verdicts import Judgement, Reason, Verdict
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy_library import TaxonomyLibrary

BUGS = [read(folder) for folder in shipped()]
BY_NAME = {bug.bug_id.removeprefix("shipped/"): bug for bug in BUGS}
VERIFIED = [bug for bug in BUGS if bug.claimed_verdict == Verdict.VERIFIED]
OTHER_SIDE = {"buggy": "fixed", "fixed": "buggy"}


# What they cover.


def test_a_folder_has_the_name_of_its_bug() -> None:
    assert [bug.bug_id for bug in BUGS] == [f"shipped/{bug.folder.name}" for bug in BUGS]


def test_nothing_is_wrong_with_them_but_what_is_meant_to_be() -> None:
    found = {name: {str(each) for each in problems(bug.folder)} for name, bug in BY_NAME.items()}
    assert {name: said for name, said in found.items() if said} == {
        "empty-fix": {"fixed: all its scripts are empty"},
        "one-reading-without-a-batch": {
            "bug.toml: [run.fixed]: is missing",
            "fixed: has no files: the fix cannot be shown",
        },
        "result-of-another-day": {
            f"{side}/result.json: is an output that is shipped already: a run that writes nothing "
            "would leave it"
            for side in OTHER_SIDE
        },
        "without-its-data": {"data/ratings.csv: is missing"},
    }


def test_every_symptom_and_every_oracle_is_there() -> None:
    symptoms = {node.code for node in TaxonomyLibrary().taxonomy("symptoms").leaves}
    assert {bug.labels.symptom for bug in VERIFIED} == symptoms
    assert {bug.oracle.symptom for bug in VERIFIED} == set(Symptom)
    wrong = [bug.oracle for bug in VERIFIED if bug.oracle.symptom is Symptom.INCORRECT_OUTPUT]
    assert any(oracle.check for oracle in wrong)
    assert any(oracle.pattern and oracle.expected is not None for oracle in wrong)
    assert any(oracle.pattern and oracle.at_most is not None for oracle in wrong)
    assert any(oracle.file for oracle in wrong)
    poor = [bug.oracle for bug in VERIFIED if bug.oracle.symptom is Symptom.BAD_PERFORMANCE]
    assert {bool(oracle.measure) for oracle in poor} == {True, False}
    assert {oracle.better for oracle in poor} == {"higher", "lower"}


def test_they_are_about_leaves_of_the_taxonomy_and_several_properties() -> None:
    taxonomy = TaxonomyLibrary().taxonomy("humbatova")
    assert all(taxonomy.is_leaf(bug.labels.fault) for bug in BUGS)
    assert len({bug.labels.fault for bug in VERIFIED}) >= 18
    assert len({bug.labels.property for bug in VERIFIED}) >= 5


def test_frameworks_are_those_that_are_here_and_pytorch_is_never_built() -> None:
    of = [bug.labels.framework for bug in BUGS]
    assert of.count("numpy") + of.count("scikit-learn") >= 18
    assert of.count("scikit-learn") >= 4
    torch = [bug for bug in BUGS if bug.labels.framework == "pytorch"]
    assert len(torch) >= 3
    assert {bug.environment.python for bug in torch} == {"host"}
    assert any(bug.labels.about_gpu for bug in torch)
    assert any(bug.labels.about_gpu for bug in BUGS if bug not in torch)


def test_every_verdict_is_known_of_some_bug_with_nearly_every_reason() -> None:
    assert {bug.claimed_verdict for bug in BUGS} == set(Verdict)
    reasons = {bug.claimed_reason for bug in BUGS}
    assert reasons == set(Reason) - {Reason.DEVICE, Reason.HOST}  # those are of the host
    assert all(bug.title and bug.notes for bug in BUGS)


def test_they_are_small_texts() -> None:
    root = BUGS[0].folder.parent
    files = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert sum(path.stat().st_size for path in files) < 200_000
    for path in files:
        path.read_text(encoding="utf-8")
    assert not [path for path in files if path.name == "__init__.py"]


# What comes out.


@dataclass(frozen=True)
class Ran:
    """A bug with what its runs showed."""

    judgement: Judgement
    evidence: tuple[Evidence, ...]


def run(bugs: Iterable[Bug], root: Path) -> dict[str, Ran]:
    """Run and judge them as the command does, on this machine's processor."""
    try:
        choose("auto", unsafe_network=False)
    except StudyError as error:
        need(is_there=False, what=error.message)

    def task(job: Job, side: str, seed: int, attempt: int) -> Task:
        whose = (job.bug.folder, job.bug.bug_id, job.content)
        return Task(*whose, side, seed, root / "runs", attempt, "cpu", cache=root / "cache")

    def kept(folder: Path) -> Kept:
        record = results.read_run(folder)
        assert record is not None
        return Kept(record, folder)

    def lost(*told: object) -> Kept:
        raise AssertionError(told)

    handling = Handling(
        stored=lambda _job: (),
        task=task,
        kept=kept,
        evidence=lambda each: results.evidence(each.folder),
        judge=judge,
        lost=lost,
        has_interpreter=lambda _bug: False,
    )
    sampler = Sampler([Job(bug, content_hash(bug)) for bug in bugs], handling)
    pool = LocalPool(2, 0, execute)
    sampler.run(pool)
    pool.close()
    found = {}
    for done in sampler.ended:
        assert isinstance(done, Done), done
        folders = results.stored(root / "runs", done.job.bug.bug_id, done.job.content, "cpu")
        evidence = tuple(results.evidence(folder) for folder in folders)
        found[done.job.bug.bug_id.removeprefix("shipped/")] = Ran(done.judgement, evidence)
    return found


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    return run(BUGS, tmp_path_factory.mktemp("shipped"))


def expected(bug: Bug) -> tuple[str, str]:
    """What is known of a bug, on a processor; without PyTorch its bugs cannot be run."""
    if bug.labels.about_gpu:
        return Verdict.INFRASTRUCTURE, Reason.DEVICE
    if bug.environment.python == "host" and util.find_spec("torch") is None:
        return Verdict.INFRASTRUCTURE, Reason.INTERPRETER
    return bug.claimed_verdict, bug.claimed_reason


def swapped(evidence: Sequence[Evidence]) -> list[Evidence]:
    return [
        replace(each, run=replace(each.run, side=OTHER_SIDE[each.run.side])) for each in evidence
    ]


def test_each_ends_in_its_known_verdict(ran: dict[str, Ran]) -> None:
    found = {
        name: (each.judgement.verdict, each.judgement.reason, each.judgement.detail)
        for name, each in ran.items()
    }
    wanted = {name: (*expected(bug), found[name][2]) for name, bug in BY_NAME.items()}
    assert found == wanted
    assert {each.judgement.verdict for each in ran.values()} == set(Verdict)


def test_what_the_runs_of_a_verified_bug_show_is_reversed_when_they_change_sides(
    ran: dict[str, Ran],
) -> None:
    judged = {
        name: judge(BY_NAME[name], swapped(each.evidence))
        for name, each in ran.items()
        if each.judgement.verdict is Verdict.VERIFIED
    }
    assert len(judged) >= 18
    assert {(each.verdict, each.reason) for each in judged.values()} == {
        (Verdict.NOT_REPRODUCED, Reason.REVERSED)
    }


def test_folders_that_are_exchanged_turn_the_verdict_whatever_bug_toml_says(tmp_path: Path) -> None:
    exchanged = []
    for name in ("checkpoint-one-epoch-off", "labels-in-eight-bits", "sides-exchanged"):
        folder = tmp_path / name
        shutil.copytree(BY_NAME[name].folder, folder, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "buggy").rename(folder / "was buggy")
        (folder / "fixed").rename(folder / "buggy")
        (folder / "was buggy").rename(folder / "fixed")
        exchanged.append(read(folder))
    found = {
        name: (each.judgement.verdict, each.judgement.reason)
        for name, each in run(exchanged, tmp_path / "results").items()
    }
    assert found == {
        "checkpoint-one-epoch-off": (Verdict.NOT_REPRODUCED, Reason.REVERSED),
        "labels-in-eight-bits": (Verdict.NOT_REPRODUCED, Reason.REVERSED),
        "sides-exchanged": (Verdict.VERIFIED, Reason.NONE),
    }


def test_a_bug_about_a_gpu_says_so_although_nothing_goes_wrong_on_a_processor(
    ran: dict[str, Ran],
) -> None:
    found = ran["second-gpu-by-number"]
    assert {each.run.exit_code for each in found.evidence} == {0}
    assert "GPU" in found.judgement.detail
