"""Taxonomies as values: finding a code by its spelling, and walking the tree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.errors import StudyError
from data.taxonomy import Node, Taxonomy
from data.taxonomy_library import TaxonomyLibrary


def tree(*nodes: tuple[str, str, str, tuple[str, ...]], select: str = "leaves") -> Taxonomy:
    """A taxonomy of (code, parent, name, aliases)."""
    return Taxonomy(
        name="own", version="1.0.0", title="", source="", choice="single", select=select,
        question="", path=Path("own.yaml"),
        nodes=tuple(
            Node(code=code, name=name, parent=parent, definition="", not_this="", example="",
                 aliases=aliases, line=line)
            for line, (code, parent, name, aliases) in enumerate(nodes)
        ),
    )  # fmt: skip


SHAPES = tree(
    ("4", "", "Tensors & Inputs", ()),
    ("4.1", "4", "Wrong Tensor Shape", ()),
    ("4.1.L1", "4.1", "Wrong tensor shape", ("bad-shape", "Shape")),
    ("4.1.L2", "4.1", "Tensor shape mismatch", ("4.1",)),
    ("third-party", "", "Third-party library", ()),
)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("4.1.L1", "4.1.L1"),
        ("4.1.l1", "4.1.L1"),
        (" 4.1.L1 ", "4.1.L1"),
        ("Tensor shape mismatch", "4.1.L2"),
        ("TENSOR SHAPE MISMATCH", "4.1.L2"),
        ("tensor-shape  mismatch", "4.1.L2"),
        ("tensor_shape_mismatch", "4.1.L2"),
        ("Bad Shape", "4.1.L1"),
        ("shape", "4.1.L1"),
        ("tensors & inputs", "4"),
        ("Third Party", "third-party"),
        ("THIRD-PARTY LIBRARY", "third-party"),
        # A leaf wins over the category above it, and a code over an alias.
        ("Wrong Tensor Shape", "4.1.L1"),
        ("wrong tensor shape", "4.1.L1"),
        ("4.1", "4.1"),
        ("", None),
        ("4.1.L", None),
        ("tensor", None),
        ("tensors and inputs", None),
    ],
)
def test_a_code_is_found_by_code_name_or_alias(text: str, code: str | None) -> None:
    assert SHAPES.find(text) == code


def test_where_any_node_may_be_chosen_the_upper_of_two_equal_names_is_found() -> None:
    names = (("1", "", "Shape", ()), ("1.1", "1", "shape", ()))
    assert tree(*names, select="any").find("Shape") == "1"
    assert tree(*names).find("Shape") == "1.1"


def test_of_two_codes_that_differ_in_case_the_written_one_is_found() -> None:
    codes = tree(("A1", "", "Big", ()), ("a1", "", "Small", ()))
    assert (codes.find("A1"), codes.find("a1")) == ("A1", "a1")


FAULTS = TaxonomyLibrary().taxonomy("humbatova")


@settings(derandomize=True, database=None, deadline=None)
@given(
    st.sampled_from(FAULTS.leaves),
    st.sampled_from([str.upper, str.lower, str.title, str.swapcase]),
    st.sampled_from(["-", "_", "  ", " "]),
)
def test_case_and_hyphens_of_a_name_do_not_matter(
    leaf: Node, case: Callable[[str], str], gap: str
) -> None:
    assert FAULTS.find(case(leaf.name).replace(" ", gap)) == leaf.code
    assert FAULTS.find(case(leaf.code)) == leaf.code


def test_the_tree_can_be_walked() -> None:
    assert "4.1" in SHAPES
    assert "4.1.l1" not in SHAPES  # a code is a code; spellings are for `find`
    assert [node.code for node in SHAPES.children()] == ["4", "third-party"]
    assert [node.code for node in SHAPES.children("4.1")] == ["4.1.L1", "4.1.L2"]
    assert SHAPES.children("4.1.L1") == ()
    assert [node.code for node in SHAPES.leaves] == ["4.1.L1", "4.1.L2", "third-party"]
    assert [node.code for node in SHAPES.categories] == ["4", "4.1"]
    assert SHAPES.ancestors("4.1.L2") == ("4.1", "4")
    assert SHAPES.ancestors("4") == ()
    assert SHAPES.leaves_of("4") == ("4.1.L1", "4.1.L2")
    assert SHAPES.leaves_of("4.1.L1") == ("4.1.L1",)
    assert SHAPES.selectable == SHAPES.leaves


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(StudyError, match="taxonomy own has no code '5'") as refused:
        SHAPES.node("5")
    assert refused.value.hint == "Its codes: annotation taxonomy show own"
    with pytest.raises(StudyError):
        SHAPES.leaves_of("5")
