"""What `report claims export` does: write the numbers, and read manuscripts that use them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.data import result_store
from faultatlas.data.errors import StudyError
from faultatlas.report.claims.exporting import lacking, to_csv, to_latex
from faultatlas.report.claims.finding import nearest
from faultatlas.report.claims.listing import stored
from faultatlas.report.claims.naming import checked_prefix, command_names
from faultatlas.report.console import explained
from faultatlas.report.formatting import counted, plain

if TYPE_CHECKING:
    from faultatlas.data.study import Study
    from faultatlas.report.old.console import Output

_LARGEST = 20_000_000  # bytes of a manuscript


def export(
    study: Study,
    output: Output,
    results: Sequence[str],
    *,
    latex: Path | None,
    csv: Path | None,
    manuscripts: Sequence[Path],
    prefix: str,
    siunitx: bool,
) -> None:
    """Write what was asked for; a manuscript that uses what there is not is refused in the end."""
    checked_prefix(prefix)
    if not (latex or csv or manuscripts or output.as_json):
        raise StudyError(
            "nothing says where the numbers go",
            "Write --latex numbers.tex, --csv numbers.csv, --json, or --check paper.tex.",
        )
    claims = _claims(study, results)
    texts = {path: _read(path) for path in manuscripts}
    written = []
    for path, text in (
        (latex, to_latex(claims, prefix, siunitx=siunitx)),
        (csv, to_csv(claims, prefix)),
    ):
        if path is not None:
            _write(path, text)
            written.append(path)
    names = command_names((claim["claim_id"] for claim in claims), prefix)
    missing: list[dict[str, Any]] = [
        {"file": str(path), "line": line, "used": used, "near": _near(used, names)}
        for path, text in texts.items()
        for line, used in lacking(text, claims, prefix)
    ]
    output.document(
        {
            "claims": [{**claim, "latex": f"\\{names[claim['claim_id']]}"} for claim in claims],
            "files": [str(path) for path in written],
            "lacking": missing,
        }
    )
    output.show(*(f"{counted(len(claims), 'number')} in {path}" for path in written))
    if missing:
        for each in missing:
            hint = f" (did you mean {', '.join(each['near'])}?)" if each["near"] else ""
            output.show(f"{each['file']}:{each['line']}: {each['used']}{hint}")
        raise StudyError(
            f"{counted(len(missing), 'number')} of the manuscript "
            f"{'is' if len(missing) == 1 else 'are'} not in the study",
            "See what there is: report claims list. After a new analysis, export again: "
            "report claims export --latex FILE",
        )
    if texts:
        output.show(f"Every number that {_files(texts)} can be printed.")


def _files(texts: dict[Path, str]) -> str:
    names = ", ".join(map(str, texts))
    return f"{names} {'uses' if len(texts) == 1 else 'use'}"


def _claims(study: Study, results: Sequence[str]) -> list[dict[str, Any]]:
    with study.reading() as reader:
        for name in results:
            result_store.latest(reader, name)  # an unknown one is refused
    return [claim for claim in stored(study) if not results or claim["result"] in results]


def _near(used: str, names: dict[str, str]) -> list[str]:
    if used.startswith("\\"):
        return [f"\\{name}" for name in nearest(used, list(names.values()))]
    if used in names:  # LaTeX minds a letter of the id
        return [f"\\{names[used]}"]
    claim_id = used.partition(" [")[0]
    return [] if claim_id in names else nearest(claim_id, list(names))


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise StudyError(
                f"{plain(path)} is too large to be a manuscript", "Name the .tex file."
            )
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise explained(error, path) from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise explained(error, path) from error
