"""Values out of JSON that nobody promised us: the wrong type is a missing value, not a crash."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

Who = Callable[[str | None], str | None]  # login -> pseudonym

_MAX_INTEGER = 2**31 - 1


def text(value: Any) -> str | None:
    """Text that a database takes: halves of surrogate pairs are replaced."""
    if not isinstance(value, str):
        return None
    return value.encode("utf-8", "replace").decode("utf-8") if not value.isascii() else value


def integer(value: Any) -> int | None:
    """A count."""
    sound = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_INTEGER
    return value if sound else None


def boolean(value: Any) -> bool | None:
    """True, false or nothing."""
    return value if isinstance(value, bool) else None


def moment(value: Any) -> datetime | None:
    """A time with a zone, as UTC without one."""
    if not isinstance(value, str):
        return None
    try:
        found = datetime.fromisoformat(value)
        return found.astimezone(UTC).replace(tzinfo=None) if found.tzinfo else found
    except (ValueError, OverflowError):
        return None


def entry(value: Any, *names: str) -> Any:
    """What stands under a path of names, or None."""
    for name in names:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def entries(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, Mapping))


def names(value: Any) -> tuple[str, ...]:
    """The names of a list of labels, sorted; old answers have plain strings."""
    items = value if isinstance(value, list) else []
    found = {text(item) or text(entry(item, "name")) for item in items}
    return tuple(sorted(name for name in found if name))
