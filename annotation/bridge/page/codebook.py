"""The codebook beside the tree: what each code means, what it does not, an example."""

from __future__ import annotations

from faultatlas.annotation.bridge.page.cleaning import escaped
from faultatlas.data.taxonomy import Node, Taxonomy


def codebook_html(taxonomy: Taxonomy) -> str:
    """All codes as folded entries, in the order of the file, children inside their parents."""
    return "".join(_entry(node, taxonomy) for node in taxonomy.children())


def _entry(node: Node, taxonomy: Taxonomy) -> str:
    below = "".join(_entry(child, taxonomy) for child in taxonomy.children(node.code))
    made = f"<details><summary><b>{escaped(node.code)}</b> {escaped(node.name)}</summary>"
    made += f"<p>{escaped(node.definition)}</p>"
    if node.not_this:
        made += f"<p><i>Not:</i> {escaped(node.not_this)}</p>"
    if node.example:
        made += f"<p><i>Example:</i> {escaped(node.example)}</p>"
    return f"{made}{below}</details>"
