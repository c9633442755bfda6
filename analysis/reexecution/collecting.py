"""Bugs come into a study: imported, shipped, and found there again by name.

How a bug's folder gets its place is in `placing`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from faultatlas.analysis.reexecution import placing, storing
from faultatlas.analysis.reexecution.artifacts import places, reading
from faultatlas.analysis.reexecution.artifacts.content import content_hash
from faultatlas.analysis.reexecution.artifacts.problems import printable
from faultatlas.analysis.reexecution.bugs import Bug
from faultatlas.analysis.reexecution.importing import copying, originals
from faultatlas.data.errors import StudyError
from faultatlas.data.identity import resolve

if TYPE_CHECKING:
    from types import ModuleType

    from faultatlas.data.provenance import Run
    from faultatlas.data.study import Study

NATIVE = "bugs"  # the importer of folders that have a bug.toml already
_SHIPPED = Path(__file__).parent / "shipped"


@dataclass(frozen=True)
class Imports:
    """What an import did."""

    importer: str
    new: tuple[str, ...] = ()  # ids of bugs
    changed: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # changed by a person: that one is there
    forgotten: tuple[str, ...] = ()  # about something that the study has forgotten
    problems: tuple[str, ...] = ()  # why bugs were left out
    notes: tuple[str, ...] = ()  # what to know about bugs that came in

    @property
    def count(self) -> int:
        """Bugs that the study has now."""
        return len(self.new) + len(self.changed) + len(self.unchanged) + len(self.kept)


def import_bugs(study: Study, folder: Path, importer: str = "", run: Run | None = None) -> Imports:
    """Bring the bugs of a folder into the study; broken ones are told, the others come in."""
    if not folder.is_dir():
        raise StudyError(f"{folder} is no folder", "Give the folder of a set of bugs.")
    name, module = _importer(folder, importer)
    home = study.directory / storing.FOLDER
    kinds: dict[str, list[Bug]] = {"new": [], "changed": [], "unchanged": [], "kept": []}
    with placing.drafts_of(study) as drafts:
        if module is None:
            bugs, problems = _copied(folder, drafts)
        else:
            found = module.import_bugs(folder, drafts, dated=_days(study))
            bugs, problems = list(found.bugs), list(found.problems)
        bugs = _sound(bugs, problems)
        with placing.alone(home):
            for bug in bugs:
                kind = placing.placed(bug, home, drafts)
                try:
                    kinds[kind].append(checked(home / bug.bug_id))
                except StudyError as error:  # a person's, who is in the middle of it
                    problems.append(f"as it is here, {bug.bug_id}: {_first_line(error)}")
    listed = [bug for each in kinds.values() for bug in each]
    if not listed:
        more = f": {problems[0]}" if problems else ""
        others = [each for each in _recognising(folder) if each != name]
        raise StudyError(
            f"no bug could be imported from {folder} as {name}{more}",
            f"It looks like {' or '.join(others)}: take --as {others[0]}."
            if others
            else "Name another importer with --as, or see what is wrong: "
            "analysis reexecute --validate FOLDER.",
        )
    forgotten = storing.register(study, listed, run=run).forgotten
    for bug_id in forgotten:
        shutil.rmtree(home / bug_id)
        originals.forget(home, bug_id)
    ids = {
        kind: tuple(bug.bug_id for bug in each if bug.bug_id not in forgotten)
        for kind, each in kinds.items()
    }
    names = {name for bug in bugs for name in (bug.bug_id, bug.bug_id.partition("/")[2])}
    notes = [each for each in problems if each.partition(":")[0] in names]
    left_out = [each for each in problems if each not in notes]
    return Imports(name, **ids, forgotten=forgotten, problems=(*left_out,), notes=(*notes,))


def bring_shipped(study: Study, run: Run | None = None) -> Imports:
    """The bugs that come with the program."""
    return import_bugs(study, _SHIPPED, NATIVE, run)


def known(study: Study, run: Run | None = None) -> list[storing.KnownBug]:
    """The bugs of the study; those that somebody put under <study>/bugs come in by the way.

    The place of such a one must be that of its id.
    """
    found = storing.registered(study)
    home = study.directory / storing.FOLDER
    if not home.is_dir():
        return found
    ids = {each.bug_id for each in found}
    bugs = []
    for folder in reading.bugs_in(home):
        bug_id = str(folder.relative_to(home))
        if bug_id.startswith(".") or bug_id in ids:
            continue
        with suppress(StudyError):  # --validate says what is wrong
            bug = checked(folder)
            if bug.bug_id == bug_id and content_hash(bug):
                bugs.append(bug)
    if not bugs:
        return found
    storing.register(study, bugs, run=run)
    return storing.registered(study)


def strangers(study: Study) -> dict[Path, str]:
    """Folders under <study>/bugs that are no bugs of the study, and why."""
    home = study.directory / storing.FOLDER
    if not home.is_dir():
        return {}
    ids = {each.bug_id for each in storing.registered(study)}
    found: dict[Path, str] = {}
    for folder in reading.bugs_in(home):
        place = str(folder.relative_to(home))
        if place.startswith(".") or place in ids:
            continue
        try:
            bug_id = checked(folder).bug_id
        except StudyError as error:
            found[folder] = _why(error, folder)
            continue
        if bug_id != place:
            found[folder] = misplaced(place, bug_id)
    return found


def misplaced(place: str, bug_id: str) -> str:
    """Said of a folder that is not where its id would have it."""
    return (
        f"its bug.toml says that it is {printable(bug_id)}, and it lies in {printable(place)}: "
        "change the id, or move the folder"
    )


def shipped() -> list[Path]:
    """The folders of the bugs that come with the program."""
    return reading.bugs_in(_SHIPPED)


def check_shipped(patterns: Sequence[str], sets: Collection[str]) -> None:
    """Refuse what none of them is called, before they are brought into a study."""
    ids = [f"{storing.SHIPPED}/{folder.name}" for folder in shipped()]
    for pattern in patterns:
        if not any(_is_meant(each, pattern) for each in ids):
            raise _unknown(pattern, ids)
    if unknown := [each for each in sets if each != storing.SHIPPED]:
        raise StudyError(
            f"the study has no set {printable(unknown[0])!r}",
            f"It has no bugs at all; --set {storing.SHIPPED} takes those that come with the "
            "program, --import FOLDER brings others in.",
        )


def importer_names() -> list[str]:
    """What may stand after --as."""
    from faultatlas.analysis.reexecution.importers import importers

    return sorted({NATIVE, *importers()})


def usual_sets(there: Collection[storing.KnownBug]) -> tuple[str, ...]:
    """The sets that are meant where none is named: the shipped one only where there is no other."""
    names = sorted({each.set_name for each in there})
    return tuple(each for each in names if each != storing.SHIPPED) or tuple(names)


def chosen(
    there: Collection[storing.KnownBug], patterns: Sequence[str] = (), sets: Collection[str] = ()
) -> list[storing.KnownBug]:
    """The bugs that are meant: all, those of sets, or by name (with `*` and `?`)."""
    names = {each.set_name for each in there}
    if unknown := [each for each in sets if each not in names]:
        raise StudyError(
            f"the study has no set {unknown[0]!r}", f"It has {', '.join(sorted(names)) or 'none'}."
        )
    within = [each for each in there if not sets or each.set_name in sets]
    if not patterns:
        return within
    wanted: set[str] = set()
    for pattern in patterns:
        matching = {each.bug_id for each in within if _is_meant(each.bug_id, pattern)}
        if not matching:
            raise _unknown(pattern, [each.bug_id for each in within])
        wanted |= matching
    return [each for each in within if each.bug_id in wanted]


def read_all(meant: Collection[storing.KnownBug]) -> tuple[list[Bug], dict[str, str]]:
    """The bugs, and for those that cannot be read why."""
    bugs, problems = [], {}
    for each in meant:
        if not each.is_there:
            problems[each.bug_id] = _gone(each)
            continue
        try:
            bug = checked(each.folder)
        except StudyError as error:
            problems[each.bug_id] = _why(error, each.folder)
            continue
        if bug.bug_id != each.bug_id:
            problems[each.bug_id] = misplaced(each.bug_id, bug.bug_id)
            continue
        bugs.append(bug)
    return bugs, problems


def unreadable(known: Collection[storing.KnownBug]) -> dict[str, str]:
    """Bugs whose description cannot be read now, and why; their other files are not looked at."""
    found = {}
    for each in known:
        if not each.is_there:
            found[each.bug_id] = _gone(each)
        elif wrong := reading.parse(each.folder)[1]:
            found[each.bug_id] = str(wrong[0])
    return found


def _gone(known: storing.KnownBug) -> str:
    what = "the bug.toml in " if known.folder.is_dir() else "its folder "
    return f"{what}{known.folder} is gone: import it again, or put it back"


def checked(folder: Path) -> Bug:
    """A bug whose files can be read too: what is wrong with one must not stop the others."""
    bug = reading.read(folder)
    try:
        content_hash(bug)
    except OSError as error:
        where = Path(str(error.filename or folder)).name
        raise StudyError(
            f"{printable(where)} cannot be read: {error.strerror}", "Make its files readable."
        ) from None
    return bug


def _first_line(error: StudyError) -> str:
    return error.message.partition("\n")[0]


def _why(error: StudyError, folder: Path) -> str:
    """The same without the path of the folder, which is named already."""
    return _first_line(error).replace(f"{printable(str(folder))}/", "")


def _days(study: Study) -> Callable[[str], str]:
    """The day of what an address names, where the study knows it; '' where it does not."""
    with study.reading() as reader:
        rows = reader.rows("SELECT alias, artifact_id FROM artifact_aliases")
    aliases = {row["alias"]: row["artifact_id"] for row in rows}

    def day(url: str) -> str:
        named = storing.artifact_of(url)
        if named is None:
            return ""
        with study.reading() as reader:
            found = reader.rows(
                "SELECT CAST(CAST(created_at AS DATE) AS VARCHAR) AS day FROM artifacts "
                "WHERE artifact_id = ? AND created_at IS NOT NULL",
                [resolve(named, aliases)],
            )
        return str(found[0]["day"]) if found else ""

    return day


def _is_meant(bug_id: str, pattern: str) -> bool:
    """The whole id, or its name without the set."""
    pattern = pattern.strip().lower().rstrip("/")
    return fnmatchcase(bug_id if "/" in pattern else bug_id.partition("/")[2], pattern)


def check_named(study: Study, patterns: Sequence[str]) -> None:
    """Refuse a name that only a folder has which is no bug of the study, and say why it is none."""
    home = study.directory / storing.FOLDER
    for folder, why in strangers(study).items() if patterns else ():
        place = str(folder.relative_to(home))
        if any(_is_meant(place, pattern) for pattern in patterns if not set("*?[") & set(pattern)):
            raise StudyError(
                f"{printable(place)} is not taken: {why}",
                f"All that is wrong with it: analysis reexecute --validate {folder}",
            )


def _unknown(pattern: str, ids: Sequence[str]) -> StudyError:
    names = [each.partition("/")[2] for each in ids]
    # Each bug once: by its name, unless a set was named or another set has such a bug.
    known = [
        each if "/" in pattern or names.count(name) > 1 else name
        for each, name in zip(ids, names, strict=True)
    ]
    near = get_close_matches(pattern.lower(), known, 3)
    part = pattern.strip("*/ ").lower()
    near += [each for each in known if part and part in each and each not in near][: 3 - len(near)]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return StudyError(
        f"no bug of the study is called {printable(pattern)}",
        f"{hint}`analysis reexecute --list` shows them; --import FOLDER brings others in.",
    )


def _importer(folder: Path, wanted: str) -> tuple[str, ModuleType | None]:
    """By its name, or the one that recognises the folder; None is our own format."""
    from faultatlas.analysis.reexecution.importers import importers

    known = importers()
    if wanted and wanted != NATIVE and wanted not in known:
        raise StudyError(
            f"there is no importer {printable(wanted)}", f"Known: {', '.join(importer_names())}."
        )
    if wanted:
        return wanted, known.get(wanted)
    for name in _recognising(folder):
        return name, known.get(name)
    raise StudyError(
        f"no importer recognises {folder}",
        f"Name one with --as: {', '.join(importer_names())}. Our own format has a bug.toml in each "
        "bug's folder.",
    )


def _recognising(folder: Path) -> Iterator[str]:
    """The importers that know a folder, the first of which is meant."""
    from faultatlas.analysis.reexecution.importers import importers

    if _native(folder):
        yield NATIVE
    for name, module in sorted(importers().items()):
        if module.recognises(folder):
            yield name


def _native(folder: Path) -> list[Path]:
    """The bugs of our own format in a folder, which may be that of another study."""
    of_a_study = folder / storing.FOLDER
    return reading.bugs_in(folder) or (reading.bugs_in(of_a_study) if of_a_study.is_dir() else [])


def _sound(bugs: Sequence[Bug], problems: list[str]) -> list[Bug]:
    """Those whose files can all be read; one that is spoilt does not keep the others out."""
    sound = []
    for bug in bugs:
        try:
            sound.append(checked(bug.folder))
        except StudyError as error:
            said = _first_line(error).replace(f"{printable(str(bug.folder))}/", "")
            problems.append(f"{bug.bug_id}: {said}")
    return sound


def _copied(folder: Path, drafts: Path) -> tuple[list[Bug], list[str]]:
    """Bugs that have our format already."""
    bugs: list[Bug] = []
    problems: list[str] = []
    for number, source in enumerate(_native(folder)):
        wrong = reading.parse(source)[1]
        if wrong:
            where = "" if source == folder else f"{printable(str(source.relative_to(folder)))}/"
            more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
            problems.append(f"{where}{wrong[0]}{more}")
            continue
        try:
            bug = reading.read(source)
            if any(each.bug_id == bug.bug_id for each in bugs):
                problems.append(f"{printable(source.name)}: there are two of {bug.bug_id}")
                continue
            draft = drafts / str(number)
            copying.check_size([source])
            problems += [f"{bug.bug_id}: {each}" for each in placing.copy(source, draft)]
            bugs.append(reading.read(draft))
        except StudyError as error:
            problems.append(error.message)
        except (places.PlaceError, copying.TooLargeError) as error:
            problems.append(f"{printable(source.name)}: {error}")
    return bugs, problems
