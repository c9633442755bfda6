"""What a run has spent on a project: requests, waits, and what is left of the quota."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from data.store import Writer
    from miner.ratelimit import Quota


class Spender(Protocol):
    """A client that counts."""

    sent: int
    not_modified: int
    waited_s: float

    @property
    def quota(self) -> Quota | None:
        """The newest quota that the server told."""


def note(writer: Writer, run_id: str, project: str, client: Spender) -> None:
    """Store what was spent so far."""
    quota = client.quota
    writer.execute(
        "INSERT OR REPLACE INTO store.traffic VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            run_id,
            project,
            client.sent,
            client.not_modified,
            client.waited_s,
            quota.limit if quota else None,
            quota.left if quota else None,
            quota.resets_at if quota else None,
        ],
    )
