"""What happens to issues behind a fetch's back: gone, moved, relabelled, renamed, back again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from loopback import TOKEN, Fault, World
from mining import Mining

from faultatlas.data.identity import Alias, resolve

Start = Callable[..., Mining]
STATE = (
    "SELECT number, gone_reason, moved_to, lost_labels FROM issues WHERE project = ? "
    "AND (gone_at IS NOT NULL OR lost_labels IS NOT NULL) ORDER BY number::INT"
)


def bugs(count: int = 12) -> World:
    """As many bugs, and some issues that are none."""
    world = World.generated(count + 5, comments_each=2, name="example/tensors")
    for number, entry in world.tracker.entries.items():
        entry.labels = ("bug",) if number <= count else ("question",)
    return world


def marks(at: Mining) -> dict[str, tuple[Any, ...]]:
    return {row[0]: row[1:] for row in at.rows(STATE, "example/tensors")}


@pytest.mark.parametrize("token", [None, TOKEN])
def test_what_the_tracker_no_longer_lists_is_marked_with_the_reason(
    mining: Start, token: str | None
) -> None:
    at = mining(bugs())
    at.fetch("example/tensors", "--label", "bug", token=token)
    comments = at.column("SELECT count(*) FROM comments")
    at.world.delete(2)
    at.world.hide(3)
    there = at.world.transfer(4, "example/other")
    at.world.remove_label(5, "bug")

    unnoticed = at.fetch("example/tensors", "--label", "bug", token=token)
    assert marks(at) == {}  # none of it shows in what changed
    assert unnoticed["verified"] is None

    found = at.fetch("example/tensors", "--label", "bug", "--verify", token=token)

    moved = f"github:example/other#{there}"
    assert marks(at) == {
        "2": ("deleted", None, None),
        "3": ("not found", None, None),
        "4": ("transferred", moved, None),
        "5": (None, None, ["bug"]),
    }
    assert found["verified"] == {
        "listed": 8,
        "missing": 4,
        "gone": 2,
        "transferred": 1,
        "lost_label": 1,
    }
    assert found["complete"]
    # Nothing is dropped: rows stay, with their comments, and say what became of them.
    assert at.numbers() >= set(range(1, 13))
    assert at.column("SELECT count(*) FROM comments") >= comments
    aliases = at.rows("SELECT alias, artifact_id, kind FROM artifact_aliases")
    assert aliases == [("github:example/tensors#4", moved, "transfer")]
    assert at.column("SELECT tracker_labels FROM issues WHERE number = '5'") == [[]]


def test_a_verification_says_what_it_found(mining: Start) -> None:
    at = mining(bugs())
    at.fetch("example/tensors", "--label", "bug", token=TOKEN)
    at.world.delete(2)
    ended = at.run("example/tensors", "--label", "bug", "--verify", token=TOKEN)
    said = " ".join(ended.stderr.split())
    assert "11 listed, 1 missing: 1 gone, 0 transferred, 0 without the label" in said
    assert "--verify" not in said  # it was done; there is no need to recommend it


def test_a_verification_costs_the_list_and_what_is_missing(mining: Start) -> None:
    at = mining(bugs())
    at.fetch("example/tensors", "--label", "bug", token=TOKEN)
    at.world.delete(2)
    at.fetch("example/tensors", "--label", "bug", "--verify", token=TOKEN)
    asked = [(request.path, request.status) for request in at.fetching()]
    assert asked == [
        ("/repos/example/tensors/issues", 200),
        ("/repos/example/tensors/issues", 200),
        ("/repos/example/tensors/issues/2", 410),
    ]
    # It is known to be gone: the next verification does not ask for it.
    at.fetch("example/tensors", "--label", "bug", "--verify", token=TOKEN)
    assert [request.status for request in at.fetching()] == [304, 200]


def test_many_missing_ones_are_asked_for_together(mining: Start) -> None:
    at = mining(bugs(40))
    at.fetch("example/tensors", "--label", "bug", "--no-comments", token=TOKEN)
    for number in range(1, 31):
        at.world.remove_label(number, "bug")
    options = ("--label", "bug", "--no-comments", "--verify")
    found = at.fetch("example/tensors", *options, token=TOKEN)
    assert found["verified"]["lost_label"] == 30
    assert [request.path for request in at.fetching()][2:] == ["/graphql"]


def test_a_verification_of_another_project_leaves_one_that_was_broken_off(mining: Start) -> None:
    at = mining(World.generated(250, comments_each=0, name="example/tensors"))
    at.world.add("example/other")
    for project in ("example/tensors", "example/other"):
        at.fetch(project, "--no-comments", token=TOKEN)
    refuse = partial(at.world.faults.add, Fault.status(403, on="/issues"))
    # After the request that finds nothing new, and a page of three.
    at.world.faults.add(Fault.between(refuse, after=len(at.world.requests) + 2))
    assert at.run("example/tensors", "--no-comments", "--verify", token=TOKEN).returncode == 1

    at.fetch("example/other", "--no-comments", "--verify", token=TOKEN)

    found = at.fetch("example/tensors", "--no-comments", "--verify", token=TOKEN)
    assert (found["verified"]["listed"], found["verified"]["missing"]) == (250, 0)


@pytest.mark.parametrize("token", [None, TOKEN])
def test_what_comes_back_is_no_longer_marked(mining: Start, token: str | None) -> None:
    at = mining(bugs())
    at.fetch("example/tensors", "--label", "bug", token=token)
    kept = at.world.tracker.entries[3]
    at.world.hide(3)
    at.world.remove_label(5, "bug")
    at.fetch("example/tensors", "--label", "bug", "--verify", token=token)
    assert set(marks(at)) == {"3", "5"}

    at.world.tracker.entries[3] = kept  # an account that was blocked by mistake
    del at.world.tracker.gone[3]
    at.world.touch(3, title="I am back")
    at.world.touch(5, labels=["Bug"])
    at.fetch("example/tensors", "--label", "bug", token=token)

    assert marks(at) == {}
    assert at.column("SELECT title FROM issues WHERE number = '3'") == ["I am back"]


def test_a_renamed_repository_is_the_same_repository(mining: Start) -> None:
    at = mining(bugs())
    at.fetch("example/tensors", "--label", "bug", token=TOKEN)
    before = at.rows(
        "SELECT number, title, node_id, comment_count FROM issues ORDER BY number::INT"
    )
    label(at, "github:example/tensors#7")
    at.world.rename("better/arrays")
    at.world.touch(3, title="changed under the new name")

    # The old name still works, and says so by redirects.
    found = at.fetch("example/tensors", "--label", "bug", token=TOKEN)

    assert found["project"] == "github:better/arrays"
    assert found["rows"]["issues_new"] == 0
    assert found["rows"]["comments_new"] == 0
    assert at.column("SELECT DISTINCT project FROM issues") == ["better/arrays"]
    after = at.rows("SELECT number, title, node_id, comment_count FROM issues ORDER BY number::INT")
    assert [row for row in after if row[0] != "3"] == [row for row in before if row[0] != "3"]
    assert at.rows("FROM comments ANTI JOIN issues USING (artifact_id)") == []
    # A label that was given under the old name belongs to the issue under its new one.
    aliases = [
        Alias(*row) for row in at.rows("SELECT alias, artifact_id, kind FROM artifact_aliases")
    ]
    (labelled,) = at.column("SELECT artifact_id FROM final_labels")
    assert resolve(labelled, aliases) == "github:better/arrays#7"
    # Where the walk of the old name stopped, that of the new one goes on.
    again = at.fetch("better/arrays", "--label", "bug", token=TOKEN)
    assert again["rows"]["issues_new"] == again["rows"]["issues_changed"] == 0
    assert [request.status for request in at.asked] == [304]


def test_a_repository_that_is_renamed_between_two_pages(mining: Start) -> None:
    world = World.generated(250, comments_each=1, name="example/tensors")
    at = mining(world)
    world.faults.add(Fault.between(lambda: world.rename("better/arrays"), after=2))

    found = at.fetch("example/tensors", token=TOKEN)

    assert found["project"] == "github:better/arrays"
    assert len(at.numbers()) == 250
    assert at.column("SELECT DISTINCT project FROM issues") == ["better/arrays"]
    assert found["stored"]["comment_rows"] == at.column("SELECT count(*) FROM comments")[0]
    assert found["complete"]


def label(at: Mining, artifact: str) -> None:
    """Import a final label, as of a sheet that was made before anything was fetched."""
    sheet = at.study.with_name("sheet.csv")
    sheet.write_text(f"url,code\n{artifact},A1\n", encoding="utf-8")
    columns = ("--item", "url", "--final", "code", "--taxonomy", "hp-defects")
    ended = at.command("annotation", "import", "r1", sheet, *columns, "--study", at.study)
    assert ended.returncode == 0
