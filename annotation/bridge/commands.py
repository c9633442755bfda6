"""What `annotation serve`, `rater`, `push` and `pull` do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultatlas.annotation.bridge import accounts, places, server_database, serving
from faultatlas.annotation.bridge.installation import prepared
from faultatlas.annotation.bridge.own_server import PORT, SHARED, OwnServer, own_servers
from faultatlas.annotation.bridge.pulling import pull
from faultatlas.annotation.bridge.pushing import (
    Plan,
    independent_plan,
    push,
    relabel_plan,
    stage_plan,
)
from faultatlas.annotation.rounds import find_round
from faultatlas.annotation.typed import typed
from faultatlas.data.errors import StudyError
from faultatlas.data.study import Study
from faultatlas.report.progress import progress

if TYPE_CHECKING:
    from faultatlas.annotation.bridge.page.tasks import Said
    from faultatlas.annotation.bridge.remote import Remote
    from faultatlas.annotation.bridge.serving import Started
    from faultatlas.annotation.labels import Stage
    from faultatlas.report.old.console import Output


# The server.


def start_servers(
    study: Path,
    output: Output,
    *,
    port: int | None,
    raters: Sequence[str],
    public_url: str | None,
) -> list[Started]:
    """Start the shared server, or one for each of these raters."""
    for rater in raters:
        _require_rater(study, rater)
    servers = [OwnServer(study, rater) for rater in raters] or [OwnServer(study)]
    for server in servers:
        running = server.running()
        if running:
            raise StudyError(
                f"Label Studio runs already: {running.url} (process {running.pid})",
                "Use it, or end it: annotation serve --stop",
            )
    if public_url and len(servers) > 1:
        raise StudyError(
            "several servers cannot have one address",
            "Start each on its own: annotation serve --own-server RATER --public-url URL",
        )
    address = places.checked_address(public_url) if public_url else public_url
    installation = prepared(output.tell)
    study.mkdir(parents=True, exist_ok=True)
    started: list[Started] = []
    try:
        for index, server in enumerate(servers):
            started.append(
                serving.start(
                    server,
                    installation,
                    output.tell,
                    port=None if port is None else port + index,
                    first_port=PORT + index,
                    public_url=address,
                )
            )
    except BaseException:
        for each in started:
            each.end()
        raise
    return started


def serve_document(started: Sequence[Started]) -> dict[str, Any]:
    """Where the servers are. The password stands in a file that only the user can read."""
    return {
        "servers": [
            {
                "rater": each.server.rater,
                "url": each.running.url,
                "public_url": each.server.access().public_url or None,
                "username": each.server.access().username,
                "password_file": str(each.server.access_file),
                "pid": each.running.pid,
            }
            for each in started
        ]
    }


def stop_servers(study: Path) -> list[str]:
    """End all servers of a study that run; their names."""
    return [server.name for server in own_servers(study) if serving.stop(server)]


# Raters.


def add_rater(
    study: Study,
    rater: str,
    output: Output,
    *,
    email: str | None,
    url: str | None,
    invite: bool,
    renew: bool = False,
) -> accounts.Added:
    """Make a rater known, with an account on the server that is meant, if one runs."""
    if url and renew:
        raise StudyError(
            "passwords can be set on the study's own server only",
            "Whoever runs the other one sets it there: label-studio reset_password --username "
            "LOGIN; or let the rater sign up anew: annotation rater add NAME --invite --url URL",
        )
    if invite and renew:
        raise StudyError("--invite and --new-password exclude each other", "Choose one of them.")
    with _connected() as connections:
        remote = connections.for_rater(study, rater, url)
        if remote is None and (email or invite or renew):
            raise StudyError(
                "no server runs that could make an account",
                "Start one: annotation serve; or name one: --url URL",
            )
        set_password = None
        if renew and remote:
            server = OwnServer(study.directory, None if remote.name == SHARED else rater)
            set_password = partial(server_database.set_password, server, prepared(output.tell))
        return accounts.add(
            study, rater, remote, email=email, invite=invite, set_password=set_password
        )


# Labels.


def push_round(
    study: Study,
    round_name: str,
    output: Output,
    *,
    url: str | None,
    raters: Sequence[str],
    own: bool,
    again: bool,
    version: str = "",
    abandon: bool = False,
) -> dict[str, Any]:
    """Send the independent stage of a round, or what of it is to be given again in a version."""
    plan = _plan(study, round_name, raters, version)
    return _pushed(study, plan, output, url=url, own=own, again=again, abandon=abandon)


def push_stage(
    study: Study,
    round_name: str,
    output: Output,
    *,
    stage: Stage,
    rater: str,
    said: Mapping[str, Sequence[Said]],
    version: str = "",
    url: str | None = None,
    own: bool = False,
    again: bool = True,
) -> dict[str, Any]:
    """Send items to one rater with what was said of them before, in the order of `said`.

    For what is negotiated (whoever notes the outcome is the rater) or adjudicated, in a version of
    the taxonomy that the study has kept.
    """
    with study.reading() as reader:
        plan = stage_plan(reader, round_name, stage, rater, said, version=version)
    return _pushed(study, plan, output, url=url, own=own, again=again)


def _plan(study: Study, round_name: str, raters: Sequence[str], version: str) -> Plan:
    with study.reading() as reader:
        if version and version != find_round(reader, round_name).taxonomy_version:
            return relabel_plan(reader, round_name, version, raters)
        return independent_plan(reader, round_name, raters)


def plan_round(
    study: Study, round_name: str, raters: Sequence[str], version: str = ""
) -> dict[str, Any]:
    """What a push would send, without asking any server."""
    plan = _plan(study, round_name, raters, version)
    return {
        "round": round_name,
        "stage": plan.stage,
        "taxonomy": plan.round.taxonomy,
        "taxonomy_version": plan.round.taxonomy_version,
        "suggestions": plan.round.suggestions,
        "raters": {rater: len(items) for rater, items in plan.items.items()},
    }


def pull_round(
    study: Study, round_name: str, output: Output, *, rater: str | None
) -> dict[str, Any]:
    """Bring the labels of all stages of a round back."""
    with _connected() as connections, progress(output, f"pulling {round_name}") as bar:
        reports = pull(
            study,
            round_name,
            lambda name: connections.named(study, name),
            rater=rater,
            advance=bar.update,
        )
    return {
        "round": round_name,
        "projects": [asdict(report) for report in reports],
        "complete": not any(report.problems for report in reports),
    }


def _pushed(
    study: Study,
    plan: Plan,
    output: Output,
    *,
    url: str | None,
    own: bool,
    again: bool,
    abandon: bool = False,
) -> dict[str, Any]:
    if url and own:
        raise StudyError(
            "--url and --own-servers exclude each other",
            "For raters on several servers push to each: --url URL --rater NAME",
        )
    with _connected() as connections, progress(output, f"pushing {plan.round.name}") as bar:

        def server(rater: str) -> Remote:
            if url:
                return connections.get(url, lambda: places.elsewhere(url))
            whose = rater if own else None
            return connections.get(str(whose), lambda: places.own(study.directory, whose))

        for rater in plan.items if own else ():
            server(rater)  # all of them run, or nothing is begun
        reports = push(
            study,
            plan,
            server,
            lambda name: connections.named(study, name),
            again=again,
            abandon=abandon,
            tell=output.tell,
            advance=bar.update,
        )
    return {
        "round": plan.round.name,
        "projects": [asdict(report) for report in reports],
        "complete": not any(report.problems for report in reports),
    }


class _Connections:
    """Servers that were connected to, each once."""

    def __init__(self) -> None:
        self._open: dict[str, Remote] = {}

    def get(self, key: str, connect: Callable[[], Remote]) -> Remote:
        if key not in self._open:
            self._open[key] = connect()
        return self._open[key]

    def named(self, study: Study, name: str) -> Remote:
        return self.get(name, lambda: places.named(study.directory, name))

    def for_rater(self, study: Study, rater: str, url: str | None) -> Remote | None:
        """The server by its address, else the rater's own one, else the shared one; if it runs."""
        if url:
            return self.get(url, lambda: places.elsewhere(url))
        for whose in (rater, None):
            if OwnServer(study.directory, whose).running():
                return self.get(str(whose), lambda: places.own(study.directory, whose))  # noqa: B023  (called at once)
        return None

    def close(self) -> None:
        for remote in self._open.values():
            remote.close()


@contextmanager
def _connected() -> Iterator[_Connections]:
    connections = _Connections()
    try:
        yield connections
    finally:
        connections.close()


def _raters(study: Path) -> list[str]:
    if not Study(study).exists:
        return []
    with Study(study).reading() as reader:
        return [row["rater"] for row in reader.rows("SELECT rater FROM store.rater ORDER BY rater")]


def _require_rater(study: Path, rater: str) -> None:
    known = _raters(study)
    if rater not in known:
        raise StudyError(
            f"{rater!r} is no rater of this study",
            f"Known: {', '.join(known)}."
            if known
            else f"First: annotation rater add {typed(rater)}",
        )


def raters_of_round(study: Path, round_name: str) -> list[str]:
    """The raters of a round, for a server each."""
    with Study(study).reading() as reader:
        return list(find_round(reader, round_name).raters)
