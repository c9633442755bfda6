"""The table of repairs: each with a case, and what an installer's log is made of."""

from dataclasses import dataclass

import pytest

from faultatlas.analysis.reexecution.bugs import Fidelity
from faultatlas.analysis.reexecution.environments import problems, repairing, requirements
from faultatlas.analysis.reexecution.environments.repairing import Place
from faultatlas.analysis.reexecution.environments.requirements import Wish
from faultatlas.analysis.reexecution.runs import Outcome


@dataclass(frozen=True)
class Case:
    """Requirements, and what the repair makes of them; without a log it is applied at once."""

    before: tuple[str, ...]
    after: tuple[str, ...] | None = None  # None: the lines stay
    constraints: tuple[str, ...] = ()
    log: str = ""
    python: str = "3.7.16"
    device: str = "cpu"
    build_constraints: tuple[str, ...] = ()
    build_with: tuple[str, ...] = ()


def gone(what: str) -> str:
    return (
        "error: No solution found when resolving dependencies\n"
        f"  cause: Because {what} and you require it, we can conclude that your requirements are "
        "unsatisfiable.\n"
    )


def broken(what: str, printed: str) -> str:
    return (
        f"error: Failed to build `{what}`\n  cause: The build backend returned an error\n"
        f"  cause: Call to `build_wheel` failed\n\n         [stderr]\n         {printed}\n"
    )


CASES = {
    "pkg-resources-dropped": Case(("pkg-resources==0.0.0", "six"), ("six",)),
    "conda-build-path": Case(
        ("numpy @ file:///opt/conda/conda-bld/numpy-1.19.2_16/work",), ("numpy==1.19.2",)
    ),
    "build-path-dropped": Case(("wheel @ file:///tmp/build/80754af9/wheel_1625/work",), ("wheel",)),
    "conda-list-line": Case(("scipy=1.5.2=py37h0b6359f_0",), ("scipy==1.5.2",)),
    "conda-system-package": Case(("openssl==1.1.1", "six"), ("six",)),
    "windows-only": Case(("pywin32==227", "six"), ("six",)),
    "version-star": Case(("six>=1.*",), ("six>=1",)),
    "version-missing-operator": Case(("six 1.16.0",), ("six==1.16.0",)),
    "sklearn": Case(
        ("sklearn==0.0",), ("scikit-learn",), log=broken("sklearn==0.0", "use scikit-learn")
    ),
    "opencv": Case(
        ("cv2",), ("opencv-python-headless",), log=gone("cv2 was not found in the package registry")
    ),
    "pil": Case(("PIL==1.1.7",), ("pillow",), log=gone("pil was not found")),
    "pytorch-name": Case(
        ("pytorch==1.0.2",), ("torch==1.0.2",), log=broken("pytorch==1.0.2", "You tried")
    ),
    "tensorflow-cpu-build": Case(("tensorflow-gpu==2.12.0",), ("tensorflow==2.12.0",)),
    "tensorflow-cuda-build": Case(
        ("tensorflow==1.12.0",), ("tensorflow-gpu==1.12.0",), device="cuda"
    ),
    "tensorflow-2.0-cuda-build": Case(
        ("tensorflow==2.0.0",), ("tensorflow-gpu==2.0.0",), device="cuda"
    ),
    "tensorflow-gpu-is-tensorflow": Case(
        ("tensorflow-gpu==2.6.0",), ("tensorflow==2.6.0",), device="cuda"
    ),
    "tensorflow-cpu-on-cuda": Case(
        ("tensorflow-cpu==2.6.0",), ("tensorflow==2.6.0",), device="cuda"
    ),
    "torch-cpu-local-version": Case(
        ("torch==1.9.0+cu111", "torchvision==0.10.0+cu111"), ("torch==1.9.0", "torchvision==0.10.0")
    ),
    "torch-build-from-registry": Case(
        ("torch==1.9.0+cu110",),
        ("torch==1.9.0",),
        device="cuda",
        log="error: Request failed after 3 retries\n  cause: dns error\n",
    ),
    "protobuf-below-3.21": Case(("tensorflow==2.11.0",), constraints=("protobuf<3.21",)),
    "protobuf-below-3.21-for-tensorboard": Case(
        ("tensorboard==2.8.0",), constraints=("protobuf<3.21",)
    ),
    "h5py-below-3": Case(("tensorflow==2.3.0",), constraints=("h5py<3",)),
    "h5py-below-3-for-keras": Case(("keras==2.3.1",), constraints=("h5py<3",)),
    "numpy-for-tensorflow-1": Case(("tensorflow==1.15.0",), constraints=("numpy<1.19",)),
    "numpy-for-tensorflow-2": Case(("tensorflow==2.3.0",), constraints=("numpy<1.20",)),
    "numpy-below-1.24": Case(("tensorflow==2.8.0",), constraints=("numpy<1.24",)),
    "numpy-below-2-for-tensorflow": Case(("tensorflow==2.15.0",), constraints=("numpy<2",)),
    "numpy-below-2-for-torch": Case(("torch==2.0.0",), constraints=("numpy<2",)),
    "numpy-required-by-torch": Case(("torch==1.4.0",), ("torch==1.4.0", "numpy<1.20")),
    "numpy-below-2-for-pandas": Case(("pandas<2",), constraints=("numpy<2",)),
    "numpy-below-2-for-scikit-learn": Case(("scikit-learn==1.0",), constraints=("numpy<2",)),
    "numpy-below-2-for-matplotlib": Case(("matplotlib==3.5",), constraints=("numpy<2",)),
    "gast-for-tensorflow-1": Case(("tensorflow==1.14.0",), constraints=("gast<0.3",)),
    "keras-for-tensorflow-1.3": Case(("tensorflow==1.3.0", "keras"), constraints=("keras<2.1",)),
    "keras-for-tensorflow-1.12": Case(
        ("tensorflow==1.12.0", "keras"), constraints=("keras<2.2.5",)
    ),
    "keras-for-tensorflow-2.3": Case(("tensorflow==2.0.0", "keras"), constraints=("keras<2.4",)),
    "keras-for-tensorflow-2.5": Case(("tensorflow==2.4.1", "keras"), constraints=("keras<2.5",)),
    "jinja2-for-flask-1": Case(
        ("flask==1.1.2",), constraints=("jinja2<3.1", "itsdangerous<2.1", "werkzeug<2.1")
    ),
    "markupsafe-for-jinja2-2": Case(("jinja2==2.11",), constraints=("markupsafe<2.1",)),
    "pillow-for-torchvision": Case(("torchvision==0.4.0",), constraints=("pillow<7",)),
    "scipy-for-python-3.6": Case(
        ("scipy",), constraints=("scipy<1.6",), python="3.6.15", log=broken("scipy==1.9", "f77")
    ),
    "matplotlib-for-python-3.6": Case(
        ("matplotlib",),
        constraints=("matplotlib<3.4",),
        python="3.6.15",
        log=broken("matplotlib==3.5", "3.7"),
    ),
    "pandas-for-python-3.6": Case(
        ("pandas",), constraints=("pandas<1.2",), python="3.6.15", log=broken("pandas==2", "x")
    ),
    "setuptools-below-58": Case(
        ("demjson==2.2.4",),
        build_constraints=("setuptools<58",),
        log=broken("demjson==2.2.4", "error in demjson setup command: use_2to3 is invalid."),
    ),
    "setuptools-below-72": Case(
        ("old==1.0",),
        build_constraints=("setuptools<66",),
        log=broken("old==1.0", "ModuleNotFoundError: No module named 'pkg_resources'"),
    ),
    "cython-below-3": Case(
        ("old==1.0",),
        build_constraints=("cython<3",),
        log=broken("old==1.0", "Cython.Compiler.Errors.CompileError: old.pyx"),
    ),
    "build-with-numpy": Case(
        ("old==1.0", "numpy==1.16.0"),
        build_with=("setuptools<66", "wheel", "numpy==1.16.0", "cython<3"),
        log=broken("old==1.0", "ModuleNotFoundError: No module named 'numpy'"),
    ),
    "nearest-release": Case(
        ("bush==1.2.3",),
        ("bush==1.2.4",),
        log=gone("there is no version of bush==1.2.3"),
    ),
    "git-unreachable": Case(
        ("bush @ git+https://127.0.0.1:9/someone/bush.git@v1.2.3",),
        ("bush==1.2.3",),
        log="error: Git operation failed\n  cause: failed to clone into: git-v1/db/e6\n",
    ),
}  # fmt: skip


def nearest(name: str, version: str) -> str | None:
    """What an index would answer."""
    return {("bush", "1.2.3"): "1.2.4"}.get((name, version))


def repaired(case: Case) -> tuple[Wish, list[str]]:
    place = Place(case.python, case.device)
    wish, applied = repairing.before(requirements.read(case.before, None), place)
    if case.log:
        again = repairing.after_failure(wish, place, case.log, applied, nearest)
        assert again is not None
        wish = again[0]
        applied = [*applied, again[1]]
    return wish, [one.name for one in applied]


def test_every_repair_has_a_case() -> None:
    assert set(CASES) == {repair.name for repair in repairing.known()}


@pytest.mark.parametrize("name", list(CASES))
def test_a_repair_does_what_it_says(name: str) -> None:
    case = CASES[name]
    wish, applied = repaired(case)

    assert name in applied
    assert tuple(line.text for line in wish.lines) == (case.after or case.before)
    assert set(case.constraints) <= set(wish.constraints)
    assert wish.build_constraints == case.build_constraints
    assert wish.build_with == case.build_with


@pytest.mark.parametrize("repair", repairing.known(), ids=lambda repair: repair.name)
def test_a_repair_says_why_and_how_near_it_stays(repair: repairing.Repair) -> None:
    assert repair.why.endswith((".", ":"))
    assert repair.kind in {"repaired", "substituted"}
    assert repair.when in {"before", "failure"}
    assert repair.when == "before" or repair.error


@pytest.mark.parametrize(
    "lines",
    [
        ("tensorflow==1.15.0", "protobuf==3.20.0", "numpy==1.18.5", "h5py==2.10.0", "gast==0.2.2",
         "keras==2.3.1"),
        ("numpy==1.26.4", "scipy>=1.5,<2", "tensorflow==2.18.0"),
        ("requests",),
        ("six==1.16.0 ; python_version < '4'",),
    ],
)  # fmt: skip
def test_what_says_all_its_versions_is_left_as_it_is(lines: tuple[str, ...]) -> None:
    wish, applied = repairing.before(requirements.read(lines, None), Place("3.7.16", "cpu"))

    assert applied == []
    assert tuple(line.text for line in wish.lines) == lines
    assert repairing.fidelity(applied) == (Fidelity.DECLARED,)


def test_a_failure_that_nobody_knows_is_not_repaired() -> None:
    wish = requirements.read(("six==1.16.0",), None)

    again = repairing.after_failure(
        wish, Place("3.7.16", "cpu"), broken("six", "it is Monday"), [], nearest
    )

    assert again is None


def test_a_pin_whose_minor_version_is_gone_is_not_repaired() -> None:
    wish = requirements.read(("tree==7.0",), None)
    log = gone("there is no version of tree==7.0")

    assert repairing.after_failure(wish, Place("3.7.16", "cpu"), log, [], nearest) is None


def test_what_is_substituted_is_said() -> None:
    marks = {one.name: repairing.fidelity([one]) for one in repairing.known()}

    assert marks["nearest-release"] == (Fidelity.SUBSTITUTED,)
    assert marks["setuptools-below-58"] == (Fidelity.REPAIRED,)


@pytest.mark.parametrize(
    ("device", "lines", "wanted"),
    [
        ("cpu", ("torch==2.0.0",), "cpu"),
        ("cuda", ("torch==2.0.0",), "auto"),
        ("cuda", ("torch==1.7.0+cu110",), "cu110"),
        ("cuda", ("numpy",), ""),
        ("cpu", ("torch==2.0.0", "--extra-index-url https://127.0.0.1/whl"), ""),
    ],
)
def test_the_builds_of_pytorch_follow_the_device(
    device: str, lines: tuple[str, ...], wanted: str
) -> None:
    wish, _ = repairing.before(requirements.read(lines, None), Place("3.9.0", device))

    assert wish.torch == wanted


# An older uv drew its reasons.
OLDER = """
  \N{MULTIPLICATION SIGN} No solution found when resolving dependencies:
  ╰─▶ Because there is no version of a==1 and you
      require a==1, we can conclude that your requirements are
      unsatisfiable.
"""


# -- what an installer says -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("log", "outcome", "line"),
    [
        (
            gone("nowhere was not found in the package registry"),
            Outcome.NO_ENVIRONMENT,
            "nowhere was not found in the package registry",
        ),
        (
            OLDER,
            Outcome.NO_ENVIRONMENT,
            "there is no version of a==1 and you require a==1",
        ),
        (
            broken("demjson==2.2.4", "error in demjson setup command: use_2to3 is invalid."),
            Outcome.NO_ENVIRONMENT,
            "Failed to build `demjson==2.2.4`: error in demjson setup command: use_2to3 is invalid",
        ),
        (
            "error: Request failed after 3 retries\n  cause: Failed to fetch\n  cause: dns error\n",
            Outcome.NOT_STARTED,
            "no network",
        ),
        (
            "error: Failed to extract archive\n  cause: No space left on device (os error 28)\n",
            Outcome.NOT_STARTED,
            "the disk is full",
        ),
        (
            "error: Failed to inspect Python interpreter\n  cause: Can't use Python at `python`\n",
            Outcome.NO_INTERPRETER,
            "Can't use Python",
        ),
        (broken("a", "ConnectionError: Connection refused"), Outcome.NO_ENVIRONMENT, "refused"),
        ("", Outcome.NO_ENVIRONMENT, "no reason"),
    ],
)
def test_the_line_that_failed_and_whose_fault_it_is(log: str, outcome: Outcome, line: str) -> None:
    problem = problems.explained(log)

    assert problem.outcome is outcome
    assert line in problem.line
    assert "\n" not in problem.line
    assert len(problem.line) <= 400


def test_passwords_and_control_characters_do_not_come_through() -> None:
    problem = problems.explained(
        "error: no \x1b[31mred\x1b[0m https://me:hunter2@host/simple\x07\n"
    )

    assert problem.line == "no red https://host/simple"
    assert "hunter2" not in problem.log


def test_a_misspelt_repair_is_told_with_the_one_that_is_meant() -> None:
    with pytest.raises(problems.EnvironmentProblem) as told:
        repairing.asked_for(["pkg-resource-dropped"])
    assert "'pkg-resources-dropped'" in str(told.value)
    assert "repairs.toml" in str(told.value)
