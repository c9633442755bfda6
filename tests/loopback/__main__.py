"""The loopback server as a process of its own: prints its address, ends with its stdin.

python -m loopback --payloads generated:100000
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from loopback import payloads
from loopback.server import serving
from loopback.world import World


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m loopback", description=__doc__)
    options.add_argument("--payloads", default="small", help="small, datasets, generated:COUNT")
    fixtures = Path(os.environ.get("STUDY_FIXTURES", "."))
    options.add_argument("--fixtures", type=Path, default=fixtures, help="for datasets")
    options.add_argument("--comments-each", type=int, default=2)
    options.add_argument("--limit", type=int, default=1_000_000, help="requests an hour")
    options.add_argument("--gzip", action=argparse.BooleanOptionalAction, default=True)
    options.add_argument("--port", type=int, default=0)
    own = "addresses in payloads lead here, for clients that follow them"
    options.add_argument("--own-urls", action="store_true", help=own)
    asked = options.parse_args()
    kind, _, count = asked.payloads.partition(":")
    match kind:
        case "small":
            world = World.small()
        case "datasets":
            world = World.of_datasets(asked.fixtures)
        case "generated":
            world = World.generated(int(count), asked.comments_each)
        case _:
            options.error(f"there are no payloads {asked.payloads}")
    world.gzip = asked.gzip
    world.keeps_log = False
    for token in world.tokens:
        world.tokens[token] = asked.limit
    with serving(world, asked.port) as server:
        if asked.own_urls:
            payloads.API = server.url
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
