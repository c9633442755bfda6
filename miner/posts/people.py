"""Who wrote a post: the account's number, which no change of name changes."""

from __future__ import annotations

from faultatlas.miner.payload import Who


def login_of(user_id: int | None, display_name: str | None) -> str | None:
    """What stands for a person on a site; a display name only where there is no account."""
    if user_id is not None:
        return str(user_id)
    name = (display_name or "").strip()
    if not name:
        return None
    # Anybody may be called 42, and is not the account of that number.
    return f"name {name}" if name.lstrip("-").isdecimal() else name


def author(who: Who, user_id: int | None, display_name: str | None) -> str | None:
    """The pseudonym; `who` is that of the site."""
    return who(login_of(user_id, display_name))
