"""What changed since an earlier result: faults that became targeted or lost it, papers, growth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from faultatlas.analysis.coverage.catalogue import CODE, FAULT, Entry
from faultatlas.analysis.coverage.corpus import Corpus
from faultatlas.analysis.coverage.earlier import Earlier
from faultatlas.analysis.statistics.estimates import holm
from faultatlas.analysis.statistics.tables import fisher, share_difference
from faultatlas.data.old.results import Cell, Column, Table

LEVEL = 0.05
RULE = (
    "Beyond chance: Fisher's exact test of the labels that were added since against those of then, "
    f"two-sided, below {LEVEL} after Holm's adjustment for all faults with a label. The interval "
    "is Newcombe's for the difference of the two shares. Where a count fell, labels were changed "
    "and not only added: no test."
)
TARGETED = ("targeted", "new")


@dataclass(frozen=True)
class Change:
    """A fault with another status, or a paper that came or went."""

    what: str  # became targeted, lost its target, other status, new paper, paper gone
    code: str  # of the fault; empty for a paper
    name: str
    before: str
    now: str
    papers: tuple[str, ...]  # labels


@dataclass(frozen=True)
class Growth:
    """A fault that is met more (or less) often than before, in one source."""

    code: str
    name: str
    status: str
    source: str
    before: int
    before_total: int
    now: int
    now_total: int
    difference: float | None = None  # of the added labels' share to that of then, in points
    low: float | None = None
    high: float | None = None
    p_holm: float | None = None

    @property
    def verdict(self) -> str:
        """In words, by the rule."""
        if self.p_holm is None:
            return "not tested"
        if self.p_holm >= LEVEL:
            return "within chance"
        return "grew" if (self.difference or 0) > 0 else "shrank"


def changes(entries: Sequence[Entry], corpus: Corpus, earlier: Earlier) -> tuple[Change, ...]:
    """Faults by their status among the papers and in the survey, then papers."""
    found = []
    for entry in entries:
        then = earlier.faults.get(entry.code)
        if then is None:
            continue
        was, is_now = then["corpus"] in TARGETED, entry.corpus in TARGETED
        came = sorted(set(entry.papers) - set(then["papers"]))
        went = sorted(set(then["papers"]) - set(entry.papers))
        if was != is_now:
            what = "became targeted" if is_now else "lost its target"
            labels = [_label(paper, corpus, earlier) for paper in (came if is_now else went)]
            found.append(
                Change(what, entry.code, entry.name, then["corpus"], entry.corpus, tuple(labels))
            )
        if then["survey"] != entry.survey:
            found.append(
                Change("other survey status", entry.code, entry.name, then["survey"], entry.survey,
                       ())
            )  # fmt: skip
    now = {paper.paper for paper in corpus.papers}
    for what, papers in (
        ("new paper", sorted(now - earlier.papers.keys())),
        ("paper gone", sorted(earlier.papers.keys() - now)),
    ):
        for paper in papers:
            label = _label(paper, corpus, earlier)
            found.append(Change(what, "", label, "", _codes_of(paper, corpus), (label,)))
    order = ("became targeted", "lost its target", "other survey status", "new paper", "paper gone")
    return tuple(sorted(found, key=lambda each: order.index(each.what)))


def growth(entries: Sequence[Entry], label_total: int, earlier: Earlier) -> tuple[Growth, ...]:
    """Every count that is another one than before; of the study's labels also beyond chance.

    Every fault with a label is tested, whether its count changed or not: the adjustment must not
    depend on what came out.
    """
    found: list[Growth] = []
    for source in ("artifacts", "interviews", "labels"):
        before_total = (
            earlier.label_total
            if source == "labels"
            else sum(_count(each, source) for each in earlier.faults.values())
        )
        now_total = label_total if source == "labels" else sum(_now(e, source) for e in entries)
        for entry in entries:
            then = earlier.faults.get(entry.code)
            before, now = _count(then or {}, source), _now(entry, source)
            if before != now or (source == "labels" and now):
                found.append(
                    Growth(entry.code, entry.name, entry.corpus, source, before, before_total,
                           now, now_total)
                )  # fmt: skip
    tested = [_tested(each) if each.source == "labels" else (each, None) for each in found]
    adjusted = holm([p for _each, p in tested])
    all_of_them = (
        Growth(**{**vars(each), "p_holm": p})
        for (each, _p), p in zip(tested, adjusted, strict=True)
    )
    return tuple(
        each
        for each in all_of_them
        if each.before != each.now or each.verdict in {"grew", "shrank"}
    )


def changes_table(found: Sequence[Change], since: str) -> Table:
    """What came and went."""
    return Table(
        "changes",
        f"What changed since {since}",
        (
            Column("change", "Change"),
            CODE,
            Column("what", "Fault or paper"),
            Column("before", "Before"),
            Column("now", "Now"),
            Column("papers", "By"),
        ),
        tuple(
            (each.what, each.code, each.name, each.before, each.now,
             ", ".join(each.papers) if each.code else "")
            for each in found
        ),
        note="Status by the codes of the papers; of a new paper the codes that it carries.",
    )  # fmt: skip


def growth_table(found: Sequence[Growth], since: str) -> Table:
    """Counts then and now."""
    rows: list[tuple[Cell, ...]] = [
        (each.code, each.name, each.status, each.source, each.before, each.before_total, each.now,
         each.now_total, each.difference, each.low, each.high, each.verdict, each.p_holm)
        for each in found
    ]  # fmt: skip
    return Table(
        "growth",
        f"Faults that practice meets more or less often than on {since}",
        (
            CODE,
            FAULT,
            Column("status", "By the papers", "status", aside=True),
            Column("source", "Source"),
            Column("before", "Then", "count"),
            Column("before_total", "of", "count", aside=True),
            Column("now", "Now", "count"),
            Column("now_total", "of", "count", aside=True),
            Column("difference", "Added, to then", "points"),
            Column("low", "95 % from", "points", aside=True),
            Column("high", "to", "points", aside=True),
            Column("verdict", "Verdict"),
            Column("p_holm", "p (Holm)", "number", aside=True),
        ),
        tuple(rows),
        note=RULE,
    )


def summary(found: Sequence[Change], grown: Sequence[Growth], since: str) -> str:
    """What changed, in one sentence."""
    words = []
    for what, one, several in (
        ("became targeted", "fault became targeted", "faults became targeted"),
        ("lost its target", "fault lost its target", "faults lost their target"),
        ("new paper", "new paper", "new papers"),
        ("paper gone", "paper is gone", "papers are gone"),
    ):
        names = [each for each in found if each.what == what]
        if names:
            by = sorted({paper for each in names if each.code for paper in each.papers})
            told = f" (by {', '.join(by)})" if by and what == "became targeted" else ""
            words.append(f"{len(names):,} {one if len(names) == 1 else several}{told}")
    beyond = [each for each in grown if each.verdict == "grew"]
    if beyond:
        words.append(f"{', '.join(each.name for each in beyond)} grew in practice beyond chance")
    elif any(each.now > each.before for each in grown):
        words.append("no fault grew in practice beyond chance")
    return f"Since {since}: {'; '.join(words) or 'nothing changed'}."


def _tested(each: Growth) -> tuple[Growth, float | None]:
    """A growth of labels with its interval and p: those added against those of then."""
    added, added_total = each.now - each.before, each.now_total - each.before_total
    if not 0 <= added <= added_total or not added_total or not each.before_total:
        return each, None
    table = [
        [added, added_total - added],
        [each.before, each.before_total - each.before],
    ]
    found = share_difference(table)
    ends = {"difference": found.value, "low": found.low, "high": found.high}
    return Growth(**{**vars(each), **ends}), fisher(table).p_value


def _count(entry: dict[str, Any], source: str) -> int:
    if source == "artifacts":
        return int(entry.get("github", 0)) + int(entry.get("stackoverflow", 0))
    return int(entry.get(source, 0))


def _now(entry: Entry, source: str) -> int:
    return _count(vars(entry), source)


def _label(paper: str, corpus: Corpus, earlier: Earlier) -> str:
    known = {each.paper: each.label for each in corpus.papers}
    return known.get(paper) or earlier.papers.get(paper, paper)


def _codes_of(paper: str, corpus: Corpus) -> str:
    return ", ".join(sorted({code.code for code in corpus.codes if code.paper == paper}))
