"""Why an environment could not be built: one line, and whose fault it is."""

from __future__ import annotations

import re

from faultatlas.analysis.reexecution.runs import Outcome

_LONGEST = 400  # characters of the one line
_LOG = 64_000  # characters of the log that are kept

# What uv (or pip) says itself when the host is at fault. What a package's own build script prints
# is indented under it and is not looked at: it could say anything.
_NETWORK = re.compile(
    r"error sending request|dns error|failed to lookup address|tcp connect error|"
    r"network is unreachable|connection (refused|reset|timed out)|operation timed out|"
    r"tls handshake|invalid peer certificate|temporary failure in name resolution|"
    r"newconnectionerror|http status (server error|.*\(5\d\d|.*\(40[137]|.*\(429)|"
    r"network connectivity is disabled|network was disabled",
    re.IGNORECASE,
)
_DISK = re.compile(r"no space left on device|disk quota exceeded|os error 28\b", re.IGNORECASE)
_INTERPRETER = re.compile(
    r"failed to inspect python interpreter|can't use python at|querying python at .* failed",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_ESCAPES = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|.)")
# Before the host of an address, which may be written without https:// where a proxy is named.
_SECRET = re.compile(
    r"(?<=://)[^/\s\"']+@|(?<![^\s=\"'(<,])[^/\s@:\"'=(<,]+:[^/\s\"']+@(?=[\w.\[-]+)"
)


class EnvironmentProblem(Exception):  # noqa: N818 - it is a result of the study, not a defect
    """There is no environment; `outcome` says whose fault it is, `line` what failed."""

    def __init__(self, outcome: Outcome, line: str, log: str = "") -> None:
        super().__init__(outcome, line, log)
        self.outcome = outcome
        self.line = line
        self.log = log

    def __str__(self) -> str:
        return self.line


def clean(text: str) -> str:
    """The text without control characters, terminal sequences and passwords in addresses."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return _SECRET.sub("", _CONTROL.sub("", text))


def shortened(log: str) -> str:
    """A log of bounded length: its beginning and its end."""
    if len(log) <= _LOG:
        return log
    half = _LOG // 2
    return f"{log[:half]}\n[... {len(log) - _LOG} characters ...]\n{log[-half:]}"


def own_lines(log: str) -> list[str]:
    """What the installer says itself, without what a package's build printed (it is indented)."""
    kept = []
    quoted = False
    for line in log.splitlines():
        bare = line.strip()
        if re.match(r"(\[(stderr|stdout)\]|--- (stderr|stdout))", bare):
            quoted = True
        elif re.match(r"(error|hint|warning|ERROR)\b|\s{2}(cause:|×|[├╰]─▶)", line):  # noqa: RUF001
            quoted = False
        if bare and not quoted:
            kept.append(bare)
    return kept


def condensed(log: str) -> str:
    """The one line that says what failed."""
    lines = own_lines(log)
    wanted = []
    for position, line in enumerate(lines):
        cause = re.sub(r"^(error:|ERROR:|cause:|[├╰]─▶|×)\s*", "", line)  # noqa: RUF001
        if cause != line:
            continued = []
            for more in lines[position + 1 :]:
                if re.match(r"(error|hint|warning|cause|ERROR)\b|[├╰×]", more):  # noqa: RUF001
                    break
                continued.append(re.sub(r"^│\s*", "", more))
            wanted.append(" ".join([cause, *continued]))
    if not wanted:
        return _cut(lines[-1]) if lines else "the installer gave no reason"
    said = wanted[0]
    if said.lower().startswith(("no solution found", "resolution failed")) and len(wanted) > 1:
        return _cut(_because(wanted[1]))
    printed = _printed(log)
    if printed:
        return _cut(f"{said}: {printed}")
    return _cut(": ".join(dict.fromkeys([said, *wanted[-1:]])))


def _because(text: str) -> str:
    """The heart of a resolver's sentence."""
    text = re.sub(r"^Because ", "", text.strip())
    text = re.sub(r",? we can conclude that your requirements are unsatisfiable\.?$", "", text)
    return re.sub(r"\s+", " ", text)


def _printed(log: str) -> str:
    """The last thing that a package's build printed before it failed."""
    found = ""
    quoted = False
    for line in log.splitlines():
        bare = line.strip()
        if re.match(r"(\[stderr\]|--- stderr)", bare):
            quoted = True
        elif re.match(r"(hint|error|warning):", line) or re.match(r"\[stdout\]|--- stdout", bare):
            quoted = False
        elif quoted and bare:
            found = bare
    return found


def _cut(text: str) -> str:
    text = re.sub(r"\s+", " ", clean(text)).strip()
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def explained(log: str) -> EnvironmentProblem:
    """The problem that an installer's log tells of."""
    log = clean(log)
    said = "\n".join(own_lines(log))
    line = condensed(log)
    if _DISK.search(said):
        problem = Outcome.NOT_STARTED
        line = f"the disk is full: {line}"
    elif _NETWORK.search(said):
        problem = Outcome.NOT_STARTED
        line = f"no network to the package registry: {line}"
    elif _INTERPRETER.search(said):
        problem = Outcome.NO_INTERPRETER
    else:
        problem = Outcome.NO_ENVIRONMENT
    return EnvironmentProblem(problem, _cut(line), shortened(log))
