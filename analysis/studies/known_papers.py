"""How many of the papers that a search should find it has found, as surveys validate a search."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from faultatlas.data.errors import StudyError
from faultatlas.report.old.command import old_command
from faultatlas.report.old.console import (
    HERE,
    JsonOption,
    Output,
    QuietOption,
    StudyOption,
    VerboseOption,
    open_study,
)

if TYPE_CHECKING:
    from faultatlas.analysis.statistics.shares import Share
    from faultatlas.data.old.results import Claim, Result, Table
    from faultatlas.data.study import Reader, Study

NAME = "known-papers"

_RULE = (
    "A known paper is found where a record of the study has its DOI, or else its title and a year "
    "that differs by one at most."
)
_WARNING = (
    "A list that was itself read with `miner papers --from` is found by that file: look at the "
    "searches one by one."
)
_LONG = 15  # rows; more of them start closed
_LISTS = "SELECT list, count(*) AS papers FROM known_papers GROUP BY list ORDER BY list"
_KNOWN = (
    "SELECT position, title, year, doi, artifact_id FROM known_papers "
    "WHERE list = ? ORDER BY position"
)
_FOUND = (
    "SELECT DISTINCT k.position, r.source, r.search FROM known_papers k "
    "JOIN paper_records r USING (artifact_id) WHERE k.list = ? ORDER BY ALL"
)
_SEARCHES = "SELECT DISTINCT source, search FROM paper_records ORDER BY source, search"


def run(study: Study, list_name: str = "") -> Result:
    """Compare a list with what searches and files gave; nothing is stored."""
    from faultatlas.analysis.statistics.shares import wilson_share
    from faultatlas.data.old.results import Result
    from faultatlas.report.formatting import file_stem, interval, percent

    with study.reading() as reader:
        name = _chosen(reader, list_name)
        known = reader.rows(_KNOWN, [name])
        found = reader.rows(_FOUND, [name])
        searches = [(row["source"], row["search"]) for row in reader.rows(_SEARCHES)]
    if not searches:
        raise StudyError(
            "the study has no papers that the list could be compared with",
            "Search first: miner papers --template ml-debugging-survey --source scopus.",
        )
    result_name = f"{NAME}-{file_stem(name)}"
    everywhere = wilson_share(sum(row["artifact_id"] is not None for row in known), len(known))
    by_source = _shares({(row["source"], row["position"]) for row in found}, known, searches)
    by_search = _by_search(found, known, searches)
    missing = [row for row in known if row["artifact_id"] is None]
    share = f"{everywhere.count:,} of {everywhere.total:,} known papers were found"
    if everywhere.percent is not None:
        ends = interval(everywhere.low, everywhere.high, "percent")
        share += f" ({percent(everywhere.percent)}, 95 % interval {ends})"
    return Result(
        analysis=NAME,
        name=result_name,
        title=f"Known papers of {name} that were found",
        parameters={"list": name},
        summary=(f"{share}.", _missing_words(missing)),
        claims=_claims(result_name, name, everywhere, by_source, by_search),
        tables=_tables(by_source, by_search, missing),
        notes=(
            _RULE,
            _WARNING,
        ),
        document={
            "list": name,
            "found": _plain(everywhere),
            "by_source": {
                _key(source): {"source": source, **_plain(each)}
                for source, each in by_source.items()
            },
            "by_search": {
                _key(*each): {"source": each[0], "search": each[1], **_plain(of)}
                for each, of in by_search.items()
            },
            "missing": [{**row, "artifact_id": None} for row in missing],
        },
    )


def again(study: Study, parameters: dict[str, Any]) -> Result:
    """The result once more, of its parameters."""
    return run(study, str(parameters["list"]))


@old_command("known-papers")
def command(
    list_name: Annotated[
        str, typer.Argument(metavar="[LIST]", help="Name of the list; else the only one.")
    ] = "",
    study: StudyOption = HERE,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Show how many papers of a list the searches found, by source and search, and which not.

    A survey validates its search so: papers that everybody in the field knows must be among the
    results. `miner papers --known` loads such a list.

    Examples:

        analysis known-papers survey

        analysis known-papers survey --json
    """
    from faultatlas.data import provenance
    from faultatlas.report.publish import publish, show

    output = Output(as_json, quiet, verbose)
    opened = open_study(study, output)
    begun = provenance.begin(f"analysis {NAME}", {"list": list_name} if list_name else {})
    result = run(opened, list_name)
    show(output, result, publish(opened, result, begun))


def _chosen(reader: Reader, wanted: str) -> str:
    lists = [row["list"] for row in reader.rows(_LISTS)]
    if not lists:
        raise StudyError(
            "the study has no list of known papers",
            "Load one: miner papers --known survey, or --known NAME --from FILE.",
        )
    if not wanted and len(lists) == 1:
        return str(lists[0])
    if wanted not in lists:
        raise StudyError(
            f"there is no list {wanted!r}" if wanted else "there are several lists",
            f"Name one of: {', '.join(lists)}.",
        )
    return wanted


def _shares(
    pairs: set[tuple[str, int]], known: list[dict[str, Any]], searches: list[tuple[str, str]]
) -> dict[str, Share]:
    from faultatlas.analysis.statistics.shares import wilson_share

    counts: dict[str, int] = defaultdict(int)
    for source, _position in pairs:
        counts[source] += 1
    names = dict.fromkeys(source for source, _search in searches)
    return {name: wilson_share(counts[name], len(known)) for name in names}


def _by_search(
    found: list[dict[str, Any]], known: list[dict[str, Any]], searches: list[tuple[str, str]]
) -> dict[tuple[str, str], Share]:
    from faultatlas.analysis.statistics.shares import wilson_share

    positions: dict[tuple[str, str], set[int]] = defaultdict(set)
    for row in found:
        positions[row["source"], row["search"]].add(row["position"])
    return {each: wilson_share(len(positions[each]), len(known)) for each in searches if each[1]}


def _claims(
    result_name: str,
    name: str,
    everywhere: Share,
    by_source: dict[str, Share],
    by_search: dict[tuple[str, str], Share],
) -> tuple[Claim, ...]:
    from faultatlas.data.schema import literal

    def found_by(*conditions: str) -> str:
        return (
            "SELECT k.position, k.title, r.artifact_id, r.record_id, r.source, r.search, "
            "r.matched_by, r.response_id, r.run_id FROM known_papers k "
            "JOIN paper_records r USING (artifact_id) "
            f"WHERE {' AND '.join(conditions)} ORDER BY k.position, r.record_id"
        )

    listed = f"k.list = {literal(name)}"
    whole = (
        "SELECT k.position, k.title, k.year, k.doi, k.artifact_id, k.run_id FROM known_papers k "
        f"WHERE {listed} ORDER BY k.position"
    )
    said = f"of the known papers of {name}"
    claims = [
        _claim(result_name, name, "found", f"Share {said} that were found", everywhere, whole)
    ]
    for source, share in by_source.items():
        rows = found_by(listed, f"r.source = {literal(source)}")
        key, statement = f"by_source.{_key(source)}", f"Share {said} that {source} gave"
        claims.append(_claim(result_name, name, key, statement, share, rows))
    for (source, search), share in by_search.items():
        is_meant = f"r.source = {literal(source)}", f"r.search = {literal(search)}"
        key, statement = f"by_search.{_key(source, search)}", f"{said} that {source} gave"
        statement = f"Share {statement} for {search}"
        rows = found_by(listed, *is_meant)
        claims.append(_claim(result_name, name, key, statement, share, rows))
    return tuple(claims)


def _claim(
    result_name: str,
    list_name: str,
    key: str,
    statement: str,
    share: Share,
    rows: str,
) -> Claim:
    from faultatlas.data.old.results import Claim

    return Claim(
        claim_id=f"{result_name}.{key.replace('_', '-')}",
        statement=statement,
        value=share.percent,
        unit="percent",
        query=f"{NAME}(list={list_name}): {key}.percent",
        count=share.count,
        total=share.total,
        low=share.low,
        high=share.high,
        method=share.method,
        rows_query=rows,
    )


def _plain(share: Share) -> dict[str, Any]:
    return {
        "count": share.count,
        "total": share.total,
        "percent": share.percent,
        "interval": [share.low, share.high],
        "method": share.method,
    }


def _key(source: str, search: str = "") -> str:
    """A source or a search as part of a name: an index by its own, others with a digest."""
    import hashlib  # not at the top: `--help` imports this module, and OpenSSL takes its time

    if source.isalnum() and not search:
        return source
    word = re.sub(r"[^a-z0-9]+", "-", source.lower()).strip("-")[:40]
    said = f"{source}\n{search}".encode()
    return f"{word}-{hashlib.blake2b(said, digest_size=4).hexdigest()}"


def _tables(
    by_source: dict[str, Share],
    by_search: dict[tuple[str, str], Share],
    missing: list[dict[str, Any]],
) -> tuple[Table, ...]:
    """What there is something to say of."""
    tables = [_sources(by_source)]
    tables += [_search_table(by_search)] if by_search else []
    return (*tables, *([_missing_table(missing)] if missing else []))


def _missing_words(missing: list[dict[str, Any]]) -> str:
    if not missing:
        return "None is missing."
    first = "; ".join(row["title"] for row in missing[:3])
    more = f"; and {len(missing) - 3:,} more" if len(missing) > 3 else ""
    return f"Missing: {first}{more}."


def _share_cells(share: Share) -> tuple[Any, ...]:
    from faultatlas.report.formatting import interval

    return share.count, share.percent, interval(share.low, share.high, "percent")


def _sources(shares: dict[str, Share]) -> Table:
    from faultatlas.data.old.results import Column, Table

    columns = (Column("source", "Source"), *_share_columns())
    rows = tuple((source, *_share_cells(share)) for source, share in shares.items())
    return Table("sources", "Known papers found, by source", columns, rows)


def _search_table(shares: dict[tuple[str, str], Share]) -> Table:
    from faultatlas.data.old.results import Column, Table

    columns = (Column("search", "Search"), Column("source", "Source"), *_share_columns())
    rows = tuple(
        (search, source, *_share_cells(share)) for (source, search), share in shares.items()
    )
    return Table("searches", "Known papers found, by search", columns, rows)


def _share_columns() -> tuple[Any, ...]:
    from faultatlas.data.old.results import Column

    return (
        Column("found", "Found", "count"),
        Column("percent", "Share", "percent"),
        Column("interval", "95 % interval", "interval"),
    )


def _missing_table(missing: list[dict[str, Any]]) -> Table:
    from faultatlas.data.old.results import Column, Table

    columns = (
        Column("position", "No.", "count"),
        Column("title", "Title"),
        Column("year", "Year", "code"),
        Column("doi", "DOI", "code"),
    )
    rows = tuple(
        (row["position"], row["title"], str(row["year"] or ""), row["doi"] or "") for row in missing
    )
    is_long = len(rows) > _LONG
    return Table("missing", "Known papers that were not found", columns, rows, folded=is_long)
