"""Where environments lie: in the user's cache folder, beside what uv downloaded for them."""

from __future__ import annotations

import os
from pathlib import Path


def own_folder() -> Path:
    """Our part of the user's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "faultatlas"


def cache_folder() -> Path:
    """The folder of all environments."""
    return own_folder() / "environments"
