"""Data that a script would download: declared, since a run has no network."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from faultatlas.analysis.reexecution.artifacts.places import wrong_path
from faultatlas.analysis.reexecution.importing.scripts import script_tree

# Where files go that a script looks for outside of its folder: inside data/, and a link is made.
OUTSIDE = "outside"
_HOME = "~"
_MNIST = "http://yann.lecun.com/exdb/mnist"
MNIST_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
_KERAS = {
    "mnist": ("mnist.npz",),
    "fashion_mnist": tuple(f"fashion-mnist/{name}" for name in MNIST_FILES),
    "cifar10": ("cifar-10-batches-py.tar.gz",),
    "cifar100": ("cifar-100-python.tar.gz",),
    "imdb": ("imdb.npz",),
    "reuters": ("reuters.npz",),
    "boston_housing": ("boston_housing.npz",),
}
_LOADS = re.compile(
    r"\b(mnist|fashion_mnist|cifar10|cifar100|imdb|reuters|boston_housing)\.load_data\("
)
_READERS = re.compile(
    r"read_csv$|read_table$|loadtxt$|genfromtxt$|imread$|Image\.open$|ZipFile$|np\.load$"
)
_DATA = re.compile(
    r"(?:\./)?[\w-][\w./ -]*\.(?:csv|tsv|txt|json|npy|npz|zip|gz|jpe?g|png|dat|bin|pkl)"
)
_FOLDER = re.compile(r"\A[\w./ -]{0,200}\Z")


@dataclass(frozen=True)
class Wanted:
    """A file that a script reads, where it looks for it, and where it comes from."""

    path: str  # as the script sees it: relative to its directory, absolute, or below ~
    source: str


def wanted(texts: Iterable[str]) -> list[Wanted]:
    """The files of well-known data sets that the scripts load."""
    found: dict[str, Wanted] = {}
    for text in texts:
        for each in (*_keras(text), *_tutorial(text)):
            found.setdefault(each.path, each)
    return list(found.values())


def _keras(text: str) -> list[Wanted]:
    named = set(_LOADS.findall(text))
    for alias, name in re.findall(r"(\w+)\s*=\s*(?:\w+\.)*datasets\.(\w+)", text):
        if name in _KERAS and f"{alias}.load_data(" in text:
            named.add(name)
    if not re.search(r"keras", text):
        return []
    return [
        Wanted(f"{_HOME}/.keras/datasets/{file}", f"Keras, data set {name}")
        for name in sorted(named)
        for file in _KERAS[name]
    ]


def _tutorial(text: str) -> list[Wanted]:
    """MNIST as the tutorials of TensorFlow 1 load it."""
    if "read_data_sets" not in text:
        return []
    folders = []
    tree = script_tree(text)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("read_data_sets"):
            folder = node.args[0] if node.args else None
            if isinstance(folder, ast.Constant) and isinstance(folder.value, str):
                folders.append(folder.value)
    if tree is None:
        folders = re.findall(r"read_data_sets\(\s*['\"]([^'\"]+)", text)
    return [
        Wanted(posixpath.join(folder, file), _MNIST)
        for folder in folders
        if _FOLDER.match(folder)
        for file in MNIST_FILES
    ]


def placed_all(
    texts: Iterable[str], directory: str, there: Collection[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Where wanted files go in the workspace, with their sources, and the links that they need.

    What the bug brings itself is not wanted, nor a plain name of a file that it has elsewhere.
    """
    texts = list(texts)
    found: dict[str, str] = {}
    links: dict[str, str] = {}
    names = {posixpath.basename(path) for path in there}
    elsewhere = [each for each in named(texts) if posixpath.basename(each.path) not in names]
    for each in (*wanted(texts), *elsewhere):
        path, inside, outside = placed(each.path, directory)
        if path not in there and not wrong_path(path):
            found.setdefault(path, each.source)
            if inside:
                links[inside] = outside
    return found, links


def named(texts: Iterable[str]) -> list[Wanted]:
    """Files that scripts read by a plain name and do not write, relative to their directory."""
    read, written = set(), set()
    reading = (text for text in texts if re.search(r"open\(|read_|load|imread|ZipFile", text))
    for tree in filter(None, map(script_tree, reading)):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            names = {
                word.value
                for word in (*node.args[:1], *(each.value for each in node.keywords))
                if isinstance(word, ast.Constant) and isinstance(word.value, str)
            }
            files = {name for name in names if _DATA.fullmatch(name)}
            function = ast.unparse(node.func)
            is_open = function in {"open", "io.open", "codecs.open"}
            if _READERS.search(function) or (is_open and _reads(node)):
                read |= files
            else:
                written |= files
    return [Wanted(name, "") for name in sorted(read - written)]


def _reads(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(each.value for each in call.keywords if each.arg == "mode")]
    mode = modes[0] if modes else None
    return mode is None or (
        isinstance(mode, ast.Constant) and str(mode.value) in {"r", "rb", "rt", "rU"}
    )


def placed(path: str, directory: str) -> tuple[str, str, str]:
    """Where a wanted file goes in the workspace; for one outside also the link, from and to.

    A link stands for the top of the folder that is looked for: /tmp/data, ~/.keras.
    """
    if not path.startswith(("/", _HOME)):
        return posixpath.normpath(posixpath.join(directory, path)), "", ""
    parts = [part for part in path.split("/") if part not in {"", ".", ".."}]
    inside = posixpath.join(OUTSIDE, *("home" if part == _HOME else part for part in parts))
    top = 2 if len(parts) > 2 or path.startswith(_HOME) else 1
    linked = posixpath.join(OUTSIDE, *("home" if part == _HOME else part for part in parts[:top]))
    target = "/".join(parts[:top])
    return inside, linked, target if path.startswith(_HOME) else f"/{target}"


def linking(links: dict[str, str], directory: str, script: tuple[str, ...]) -> tuple[str, ...]:
    """A command that makes the links in its sandbox, and then becomes the script.

    Folders outside of the workspace live as long as one command: links are made in the same.
    """
    pairs = [
        (posixpath.relpath(inside, directory), outside) for inside, outside in sorted(links.items())
    ]
    program = (
        "import os, sys\n"
        f"for inside, outside in {pairs!r}:\n"
        "    outside = os.path.expanduser(outside)\n"
        "    if not os.path.lexists(outside):\n"
        "        os.symlink(os.path.abspath(inside), outside)\n"
        "os.execv(sys.executable, [sys.executable] + sys.argv[1:])\n"
    )
    return ("python", "-c", program, *script[1:])
