"""Words of lexicons in texts."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from growth import grows_like_its_text

from faultatlas.data.errors import StudyError
from faultatlas.miner.lexicon import lexicon, lexicons, read_lexicon


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fixes the crashing loader", ("crash", "fix")),
        ("prefix, suffix and affixes", ()),
        ("FIXED: failures", ("failure", "fix")),
        ("debug the nonstop tissue", ()),
        ("ValueError in StopIteration", ("error", "stop")),
        ("fix_bug, bug2fix", ("bug", "fix")),
        ("an HTTPError", ("error",)),
        ("see https://example.org/fix/bug and fix@bug.example", ()),
        ("", ()),
        ("résolve", ()),
        ("修复bug问题训练crash了", ("bug", "crash")),
        ("[crash](https://x.y/fix) Error:https://x.y/bug", ("crash", "error")),
        ("见https://x.y/fix修复bug <a.fix@bug.example>crash", ("bug", "crash")),
        ("cc @fix-bug, git@host.example:fix/bug.git, @bug/fix", ()),
    ],
)
def test_words_are_compared_as_stems_of_whole_tokens(text: str, found: tuple[str, ...]) -> None:
    assert lexicon("bugfix").hits(text) == found


def test_the_published_vocabulary_is_found_in_inflected_words() -> None:
    text = "Classifiers trained on MNIST with BatchNorm and Conv2D lose accuracy; keras, HDF5"

    assert lexicon("ml").hits(text) == (
        "accuraci",
        "batchnorm",
        "classifi",
        "conv",
        "hdf",
        "kera",
        "mnist",
        "train",
    )


def test_the_published_vocabulary_is_whole(study_fixtures: Path) -> None:
    published = study_fixtures / "dl_faults" / "GitHub_init" / "vocabulary_final.csv"
    with published.open(encoding="utf-8", newline="") as file:
        words = [row["word"] for row in csv.DictReader(file)]

    assert list(lexicon("ml").entries) == words
    assert len(words) == 105


def test_every_published_stem_is_its_own_hit() -> None:
    words = lexicon("ml")

    # A stem is no word: "accuraci" stays what it is only for most of them.
    assert set(words.hits("accuracy accurate policy precision bias hyperparameters")) == {
        "accuraci",
        "accur",
        "polici",
        "precis",
        "bia",
        "hyperparamet",
    }


def test_an_entry_of_several_words_stands_in_one_piece(tmp_path: Path) -> None:
    (tmp_path / "lexicons").mkdir()
    (tmp_path / "lexicons" / "memory.txt").write_text("# title: Memory\nout of memory\nOOM\n")
    words = lexicon("memory", tmp_path)

    assert words.hits("It ran OUT of\nmemory.") == ("out of memory",)
    assert words.hits("memory out of") == ()
    assert words.hits("OOM") == ("oom",)

    assert words.hits("see OutOfMemoryError") == ("out of memory",)
    assert words.hits("MemoryOutOf, outOf Memory") == ("out of memory",)
    assert words.hits("MemoryOutOf, OutOfTheMemory") == ()
    assert lexicon("frameworks").hits("ScikitLearn") == ("scikit learn",)


def test_entries_with_digits_keep_them(tmp_path: Path) -> None:
    (tmp_path / "lexicons").mkdir()
    (tmp_path / "lexicons" / "types.txt").write_text("int8\nfp16\nf1\npython 3\nconv\n")
    words = lexicon("types", tmp_path)

    assert words.hits("INT8 and FP16Training; F1-score 训练f1值") == ("f1", "fp16", "int8")
    assert words.hits("int, int16, uint8, fp, f, fp 16 int 8, Python") == ()
    assert words.hits("Python 3 conv2d") == ("conv", "python 3")
    assert words.hits("3 Python, int8x") == ()
    assert lexicon("frameworks").hits("dl j and DL4J") == ("dl4j",)


def test_what_a_lexicon_remembers_does_not_change_what_it_finds() -> None:
    words = lexicon("frameworks")
    texts = ["DL4J", "dl4j in Keras", "DL4J", "nothing", "ScikitLearn", "nothing Keras"]

    assert [words.hits(text) for text in texts * 2] == [
        lexicon("frameworks").hits(text) for text in texts * 2
    ]


def test_a_study_may_have_its_own_words_for_a_shipped_name(tmp_path: Path) -> None:
    (tmp_path / "lexicons").mkdir()
    (tmp_path / "lexicons" / "bugfix.txt").write_text("defect\n")

    assert lexicon("bugfix", tmp_path).hits("fix two defects") == ("defect",)
    assert lexicon("bugfix", tmp_path).digest != lexicon("bugfix").digest
    assert [each.name for each in lexicons(tmp_path)] == ["bugfix", "frameworks", "ml"]


def test_the_digest_is_of_the_words_alone(tmp_path: Path) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text("# title: A\nfix\nbug\n")
    other.write_text("# title: B\n\nbugs\nfixing\n")

    assert read_lexicon(one).digest == read_lexicon(other).digest


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no words"),
        (b"fix\n123\n", ":2: '123' has no letter"),
        (b"fix\nc++\n", ":2: 'c++' has the sign '+'"),
        (b"c#\n", ":1: 'c#' has the sign '#'"),
        (b"__init__\n", ":1: '__init__' has the sign '_'"),
        (b"\xff\xfe", "cannot be read"),
        (b"# entries: roots\nfix\n", "entries are 'roots'"),
        (b"a\n" * 600_000, "more than 1,000,000 bytes"),
    ],
)
def test_a_broken_lexicon_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(content)

    with pytest.raises(StudyError) as refused:
        read_lexicon(path)
    assert message in refused.value.message


@pytest.mark.parametrize("name", ["nothing", "../secret", "a/b", ""])
def test_an_unknown_lexicon_names_those_that_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError) as refused:
        lexicon(name, tmp_path)
    assert "bugfix, frameworks, ml" in (refused.value.hint or "")


def test_signs_between_words_may_stand_in_an_entry(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("scikit-learn\nout_of_memory\nत्रुटि\n", encoding="utf-8")

    assert read_lexicon(path).hits("scikit learn: out-of-memory") == (
        "out_of_memory",
        "scikit-learn",
    )


def test_a_file_with_an_odd_name_is_named_and_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "lexicons").mkdir()
    (tmp_path / "lexicons" / "Odd.txt").write_text("defect\n")

    assert [each.name for each in lexicons(tmp_path)] == ["bugfix", "frameworks", "ml"]
    with pytest.raises(StudyError) as refused:
        lexicon("Odd", tmp_path)
    assert "Odd.txt cannot be used" in refused.value.message
    assert "small letters, digits, - and _" in (refused.value.hint or "")
    assert "Odd," not in (refused.value.hint or "")
    with pytest.raises(StudyError) as refused:
        lexicon("odd", tmp_path)
    assert "not read: Odd.txt" in (refused.value.hint or "")


def test_a_long_text_of_anything_takes_no_time() -> None:
    words = lexicon("bugfix")

    assert words.hits("a" * 1_000_000 + " fix") == ("fix",)
    assert words.hits("@" * 1_000_000 + " fix") == ("fix",)
    assert words.hits("aB" * 500_000) == ()


@pytest.mark.parametrize(
    "unit", ["a", "@", "a@", "://", "a://", "a+", "@:a", "@a/", "aB", "Ab1", "训"]
)
def test_hostile_texts_take_no_time(unit: str) -> None:
    frameworks = lexicon("frameworks")

    def read(text: str) -> None:
        assert frameworks.hits(f"{text} @ :// Scikit dl4j Learn") == ("dl4j",)

    grows_like_its_text(read, "", unit, 40_000)
