"""`miner fetch --from FILE`: exactly the issues that a file names, in few requests."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from fake_time import FakeTime
from loopback import TOKEN, Tracker, World, gitee_payloads
from loopback.entries import Entry, generated
from mining import Mining

from faultatlas.miner import projects
from faultatlas.miner.issues.named import read_file

Start = Callable[..., Mining]


def numbered(name: str, numbers: Iterable[int]) -> World:
    """A tracker that has these numbers; older issues have smaller ones."""
    wanted = sorted(set(numbers))
    entries: list[Entry] = []
    for number, entry in zip(wanted, generated(len(wanted), 2, 3, 1_000_000_000), strict=True):
        entry.number = number
        entry.is_pull = False
        entries.append(entry)
    return World(Tracker(name, 65_600_975, entries))


def urls_in(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig") as lines:
        return [row["URL"] for row in csv.DictReader(lines)]


def file_of(folder: Path, *lines: str) -> Path:
    path = folder / "named.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def url(number: int, name: str = "example/large") -> str:
    return f"https://github.com/{name}/issues/{number}"


@pytest.fixture
def large(mining: Start) -> Mining:
    """500 issues, of which files name a few."""
    return mining(World.generated(500, comments_each=2))


def test_the_thousand_labelled_issues_of_pytorch_take_ten_requests(
    mining: Start, study_fixtures: Path
) -> None:
    sheet = study_fixtures / "hp_defects" / "pytorch.csv"
    numbers = {int(each.rpartition("/")[2]) for each in urls_in(sheet)}
    at = mining(numbered("pytorch/pytorch", [*numbers, *range(1, 200)]))

    found = at.fetch("--from", sheet, token=TOKEN)

    assert at.numbers() == numbers
    assert len(numbers) >= 990
    assert len(at.asked) == -(-len(numbers) // 100)
    (project,) = found["projects"]
    assert project["project"] == "github:pytorch/pytorch"
    assert project["named"] == len(numbers)
    entries = at.world.tracker.entries
    assert project["stored"]["comment_rows"] == sum(entries[n].comments for n in numbers)
    assert found["complete"]
    assert found["requests"] == len(at.asked)

    again = at.fetch("--from", sheet, token=TOKEN)
    assert again["requests"] == 0  # a file is asked for once; --verify asks again


def test_without_a_token_a_long_file_comes_from_the_list(mining: Start, tmp_path: Path) -> None:
    at = mining(World.generated(350, comments_each=2))
    named = set(range(1, 350, 3))
    found = at.fetch("--from", file_of(tmp_path, "url", *map(url, sorted(named))))
    assert at.numbers() == named
    assert "/issues/1" not in {request.path for request in at.asked}
    assert len(at.asked) <= 12
    comments = sum(at.world.tracker.entries[number].comments for number in named)
    assert found["projects"][0]["stored"]["comment_rows"] == comments
    # Comments on issues that the file does not name are not stored.
    assert at.column("SELECT count(*) FROM comments") == [comments]


def test_a_list_that_does_not_say_how_long_it_is_is_counted_first(
    mining: Start, tmp_path: Path
) -> None:
    world = World.generated(250, comments_each=0)
    world.cursor_only = True
    at = mining(world)
    named = set(range(1, 250, 3))
    at.fetch("--from", file_of(tmp_path, "url", *map(url, sorted(named))), "--no-comments")
    assert at.numbers() == named
    assert len(at.asked) <= 6


def test_addresses_of_an_enterprise_server_are_read(
    command: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    sheet = file_of(tmp_path, "url", "https://git.example.org/team/app/issues/4")
    api = "https://git.example.org/api/v3"
    found = read_file(sheet, projects.hosts(api))
    assert list(map(str, found.issues["github:git.example.org/team/app"])) == [
        "github:git.example.org/team/app#4"
    ]
    # The command reads it so too: it is refused for its project, not as unreadable.
    ended = command("miner", "fetch", "team/other", "--from", sheet, "--api-url", api)
    assert ended.returncode == 1
    assert "It names issues of github:git.example.org/team/app." in " ".join(ended.stderr.split())


def test_a_second_file_of_the_same_project_comes_from_the_list_too(
    mining: Start, tmp_path: Path
) -> None:
    at = mining(World.generated(250, comments_each=0))
    for first in (1, 2):
        named = range(first, 250, 4)
        at.fetch("--from", file_of(tmp_path, "url", *map(url, named)), "--max-wait", "0")
        assert len(at.asked) <= 4
    assert at.numbers() == {number for number in range(1, 250) if number % 4 in (1, 2)}
    # The list was read twice, and a rebuild tells what came from which file.
    rows = at.rows("FROM issues ORDER BY artifact_id")
    assert at.command("miner", "rebuild", "--study", at.study).returncode == 0
    assert at.rows("FROM issues ORDER BY artifact_id") == rows


def test_without_a_token_a_short_file_is_asked_for_one_by_one(
    large: Mining, tmp_path: Path
) -> None:
    large.fetch("--from", file_of(tmp_path, "url", url(7), url(8), url(9)), "--no-comments")
    assert large.numbers() == {7, 8, 9}
    assert len(large.asked) <= 4  # one of them to learn how long the list is


def test_the_thousand_labelled_issues_of_mindspore_come_from_gitee(
    mining: Start, study_fixtures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sheet = study_fixtures / "hp_defects" / "mindspore.csv"
    codes = {each.rpartition("/")[2] for each in urls_in(sheet)}
    # A server whose issues have exactly the numbers of the sheet.
    monkeypatch.setattr(gitee_payloads, "FIRST", 0)
    monkeypatch.setattr(gitee_payloads, "STEP", 1)
    numbers = {code: int(code[1:], 36) for code in codes}
    at = mining(numbered("mindspore/mindspore", [*numbers.values(), *range(1, 100)]))

    found = at.fetch("--from", sheet, gitee=True)

    assert set(at.column("SELECT number FROM issues")) == codes
    assert len(codes) >= 990
    assert found["complete"]
    assert len(at.asked) <= 35
    entries = at.world.tracker.entries
    comments = sum(entries[number].comments for number in numbers.values())
    assert found["projects"][0]["stored"]["comment_rows"] == comments


@pytest.mark.parametrize("token", [None, TOKEN])
def test_what_is_gone_or_moved_is_marked_and_the_rest_is_stored(
    large: Mining, tmp_path: Path, token: str | None
) -> None:
    large.world.delete(2)
    large.world.hide(3)
    there = large.world.transfer(4, "example/other")
    sheet = file_of(tmp_path, "url", *(url(number) for number in range(1, 7)))

    found = large.fetch("--from", sheet, token=token)

    assert found["projects"][0]["rows"]["gone"] == 3
    gone = large.rows(
        "SELECT artifact_id, gone_reason FROM artifacts WHERE gone_at IS NOT NULL "
        "ORDER BY artifact_id"
    )
    assert gone == [
        ("github:example/large#2", "deleted"),
        ("github:example/large#3", "not found"),
        ("github:example/large#4", "transferred"),
    ]
    moved = f"github:example/other#{there}"
    aliases = large.rows("SELECT alias, artifact_id, kind FROM artifact_aliases")
    assert aliases == [("github:example/large#4", moved, "transfer")]
    stored = large.column("SELECT artifact_id FROM issues ORDER BY artifact_id")
    assert stored == [*(f"github:example/large#{number}" for number in (1, 5, 6)), moved]
    # None of them is asked for again.
    again = large.run("--from", sheet, token=token)
    assert (again.returncode, large.asked) == (0, [])


def test_what_is_gone_is_said_so(large: Mining, tmp_path: Path) -> None:
    large.world.delete(2)
    ended = large.run("--from", file_of(tmp_path, "url", url(1), url(2)), token=TOKEN)
    assert ended.returncode == 0
    assert "1 issue asked for by name: gone or moved" in ended.stderr


def test_a_quota_that_ends_in_the_middle_costs_nothing_twice(large: Mining, tmp_path: Path) -> None:
    sheet = file_of(tmp_path, "url", *(url(number) for number in range(1, 251)))
    large.world.quota(TOKEN, "graphql").remaining = 1

    ended = large.run("--from", sheet, "--max-wait", "0", token=TOKEN)
    assert ended.returncode == 1
    assert large.numbers() == set(range(1, 101))

    large.world.quota(TOKEN, "graphql").remaining = 5000
    large.fetch("--from", sheet, token=TOKEN)
    assert large.numbers() == set(range(1, 251))
    assert len(large.asked) == 2


def test_why_an_issue_is_gone_is_learnt_however_often_a_fetch_is_broken_off(
    large: Mining, tmp_path: Path
) -> None:
    large.world.delete(2)
    there = large.world.transfer(4, "example/other")
    sheet = file_of(tmp_path, "url", *(url(number) for number in range(1, 7)))
    large.world.quota(TOKEN).remaining = 0  # enough for GraphQL, whose quota is another one
    assert large.run("--from", sheet, token=TOKEN).returncode == 1
    assert large.numbers() == {1, 3, 5, 6}

    large.world.quota(TOKEN).remaining = 5000
    large.fetch("--from", sheet, token=TOKEN)
    gone = large.rows("SELECT artifact_id, reason, moved_to FROM store.departure ORDER BY ALL")
    assert gone == [
        ("github:example/large#2", "deleted", None),
        ("github:example/large#4", "transferred", f"github:example/other#{there}"),
    ]


def test_a_server_that_finds_a_hundred_too_much_is_asked_for_fewer(
    large: Mining, tmp_path: Path, fake_time: FakeTime
) -> None:
    large.world.node_limit = 15_000  # of GraphQL; a hundred issues are 40,000
    sheet = file_of(tmp_path, "url", *(url(number) for number in range(1, 61)))
    assert large.fetch("--from", sheet, token=TOKEN)["complete"]
    assert large.numbers() == set(range(1, 61))
    assert sum(request.status == 200 for request in large.asked) == 3
    assert fake_time.slept


def test_a_file_may_be_untidy(large: Mining, tmp_path: Path) -> None:
    sheet = file_of(
        tmp_path,
        "\ufeffURL,note",  # the mark that spreadsheets put at the beginning
        f"{url(5)},",
        "https://github.com/Example/Large/pull/5#issuecomment-1,the same",
        "github:example/large#6,",
        f'{url(7)},"a note of',
        'two lines"',
        "not an address,",
        'https://doi.org/10.1145/3377811.3380395,"a paper, which has no issues"',
        ",nothing",
        "",
        url(8),
    )
    ended = large.run("--from", sheet, "--json", token=TOKEN)

    assert large.numbers() == {5, 6, 7, 8}
    found = json.loads(ended.stdout)
    assert found["projects"][0]["named"] == 4
    assert ended.returncode == 1  # not everything that the file names is in the study
    assert found["not_issues"] == ["doi:10.1145/3377811.3380395"]
    assert "doi:10.1145/3377811.3380395" in ended.stderr
    assert found["unreadable"] == [{"line": 7, "text": "not an address"}]
    assert "line 7: not an address" in ended.stderr
    assert large.column("SELECT outcome FROM runs") == ["partial"]


def test_the_column_may_stand_anywhere(large: Mining, tmp_path: Path) -> None:
    large.fetch("--from", file_of(tmp_path, "label,Issue", f"a,{url(5)}", "b"), token=TOKEN)
    assert large.numbers() == {5}


def test_events_come_with_a_file_too(large: Mining, tmp_path: Path) -> None:
    sheet = file_of(tmp_path, "url", *(url(number) for number in range(1, 9)))
    found = large.fetch("--from", sheet, "--timeline", token=TOKEN)
    assert found["projects"][0]["rows"]["events_new"] > 8
    assert len(large.asked) == 2


def test_one_address_on_each_line_is_enough(large: Mining, tmp_path: Path) -> None:
    large.fetch("--from", file_of(tmp_path, url(5), "", "example/large#6"), token=TOKEN)
    assert large.numbers() == {5, 6}


def test_a_project_narrows_a_file(large: Mining, tmp_path: Path) -> None:
    sheet = file_of(tmp_path, "url", url(5), url(6, "example/other"))
    found = large.fetch("example/large", "--from", sheet, token=TOKEN)
    assert large.numbers() == {5}
    assert [each["project"] for each in found["projects"]] == ["github:example/large"]


@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ((), "names no issue"),
        (("title", "Loss is nan"), "names no issue"),
        (("url", "x" * 200_000), "line 2 is no CSV"),
    ],
)
def test_a_file_without_issues_is_refused(
    large: Mining, tmp_path: Path, lines: tuple[str, ...], cause: str
) -> None:
    ended = large.run("--from", file_of(tmp_path, *lines))
    assert_refused(large, ended, cause)


def test_a_project_that_the_file_does_not_name_is_refused(large: Mining, tmp_path: Path) -> None:
    ended = large.run("example/other", "--from", file_of(tmp_path, "url", url(5)))
    assert_refused(large, ended, "names no issue of github:example/other")


@pytest.mark.parametrize(
    "option", [("--label", "bug"), ("--any-label",), ("--state", "open"), ("--plan",)]
)
def test_options_that_a_file_leaves_no_room_for_are_refused(
    large: Mining, tmp_path: Path, option: tuple[str, ...]
) -> None:
    ended = large.run("--from", file_of(tmp_path, "url", url(5)), *option, token=TOKEN)
    assert_refused(large, ended, f"{option[0]} does not go with --from")


def test_a_file_cannot_send_a_token_to_a_server_that_the_user_did_not_name(
    command: Callable[..., CompletedProcess[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fake_time: object,  # noqa: ARG001
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
    sheet = file_of(tmp_path, "url", "github:git.example.org/team/app#4")
    ended = command("miner", "fetch", "--from", sheet)
    assert ended.returncode == 1
    assert "names issues on git.example.org" in ended.stderr
    assert "--api-url https://git.example.org/api/v3" in ended.stderr


def test_one_token_file_is_not_for_two_servers(
    command: Callable[..., CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(TOKEN, encoding="ascii")
    (tmp_path / "token").chmod(0o600)
    sheet = file_of(tmp_path, "url", url(1), "https://gitee.com/mindspore/mindspore/issues/I65G7B")
    ended = command("miner", "fetch", "--from", sheet, "--token-file", tmp_path / "token")
    assert ended.returncode == 1
    assert "on GitHub and on Gitee" in ended.stderr
    assert "GITEE_TOKEN" in ended.stderr


def assert_refused(at: Mining, ended: CompletedProcess[str], cause: str) -> None:
    """Before anything was asked for or made."""
    assert ended.returncode == 1
    assert cause in ended.stderr
    assert ended.stderr.count("error:") == 1
    assert at.asked == []
    assert not at.study.exists()
