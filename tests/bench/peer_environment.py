"""An environment of its own for a tool whose pins would not go with ours, in the cache folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.measured import NotMeasured


def peer_python(package: str, version: str) -> Path:
    """The interpreter of an environment that has this package; made once, with the network."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "faultatlas"
    folder = cache / f"bench-{package}-{version}"
    python = folder / "bin" / "python"
    if (folder / "complete").exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)  # an earlier attempt that was interrupted
    try:
        _run([sys.executable, "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", f"{package}=={version}"])
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise NotMeasured(f"{package} {version} could not be installed ({_last(error)})") from None
    (folder / "complete").touch()
    return python


def _run(words: list[str]) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=600)


def _last(error: Exception) -> str:
    """How pip ended; what it said may name addresses of this machine's indexes."""
    if isinstance(error, subprocess.CalledProcessError):
        return f"pip ended with {error.returncode}"
    return type(error).__name__
