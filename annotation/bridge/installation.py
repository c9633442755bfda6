"""Label Studio's own environment: set up once for this user, in the cache folder.

The server is large and pins much, so that it shares nothing with ours. Beside it stands a
database that was migrated once: every new server begins with a copy of it, in seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faultatlas.data.errors import StudyError

VERSION = "1.23.2"  # of Label Studio: the one place that says it
DATABASE = "label_studio.sqlite3"

_START = "from label_studio.server import main; main()"
# Label Studio takes almost any variable for a setting (HOST, PORT, DEBUG, CI): only these pass.
_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "SYSTEMROOT")
_QUIET = {
    "LABEL_STUDIO_COLLECT_ANALYTICS": "false",
    "LABEL_STUDIO_LATEST_VERSION_CHECK": "false",
    "LABEL_STUDIO_SENTRY_DSN": "",
    "LABEL_STUDIO_FRONTEND_SENTRY_DSN": "",
    "LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED": "false",
    # It asks the outside world for tips and news; nobody answers at the discard port.
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": "http://127.0.0.1:9",
}


@dataclass(frozen=True)
class Installation:
    """A Label Studio that can be started."""

    folder: Path

    @property
    def template(self) -> Path:
        """A migrated database without users."""
        return self.folder / "template" / DATABASE

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        name = "Scripts/python.exe" if sys.platform == "win32" else "bin/python"
        return self.folder / "environment" / name

    def words(self, *arguments: str) -> list[str]:
        """The command line of `label-studio` with these arguments."""
        return [str(self.python), "-W", "ignore", "-c", _START, *arguments]

    @property
    def is_ready(self) -> bool:
        """Whether all of it is there; the template is made last."""
        return self.template.is_file() and self.python.exists()


def cache_folder() -> Path:
    """Where this version lives."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "faultatlas" / f"label-studio-{VERSION}"


def variables(data: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """What Label Studio runs with: no analytics, no network, no settings meant for others."""
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    # An absolute path: it changes into its own folder.
    where = {"LABEL_STUDIO_BASE_DATA_DIR": str(data.resolve())}
    return {**passed, **_QUIET, **where, **(more or {})}


def prepared(tell: Callable[[str], None], folder: Path | None = None) -> Installation:
    """Label Studio, installed first where it is not; what a killed process left is made anew."""
    found = Installation(folder or cache_folder())
    if found.is_ready:
        return found
    found.folder.mkdir(parents=True, exist_ok=True)
    with _alone(found.folder):
        if not found.python.exists() or not (found.folder / "installed").exists():
            tell(f"installing Label Studio {VERSION} into {found.folder} (1 GB, once)")
            _install(found)
        if not found.template.exists():
            tell("preparing its database (once; about a minute)")
            _migrate(found)
    return found


def _install(found: Installation) -> None:
    environment = found.folder / "environment"
    shutil.rmtree(environment, ignore_errors=True)
    wanted = f"label-studio=={VERSION}"
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv:
        _run([uv, "venv", "--quiet", "--python", sys.executable, str(environment)])
        _run([uv, "pip", "install", "--quiet", "--python", str(found.python), wanted])
    else:
        _run([sys.executable, "-m", "venv", str(environment)])
        pip = [str(found.python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        _run([*pip, wanted])
    (found.folder / "installed").touch()


def _migrate(found: Installation) -> None:
    draft = found.folder / "template.new"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    _run(found.words("version"), variables(draft))  # it migrates before it says its version
    draft.rename(found.template.parent)


def _run(words: list[str], environment: Mapping[str, str] | None = None) -> None:
    ended = subprocess.run(words, check=False, capture_output=True, text=True, env=environment)
    if ended.returncode:
        lines = [line for line in ended.stderr.splitlines() if line.strip()]
        raise StudyError(
            f"Label Studio {VERSION} could not be set up: {(lines or ['no reason given'])[-1]}",
            "The network is needed once, and 1 GB of room. Then run this again; or use a server "
            "that you have: annotation push ROUND --url URL.",
        )


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While this lasts, no other process sets it up."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with (folder / ".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main() -> None:
    """Set it up without starting it: `python -m faultatlas.annotation.bridge.installation`."""
    from faultatlas.report.console import Console
    from faultatlas.report.program import guarded

    guarded(lambda: prepared(Console().tell))


if __name__ == "__main__":
    main()
