"""One file a study question, found by discovery.

Those that are not on the frame yet have `NAME`, `run(...) -> Result`, `command` and `again`, which
computes a result again from its parameters.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def questions() -> dict[str, ModuleType]:
    """The modules of this package that are not on the frame, by the name of their command."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return {module.NAME: module for module in modules if hasattr(module, "NAME")}


def analyses() -> dict[str, Any]:
    """By the name of each question what computes a result of it again: an entry point."""
    return {name: module.again for name, module in questions().items() if hasattr(module, "again")}
