"""One file a study question, found by discovery: `NAME`, `run(...) -> Result`, `command`, `again`.

`again(study, parameters)` computes a result again from its `parameters` alone.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import Any


def questions() -> dict[str, ModuleType]:
    """The modules of this package by the name of their subcommand."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return {module.NAME: module for module in modules}


def analyses() -> dict[str, Any]:
    """By the name of each question what computes a result of it again: an entry point."""
    return {name: module.again for name, module in questions().items() if hasattr(module, "again")}
