"""Which site a dump is of: archives and their folders are named after it, the file says nothing."""

from __future__ import annotations

import re
from pathlib import Path

from faultatlas.data.errors import StudyError

_HOST = re.compile(
    r"((?:[a-z0-9-]+\.)*(?:(?:stackexchange|stackoverflow|superuser|serverfault|askubuntu|stackapps)"
    r"\.com|mathoverflow\.net))(?![a-z0-9])",
    re.IGNORECASE,
)


def check_site(path: Path, site: str) -> bool:
    """Refuse a dump that is named after another site: its posts would get the ids of others.

    Says whether its name tells the site.
    """
    place = path.absolute()
    for name in (place.name, place.parent.name):
        if named := _HOST.match(name.lstrip("-_. ")):
            host = named[1].lower().removeprefix("www.")
            if host != site:
                raise StudyError(
                    f"{name} is named after {host}, and posts of {site} are asked for",
                    f"Add --site {host}; if the name is wrong, rename it.",
                )
            return True
    return False
