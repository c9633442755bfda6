"""Debugging techniques for machine learning, a survey: its shares from the data of dl-faults.

The survey set techniques beside the faults of that study's package. What it says of each fault
is shipped (`data/evidence/statuses.csv`); the faults and how often they occur come from the rows.
"""

from __future__ import annotations

from collections import Counter

from faultatlas.analysis.replication.agreeing import share
from faultatlas.analysis.replication.dl import sheets, taxonomy
from faultatlas.analysis.replication.figures import Found, PrintedOnly, PublishedStudy, Recomputed
from faultatlas.analysis.replication.package import Package
from faultatlas.data import evidence

PACKAGE = "dl-faults"
_TARGETED, _UNTARGETED = "targeted", "untargeted"
_PRINTED = ("K047", "K048", "K049", "K050", "K054", "K055", "K056")
_ROUNDS = tuple(f"{PACKAGE}:{name}" for name in sheets.ROUNDS)
_CODING = f"{PACKAGE}:{sheets.CODING}"


def _status(leaf: str) -> str:
    """What the survey says of a leaf; nothing of one that it did not know."""
    known = evidence.survey_statuses()
    return known[leaf].status if leaf in known else ""


def faults(package: Package) -> Found:
    """The share of the faults that research targets, and of those that nobody targets.

    As many faults as the published figure has boxes, and the new ones that the survey names.
    """
    leaves = sorted(set().union(*taxonomy.leaves(package.other(PACKAGE))))
    boxes = evidence.figure_boxes()
    counts = Counter({_TARGETED: 0, _UNTARGETED: 0})
    for leaf in leaves:
        counts[_status(leaf)] += boxes.get(leaf, 1)
    single = Counter(map(_status, leaves))
    new = len(evidence.new_faults())
    total = sum(counts.values())
    values = tuple(share(each, counts[each], total + new) for each in (_TARGETED, _UNTARGETED))
    return Found(
        values,
        text=" / ".join(f"{each.value:.2f}" for each in values),
        note=f"{counts[_TARGETED]} + {counts[_UNTARGETED]} of {total} boxes of the published "
        f"figure and {new} new faults that the text names",
        readings=f"with a fifth new fault, which the text does not name, "
        f"{_both(counts, total + new + 1)}; {len(leaves)} leaves and {new} new faults "
        f"{_both(single, len(leaves) + new)}",
    )


def _both(counts: Counter[str], whole: int) -> str:
    shares = (f"{100 * counts[status] / whole:.2f}" for status in (_TARGETED, _UNTARGETED))
    return f"{' / '.join(shares)} of {whole}"


def artifacts(package: Package) -> Found:
    """The share of the artifacts of the taxonomy whose category or leaf nobody targets."""
    rows = sheets.inserted(package.other(PACKAGE))
    by_sheet = [row for row in rows if _status_in_sheet(row) == _UNTARGETED]
    by_leaf = [row for row in rows if _status(row.leaf) == _UNTARGETED]
    github = [row for row in rows if row.kind != "so"]
    issues = [row for row in rows if row.kind in {"issue", "pull"}]
    return Found(
        (share(_UNTARGETED, len(by_sheet), len(rows), rows=_where(by_sheet)),),
        note="GitHub and Stack Overflow, by the category that the sheets give",
        readings="; ".join(
            (
                _read("by leaf", by_leaf, rows),
                _read("GitHub only", by_leaf, github),
                _read("GitHub issues and pull requests only", by_sheet, issues),
            )
        ),
    )


def _read(name: str, some: list[sheets.Relevant], whole: list[sheets.Relevant]) -> str:
    """The share of some rows among a part of all."""
    count = sum(row in whole for row in some)
    percent = f"{100 * count / len(whole):.2f}" if whole else "no"
    return f"{name} {percent} ({count}/{len(whole)})"


def _status_in_sheet(row: sheets.Relevant) -> str:
    """The status of the category in the sheet; that of the leaf where a category has several."""
    tree = sheets.faults()
    if row.category not in tree:
        return _status(row.leaf)
    said = {_status(leaf) for leaf in tree.leaves_of(row.category)}
    return said.pop() if len(said) == 1 else _status(row.leaf)


def _where(rows: list[sheets.Relevant]) -> str:
    """SQL: these rows of the rounds."""
    by_file: dict[str, list[sheets.Relevant]] = {}
    for row in rows:
        by_file.setdefault(row.file, []).append(row)
    found = " OR ".join(
        f"(file = '{file}' AND {sheets.lines(some)})" for file, some in by_file.items()
    )
    return f"sheet LIKE '%Relevant' AND ({found or 'false'})"


def mentions(package: Package) -> Found:
    """The share of the accepted mentions of the interviews whose leaf nobody targets."""
    dl = package.other(PACKAGE)
    rows = sheets.accepted(dl)
    untargeted = [row for row in rows if _status(row.leaf) == _UNTARGETED]
    every = [row for row in sheets.mentions(dl) if row.status != sheets.NOTHING]
    rejected = len(every) - len(rows)
    worst = f"{100 * (len(untargeted) + rejected) / len(every):.2f}" if every else "no"
    where = sheets.sheet_of(dl, sheets.CODING).where(sheets.lines(untargeted))
    return Found(
        (share(_UNTARGETED, len(untargeted), len(rows), rows=where),),
        note="accepted mentions",
        readings=f"with the rejected ones as untargeted {worst} "
        f"({len(untargeted) + rejected}/{len(every)})",
    )


STUDY = PublishedStudy(
    name="survey",
    title="Debugging techniques for machine learning systems, a survey",
    source="survey",
    data_of=PACKAGE,
    figures=(
        *map(PrintedOnly, _PRINTED),
        Recomputed("K051", (*_ROUNDS, _CODING), faults),
        Recomputed("K052", _ROUNDS, artifacts),
        Recomputed("K053", (_CODING,), mentions),
    ),
)
