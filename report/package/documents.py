"""The documents of a package: Markdown from templates, files for archives and citation tools."""

from __future__ import annotations

import functools
import hashlib
import json
import mimetypes
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import yaml

from faultatlas.data.settings import About, Author
from faultatlas.data.taxonomy_library import taxonomy_of_text
from faultatlas.report import formatting
from faultatlas.report.claims.check import number
from faultatlas.report.package.archive import SUMS
from faultatlas.report.package.contents import IDS
from faultatlas.report.study.markdown import escape

if TYPE_CHECKING:
    from jinja2 import Environment

    from faultatlas.data.study import Reader
    from faultatlas.report.package.claims import Entry
    from faultatlas.report.package.contents import Omitted, Options

ANONYMOUS = "Anonymous"
UNTITLED = "Untitled study"
CITATION, ZENODO, CRATE = "CITATION.cff", ".zenodo.json", "ro-crate-metadata.json"

_TEMPLATES = Path(__file__).parent.parent / "templates"
_DOCUMENTS = ("README.md", "LICENSE", "ATTRIBUTION.md", "REFETCH.md", "codebook.md", "datasheet.md")
_MOST_CLAIMS = 500  # in the README; claims.csv has all
_QUERIES = {
    "artifacts": """
        SELECT source, kind, count(*) AS artifacts, min(created_at)::DATE::VARCHAR AS first,
            max(created_at)::DATE::VARCHAR AS last, count(gone_at) AS gone
        FROM artifacts WHERE kind IS NOT NULL GROUP BY source, kind ORDER BY source, kind""",
    "projects": """
        SELECT DISTINCT project FROM artifacts WHERE source <> 'paper' AND project IS NOT NULL
        ORDER BY project""",
    "rounds": """
        SELECT round, taxonomy, taxonomy_version, len(raters) AS raters, item_count
        FROM rounds ORDER BY round""",
    "funnel": """
        SELECT step, predicate, sum(rows_in)::BIGINT AS rows_in, sum(rows_out)::BIGINT AS rows_out
        FROM funnel GROUP BY step, predicate, position ORDER BY position""",
    "views": "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal",
    "columns": """
        SELECT table_name, column_name, data_type, comment FROM duckdb_columns()
        WHERE schema_name = 'main' AND NOT internal ORDER BY table_name, column_index""",
    "texts": """
        SELECT a.artifact_id, a.source, a.url, a.author, p.license FROM artifacts a
            LEFT JOIN store.post p USING (artifact_id)
            WHERE a.kind IS NOT NULL AND a.kind <> 'paper'
        UNION ALL SELECT comment_id, 'stackoverflow', url, author, license FROM store.reply
        UNION ALL SELECT comment_id, regexp_extract(artifact_id, '^[a-z]+'), url, author, NULL
            FROM store.comment ORDER BY ALL""",
}


@functools.cache
def _words() -> dict[str, dict[str, str]]:
    text = (_TEMPLATES / "package.toml").read_text(encoding="utf-8")
    words: dict[str, dict[str, str]] = tomllib.loads(text)
    return words


@dataclass(frozen=True)
class Facts:
    """What the documents say about a package."""

    about: About
    options: Options
    version: str  # of the program
    entries: Sequence[Entry]
    without: Omitted
    rows: Mapping[str, Sequence[Mapping[str, Any]]]  # by the name of a query

    @property
    def title(self) -> str:
        """The title of the study."""
        return self.about.title or UNTITLED

    @property
    def missing(self) -> list[str]:
        """What a publication needs and `study.toml` does not say."""
        hidden = {"authors"} if self.options.double_blind else set()
        return [
            words
            for name, words in _words()["needed"].items()
            if name not in hidden and not getattr(self.about, name)
        ]

    @property
    def sources(self) -> list[str]:
        """Where artifacts are from."""
        return sorted({row["source"] for row in self.rows["artifacts"]})

    @property
    def views(self) -> dict[str, str]:
        """What one row of each view is."""
        return {row["view_name"]: row["comment"] or "" for row in self.rows["views"]}


def gather(
    reader: Reader,
    about: About,
    options: Options,
    *,
    version: str,
    entries: Sequence[Entry],
    without: Omitted,
) -> Facts:
    """The facts of a package, counted on the study that is in it."""
    if options.double_blind:
        about = replace(about, authors=[], doi="", paper="")
    rows = {
        name: reader.rows(sql)
        for name, sql in _QUERIES.items()
        if name != "texts" or options.with_texts
    }
    return Facts(about, options, version, entries, without, rows)


# --- Markdown ----------------------------------------------------------------------------


def documents(
    facts: Facts, taxonomies: Sequence[tuple[str, str, str]], shown: Iterable[str], file: str
) -> dict[str, str]:
    """All documents by name. `taxonomies` are name, version and text; `shown` are views."""
    records = [
        (claim, entry.unverifiable.get(claim.claim_id, ""))
        for entry in facts.entries
        for claim in entry.result.claims
    ]
    values = {
        "facts": facts,
        "file": file,
        **_words(),
        **facts.rows,
        "projects": [str(row["project"]) for row in facts.rows["projects"]],
        "ids": IDS,
        "sums": SUMS,
        "claims": records[:_MOST_CLAIMS],
        "claim_count": len(records),
        "unverifiable": sum(len(entry.unverifiable) for entry in facts.entries),
        "taxonomies": [
            (taxonomy_of_text(text, name), name, version) for name, version, text in taxonomies
        ],
        "shown": sorted(shown),
    }
    texts = {}
    for name in _DOCUMENTS:
        template = _environment().get_template(f"{name.removesuffix('.md')}.md.j2")
        texts[name] = f"{template.render(values).rstrip()}\n"
    return {**texts, CITATION: citation(facts), ZENODO: zenodo(facts)}


class _Markup(str):
    """Markdown that a template may show as it is."""

    __slots__ = ()


@functools.cache
def _environment() -> Environment:
    """Templates of Markdown, with every value escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(  # noqa: S701 - Markdown, not HTML: `finalize` escapes it
        loader=FileSystemLoader(_TEMPLATES),
        undefined=StrictUndefined,
        finalize=lambda value: value if isinstance(value, _Markup) else escape(str(value)),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "code": _code,
        "address": lambda text: _Markup(formatting.plain(text)),
        "count": formatting.count,
        "counted": formatting.counted,
        "number": number,
    }
    return environment


def _code(text: str) -> _Markup:
    return _Markup(f"`{formatting.plain(text).replace('`', '').replace('|', '')}`")


# --- for archives and citation tools -----------------------------------------------------


def citation(facts: Facts) -> str:
    """How the package is cited, as GitHub and Zenodo read it."""
    about = facts.about
    unnamed = ANONYMOUS if facts.options.double_blind else "The authors of the study"
    authors = [_cited(author) for author in about.authors] or [{"name": unnamed}]
    fields = {
        "cff-version": "1.2.0",
        "message": "If you use this package, please cite it.",
        "title": f"{facts.title}: replication package",
        "type": "dataset",
        "authors": authors,
        "abstract": about.description,
        "license": about.licence,
        "version": about.version,
        "date-released": about.date,
        "doi": about.doi,
        "keywords": list(about.keywords),
    }
    if about.paper:
        paper = {"type": "article", "title": facts.title, "authors": authors, "doi": about.paper}
        fields["references"] = [paper]
    # Without anchors for the authors, who are there twice.
    plain = json.loads(json.dumps({name: value for name, value in fields.items() if value}))
    return yaml.safe_dump(plain, allow_unicode=True, sort_keys=False, width=1_000)


def _cited(author: Author) -> dict[str, str]:
    family, _comma, given = (part.strip() for part in author.name.partition(","))
    name = {"family-names": family, "given-names": given} if given else {"name": author.name}
    orcid = f"https://orcid.org/{author.orcid}" if author.orcid else ""
    fields = {**name, "orcid": orcid, "affiliation": author.affiliation}
    return {key: value for key, value in fields.items() if value}


def zenodo(facts: Facts) -> str:
    """What Zenodo fills its form with."""
    about = facts.about
    creators = [
        {name: value for name, value in vars(author).items() if value} for author in about.authors
    ]
    related = [{"identifier": about.paper, "relation": "isSupplementTo"}] if about.paper else []
    fields = {
        "title": f"{facts.title}: replication package",
        "upload_type": "dataset",
        "description": about.description or f"Replication package: {facts.title}",
        "creators": creators or ([{"name": ANONYMOUS}] if facts.options.double_blind else []),
        "license": about.licence.lower(),
        "keywords": list(about.keywords),
        "version": about.version,
        "publication_date": about.date,
        "related_identifiers": related,
    }
    return _json({name: value for name, value in fields.items() if value})


def crate(facts: Facts, files: Mapping[str, bytes]) -> str:
    """The package as an RO-Crate: every file with what it is. `files` are all but this one."""
    about = facts.about
    people = [_person(place, author) for place, author in enumerate(about.authors, 1)]
    names = sorted({*files, SUMS})
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{facts.title}: replication package",
        "description": about.description or f"Replication package: {facts.title}",
        "hasPart": [{"@id": name} for name in names],
        "author": [{"@id": person["@id"]} for person in people],
        "keywords": ", ".join(about.keywords),
        "version": about.version,
        "datePublished": about.date,
        "identifier": f"https://doi.org/{about.doi}" if about.doi else "",
        "citation": {"@id": f"https://doi.org/{about.paper}"} if about.paper else "",
        "license": {"@id": _spdx(about.licence)} if about.licence else "",
    }
    graph: list[dict[str, Any]] = [
        {
            "@id": CRATE,
            "@type": "CreativeWork",
            "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
            "about": {"@id": "./"},
        },
        {name: value for name, value in root.items() if value},
        *people,
    ]
    if about.licence:
        graph.append({"@id": _spdx(about.licence), "@type": "CreativeWork", "name": about.licence})
    if about.paper:
        graph.append({"@id": f"https://doi.org/{about.paper}", "@type": "ScholarlyArticle"})
    graph += [_file(name, files.get(name), facts.views) for name in names]
    return _json({"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph})


def _file(name: str, content: bytes | None, views: Mapping[str, str]) -> dict[str, Any]:
    path = PurePosixPath(name)
    kind = _words()["media_types"].get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    fields = {"@id": name, "@type": "File", "name": name, "encodingFormat": kind}
    if description := _description(path, views):
        fields["description"] = description
    if content is not None:
        fields["contentSize"] = str(len(content))
        fields["sha256"] = hashlib.sha256(content).hexdigest()
    return fields


def _description(path: PurePosixPath, views: Mapping[str, str]) -> str:
    """What a file is, in words."""
    name, folder = path.as_posix(), path.parts[0]
    if name == "README.md":
        return "What the package is, how to verify it, and its claims"
    if folder == "data":
        return views.get(path.stem, "")
    if folder == "study" and path.suffix == ".parquet":
        return f"Rows of the table {path.stem}, as the verification loads them"
    if folder == "taxonomies":
        return f"The taxonomy {path.stem}"
    files = _words()["files"]
    return files.get(name, files.get(f"{folder}/", "")).capitalize()


def _person(place: int, author: Author) -> dict[str, Any]:
    fields = {
        "@id": f"https://orcid.org/{author.orcid}" if author.orcid else f"#author-{place}",
        "@type": "Person",
        "name": author.name,
        "affiliation": author.affiliation,
    }
    return {name: value for name, value in fields.items() if value}


def _spdx(licence: str) -> str:
    return f"https://spdx.org/licenses/{licence}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
