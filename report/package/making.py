"""`report package`: a copy of the study without people and texts, its numbers, and its papers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.settings import read_settings
from faultatlas.data.study import Study
from faultatlas.report.console import explained
from faultatlas.report.package import (
    archive,
    datasheet,
    documents,
    facts,
    metadata,
    reading_copies,
    rows,
    scanning,
)
from faultatlas.report.package.computing import entries_of
from faultatlas.report.package.copying import Options, cleaned_tables, cleaner_of, left_out
from faultatlas.report.package.describing import FOLDERS, described
from faultatlas.report.package.loading import Content, load, own_files
from faultatlas.report.package.verifying import CLAIMS, ROWS, claims_text

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.data.settings import About, Settings
    from faultatlas.report.package.cleaning import Cleaner
    from faultatlas.report.package.facts import Facts

FILE = f"{archive.ROOT}.zip"
REPORT = "report"


@dataclass(frozen=True)
class Packed:
    """What came of it."""

    path: Path
    files: int
    size: int
    claims: int
    cannot: dict[str, str]  # by claim why it cannot be verified
    missing: list[str]  # that study.toml does not say
    unsearched: list[str]  # names of raters that are ordinary words
    packages: tuple[str, ...]  # published ones that stay behind


def pack(study: Study, options: Options, out: Path | None = None) -> Packed:
    """Make the package; the study is only read."""
    target = out or study.directory / "out" / FILE
    if target.is_dir():
        raise StudyError(f"{target} is a folder", "Name the .zip file to write.")
    settings = read_settings(study.directory)
    with study.reading() as reader:
        without = left_out(reader)
        cleaner = cleaner_of(study, reader, options, settings.about)
        tables = dict(cleaned_tables(reader, cleaner, options, without))
    settings = replace(settings, about=_clean_about(settings, cleaner))
    own = own_files(study.directory, settings)
    content = Content(tables, {name: cleaner.words(text) for name, text in own.items()})
    with tempfile.TemporaryDirectory(prefix="faultatlas-") as temporary:
        workshop = Path(temporary)
        copy = load(workshop / "study", content)
        with copy.reading() as reader:
            views = dict(rows.views(reader))
            ids = rows.artifact_ids(reader)
        entries = entries_of(study, copy, cleaner, options, without)
        with copy.reading() as reader:
            told = facts.gather(
                reader, settings.about, options,
                version=provenance.program_version(), entries=entries, without=without,
            )  # fmt: skip
        files = {
            **_rows(content, views),
            **_papers(told, content, {*views}),
            rows.IDS: rows.csv_of(
                ["artifact_id", "kind", "source", "project", "url"],
                ([*row.values()] for row in ids),
            ),
            **_report(copy, told, workshop / REPORT, draw=settings.figures),
        }
    described_ = described(files, told.views)
    files[metadata.CRATE] = metadata.crate(told, files, described_).encode()
    _look_once_more(study, cleaner, options, {**tables, **views}, files)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        archive.write(target, files)
    except OSError as error:
        raise explained(error, target) from error
    return _packed(target, files, told, cleaner)


def _clean_about(settings: Settings, cleaner: Cleaner) -> About:
    """Title and description are words like any other; authors are meant to be named."""
    about = settings.about
    return replace(
        about,
        title=cleaner.words(about.title),
        description=cleaner.words(about.description),
        keywords=[*map(cleaner.words, about.keywords)],
    )


def _rows(content: Content, views: Mapping[str, pa.Table]) -> dict[str, bytes]:
    """The rows for the verification, and those for readers."""
    found = {f"{ROWS}/{name}.parquet": rows.parquet(each) for name, each in content.tables.items()}
    found |= {f"{ROWS}/{name}": text.encode() for name, text in content.files.items()}
    for name, each in views.items():
        found[f"{reading_copies.FOLDER}/{name}.parquet"] = rows.parquet(each)
        found[f"{reading_copies.FOLDER}/{name}.csv"] = rows.csv_bytes(each)
    return found


def _papers(told: Facts, content: Content, shown: set[str]) -> dict[str, bytes]:
    """What is written for readers, archives and programs."""
    taxonomies = _taxonomies(content)
    more = {"with_texts": told.options.with_texts, "double_blind": told.options.double_blind}
    texts = {
        CLAIMS: claims_text(told.title, told.version, told.entries, **more),
        "README.md": documents.readme(told, FILE, FOLDERS),
        "LICENSE": documents.licence(told),
        "ATTRIBUTION.md": documents.attribution(told),
        "REFETCH.md": documents.refetch(told),
        "codebook.md": documents.codebook(told, taxonomies, shown),
        "datasheet.md": datasheet.datasheet(told),
        metadata.CITATION: metadata.citation(told),
        metadata.ZENODO: metadata.zenodo(told),
        **{f"taxonomies/{name}-{version}.yaml": text for name, version, text in taxonomies},
    }
    found = {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    if claims := reading_copies.claims_csv(told.entries):
        found[reading_copies.CLAIMS] = claims
    return found


def _taxonomies(content: Content) -> list[tuple[str, str, str]]:
    """The taxonomies that labels were given with: name, version, text."""
    table = content.tables.get("taxonomy_text")
    found = table.to_pylist() if table is not None else []
    return sorted((row["taxonomy"], row["version"], row["text"]) for row in found)


def _report(copy: Study, told: Facts, folder: Path, *, draw: bool) -> dict[str, bytes]:
    """The report of the copy, and so of nothing that is not in the package."""
    from faultatlas.report.sections import Material, sections
    from faultatlas.report.study.building import stored_results, write

    with copy.reading() as reader:
        found = sections(Material(reader, stored_results(reader)))
    write(told.title, found, folder, draw=draw)
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {f"{REPORT}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in paths}


def _look_once_more(
    study: Study,
    cleaner: Cleaner,
    options: Options,
    tables: Mapping[str, pa.Table],
    files: Mapping[str, bytes],
) -> None:
    home = Path.home()
    places = [study.directory.resolve(), *([home] if len(home.parts) > 2 else [])]  # not /root
    scanner = scanning.Scanner(cleaner, map(str, places), double_blind=options.double_blind)
    loose = f"{REPORT}/" if options.with_texts else ""
    scanning.refuse(scanning.scan(scanner, tables, files, loose=loose))


def _packed(target: Path, files: Mapping[str, bytes], told: Facts, cleaner: Cleaner) -> Packed:
    cannot = {name: why for entry in told.entries for name, why in entry.cannot.items()}
    return Packed(
        path=target,
        files=len(files) + 1,
        size=target.stat().st_size,
        claims=sum(len(entry.result.claims) for entry in told.entries),
        cannot=cannot,
        missing=told.missing,
        unsearched=cleaner.unsearched,
        packages=told.without.packages,
    )
