"""The command `miner`: puts together what each part of mining offers."""

from __future__ import annotations

from faultatlas.miner.commits.cli import commands as commits
from faultatlas.miner.funnel.cli import commands as funnel
from faultatlas.miner.issues.cli import commands as issues
from faultatlas.miner.keeping.cli import commands as keeping
from faultatlas.miner.links.cli import commands as links
from faultatlas.miner.papers.cli import commands as papers
from faultatlas.miner.posts.cli import commands as posts
from faultatlas.miner.search.cli import commands as search
from faultatlas.report import console

app = console.application(
    "Bring evidence into a study: issues, commits, posts, papers; select and link it."
)
for part in (issues, search, commits, posts, papers, funnel, links, keeping):
    app.add_typer(part)  # its commands become ours


@app.callback()
def miner(version: console.VersionOption = False) -> None:
    """Bring evidence into a study: issues, commits, posts, papers; select and link it."""


def main() -> None:
    """Entry point."""
    console.run(app)
