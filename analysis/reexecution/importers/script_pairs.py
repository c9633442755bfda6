"""Pairs of a buggy and a fixed version beside each other: `<x>-buggy` and `<x>-fix`, and the like.

What a README, a spreadsheet and the scripts themselves say is taken; the rest is guessed.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from faultatlas.analysis.reexecution.artifacts.places import is_behind_link, walk
from faultatlas.analysis.reexecution.artifacts.reading import requirement_lines
from faultatlas.analysis.reexecution.bugs import (
    SIDES,
    Bug,
    Commands,
    DataFile,
    EnvironmentSpec,
    Fidelity,
    Labels,
    Limits,
    Oracle,
    Symptom,
)
from faultatlas.analysis.reexecution.importing import datasets, test_scripts
from faultatlas.analysis.reexecution.importing.building import each_bug, store
from faultatlas.analysis.reexecution.importing.choosing_oracles import of_script
from faultatlas.analysis.reexecution.importing.days import day_of_post, day_of_script, post_number
from faultatlas.analysis.reexecution.importing.guessing import Guess, asserted, bounds_of, guess
from faultatlas.analysis.reexecution.importing.imported import Imported
from faultatlas.analysis.reexecution.importing.pairs import Pair, find_pairs
from faultatlas.analysis.reexecution.importing.printed_scores import (
    Printed,
    changed_lines,
    printed_measure,
)
from faultatlas.analysis.reexecution.importing.scripts import (
    distributions,
    framework,
    main_script,
    reached,
    texts,
)
from faultatlas.analysis.reexecution.importing.tables import Row, rows
from faultatlas.analysis.reexecution.importing.texts import line, slug, text_of
from faultatlas.analysis.reexecution.importing.versions_by_date import Bound, is_within, python_for
from faultatlas.analysis.reexecution.storing import SHIPPED

NAME = "script-pairs"
_SYMPTOMS = {
    "error": "crash", "crash": "crash", "low effectiveness": "bad-performance",
    "low efficiency": "bad-performance",
}  # fmt: skip
_MOST_USED = re.compile(r"most of .{0,80}?TensorFlow (\d+\.\d+\.\d+)", re.IGNORECASE | re.DOTALL)
_OTHER_PYTHON = re.compile(r"`([\w/ .-]+)` using python\s?(\d\.\d)", re.IGNORECASE)
_RUNS = re.compile(r"^\W*(?:[\w ]+: ?)?(?:\$ ?)?python3? +(\S+\.py.*?)\W*$", re.MULTILINE)
_OWN = re.compile(
    r"test_script\.py|test-(?:buggy|fix)\.sh|data\.sh|readme.*|requirements\.txt|\..*",
    re.IGNORECASE,
)


@dataclass
class _Set:
    """What is said about all pairs of a set."""

    root: Path
    name: str
    readme: str
    rows: list[Row] = field(default_factory=list)
    shared: Counter[str] = field(default_factory=Counter)  # pairs of one folder
    dated: Callable[[str], str] | None = None


def recognises(folder: Path) -> bool:
    """Whether there is at least one pair below it."""
    return bool(find_pairs(folder))


def import_bugs(folder: Path, into: Path, *, dated: Callable[[str], str] | None = None) -> Imported:
    """All pairs of a folder; `dated` says the day of an address where a study knows it."""
    pairs = find_pairs(folder)
    tables = sorted(
        path for depth in ("*.xlsx", "*/*.xlsx", "*/*/*.xlsx") for path in folder.glob(depth)
    )
    whole = _Set(
        folder,
        _set_name(folder),
        _readme(folder),
        [row for path in tables[:10] if not is_behind_link(path, folder) for row in rows(path)],
        Counter(pair.path for pair in pairs),
        dated,
    )
    by_buggy = {pair.buggy: pair for pair in pairs}
    return each_bug(
        folder,
        [pair.buggy for pair in pairs],
        lambda buggy, imported: _import(whole, by_buggy[buggy], into, imported),
    )


def _import(whole: _Set, pair: Pair, into: Path, imported: Imported) -> None:
    name = _name(whole, pair)
    say = partial(imported.say, name)
    roots = {"buggy": pair.buggy, "fixed": pair.fixed}
    files = {side: _files(root) for side, root in roots.items()}
    beside = whole.root / pair.path if pair.path else whole.root
    row = _row(whole, pair)
    url = _url(pair, row)
    runs, scripts, notes = _runs(pair, roots, files, beside, say)
    content = {side: texts(_folder(roots[side]), scripts[side]) for side in SIDES}
    all_texts = [text for side in SIDES for text in content[side].values()]
    test_script = text_of(beside / "test_script.py")
    versions = {side: asserted([test_script, *content[side].values()]) for side in SIDES}
    if versions["buggy"] != versions["fixed"] and all(versions.values()):
        say(
            f"the sides ask for different versions of TensorFlow ({versions['buggy']}, "
            f"{versions['fixed']}): that of the buggy side is taken"
        )
    used = _folder(pair.buggy)
    packages, unknown = distributions(used, scripts["buggy"]) if scripts["buggy"] else ([], [])
    if unknown:
        say(f"it imports {', '.join(unknown[:5])}: name what installs it in requirements.txt")
    day = _day(whole, pair, url, all_texts)
    bounds = () if versions["buggy"] else bounds_of([test_script, *content["buggy"].values()])
    guessed = _environment(
        whole, pair, all_texts, packages, version=versions["buggy"], day=day, bounds=bounds
    )
    if bounds and "tensorflow" in packages:
        asked = ", ".join(f"{sign} {version}" for sign, version in bounds)
        taken = next((each for each in guessed.requirements if each.startswith("tensorflow")), "")
        say(f"it asks for TensorFlow {asked}, and nothing more exact: {taken} was taken")
    wanted: dict[str, str] = {}
    for side in SIDES:
        if side in runs:
            runs[side] = _with_data(runs[side], content[side], files[side], wanted)
    words = _words(pair, row, url)
    printed = _printed(content["buggy"], content["fixed"])
    symptom, oracle = _oracle(row, words, printed, packages, say)
    ours = {
        posixpath.normpath(f"{runs[side].place if side in runs else '.'}/{path}")
        for side in SIDES
        for path in files[side]
    }
    data, parts = _data(whole, pair, beside, wanted, partial(_beside, ours, say))
    bug = Bug(
        bug_id=f"{whole.name}/{name}",
        folder=into / name,
        title=_title(row, url, pair),
        url=url,
        source="stackoverflow" if "stackoverflow" in url else "github" if "github" in url else "",
        labels=Labels(
            symptom=symptom, taxonomy="humbatova", framework=framework(used, scripts["buggy"])
        ),
        environment=EnvironmentSpec(guessed.python, guessed.requirements, (), guessed.guessed),
        data=data,
        runs=runs,
        clean=(),
        outputs=(),
        oracle=oracle,
        limits=Limits(seconds=900.0),
        fidelity=(Fidelity.GUESSED,) if guessed.guessed else (Fidelity.DECLARED,),
        own_oracle={"symptom": row.symptom, "cause": row.cause} if row else {},
        notes=tuple(notes),
        data_place=".",
    )
    parts += [(roots[side], side if roots[side].is_dir() else f"{side}/{roots[side].name}")
              for side in SIDES]  # fmt: skip
    store(bug, into, parts, imported)


def _set_name(folder: Path) -> str:
    """The beginning of all ids: the folder's name, unless the program's own bugs are called so."""
    name = slug(folder.resolve().name)[:60].strip("-._")
    return f"{name}-pairs" if name == SHIPPED else name


def _name(whole: _Set, pair: Pair) -> str:
    alone = pair.path and whole.shared[pair.path] == 1
    return slug(pair.path if alone else f"{pair.path}-{pair.stem or pair.buggy.stem}")


def _folder(root: Path) -> Path:
    return root if root.is_dir() else root.parent


def _files(root: Path) -> set[str]:
    return {path for path, _ in walk(root)} if root.is_dir() else {root.name}


def _readme(folder: Path) -> str:
    for path in sorted(folder.glob("*")):
        if re.fullmatch(r"readme(?:\.\w+)?", path.name, re.IGNORECASE):
            return text_of(path)
    return ""


def _row(whole: _Set, pair: Pair) -> Row | None:
    """The row of the spreadsheet about a pair: by its number, or by cause and count."""
    number = post_number(pair.stem) or post_number(Path(pair.path).name)
    found = re.fullmatch(r"(?:.*/)?(\w+)-(\d+)", pair.path)
    cause, count = (found[1], int(found[2])) if found else ("", 0)
    if number:
        about = [row for row in whole.rows if str(number) in row.url]
        return next((row for row in about if row.cause == cause), about[0] if about else None)
    for row in whole.rows:
        named = pair.stem and f"/{pair.stem}" in row.url.lower()
        if row.cause == cause and row.number == count and row.sheet in pair.path and named:
            return row
    named_only = [row for row in whole.rows if pair.stem and f"/{pair.stem}" in row.url.lower()]
    return named_only[0] if not cause and named_only else None


def _url(pair: Pair, row: Row | None) -> str:
    if row and row.url.startswith("http"):
        return line(row.url)
    number = post_number(pair.stem) or post_number(Path(pair.path).name)
    return f"https://stackoverflow.com/questions/{number}" if number else ""


def _title(row: Row | None, url: str, pair: Pair) -> str:
    words = url.rpartition("/")[2].replace("-", " ") if row and "stackoverflow" in url else ""
    return words if words and not words.isdigit() else line(pair.path or pair.stem)


def _runs(
    pair: Pair, roots: dict[str, Path], files: dict[str, set[str]], beside: Path, say: partial[None]
) -> tuple[dict[str, Commands], dict[str, list[str]], list[str]]:
    """Commands by side, and the scripts that they reach."""
    runs: dict[str, Commands] = {}
    scripts: dict[str, list[str]] = {side: [] for side in SIDES}
    notes: list[str] = []
    test_script, readme = text_of(beside / "test_script.py"), _readme(beside) if pair.path else ""
    for side, root in roots.items():
        found, left_out = test_scripts.commands(test_script, root.name)
        notes += [f"{side}: {each!r} is not run: runs have no network" for each in left_out]
        if found:
            runs[side] = Commands(tuple(found), ".", root.name)
            for command in found:
                script = next((word for word in command[1:] if word.endswith(".py")), "")
                path = posixpath.normpath(script).removeprefix(f"{root.name}/")
                scripts[side] += reached(root, path, files[side])
            continue
        script = _entry(root, sorted(files[side]), readme)
        if script:
            runs[side] = Commands((("python", posixpath.basename(script)),),
                                  posixpath.dirname(script) or ".", ".")  # fmt: skip
            scripts[side] = reached(_folder(root), script, files[side])
    if missing := [side for side in SIDES if side not in runs]:
        say(f"{' and '.join(missing)}: which script is run could not be told; write the commands "
            "into bug.toml")  # fmt: skip
    return runs, scripts, notes


def _entry(root: Path, files: list[str], readme: str) -> str:
    """The script that is run: the one that the README beside it names, or the only likely one."""
    told = _RUNS.findall(readme)
    if len(set(told)) > 1:
        return ""  # several processes at once, or a manual: for a person to read
    names = [*(words.split()[0] for words in told), *re.findall(r"\b([\w-]+\.py)\b", readme)]
    named = [path for path in files if path in names]
    if len(named) == 1:
        return named[0]
    return main_script(root, files) if root.is_dir() else root.name


def _day(whole: _Set, pair: Pair, url: str, contents: list[str]) -> str:
    if whole.dated and url and (found := whole.dated(url)):
        return found
    written = min(filter(None, map(day_of_script, contents)), default="")
    number = post_number(url) or post_number(pair.stem)
    return written or (day_of_post(number) if number else "")


def _environment(
    whole: _Set, pair: Pair, contents: list[str], packages: list[str], *, version: str, day: str,
    bounds: tuple[Bound, ...] = (),
) -> Guess:  # fmt: skip
    """Declared in a requirements.txt beside the scripts, asserted by them, or guessed."""
    declared = text_of(_folder(pair.buggy) / "requirements.txt")
    usual = _MOST_USED.search(whole.readme)
    python = next(
        (number for path, number in _OTHER_PYTHON.findall(whole.readme) if path == pair.path), ""
    )
    if lines := requirement_lines(declared):
        pins = dict(re.findall(r"^([\w.-]+)==([\w.]+)", "\n".join(lines).lower(), re.MULTILINE))
        fitting = python or python_for("tensorflow", pins.get("tensorflow", ""), day)
        made = guess(contents, [], day=day, python=fitting)
        return Guess(made.python, lines, () if python else ("python",))
    told = usual[1] if usual and is_within(usual[1], bounds) else ""
    asked = version or told
    of_then = "" if asked else day  # a later version was used: its day is what counts
    return guess(contents, packages, day=of_then, tensorflow=asked, python=python, bounds=bounds)


def _with_data(
    run: Commands, scripts: dict[str, str], files: set[str], wanted: dict[str, str]
) -> Commands:
    there = {posixpath.normpath(f"{run.place}/{path}") for path in files}
    found, links = datasets.placed_all(scripts.values(), run.directory, there)
    wanted.update(found)
    commands = tuple(
        datasets.linking(links, run.directory, command)
        if links and command[0] == "python"
        else command
        for command in run.commands
    )
    return Commands(commands, run.directory, run.place)


def _words(pair: Pair, row: Row | None, url: str) -> str:
    """What is said about a pair in few words: title of the post, names of scripts, symptom."""
    title = url.rpartition("/")[2].replace("-", " ")
    scripts = sorted(pair.buggy.glob("*.py")) if pair.buggy.is_dir() else [pair.buggy]
    names = " ".join(path.stem for path in scripts)
    return f"{title} {names} {row.symptom if row else ''}"


def _printed(buggy: dict[str, str], fixed: dict[str, str]) -> Printed | None:
    """The score that the script of the buggy side prints, if the fix leaves it what it is."""
    first = next(iter(buggy.values()), "")
    return printed_measure(first, changed_lines(buggy, fixed))


def _oracle(
    row: Row | None, words: str, printed: Printed | None, packages: list[str], say: partial[None]
) -> tuple[str, Oracle]:
    """Symptom and oracle; what nobody says is told."""
    code = _SYMPTOMS.get(row.symptom.lower(), "") if row else ""
    uses_keras = "keras" in packages
    oracle = of_script(code, words, printed, uses_keras=uses_keras)
    if not code and oracle.symptom is Symptom.CRASH and (printed or uses_keras):
        oracle = of_script("bad-performance", words, printed, uses_keras=uses_keras)
    if not code:
        say(f"nobody says its symptom: the oracle looks for {oracle.symptom}, the label is empty")
    if oracle.symptom is Symptom.INCORRECT_OUTPUT:
        say("no score compares its sides, and nobody says what is right: write pattern or check")
    return code, oracle


def _beside(ours: set[str], say: partial[None], entry: Path) -> list[tuple[Path, str]]:
    """What lies beside a pair; without that which a side has itself, and would be run instead."""
    above = {str(each) for path in ours for each in PurePosixPath(path).parents}
    if entry.name not in ours | above:
        return [(entry, f"data/{entry.name}")]
    inside = [f"{entry.name}/{path}" for path, _ in walk(entry)] if entry.is_dir() else [entry.name]
    kept = [
        path
        for path in inside
        if path not in ours | above
        and not any(str(each) in ours for each in PurePosixPath(path).parents)
    ]
    if left_out := sorted({*inside} - {*kept}):
        more = f" and {len(left_out) - 1} more" if len(left_out) > 1 else ""
        say(f"{left_out[0]}{more} beside the pair: left out, for a side has its own")
    return [(entry.parent / path, f"data/{path}") for path in kept]


def _data(
    whole: _Set,
    pair: Pair,
    beside: Path,
    wanted: dict[str, str],
    taken: Callable[[Path], list[tuple[Path, str]]],
) -> tuple[tuple[DataFile, ...], list[tuple[Path, str]]]:
    """Data that is wanted, and what the set has of it: beside the pair, or in its `Datasets`."""
    parts: list[tuple[Path, str]] = []
    if pair.path and whole.shared[pair.path] == 1:
        sides = {pair.buggy, pair.fixed}
        parts = [
            part
            for entry in sorted(beside.iterdir())
            if entry not in sides and not _OWN.fullmatch(entry.name) and not entry.is_symlink()
            for part in taken(entry)
        ]
    declared = []
    for path, source in sorted(wanted.items()):
        declared.append(DataFile(path, source=source))
        name = posixpath.basename(path)
        has = whole.root / "Datasets" / "mnist" / name
        if name in datasets.MNIST_FILES and has.is_file() and not is_behind_link(has, whole.root):
            parts.append((has, f"data/{path}"))
    return tuple(declared), parts
