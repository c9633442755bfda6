"""`miner filter` from the options to the funnel."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.data import provenance
from faultatlas.data.errors import StudyError
from faultatlas.miner.funnel.running import run_steps
from faultatlas.miner.funnel.steps import Draw, Step, dropped, placed, stored_steps
from faultatlas.miner.funnel.view import funnel, unknown_words
from faultatlas.report.progress import progress

if TYPE_CHECKING:
    from faultatlas.data.sampling import Rounding
    from faultatlas.data.study import Reader, Study
    from faultatlas.report.old.console import Output

_FLAGS = {"lexicons": "--lexicon", "rounding": "--round"}


@dataclass(frozen=True)
class Options:
    """What was asked for on the command line."""

    name: str | None = None
    where: str | None = None
    lexicons: tuple[str, ...] = ()
    any_lexicon: bool = False
    code: bool = False
    quotes: bool = False
    on: tuple[str, ...] = ()
    size: int | None = None
    confidence: float | None = None
    margin: float = 5
    rounding: Rounding | None = None
    by: str | None = None
    highest: str | None = None
    seed: int = 1
    before: str | None = None
    drop: str | None = None
    again: bool = False


def run_filter(study: Study, options: Options, output: Output) -> dict[str, Any]:
    """Change the funnel as asked for; gives it as it is then, with the steps that changed."""
    step = _step(options)
    said = asdict(options).items()
    arguments = {name: value for name, value in said if value or (name == "seed" and step)}
    run = provenance.begin("miner filter", arguments)

    def change(reader: Reader) -> list[Step]:
        steps = stored_steps(reader)
        if options.drop is not None:
            return dropped(steps, options.drop)
        return placed(steps, step, options.before) if step else steps

    with study.reading():  # nothing is made for a study that is not there
        pass
    with progress(output, "texts") as bar:
        changed = run_steps(study, run, change, bar.update)
    found = funnel(study)
    found["changed"] = changed
    for each in found["steps"]:
        if each["step"] in changed and (told := unknown_words(each)):
            output.tell(told)
    return found


def _step(options: Options) -> Step | None:
    """The step that the options describe, if they do."""
    others = [options.drop is not None, options.again]
    if options.name is None and sum(others) != 1:
        raise StudyError(
            "it is not said what to do",
            "Name a step: miner filter NAME --where SQL; or give --drop STEP or --again.",
        )
    if options.name is None:
        _refuse(_given(options, {"drop", "again"}), "a step with a name", "Leave it out.")
        return None
    if any(others):
        raise StudyError(
            "a step is added, dropped or run again, one at a time",
            f"Leave {options.name!r} out, or --drop and --again.",
        )
    if not options.lexicons:
        asked = _given(options) & {"any_lexicon", "code", "quotes"}
        _refuse(asked, "a lexicon", "Give --lexicon NAME as well.")
    return Step(
        name=options.name,
        on=tuple(dict.fromkeys(options.on)),
        where=options.where,
        lexicons=tuple(dict.fromkeys(options.lexicons)),
        any_lexicon=options.any_lexicon,
        code=options.code,
        quotes=options.quotes,
        draw=_draw(options),
    )


def _draw(options: Options) -> Draw | None:
    if options.size is not None and options.confidence is not None:
        raise StudyError("--size and --confidence are two sizes", "Give one of them.")
    if options.size is None and options.confidence is None:
        asked = _given(options) & {"margin", "rounding", "by", "highest", "seed"}
        _refuse(asked, "a sample", "Give --size N or --confidence 95 as well.")
        return None
    if options.size is not None:
        asked = _given(options) & {"margin", "rounding"}
        _refuse(asked, "a size that is computed", "Give --confidence 95 instead of --size.")
    return Draw(
        size=options.size,
        confidence=95 if options.confidence is None else options.confidence,
        margin=options.margin,
        rounding=options.rounding or "nearest",
        seed=options.seed,
        highest=options.highest,
        by=options.by,
    )


def _given(options: Options, but: AbstractSet[str] = frozenset()) -> set[str]:
    """Options that say something else than if they were left out."""
    defaults = asdict(Options())
    return {name for name, value in asdict(options).items() if value != defaults[name]} - but


def _refuse(names: AbstractSet[str], owner: str, hint: str) -> None:
    if names:
        said = [_FLAGS.get(name, f"--{name.replace('_', '-')}") for name in sorted(names)]
        verb = "belongs" if len(said) == 1 else "belong"
        raise StudyError(f"{' and '.join(said)} {verb} to {owner}", hint)
