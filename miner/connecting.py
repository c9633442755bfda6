"""A client for a command: with the token that the user gave, if any, and as patient as asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from faultatlas.data.clock import seconds
from faultatlas.miner import projects
from faultatlas.miner.client import Client
from faultatlas.miner.tokens import find_token


@contextmanager
def connected(
    source: Literal["github", "gitee"],
    api_url: str,
    *,
    token_file: Path | None,
    max_wait: str,
    tell: Callable[[str], None],
) -> Iterator[Client]:
    """A client that is closed afterwards. A token does not travel readable for everybody."""
    token = find_token(source, token_file, os.environ, tell)
    if token:
        projects.refuse_plain_http(api_url)
    client = Client(
        api_url,
        token.value if token else None,
        kind=source,
        max_wait_s=seconds(max_wait),
        tell=tell,
        token_name=token.name if token else None,
    )
    try:
        yield client
    finally:
        client.close()
