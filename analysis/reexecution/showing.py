"""What `analysis reexecute` prints: the verdicts, the estimate, what is left; and its JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.analysis.reexecution import results
from faultatlas.analysis.reexecution.artifacts.problems import printable
from faultatlas.analysis.reexecution.artifacts.reading import read
from faultatlas.analysis.reexecution.artifacts.validating import problems
from faultatlas.analysis.reexecution.collecting import Imports, shipped, unreadable
from faultatlas.analysis.reexecution.estimate_claims import differing_words
from faultatlas.analysis.reexecution.runs import RAN
from faultatlas.analysis.reexecution.sampler import Done, Left
from faultatlas.analysis.reexecution.verdicts import Verdict
from faultatlas.data.old.results import Column, ColumnKind, Table
from faultatlas.data.provenance import Run, program_version
from faultatlas.report.formatting import counted
from faultatlas.report.old.console import Output
from faultatlas.report.tables import console_table, filled

if TYPE_CHECKING:
    from faultatlas.analysis.reexecution.bugs import Bug
    from faultatlas.analysis.reexecution.drawing import Drawn
    from faultatlas.analysis.reexecution.storing import KnownBug
    from faultatlas.data.old.results import Result
    from faultatlas.data.study import Study

_MOST_TOLD = 20
_MOST_FOLDERS = 5
_LONGEST_NAME = 32  # that is never broken
_LONGEST_LISTED = 45  # the same where there is little beside it
_NOTHING = {"claimed_verdict": "", "verdict": ""}
_COLUMNS = (
    Column("verdict", "Verdict", "status"),
    Column("reason", "Reason"),
    Column("runs", "Runs", "count"),
    Column("evidence", "Evidence", below=True),
    Column("device", "Device", aside=True),
)


@dataclass(frozen=True)
class Published:
    """The estimate, and its page."""

    result: Result
    page: Path


@dataclass(frozen=True)
class Shown:
    """All that a call came to."""

    run: Run
    drawn: Drawn | None
    ended: Sequence[Done | Left]
    unread: Mapping[str, str]  # bugs that could not be read, and why
    published: Published | None
    is_whole: bool
    root: Path | None = None  # where the runs lie
    judges_only: bool = False  # nothing was to be run


def show(output: Output, shown: Shown) -> None:
    """The verdicts, then the estimate, then what is missing."""
    # One order in every call, whichever run ended first.
    done = sorted(
        (each for each in shown.ended if isinstance(each, Done)),
        key=lambda each: each.job.bug.bug_id,
    )
    output.document(_document(shown, done))
    if done:
        table = _table(done, with_claims=output.verbose)
        output.show(console_table(table, with_aside=output.verbose))
        output.show(_runs_made(done))
        _show_folders(output, shown, done)
    if shown.published is not None:
        output.show("", shown.published.result.title, "", *shown.published.result.summary)
        output.show("", f"Report: {shown.published.page}")
    elif done:
        output.show("", *_without_estimate(done))
    if not shown.is_whole:
        _tell_missing(output, shown, len(done))


def _runs_made(done: Sequence[Done]) -> str:
    """What this call ran, and what was there."""
    runs = sum(len(each.runs) for each in done)
    fresh = sum(each.fresh for each in done)
    idle = runs - sum(map(_started, done))
    not_started = f"; {idle:,} did not start" if idle else ""
    return f"{counted(fresh, 'new run')}, {runs - fresh:,} kept from before{not_started}."


def _started(done: Done) -> int:
    """Runs of the bug's own program; where that could not be started, none."""
    return sum(run.outcome in RAN for run in done.runs)


def _is_unclear(done: Done) -> bool:
    """Nothing could be concluded, or nothing about the fix that is there."""
    if done.judgement.verdict is Verdict.REPRODUCED:
        return "fixed" in done.job.bug.runs
    return done.judgement.verdict is Verdict.INVALID


def _show_folders(output: Output, shown: Shown, done: Sequence[Done]) -> None:
    """Where to look for what runs wrote, if nothing could be concluded from it."""
    lines = [
        f"- {each.job.bug.bug_id}: {_folder(shown, each)}"
        for each in done
        if each.runs and (output.verbose or _is_unclear(each))
    ]
    if lines and shown.root is not None:
        output.show(
            "",
            "What runs wrote (stderr, stdout, run.json) lies in:"
            if output.verbose
            else "Runs that show too little to conclude from; stderr, stdout and run.json lie in:",
            *(lines if output.verbose else lines[:_MOST_FOLDERS]),
        )
        if len(lines) > _MOST_FOLDERS and not output.verbose:
            output.show(f"- and {len(lines) - _MOST_FOLDERS:,} more (-v or --json has all)")
    unclear = [each.job.bug for each in done if _is_unclear(each)]
    if flawed := [bug.bug_id for bug in unclear if _has_errors(bug)]:
        output.show(
            "",
            f"`analysis reexecute --validate` says what is wrong with files of {_first(flawed)}.",
        )


def _has_errors(bug: Bug) -> bool:
    return any(each.severity == "error" for each in problems(bug.folder))


def _folder(shown: Shown, done: Done) -> str:
    """Of the runs of a bug."""
    if shown.root is None or not done.runs:
        return ""
    job = done.job
    of = (shown.root, job.bug.bug_id, job.content, job.device)
    return str(results.run_folder(*of, side="buggy", seed=1, attempt=1).parent)


def show_bugs(
    output: Output,
    study: Study,
    known: Sequence[KnownBug],
    strangers: Mapping[Path, str] | None = None,
) -> None:
    """The bugs of the study; without any, those that would be taken."""
    said = _said(study) if known else {}
    unread = unreadable(known)
    rows = [
        {
            "bug": each.bug_id,
            "framework": each.framework,
            "symptom": each.symptom,
            "oracle": each.oracle_symptom,
            "claimed": said.get(each.bug_id, _NOTHING)["claimed_verdict"],
            "verdict": said.get(each.bug_id, _NOTHING)["verdict"],
            "problem": unread.get(each.bug_id, ""),
        }
        for each in known
    ]
    coming = [] if rows else [_coming(read(folder)) for folder in shipped()]
    output.document(
        {
            "bugs": rows,
            "shipped": [each["bug"] for each in coming],
            "shipped_bugs": coming,
            "not_taken": [
                {"folder": str(folder), "why": why} for folder, why in (strangers or {}).items()
            ],
        }
    )
    tell_strangers(output, strangers or {})
    if not rows:
        output.show(
            "The study has no bugs. These come with the program, and `analysis reexecute` takes "
            "them; --import FOLDER brings others in.",
            "",
        )
    for set_name in sorted({each["bug"].partition("/")[0] for each in (rows or coming)}):
        listed = _listed(set_name, rows or coming, in_full=output.verbose)
        output.show(console_table(listed, with_aside=True, one_line=not output.verbose))
    if unread:
        output.tell(
            f"{counted(len(unread), 'bug')} cannot be run as it is now; a verdict is of before:"
            if len(unread) == 1
            else f"{len(unread):,} bugs cannot be run as they are now; verdicts are of before:"
        )
        _tell_lines(output, [f"- {bug_id}: {why}" for bug_id, why in unread.items()])


def _coming(bug: Bug) -> dict[str, str]:
    """A bug that is not in the study yet."""
    return {
        "bug": bug.bug_id,
        "framework": bug.labels.framework,
        "symptom": bug.labels.symptom,
        "oracle": str(bug.oracle.symptom),
        "claimed": bug.claimed_verdict,
        "verdict": "",
    }


def _listed(set_name: str, rows: Sequence[Mapping[str, str]], *, in_full: bool) -> Table:
    """The bugs of one set: their names need not say it again, and are whole if they fit.

    A line for each; in full, what has no room beside the others stands below.
    """
    own = [row for row in rows if row["bug"].partition("/")[0] == set_name]
    names = [row["bug"].partition("/")[2] for row in own]
    has_verdicts = any(row["verdict"] for row in own)
    columns = (
        Column("bug", "Bug", _name_kind(names, _LONGEST_LISTED)),
        Column("oracle", "Oracle"),
        Column("verdict", "Verdict", "status"),
        Column("claimed", "Claimed", aside=has_verdicts, below=in_full),
        Column("framework", "Framework", aside=True, below=in_full),
        Column("symptom", "Symptom", aside=True, below=in_full),
    )
    cells = tuple(
        (name, *(row[column.key] for column in columns[1:]))
        for name, row in zip(names, own, strict=True)
    )
    return filled(Table("bugs", f"{counted(len(own), 'bug')} of {set_name}", columns, cells))


def tell_strangers(output: Output, strangers: Mapping[Path, str]) -> None:
    """Folders that somebody put beside the bugs of the study, and that are none of them."""
    if strangers:
        output.tell("not taken, of the study's bugs folder (`--validate` has all of it):")
        _tell_lines(
            output,
            [
                f"- {printable(f'{folder.parent.name}/{folder.name}')}: {why}"
                for folder, why in strangers.items()
            ],
        )


def tell_imports(output: Output, imports: Imports) -> None:
    """What came in, and what did not."""
    parts = [
        f"{len(ids):,} {kind}"
        for kind, ids in (
            ("new", imports.new),
            ("changed", imports.changed),
            ("as before", imports.unchanged),
            ("left as you have them", imports.kept),
            ("left out: the study has forgotten what they are about", imports.forgotten),
        )
        if ids
    ]
    output.tell(
        f"imported {counted(imports.count, 'bug')} as {imports.importer}: {', '.join(parts)}"
    )
    if imports.changed:
        output.tell(f"changed, and to be run again: {_first(imports.changed)}")
    if imports.kept:
        output.tell(
            f"changed here, so yours was left: {_first(imports.kept)}; remove the folder of one to "
            "take that of the set"
        )
    for title, lines in (("left out", imports.problems), ("to know", imports.notes)):
        if lines:
            output.tell(f"{title}:")
            _tell_lines(output, [f"- {line}" for line in lines])


def show_imports(output: Output, imports: Imports) -> None:
    """After an import that nothing follows: what to do next."""
    output.document(asdict(imports))
    left_out = f", {len(imports.problems):,} left out" if imports.problems else ""
    output.show(
        f"{counted(imports.count, 'bug')} imported{left_out}.",
        "Next: analysis reexecute --validate, or --list, or --sample 10 --stratify "
        "framework,symptom.",
    )


def _without_estimate(done: Sequence[Done]) -> list[str]:
    """Of bugs that were picked by hand: what authors say otherwise, and where the rate is."""
    others = [
        (each.job.bug.bug_id, str(each.judgement.verdict), each.job.bug.claimed_verdict)
        for each in done
        if each.job.bug.claimed_verdict not in ("", each.judgement.verdict)
    ]
    told = differing_words(others, lead="Not what the artifacts' authors say: ")
    return [
        *([f"{told}."] if told else []),
        (
            "Bugs that were named are no sample and no whole set: no rate was estimated. Next: "
            "analysis reexecute --sample N, or --set NAME"
        ),
    ]


def _table(done: Sequence[Done], *, with_claims: bool) -> Table:
    """A name as it may be copied: without the set where there is only one, and whole if it fits."""
    sets = sorted({each.job.bug.set_name for each in done})
    whole = [each.job.bug.bug_id for each in done]
    names = [each.partition("/")[2] for each in whole] if len(sets) == 1 else whole
    bug = Column("bug", "Bug", _name_kind(names))
    rows = tuple(
        (
            name,
            str(each.judgement.verdict),
            str(each.judgement.reason),
            _started(each),
            _evidence(each, with_claim=with_claims),
            each.job.device,
        )
        for name, each in zip(names, done, strict=True)
    )
    counts = Counter(str(each.judgement.verdict) for each in done)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    title = f"{counted(len(done), 'bug')} of {', '.join(sets)}: {said}"
    return Table("verdicts", title, (bug, *_COLUMNS), rows)


def _name_kind(names: Sequence[str], longest: int = _LONGEST_NAME) -> ColumnKind:
    """Names are whole where they fit."""
    return "code" if max(map(len, names)) <= longest else "text"


def _evidence(done: Done, *, with_claim: bool) -> str:
    """What was seen, and what the author says where that is something else or if all are wanted.

    A column of its own has no room beside the others on most terminals.
    """
    said, claimed = _claimed(done), done.job.bug.claimed_verdict
    is_told = with_claim or claimed != done.judgement.verdict
    claim = f"the author says {said}" if said and is_told else ""
    return "; ".join(filter(None, (done.judgement.detail, claim)))


def _claimed(done: Done) -> str:
    """What the artifact's author says comes out."""
    bug = done.job.bug
    return (
        f"{bug.claimed_verdict} ({bug.claimed_reason})"
        if bug.claimed_reason
        else bug.claimed_verdict
    )


def _tell_missing(output: Output, shown: Shown, done: int) -> None:
    left = [each for each in shown.ended if isinstance(each, Left)]
    missing = len(left) + len(shown.unread)
    if not missing:
        return
    output.tell(f"{counted(missing, 'bug')} of {missing + done:,} not judged:")
    lines = [f"- {each.job.bug.bug_id}: {_why(each)}" for each in left]
    lines += [f"- {bug_id}: {why}" for bug_id, why in shown.unread.items()]
    _tell_lines(output, lines)
    if left and shown.judges_only:
        output.tell(f"Run {_first([each.job.bug.bug_id for each in left])}: analysis reexecute.")
    elif left:
        output.tell("The same command goes on from there.")
    if shown.unread:
        output.tell(
            "Mend what cannot be read (`analysis reexecute --validate` names all of it), then run "
            "this again."
        )


def _tell_lines(output: Output, lines: Sequence[str]) -> None:
    for line in lines if output.verbose else lines[:_MOST_TOLD]:
        output.tell(line)
    if len(lines) > _MOST_TOLD and not output.verbose:
        output.tell(f"- and {len(lines) - _MOST_TOLD:,} more (-v or --json has all)")


def _why(left: Left) -> str:
    return f"{left.why}, {counted(left.missing, 'run')} left" if left.missing else left.why


def _document(shown: Shown, done: Sequence[Done]) -> dict[str, Any]:
    published = shown.published
    return {
        "command": shown.run.command,
        "version": program_version(),
        "run": shown.run.run_id,
        "sample": asdict(shown.drawn) if shown.drawn else None,
        "bugs": [
            {
                "bug_id": each.job.bug.bug_id,
                "content": each.job.content,
                "device": each.job.device,
                **asdict(each.judgement),
                "runs": _started(each),
                "runs_not_started": len(each.runs) - _started(each),
                "runs_made_now": each.fresh,
                "claimed": _claimed(each),
                "folder": _folder(shown, each),
            }
            for each in done
        ],
        "left": [
            {"bug_id": each.job.bug.bug_id, "why": each.why, "runs": each.missing}
            for each in shown.ended
            if isinstance(each, Left)
        ]
        + [{"bug_id": bug_id, "why": why, "runs": None} for bug_id, why in shown.unread.items()],
        "estimate": published.result.document if published else None,
        "claims": [vars(claim) for claim in published.result.claims] if published else [],
        "report": str(published.page) if published else None,
        "is_whole": shown.is_whole,
    }


def _said(study: Study) -> dict[str, dict[str, str]]:
    """By bug the verdict of late, and the one that its author names."""
    with study.reading() as reader:
        rows = reader.rows(
            "SELECT bug_id, bugs.claimed_verdict, coalesce(verdict, '') AS verdict "
            "FROM bugs LEFT JOIN verdicts USING (bug_id)"
        )
    return {row["bug_id"]: row for row in rows}


def _first(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return f"{', '.join(ids[:5])}{more}"
