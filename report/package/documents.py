"""The papers of a package in Markdown: what it is, how it is verified, what its words mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from faultatlas.data.taxonomy_library import taxonomy_of_text
from faultatlas.report import formatting
from faultatlas.report.claims.check import number
from faultatlas.report.package import archive, rows
from faultatlas.report.package.facts import LICENCES, Facts
from faultatlas.report.study.markdown import escape

if TYPE_CHECKING:
    from faultatlas.data.old.results import Claim

_MOST_CLAIMS = 500  # in the README; claims.csv has all


def lines_of(lines: Iterable[str]) -> str:
    """A file of these lines."""
    return "\n".join(lines).rstrip("\n") + "\n"


def readme(facts: Facts, file: str, folders: Mapping[str, str]) -> str:
    """What the package is, how to verify it, and its claims."""
    return lines_of(_readme(facts, file, folders))


def _readme(facts: Facts, file: str, folders: Mapping[str, str]) -> Iterator[str]:
    yield from (f"# {escape(facts.title)}: replication package", "")
    if facts.about.description:
        yield from (escape(facts.about.description), "")
    if facts.options.double_blind:
        yield from ("Anonymous for double-blind review.", "")
    yield from _verification(facts, file)
    yield from ("## What is in it", "", "| file | is |", "|---|---|")
    yield from (f"| `{name}` | {said} |" for name, said in folders.items())
    yield from ("", "## What is not in it", "")
    yield from (f"- {said}" for said in _absent(facts))
    yield from ("", "## Claims", "")
    yield from _claims(facts)
    if facts.missing:
        yield from (
            "## Still to be said",
            "",
            f"`study.toml` does not say: {', '.join(facts.missing)}.",
            "",
        )


def _verification(facts: Facts, file: str) -> Iterator[str]:
    claims = [claim for entry in facts.entries for claim in entry.result.claims]
    open_ones = sum(len(entry.cannot) for entry in facts.entries)
    yield from ("## How to verify it", "")
    yield from (
        "```sh",
        f"pip install faultatlas=={facts.version}",
        f"report package --verify {file}",
        "```",
        "",
    )
    said = f"It computes {formatting.counted(len(claims) - open_ones, 'claim')} again from the rows"
    said += " in this package, in a database that reaches neither files nor the network, and fails"
    said += " if one comes out otherwise."
    if open_ones:
        said += f" {formatting.counted(open_ones, 'claim')} cannot be verified from it;"
        said += " the table of claims says why."
    yield from (said, "", f"`sha256sum --check {archive.SUMS}` checks the files alone.", "")


def _absent(facts: Facts) -> Iterator[str]:
    if facts.options.with_texts:
        yield (
            "People: authors and mentions are pseudonyms, addresses of mail are taken out. Texts "
            "keep the licence of their source: see ATTRIBUTION.md."
        )
    else:
        yield (
            f"Texts of issues, posts, comments, commits and abstracts. `{rows.IDS}` names them and "
            "REFETCH.md has the commands that fetch them again."
        )
    yield "Names of raters, who are `rater-01` and so on, and what they wrote to each other."
    yield "Answers of servers as they came, accounts, and names of files."
    for name in facts.without.packages:
        yield f"The rows of the published package of {escape(name)}: no licence allows it."
    if facts.without.rounds:
        listed = ", ".join(map(escape, facts.without.rounds))
        yield f"Rounds of labels that came from there: {listed}."


def _claims(facts: Facts) -> Iterator[str]:
    found = [
        (claim, entry.cannot.get(claim.claim_id, ""))
        for entry in facts.entries
        for claim in entry.result.claims
    ]
    yield from ("| claim | says | value | from the package |", "|---|---|--:|---|")
    for claim, cannot in found[:_MOST_CLAIMS]:
        yield f"| {_code(claim.claim_id)} | {_says(claim)} | {escape(number(claim))} | " + (
            f"no: {escape(cannot)} |" if cannot else "yes |"
        )
    yield ""
    if len(found) > _MOST_CLAIMS:
        yield from (f"The first {_MOST_CLAIMS} of {len(found):,}; claims.csv has all.", "")


def _says(claim: Claim) -> str:
    return escape(claim.statement[:300])


def _code(text: str) -> str:
    return f"`{formatting.plain(text).replace('`', '').replace('|', '')}`"


def refetch(facts: Facts) -> str:
    """How the texts are fetched again."""
    sources = facts.sources
    said = ["# Fetching the texts again", ""]
    said += [
        f"`{rows.IDS}` has the id and the address of each artifact. In a new folder:",
        "",
        "```sh",
    ]
    if {"github", "gitee", "stackoverflow"} & {*sources}:
        said.append(f"miner fetch --from {rows.IDS}        # issues, pull requests and posts")
    projects = sorted({str(each) for each in facts.projects if "/" in str(each)})
    if "git" in sources:
        said += [f"miner commits {each}" for each in projects if not each.startswith("local/")]
    if "paper" in sources:
        said.append('miner papers "..."        # searches: data/paper_records.csv')
    said += ["```", ""]
    said.append("What was deleted at its source since then cannot be fetched; its labels are here.")
    return lines_of(said)


def attribution(facts: Facts) -> str:
    """Whose texts are in the package, and under which licence."""
    said = ["# Attribution", ""]
    if not facts.options.with_texts:
        said.append("No text of an issue, post, comment or commit is in this package.")
        return lines_of(said)
    said += ["Texts keep the licence of their source:", ""]
    said += [f"- {name}: {LICENCES.get(name, 'not known')}" for name in facts.sources]
    said += ["", "| text | address | author (pseudonym) | licence |", "|---|---|---|---|"]
    said += [
        f"| {_code(str(each['artifact_id']))} | {formatting.plain(each['url'] or '')} | "
        f"{escape(each['author'] or '')} | "
        f"{escape(each['license'] or LICENCES.get(each['source'], 'not known'))} |"
        for each in facts.texts
    ]
    return lines_of(said)


def licence(facts: Facts) -> str:
    """Under which licence the package is, as far as its makers can say."""
    name = facts.about.licence
    if not name:
        return lines_of(
            [
                "No licence is stated yet: without one nobody may use this package.",
                "Its authors write it into study.toml, such as: [study] licence = CC-BY-4.0",
            ]
        )
    return lines_of(
        [
            f"SPDX-License-Identifier: {name}",
            "",
            f"Labels, tables, taxonomies, figures and documents of this package: {name},",
            f"https://spdx.org/licenses/{name}.html",
            "",
            "Shipped taxonomies and rows of published packages keep the licence of their source,",
            "which each of them names; texts that were mined keep theirs (ATTRIBUTION.md).",
        ]
    )


def codebook(facts: Facts, taxonomies: Sequence[tuple[str, str, str]], shown: set[str]) -> str:
    """The categories with their definitions, and the columns of all tables."""
    said = ["# Codebook", ""]
    for name, version, text in taxonomies:
        tree = taxonomy_of_text(text, name)
        said += [f"## {escape(tree.title)} ({_code(name)}, version {escape(version)})", ""]
        said += [f"Source: {escape(tree.source)}", "", f"Question: {escape(tree.question)}", ""]
        said += ["| code | category | is | is not |", "|---|---|---|---|"]
        said += [
            f"| {_code(node.code)} | {escape(node.name)} | {escape(node.definition)} | "
            f"{escape(node.not_this)} |"
            for node in tree.nodes
        ]
        said.append("")
    said += ["## Tables", "", "Each is in `data/` as Parquet and as CSV. Times are UTC.", ""]
    for view in sorted(shown):
        said += [f"### {view}", "", escape(facts.views.get(view, "")), ""]
        said += ["| column | type | is |", "|---|---|---|"]
        said += [
            f"| `{each['column_name']}` | {each['data_type']} | {escape(each['comment'] or '')} |"
            for each in facts.columns
            if each["table_name"] == view
        ]
        said.append("")
    return lines_of(said)
