"""Writes the outputs and the pictures of the tutorial anew: `make tutorial`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from walkthrough.page import rewritten, steps
from walkthrough.walk import IMAGES, PAGE, walking


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        study, pictures = Path(folder, "study"), Path(folder, "pictures")
        study.mkdir()
        pictures.mkdir()
        with walking(study, pictures) as walk:
            for step in steps(page):
                walk.take(step)
        for picture in pictures.iterdir():
            (IMAGES / picture.name).write_bytes(picture.read_bytes())
    PAGE.write_text(rewritten(page, walk.lines), encoding="utf-8")


if __name__ == "__main__":
    main()
