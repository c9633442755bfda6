"""A Dask cluster on this machine: a worker without a GPU, and on request one that has one.

It says its address, then waits for lines: `gpu` starts the second worker and answers when it is
there; the end of the input is the end of the cluster. Folders of `nvidia-smi` and of modules that
workers shall find come as arguments.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import AsyncExitStack

from distributed import Nanny, Scheduler


def say(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


async def main(tools: str, local: str) -> None:
    loop = asyncio.get_running_loop()
    plain = {"PATH": os.environ["PATH"]}
    both = {"PATH": f"{tools}:{os.environ['PATH']}"}
    options = {"nthreads": 1, "local_directory": local, "dashboard": False}
    async with AsyncExitStack() as stack:
        scheduler = await stack.enter_async_context(
            Scheduler(host="127.0.0.1", port=0, dashboard=False)
        )
        await stack.enter_async_context(Nanny(scheduler.address, env=plain, **options))
        say(scheduler.address)
        while await loop.run_in_executor(None, sys.stdin.readline):
            await stack.enter_async_context(
                Nanny(scheduler.address, env=both, resources={"GPU": 1}, **options)
            )
            say("ready")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
