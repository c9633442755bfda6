"""The environment for a bug: this installation, one from the cache, or one that is built now."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faultatlas.analysis.reexecution.bugs import EnvironmentSpec, Fidelity
from faultatlas.analysis.reexecution.environments import (
    host,
    installing,
    interpreters,
    repairing,
    requirements,
)
from faultatlas.analysis.reexecution.environments.building import Builder, installed
from faultatlas.analysis.reexecution.environments.folders import cache_folder
from faultatlas.analysis.reexecution.environments.installing import Workshop
from faultatlas.analysis.reexecution.environments.interpreters import Interpreter
from faultatlas.analysis.reexecution.environments.keeping import BUDGET_MB, Cache, Lock, tree_mb
from faultatlas.analysis.reexecution.environments.problems import EnvironmentProblem, shortened
from faultatlas.analysis.reexecution.environments.repairing import Place, Repair
from faultatlas.analysis.reexecution.environments.requirements import Wish
from faultatlas.analysis.reexecution.runs import Outcome
from faultatlas.analysis.reexecution.sandbox.places import check_prefix
from faultatlas.data.errors import StudyError

__all__ = ["EnvironmentProblem", "Prepared", "prepare"]

_FORMAT = 1  # of what is built: another number and nothing old is taken
_ROUNDS = 10  # repairs after failures, one at a time
_SECONDS = 1800.0
_TURNS = 3  # to build an environment that others remove in the same moment


@dataclass(frozen=True)
class Prepared:
    """An environment that is ready.

    It is not evicted while this object lives, in this process: a pickled copy protects nothing.
    """

    key: str
    python: Path
    readonly: tuple[Path, ...]  # what the sandbox must show, at the same paths
    versions: dict[str, str]
    repairs: tuple[str, ...]
    fidelity: tuple[Fidelity, ...]
    interpreter: str = ""  # its version
    notes: tuple[str, ...] = ()
    hold: Lock | None = field(default=None, compare=False, repr=False)

    def release(self) -> None:
        """It is no longer used."""
        if self.hold is not None:
            self.hold.release()


def prepare(
    spec: EnvironmentSpec,
    *,
    device: str = "cpu",
    cache: Path | None = None,
    base: Path | None = None,
    budget_mb: int | None = None,
    isolation: str = "auto",
    seconds: float = _SECONDS,
    tell: Callable[[str], None] | None = None,
) -> Prepared:
    """The environment that `spec` describes; `base` is the bug's folder.

    Raises `EnvironmentProblem` with the outcome that a run of this bug then has. With isolation
    'none' packages may be built without a sandbox; `seconds` is the limit for one build.
    """
    guessed = (Fidelity.GUESSED,) if spec.guessed else ()
    if spec.python.strip() in {"", "any", "host"}:
        versions = host.satisfied(spec.requirements)
        if versions is not None:
            return _host(versions, guessed)
    if spec.python.strip() == "host":
        raise EnvironmentProblem(
            Outcome.NO_INTERPRETER,
            "the Python that runs faultatlas lacks what the bug needs, and nothing is built for "
            f"it; install it there: {host.command_for(spec.requirements)}",
        )
    interpreter = interpreters.choose(spec.python)
    try:
        return _built(
            _Order(
                interpreter=interpreter,
                wish=requirements.read(spec.requirements, base),
                place=Place(interpreter.version, device),
                asked=repairing.asked_for(spec.repairs),
                cache=Cache(cache or cache_folder()),
                base=base.resolve() if base else None,
                budget_mb=BUDGET_MB if budget_mb is None else budget_mb,
                isolation=isolation,
                seconds=seconds,
                tell=tell or _silent,
                guessed=guessed,
            )
        )
    except OSError as error:
        raise EnvironmentProblem(
            Outcome.NOT_STARTED, f"the cache of environments cannot be used: {error}"
        ) from error


def forget() -> None:
    """What was found out about this host is found out anew: a worker may live for days."""
    for part in (host, interpreters, installing):
        part.forget()


def _silent(_: str) -> None:
    pass


def _host(versions: dict[str, str], guessed: tuple[Fidelity, ...]) -> Prepared:
    import platform
    import sys

    return Prepared(
        key=host.key(versions),
        python=Path(sys.executable),
        readonly=host.readonly(),
        versions=versions,
        repairs=(),
        fidelity=(Fidelity.DECLARED, *guessed),
        interpreter=platform.python_version(),
    )


@dataclass(frozen=True)
class _Order:
    interpreter: Interpreter
    wish: Wish
    place: Place
    asked: tuple[Repair, ...]
    cache: Cache
    base: Path | None
    budget_mb: float
    isolation: str
    seconds: float
    tell: Callable[[str], None]
    guessed: tuple[Fidelity, ...]

    def key(self, wish: Wish, *more: str) -> str:
        """The hash of interpreter, pins, device and platform."""
        said = [_FORMAT, self.interpreter.version, self.interpreter.platform, self.place.device]
        text = json.dumps([*said, wish.hashed(), *more])
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def request(self) -> str:
        """The hash of what was asked for, before any repair."""
        names = ",".join(repair.name for repair in self.asked)
        built_openly = "none" if self.isolation == "none" else ""
        return self.key(self.wish, repairing.edition(), names, built_openly)


def _built(order: _Order) -> Prepared:
    request = order.request
    ready = _remembered(order, request)
    if ready is not None:
        return ready
    with order.cache.alone(f"request-{request}", order.seconds * 2):
        ready = _remembered(order, request)  # another may have built it while we waited
        if ready is not None:
            return ready
        try:
            made, applied = _repaired_until_built(order)
        except EnvironmentProblem as problem:
            if problem.outcome is Outcome.NO_ENVIRONMENT:
                said = {"line": problem.line, "log": problem.log}
                order.cache.answer(request, {"outcome": problem.outcome.value, **said})
            with suppress(OSError):  # the problem is what counts; the next build looks again
                order.cache.make_room(order.budget_mb, has_failed=True)
            raise
        order.cache.answer(request, {"key": made.key, "repairs": [one.name for one in applied]})
    order.cache.make_room(order.budget_mb, keep=made.key)
    return made


def _remembered(order: _Order, request: str) -> Prepared | None:
    """What the cache already says; raises a failure that is not old."""
    found = order.cache.request(request)
    if found is None:
        return None
    if "key" not in found:
        outcome = Outcome(found["outcome"])
        raise EnvironmentProblem(outcome, str(found["line"]), str(found["log"]))
    return _from_cache(order, str(found["key"]), [str(name) for name in found["repairs"]])


def _from_cache(order: _Order, key: str, names: list[str]) -> Prepared | None:
    lock = order.cache.lock(key)
    if not lock.take(shared=True, seconds=order.seconds):
        return None
    record = _record(order, key)
    if record is None:
        lock.release()
        return None
    order.cache.touch(key)
    known = {repair.name: repair for repair in repairing.known()}
    return _prepared(order, key, record, [known[name] for name in names if name in known], lock)


def _record(order: _Order, key: str) -> dict[str, Any] | None:
    """What is known of an environment that can be used; else it is built again."""
    record = order.cache.record(key)
    if record is not None:
        try:
            host.shown_of(order.cache.place(key) / "venv", order.interpreter)
        except EnvironmentProblem:
            return None
    return record


def _prepared(
    order: _Order, key: str, record: dict[str, Any], applied: list[Repair], lock: Lock
) -> Prepared:
    venv = order.cache.place(key) / "venv"
    versions = {str(name): str(one) for name, one in record["versions"].items()}
    counted = [one for one in applied if _matters(one, versions)]
    return Prepared(
        key=key,
        python=venv / "bin" / "python",
        readonly=host.shown_of(venv, order.interpreter),
        versions=versions,
        repairs=tuple(repair.name for repair in counted),
        fidelity=(*repairing.fidelity(counted), *order.guessed),
        interpreter=order.interpreter.version,
        notes=tuple(str(note) for note in record.get("notes", ())),
        hold=lock,
    )


def _matters(repair: Repair, versions: dict[str, str]) -> bool:
    """Whether a bound was for something that is installed at all."""
    return not repair.constrain or any(
        requirements.Line(text).name in versions for text in repair.constrain
    )


def _repaired_until_built(order: _Order) -> tuple[Prepared, list[Repair]]:
    """Try what is declared, then what known repairs make of it, until something is built."""
    wish, applied = repairing.before(order.wish, order.place, order.asked)
    _refuse_unreadable(wish)
    _refuse_wide(order)
    ends_at = time.monotonic() + order.seconds
    first: EnvironmentProblem | None = None
    for _ in range(_ROUNDS):
        key = order.key(wish)
        ready = _from_cache(order, key, [repair.name for repair in applied])
        if ready is not None:
            return ready, applied
        builder = _builder(order, wish, key, ends_at)
        try:
            return _build(order, builder, key, applied), applied
        except EnvironmentProblem as problem:
            first = first or problem
            log = problem.log or problem.line
            torch = wish.torch not in {"", "none"}  # its index alone may be out of reach
            if problem.outcome is not Outcome.NO_ENVIRONMENT and not torch:
                order.cache.remove(key)
                raise
            with order.cache.downloading():
                again = repairing.after_failure(wish, order.place, log, applied, builder.nearest)
            order.cache.remove(key)
            if again is None:
                raise _told(problem, first, applied) from None
            wish, repair = again
            order.tell(f"{problem.line}: trying the repair {repair.name}")
            if repair not in applied:
                applied.append(repair)
    if first is None:  # pragma: no cover - the loop runs at least once
        raise AssertionError
    raise _told(first, first, applied)


def _told(
    last: EnvironmentProblem, first: EnvironmentProblem, applied: list[Repair]
) -> EnvironmentProblem:
    """The declared pins' own failure; the log tells what was tried after it."""
    tried = ", ".join(repair.name for repair in applied if repair.when == "failure")
    line = f"{first.line} (tried without success: {tried})" if tried else first.line
    log = first.log if last is first else f"{first.log}\n\n{last.log}"
    outcome = last.outcome if last.outcome is not Outcome.NO_ENVIRONMENT else first.outcome
    return EnvironmentProblem(outcome, line, shortened(log))


def _refuse_unreadable(wish: Wish) -> None:
    for line in wish.lines:
        if line.parsed is None:
            raise EnvironmentProblem(
                Outcome.NO_ENVIRONMENT,
                f"requirements.txt: {line.text[:200]!r} is no requirement",
            )
        url = line.parsed.url or ""
        if url.startswith("file:") and requirements.local_file(line) is None:
            raise EnvironmentProblem(
                Outcome.NO_ENVIRONMENT,
                f"requirements.txt: {line.text[:200]!r} is no package of the bug's",
            )


def _refuse_wide(order: _Order) -> None:
    """What runs would be refused for, builds are too: they see the interpreter's folder as well."""
    prefix = order.interpreter.prefix
    try:
        check_prefix(prefix, order.cache.folder, *([order.base] if order.base else []))
    except StudyError as error:
        raise EnvironmentProblem(
            Outcome.NOT_STARTED, f"{error.message.splitlines()[0]}; {error.hint}"
        ) from None


def _builder(order: _Order, wish: Wish, key: str, ends_at: float) -> Builder:
    readonly = [order.interpreter.prefix, *([order.base] if order.base else [])]
    shop = Workshop(
        root=order.cache.folder,
        folder=order.cache.place(key),
        readonly=tuple(readonly),
        isolation=order.isolation,
        ends_at=ends_at,
        seconds=order.seconds,
    )
    return Builder(order.interpreter, wish, shop)


def _build(order: _Order, builder: Builder, key: str, applied: list[Repair]) -> Prepared:
    """Build in place, under the environment's lock; the record is written last."""
    lock = order.cache.lock(key)
    for _ in range(_TURNS):
        if not lock.take(shared=False, seconds=order.seconds * 2):
            raise EnvironmentProblem(
                Outcome.NOT_STARTED,
                "another process has been building this environment for too long",
            )
        try:
            if _record(order, key) is None:
                _make(order, builder, key, applied)
        except BaseException:
            lock.release()
            raise
        lock.take(shared=True)
        # One kind of lock does not become the other at once: somebody may have come in between.
        record = _record(order, key)
        if record is not None:
            return _prepared(order, key, record, applied, lock)
    lock.release()
    raise EnvironmentProblem(
        Outcome.NOT_STARTED, "the environment was removed each time that it was built"
    )


def _make(order: _Order, builder: Builder, key: str, applied: list[Repair]) -> None:
    order.tell(f"building an environment with Python {order.interpreter.version}")
    started = time.monotonic()
    with order.cache.downloading():
        builder.build()
        host.shown_of(builder.venv, order.interpreter)  # raises where it shows what it must not
        # Inside: what was just unpacked has its links before anybody looks for unused files.
        size, own = tree_mb(builder.venv)
    versions = installed(builder.venv)
    record = {
        "format": _FORMAT,
        "python": order.interpreter.version,
        "platform": order.interpreter.platform,
        "device": order.place.device,
        "requirements": [line.text for line in builder.wish.lines if "file://" not in line.text],
        "constraints": list(builder.wish.constraints),
        "repairs": [repair.name for repair in applied if _matters(repair, versions)],
        "versions": versions,
        "tool": builder.tool,
        "isolation": "bubblewrap" if builder.shop.is_sandboxed else "none",
        "notes": builder.notes,
        "size_mb": round(size, 1),
        "own_mb": round(own, 1),
        "seconds": round(time.monotonic() - started, 1),
    }
    _tidied(builder)
    order.cache.finish(key, record)


def _tidied(builder: Builder) -> None:
    for name in ("tmp", "built", "asked"):
        shutil.rmtree(builder.shop.folder / name, ignore_errors=True)
    (builder.shop.folder / "log.txt").write_text(shortened(builder.text()), encoding="utf-8")
