"""The generated pages say what the program says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from faultatlas.data.taxonomy_library import TaxonomyLibrary

ROOT = Path(__file__).parent.parent.parent
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## (.+?)\n\n```\n", COMMANDS, re.MULTILINE)


def test_the_reference_has_the_commands_of_every_part_of_a_program() -> None:
    named = {*SECTIONS}
    assert {
        "miner papers",
        "annotation sample",
        "annotation taxonomy show",
        "report trace",
    } <= named
    assert {"annotation import", "annotation push", "annotation agreement"} <= named


def test_every_generated_page_is_up_to_date() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "docs.generate", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(
    "variables",
    [
        {"FORCE_COLOR": "1", "GITHUB_ACTIONS": "true", "PY_COLORS": "1", "COLUMNS": "40"},
        {"NO_COLOR": "1", "TERM": "xterm-256color", "PYTHONIOENCODING": "ascii", "STUDY": "x"},
    ],
    ids=["as in CI", "as on a terminal"],
)
def test_the_reference_is_the_same_wherever_it_is_made(variables: dict[str, str]) -> None:
    program = (
        "from docs.generate import help_texts; print(ascii(help_texts([('miner', 'status')])))"
    )

    def made(environment: dict[str, str]) -> str:
        line = [sys.executable, "-c", program]
        return subprocess.check_output(line, cwd=ROOT, env=environment, text=True)

    others = {name: value for name, value in os.environ.items() if name not in variables}
    assert made(others | variables) == made(others)
    assert "Usage: miner status" in made(others)
    assert r"\x1b" not in made(others | variables)


def test_links_between_pages_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md",
                 *(ROOT / "docs").glob("*.md")):  # fmt: skip
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_documented_taxonomy_and_crosswalk_are_valid(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "taxonomy-format.md").read_text(encoding="utf-8")
    taxonomy, crosswalk = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    for folder, name, text in (
        ("taxonomies", "build-failures", taxonomy),
        ("crosswalks", "build-failures--humbatova", crosswalk),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    library = TaxonomyLibrary(tmp_path)
    assert len(library.taxonomy("build-failures").selectable) == 3
    assert library.crosswalk("build-failures", "humbatova") is not None
