"""The generated pages say what the program says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## (.+?)\n\n```\n(.*?)\n```$", COMMANDS, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(("command", "shown"), SECTIONS, ids=[name for name, _text in SECTIONS])
def test_the_reference_shows_what_help_prints(command: str, shown: str) -> None:
    program, *words = command.split()
    found = subprocess.run(
        [Path(sys.executable).parent / program, *words, "--help"],
        env={"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1", "TERM": "dumb"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert _plain(found.stdout) == _plain(shown)


def test_every_generated_page_is_up_to_date() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "docs.generate", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr


def test_links_between_pages_lead_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md",
                 *(ROOT / "docs").glob("*.md")):  # fmt: skip
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def _plain(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
