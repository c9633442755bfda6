"""Texts of a taxonomy that still speak of a code which is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from faultatlas.data.taxonomy import Taxonomy


def stale_mentions(old: Taxonomy, new: Taxonomy) -> Iterator[str]:
    """A sentence for each `not` or definition that names a code of the old version only.

    A code that could be an ordinary word or number counts only where it is given as the code
    that it is then: "it is gpu."
    """
    gone = [node.code for node in old.nodes if node.code not in new]
    for node in new.nodes:
        for field, text in (("not", node.not_this), ("definition", node.definition)):
            for code in gone:
                if _named(code).search(text):
                    yield (
                        f"{new.path}:{node.line}: code {node.code}: its `{field}` still speaks "
                        f"of {code}, which {new.version} does not have"
                    )


def _named(code: str) -> re.Pattern[str]:
    is_plain = code.isalpha() or code.replace(".", "").isdigit()
    before = r"(?<=\bit is )" if is_plain else r"(?<![\w.-])"
    return re.compile(rf"{before}{re.escape(code)}(?![\w-]|\.\w)")
