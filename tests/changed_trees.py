"""Random taxonomies and what may become of them: for properties of changes."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from faultatlas.data.taxonomy import Change, Node, Revision, Taxonomy
from faultatlas.data.taxonomy_changes import ENDED, Step

FATES = ("keep", "rename", "split", "merge", "end", "wait", "heir")


def tree(codes: dict[str, str], version: str) -> Taxonomy:
    return Taxonomy(
        name="own", version=version, title="", source="", choice="multiple", select="leaves",
        question="", path=Path("own.yaml"),
        nodes=tuple(
            Node(code, f"Name of {code}", parent, "d", "n", "", (), 1)
            for code, parent in codes.items()
        ),
    )  # fmt: skip


@st.composite
def revised(draw: st.DrawFn, old: Taxonomy | None = None, number: int = 1) -> Step:
    """Two versions and the changes between them; new codes are told by the version's number."""
    if old is None:
        leaves = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True))
        parents = {leaf: draw(st.sampled_from("PQ")) for leaf in leaves}
        old = tree(parental({"P": "", "Q": ""} | parents, 0), f"{number}.0.0")
    fates = {node.code: draw(st.sampled_from(FATES)) for node in old.leaves}
    merged = tuple(code for code, fate in fates.items() if fate == "merge")
    heirs = [code for code, fate in fates.items() if fate == "keep"]
    new = {"P": "", "Q": "", f"n{number}": draw(st.sampled_from(["", "P"]))}
    changes = []
    for code, fate in fates.items():
        parent = old.node(code).parent
        parts = (f"{code}x{number}", f"{code}y{number}")
        if fate == "keep":
            new[code] = parent
        elif fate == "rename":
            new[f"{code}r{number}"] = parent
            changes.append(Change("rename", (code,), (f"{code}r{number}",)))
        elif fate == "split":
            new |= dict.fromkeys(parts, draw(st.sampled_from(["", "P", "Q"])))
            changes.append(Change("split", (code,), parts))
        elif fate != "merge":
            heir = draw(st.sampled_from(heirs)) if heirs else "~unclear"
            ends = {"end": (ENDED,), "wait": (), "heir": (heir,)}
            changes.append(Change("retire", (code,), ends[fate]))
    if merged:
        new[f"m{number}"] = "P"
        changes.append(Change("merge", merged, (f"m{number}",)))
    after = tree(parental(new, number), f"{number + 1}.0.0")
    led = {code for change in changes for code in change.new}
    fresh = tuple(node.code for node in after.nodes if node.code not in old)
    changes.append(Change("add", (), tuple(code for code in fresh if code not in led)))
    return Step(old, after, Revision(old.version, after.version, tuple(changes)))


def parental(codes: dict[str, str], number: int) -> dict[str, str]:
    """With a child for each category that has none: it could be chosen otherwise."""
    return codes | {f"{each.lower()}{number}": each for each in "PQ" if each not in codes.values()}
