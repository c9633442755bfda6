"""Builds docs/ as a static site in build/site: `make site`. With --check only its links, headings
and pictures are looked at, for `make check`. Every warning of Sphinx's is a failure that names the
page, its line and what it points to.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from sphinx.cmd.build import build_main

DOCS = Path(__file__).parent
SITE = DOCS.parent / "build" / "site"


def build(target: Path, builder: str) -> int:
    """Always anew and whole: a page that did not change may point to one that did."""
    with tempfile.TemporaryDirectory() as doctrees:
        options = ["--fail-on-warning", "--keep-going", "--quiet", "--write-all"]
        return build_main([*options, "-b", builder, "-d", doctrees, str(DOCS), str(target)])


def main() -> int:
    """Check, or build what the folder has then and nothing else."""
    if "--check" in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as nothing:
            return build(Path(nothing), "dummy")
    shutil.rmtree(SITE, ignore_errors=True)
    code = build(SITE, "html")
    print(f"docs: {SITE / 'index.html'}" if code == 0 else "docs: see the warnings above")
    return code


if __name__ == "__main__":
    sys.exit(main())
