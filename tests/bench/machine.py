"""What the machine is like on which something was measured; no names of hosts, no paths."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PEERS = ("PyDriller", "lxml", "PyGithub", "statsmodels", "typer", "duckdb")


def machine() -> dict[str, str]:
    """Facts by their names."""
    cores = os.cpu_count() or 1
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "CPU": f"{_processor()}, {cores} core{'s' if cores != 1 else ''}",
        "memory": f"{memory / 1024**3:.1f} GiB",
        "system": _system(),
        "Python": platform.python_version(),
        "beside": ", ".join(_versions()),
    }


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:  # not Linux
        text = ""
    named = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", text, re.MULTILINE)
    return named[1].strip() if named else platform.processor() or platform.machine()


def _system() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.system()
    return f"{name}, {platform.machine()}"


def _versions() -> list[str]:
    found = []
    for peer in PEERS:
        try:
            found.append(f"{peer} {version(peer)}")
        except PackageNotFoundError:
            continue
    for tool in ("git", "grep"):
        try:
            said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        if number := re.search(r"\d+(?:\.\d+)+", said.stdout):
            found.append(f"{tool} {number[0]}")
    return found
