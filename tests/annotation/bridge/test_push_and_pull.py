"""`annotation push` and `pull` against a real Label Studio."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from threading import Event, Thread
from typing import Any, cast

import pytest
from changing import SPLIT, SPLIT_STEPS, change, migrated
from labelling import Labelled
from labelstudio import Bench, LabellingRater, LabelStudio, Wire, wire_to

from faultatlas.annotation.bridge import pulling
from faultatlas.annotation.bridge.pushing import _alone
from faultatlas.annotation.bridge.remote import Remote
from faultatlas.data import provenance
from faultatlas.data.study import Study

Command = Callable[..., CompletedProcess[str]]
CODES = ("a1", "a2", "b1")

pytestmark = [
    pytest.mark.long,
    pytest.mark.xdist_group("label-studio"),
]  # one server for both files


@pytest.fixture
def wire(label_studio: LabelStudio) -> Iterator[Wire]:
    with wire_to(label_studio) as made:
        yield made


@pytest.fixture
def bench(
    tmp_path: Path,
    label_studio: LabelStudio,
    wire: Wire,
    people: dict[str, LabellingRater],
    command: Command,
) -> Bench:
    """A round of four items and two raters, pushed, and labelled but for the last item."""
    made = Bench.at(tmp_path / "s", label_studio, artifacts=4, raters=("ana", "ben"))
    made.take_accounts(wire.url, people)
    run(command, made, "push", "pilot", "--url", wire.url)
    for name, rater in made.raters.items():
        for (item, task), code in zip(
            sorted(rater.tasks(made.projects()[name]).items()), CODES, strict=False
        ):
            rater.label(task, made.result(code))
            assert item.startswith("github:o/r#")
    return made


def run(command: Command, bench: Bench, *words: str, expect: int = 0) -> dict[str, Any]:
    ended = command("annotation", *words, "--study", bench.study.directory, "--json")
    assert ended.returncode == expect, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def refused(command: Command, bench: Bench, *words: str) -> str:
    """The messages of a command that does not do all of it."""
    ended = command("annotation", *words, "--study", bench.study.directory)
    assert ended.returncode == 1
    assert bench.server.token not in ended.stderr
    assert "sessionid" not in ended.stderr
    return ended.stderr


def labels(bench: Bench) -> list[tuple[str, str, str]]:
    rows = bench.rows(
        "SELECT item_id, rater, code FROM labels WHERE is_current ORDER BY item_id, rater, code"
    )
    return [(row["item_id"], row["rater"], row["code"]) for row in rows]


LABELLED = [
    (f"github:o/r#{number}", rater, code)
    for number, code in enumerate(CODES, 1)
    for rater in ("ana", "ben")
]


def test_a_round_goes_there_and_back(
    tmp_path: Path, label_studio: LabelStudio, command: Command
) -> None:
    bench = Bench.at(tmp_path / "s", label_studio, artifacts=40, raters=("ana", "ben", "eva"))
    for name in ("ana", "ben", "eva"):
        bench.add_account(command, label_studio.url, name, f"{name}.whole@x.invalid")
    pushed = run(command, bench, "push", "pilot", "--url", label_studio.url)
    assert [(each["rater"], each["sent"]) for each in pushed["projects"]] == [
        ("ana", 40), ("ben", 40), ("eva", 40),
    ]  # fmt: skip
    before = bench.everything()
    again = run(command, bench, "push", "pilot", "--url", label_studio.url)
    assert [(each["tasks"], each["sent"]) for each in again["projects"]] == [(40, 0)] * 3
    assert bench.everything() == before

    expected = []
    for name, rater in bench.raters.items():
        tasks = rater.tasks(bench.projects()[name])
        # She gets them in her own order.
        own = [row["item_id"] for row in bench.rows("SELECT * FROM assignments ORDER BY position")
               if row["rater"] == name]  # fmt: skip
        assert list(tasks) == own
        common = sorted(tasks)[:15]
        for number, item in enumerate(common):
            code = CODES[(number + (name == "eva" and number % 5 == 0)) % 3]
            rater.label(tasks[item], bench.result(code), seconds=7.5)
            expected.append((item, name, code))
    pulled = run(command, bench, "pull", "pilot")
    assert [each["new"] for each in pulled["projects"]] == [15, 15, 15]
    assert labels(bench) == sorted(expected)
    one = bench.rows("SELECT * FROM labels WHERE rater = 'ana' ORDER BY item_id")[0]
    project = bench.projects()["ana"]
    assert one["origin"].startswith(f"{label_studio.url} project {project} task ")
    assert (one["lead_time_s"], one["stage"]) == (7.5, "independent")
    assert one["labelled_at"] is not None
    before = bench.everything()
    again = run(command, bench, "pull", "pilot")
    assert [(each["new"], each["known"]) for each in again["projects"]] == [(0, 15)] * 3
    assert bench.everything() == before

    # Eva says something else of every fifth: three items of fifteen.
    measured = run(command, bench, "agreement", "pilot", "--resamples", "0")
    found = measured["data"]["rounds"]["pilot"]["statistics"]["percent"]
    assert (found["items"], found["value"]) == (15, pytest.approx((12 + 3 / 3) / 15))
    run(command, bench, "adjudicate", "pilot", "--rule", "majority")
    settled = bench.rows(
        "SELECT settled_by, count(*) AS items FROM final_labels GROUP BY ALL ORDER BY ALL"
    )
    assert settled == [
        {"settled_by": "majority", "items": 3}, {"settled_by": "unanimous", "items": 12},
    ]  # fmt: skip


def test_labels_of_the_page_come_back_whole(bench: Bench, command: Command) -> None:
    ana, project = bench.raters["ana"], bench.projects()["ana"]
    result = [
        *bench.result("~new"),
        {"from_name": "proposed", "to_name": "artifact", "type": "textarea",
         "value": {"text": ["Broken pipe"]}},
        {"from_name": "confidence", "to_name": "artifact", "type": "choices",
         "value": {"choices": ["4"]}},
        {"from_name": "comment", "to_name": "artifact", "type": "textarea",
         "value": {"text": ["odd"]}},
    ]  # fmt: skip
    ana.label(ana.tasks(project)["github:o/r#4"], result)
    run(command, bench, "pull", "pilot")
    (row,) = bench.rows("SELECT * FROM labels WHERE code = '~new'")
    assert (row["proposed"], row["confidence"], row["comment"]) == ("Broken pipe", 4.0, "odd")


@pytest.mark.parametrize(
    ("when", "request_line", "number"),
    [
        ("after", "POST /api/projects/$", 1),
        ("during", "POST /api/projects/.*/import", 1),
        ("before", "GET /api/tasks/", 2),
    ],
)
def test_a_server_killed_in_the_middle_of_a_push_loses_and_doubles_nothing(
    when: Any, request_line: str, number: int, tmp_path: Path, label_studio: LabelStudio,
    wire: Wire, command: Command,
) -> None:  # fmt: skip
    bench = Bench.at(tmp_path / "s", label_studio, artifacts=5, raters=("ana", "ben"))
    wire.cut(when, request_line, number)
    message = refused(command, bench, "push", "pilot", "--url", wire.url)
    assert f"{wire.url} does not answer" in message
    label_studio.start()
    pushed = run(command, bench, "push", "pilot", "--url", wire.url)
    assert [each["tasks"] for each in pushed["projects"]] == [5, 5]
    remote = label_studio.remote()
    ours = [number for number, text in remote.projects().items() if number in
            bench.projects().values()]  # fmt: skip
    marks = [text.rpartition(" ")[2] for text in remote.projects().values()]
    assert len(ours) == 2
    assert len(marks) == len(set(marks))  # no project was made twice
    for project in ours:
        tasks = remote.tasks(project)
        assert sorted(str(task.item_id) for task in tasks) == [
            f"github:o/r#{n}" for n in range(1, 6)
        ]
    remote.close()
    assert len(bench.rows("SELECT * FROM store.task")) == 10
    before = bench.everything()
    run(command, bench, "push", "pilot", "--url", wire.url)
    assert bench.everything() == before


def test_a_server_killed_in_the_middle_of_a_pull_loses_and_doubles_nothing(
    bench: Bench, wire: Wire, command: Command
) -> None:
    wire.cut("after", "GET .*/export", 2)
    assert f"{wire.url} does not answer" in refused(command, bench, "pull", "pilot")
    assert len(labels(bench)) == 3  # a project is stored whole or not at all
    bench.server.start()
    run(command, bench, "pull", "pilot")
    assert labels(bench) == LABELLED
    assert len(bench.rows("SELECT * FROM store.answer")) == 6


def test_a_wrong_token_is_one_message(
    bench: Bench, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "0" * 40)
    for words in (("pull", "pilot"), ("rater", "add", "ana", "--url", bench.server.url)):
        message = refused(command, bench, *words)
        assert message.count("does not accept the token") == 1
        assert "LABEL_STUDIO_API_KEY" in message
        assert len(message.splitlines()) == 2
    monkeypatch.delenv("LABEL_STUDIO_API_KEY")
    assert "LABEL_STUDIO_API_KEY is not set" in refused(command, bench, "pull", "pilot")


def test_a_deleted_project_is_told_and_made_anew_on_request(
    bench: Bench, wire: Wire, command: Command
) -> None:
    project = bench.projects()["ana"]
    bench.raters["ana"].ask("DELETE", f"projects/{project}/")
    message = refused(command, bench, "pull", "pilot")
    assert message.count(f"project {project} (round pilot, rater ana) was deleted") == 1
    assert "--again" in message
    assert labels(bench) == [label for label in LABELLED if label[1] == "ben"]
    message = refused(command, bench, "push", "pilot", "--url", wire.url)
    assert message.count("was deleted") == 1
    again = run(command, bench, "push", "pilot", "--url", wire.url, "--again")
    assert [(each["rater"], each["sent"]) for each in again["projects"]] == [("ana", 4), ("ben", 0)]
    run(command, bench, "pull", "pilot")
    assert bench.projects()["ana"] != project


def test_a_removed_task_is_told_and_its_label_is_kept(
    bench: Bench, wire: Wire, command: Command
) -> None:
    run(command, bench, "pull", "pilot")
    ana = bench.raters["ana"]
    ana.ask("DELETE", f"tasks/{ana.tasks(bench.projects()['ana'])['github:o/r#1']}/")
    message = refused(command, bench, "pull", "pilot")
    assert "1 of 4 tasks of project" in message
    assert "github:o/r#1" in message
    assert labels(bench) == LABELLED
    message = refused(command, bench, "push", "pilot", "--url", wire.url)
    assert "1 task was removed from project" in message
    again = run(command, bench, "push", "pilot", "--url", wire.url, "--again")
    assert [each["sent"] for each in again["projects"]] == [1, 0]
    run(command, bench, "pull", "pilot")
    assert labels(bench) == LABELLED
    # The new task counts like the old one: a label there that is deleted is withdrawn.
    given = ana.label(ana.tasks(bench.projects()["ana"])["github:o/r#1"], bench.result("a1"))
    run(command, bench, "pull", "pilot")
    ana.ask("DELETE", f"annotations/{given['id']}/")
    run(command, bench, "pull", "pilot")
    assert labels(bench) == [each for each in LABELLED if each[:2] != ("github:o/r#1", "ana")]


def test_an_unknown_code_is_named_and_the_rest_is_stored(bench: Bench, command: Command) -> None:
    ana = bench.raters["ana"]
    wrong = bench.result("a1")
    wrong[0]["value"]["taxonomy"] = [["a", "a9"]]
    ana.label(ana.tasks(bench.projects()["ana"])["github:o/r#4"], wrong)
    message = refused(command, bench, "pull", "pilot")
    assert message.count("github:o/r#4: 'a9' is no code of tree 1.0.0") == 1
    assert labels(bench) == LABELLED
    (outcome,) = bench.rows("SELECT outcome FROM runs WHERE command = 'annotation pull'")
    assert outcome["outcome"] == "partial"


def test_labels_in_the_project_of_another_rater_are_found_out(
    bench: Bench, command: Command
) -> None:
    ana, ben, project = bench.raters["ana"], bench.raters["ben"], bench.projects()["ana"]
    tasks = ana.tasks(project)
    (changed,) = ana.ask("GET", f"tasks/{tasks['github:o/r#1']}/annotations/")
    ben.ask("PATCH", f"annotations/{changed['id']}/", {"result": bench.result("b2")})
    message = refused(command, bench, "pull", "pilot")
    where = f"project {project} (ana): rater ben has"
    assert f"{where} starred, saved or edited the labels of 1 item, " in message
    without = [label for label in LABELLED if label[:2] != ("github:o/r#1", "ana")]
    assert labels(bench) == without

    ben.label(tasks["github:o/r#4"], bench.result("b2"))  # nobody on the server keeps him from it
    ben.label(tasks["github:o/r#3"], bench.result("b2"))  # which ana has labelled, too
    (starred,) = ana.ask("GET", f"tasks/{tasks['github:o/r#2']}/annotations/")
    ben.ask("PATCH", f"annotations/{starred['id']}/", {"ground_truth": True})
    ana.ask("PATCH", f"annotations/{changed['id']}/", {"result": bench.result("a1")})
    message = refused(command, bench, "pull", "pilot")
    assert f"{where} labelled 2 items too: github:o/r#3, github:o/r#4." in message
    assert "edited" not in message  # she has saved one again; of the other nothing changed
    assert labels(bench) == LABELLED


def test_changed_deleted_and_repeated_labels(bench: Bench, command: Command) -> None:
    run(command, bench, "pull", "pilot")
    ana = bench.raters["ana"]
    tasks = ana.tasks(bench.projects()["ana"])
    (first,) = ana.ask("GET", f"tasks/{tasks['github:o/r#1']}/annotations/")
    ana.ask("PATCH", f"annotations/{first['id']}/", {"result": bench.result("b2")})
    (second,) = ana.ask("GET", f"tasks/{tasks['github:o/r#2']}/annotations/")
    ana.ask("DELETE", f"annotations/{second['id']}/")
    ana.label(tasks["github:o/r#3"], bench.result("~unclear"))
    ana.skip(tasks["github:o/r#4"])
    ended = command("annotation", "pull", "pilot", "--study", bench.study.directory)
    assert ended.returncode == 0
    assert "1 label of ana was deleted on the server and counts as withdrawn: github:o/r#2" in (
        ended.stderr
    )
    assert "several labels of ana; the last one counts: github:o/r#3" in ended.stderr
    assert "1 item was skipped, so without a label: github:o/r#4" in ended.stderr
    mine = [label for label in labels(bench) if label[1] == "ana"]
    assert mine == [("github:o/r#1", "ana", "b2"), ("github:o/r#3", "ana", "~unclear")]
    assert len(bench.rows("SELECT * FROM store.answer WHERE rater = 'ana'")) == 6  # all are kept
    before = bench.everything()
    run(command, bench, "pull", "pilot")
    assert bench.everything() == before


def test_changed_artifacts_are_sent_again_unless_they_are_labelled(
    bench: Bench, wire: Wire, command: Command
) -> None:
    with bench.study.writing() as writer:
        writer.execute("UPDATE store.issue SET body = 'Something else.' WHERE number IN ('1', '4')")
    pushed = run(command, bench, "push", "pilot", "--url", wire.url)
    assert [(each["updated"], each["outdated"]) for each in pushed["projects"]] == [(1, 1)] * 2
    ana = bench.raters["ana"]
    task = ana.ask("GET", f"tasks/{ana.tasks(bench.projects()['ana'])['github:o/r#4']}/")
    assert "Something else." in task["data"]["html"]
    again = run(command, bench, "push", "pilot", "--url", wire.url)
    assert [each["updated"] for each in again["projects"]] == [0, 0]

    # Once one rater has labelled an item, the others judge the same text, also in a new task.
    given = ana.label(task["id"], bench.result("b2"))
    with bench.study.writing() as writer:
        writer.execute("UPDATE store.issue SET body = 'A third text.' WHERE number = '4'")
    ben, project = bench.raters["ben"], bench.projects()["ben"]
    ben.ask("DELETE", f"tasks/{ben.tasks(project)['github:o/r#4']}/")
    pushed = run(command, bench, "push", "pilot", "--url", wire.url, "--rater", "ben", "--again")
    assert [(each["sent"], each["outdated"]) for each in pushed["projects"]] == [(1, 1)]
    shown = ben.ask("GET", f"tasks/{ben.tasks(project)['github:o/r#4']}/")
    assert shown["data"] == task["data"]
    again = run(command, bench, "push", "pilot", "--url", wire.url)
    assert [(each["updated"], each["outdated"]) for each in again["projects"]] == [(0, 2)] * 2
    ana.ask("DELETE", f"annotations/{given['id']}/")
    again = run(command, bench, "push", "pilot", "--url", wire.url)
    assert [(each["updated"], each["outdated"]) for each in again["projects"]] == [(1, 1)] * 2


def test_a_page_or_a_text_that_somebody_changed_on_the_server_is_found_out(
    bench: Bench, wire: Wire, command: Command
) -> None:
    ana, project = bench.raters["ana"], bench.projects()["ana"]
    page = ana.ask("GET", f"projects/{project}/")["label_config"]
    ana.ask("PATCH", f"projects/{project}/", {"label_config": page.replace("5 sure", "5 guess")})
    task = ana.tasks(project)["github:o/r#1"]
    data = ana.ask("GET", f"tasks/{task}/")["data"]
    ana.ask("PATCH", f"tasks/{task}/", {"data": data | {"html": "<p>It is fine.</p>"}})
    for words in (("pull", "pilot"), ("push", "pilot", "--url", wire.url)):
        message = refused(command, bench, *words)
        assert f"project {project} (round pilot, rater ana): its labelling page was" in message
        assert "--rater ana --again" in message
    assert labels(bench) == [label for label in LABELLED if label[1] == "ben"]

    message = refused(command, bench, "push", "pilot", "--url", wire.url, "--again")
    assert "the text of github:o/r#1 was changed on the server" in message
    assert ana.ask("GET", f"projects/{project}/")["label_config"] == page
    message = refused(command, bench, "pull", "pilot")
    assert "the text of 1 item was changed on the server" in message
    assert labels(bench) == [label for label in LABELLED if label[:2] != ("github:o/r#1", "ana")]


DEAD = "http://127.0.0.1:9"  # nobody answers at the discard port


def test_a_project_is_left_only_when_its_labels_were_pulled(
    bench: Bench, people: dict[str, LabellingRater], command: Command
) -> None:
    there = ("push", "pilot", "--url", bench.server.url)
    assert "are on another server" in refused(command, bench, *there)
    assert "'nobody' is no rater of round 'pilot'" in refused(
        command, bench, "pull", "pilot", "--rater", "nobody"
    )
    project = bench.projects()["ana"]
    with bench.study.writing() as writer:
        for table in ("project", "task"):
            where = f"UPDATE store.{table} SET server = ? WHERE project_id = ?"
            writer.execute(where, [DEAD, project])
    # A server that is down does not keep the labels of others back.
    assert f"{DEAD} does not answer" in refused(command, bench, "pull", "pilot")
    assert labels(bench) == [label for label in LABELLED if label[1] == "ben"]
    assert bench.rows("SELECT outcome FROM runs WHERE command = 'annotation pull'") == [
        {"outcome": "partial"}
    ]
    before = bench.rows("SELECT * FROM store.project ORDER BY rater")
    message = refused(command, bench, *there, "--again")
    assert "the labels of ana" in message
    assert "could not be pulled" in message
    assert bench.rows("SELECT * FROM store.project ORDER BY rater") == before

    moved = run(command, bench, *there, "--again", "--abandon")
    assert "was left" in moved["projects"][0]["notes"][0]
    assert "has no account" in moved["projects"][1]["notes"][0]
    bench.take_accounts(bench.server.url, people)
    run(command, bench, "pull", "pilot")
    assert labels(bench) == LABELLED  # ben's were pulled there before
    # That ben labelled elsewhere is not forgotten.
    used = bench.rows("SELECT rater, retired_at IS NULL AS used FROM store.project ORDER BY ALL")
    assert [tuple(row.values()) for row in used] == [("ana", True), ("ben", False), ("ben", True)]


@pytest.mark.parametrize(
    ("error", "outcome"), [(KeyboardInterrupt(), "interrupted"), (ValueError("x"), "failed")]
)
def test_a_pull_that_ends_behind_its_first_labels_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, outcome: str
) -> None:
    """The labels are stored, and what is reported of the project is not there yet."""
    labelled = Labelled.at(tmp_path)
    labelled.taxonomy()
    labelled.round("pilot", {"github:o/r#1": {"ana": "a1"}})
    with labelled.study.writing() as writer:
        writer.execute(
            "INSERT INTO store.project (server, project_id, round, rater, stage, "
            "taxonomy_version, blindness, run_id) VALUES "
            "('there', 1, 'pilot', 'ana', 'independent', '1.0.0', 'own project', 'by hand')"
        )

    def ends(study: Study, _of: Any, _place: Any, _remote: Any, run: provenance.Run) -> None:
        with study.writing() as writer:
            provenance.record(writer, run, "running")
        raise error

    monkeypatch.setattr(pulling, "pull_place", ends)
    with pytest.raises(type(error)):
        pulling.pull(labelled.study, "pilot", lambda _name: cast("Remote", None))
    with labelled.study.reading() as reader:
        rows = reader.rows("SELECT outcome FROM runs WHERE command = 'annotation pull'")
    assert [row["outcome"] for row in rows] == [outcome]


def test_two_pushes_do_not_meet(tmp_path: Path) -> None:
    told: list[str] = []
    is_waiting, entered = Event(), Event()

    def second() -> None:
        with _alone(tmp_path, lambda message: (told.append(message), is_waiting.set())):
            entered.set()

    with _alone(tmp_path, told.append):
        thread = Thread(target=second)
        thread.start()
        assert is_waiting.wait(60)
        assert not entered.is_set()
    thread.join(60)
    assert entered.is_set()
    assert len(told) == 1


def test_a_task_that_arrived_twice_is_removed_once(
    bench: Bench, wire: Wire, command: Command
) -> None:
    remote, project = bench.server.remote(), bench.projects()["ana"]
    for item in ("github:o/r#1", "github:o/r#4"):  # as a lost answer and a second try would do it
        remote.import_tasks(project, [{"data": {"html": ""}, "meta": {"item_id": item}}])
    assert len(remote.tasks(project)) == 6
    run(command, bench, "push", "pilot", "--url", wire.url)
    assert len(remote.tasks(project)) == 4
    remote.close()
    run(command, bench, "pull", "pilot")
    assert labels(bench) == LABELLED


@pytest.mark.parametrize(("words", "stage"), [(("--third", "zoe"), "adjudicated"),
                                              ((), "negotiated")])  # fmt: skip
def test_disagreements_are_settled_in_a_project_that_shows_no_names(
    words: tuple[str, ...], stage: str, bench: Bench, wire: Wire, command: Command
) -> None:
    ben = bench.raters["ben"]
    ben.label(ben.tasks(bench.projects()["ben"])["github:o/r#2"], bench.result("b2"))
    run(command, bench, "pull", "pilot")
    if words:
        bench.add_account(command, wire.url, "zoe", "zoe@x.invalid")
    run(command, bench, "adjudicate", "pilot", *words, "--push", "--url", wire.url)
    (place,) = bench.rows(f"SELECT * FROM store.project WHERE stage = '{stage}'")
    decider = bench.raters["zoe" if words else "ana"]
    tasks = decider.tasks(place["project_id"])
    assert list(tasks) == ["github:o/r#2"]
    shown = decider.ask("GET", f"tasks/{tasks['github:o/r#2']}/")["data"]
    assert "a2" in shown["said"]
    assert "b2" in shown["said"]
    assert not [name for name in ("ana", "ben") if name in json.dumps(shown)]
    decider.label(tasks["github:o/r#2"], bench.result("b1"))
    run(command, bench, "pull", "pilot")
    run(command, bench, "adjudicate", "pilot", *words, "--settle")
    final = bench.rows("SELECT code, settled_by FROM final_labels WHERE item_id = 'github:o/r#2'")
    assert final == [{"code": "b1", "settled_by": stage}]
    assert ("github:o/r#2", "ana", "a2") in labels(bench)  # what she said at first stays


def test_labels_are_given_again_in_projects_of_the_new_version(
    bench: Bench, wire: Wire, command: Command
) -> None:
    run(command, bench, "pull", "pilot")
    change(Labelled(bench.study), SPLIT, SPLIT_STEPS)
    migrated(bench.study)
    options = ("--version", "2.0.0", "--url", wire.url)
    pushed = run(command, bench, "push", "pilot", *options)
    assert [(each["rater"], each["sent"]) for each in pushed["projects"]] == [
        ("ana", 1),
        ("ben", 1),
    ]
    ana = bench.raters["ana"]
    (task,) = ana.tasks(pushed["projects"][0]["project_id"]).values()
    ana.label(task, bench.result("a2y"))
    run(command, bench, "pull", "pilot")
    again = run(command, bench, "push", "pilot", *options)
    assert [(each["rater"], each["sent"]) for each in again["projects"]] == [("ben", 0)]
    rows = bench.rows("SELECT item_id, rater, code FROM labels WHERE taxonomy_version = '2.0.0'")
    assert [tuple(row.values()) for row in rows] == [("github:o/r#2", "ana", "a2y")]
