"""What archives and citation tools read: CITATION.cff, Zenodo's JSON, an RO-Crate 1.1."""

from __future__ import annotations

import hashlib
import json
import mimetypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from faultatlas.report.package.archive import SUMS
from faultatlas.report.package.facts import ANONYMOUS, Facts

if TYPE_CHECKING:
    from faultatlas.data.settings import Author

CITATION = "CITATION.cff"
ZENODO = ".zenodo.json"
CRATE = "ro-crate-metadata.json"

_UNSAID = "The authors of the study"  # where the study does not name them
_FORMATS = {
    ".parquet": "application/vnd.apache.parquet",
    ".md": "text/markdown",
    ".yaml": "application/yaml",
    ".toml": "application/toml",
    ".tex": "application/x-tex",
    ".cff": "application/yaml",
}


def citation(facts: Facts) -> str:
    """How the package is cited, as GitHub and Zenodo read it."""
    about = facts.about
    lines = [
        "cff-version: 1.2.0",
        "message: If you use this package, please cite it.",
        f"title: {_quoted(f'{facts.title}: replication package')}",
        "type: dataset",
        "authors:",
    ]
    if facts.options.double_blind or not about.authors:
        lines.append(f"  - name: {_quoted(ANONYMOUS if facts.options.double_blind else _UNSAID)}")
    for author in about.authors:
        lines += _cited(author)
    for key, value in (
        ("abstract", about.description),
        ("license", about.licence),
        ("version", about.version),
        ("date-released", about.date),
        ("doi", about.doi),
    ):
        if value:
            lines.append(f"{key}: {_quoted(value)}")
    if about.keywords:
        lines += ["keywords:", *(f"  - {_quoted(each)}" for each in about.keywords)]
    if about.paper:
        lines += [
            "references:",
            "  - type: article",
            f"    title: {_quoted(facts.title)}",
            "    authors:",
            *(f"  {line}" for author in about.authors for line in _cited(author)),
            f"    doi: {_quoted(about.paper)}",
        ]
    return "\n".join([*lines, ""])


def zenodo(facts: Facts) -> str:
    """What Zenodo fills its form with."""
    about = facts.about
    creators = [
        {
            "name": author.name,
            **({"orcid": author.orcid} if author.orcid else {}),
            **({"affiliation": author.affiliation} if author.affiliation else {}),
        }
        for author in about.authors
    ]
    found: dict[str, Any] = {
        "title": f"{facts.title}: replication package",
        "upload_type": "dataset",
        "description": about.description or f"Replication package: {facts.title}",
        "creators": creators or ([{"name": ANONYMOUS}] if facts.options.double_blind else []),
        "license": about.licence.lower(),
        "keywords": list(about.keywords),
        "version": about.version,
        "publication_date": about.date,
        "related_identifiers": [{"identifier": about.paper, "relation": "isSupplementTo"}]
        if about.paper
        else [],
    }
    return _json({key: value for key, value in found.items() if value})


def crate(facts: Facts, files: Mapping[str, bytes], described: Mapping[str, str]) -> str:
    """The package as an RO-Crate: every file with what it is. `files` are all but this one."""
    about = facts.about
    people = [_person(at, author) for at, author in enumerate(about.authors, 1)]
    names = sorted({*files, SUMS})
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{facts.title}: replication package",
        "description": about.description or f"Replication package: {facts.title}",
        "hasPart": [{"@id": name} for name in names],
        "author": [{"@id": each["@id"]} for each in people],
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
        {key: value for key, value in root.items() if value},
        *people,
    ]
    if about.licence:
        graph.append({"@id": _spdx(about.licence), "@type": "CreativeWork", "name": about.licence})
    if about.paper:
        graph.append({"@id": f"https://doi.org/{about.paper}", "@type": "ScholarlyArticle"})
    graph += [_file(name, files.get(name), described.get(name, "")) for name in names]
    return _json({"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": graph})


def _file(name: str, content: bytes | None, said: str) -> dict[str, Any]:
    suffix = f".{name.rpartition('.')[2]}"
    kind = _FORMATS.get(suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    found = {"@id": name, "@type": "File", "name": name, "encodingFormat": kind}
    if said:
        found["description"] = said
    if content is not None:
        found |= {
            "contentSize": str(len(content)),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    return found


def _person(at: int, author: Author) -> dict[str, Any]:
    found = {
        "@id": f"https://orcid.org/{author.orcid}" if author.orcid else f"#author-{at}",
        "@type": "Person",
        "name": author.name,
        "affiliation": author.affiliation,
    }
    return {key: value for key, value in found.items() if value}


def _cited(author: Author) -> list[str]:
    family, _comma, given = author.name.partition(",")
    named = (
        [f"  - family-names: {_quoted(family)}", f"    given-names: {_quoted(given.strip())}"]
        if given.strip()
        else [f"  - name: {_quoted(author.name)}"]
    )
    if author.orcid:
        named.append(f"    orcid: {_quoted(f'https://orcid.org/{author.orcid}')}")
    if author.affiliation:
        named.append(f"    affiliation: {_quoted(author.affiliation)}")
    return named


def _spdx(licence: str) -> str:
    return f"https://spdx.org/licenses/{licence}"


def _quoted(text: str) -> str:
    """A text in YAML: as in JSON."""
    return json.dumps(text, ensure_ascii=False)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
