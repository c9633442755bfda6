"""Labels that come from a real Label Studio, whose server and whose commands are killed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faults import leftovers
from faults.comparing import views
from faults.reference import Reference
from faults.running import Trial
from faults.whole_study import BY_NAME, RATERS, Step, said_of
from labelstudio import Bench, LabelStudio, wire_to
from needed import need

from faultatlas.annotation.bridge.installation import Installation, cache_folder
from faultatlas.annotation.bridge.page.answers import result_of
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary

PUSH = Step("push", "annotation", ("push", "pilot", "--url", "{label_studio}"), ())
PULL = Step("pull", "annotation", ("pull", "pilot"), ("SELECT count(*) = 32 FROM labels",))


@pytest.fixture(scope="module")
def label_studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabelStudio]:
    installation = Installation(cache_folder())
    need(installation.is_ready, f"{installation.folder} is missing: run `annotation serve` once")
    server = LabelStudio.at(tmp_path_factory.mktemp("label-studio"), installation)
    server.start()
    yield server
    server.end()


def told(study: Path) -> dict[str, object]:
    """What the rest of a study is made of."""
    claims = [row for row in views(study)["claims"] if row[1] == "agreement-pilot"]
    with Study(study).reading() as reader:
        return {
            "labels": reader.rows("SELECT item_id, rater, code FROM labels ORDER BY ALL"),
            "final": reader.rows(
                "SELECT artifact_id, code, settled_by FROM final_labels ORDER BY ALL"
            ),
            "gate": reader.rows("SELECT value, low, high, is_passed FROM gates"),
            "claims": claims,
        }


def test_a_round_goes_there_and_back_while_server_and_commands_are_killed(
    trial_of: Callable[[Step], Trial], reference: Reference, label_studio: LabelStudio
) -> None:
    trial = trial_of(BY_NAME["export"])
    bench = Bench(Study(trial.study), label_studio)
    key = {"LABEL_STUDIO_API_KEY": label_studio.token}
    with wire_to(label_studio) as wire:
        places = {"label_studio": wire.url}
        people = {name: label_studio.rater(f"{name}@faults.invalid") for name in RATERS}
        bench.take_accounts(wire.url, people)

        wire.cut("during", "POST /api/projects/.*/import")
        ended = trial.run(PUSH, places=places, environment=key)
        leftovers.refused(ended, f"{wire.url} does not answer")
        label_studio.start()
        for moment in (12, 30):
            ended = trial.run(PUSH, places=places, environment=key, kill_at=moment)
            assert ended.was_killed, ended
        ended = trial.run(PUSH, places=places, environment=key)
        assert ended.code == 0, ended

        taxonomy = TaxonomyLibrary(trial.study).taxonomy("humbatova")
        for place, (name, rater) in enumerate(bench.raters.items()):
            tasks = rater.tasks(bench.projects()[name])
            assert len(tasks) == 16
            for item, task in tasks.items():
                rater.label(task, result_of((said_of(item)[place],), taxonomy))

        ended = trial.run(PULL, environment=key, kill_at=8)
        assert ended.was_killed, ended
        wire.cut("after", "GET .*/export", 2)
        leftovers.refused(trial.run(PULL, environment=key), f"{wire.url} does not answer")
        label_studio.start()
        ended = trial.run(PULL, environment=key)
        assert ended.code == 0, ended
        trial.check(PULL)
    for name in ("agreement", "adjudicate"):
        trial.finish(BY_NAME[name])
    assert told(trial.study) == told(reference.after(BY_NAME["adjudicate"]))
