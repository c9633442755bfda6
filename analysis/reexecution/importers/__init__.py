"""One file a set of bugs, found by discovery.

`NAME`; `recognises(folder)`; and `import_bugs(folder, into, dated=None) -> Imported`, which writes
`<into>/<name>/` for each bug, all ids beginning with the name of one set, executes nothing, follows
no link out of the folder, and goes on behind a broken bug. `dated` says the day of an address
(YYYY-MM-DD, or ''), where a study knows it.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def importers() -> dict[str, ModuleType]:
    """The modules of this package by their name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return {module.NAME: module for module in modules}
