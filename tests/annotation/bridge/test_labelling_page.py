"""The labelling page in a real browser, on a real Label Studio, from push to pull."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING

import browsing
import pytest
from hostile_texts import MARKDOWN
from labelling import Labelled
from labelling_desk import Desk
from labelstudio import PASSWORD, Bench, LabelStudio
from population import Population

from faultatlas.annotation.rounds import (
    Assignment,
    Item,
    Round,
    put_assignments,
    put_items,
    put_round,
)
from faultatlas.data import provenance
from faultatlas.data.study import Study
from faultatlas.data.taxonomy_library import TaxonomyLibrary

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Command = Callable[..., CompletedProcess[str]]
# Where the pictures of the page go, for the documentation; nowhere unless it is set.
PICTURES = os.environ.get("LABELLING_PICTURES")
AT = datetime(2024, 4, 26)  # noqa: DTZ001

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.xdist_group("label-studio"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing.started() as started:
        yield started


def picture(desk: Desk, name: str) -> None:
    if PICTURES:
        desk.page.screenshot(path=Path(PICTURES) / name)


def make_round(bench: Bench, taxonomy_name: str, item: str) -> None:
    """A round of one item and one rater."""
    taxonomy = TaxonomyLibrary(bench.study.directory).taxonomy(taxonomy_name)
    of = Round("pilot", "designed", taxonomy_name, taxonomy.version, taxonomy.choice, ("ann",))
    run = provenance.begin("by hand", {})
    with bench.study.writing() as writer:
        provenance.record(writer, run, "ok")
        put_round(writer, of, taxonomy, run)
        put_items(writer, "pilot", [Item(item, item)], run)
        put_assignments(writer, "pilot", [Assignment(item, "ann", 1)], run)


def put_comments(bench: Bench, item: str, *bodies: str) -> None:
    with bench.study.writing() as writer:
        for place, body in enumerate(bodies):
            writer.execute(
                "INSERT INTO store.comment (comment_id, artifact_id, author, body, created_at, "
                "row_hash, run_id, fetched_at, response_id) VALUES (?, ?, ?, ?, ?, 1, 'r', ?, '')",
                [str(place), item, f"p:{place % 3}", body, AT + timedelta(days=place), AT],
            )


def pushed(bench: Bench, command: Command) -> int:
    """Pushes the round; gives the number of the rater's project."""
    ended = command(
        "annotation", "push", "pilot", "--url", bench.server.url, "--study", bench.study.directory
    )
    assert ended.returncode == 0, ended.stderr
    return bench.projects()["ann"]


def pulled(bench: Bench, command: Command) -> list[dict[str, object]]:
    ended = command("annotation", "pull", "pilot", "--study", bench.study.directory)
    assert ended.returncode == 0, ended.stderr
    return bench.rows("SELECT rater, code, confidence, comment, proposed, stage FROM labels")


REPORT = """\
## Describe the bug

<!-- Please read the guide before. -->
`torch.linalg.svd` returns **wrong** singular vectors for complex input on CUDA since 2.3, see
https://pytorch.org/docs/stable/generated/torch.linalg.svd.html.

```python
import torch

def check(n: int = 64) -> float:
    x = torch.randn(n, n, dtype=torch.complex64, device="cuda")
    u, s, vh = torch.linalg.svd(x)  # on "cpu" it is right
    return (u @ torch.diag(s).to(x.dtype) @ vh - x).abs().max().item()
```

| version | device | error |
|---|---|---|
| 2.2.2 | cuda | 1.1e-5 |
| 2.3.0 | cuda | **7.31** |

- [x] happens with the nightly build
- [ ] happens on ROCm

<details><summary>Environment</summary>

    PyTorch 2.3.0+cu121, Python 3.11

</details>
"""


def test_a_rater_picks_a_code_in_the_tree_and_it_arrives_in_the_study(
    browser: Browser, label_studio: LabelStudio, command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    (item,) = Population.at(folder).issues(REPORT, project="pytorch/pytorch")
    bench = Bench(Study(folder), label_studio)
    with bench.study.writing() as writer:
        writer.execute(
            "UPDATE store.issue SET title = ?, author = 'p:1', state = 'closed', "
            "tracker_labels = ['high priority', 'module: linear algebra']",
            ["torch.linalg.svd: wrong singular vectors for complex64 on CUDA"],
        )
    put_comments(
        bench, item,
        "Can you try another driver?\n\n```python\ntorch.linalg.svd(x, driver='gesvd')\n```",
        "`gesvd` is right here, at a tenth of the speed, and so is everything with the release "
        "before, on all of our machines.",
        "Bisected to the update of cuSOLVER.",
    )  # fmt: skip
    make_round(bench, "hp-defects", item)
    login = label_studio.rater("ann.page@x.invalid")
    added = command(
        "annotation", "rater", "add", "ann", "--email", login.email, "--url", label_studio.url,
        "--study", folder,
    )  # fmt: skip
    assert added.returncode == 0, added.stderr
    project = pushed(bench, command)
    desk = Desk.at(browser, label_studio, login.email, PASSWORD)

    desk.open(label_studio, project)
    page = desk.page
    # Definitions stand beside the tree, comments are folded, the origin is a click away.
    assert page.is_visible(".fa-codebook >> text=F Accuracy defect")
    page.click(".fa-codebook >> text=F Accuracy defect")
    page.click(".fa-codebook >> text=The returned result is incorrect or outlier")
    assert not page.is_visible("text=on all of our machines.")
    origin = page.locator(".fa-about a")
    assert origin.get_attribute("href") == "https://github.com/pytorch/pytorch/issues/1"
    assert origin.get_attribute("rel") == "noopener noreferrer"
    desk.choose("incorrect", "F2 The returned result is incorrect or outlier")
    page.click("text=5 sure")
    page.fill(".fa-side textarea", "values differ")
    picture(desk, "labelling-page.png")
    desk.submit()

    assert pulled(bench, command) == [
        {
            "rater": "ann",
            "code": "F2",
            "confidence": 5.0,
            "comment": "values differ",
            "proposed": None,
            "stage": "independent",
        }
    ]
    assert desk.outside == []
    page.context.close()


HOSTILE_TREE = """\
taxonomy: hostile
version: "1.0.0"
title: T
source: S
choice: single
select: leaves
question: 'What $html is <b>it</b> & "why"?'
nodes:
  - code: a
    name: 'A $html <img src=x onerror=alert(1)> & "q" {{7*7}}'
    definition: '</View><script>window.ran=1;alert(1)</script> $url'
    not: '$title'
  - code: a1
    name: 'Cost $5 / more $said'
    parent: a
    definition: D
    not: N
"""


def test_a_hostile_body_and_a_log_of_a_megabyte_leave_the_page_as_it_is(
    browser: Browser, label_studio: LabelStudio, command: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "study"
    log = "\n".join(f"step {n}: loss nan " + "x" * (n % 300) for n in range(7_000))
    assert len(log) > 1_000_000
    (item,) = Population.at(folder).issues("\n\n".join(MARKDOWN[:20]) + f"\n\n```\n{log}\n```")
    bench = Bench(Study(folder), label_studio)
    pairs = [MARKDOWN[at : at + 2] for at in range(0, len(MARKDOWN), 2)]
    put_comments(bench, item, *("\n\n".join(pair).replace("\ud800", "") for pair in pairs))
    Labelled(bench.study).taxonomy()
    (folder / "taxonomies" / "hostile.yaml").write_text(HOSTILE_TREE, encoding="utf-8")
    make_round(bench, "hostile", item)
    login = label_studio.rater("ann.hostile@x.invalid")
    added = command(
        "annotation", "rater", "add", "ann", "--email", login.email, "--url", label_studio.url,
        "--study", folder,
    )  # fmt: skip
    assert added.returncode == 0, added.stderr
    project = pushed(bench, command)
    desk = Desk.at(browser, label_studio, login.email, PASSWORD)

    desk.open(label_studio, project)
    page = desk.page
    page.evaluate("document.querySelectorAll('.fa-page details').forEach(d => { d.open = true })")
    page.click(".fa-text", position={"x": 5, "y": 5})
    elements = page.evaluate(
        "[...document.querySelectorAll('.fa-text .lsf-htx-richtext *')].flatMap(e => "
        "[e.localName, ...e.getAttributeNames()])"
    )

    assert page.evaluate("window.ran") is None
    assert desk.dialogs == []
    assert desk.outside == []
    assert len(desk.opened) == 0
    assert page.url.startswith(f"{label_studio.url}/projects/{project}/")
    assert "details" in elements
    assert not {"script", "img", "svg", "iframe", "style", "form", "input", "id"} & {*elements}
    assert not [name for name in elements if name.startswith("on")]
    # What the taxonomy says is not filled in, and nothing of it runs.
    assert page.is_visible('text=What $html is <b>it</b> & "why"?')
    assert page.is_visible(".fa-codebook >> text=</View><script>")
    # The page stays as wide as its window.
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.locator(".fa-text").bounding_box()["width"] < 900  # type: ignore[index]
    picture(desk, "hostile-page.png")
    # It can be labelled, and the rater may think again.
    desk.choose("cost", "Cost $5 / more $said")
    page.click(".fa-side .ant-select-selection-item-remove")
    desk.choose("new code", "A new code is needed")
    page.fill("[placeholder='Name of the new code']", "race <i>")
    desk.submit()
    (label,) = pulled(bench, command)
    assert (label["code"], label["proposed"]) == ("~new", "race <i>")
    page.context.close()
