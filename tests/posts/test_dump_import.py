"""`miner posts --from-dump`: what a dump leaves in the study, and what a user is told."""

from __future__ import annotations

import gzip
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from blake3 import blake3
from data_dumps import answer, comment, document, question, row, small_comments, small_dump
from dumping import Importing, by_lxml, empty_study, tables

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.miner.posts import dump_scan
from faultatlas.miner.rebuild import rebuild


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty study: to make its tables takes longer than what is tested."""
    return empty_study(tmp_path_factory.mktemp("template") / "study")


@pytest.fixture
def importing(template: Path, tmp_path: Path) -> Iterator[Importing]:
    """A study that stays open, until a test closes it to look into it."""
    shutil.copytree(template, tmp_path / "study")
    with Study.kept_open() as close:
        made = Importing(tmp_path / "study")
        made.close = close
        yield made


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Posts.xml with Comments.xml beside it."""
    folder = tmp_path / "dump"
    folder.mkdir()
    (folder / "Posts.xml").write_bytes(document(small_dump()))
    (folder / "Comments.xml").write_bytes(document(small_comments(), root="comments"))
    return folder / "Posts.xml"


SAMPLES = [
    ("Posts_new_tags.xml", "datascience.meta.stackexchange.com", 624, 257, 341, 13, 83),
    ("Posts_old_tags.xml", "quantumcomputing.stackexchange.com", 300, 75, 125, 50, 51),
]


@pytest.mark.parametrize(
    ("name", "site", "n", "questions", "answers", "wikis", "accepted"), SAMPLES
)
def test_the_real_samples_come_in_fully(
    importing: Importing,
    study_fixtures: Path,
    name: str,
    site: str,
    n: int,
    questions: int,
    answers: int,
    wikis: int,
    accepted: int,
) -> None:
    path = study_fixtures / "stackexchange" / name
    found = importing.read(path, site=site)
    assert found.problems() == []
    assert (found.as_json()["rows"], found.questions.tally.kept) == (n, questions)
    assert found.as_json()["answers_kept"] == answers
    assert found.strays == 0
    assert found.left_out == {"tag wiki": wikis, "tag wiki excerpt": wikis}
    importing.close()
    stored = importing.rows("SELECT post_id, tags, accepted_answer_id FROM posts ORDER BY 1")
    assert (len(stored), sum(each is not None for _, _, each in stored)) == (questions, accepted)
    asked = by_lxml(path, lambda element: element.get("PostTypeId") == "1")
    said = {int(each["Id"]): each["Tags"] for each in asked}
    for number, tags, _answer in stored:
        assert said[number] in {f"|{'|'.join(tags)}|", "".join(f"<{tag}>" for tag in tags)}
    assert importing.rows("SELECT count(*) FROM comments WHERE is_answer") == [(answers,)]
    (digest,) = set(importing.column("SELECT digest FROM dumps"))
    assert digest == blake3(path.read_bytes()).hexdigest()


def test_questions_answers_and_comments_by_tag(importing: Importing, dump: Path) -> None:
    found = importing.read(dump, "keras", "tensorflow")
    assert found.problems() == []
    importing.close()
    kept = [n for n in range(1, 61) if n % 4 in {0, 1}]  # as `small_dump` gives out the tags
    assert importing.column("SELECT post_id FROM posts ORDER BY 1") == kept
    said = {1000 + n for n in range(1, 61) if n % 50 + 1 in kept}
    said |= {2000 + n for n in range(1, 61) if 61 - n in kept}
    assert importing.column("SELECT post_id FROM store.reply WHERE is_answer ORDER BY 1") == sorted(
        said
    )
    assert importing.column(
        "SELECT post_id FROM store.reply WHERE NOT is_answer ORDER BY 1"
    ) == sorted({*kept, *said})
    assert importing.rows(
        "SELECT artifact_id FROM store.reply WHERE NOT is_answer AND post_id = 2060"
    ) == [("stackoverflow:1",)]
    assert importing.column(
        "SELECT count(*) FROM store.reply WHERE artifact_id NOT IN (SELECT artifact_id FROM posts)"
    ) == [0]
    assert importing.column("SELECT count(*) FROM comments WHERE is_accepted") == [
        sum(n in kept and n % 3 == 0 and 1000 + n in said and n % 50 + 1 == n for n in range(1, 61))
    ]


def test_only_what_is_asked_for(importing: Importing, dump: Path) -> None:
    found = importing.read(dump, "keras", accepted=True, answers=False, comments=False)
    importing.close()
    assert found.answers is found.comments is None
    assert importing.column("SELECT post_id FROM posts ORDER BY 1") == [
        n for n in range(1, 61) if n % 4 == 0 and n % 3 == 0
    ]
    assert importing.column("SELECT count(*) FROM store.reply") == [0]


def test_a_rebuild_makes_the_same_rows(importing: Importing, dump: Path) -> None:
    importing.read(dump, "keras")
    importing.close()
    before = tables(importing.study)
    rebuild(Study(importing.study), provenance.begin("miner rebuild", {}))
    importing.close()
    assert tables(importing.study) == before


def test_a_second_time_nothing_is_read_into_the_study(importing: Importing, dump: Path) -> None:
    assert not importing.read(dump, "keras").was_known
    importing.close()
    parts = importing.rows("SELECT count(*) FROM responses")
    again = importing.read(dump, "keras")
    assert again.was_known
    assert again.is_complete
    importing.close()
    assert importing.rows("SELECT count(*) FROM responses") == parts


def test_another_file_of_that_name_is_read_as_a_new_one(importing: Importing, dump: Path) -> None:
    importing.read(dump, "keras")
    newer = question(4, Title="Newer", LastActivityDate="2024-01-01T00:00:00.000")
    dump.write_bytes(document([newer, question(90), answer(91, 90), answer(92, 8)]))
    found = importing.read(dump, "keras")
    assert any("not the file that was read before" in each for each in importing.told)
    assert found.questions.tally.kept == 2
    assert found.answers is not None
    assert found.answers.tally.kept == 1  # 8 is a question of the other file
    importing.close()
    assert importing.column(
        "SELECT title FROM artifacts WHERE artifact_id = 'stackoverflow:4'"
    ) == ["Newer"]
    assert importing.column("SELECT count(*) FROM posts WHERE post_id IN (8, 90)") == [2]


def test_answers_without_their_question_are_counted(importing: Importing, tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    path.write_bytes(document([question(1), answer(2, 1), answer(3, 77), row(Id=4, PostTypeId=5)]))
    found = importing.read(path)
    assert found.strays == 1
    assert "left out: 1 tag wiki, 1 answer to questions that are not in the file" in found.words()
    assert importing.read(path, "keras").strays is None


def test_damaged_rows_are_a_partial_success(importing: Importing, tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml"
    text = document(
        [question(1), question(2).replace("Loss", "&x;"), "<row Nr='1' />", answer(5, 1)]
    )
    path.write_bytes(text)
    found = importing.read(path, "keras")
    assert not found.is_complete
    (problem,) = found.problems()
    assert problem.startswith("2 rows of Posts.xml cannot be read and are left out: byte ")
    assert f"byte {text.index(b'<row Nr'):,} (no Id)" in problem
    importing.close()
    assert importing.column("SELECT post_id FROM posts") == [1]
    assert importing.column("SELECT post_id FROM store.reply") == [5]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_gzip(importing: Importing, tmp_path: Path, newline: str) -> None:
    text = document(small_dump(), newline=newline)
    (tmp_path / "Posts.xml.gz").write_bytes(gzip.compress(text[:9000]) + gzip.compress(text[9000:]))
    (tmp_path / "Comments.xml.gz").write_bytes(
        gzip.compress(document(small_comments(), root="comments"))
    )
    found = importing.read(tmp_path / "Posts.xml.gz", "keras")
    assert found.problems() == []
    assert found.questions.digest == blake3(text).hexdigest()
    assert (found.questions.tally.kept, found.comments is not None) == (15, True)


def test_a_gzip_that_is_cut_or_damaged_keeps_what_is_whole(
    importing: Importing, tmp_path: Path
) -> None:
    packed = gzip.compress(document(small_dump()), 1)
    path = tmp_path / "Posts.xml.gz"
    path.write_bytes(packed[: len(packed) // 2])
    found = importing.read(path, "keras")
    assert not found.is_complete
    assert 0 < found.questions.tally.kept < 15
    assert "Posts.xml.gz has no end, it is cut: " in found.problems()[0]
    path.write_bytes(packed)
    assert importing.read(path, "keras").is_complete
    path.write_bytes(packed[:-8] + b"12345678")
    assert "gzip is damaged" in importing.read(path, "tensorflow").problems()[0]


SEVEN = f"""#!{sys.executable}
import shutil, sys
command, *options, archive, member = sys.argv[1:]
if command == "l":
    archive = member
    print("Path = Posts.xml\\nSize = 1\\n\\nPath = Comments.xml")
    sys.exit(0)
folder = open(archive).read()
with open(folder + "/" + member, "rb") as file:
    shutil.copyfileobj(file, sys.stdout.buffer)
sys.exit(2 if "broken" in archive else 0)
"""


def test_an_archive_is_unpacked_by_its_own_tool(
    importing: Importing, dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "-datascience.stackexchange.com.7z"
    archive.write_text(str(dump.parent))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with pytest.raises(StudyError, match=r"none of 7z, 7zz, 7za, 7zr is installed"):
        importing.read(archive, "keras", site="datascience.stackexchange.com")
    (tmp_path / "bin").mkdir()
    tool = tmp_path / "bin" / "7zz"
    tool.write_text(SEVEN)
    tool.chmod(0o755)
    found = importing.read(archive, "keras", site="datascience.stackexchange.com")
    assert found.problems() == []
    assert found.questions.name == f"{archive.name}/Posts.xml"
    assert found.comments is not None
    assert (found.questions.tally.kept, found.comments.tally.kept > 15) == (15, True)
    broken = tmp_path / "broken.7z"
    broken.write_text(str(dump.parent))
    dump.write_bytes(dump.read_bytes()[:9000])
    assert "7-Zip could not unpack it" in importing.read(broken, "tensorflow").problems()[0]


@pytest.mark.parametrize("name", ["Posts.xml", "Posts.xml.gz", "Posts.zip", "folder.xml"])
def test_what_is_refused_makes_no_study(tmp_path: Path, name: str) -> None:
    importing = Importing(tmp_path / "none")
    if name == "folder.xml":
        (tmp_path / name).mkdir()
    elif name != "Posts.xml":
        (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(StudyError) as refused:
        importing.read(tmp_path / name, "keras")
    assert refused.value.hint
    bomb = tmp_path / "bomb.xml"
    bomb.write_bytes(b'<!DOCTYPE posts [<!ENTITY a "b">]><posts><row Id="1" /></posts>')
    with pytest.raises(StudyError, match="document type"):
        importing.read(bomb)
    assert not importing.study.exists()


def test_comments_that_are_no_comments_are_refused(importing: Importing, dump: Path) -> None:
    (dump.parent / "Comments.xml").write_bytes(document([row(Id=1)], root="badges"))
    with pytest.raises(StudyError, match="Comments"):
        importing.read(dump, "keras")


def test_a_file_that_grows_meanwhile_is_not_complete(
    importing: Importing, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = dump_scan.Scan._ending  # noqa: SLF001

    def grown(*arguments: object, **options: object) -> object:
        with dump.open("ab") as file:
            file.write(b"\n")
        return ending(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(dump_scan.Scan, "_ending", grown)
    found = importing.read(dump, "keras")
    assert not found.is_complete
    assert "was changed while it was read" in found.problems()[0]


def test_people_are_pseudonyms(importing: Importing, dump: Path) -> None:
    importing.read(dump, "keras")
    importing.close()
    for name in importing.column(
        "SELECT author FROM store.post UNION SELECT author FROM store.reply"
    ):
        assert name.startswith("person_")


def test_a_comment_keeps_to_its_post(importing: Importing, tmp_path: Path) -> None:
    (tmp_path / "Posts.xml").write_bytes(document([question(1), answer(2, 1)]))
    (tmp_path / "Comments.xml").write_bytes(
        document([comment(1, 1), comment(2, 2), comment(3, 3)], root="comments")
    )
    importing.read(tmp_path / "Posts.xml", answers=False)
    importing.close()
    assert importing.column("SELECT post_id FROM store.reply") == [1]


def test_a_comment_belongs_to_the_question_however_its_answer_is_written(
    importing: Importing, tmp_path: Path
) -> None:
    late = row(Id=2, PostTypeId=2, CreationDate="2020-01-03T03:04:05.678", ParentId=1)
    other = "<row\n Id='3' ParentId='1' PostTypeId='2' />"
    (tmp_path / "Posts.xml").write_bytes(document([question(1), late, other, answer(4, 1)]))
    (tmp_path / "Comments.xml").write_bytes(
        document([comment(number, number) for number in (1, 2, 3, 4)], root="comments")
    )
    importing.read(tmp_path / "Posts.xml")
    importing.close()
    assert importing.rows(
        "SELECT post_id, artifact_id FROM store.reply WHERE NOT is_answer ORDER BY 1"
    ) == [(number, "stackoverflow:1") for number in (1, 2, 3, 4)]


def test_answers_that_are_wanted_later_come_with_their_comments(
    importing: Importing, dump: Path
) -> None:
    importing.read(dump, "keras", answers=False)
    importing.read(dump, "keras")
    importing.close()
    on_answers = "SELECT count(*) FROM store.reply WHERE NOT is_answer AND post_id > 1000"
    answers = "SELECT count(*) FROM store.reply WHERE is_answer"
    assert importing.column(on_answers) == importing.column(answers) != [0]
    assert importing.read(dump, "keras").was_known
    assert importing.read(dump, "keras", answers=False).was_known


def test_a_complete_file_that_has_become_longer_is_another_one(
    importing: Importing, dump: Path
) -> None:
    importing.read(dump, "keras")
    with dump.open("ab") as file:
        file.write(b"\n")
    found = importing.read(dump, "keras")
    assert any("is not the file that was read before" in each for each in importing.told)
    assert not found.was_known
    assert found.questions.digest == blake3(dump.read_bytes()).hexdigest()


def test_tags_that_no_question_has_are_named(importing: Importing, dump: Path) -> None:
    assert importing.read(dump, "keras", "kears").unknown_tags == ["kears"]
    assert importing.read(dump, "keras", "kears").unknown_tags == ["kears"]  # as it is known now
    assert importing.read(dump, "keras", accepted=True).unknown_tags == []
    both = importing.read(dump, "tensorflow", "keras", all_tags=True)
    assert both.unknown_tags == ["keras and tensorflow"]
    dump.write_bytes(dump.read_bytes()[:9000])
    assert importing.read(dump, "kears").unknown_tags == []  # it may come behind the cut


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("datascience.stackexchange.com/Posts.xml", "datascience.stackexchange.com"),
        ("stackoverflow.com-Posts.xml", "stackoverflow.com"),
        ("es.meta.stackoverflow.com-Posts.xml", "es.meta.stackoverflow.com"),
        ("stackoverflow.com/ai.stackexchange.com-Posts.xml", "ai.stackexchange.com"),
    ],
)
def test_a_dump_that_is_named_after_another_site_is_refused(
    importing: Importing, tmp_path: Path, name: str, site: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(document([question(1)]))
    with pytest.raises(StudyError, match=f"named after {site}") as refused:
        importing.read(path, site="superuser.com")
    assert f"--site {site}" in refused.value.hint
    assert importing.read(path, site=site).is_complete
    assert not any("the default" in each for each in importing.told)


def test_a_dump_whose_name_does_not_say_the_site_is_taken_as_the_default_and_that_is_told(
    importing: Importing, tmp_path: Path
) -> None:
    path = tmp_path / "Posts.xml"
    path.write_bytes(document([question(1)]))
    importing.read(path)
    (told,) = importing.told
    assert told.startswith("Posts.xml is taken as stackoverflow.com, the default")
    assert "--site NAME" in told
