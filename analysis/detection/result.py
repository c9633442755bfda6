"""The result: tools by types, and what no tool finds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.observations import at_level
from faultatlas.analysis.statistics.shares import Share, wilson_share
from faultatlas.analysis.tallies import naming
from faultatlas.data import evidence
from faultatlas.data.old.results import Cell, Claim, Column, Figure, Result, Series, Table
from faultatlas.report import formatting

if TYPE_CHECKING:
    from faultatlas.analysis.detection.evidence import Found, Known
    from faultatlas.data.taxonomy import Taxonomy

ANALYSIS = "methods"


@dataclass(frozen=True)
class Detection:
    """What was found beside what there is, type by type, in the order of the taxonomy."""

    parameters: dict[str, Any]
    tree: Taxonomy
    found: Found
    known: Known

    @property
    def name(self) -> str:
        """Of the result."""
        return naming.result_name(ANALYSIS, self.parameters, bare=("taxonomy",))

    @property
    def codes(self) -> tuple[str, ...]:
        """All types: those of the level, or the leaves, and what was labelled."""
        used = {*self.known.codes, *self.found.by_code}
        level = self.parameters.get("level")
        leaves = (node.code for node in self.tree.leaves)
        used |= {code if level is None else at_level(self.tree, code, level) for code in leaves}
        return tuple(node.code for node in self.tree.nodes if node.code in used)

    @property
    def missed(self) -> tuple[str, ...]:
        """Types that no tool found, the most frequent first."""
        none = [code for code in self.codes if not self.found.by_code.get(code)]
        return tuple(sorted(none, key=lambda code: -self.known.count([code])))

    def hit_by(self, tool: str) -> tuple[str, ...]:
        """Types that a tool found."""
        return tuple(code for code in self.codes if self.found.counts.get((tool, code)))

    def share(self, codes: Sequence[str]) -> Share:
        """How much of what there is has one of these types."""
        return wilson_share(self.known.count(codes), self.known.total)


def detection_result(of: Detection) -> Result:
    """The result that is stored and shown."""
    missed, codes, found = of.missed, of.codes, of.found
    share = of.share(missed)
    folded = (
        f"{found.before:,} found defects, {found.after:,} when duplicates are folded"
        if found.observations
        else f"{found.after:,} defects of high priority that the paper counts, by all methods"
    )
    ends = formatting.interval(share.low, share.high, "percent")
    listed = f": {', '.join(missed)}" if missed else ""
    none = (
        f"No tool finds {formatting.counted(len(missed), 'type')}{listed}. They are "
        f"{share.count:,} of {share.total:,} defects ({formatting.percent(share.percent or 0.0)}, "
        f"95 % interval {ends})."
    )
    return Result(
        ANALYSIS,
        of.name,
        "Types of defects that testing tools find, and those that none finds",
        of.parameters,
        summary=(f"{folded}; they have {len(codes) - len(missed)} of {len(codes)} types.", none),
        claims=tuple(_claims(of)),
        tables=(_matrix(of), _missed(of)),
        figures=(_figure(of),),
        notes=tuple(_notes(of)),
        sources=tuple(_sources(of)),
        document=_document(of),
    )


def _matrix(of: Detection) -> Table:
    tools = of.found.tools
    columns = (
        Column("code", "Type", "code"),
        Column("name", "Name"),
        *(Column(f"tool-{at}", tool, "count") for at, tool in enumerate(tools, 1)),
        *([Column("any", "Any tool", "count")] if len(tools) > 1 else []),
        Column("known", "Defects", "count"),
        Column("share", "Share", "percent"),
        Column("interval", "Interval", "interval"),
    )
    rows: list[tuple[Cell, ...]] = []
    for code in of.codes:
        share = of.share([code])
        counts = [of.found.counts.get((tool, code), 0) for tool in tools]
        any_tool = [of.found.by_code.get(code, 0)] if len(tools) > 1 else []
        rows.append((
            code, of.tree.node(code).name, *counts, *any_tool, share.count, share.percent,
            formatting.interval(share.low, share.high, "percent"),
        ))  # fmt: skip
    note = "A defect that several tools found counts once under any tool." if tools[1:] else ""
    return Table("types", "Found defects by tool and type", columns, tuple(rows), note)


def _missed(of: Detection) -> Table:
    columns = (
        Column("code", "Type", "code"),
        Column("name", "Name"),
        Column("known", "Defects", "count"),
        Column("share", "Share", "percent"),
        Column("interval", "Interval", "interval"),
    )
    rows = []
    for code in of.missed:
        share = of.share([code])
        ends = formatting.interval(share.low, share.high, "percent")
        rows.append((code, of.tree.node(code).name, share.count, share.percent, ends))
    return Table("missed", "Types that no tool finds", columns, tuple(rows))


def _figure(of: Detection) -> Figure:
    tools = of.found.tools
    return Figure(
        "types",
        "Found defects by tool and type",
        "matrix",
        f"Matrix: rows are {len(of.codes)} types, columns {len(tools)} tools, cells how many "
        f"defects of the type a tool found; empty for none. No tool finds "
        f"{', '.join(of.missed) or 'none of them'}.",
        categories=tools,
        series=tuple(
            Series(
                f"{code} {of.tree.node(code).name}",
                tuple(float(of.found.counts.get((tool, code), 0)) for tool in tools),
            )
            for code in of.codes
        ),
        unit="defects",
    )


def _claims(of: Detection) -> Iterator[Claim]:
    found, missed = of.found, of.missed
    yield _share_claim(of, "missed", "Defects of types that no tool finds", missed)
    hit = len(of.codes) - len(missed)
    yield Claim(
        f"{of.name}.types.found", "Types that a tool finds, of all types", hit, "types",
        f"{_called(of)}: types.found", hit, len(of.codes), rows_query=found.rows_query(),
    )  # fmt: skip
    counts = {"after": (found.after, "Found defects, duplicates folded")}
    if found.observations:
        counts["before"] = (found.before, "Found defects before duplicates are folded")
    for key, (value, statement) in counts.items():
        yield Claim(
            f"{of.name}.found.{key}", statement, value, "defects",
            f"{_called(of)}: found.{key}", rows_query=found.rows_query(),
        )  # fmt: skip
    for code in missed:
        statement = f"Defects of type {code}, which no tool finds"
        yield _share_claim(of, f"missed-types.{naming.key(code)}", statement, [code])
    for tool in found.tools if len(found.tools) > 1 else ():
        statement = f"Defects of types that {tool} finds"
        yield _share_claim(of, f"tools.{naming.key(tool)}", statement, of.hit_by(tool))


def _share_claim(of: Detection, path: str, statement: str, codes: Sequence[str]) -> Claim:
    share = of.share(codes)
    return Claim(
        f"{of.name}.{path}", statement, share.percent, "percent",
        f"{_called(of)}: {path}.percent", share.count, share.total, share.low, share.high,
        share.method, rows_query=of.known.rows_query(codes),
    )  # fmt: skip


def _document(of: Detection) -> dict[str, Any]:
    found, missed = of.found, of.missed
    hit = len(of.codes) - len(missed)
    return {
        "taxonomy": of.tree.name,
        "taxonomy_version": of.tree.version,
        "found": {
            "before": found.before,
            "after": found.after,
            "several_types": found.several_codes,
            "tools": {
                tool: {code: found.counts[tool, code] for code in of.hit_by(tool)}
                for tool in found.tools
            },
        },
        "types": {"found": hit, "all": len(of.codes)},
        "known": {code: of.known.count([code]) for code in of.codes},
        "missed": {**_plain(of.share(missed)), "codes": list(missed)},
        "missed-types": {naming.key(code): _plain(of.share([code])) for code in missed},
        "tools": {naming.key(tool): _plain(of.share(of.hit_by(tool))) for tool in found.tools},
    }


def _plain(share: Share) -> dict[str, Any]:
    return {
        "count": share.count,
        "total": share.total,
        "percent": share.percent,
        "interval": [share.low, share.high],
    }


def _notes(of: Detection) -> Iterator[str]:
    found, known = of.found, of.known
    yield (
        "A type is found if a tool found at least one defect of it; how many more it could find "
        "is not known. Shares are of the defects that people reported, by their final labels: "
        + (f"rounds {', '.join(known.rounds)}." if known.rounds else "published counts.")
    )
    if found.observations:
        score = of.parameters["score"]
        yield (
            "Duplicates: reports of one artifact, and artifacts that links of kind duplicate join "
            f"with a score of at least {score:g}, also through a third one."
        )
    else:
        yield (
            "Section 5.2 of the paper counts no found defect of G2, G3 and G5, but says of these "
            "types that methods can detect crashes in inference. It counts methods together."
        )
    if found.several_codes:
        yield (
            f"{formatting.counted(found.several_codes, 'defect')} with reports of several types: "
            "each counts under each of its types."
        )
    if known.again:
        yield f"{known.again:,} artifacts stand in several rounds and count in the first."


def _sources(of: Detection) -> Iterator[str]:
    if not (of.found.observations and of.known.rounds):
        yield from (each.citation for each in evidence.sources() if each.source_id == "hp-defects")


def _called(of: Detection) -> str:
    return naming.called(ANALYSIS, of.parameters)
