"""What a run has spent on a project: requests, waits, and what is left of the quota."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from faultatlas.data.study import Writer
    from faultatlas.miner.ratelimit import Quota


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
    writer.put(
        "store.traffic",
        {"run_id": run_id, "project": project},
        {
            "requests": client.sent,
            "not_modified": client.not_modified,
            "waited_s": client.waited_s,
            "quota_limit": quota.limit if quota else None,
            "quota_left": quota.left if quota else None,
            "quota_resets_at": quota.resets_at if quota else None,
        },
    )
