"""Reads scripts without running them: which one is run, what it imports."""

from __future__ import annotations

import ast
import posixpath
import re
import sys
import warnings
from collections.abc import Container
from functools import lru_cache
from pathlib import Path

from faultatlas.analysis.reexecution.importing.texts import text_of

_MOST = 1 << 20  # bytes of a script
_MOST_REACHED = 200  # scripts
_NAMES = ("main", "run", "train", "script", "test", "entry", "example")
_MAIN = re.compile(r"""if\s+__name__\s*==\s*['"]__main__['"]""")
# What is imported, and the name under which it is installed.
_DISTRIBUTIONS = {
    "cv2": "opencv-python", "PIL": "pillow", "sklearn": "scikit-learn", "skimage": "scikit-image",
    "yaml": "pyyaml", "bs4": "beautifulsoup4", "tensorflow": "tensorflow", "keras": "keras",
    "torch": "torch", "torchvision": "torchvision", "numpy": "numpy", "scipy": "scipy",
    "pandas": "pandas", "matplotlib": "matplotlib", "h5py": "h5py", "theano": "theano",
    "gym": "gym", "nltk": "nltk", "tqdm": "tqdm", "requests": "requests", "seaborn": "seaborn",
    "six": "six", "chainer": "chainer", "mxnet": "mxnet", "lasagne": "lasagne",
    "pylab": "matplotlib", "mpl_toolkits": "matplotlib",
}  # fmt: skip
_OLD_STANDARD = frozenset(
    {"cPickle", "StringIO", "urllib2", "Queue", "ConfigParser", "Tkinter", "commands", "httplib",
     "__builtin__", "urlparse", "cStringIO", "imp", "distutils", "itertools"}
)  # fmt: skip
# What is needed without being imported.
_IMPLIED = {
    "pillow": re.compile(
        r"preprocessing(?:\.| import )image|load_img|misc\.im(?:read|save|resize)"
    ),
    "h5py": re.compile(r"load_model\(|save_weights\(|ModelCheckpoint\(|load_weights\("),
}
_FRAMEWORKS = ("keras", "tensorflow", "torch", "theano", "mxnet", "chainer", "sklearn", "numpy")


def script_tree(text: str) -> ast.Module | None:
    """The tree of a script; None where it is of Python 2, or no Python."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def is_python_2(text: str) -> bool:
    """Whether only Python 2 reads it: a print without parentheses, and the like."""
    if script_tree(text) is not None:
        return False
    return bool(
        re.search(
            r"^\s*print\s+[^(=\s]|\bxrange\(|except \w+, \w+:|\braw_input\(", text, re.MULTILINE
        )
    )


@lru_cache(maxsize=512)
def _read(path: Path) -> str:
    return text_of(path, _MOST)


def main_script(root: Path, files: list[str]) -> str:
    """The script that is run: the only one, one of a known name, or one with a main part; ''."""
    scripts = [path for path in files if path.endswith(".py") and Path(path).name != "setup.py"]
    top = [path for path in scripts if "/" not in path] or scripts
    if len(top) == 1:
        return top[0]
    known = [path for path in top if Path(path).stem.lower() in _NAMES]
    mains = [path for path in top if _MAIN.search(_read(root / path))]
    imported = _imported_beside(root, top)
    free = [path for path in top if Path(path).stem not in imported]
    for found in (known, mains, free):
        if len(found) == 1:
            return found[0]
    return ""


def _imported_beside(root: Path, scripts: list[str]) -> set[str]:
    found: set[str] = set()
    for path in scripts:
        found |= {name.partition(".")[0] for name in imports(_read(root / path))}
    return found


@lru_cache(maxsize=4096)
def imports(text: str) -> frozenset[str]:
    """Names of modules that a script imports, dots included; a relative one begins with a dot."""
    tree = script_tree(text)
    if tree is None:
        lines = re.findall(
            r"^\s*(?:from\s+([\w.]+)\s+import|import\s+([\w., ]+))", text, re.MULTILINE
        )
        return frozenset(
            name.split()[0]
            for first, others in lines
            for name in (first, *others.split(","))
            if name.strip()
        )
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found.add(module)
            found |= {f"{module}.{each.name}" for each in node.names if each.name != "*"}
    return frozenset(found)


def reached(root: Path, script: str, files: Container[str]) -> list[str]:
    """The script and those of the same folder tree that it imports, directly or not."""
    found: list[str] = []
    waiting = [script]
    while waiting and len(found) < _MOST_REACHED:
        path = waiting.pop(0)
        if path in found or path not in files:
            continue
        found.append(path)
        bases = dict.fromkeys((posixpath.dirname(path), posixpath.dirname(script), ""))
        for name in sorted(imports(_read(root / path))):
            plain = name.lstrip(".").replace(".", "/")
            waiting += [
                posixpath.normpath(posixpath.join(base, candidate))
                for base in bases
                for candidate in (f"{plain}.py", f"{plain}/__init__.py")
            ]
    return found


def distributions(root: Path, scripts: list[str]) -> tuple[list[str], list[str]]:
    """What must be installed for the scripts, and the imports that nobody knows, both sorted."""
    beside = {Path(path).stem for path in scripts}
    beside |= {part for path in scripts for part in Path(path).parts[:-1]}
    beside |= {entry.stem for entry in root.iterdir()}
    wanted, unknown = set(), set()
    for path in scripts:
        for name in imports(_read(root / path)):
            first = name.partition(".")[0]
            if not first or first in beside or first in sys.stdlib_module_names | _OLD_STANDARD:
                continue
            if first in _DISTRIBUTIONS:
                wanted.add(_DISTRIBUTIONS[first])
            else:
                unknown.add(first)
        wanted |= {name for name, pattern in _IMPLIED.items() if pattern.search(_read(root / path))}
    return sorted(wanted), sorted(unknown)


def framework(root: Path, scripts: list[str]) -> str:
    """The framework that the scripts use: keras before the one that it stands on."""
    names = {name.partition(".")[0] for path in scripts for name in imports(_read(root / path))}
    found = next((each for each in _FRAMEWORKS if each in names), "")
    return {"torch": "pytorch", "sklearn": "scikit-learn"}.get(found, found)


def texts(root: Path, scripts: list[str]) -> dict[str, str]:
    """The scripts' texts by path."""
    return {path: _read(root / path) for path in scripts}
