"""One seed, one run: whatever seeds a script sets itself; and no program is broken by it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sandboxed import needs, ran, request

from faultatlas.analysis.reexecution.environments.interpreters import discover
from faultatlas.analysis.reexecution.inside import HARNESS, variables

STANDARD = """
import json, os, random
drawn = {"unseeded": random.random(), "another": random.Random().random()}
random.seed(42)
drawn["literal"] = random.random()
random.seed(43)
drawn["another literal"] = random.random()
random.seed("text")
drawn["text"] = random.random()
drawn["own"] = random.Random(7).random()
print(json.dumps(drawn))
"""
NUMPY = """
import copy, json, pickle
import numpy as np
from numpy.random import RandomState
drawn = {"unseeded": np.random.rand(), "state without": RandomState().rand()}
np.random.seed(0)
drawn["literal"] = np.random.rand()
np.random.seed(seed=1)
drawn["another literal"] = np.random.rand()
drawn["state"] = RandomState(2).rand()
drawn["array"] = RandomState([1, 2, 3]).rand()
drawn["generator"] = np.random.default_rng(3).random()
drawn["generator without"] = np.random.default_rng().random()
drawn["bits"] = np.random.Generator(np.random.PCG64(1)).random()
first, second = np.random.SeedSequence(5).spawn(2)
drawn["first child"] = np.random.default_rng(first).random()
drawn["second child"] = np.random.default_rng(second).random()
print(json.dumps(drawn))

assert len(set(drawn.values())) == len(drawn)
assert isinstance(np.random.mtrand._rand, np.random.RandomState)
assert not isinstance(1, np.random.RandomState)
assert issubclass(np.random.RandomState, RandomState)
class Own(RandomState):
    pass
assert isinstance(Own(1), RandomState) and not isinstance(RandomState(1), Own)
for made in (RandomState(4), np.random.default_rng(4), np.random.Generator(np.random.MT19937(4))):
    for same in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert same.normal() == copy.deepcopy(made).normal()
for wrong in (-1, 2**32, 1.5, "text"):
    try:
        np.random.seed(wrong)
    except (ValueError, TypeError):
        continue
    raise AssertionError(wrong)
"""
LEARNING = """
import json
from sklearn.utils import check_random_state, shuffle
check_random_state(check_random_state(None))
mixed = check_random_state(0).permutation(50).tolist()
print(json.dumps({"literal": shuffle(list(range(50)), random_state=42), "state": mixed}))
"""


def drawn(code: str, seed: int, python: Path | str = sys.executable, **more: str) -> Any:
    """What a program prints as JSON; the harness's own failures are failures here."""
    environment = variables(seed) | {"PYTHONPATH": str(HARNESS)} | more
    done = subprocess.run(
        [python, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("code", [STANDARD, NUMPY, LEARNING])
def test_a_seed_decides_all_that_is_drawn(code: str) -> None:
    first = drawn(code, 1)
    assert drawn(code, 1) == first
    other = drawn(code, 2)
    assert [name for name in first if first[name] == other[name]] == []


def test_it_is_so_in_the_sandbox_too(tmp_path: Path) -> None:
    needs("bubblewrap")
    result = ran(request(tmp_path, STANDARD, "bubblewrap", seed=1))
    assert json.loads(result.stdout) == drawn(STANDARD, 1), result.stderr


def test_children_of_a_program_draw_the_same_every_time() -> None:
    code = """
import json, os, random
read, write = os.pipe()
for number in range(2):
    if os.fork() == 0:
        os.write(write, ("%r\\n" % random.random()).encode())
        os._exit(0)
    os.wait()
os.close(write)
print(json.dumps(os.read(read, 1000).decode().split()))
"""
    first = drawn(code, 1)
    assert len(set(first)) == 2
    assert drawn(code, 1) == first != drawn(code, 2)


def oldest_and_newest() -> list[Any]:
    """The interpreters that differ most."""
    found = sorted(discover(), key=lambda one: one.minor)
    kept = {one.minor: one for one in (*found[:2], *found[-1:])}
    return [pytest.param(one, id=one.version) for one in kept.values()]


@pytest.mark.parametrize("interpreter", oldest_and_newest())
def test_every_python_reads_it(interpreter: Any) -> None:
    assert drawn(STANDARD, 1, interpreter.path) == pytest.approx(drawn(STANDARD, 1))


def test_without_a_seed_nothing_is_changed() -> None:
    code = "import json, random; random.seed(42); print(json.dumps(random.random()))"
    assert drawn(code, 1, FAULTATLAS_SEED="") == 0.6394267984578837


def test_nothing_is_imported_that_the_program_does_not_import() -> None:
    code = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    assert not {"random", "numpy", "torch", "hashlib"} & set(drawn(code, 1))


def test_the_environments_own_sitecustomize_is_run(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.own = __file__\n")
    code = """
import json, random, sitecustomize, sys
print(json.dumps([sys.own, sitecustomize.__file__, random.random()]))
"""
    paths = f"{HARNESS}:{tmp_path}"
    own, known, number = drawn(code, 1, PYTHONPATH=paths)
    assert own == known == str(tmp_path / "sitecustomize.py")
    assert number == drawn(STANDARD, 1)["unseeded"]


# Libraries that are too large for a test: as much of them as the harness touches.

GRAPHS = """
graphs = []
class Graph:
    seed = None
    _last_id = 0
def get_default_graph():
    if not graphs:
        graphs.append(Graph())
    return graphs[-1]
"""
SEEDS = """
from tensorflow.python.framework import ops
def get_seed(op_seed):
    seed = ops.get_default_graph().seed
    if seed is None and op_seed is None:
        return None, None
    return (87654321 if seed is None else seed), (0 if op_seed is None else op_seed)
"""


def test_a_graph_of_tensorflow_is_neither_made_nor_changed(tmp_path: Path) -> None:
    framework = tmp_path / "tensorflow" / "python" / "framework"
    framework.mkdir(parents=True)
    for folder in (framework, framework.parent, framework.parent.parent):
        (folder / "__init__.py").touch()
    (framework / "ops.py").write_text(GRAPHS)
    (framework / "random_seed.py").write_text(SEEDS)
    code = """
import json
from tensorflow.python.framework import ops, random_seed
assert ops.graphs == []
drawn = {"unseeded": random_seed.get_seed(None)}
ops.get_default_graph()._last_id = 1
drawn["another"] = random_seed.get_seed(None)
drawn["of the operation"] = random_seed.get_seed(5)
ops.get_default_graph().seed = 42
drawn["of the graph"] = random_seed.get_seed(None)
assert len(ops.graphs) == 1 and ops.graphs[0].seed == 42
print(json.dumps(drawn))
"""
    paths = f"{HARNESS}:{tmp_path}"
    first = drawn(code, 1, PYTHONPATH=paths)
    assert len({tuple(pair) for pair in first.values()}) == 4
    assert all(0 < seed < 2**31 for seed, _ in first.values())
    assert drawn(code, 1, PYTHONPATH=paths) == first
    other = drawn(code, 2, PYTHONPATH=paths)
    assert [name for name in first if first[name] == other[name]] == []


def test_a_library_that_is_not_as_expected_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("version = 'another'\n")
    code = "import json, torch; print(json.dumps(torch.version))"
    paths = f"{HARNESS}:{tmp_path}"
    assert drawn(code, 1, PYTHONPATH=paths, TMPDIR=str(tmp_path)) == "another"
    assert "torch: AttributeError" in (tmp_path / ".faultatlas-harness").read_text()


def test_literals_of_torch_are_mixed_with_the_seed(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(
        "from torch import random\nfrom torch.random import manual_seed\n"
    )
    (tmp_path / "torch" / "random.py").write_text(
        "seeds = []\ndef manual_seed(seed):\n    seeds.append(seed)\n"
    )
    code = """
import json, torch
torch.manual_seed(42)
torch.random.manual_seed(43)
print(json.dumps(torch.random.seeds))
"""
    paths = f"{HARNESS}:{tmp_path}"
    first = drawn(code, 1, PYTHONPATH=paths)
    assert len(set(first)) == 3  # the first when it was imported
    assert drawn(code, 1, PYTHONPATH=paths) == first
    assert not set(first) & {42, 43, *drawn(code, 2, PYTHONPATH=paths)}
