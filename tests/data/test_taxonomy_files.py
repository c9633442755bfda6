"""Taxonomy and crosswalk files: what is wrong is refused with file, line and code."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy_files import RELATIONS
from faultatlas.data.taxonomy_library import TaxonomyLibrary, load_taxonomy

Command = Callable[..., CompletedProcess[str]]

# Eight lines, so that the first node stands on line 9.
HEAD = """\
taxonomy: own
version: "1.0.0"
title: Own
source: Nobody
choice: single
select: leaves
question: Which?
nodes:
"""
ROOT_NODE = "  - {code: A, name: All, definition: d, not: n}\n"


def node(code: str, **fields: str) -> str:
    """A node on one line; a field set to "" is left out."""
    name = f'"Name of {code}"'
    given = {"code": code, "name": name, "definition": "d", "not": "n", **fields}
    return f"  - {{{', '.join(f'{key}: {value}' for key, value in given.items() if value)}}}\n"


def write(folder: Path, content: str | bytes, name: str = "own.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def chain(length: int) -> str:
    """Nodes C1, C2, ..., each the child of the one before."""
    return node("C1") + "".join(node(f"C{i}", parent=f"C{i - 1}") for i in range(2, length + 1))


BROKEN: dict[str, tuple[str | bytes, list[str]]] = {
    "duplicate code": (
        HEAD + node("A") + node("B") + node("A"),
        ["11: code A: occurs twice, first on line 9"],
    ),
    "unknown parent": (
        HEAD + node("A") + node("B", parent="C"),
        ["10: code B: unknown parent C"],
    ),
    "cycle of two": (
        HEAD + node("A") + node("B", parent="C") + node("C", parent="B"),
        ["10: code B: cycle B -> C -> B"],
    ),
    "cycle of one": (
        HEAD + node("A", parent="A"),
        ["9: code A: cycle A -> A"],
    ),
    "cycle of three, and a node that leads into it": (
        HEAD
        + node("X", parent="B")
        + node("A", parent="B")
        + node("B", parent="C")
        + node("C", parent="A"),
        ["10: code A: cycle A -> B -> C -> A"],
    ),
    "two cycles": (
        HEAD
        + node("A", parent="B")
        + node("B", parent="A")
        + node("C", parent="D")
        + node("D", parent="C"),
        ["9: code A: cycle A -> B -> A", "11: code C: cycle C -> D -> C"],
    ),
    "cycle that is entered from two sides": (
        HEAD
        + node("X", parent="B")
        + node("A", parent="B")
        + node("B", parent="A")
        + node("Y", parent="A"),
        ["10: code A: cycle A -> B -> A"],
    ),
    "cycle on one line": (
        HEAD.removesuffix("\n")
        + " ["
        + (node("A", parent="B") + node("B", parent="A")).replace("  - ", "").replace("\n", ", ")
        + "]\n",
        ["8: code A: cycle A -> B -> A"],
    ),
    "long cycle": (
        HEAD + chain(8000).replace('"Name of C1"', '"Name of C1", parent: C8000'),
        [
            "9: code C1: cycle "
            + " -> ".join(f"C{i}" for i in (1, *range(8000, 7991, -1)))
            + " -> ... -> "
            + " -> ".join(f"C{i}" for i in range(10, 0, -1))
        ],
    ),
    "child before its parent": (
        HEAD + node("B", parent="A") + ROOT_NODE + node("C", parent="B"),
        ["9: code B: its parent A must come before it, not on line 10"],
    ),
    "51 levels": (HEAD + chain(51), ["59: code C51: more than 50 levels deep"]),
    # Ended in a RecursionError, and took minutes.
    "8,000 levels, told once": (HEAD + chain(8000), ["59: code C51: more than 50 levels deep"]),
    "two branches that are too deep": (
        HEAD + chain(52) + node("D", parent="C50"),
        ["59: code C51: more than 50 levels deep", "61: code D: more than 50 levels deep"],
    ),
    "two leaves of one name": (
        HEAD + node("A", name="Bad shape") + node("B", name="bad-SHAPE"),
        ["10: code B: 'bad-SHAPE' is also a name of A, on line 9"],
    ),
    "alias that is the name of another": (
        HEAD + node("A", aliases="[b, Bee]") + node("B", name="bee", aliases="[x, Bee]"),
        ["10: code B: 'bee' is also a name of A, on line 9"],
    ),
    "alias of two": (
        HEAD + node("A", aliases="[a_b]") + node("B", aliases="[a b]") + node("C", aliases="[A-B]"),
        [
            "10: code B: 'a b' is also a name of A, on line 9",
            "11: code C: 'A-B' is also a name of A, on line 9",
        ],
    ),
    "category and leaf of one name, both of which may be chosen": (
        HEAD.replace("leaves", "any") + ROOT_NODE + node("B", parent="A", name="all"),
        ["10: code B: 'all' is also a name of A, on line 9"],
    ),
    "blank alias": (HEAD + node("A", aliases='[a, " "]'), ["9: code A: aliases must not be blank"]),
    "missing name": (HEAD + node("A", name=""), ["9: code A: name is missing"]),
    "blank name": (HEAD + node("A", name='"  "'), ["9: code A: name is missing"]),
    "missing definition and not": (
        HEAD + node("A") + node("B", definition="", **{"not": ""}),
        ["10: code B: definition is missing", "10: code B: not is missing"],
    ),
    "missing code": (
        HEAD + node("A") + node("") + node("B", parent="A"),
        ["10: code is missing"],
    ),
    "code with a space": (
        HEAD + node("A 1"),
        ["9: code A 1: code must be letters, digits, dots and dashes, not 'A 1'"],
    ),
    # As numbers 1.10 and 1.1 are the same; the complaint shows what stands in the file.
    "code that YAML reads as a number": (
        HEAD + node("1.10") + node("1.1") + node("010") + node("A", parent="1.10"),
        [
            "9: code 1.10: code must be text: put 1.10 in quotes",
            "10: code 1.1: code must be text: put 1.1 in quotes",
            "11: code 010: code must be text: put 010 in quotes",
            "12: code A: parent must be text: put 1.10 in quotes",
        ],
    ),
    "code that YAML reads as a truth value or a date": (
        HEAD + node("no") + node("2024-01-01"),
        [
            "9: code no: code must be text: put no in quotes",
            "10: code 2024-01-01: code must be text: put 2024-01-01 in quotes",
        ],
    ),
    "name that is a list, code that is a mapping": (
        HEAD + node("A", name="[a, b]") + node("{a: b}"),
        ["9: code A: name must be text", "10: code must be text"],
    ),
    "aliases that are one text": (
        HEAD + node("A", aliases="b"),
        ["9: code A: aliases must be a list of texts"],
    ),
    "aliases that are numbers": (
        HEAD + node("A", aliases="[a, 1]"),
        ["9: code A: aliases must be a list of texts"],
    ),
    "unknown key": (
        HEAD + ROOT_NODE + "  - code: B\n    name: b\n    defintion: d\n    not: n\n",
        ["10: code B: definition is missing", "12: code B: unknown key 'defintion'"],
    ),
    "unknown key of the file": (
        "comment: x\n" + HEAD + ROOT_NODE,
        ["1: unknown key 'comment'"],
    ),
    "duplicate key": (
        HEAD + "  - code: A\n    name: a\n    name: b\n    definition: d\n    not: n\n",
        ["11: key 'name' occurs twice"],
    ),
    "anchor and alias": (
        HEAD + "  - &a {code: A, name: a, definition: d, not: n}\n" + "  - *a\n",
        [
            "9: anchors and aliases (&, *) are not accepted",
            "10: anchors and aliases (&, *) are not accepted",
        ],
    ),
    "alias of itself": (
        "a: &a [*a, *a]\n",
        ["1: anchors and aliases (&, *) are not accepted"] * 3,
    ),
    "merged mapping": (
        HEAD + "  - &a {code: A, name: a, definition: d, not: n}\n" + "  - {<<: *a, code: B}\n",
        [
            "9: anchors and aliases (&, *) are not accepted",
            "10: anchors and aliases (&, *) are not accepted",
        ],
    ),
    "wrong file name": (
        HEAD.replace("own", "other") + ROOT_NODE,
        ["1: taxonomy 'other' must be in a file other.yaml"],
    ),
    "name with capitals": (
        HEAD.replace("own", "Own") + ROOT_NODE,
        [
            "1: taxonomy 'Own' must be in a file Own.yaml",
            "1: taxonomy must be a name of lower-case words joined by -, not 'Own'",
        ],
    ),
    "version of two numbers": (
        HEAD.replace("1.0.0", "1.0") + ROOT_NODE,
        ["2: version must be three numbers in quotes such as '1.0.0', not '1.0'"],
    ),
    "version without quotes": (
        HEAD.replace('"1.0.0"', "1.0") + ROOT_NODE,
        [
            "2: version must be text: put 1.0 in quotes",
            "2: version must be three numbers in quotes such as '1.0.0', not '1.0'",
        ],
    ),
    "unknown choice and select": (
        HEAD.replace("single", "some").replace("leaves", "twigs") + ROOT_NODE,
        [
            "5: choice must be one of single, multiple, not 'some'",
            "6: select must be one of leaves, any, not 'twigs'",
        ],
    ),
    "no source": (
        HEAD.replace("source: Nobody\n", "") + ROOT_NODE,
        ["1: source is missing"],
    ),
    "no nodes": (HEAD, ["8: nodes must be a list with at least one entry"]),
    "nodes without keys": (
        HEAD + "  - A\n" + ROOT_NODE + "  - B\n",
        ["8: every entry of nodes must have keys"],
    ),
    "empty file": ("", ["1: must be a YAML mapping with keys such as version and source"]),
    "only a comment": (
        "# to do\n",
        ["1: must be a YAML mapping with keys such as version and source"],
    ),
    "a list": ("- a\n", ["1: must be a YAML mapping with keys such as version and source"]),
    "bad YAML": (
        HEAD + "  - {code: A, name: a\n",
        ["10: bad YAML: did not find expected ',' or '}'"],
    ),
    "tab": (
        HEAD + "\t- {code: A}\n",
        ["9: bad YAML: found character that cannot start any token"],
    ),
    "two documents": (
        HEAD + ROOT_NODE + "---\na: b\n",
        ["10: bad YAML: but found another document"],
    ),
    "control character": (
        HEAD + node("A", name='"é\x07"'),
        ["9: control character U+0007 is not accepted"],
    ),
    "control characters in a comment and a block": (
        HEAD
        + "  # \x9b\n  - code: A\n    name: a\n    not: n\n"
        + "    definition: >-\n      d\n      \u202ed\n",
        [
            "9: control character U+009B is not accepted",
            "15: control character U+202E is not accepted",
        ],
    ),
    "escaped control characters": (
        HEAD.replace("Nobody", r'"\x9b31m"')
        + node("A", name=r'"\e[31mred"', aliases=r'["\u2067x"]')
        + node(r'"B\rC"', name="b", definition='"d\n  \\L"')
        + r'  - {code: D, name: d, definition: d, not: n, "a\x7f": x}'
        + "\n",
        [
            "4: control character U+009B is not accepted",
            "9: control character U+001B is not accepted",
            "9: control character U+2067 is not accepted",
            "10: control character U+000D is not accepted",
            "10: control character U+2028 is not accepted",
            "12: control character U+007F is not accepted",
        ],
    ),
    "control character in a tag": (
        HEAD + node("A", name="!a%1B x"),
        ["9: control character U+001B is not accepted"],
    ),
    "character that YAML does not know": (
        HEAD + node("A", name='"é\uffff"'),
        ["9: bad YAML: unacceptable character #xffff: control characters are not allowed"],
    ),
    "not UTF-8": ((HEAD + node("A", name="é")).encode("latin-1"), ["9: is not UTF-8"]),
    "spreadsheet": (b"PK\x03\x04\n\x00\xff", ["2: is not UTF-8"]),
    "value that its tag forbids": (
        HEAD + node("A", name="!!bool maybe") + node("B", name="!!timestamp x"),
        [
            "9: cannot be read as tag:yaml.org,2002:bool",
            "10: cannot be read as tag:yaml.org,2002:timestamp",
        ],
    ),
    "Python object": (
        HEAD + node("A", name="!!python/name:os.system x"),
        ["9: cannot be read as tag:yaml.org,2002:python/name:os.system"],
    ),
    # Deep nesting used to overflow the stack of the C parser and kill the process.
    "deep flow": ("[" * 200_000, ["1: nested more than 100 levels deep"]),
    "deep block": ("a:\n" + "- " * 200_000, ["2: nested more than 100 levels deep"]),
    "far too large": (b"a" * 4_000_001, ["1: larger than 4,000,000 bytes"]),
    "several problems, in file order": (
        HEAD.replace('"1.0.0"', "'1'").replace("question: Which?", "question:")
        + node("B", name="", parent="Z")
        + node("C", extra="x")
        + node("A", parent="A")
        + node("C"),
        [
            "2: version must be three numbers in quotes such as '1.0.0', not '1'",
            "7: question is missing",
            "9: code B: name is missing",
            "9: code B: unknown parent Z",
            "10: code C: unknown key 'extra'",
            "11: code A: cycle A -> A",
            "12: code C: occurs twice, first on line 10",
        ],
    ),
}


@pytest.mark.parametrize(("content", "problems"), BROKEN.values(), ids=BROKEN)
def test_a_broken_taxonomy_is_refused_with_file_line_and_code(
    content: str | bytes, problems: list[str], tmp_path: Path, command: Command
) -> None:
    path = write(tmp_path, content)
    ended = command("annotation", "taxonomy", "validate", path)
    assert ended.returncode == 1
    assert ended.stdout == ""
    shown = ended.stderr.removeprefix("error: ").splitlines()
    assert shown[:-1] == [f"{path}:{problem}" for problem in problems]
    assert shown[-1] == f"Mend the file, then: annotation taxonomy validate {path}"


@pytest.mark.parametrize("prefix", ["", "\ufeff"], ids=["plain", "byte order mark"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["LF", "CR LF"])
def test_a_sound_taxonomy_is_accepted_however_the_editor_saved_it(
    prefix: str, ending: str, tmp_path: Path, command: Command
) -> None:
    content = HEAD + ROOT_NODE + node("B", parent="A", example="e", aliases='[Bee, "1"]')
    path = write(tmp_path, prefix + content.replace("\n", ending))
    ended = command("annotation", "taxonomy", "validate", path)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.replace("\n", "") == f"valid: {path}"
    taxonomy = load_taxonomy(path)
    assert [(each.code, each.parent, each.line) for each in taxonomy.nodes] == [
        ("A", "", 9),
        ("B", "A", 10),
    ]
    assert taxonomy.node("B").aliases == ("Bee", "1")


def test_a_taxonomy_may_be_fifty_levels_deep(tmp_path: Path, command: Command) -> None:
    path = write(tmp_path / "taxonomies", HEAD + chain(50))
    assert len(load_taxonomy(path).ancestors("C50")) == 49
    shown = command("annotation", "taxonomy", "show", "own", "--study", tmp_path, "--json")
    assert len(json.loads(shown.stdout)["nodes"]) == 50
    assert command("annotation", "taxonomy", "show", "own", "--study", tmp_path).returncode == 0


def test_a_category_may_share_its_name_with_a_leaf_and_a_node_its_name_with_its_alias(
    tmp_path: Path,
) -> None:
    leaf = node("B", parent="A", name="all", aliases="[ALL, all]")
    assert load_taxonomy(write(tmp_path, HEAD + ROOT_NODE + leaf)).find("All") == "B"


def test_tabs_and_the_marks_of_other_scripts_are_no_control_characters(tmp_path: Path) -> None:
    fields = {"name": '"a\tb\\nc"', "definition": '"\u05d0\u200f(d)"', "aliases": '["x\\ty"]'}
    found = load_taxonomy(write(tmp_path, HEAD + node("A", **fields))).node("A")
    assert (found.name, found.definition, found.aliases) == ("a b c", "\u05d0\u200f(d)", ("x y",))


def test_texts_are_one_line_whatever_their_style(tmp_path: Path) -> None:
    written = "  - {code: A, name: a, not: n,\n     definition: one\n     two\n     three}\n"
    taxonomy = load_taxonomy(write(tmp_path, HEAD.replace("Nobody", ">-\n  No\n  body") + written))
    assert (taxonomy.node("A").definition, taxonomy.source) == ("one two three", "No body")


def test_every_file_is_checked_before_one_is_refused(tmp_path: Path, command: Command) -> None:
    first = write(tmp_path, HEAD + node("A", name=""))
    sound = write(tmp_path, HEAD.replace("own", "fine") + ROOT_NODE, "fine.yaml")
    second = write(tmp_path, HEAD.replace("own", "bad") + node("A", parent="B"), "bad.yaml")
    ended = command("annotation", "taxonomy", "validate", first, sound, second)
    assert ended.returncode == 1
    assert f"{first}:9: code A: name is missing\n" in ended.stderr
    assert f"{second}:9: code A: unknown parent B\n" in ended.stderr
    assert str(sound) not in ended.stderr


@pytest.mark.parametrize("name", ["nowhere.yaml", "folder.yaml"])
def test_what_is_no_file_is_refused(name: str, tmp_path: Path, command: Command) -> None:
    (tmp_path / "folder.yaml").mkdir()
    ended = command("annotation", "taxonomy", "validate", name)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {name}:1: cannot be read: ")


def test_without_files_all_that_are_known_are_validated(tmp_path: Path, command: Command) -> None:
    ended = command("annotation", "taxonomy", "validate", "--quiet")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    path = write(tmp_path / "taxonomies", HEAD + node("A", parent="B"))
    ended = command("annotation", "taxonomy", "validate", "--study", tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {path}:9: code A: unknown parent B\n")


def test_the_console_script_refuses_without_a_traceback(tmp_path: Path) -> None:
    path = write(tmp_path, HEAD + node("A", parent="A"))
    script = Path(sys.executable).with_name("annotation")
    ended = subprocess.run(
        [script, "taxonomy", "validate", path],
        capture_output=True, text=True, check=False, cwd=tmp_path, timeout=60,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        f"error: {path}:9: code A: cycle A -> A\n"
        f"Mend the file, then: annotation taxonomy validate {path}\n"
    )


# Finding them.


def test_an_unknown_taxonomy_is_answered_with_the_known_ones(command: Command) -> None:
    ended = command("annotation", "taxonomy", "show", "humbatowa")
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == (
        "error: there is no taxonomy 'humbatowa'\n"
        f"Did you mean humbatova? Known: {', '.join(TaxonomyLibrary().names)}. "
        "An own one is a file "
        "taxonomies/humbatowa.yaml in the study.\n"
    )
    assert "hp-defects, humbatova, " in ended.stderr


def test_an_unknown_crosswalk_is_answered_with_the_known_ones() -> None:
    library = TaxonomyLibrary()
    with pytest.raises(StudyError, match="there is no crosswalk 'a--b'") as refused:
        library.crosswalk_named("a--b")
    assert "hp-defects--humbatova, humbatova--dl-bugs" in refused.value.hint
    assert library.crosswalk("dl-bugs", "symptoms") is None
    with pytest.raises(StudyError, match="there is no crosswalk 'dl-bugs'"):
        library.crosswalk_named("dl-bugs")


def test_an_unknown_code_is_refused_also_as_json(command: Command) -> None:
    for option in ("-v", "--json"):
        ended = command("annotation", "taxonomy", "show", "humbatova", "9.9", option)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert ended.stderr.startswith("error: taxonomy humbatova has no code '9.9'\n")


def test_a_taxonomy_of_the_study_is_found(tmp_path: Path, command: Command) -> None:
    write(tmp_path / "taxonomies", HEAD + ROOT_NODE + node("B", parent="A", name="Bee"))
    assert "own" in TaxonomyLibrary(tmp_path).names
    assert "own" not in TaxonomyLibrary().names
    shown = command("annotation", "taxonomy", "show", "own", "--study", tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "own 1.0.0: Own" in shown.stdout
    assert "B Bee" in shown.stdout
    assert "own" in command("annotation", "taxonomy", "list", "--study", tmp_path).stdout


def test_a_broken_taxonomy_of_the_study_is_named_where_it_is_used(
    tmp_path: Path, command: Command
) -> None:
    path = write(tmp_path / "taxonomies", HEAD + node("A", name=""))
    ended = command("annotation", "taxonomy", "show", "own", "--study", tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {path}:9: code A: name is missing\n")
    # The others can be used meanwhile.
    other = command("annotation", "taxonomy", "show", "dl-bugs", "--study", tmp_path)
    assert other.returncode == 0


def test_a_study_cannot_take_a_shipped_name(tmp_path: Path, command: Command) -> None:
    content = HEAD.replace("own", "humbatova") + ROOT_NODE
    path = write(tmp_path / "taxonomies", content, "humbatova.yaml")
    ended = command("annotation", "taxonomy", "list", "--study", tmp_path)
    assert (ended.returncode, "dl-bugs" in ended.stdout) == (1, True)  # the others are listed
    assert ended.stderr.startswith(f"error: {path}: humbatova 1.0.0 is there already, and this")
    assert ended.stderr.endswith("rename the file and the name in it.\n")


# Crosswalks. From two codes of the study's own taxonomy to a shipped one.

CROSSWALK = """\
crosswalk: own--dl-bugs
version: "1.0.0"
from: own
from_version: "1.0.0"
to: dl-bugs
to_version: "1.0.0"
source: Nobody
pairs:
"""
PAIR_A = "  - {from: A, to: [model], relation: exact, basis: same}\n"
PAIR_B = "  - {from: B, to: [], relation: none, basis: nothing like it}\n"

BROKEN_CROSSWALKS = {
    "unknown code": (
        CROSSWALK + PAIR_A + PAIR_B + PAIR_B.replace("B", "C"),
        ["11: code C: not in own"],
    ),
    "unknown target": (
        CROSSWALK + PAIR_A.replace("[model]", "[model, modul]") + PAIR_B,
        ["9: code A: modul is not in dl-bugs"],
    ),
    "missing code": (
        CROSSWALK + PAIR_A,
        ["1: code B: no pair; say `relation: none` if there is none"],
    ),
    "code twice": (
        CROSSWALK + PAIR_A + PAIR_B + PAIR_A,
        ["11: code A: occurs twice, first on line 9"],
    ),
    "none with targets": (
        CROSSWALK + PAIR_A + PAIR_B.replace("[]", "[model]"),
        ["10: code B: `relation: none` goes with `to: []`, and the other way round"],
    ),
    "targets without a relation": (
        CROSSWALK + PAIR_A.replace("[model]", "[]") + PAIR_B,
        ["9: code A: `relation: none` goes with `to: []`, and the other way round"],
    ),
    "unknown relation": (
        CROSSWALK + PAIR_A.replace("exact", "similar") + PAIR_B,
        [f"9: code A: relation must be one of {', '.join(RELATIONS)}, not 'similar'"],
    ),
    "wrong versions": (
        CROSSWALK.replace('n: "1.0.0"\nto', 'n: "0.9.0"\nto').replace(
            'n: "1.0.0"\nso', 'n: "2.0.0"\nso'
        )
        + PAIR_A
        + PAIR_B,
        ["1: is for dl-bugs 2.0.0, but dl-bugs is 1.0.0", "1: is for own 0.9.0, but own is 1.0.0"],
    ),
    "unknown taxonomy": (
        CROSSWALK.replace("dl-bugs", "dl-bogs") + PAIR_A + PAIR_B,
        ["1: must be called own--dl-bogs, as the file and in it"],
    ),
    "missing basis": (
        CROSSWALK + PAIR_A + PAIR_B.replace(", basis: nothing like it", ""),
        ["10: code B: basis is missing"],
    ),
    "control character": (
        CROSSWALK.replace("Nobody", r'"\e]0;x"') + PAIR_A + PAIR_B.replace("like", "\u202elike"),
        ["10: control character U+202E is not accepted"],
    ),
    "escaped control character": (
        CROSSWALK.replace("Nobody", r'"\e]0;x"') + PAIR_A.replace("model", r'"\x9b"') + PAIR_B,
        [
            "7: control character U+001B is not accepted",
            "9: control character U+009B is not accepted",
        ],
    ),
    "blank target": (
        CROSSWALK + PAIR_A.replace("model", '" "') + PAIR_B,
        ["9: code A: to must not be blank"],
    ),
    "number as a code": (
        CROSSWALK + PAIR_A + PAIR_B + PAIR_B.replace("B", "1.10"),
        ["11: code 1.10: from must be text: put 1.10 in quotes"],
    ),
}


@pytest.mark.parametrize(("content", "problems"), BROKEN_CROSSWALKS.values(), ids=BROKEN_CROSSWALKS)
def test_a_broken_crosswalk_is_refused_with_file_line_and_code(
    content: str, problems: list[str], tmp_path: Path, command: Command
) -> None:
    write(tmp_path / "taxonomies", HEAD + node("A") + node("B"))
    path = write(tmp_path / "crosswalks", content, "own--dl-bugs.yaml")
    ended = command("annotation", "taxonomy", "validate", path, "--study", tmp_path)
    assert (ended.returncode, ended.stdout) == (1, "")
    shown = ended.stderr.removeprefix("error: ").splitlines()
    assert shown[:-1] == [f"{path}:{problem}" for problem in problems]


def test_a_crosswalk_to_a_taxonomy_that_is_not_there_names_the_known_ones(
    tmp_path: Path, command: Command
) -> None:
    write(tmp_path / "taxonomies", HEAD + node("A") + node("B"))
    content = CROSSWALK.replace("dl-bugs", "nothing") + PAIR_A + PAIR_B
    path = write(tmp_path / "crosswalks", content, "own--nothing.yaml")
    ended = command("annotation", "taxonomy", "validate", path, "--study", tmp_path)
    assert ended.returncode == 1
    assert ended.stderr.startswith(f"error: {path}:1: there is no taxonomy 'nothing', only ")
    assert "dl-bugs" in ended.stderr


def test_a_crosswalk_of_the_study_is_found(tmp_path: Path) -> None:
    write(tmp_path / "taxonomies", HEAD + node("A") + node("B"))
    write(tmp_path / "crosswalks", CROSSWALK + PAIR_A + PAIR_B, "own--dl-bugs.yaml")
    crosswalk = TaxonomyLibrary(tmp_path).crosswalk("own", "dl-bugs")
    assert crosswalk is not None
    pairs = {pair.code: (pair.targets, pair.relation) for pair in crosswalk.pairs}
    assert pairs == {"A": (("model",), "exact"), "B": ((), "none")}
    assert crosswalk.pair("C") is None


def test_a_crosswalk_that_goes_the_other_way_only_is_inverted(tmp_path: Path) -> None:
    write(tmp_path / "taxonomies", HEAD + node("A") + node("B"))
    path = write(tmp_path / "crosswalks", CROSSWALK + PAIR_A + PAIR_B, "own--dl-bugs.yaml")
    library = TaxonomyLibrary(tmp_path)
    back = library.crosswalk("dl-bugs", "own")
    assert back == library.crosswalk_named("dl-bugs--own")
    assert back is not None
    pairs = {pair.code: (pair.targets, pair.relation) for pair in back.pairs}
    assert pairs.pop("model") == (("A",), "exact")
    assert set(pairs.values()) == {((), "none")}
    # A file of its own wins over the inverse, and what is wrong with the file is told.
    own = CROSSWALK.replace("dl-bugs", "x").replace("own", "dl-bugs").replace("x", "own")
    codes = [each.code for each in library.taxonomy("dl-bugs").leaves]
    nothing = "".join(PAIR_B.replace("B", code) for code in codes)
    write(tmp_path / "crosswalks", own + nothing, "dl-bugs--own.yaml")
    written = TaxonomyLibrary(tmp_path).crosswalk("dl-bugs", "own")
    assert written is not None
    assert {pair.basis for pair in written.pairs} == {"nothing like it"}
    (tmp_path / "crosswalks" / "dl-bugs--own.yaml").unlink()
    write(path.parent, CROSSWALK + PAIR_A, path.name)
    with pytest.raises(StudyError, match="code B: no pair"):
        library.crosswalk("dl-bugs", "own")
