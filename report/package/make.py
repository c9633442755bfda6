"""`report package`: a copy of the study without people and texts, its numbers and its documents."""

from __future__ import annotations

import json
import shlex
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.results import Quantity, Result
from faultatlas.data.schema import schema
from faultatlas.data.settings import About, Settings, read_settings
from faultatlas.data.study import Study
from faultatlas.report.command import Excludes, command
from faultatlas.report.console import Console, explained
from faultatlas.report.formatting import counted, plain
from faultatlas.report.package import archive, contents, people
from faultatlas.report.package.contents import Options

if TYPE_CHECKING:
    import pyarrow as pa

    from faultatlas.report.package.claims import Entry
    from faultatlas.report.package.documents import Facts
    from faultatlas.report.package.people import Cleaner
    from faultatlas.report.sections import Section

FILE = f"{archive.ROOT}.zip"
CLAIMS = "claims.json"
KIND = "faultatlas replication package"
FORMAT = 1
_REPORT = "report"


@command("package")
def package(
    study: Study,
    console: Console,
    out: Annotated[
        Path | None,
        Argument(metavar="[FILE]", help="The .zip to write; else replication-package.zip in out/."),
    ] = None,
    *,
    verify: Annotated[
        Path | None,
        Option(metavar="FILE", help="Compute the claims of this package again instead."),
        Excludes("out", "with_texts", "double_blind", "allow"),
    ] = None,
    with_texts: Annotated[
        bool, Option("--with-texts", help="With the texts of issues, posts and commits.")
    ] = False,
    double_blind: Annotated[
        bool, Option("--double-blind", help="For review: nothing shows whose it is.")
    ] = False,
    allow: Annotated[
        tuple[str, ...], Option(metavar="WORD", help="A word that is not a name. Repeatable.")
    ] = (),
) -> Result:
    """Make a replication package of the study, or verify one without the study.

    People are pseudonyms, raters have numbers, texts are omitted unless you ask for them. If
    anything in it looks like a secret, an e-mail address or a path, no package is made. The study
    is only read.

    Examples:

        report package

        report package review.zip --double-blind

        report package --verify replication-package.zip
    """
    if verify is not None:
        from faultatlas.report.package.verify import verification_result, verify_package

        return verification_result(verify_package(verify), with_all=console.verbose)
    return summary_result(pack(study, Options(with_texts, double_blind, allow), out))


@dataclass(frozen=True)
class PackageSummary:
    """A package that was written."""

    path: Path
    files: int
    size: int
    claims: int
    unverifiable: dict[str, str]  # by claim why it cannot be verified
    missing: list[str]  # what a publication needs and study.toml does not say
    unsearched: list[str]  # names of raters that are ordinary words
    packages: tuple[str, ...]  # published packages whose rows are omitted


def summary_result(summary: PackageSummary) -> Result:
    """What the command prints of it."""
    verifiable = summary.claims - len(summary.unverifiable)
    return Result(
        f"Package: {summary.path} ({counted(summary.files, 'file')}, {summary.size:,} bytes)",
        quantities=(
            Quantity({"claims": "all"}, summary.claims),
            Quantity({"claims": "verifiable"}, verifiable, n=summary.claims),
        ),
        summary=tuple(_sentences(summary, verifiable)),
        data={
            "package": str(summary.path),
            "files": summary.files,
            "bytes": summary.size,
            "claims": summary.claims,
            "cannot_be_verified": summary.unverifiable,
            "missing": summary.missing,
            "raters_not_searched_for": summary.unsearched,
            "published_packages_omitted": list(summary.packages),
        },
    )


def _sentences(summary: PackageSummary, verifiable: int) -> Iterator[str]:
    yield f"{counted(verifiable, 'claim')} can be verified from it."
    yield from reasons(summary.unverifiable.values())
    if summary.unsearched:
        yield (
            "Raters have other names in the package. These names are ordinary words too, so "
            f"sentences were not searched for them: {', '.join(map(plain, summary.unsearched))}"
        )
    if summary.missing:
        yield f"study.toml does not say in [study]: {', '.join(summary.missing)}"
    yield f"Verify it anywhere: report package --verify {shlex.quote(str(summary.path))}"


def reasons(texts: Iterable[str]) -> list[str]:
    """Why claims cannot be verified, each reason once."""
    return [
        f"{counted(number, 'claim')} cannot be verified: {plain(reason)}."
        for reason, number in Counter(texts).items()
    ]


# --- making ------------------------------------------------------------------------------


def pack(study: Study, options: Options, out: Path | None = None) -> PackageSummary:
    """Make the package; the study is only read."""
    from faultatlas.report.package.claims import entries_of
    from faultatlas.report.package.documents import CRATE, crate, gather

    target = out or study.directory / "out" / FILE
    if target.is_dir():
        raise StudyError(f"{target} is a folder", "Name the .zip file to write.")
    settings = read_settings(study.directory)
    with study.reading() as reader:
        without = contents.omitted(reader)
        cleaner = people.cleaner_of(
            study, reader, settings.about, is_blind=options.double_blind, allowed=options.allowed
        )
        tables = dict(contents.cleaned_tables(reader, cleaner, options, without))
    settings = replace(settings, about=_cleaned(settings.about, cleaner))
    own = contents.own_files(study.directory, settings)
    own = {name: cleaner.words(text) for name, text in own.items()}
    with tempfile.TemporaryDirectory(prefix="faultatlas-") as temporary:
        workshop = Path(temporary)
        copy = contents.load(workshop / "study", tables.items(), own)
        with copy.reading() as reader:
            views = dict(contents.views(reader))
            ids = contents.artifact_ids(reader)
        entries = entries_of(study, copy, cleaner, options, without)
        with copy.reading() as reader:
            facts = gather(
                reader, settings.about, options,
                version=provenance.program_version(), entries=entries, without=without,
            )  # fmt: skip
        report, labels = _report(copy, facts.title, workshop / _REPORT, settings)
    files = {
        **_rows(tables, own, views),
        **_documents(facts, tables, views),
        contents.IDS: contents.csv_bytes(ids),
        **report,
    }
    files[CRATE] = crate(facts, files).encode()
    scanner = people.Scanner(cleaner, _places(study), with_texts=options.with_texts)
    people.refuse(people.scan(scanner, {**tables, **views}, files, labels))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        archive.write(target, files)
    except OSError as error:
        raise explained(error, target) from error
    return _summary(target, files, facts, cleaner)


def _cleaned(about: About, cleaner: Cleaner) -> About:
    """Title and description are words like any other; authors are meant to be named."""
    return replace(
        about,
        title=cleaner.words(about.title),
        description=cleaner.words(about.description),
        keywords=[*map(cleaner.words, about.keywords)],
    )


def _rows(
    tables: Mapping[str, pa.Table], own: Mapping[str, str], views: Mapping[str, pa.Table]
) -> dict[str, bytes]:
    """The rows for the verification, and those for readers."""
    files = {
        f"{contents.ROWS}/{name}.parquet": contents.parquet(rows) for name, rows in tables.items()
    }
    files |= {f"{contents.ROWS}/{name}": text.encode() for name, text in own.items()}
    for name, rows in views.items():
        files[f"{contents.READING}/{name}.parquet"] = contents.parquet(rows)
        files[f"{contents.READING}/{name}.csv"] = contents.csv_bytes(rows)
    return files


def _documents(
    facts: Facts, tables: Mapping[str, pa.Table], views: Mapping[str, pa.Table]
) -> dict[str, bytes]:
    """What is written for readers, archives and programs."""
    from faultatlas.report.package.documents import documents

    rows = tables["taxonomy_text"].to_pylist() if "taxonomy_text" in tables else []
    taxonomies = sorted((row["taxonomy"], row["version"], row["text"]) for row in rows)
    texts = {
        CLAIMS: claims_text(facts.title, facts.version, facts.entries, facts.options),
        **documents(facts, taxonomies, views, FILE),
        **{f"taxonomies/{name}-{version}.yaml": text for name, version, text in taxonomies},
    }
    files = {name: contents.encoded(text) for name, text in texts.items()}
    if claims := contents.claims_csv(claim_records(facts.entries)):
        files[contents.CLAIMS] = claims
    return files


def claims_text(title: str, version: str, entries: Sequence[Entry], options: Options) -> str:
    """The numbers of a package and how they are computed, as JSON."""
    document = {
        "kind": KIND,
        "format": FORMAT,
        "title": title,
        "version": version,
        "schema": schema().version,
        "with_texts": options.with_texts,
        "double_blind": options.double_blind,
        "results": [entry.to_json() for entry in entries],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def claim_records(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The rows of `claims.csv`."""
    return [
        {"result": entry.result.name, **record} for entry in entries for record in entry.records()
    ]


def _report(
    copy: Study, title: str, folder: Path, settings: Settings
) -> tuple[dict[str, bytes], dict[str, list[str]]]:
    """The report of the copy, and so of nothing that is not in the package; labels of figures."""
    from faultatlas.report.sections import Material, sections
    from faultatlas.report.study.building import stored_results, write

    with copy.reading() as reader:
        parts = sections(Material(reader, stored_results(reader)))
    write(title, parts, folder, draw=settings.figures)
    files = {
        f"{_REPORT}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return files, figure_labels(parts)


def figure_labels(sections: Iterable[Section]) -> dict[str, list[str]]:
    """The texts of all figures, which a drawing has as outlines only."""
    labels: dict[str, list[str]] = {}
    for section in sections:
        for figure in section.figures:
            labels.setdefault(f"figure {figure.name}", []).extend(people.texts_in(asdict(figure)))
        labels |= figure_labels(section.parts)
    return labels


def _places(study: Study) -> list[str]:
    home = Path.home()
    return [str(study.directory.resolve()), *([str(home)] if len(home.parts) > 2 else [])]  # /root


def _summary(
    target: Path, files: Mapping[str, bytes], facts: Facts, cleaner: Cleaner
) -> PackageSummary:
    return PackageSummary(
        path=target,
        files=len(files) + 1,
        size=target.stat().st_size,
        claims=sum(len(entry.result.claims) for entry in facts.entries),
        unverifiable={
            name: reason for entry in facts.entries for name, reason in entry.unverifiable.items()
        },
        missing=facts.missing,
        unsearched=cleaner.unsearched,
        packages=facts.without.packages,
    )
