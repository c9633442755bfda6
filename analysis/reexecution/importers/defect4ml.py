"""defect4ML: `bugs/NNN/{conf.ini, requirements.txt, test_suite.py, buggy, fixed, ...}`."""

from __future__ import annotations

import configparser
import difflib
import posixpath
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

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
    Symptom,
)
from faultatlas.analysis.reexecution.importing import datasets
from faultatlas.analysis.reexecution.importing.building import each_bug, store
from faultatlas.analysis.reexecution.importing.choosing_oracles import of_suite
from faultatlas.analysis.reexecution.importing.imported import Imported
from faultatlas.analysis.reexecution.importing.scripts import framework, reached, texts
from faultatlas.analysis.reexecution.importing.suites import Steps, Suite, read_suite, steps
from faultatlas.analysis.reexecution.importing.taxonomy_codes import code
from faultatlas.analysis.reexecution.importing.texts import line, slug, text_of
from faultatlas.analysis.reexecution.importing.versions_by_date import python_for, python_on

NAME = "defect4ml"
RESULT = "result.json"
_KEYS = ("python", "source", "framework", "url", "property", "bug_type", "root_cause", "symptom",
         "description", "entry_point")  # fmt: skip
_OWN = frozenset({"conf.ini", "requirements.txt", "test_suite.py", *SIDES})
_PYTEST = ("pytest", "py.test")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s\"',]+|\b[\w-]+(?:\.[\w-]+)+/[^\s\"',]+")
_UNPACKED = re.compile(r"\b(?:extract|unpack|unzip|decompress)", re.IGNORECASE)
_UNDECLARED = "2019-06-01"  # the middle of the years that the set's bugs are of


def recognises(folder: Path) -> bool:
    """Whether it is the repository, or its folder `bugs`."""
    return any(not is_behind_link(each, folder) for each in _folders(folder))


def import_bugs(folder: Path, into: Path, *, dated: Callable[[str], str] | None = None) -> Imported:
    """All bugs of the set; `dated` says the day of an address where a study knows it."""
    return each_bug(folder, _folders(folder), partial(_import, into, dated))


def _folders(folder: Path) -> list[Path]:
    home = folder / "bugs" if (folder / "bugs").is_dir() else folder
    return sorted(each for each in home.iterdir() if (each / "conf.ini").is_file())


def _import(
    into: Path, dated: Callable[[str], str] | None, folder: Path, imported: Imported
) -> None:
    name = slug(folder.name)
    say = partial(imported.say, name)
    said = read_conf(text_of(folder / "conf.ini"), say)
    suite = read_suite(text_of(folder / "test_suite.py"))
    notes = [line(said["description"], 1000)] if said["description"] else []
    sources = _prose(said["entry_point"], notes)
    files = {side: _files(folder / side) for side in SIDES}
    if absent := [side for side in SIDES if not files[side]]:
        where = f": check out {line(said['url'])}" if said["url"] else ""
        sides = " and ".join(absent)
        say(f"{sides}: not in the set (a submodule that it does not describe){where}")
    symptom = _code(said["symptom"], "symptoms", say)
    uses_keras = "keras" in said["framework"].lower() or _uses_keras(folder, files)
    result = RESULT if suite.files else ""
    oracle = of_suite(symptom, said["description"], suite, result, uses_keras=uses_keras)
    if oracle.symptom is Symptom.INCORRECT_OUTPUT and not oracle.pattern:
        say("no oracle could be read from it: write pattern or check into its bug.toml")
    runs: dict[str, Commands] = {}
    wanted: dict[str, str] = {}
    for side in SIDES:
        plan = _plan(said, suite, side, files[side])
        if not plan.commands:
            say(f"no command is known for the {side} side: neither suite nor entry point has one")
            continue
        plan = _from_the_right_place(plan, side, folder)
        notes += [f"{side}: {each}" for each in plan.notes]
        scripts = texts(folder / side, _reached(side, folder, plan, files[side]))
        there = {*(f"{side}/{path}" for path in files[side]), *_beside(folder)}
        data, links = datasets.placed_all(scripts.values(), plan.directory, there)
        wanted.update(data)
        asked = suite.files.get(side, "") if oracle.file else ""
        runs[side] = _commands(folder / side, plan, asked, links)
    day = dated(line(said["url"])) if dated else ""
    python, requirements, guessed = _environment(folder, said, day, say)
    beside = sorted(each for each in folder.iterdir() if each.name not in _OWN)
    if suite.wrong:
        say(f"its own test suite cannot be trusted: {'; '.join(suite.wrong)}")
    bug = Bug(
        bug_id=f"{NAME}/{name}",
        folder=into / name,
        title=line(said["description"], 160) or line(said["bug_type"]),
        url=line(said["url"]),
        source=line(said["source"]).lower(),
        labels=Labels(
            symptom=symptom,
            fault=_code(said["bug_type"], "humbatova", say),
            taxonomy="humbatova",
            property=_code(said["property"], "testing-properties", say),
            framework=slug(said["framework"]) if said["framework"] else "",
            about_gpu=bool(re.search(r"\b(?:gpu|cuda)", said["description"], re.IGNORECASE)),
        ),
        environment=EnvironmentSpec(python, requirements, (), guessed),
        data=tuple(
            DataFile(path, source=source)
            for path, source in {**wanted, **sources}.items()
            if not (folder / path).is_file() or is_behind_link(folder / path, folder)
        ),
        runs=runs,
        clean=(RESULT,),
        outputs=(oracle.file,) if oracle.file else (),
        oracle=oracle,
        limits=Limits(seconds=1800.0),
        fidelity=(Fidelity.GUESSED,) if guessed else (Fidelity.DECLARED,),
        own_oracle=_own_oracle(suite),
        notes=tuple(notes),
        data_place=".",
    )
    parts = [(folder / side, side) for side in SIDES if files[side]]
    parts += [(each, f"data/{each.name}") for each in beside if not each.name.startswith(".")]
    store(bug, into, parts, imported)


def read_conf(text: str, say: partial[None]) -> dict[str, str]:
    """The values of a `conf.ini` by key; keys with slips of the pen are found, and named."""
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
        found = {**parser.defaults()}
        for section in parser.sections():
            found.update(parser[section])
    except configparser.Error:
        say("conf.ini is broken; what has the form `key = value` was taken")
        found = dict(re.findall(r"^[ \t]*(\w+)[ \t]*[=:][ \t]*(.*)$", text, re.MULTILINE))
    said = dict.fromkeys(_KEYS, "")
    for key, value in found.items():
        near = difflib.get_close_matches(key.lower().replace(" ", "_"), _KEYS, n=1, cutoff=0.7)
        if not near:
            say(f"conf.ini has {key!r}, which is not known")
            continue
        if near[0] != key:
            say(f"conf.ini has {key!r}, read as {near[0]!r}")
        said[near[0]] = said[near[0]] or (value or "").replace("%%", "%").strip()
    return said


def _prose(entry_point: str, notes: list[str]) -> dict[str, str]:
    """Files that an entry point tells people to fetch, by their names.

    Of an archive that is to be unpacked, or of a page, nobody can tell which files a run needs:
    the run itself shows what is missing.
    """
    sources = {}
    for each in entry_point.splitlines():
        words = each.strip()
        if not words or _is_pytest(words) or re.fullmatch(r"(?:python3? )?\S+\.py(?: .*)?", words):
            continue
        notes.append(f"To do before a run: {line(words, 600)}")
        if address := _ADDRESS.search(words):
            name = address[0].split("?")[0].rstrip("/.").rpartition("/")[2]
            if re.fullmatch(r"[\w-]+(?:\.\w+)+", name) and not _UNPACKED.search(words):
                sources[name] = line(words, 600)
    return sources


def _is_pytest(words: str) -> bool:
    first = words.split(maxsplit=1)[0].lower()
    return bool(difflib.get_close_matches(first, _PYTEST, n=1, cutoff=0.8))


def _files(side: Path) -> set[str]:
    if side.is_symlink() or not side.is_dir():
        return set()
    return {path for path, _ in walk(side)}


def _beside(folder: Path) -> set[str]:
    """Files that are no side's."""
    found = set()
    for each in folder.iterdir():
        if each.name not in _OWN and not each.is_symlink():
            inside = walk(each) if each.is_dir() else ()
            found |= {f"{each.name}/{path}" for path, _ in inside} or {each.name}
    return found


def _plan(said: dict[str, str], suite: Suite, side: str, files: set[str]) -> Steps:
    """What the suite runs for a side, else the entry point; misspelt scripts are found."""
    found = steps(suite.commands.get(side, []))
    if not found.commands:
        for each in said["entry_point"].splitlines():
            if entry := re.fullmatch(r"(?:python3? )?(\S+\.py)((?: .*)?)", each.strip()):
                found = steps([f"python {side}/{entry[1]}{entry[2]}"])
    commands, notes = [], list(found.notes)
    for command in found.commands:
        script = _script(command)
        path = posixpath.normpath(posixpath.join(found.directory, script))
        inside = path.removeprefix(f"{side}/")
        near = difflib.get_close_matches(inside, sorted(files), n=1, cutoff=0.8)
        if script and files and inside not in files and near:
            real = posixpath.relpath(f"{side}/{near[0]}", found.directory)
            notes.append(f"its suite runs {script}, which is not there; {real} is run")
            command = tuple(real if word == script else word for word in command)  # noqa: PLW2901
        commands.append(command)
    return Steps(tuple(commands), found.directory, tuple(notes))


def _script(command: tuple[str, ...]) -> str:
    return next((word for word in command[1:] if word.endswith(".py")), "")


def _from_the_right_place(plan: Steps, side: str, folder: Path) -> Steps:
    """Scripts that write `<side>/result.json` and are run inside of `<side>`: one level up."""
    if plan.directory != side or (folder / side).is_symlink():
        return plan
    content = "".join(text_of(folder / side / _script(command)) for command in plan.commands)
    if not re.search(rf"""open\([^)]*["']{side}/""", content):
        return plan
    moved = tuple(
        tuple(f"{side}/{word}" if word == _script(command) else word for word in command)
        for command in plan.commands
    )
    note = f"run from above its folder, since it writes {side}/{RESULT}"
    return Steps(moved, ".", (*plan.notes, note))


def _reached(side: str, folder: Path, plan: Steps, files: set[str]) -> list[str]:
    found: list[str] = []
    for command in plan.commands:
        path = posixpath.normpath(posixpath.join(plan.directory, _script(command)))
        if path.startswith(f"{side}/"):
            found += reached(folder / side, path.removeprefix(f"{side}/"), files)
    return list(dict.fromkeys(found))


def _commands(root: Path, plan: Steps, asked: str, links: dict[str, str]) -> Commands:
    """The commands of a side; the file with the number is brought to where both sides have it."""
    side = root.name
    commands = [
        datasets.linking(links, plan.directory, command)
        if links and command[0] == "python"
        else command
        for command in plan.commands
    ]
    if asked:
        written = _written(root, posixpath.basename(asked), plan.directory) or asked
        above = posixpath.dirname(written)
        if above and above != side and not above.startswith(f"{side}/"):
            commands.insert(0, ("mkdir", "-p", posixpath.relpath(above, plan.directory)))
        if written != RESULT:
            source, to = (posixpath.relpath(each, plan.directory) for each in (written, RESULT))
            commands.append(("cp", source, to))
    return Commands(tuple(commands), plan.directory, side)


def _written(root: Path, name: str, directory: str) -> str:
    """Where in the workspace a side's scripts write a file of that name; '' where none says so."""
    if root.is_symlink() or not root.is_dir():
        return ""
    pattern = re.compile(rf"""open\(\s*(?:file\s*=\s*)?["']([\w./-]*{re.escape(name)})["']""")
    for path, _ in walk(root):
        if path.endswith(".py") and (found := pattern.search(text_of(root / path))):
            whole = posixpath.normpath(posixpath.join(directory, found[1]))
            return "" if whole.startswith(("..", "/")) else whole
    return ""


def _code(words: str, taxonomy: str, say: partial[None]) -> str:
    found, told = code(words, taxonomy)
    if told:
        say(told)
    return found


def _uses_keras(folder: Path, files: dict[str, set[str]]) -> bool:
    scripts = [path for path in files["buggy"] if path.endswith(".py")][:50]
    return bool(scripts) and framework(folder / "buggy", scripts) == "keras"


def _environment(
    folder: Path, said: dict[str, str], day: str, say: partial[None]
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Python and requirements as declared; a Python that is not is guessed."""
    lines = tuple(
        each
        for each in requirement_lines(text_of(folder / "requirements.txt"))
        if each.isprintable()
    )
    if not lines:
        say("requirements.txt is missing or empty")
    if declared := re.search(r"[23]\.\d+(?:\.\d+)?", said["python"]):
        return declared[0], lines, ()
    pins = dict(re.findall(r"^([\w.-]+)==([\w.]+)", "\n".join(lines).lower(), re.MULTILINE))
    for package in ("tensorflow", "torch", "numpy"):
        if package in pins and (found := python_for(package, pins[package])):
            say(f"python is not declared; {found} was guessed from {package} {pins[package]}")
            return found, lines, ("python",)
    guess = python_on(day or _UNDECLARED)
    say(f"python is not declared; {guess} was guessed")
    return guess, lines, ("python",)


def _own_oracle(suite: Suite) -> dict[str, object]:
    found: dict[str, object] = {"file": "test_suite.py", "expects_exception": suite.raises}
    if suite.asserts:
        found["asserts"] = suite.asserts
    if suite.files:
        found["reads"] = dict(suite.files)
    if suite.wrong:
        found["wrong"] = suite.wrong
    return found
