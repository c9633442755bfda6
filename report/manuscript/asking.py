"""What a call of `report manuscript` names, checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from faultatlas.data.errors import StudyError
from faultatlas.report import console
from faultatlas.report.manuscript import checking, drafting
from faultatlas.report.manuscript.entries import parsed
from faultatlas.report.manuscript.outcomes import Finding


def asked(
    paths: Sequence[Path],
    names: Sequence[str],
    manuscripts: Sequence[Path],
    write: Path | None,
    tell: Callable[[str], None],
) -> dict[str, list[Finding]]:
    """The findings of claims files, shipped studies and manuscripts, by their names."""
    if not (paths or names or manuscripts):
        raise StudyError(
            "nothing to check",
            "Name a claims file, --shipped NAME or --draft FILE; --kinds lists what is checked.",
        )
    found = {str(path): checking.check(path) for path in paths}
    for name in _studies(names):
        found[name] = checking.check(name)
    texts = {str(path): drafting.draft(path) for path in manuscripts}
    for name, text in texts.items():
        found[name] = checking.check_claims(parsed(text, name, Path(name).stem)) if text else []
        if not text:
            tell(f"{name}: no numbers were found that can be checked")
    if write is not None:
        _write(write, [text for text in texts.values() if text], tell)
    return found


def _studies(names: Sequence[str]) -> list[str]:
    known = checking.shipped()
    if unknown := [name for name in names if name not in (*known, "all")]:
        raise StudyError(
            f"{unknown[0]!r} is no shipped study", f"Known: {', '.join(known)}, or all."
        )
    return list(known if "all" in names else dict.fromkeys(names))


def _write(path: Path, texts: Sequence[str], tell: Callable[[str], None]) -> None:
    if len(texts) != 1:
        raise StudyError(
            f"--write takes the claims of one manuscript, not of {len(texts)}", "Name one --draft."
        )
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(texts[0])
    except FileExistsError:
        raise StudyError(f"{path} is there already", "Name another file.") from None
    except OSError as error:
        raise console.explained(error, path) from None
    tell(f"Claims: {path}")
