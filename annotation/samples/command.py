"""`annotation sample` from the options to what is stored and shown."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.rounds import checked_name
from faultatlas.annotation.samples.checking import Check, check_sample
from faultatlas.annotation.samples.comparing import Comparison, compared_columns, comparisons
from faultatlas.annotation.samples.definition import (
    ALLOCATIONS,
    DEFAULT_SEED,
    Allocation,
    Definition,
    Sizing,
    columns_of,
    frame_condition,
    frame_words,
    step_and_where,
)
from faultatlas.annotation.samples.drawing import draw
from faultatlas.annotation.samples.frame import Frame, last_step, read_frame, stored_frame
from faultatlas.annotation.samples.storage import (
    Sample,
    find_sample,
    put_draw,
    put_sample,
    stored_sample,
)
from faultatlas.annotation.typed import typed
from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.data.sampling import Precision, checked_seed
from faultatlas.report.formatting import share

if TYPE_CHECKING:
    from faultatlas.data.provenance import Run
    from faultatlas.data.sampling import Rounding
    from faultatlas.data.study import Reader, Study, Writer

ALL = "all"  # instead of a step: everything that was mined


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line; None and nothing where it was left out."""

    where: str | None = None
    step: str | None = None  # --from
    confidence: float | None = None
    margin: float | None = None
    size: int | None = None
    rounding: Rounding | None = None
    stratify: str | None = None
    allocation: str | None = None
    spread: str | None = None
    highest: str | None = None
    seed: int | None = None

    @property
    def defines(self) -> bool:
        """Whether they say how to draw, beyond how many."""
        return any(
            value is not None for value in (self.where, self.step, self.stratify, self.allocation,
                                            self.spread, self.highest, self.seed)
        )  # fmt: skip

    @property
    def sizes(self) -> bool:
        """Whether they say how many."""
        return any(
            value is not None for value in (self.size, self.confidence, self.margin, self.rounding)
        )


@dataclass(frozen=True)
class Share:
    """What a draw took of what it could have taken."""

    draw: int
    frame: int
    frame_hash: str
    left: int  # of the frame, that earlier draws had not taken
    taken: int

    @property
    def words(self) -> str:
        """For a reader."""
        return (
            f"draw {self.draw}: {self.taken:,} of {self.left:,} that were left of "
            f"{self.frame:,} ({share(self.taken, self.left)})"
        )


@dataclass(frozen=True)
class Outcome:
    """A sample as it is now, and what the command did to it."""

    sample: Sample
    compared: tuple[Comparison, ...] = ()
    shares: tuple[Share, ...] = ()
    drew: int = 0
    came: int = 0
    went: int = 0
    check: Check | None = None

    def document(self) -> dict[str, Any]:
        """Plain values."""
        definition, last = self.sample.definition, self.sample.last
        step, where = step_and_where(definition.frame)
        found: dict[str, Any] = {
            "sample": definition.sample,
            "what": self.sample.words(),
            "method": definition.method,
            "allocation": definition.allocation or None,
            "strata": list(definition.strata),
            "ordered_by": definition.ordered_by or None,
            "seed": definition.seed,
            "frame": {
                "words": frame_words(definition.frame),
                "step": step,
                "where": where,
                "query": last.frame_query,
                "count": last.frame_count,
                "hash": last.frame_hash,
                "came": self.came,
                "went": self.went,
            },
            "size": len(self.sample.drawn),
            "size_rule": last.rule,
            "drew": self.drew,
            "draws": len(self.sample.draws),
            "is_of_one_frame": self.sample.is_of_one_frame,
            "forgotten": self.sample.missing,
            "shares": [{**asdict(each), "share": each.taken / each.left} for each in self.shares],
            "comparisons": [each.document() for each in self.compared],
            "artifacts": [asdict(each) for each in self.sample.drawn],
        }
        if self.check:
            found["check"] = {"is_derived": self.check.is_derived, **asdict(self.check)}
        return found


def show_sample(study: Study, name: str, compare: str | None) -> Outcome:
    """A sample that is there."""
    with study.reading() as reader:
        return _shown(reader, find_sample(reader, name), compare)


def check_again(study: Study, name: str, compare: str | None) -> Outcome:
    """Derive a sample again."""
    with study.reading() as reader:
        sample = find_sample(reader, name)
        return replace(_shown(reader, sample, compare), check=check_sample(reader, sample))


def draw_new(study: Study, name: str, options: Options, compare: str | None) -> Outcome:
    """Draw a sample; one of that name is left alone if it is the same, else refused."""
    name = checked_name(name, "sample")
    _require(study)
    run = provenance.begin("annotation sample", _arguments(name, options))
    with study.writing() as writer:
        drew = _draw_first(writer, name, options, compare, run)
    return replace(show_sample(study, name, compare), drew=drew)


def _draw_first(writer: Writer, name: str, options: Options, compare: str | None, run: Run) -> int:
    compared_columns(writer, compare)
    there = stored_sample(writer, name)
    definition, sizing = _definition(writer, name, options), _sizing(options)
    if there:
        _refuse_other(there, definition, sizing)
        return 0
    frame = read_frame(writer, definition)
    if not frame.members:
        raise StudyError(
            f"there is nothing to draw from: {frame_words(definition.frame)} has no artifacts",
            "Look at what was mined: miner status --funnel.",
        )
    made = draw(frame, definition, sizing)
    provenance.record(writer, run, "ok")
    put_sample(writer, definition, run)
    put_draw(writer, name, frame, sizing=sizing, made=made, run=run)
    return len(made.new)


def draw_more(study: Study, name: str, options: Options, compare: str | None) -> Outcome:
    """Draw more; what was drawn stays, with its positions."""
    if not options.sizes:
        raise StudyError(
            "it is not said how far to extend the sample",
            f"Give its new size: annotation sample {typed(name)} --extend --size N, or --margin 3.",
        )
    _require(study)
    run = provenance.begin("annotation sample", {**_arguments(name, options), "extend": True})
    with study.writing() as writer:
        compared_columns(writer, compare)
        there = find_sample(writer, name)
        _refuse_other(there, _redefined(there.definition, options), None)
        sizing = _sizing(options)
        asked = options.size if there.definition.allocation != "each" else None
        if asked is not None and asked < len(there.drawn):
            raise StudyError(
                f"sample {name!r} has {len(there.drawn):,} artifacts, more than {asked:,}",
                "What was drawn stays. Give a larger --size, or draw another sample.",
            )
        before = stored_frame(writer, there.last.frame_hash)
        frame = read_frame(writer, there.definition)
        made = draw(frame, there.definition, sizing, there.drawn)
        if made.new:
            provenance.record(writer, run, "ok")
            put_draw(writer, name, frame, sizing=sizing, made=made, run=run)
    came, went = _changed(before, frame)
    return replace(show_sample(study, name, compare), drew=len(made.new), came=came, went=went)


def _require(study: Study) -> None:
    """Nothing is made for a study that is not there."""
    with study.reading():
        pass


def _changed(before: Frame, now: Frame) -> tuple[int, int]:
    return len(now.ids - before.ids), len(before.ids - now.ids)


def _shown(reader: Reader, sample: Sample, compare: str | None) -> Outcome:
    columns = compared_columns(reader, compare)
    frame = stored_frame(reader, sample.last.frame_hash)
    return Outcome(
        sample, tuple(comparisons(reader, sample, frame, columns)), _shares(reader, sample)
    )


def _shares(reader: Reader, sample: Sample) -> tuple[Share, ...]:
    """How likely an artifact was to be drawn, for each draw: its frame may have been another."""
    found, before = [], frozenset[str]()
    for each in sample.draws:
        ids = stored_frame(reader, each.frame_hash).ids
        left = each.frame_count - len(ids & before)
        found.append(Share(each.number, each.frame_count, each.frame_hash, left, each.taken))
        before |= {one.artifact_id for one in sample.drawn if one.draw == each.number}
    return tuple(found)


def _arguments(name: str, options: Options) -> dict[str, Any]:
    given = {key: value for key, value in asdict(options).items() if value is not None}
    return {"sample": name, **given}


def _definition(reader: Reader, name: str, options: Options) -> Definition:
    step = last_step(reader) if options.step is None else options.step
    if step == ALL:
        step = None
    strata = columns_of(options.stratify) if options.stratify else ()
    allocation = _allocation(options, strata)
    return Definition(
        sample=name,
        frame=frame_condition(step, options.where),
        method="highest" if options.highest else "stratified" if strata else "simple",
        allocation=allocation,
        strata=strata,
        ordered_by=options.highest or options.spread or "",
        seed=checked_seed(DEFAULT_SEED if options.seed is None else options.seed),
    )


def _redefined(there: Definition, options: Options) -> Definition:
    """A definition with what the options say otherwise."""
    step, where = step_and_where(there.frame)
    asked = step if options.step is None else None if options.step == ALL else options.step
    changes: dict[str, Any] = {
        "frame": frame_condition(asked, where if options.where is None else options.where),
        "strata": None if options.stratify is None else columns_of(options.stratify),
        "allocation": options.allocation,
        "ordered_by": options.highest or options.spread,
        "seed": options.seed,
    }
    return replace(there, **{key: value for key, value in changes.items() if value is not None})


def _allocation(options: Options, strata: tuple[str, ...]) -> Allocation:
    if not strata:
        for given, option in ((options.allocation, "--allocation"), (options.spread, "--spread")):
            if given is not None:
                raise StudyError(
                    f"{option} belongs to a sample with strata", "Give --stratify COLS as well."
                )
        return ""
    asked = options.allocation or "proportional"
    found = next((each for each in ALLOCATIONS if each == asked), None)
    if found is None:
        raise StudyError(f"there is no allocation {asked!r}", f"Take {', '.join(ALLOCATIONS)}.")
    if (found == "optimal") != (options.spread is not None):
        raise StudyError(
            "optimal allocation needs to know what varies, and only it does",
            "Give both --allocation optimal and --spread COL, a number of each artifact such as "
            "comment_count.",
        )
    if found == "optimal" and options.highest:
        raise StudyError(
            "the highest are no random sample, so no allocation is optimal for them",
            "Leave out --highest, or take --allocation proportional, equal or each.",
        )
    return found


def _sizing(options: Options) -> Sizing:
    computed = (options.confidence, options.margin, options.rounding)
    if options.size is not None:
        if any(value is not None for value in computed):
            raise StudyError(
                "--size is a size, --confidence, --margin and --round compute one",
                "Give one or the other.",
            )
        return Sizing(asked=options.size)
    default = Precision()
    return Sizing(
        precision=Precision(
            default.confidence if options.confidence is None else options.confidence,
            default.margin if options.margin is None else options.margin,
            options.rounding or default.rounding,
        )
    )


_CALLED = {
    "frame": "what it is drawn from",
    "method": "the way of drawing",
    "allocation": "the allocation",
    "strata": "its strata",
    "ordered_by": "what it is ordered by or varies",
    "seed": "the seed",
}


def _refuse_other(there: Sample, asked: Definition, sizing: Sizing | None) -> None:
    """A sample that is there is not drawn otherwise."""
    was, wanted = asdict(there.definition), asdict(asked)
    differing = [words for key, words in _CALLED.items() if was[key] != wanted[key]]
    if sizing is not None and sizing not in [each.sizing for each in there.draws]:
        differing.append("its size")
    if differing:
        name = there.definition.sample
        raise StudyError(
            f"sample {name!r} is drawn already, and otherwise: {' and '.join(differing)} differ"
            f"{'s' if len(differing) == 1 else ''}",
            "Draw more with --extend, or take another name. See it: annotation sample "
            f"{typed(name)}.",
        )


def run(
    study: Study, name: str, options: Options, compare: str | None, *, extend: bool, check: bool
) -> Outcome:
    """Draw, extend, check or show a sample, as the options say."""
    if check:
        if extend or options.defines or options.sizes:
            raise StudyError(
                "--check derives a sample again as it was drawn", "Leave out all other options."
            )
        return check_again(study, name, compare)
    if extend:
        return draw_more(study, name, options, compare)
    if not (options.defines or options.sizes) and _is_there(study, name):
        return show_sample(study, name, compare)
    return draw_new(study, name, options, compare)


def refuse_without_name(options: Options, *, extend: bool, check: bool) -> None:
    """Samples are listed without a name, and nothing else."""
    if extend or check or options.defines or options.sizes:
        raise StudyError("the sample has no name", "Name it: annotation sample NAME ...")


def _is_there(study: Study, name: str) -> bool:
    with study.reading() as reader:
        return stored_sample(reader, name) is not None
