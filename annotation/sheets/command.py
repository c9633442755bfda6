"""What `annotation import` and `export` do, from options to what is told."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.labels import STAGES, checked_stage
from faultatlas.annotation.planning.gates import require_gate_at_first
from faultatlas.annotation.rounds import checked_name, find_round
from faultatlas.annotation.sheets.asking import Asked, named_files
from faultatlas.annotation.sheets.codes import Codebook
from faultatlas.annotation.sheets.confirming import check, table_path
from faultatlas.annotation.sheets.importing import Sheets, read_sheets
from faultatlas.annotation.sheets.spellings import read_spellings
from faultatlas.annotation.sheets.storing import Stored, store_sheets
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.settings import read_settings
from faultatlas.data.taxonomy_library import TaxonomyLibrary
from faultatlas.report.formatting import counted

if TYPE_CHECKING:
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Study
    from faultatlas.data.taxonomy import Taxonomy

_MOST_SHOWN = 5


@dataclass
class Done:
    """What an import did: for programs, and for people."""

    document: dict[str, Any]
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def import_sheets(
    study: Study,
    round_name: str,
    files: Sequence[str],
    asked: Asked,
    *,
    taxonomy_name: str = "",
    version: str = "",
    stage: str = "",
    otherwise: str = "",
    spellings: Path | None = None,
    accept: bool = False,
    corrections: bool = False,
) -> Done:
    """Read, check and store sheets; nothing is stored if anything is wrong."""
    round_name = checked_name(round_name)
    of = _round_of(study, round_name)
    name = taxonomy_name or _taxonomy_of(of, round_name)
    taxonomy = chosen_as(of, _in_version(study, of, name, version))
    settings = read_settings(study.directory)
    table = table_path(study.directory, round_name)
    confirmed: dict[str, str] = {}
    if accept and table.exists():
        confirmed |= read_spellings(table, taxonomy)  # what a person has put into it counts
    if spellings is not None:
        confirmed |= read_spellings(spellings, taxonomy)
    book = Codebook(taxonomy, confirmed, otherwise, accept, older=partial(_older, study, name))
    wanted = checked_stage(stage) if stage else None
    sheets = read_sheets(named_files(files), asked, book, wanted)
    newest = TaxonomyLibrary(study.directory).taxonomy(name)
    _refuse_newer(book, newest)
    check(sheets, book, table, spellings)
    _require_labels(sheets, book, files)
    chosen = {"version": version, "corrections": corrections}
    run = provenance.begin(
        "annotation import",
        {
            "round": round_name, "files": list(files), "taxonomy": name, "stage": sheets.stage,
            **{key: value for key, value in {**asdict(asked), **chosen}.items() if value},
            **_traces(sheets, book, table if accept or spellings is None else spellings),
        },
    )  # fmt: skip
    stored = store_sheets(
        study, round_name, taxonomy, sheets, settings=settings, run=run, corrections=corrections
    )
    done = _told(round_name, sheets, stored, book)
    done.document["taxonomy_version"] = taxonomy.version
    if newest.version != taxonomy.version and not version:
        done.notes.append(
            f"codes were read as those of {name} {taxonomy.version}, with which the round began; "
            f"if they are of {newest.version}: --version {newest.version}"
        )
    _remarks(done, sheets, stored, book, table)
    return done


def _require_labels(sheets: Sheets, book: Codebook, files: Sequence[str]) -> None:
    """Refuse sheets that say nothing: their labels may stand where they are not looked for."""
    is_told = sheets.repeats_study or book.left_out  # an export of a round may be empty
    if sheets.rows and sheets.unlabelled == sheets.rows and not is_told:
        raise StudyError(
            f"{', '.join(files)}: {counted(sheets.rows, 'row')} without a code, and none with one",
            "An exported sheet for one rater has its labels in the column 'codes', others in the "
            "columns that --code, --rater-columns, --pairs or --final name. Nothing was stored.",
        )


def _round_of(study: Study, round_name: str) -> Round | None:
    if study.exists:
        with study.reading() as reader:
            if reader.value("SELECT 1 FROM store.round WHERE round = ?", [round_name]):
                return find_round(reader, round_name)
    return None


def _taxonomy_of(of: Round | None, round_name: str) -> str:
    if of is not None:
        return of.taxonomy
    raise StudyError(
        f"which taxonomy are the codes of? Round {round_name!r} is new",
        "Add --taxonomy NAME; the names: annotation taxonomy list.",
    )


def chosen_as(of: Round | None, taxonomy: Taxonomy) -> Taxonomy:
    """The taxonomy with several codes for an item where the round allows them."""
    if of is None or of.choice != "multiple" or of.taxonomy != taxonomy.name:
        return taxonomy
    return dataclasses.replace(taxonomy, choice=of.choice)


def _in_version(study: Study, of: Round | None, name: str, version: str) -> Taxonomy:
    """The taxonomy that cells are read with: of a round that is there, the version it began with.

    So a sheet that is imported again after its taxonomy changed says the same as before.
    """
    wanted = version or (of.taxonomy_version if of and of.taxonomy == name else "")
    newest = TaxonomyLibrary(study.directory).taxonomy(name)
    return newest if wanted in {"", newest.version} else _older(study, name, wanted)


def _refuse_newer(book: Codebook, newest: Taxonomy) -> None:
    """Codes that only the newest version has, in a sheet that is read in an older one."""
    used = book.taxonomy
    found = [text for text in book.unknown if text in newest and text not in used]
    if found:
        raise StudyError(
            f"{found[0]!r} is a code of {newest.name} {newest.version}; the sheet is read in "
            f"{used.version}, with which the round began",
            f"If its codes are of {newest.version}: --version {newest.version}. Nothing was "
            "stored.",
        )


def _older(study: Study, name: str, version: str) -> Taxonomy:
    """Another version of a taxonomy, which a sheet has labels of."""
    from faultatlas.annotation.taxonomies.versions import Versions, unknown_version

    if not study.exists:
        known = [each.version for each in TaxonomyLibrary(study.directory).versions(name)]
        raise unknown_version(version, name, known)
    with study.reading() as reader:
        return Versions.known(reader, study.directory, name).taxonomy(version)


def _traces(sheets: Sheets, book: Codebook, table: Path) -> dict[str, Any]:
    """What a reader of the run must know to understand the cells as we did."""
    traces: dict[str, Any] = {"otherwise": book.otherwise} if book.otherwise else {}
    if book.used:
        traces["spellings"] = {
            "file": str(table),
            "sha256": hashlib.sha256(table.read_bytes()).hexdigest(),
            "codes": [list(pair) for pair in sorted(book.used.items())],
        }
    if sheets.conflicts is not None:
        traces["conflicts_in_sheets"] = sheets.conflicts
    return traces


def _told(round_name: str, sheets: Sheets, stored: Stored, book: Codebook) -> Done:
    repeated = sorted(sheets.repeated)
    document: dict[str, Any] = {
        "round": round_name,
        "taxonomy": book.taxonomy.name,
        "rows": sheets.rows,
        "unlabelled": sheets.unsettled if sheets.has_finals else sheets.unlabelled,
        "repeated_artifacts": repeated,
        "items": len(sheets.items),
        "artifacts": sheets.artifacts,
    }
    done = Done(document)
    if sheets.has_ratings:
        document |= {
            "stages": sheets.stages,
            "raters": list(sheets.raters),
            "answers": asdict(stored.answers),
        }
        said = stored.answers
        done.lines.append(
            f"round {round_name}: {counted(len(sheets.items), 'item')} "
            f"({counted(sheets.artifacts, 'artifact')}) from {counted(sheets.rows, 'row')}, "
            f"{counted(len(sheets.raters), 'rater')}; answers: {said.new:,} new, "
            f"{said.changed:,} changed, {said.known:,} known already"
        )
        if set(sheets.stages) - {"independent"}:
            counts = ", ".join(f"{count:,} {stage}" for stage, count in sheets.stages.items())
            done.lines.append(f"stages of the answers: {counts}")
    if sheets.has_finals:
        document |= {"stored": stored.new_finals, "known": stored.known_finals}
    if sheets.finals or (sheets.has_finals and not sheets.has_ratings):
        done.lines.append(
            f"{counted(stored.new_finals, 'final label')} stored in round {round_name} from "
            f"{counted(sheets.rows, 'row')} ({stored.known_finals:,} known already, "
            f"{counted(sheets.unsettled, 'row')} without a code)"
        )
    if sheets.conflicts is not None:
        document["conflicts_in_sheets"] = sheets.conflicts
        done.lines.append(f"conflicts that the sheets mark: {sheets.conflicts:,}")
    if repeated:
        done.notes.append(
            f"{counted(len(repeated), 'artifact stands', 'artifacts stand')} in several rows; each "
            "row is an item: " + ", ".join(repeated[:_MOST_SHOWN])
        )
    return done


def _remarks(done: Done, sheets: Sheets, stored: Stored, book: Codebook, table: Path) -> None:
    """What a person should know, and what a program may look for."""
    document, notes = done.document, done.notes
    notes += sheets.notes
    if sheets.notes:
        document["notes"] = list(sheets.notes)
    if stored.new_raters:
        notes.append(f"raters that are new in the round: {', '.join(stored.new_raters)}")
    notes += [
        f"raters {names} differ in case only, and count as two: mend the sheet if they are one"
        for names in stored.alike
    ]
    if stored.answers.changed:
        notes.append(
            f"{counted(stored.answers.changed, 'answer differs', 'answers differ')} from what the "
            "study had: what is new holds, what was there is kept"
        )
    if sheets.nameless:
        document["nameless"] = sheets.nameless
        notes.append(
            f"{counted(len(sheets.nameless), 'row')} with codes, but without an item, left out: "
            + ", ".join(sheets.nameless[:_MOST_SHOWN])
        )
    if book.left_out:
        document["left_out"] = book.left_out
        notes.append(f"{counted(book.left_out, 'cell')} left out, as the table of spellings says")
    if book.free:
        document["free_texts"] = len(book.free)
        notes.append(
            f"{counted(len(book.free), 'other text')} taken for {book.otherwise}, "
            "and kept as proposed codes"
        )
    if book.accepted:
        document["accepted_spellings"] = str(table)
        notes.append(
            f"{counted(len(book.accepted), 'proposed spelling')} taken as they are: see {table}"
        )


def export_sheet(
    study: Study,
    round_name: str,
    path: Path,
    *,
    stage: str,
    version: str = "",
    rater: str = "",
    is_long: bool,
    replace: bool,
) -> dict[str, Any]:
    """Write a round as a sheet."""
    from faultatlas.annotation.sheets.exporting import elsewhere, long, wide, write_sheet
    from faultatlas.annotation.sheets.filling import for_rater

    if is_long and (version or rater):
        raise StudyError(
            "--long gives all raters and versions", "Leave out --version and --rater, or --long."
        )
    with study.reading() as reader:
        of = find_round(reader, round_name)
        require_gate_at_first(reader, of)
        left = 0
        wanted, used = checked_stage(stage or "independent"), version or of.taxonomy_version
        if is_long:
            exported = long(reader, of, [wanted] if stage else STAGES)
        elif rater:
            from faultatlas.annotation.taxonomies.versions import Versions

            known = Versions.known(reader, study.directory, of.taxonomy)
            taxonomy = chosen_as(of, known.taxonomy(used))
            exported = for_rater(reader, of, rater, wanted, taxonomy)
        else:
            exported = wide(reader, of, wanted, used)
            left = elsewhere(reader, of, wanted, used)
    write_sheet(exported, path, replace=replace)
    return {
        "round": round_name,
        "file": str(path),
        "rows": len(exported.rows),
        "answers_in_other_versions": left,
    }
