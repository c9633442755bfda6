"""Options that several commands of `miner` have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ApiOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Another server, such as https://git.example.org/api/v3; or set GITHUB_API_URL.",
    ),
]
TokenFileOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="File with a token, instead of GITHUB_TOKEN or GITEE_TOKEN."),
]
MaxWaitOption = Annotated[
    str,
    typer.Option(metavar="TIME", help="Longest wait for the server's quota: 0, 90, 15m, 2h."),
]
