"""One environment: an empty one first, then what is wished, then its bytecode."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from faultatlas.analysis.reexecution.environments import bytecode
from faultatlas.analysis.reexecution.environments.installing import Answer, Workshop, need_uv
from faultatlas.analysis.reexecution.environments.interpreters import Interpreter
from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem, explained
from faultatlas.analysis.reexecution.environments.requirements import Line, Wish
from faultatlas.analysis.reexecution.runs import Outcome

# uv asks an interpreter with -I, which Python 2 does not know.
_UV_FROM = (3, 6)
# Below, there was always setuptools in a new environment, and old packages import pkg_resources.
_SEEDED_BELOW = (3, 12)
_MOST_BUILDS = 60
_LARGEST_WHEEL = 500 << 20
_BLOCK = 1 << 20
_ODD = frozenset({errno.ELOOP, errno.ENOENT, errno.ENXIO, errno.ENODEV})
_COMPILE_OLD = "import sys; del sys.path[0]; import compileall; sys.exit(not compileall.main())"


class Builder:
    """Makes one environment in its folder.

    uv installs wheels alone. What has none is built apart, in a scratch folder with a cache of
    its own, and the wheel that comes out is installed like the others.
    """

    def __init__(self, interpreter: Interpreter, wish: Wish, workshop: Workshop) -> None:
        self.interpreter = interpreter
        self.wish = wish
        self.shop = workshop
        self.venv = workshop.folder / "venv"
        self.python = self.venv / "bin" / "python"
        self.log: list[str] = []
        self.notes: list[str] = []
        self.tool = "uv"
        self._bench = ""

    def build(self) -> None:
        """All of it; raises what an installer could not do."""
        self.clear()
        if self.interpreter.minor >= _UV_FROM:
            made = self._uv(["venv", "--quiet", "--python", self.interpreter.path, self.venv])
            problem = explained(made.log) if made.code else None
            if problem is None:
                self._seed()
                self._install_with_uv()
                self._compile()
                return
            if problem.outcome is not Outcome.NO_INTERPRETER:
                raise problem
        self.tool = "pip"
        self.notes.append("installed by the interpreter's own pip: uv does not take this Python")
        self._install_with_pip()
        _refuse_what_waits(self.venv)
        self._compile()

    def clear(self) -> None:
        """Nothing of an earlier attempt is left."""
        if self.shop.folder.exists():
            shutil.rmtree(self.shop.folder)
        self.shop.folder.mkdir(parents=True)

    def text(self) -> str:
        """The log so far."""
        return self._private("\n".join(self.log))

    def nearest(self, name: str, version: str) -> str | None:
        """The nearest release of the same minor version, of those that have wheels."""
        try:
            wanted = Version(version)
        except InvalidVersion:
            return None
        major, minor = (*wanted.release, 0)[:2]
        public = wanted.public
        sides = (
            (f"{name}>{public},<{major}.{minor + 1}.dev0", "lowest"),
            (f"{name}<{public},>={major}.{minor}", "highest"),
        )
        found = []
        for text, resolution in sides:
            words = ["pip", "compile", "--quiet", "--no-deps", "--no-header", "--no-annotate"]
            words += ["--python", str(self.interpreter.path), "--only-binary", ":all:"]
            words += ["--resolution", resolution, *self._places()]
            with self._file("near.txt", [text]) as file:
                answer = self._uv([*words, file])
            match = re.search(rf"^{re.escape(name)}==([^\s;]+)", answer.log, re.MULTILINE)
            if answer.code == 0 and match:
                found.append(match[1])
        return min(found, key=lambda one: _distance(Version(one), wanted), default=None)

    # -- with uv, wheels alone ------------------------------------------------------------------

    def _uv(self, words: Sequence[str | Path]) -> Answer:
        """A command that runs no package's code and writes into the cache."""
        more = {"UV_CACHE_DIR": str(self.shop.root / "uv"), "UV_LINK_MODE": "hardlink"}
        (self.shop.root / "uv").mkdir(parents=True, exist_ok=True)
        answer = self.shop.run([need_uv(), *map(str, words)], trusted=True, more=more)
        self._noted(words, answer)
        return answer

    def _noted(self, words: Sequence[str | Path], answer: Answer) -> None:
        shown = [word for word in map(str, words) if not word.startswith("/")]
        self.log.append(f"$ uv {' '.join(shown)}\n{answer.log}")

    def _seed(self) -> None:
        """The setuptools that this Python itself brings, as every new environment once had it."""
        if self.interpreter.minor >= _SEEDED_BELOW or self.wish.named("setuptools"):
            return
        minor = "python{}.{}".format(*self.interpreter.minor)
        folder = self.interpreter.prefix / "lib" / minor / "ensurepip" / "_bundled"
        for wheel in sorted(folder.glob("setuptools-*.whl"))[-1:]:
            words = ["pip", "install", "--quiet", "--offline", "--no-deps", "--no-index"]
            self._uv([*words, "--python", self.python, wheel])

    def _install_with_uv(self) -> None:
        if not self.wish.lines:
            return
        answer = self._wheels(self._lines(), built=False)
        if answer.code and (_without_wheel(answer.log) or self._sources()):
            self._may_build(_without_wheel(answer.log) or "a package")
            answer = self._with_built()
        self._need(answer)

    def _wheels(self, lines: Sequence[str], *, built: bool) -> Answer:
        words: list[str | Path] = ["pip", "install", "--only-binary", ":all:"]
        words += ["--python", self.python, *self._places()]
        words += ["--no-deps", "--find-links", self.shop.folder / "built"] if built else []
        with self._file("wanted.txt", lines) as file, self._bounds() as bounds:
            return self._uv([*words, "-r", file, *bounds])

    def _lines(self) -> list[str]:
        return [line.text for line in self.wish.lines]

    def _sources(self) -> bool:
        """Whether a line names something that is no wheel."""
        urls = [line.parsed.url for line in self.wish.lines if line.parsed and line.parsed.url]
        return any(not url.split("#")[0].endswith(".whl") for url in urls)

    def _places(self) -> list[str]:
        wish = self.wish
        words = ["--no-index"] if wish.no_index else []
        for link in wish.links:
            words += ["--find-links", link]
        words += ["--default-index", wish.index] if wish.index else []
        for url in wish.indexes:
            words += ["--extra-index-url", url]
        # The bug may name several places: all of them are asked, as pip did.
        words += ["--index-strategy", "unsafe-best-match"] if wish.indexes else []
        words += ["--torch-backend", wish.torch] if wish.torch not in {"", "none"} else []
        return words

    @contextmanager
    def _file(self, name: str, lines: Sequence[str]) -> Iterator[Path]:
        """Never where a build can write: it could put a link there that leads elsewhere."""
        self.shop.asked.mkdir(parents=True, exist_ok=True)
        file = self.shop.asked / name
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        try:
            yield file
        finally:
            file.unlink(missing_ok=True)

    @contextmanager
    def _bounds(self) -> Iterator[list[str | Path]]:
        if self.wish.constraints:
            with self._file("bounds.txt", self.wish.constraints) as file:
                yield ["-c", file]
        else:
            yield []

    def _need(self, answer: Answer) -> None:
        if answer.code:
            problem = explained(self._private(answer.log))
            raise EnvironmentProblem(problem.outcome, problem.line, self.text())

    def _private(self, log: str) -> str:
        """The log without paths of this host."""
        for place in (self.shop.root, Path.home()):
            log = log.replace(f"{place}/", "")
        return log

    # -- what has no wheel ------------------------------------------------------------------------

    def _may_build(self, name: str) -> None:
        if not self.shop.may_build:
            raise EnvironmentProblem(
                Outcome.NOT_STARTED,
                f"{name} has no wheel and must be built by its own setup.py, and there is no "
                "bubblewrap to do it in; install bubblewrap, or allow it with --isolation none",
                self.text(),
            )

    def _apart(self, words: Sequence[str]) -> Answer:
        """A command that may run a package's own code: it sees the scratch folder alone."""
        more = {"UV_CACHE_DIR": self.shop.inside("uv"), "UV_LINK_MODE": "copy"}
        answer = self.shop.run([need_uv(), *words], trusted=False, more=more)
        self._noted(words, answer)
        return answer

    def _with_built(self) -> Answer:
        """Choose all versions, build those without a wheel, then install as usual."""
        self._set_up_bench()
        words = ["pip", "compile", "--quiet", "--no-header", "--no-annotate"]
        lines = self._compiled([*words, *self._places()])
        if isinstance(lines, Answer):
            return lines
        chosen = [Line(text) for text in lines]
        self.shop.folder.joinpath("built").mkdir(exist_ok=True)
        ready: list[str] = []
        for line in chosen:
            url = line.parsed.url if line.parsed else None
            is_source = url and not url.split("#")[0].endswith(".whl")
            ready.append(self._built(line) if is_source else line.text)
        answer = self._wheels(ready, built=True)
        for _ in range(_MOST_BUILDS):
            name = _without_wheel(answer.log) if answer.code else ""
            meant = [line for line in chosen if line.name == canonicalize_name(name)]
            if not meant:
                break
            self._built(meant[0])
            answer = self._wheels(ready, built=True)
        return answer

    def _compiled(self, words: list[str]) -> list[str] | Answer:
        """All versions, as uv chooses them when it may look into source packages."""
        with (
            self._file("wanted.txt", self._lines()) as wanted,
            self._file("bounds.txt", self.wish.constraints) as bounds,
            self._file("build-bounds.txt", self.wish.build_constraints),
        ):
            words = [*words, "--python", self._bench, *self._isolated()]
            words += ["-c", str(bounds), str(wanted), "-o", self.shop.inside("chosen.txt")]
            answer = self._apart(words)
        if answer.code:
            return answer
        with _own_file(self.shop.scratch / "chosen.txt", 1_000_000) as file:
            chosen = file.read(1_000_000).decode("utf-8", "replace")
        lines = [line.strip() for line in chosen.splitlines()]
        return [line for line in lines if line and not line.startswith(("#", "-"))]

    def _isolated(self) -> list[str]:
        """How builds get what they need: each its own, or what was put there first."""
        if self.wish.build_with:
            return ["--no-build-isolation"]
        bounds = str(self.shop.asked / "build-bounds.txt")
        return ["-b", bounds] if self.wish.build_constraints else []

    def _set_up_bench(self) -> None:
        self._bench = self.shop.inside("bench/bin/python")
        made = ["venv", "--quiet", "--python", str(self.interpreter.path)]
        self._need(self._apart([*made, self.shop.inside("bench")]))
        if self.wish.build_with:
            words = ["pip", "install", "--quiet", "--python", self._bench, *self._places()]
            self._need(self._apart([*words, "--only-binary", ":all:", *self.wish.build_with]))

    def _built(self, line: Line) -> str:
        """Build one package; the line that asks for the wheel."""
        words = ["pip", "install", "--no-deps", "--python", self._bench, *self._places()]
        words += ["--target", self.shop.inside("taken"), *self._isolated()]
        with self._file("build-bounds.txt", self.wish.build_constraints):
            self._need(self._apart([*words, line.text]))
        scratch = Path(os.path.realpath(self.shop.scratch))
        for file in sorted(scratch.glob("uv/sdists-v*/**/*.whl")):
            try:
                name, version, *_ = parse_wheel_filename(file.name)
            except InvalidWheelFilename:
                continue
            # What a build leaves there may be anything: only this package's wheel is taken, and
            # only from there, whatever links it has put on the way.
            if name == line.name and Path(os.path.realpath(file)) == file:
                with (
                    _own_file(file, _LARGEST_WHEEL) as wheel,
                    (self.shop.folder / "built" / file.name).open("wb") as copy,
                ):
                    shutil.copyfileobj(wheel, copy, _BLOCK)
                return f"{line.name}=={version}"
        raise EnvironmentProblem(
            Outcome.NO_ENVIRONMENT, f"the build of {line.name} left no wheel", self.text()
        )

    # -- without uv -------------------------------------------------------------------------------

    def _install_with_pip(self) -> None:
        self._may_build(f"Python {self.interpreter.version} installs with its own pip: a package")
        own = str(self.interpreter.path)
        self.venv.mkdir(parents=True, exist_ok=True)  # it is all of the folder that they write
        if self.interpreter.minor >= (3, 3):
            made = self._pip([own, "-m", "venv", str(self.venv)])
        else:
            # Python 2 has no venv: virtualenv is put beside, used once and left out.
            tools = self.shop.inside("tools")
            pip = [own, "-m", "pip", "install", "--quiet", "--target", tools]
            made = self._pip([*pip, "virtualenv<20.22"])
            if not made.code:
                words = [own, "-m", "virtualenv", "--quiet", "--no-download", str(self.venv)]
                made = self._pip(words, {"PYTHONPATH": tools})
        if made.code:
            problem = explained(made.log)
            pins = problem.outcome is Outcome.NO_ENVIRONMENT
            raise EnvironmentProblem(
                Outcome.NO_INTERPRETER if pins else problem.outcome,
                f"Python {self.interpreter.version} cannot make an environment: {problem.line}",
                self.text(),
            )
        if self.wish.lines:
            self._need(self._pip_install())

    def _pip(self, words: list[str], more: dict[str, str] | None = None) -> Answer:
        more = {"PIP_CACHE_DIR": self.shop.inside("pip"), **(more or {})}
        answer = self.shop.run(words, trusted=False, more=more, writable=[self.venv])
        self.log.append(answer.log)
        return answer

    def _pip_install(self) -> Answer:
        wish = self.wish
        words = [str(self.python), "-m", "pip", "install", "--no-compile", "--prefer-binary"]
        words += ["--no-index"] if wish.no_index else []
        for link in wish.links:
            words += ["--find-links", link]
        words += ["--index-url", wish.index] if wish.index else []
        for url in wish.indexes:
            words += ["--extra-index-url", url]
        with self._file("wanted.txt", self._lines()) as file, self._bounds() as bounds:
            return self._pip([*words, "-r", str(file), *map(str, bounds)])

    # -- bytecode ---------------------------------------------------------------------------------

    def _compile(self) -> None:
        """By the installation's own interpreter, without `site`: no package's code runs.

        It stands in an empty folder, for what packages left in theirs may be called compileall;
        and it writes into the environment alone, wherever links in there lead. A file that does
        not compile is none of our business: nobody may ever import it.
        """
        old = self.interpreter.minor < (3, 5)
        words = [str(self.interpreter.path), *(("-E", "-S") if old else ("-I", "-S"))]
        if old:  # without -I the folder in which it stands comes first
            words += ["-c", _COMPILE_OLD, "-q"]
        else:
            words += ["-m", "compileall", "-q", "-j", str(os.cpu_count() or 1)]
        # Another build of the same minor version may have another format of bytecode.
        tag = "cpython-{}{}".format(*self.interpreter.minor)
        store = self.shop.root / "bytecode" / self.interpreter.version
        # What pip installed may have brought bytecode of its own: it is not shared.
        shared = self.tool == "uv" and not old
        for folder in _packages(self.venv):
            if not shared or bytecode.known(folder, store, tag):
                self.shop.run(
                    [*words, str(folder)],
                    trusted=False,
                    more={"PYTHONHASHSEED": "0"},
                    writable=[self.venv],
                    anew=True,
                )
            if shared:
                bytecode.keep(folder, store, tag)


@contextmanager
def _own_file(file: Path, most: int) -> Iterator[BinaryIO]:
    """A file that others wrote: a plain one, not too long, and no link to somewhere else."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno not in _ODD:
            raise
        raise _no_plain(file) from None
    with os.fdopen(descriptor, "rb") as stream:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise _no_plain(file)
        if state.st_size > most:
            raise EnvironmentProblem(
                Outcome.NO_ENVIRONMENT,
                f"a build left {file.name}, of {state.st_size >> 20:,} MB; "
                f"{most >> 20:,} are accepted",
            )
        yield stream


def _no_plain(file: Path) -> EnvironmentProblem:
    return EnvironmentProblem(Outcome.NO_ENVIRONMENT, f"a build left no plain file: {file.name}")


def _refuse_what_waits(venv: Path) -> None:
    """Packages that installed themselves may have left a queue, at which a reader waits."""
    for root, _, names in os.walk(venv):
        for name in names:
            state = Path(root, name).lstat()
            if not stat.S_ISREG(state.st_mode) and not stat.S_ISLNK(state.st_mode):
                raise _no_plain(Path(name))


def _without_wheel(log: str) -> str:
    """The package that has no wheel, when that is why it failed."""
    named = re.search(r"Wheels are required for `([^`]+)`", log)
    named = named or re.search(r"([A-Za-z0-9_.-]+?)(?:[=<>]=?\S+)? has no (?:usable )?wheels", log)
    named = named or re.search(r"all versions of ([A-Za-z0-9_.-]+) have no (?:usable )?wheels", log)
    if named:
        return named[1]
    return "a package" if re.search(r"--no-build\b|building .* is disabled", log) else ""


def _packages(venv: Path) -> list[Path]:
    found = sorted(venv.glob("lib/python*/site-packages"))
    home = os.path.realpath(venv)
    return [folder for folder in found if Path(os.path.realpath(folder)).is_relative_to(home)]


def installed(venv: Path) -> dict[str, str]:
    """Names and versions, read from what installers leave beside packages."""
    found = {}
    for folder in _packages(venv):
        for one in metadata.distributions(path=[str(folder)]):
            name = one.metadata["Name"]
            if name:
                found[str(canonicalize_name(name))] = one.version
    return dict(sorted(found.items()))


def _distance(one: Version, other: Version) -> list[int]:
    width = max(len(one.release), len(other.release))
    pad = [[*v.release, *([0] * (width - len(v.release)))] for v in (one, other)]
    return [abs(a - b) for a, b in zip(*pad, strict=True)]
