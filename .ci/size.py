"""Size and structure of the code by package: prints them and fails where a package grew.

`make check` compares them with `size.toml`, which `make size` writes.

files, lines: modules and their lines of code, without blanks, comments and docstrings
cycles:       pairs of subpackages that import each other
short:        modules under 40 lines
one importer: modules that a single module imports
old:          lines in folders called old, which nothing else counts

The bugs in folders called shipped are data and not counted.
"""

from __future__ import annotations

import argparse
import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ".ci/size.toml"
NAME = "faultatlas"
PACKAGES = ("data", "report", "miner", "annotation", "analysis")
SHORT = 40  # lines of code; a module with fewer is usually a part of another one
FIGURES = ("files", "lines", "cycles", "short", "one importer")
Figures = dict[str, int]


@dataclass(frozen=True)
class Module:
    """A file of the program."""

    name: str
    is_package: bool  # an __init__.py
    is_old: bool
    lines: int
    names: frozenset[str]  # all that it imports: modules, and names in them

    @property
    def package(self) -> str:
        """Data, report, miner, annotation or analysis; faultatlas of its own modules."""
        package = self.name.split(".")[:2][-1]
        return package if package in PACKAGES else NAME

    @property
    def subpackage(self) -> str:
        """The folder or module below the package."""
        return ".".join(self.name.split(".")[:3])


def read_modules(root: Path) -> list[Module]:
    """All modules, in the order of their names."""
    # The packages are links in the folder faultatlas.
    files = [(path, Path(NAME, path.name)) for path in (root / NAME).glob("*.py")]
    for package in PACKAGES:
        for path in (root / package).rglob("*.py"):
            place = Path(NAME, path.relative_to(root))
            if "shipped" not in place.parts:
                files.append((path, place))
    return sorted((read(*file) for file in files), key=lambda module: module.name)


def read(path: Path, place: Path) -> Module:
    """A module from its file; the place is where it is imported from."""
    parts = place.with_suffix("").parts
    is_package = parts[-1] == "__init__"
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    return Module(
        name=".".join(parts[:-1] if is_package else parts),
        is_package=is_package,
        is_old="old" in parts,
        lines=code_lines(source, tree),
        names=frozenset(imported_names(tree)),
    )


def code_lines(source: str, tree: ast.Module) -> int:
    """How many lines have code; a string of several lines counts whole, a docstring does not."""
    lines = {
        number
        for number, line in enumerate(source.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    }
    docstrings: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(value=ast.Constant(value=str())) as docstring, *_]:
                    docstrings |= line_numbers(docstring)
        elif isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
        ):
            lines |= line_numbers(node)
    return len(lines - docstrings)


def line_numbers(node: ast.expr | ast.stmt) -> set[int]:
    """The lines that a part of the code is on."""
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def imported_names(tree: ast.Module) -> Iterator[str]:
    """What a module imports, also inside functions and for types only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imports(modules: list[Module]) -> list[tuple[Module, Module]]:
    """Which module imports which."""
    by_name = {module.name: module for module in modules}
    return [
        (module, by_name[name])
        for module in modules
        for name in sorted(module.names & by_name.keys() - {module.name})
    ]


def short_modules(modules: list[Module]) -> list[Module]:
    """Modules with few lines; an `__init__.py` is meant to be short."""
    return [module for module in modules if 0 < module.lines < SHORT and not module.is_package]


def cycles(modules: list[Module]) -> list[tuple[Module, Module]]:
    """Pairs of subpackages that import each other, as modules: a module of each."""
    edges = {(one.subpackage, other.subpackage): (one, other) for one, other in imports(modules)}
    return [edges[pair] for pair in sorted(edges) if pair[0] < pair[1] and pair[::-1] in edges]


def with_one_importer(modules: list[Module]) -> list[tuple[Module, Module]]:
    """Modules that a single module imports, and that module."""
    importers: dict[Module, list[Module]] = defaultdict(list)
    for importer, module in imports(modules):
        if module.lines and not module.is_package:
            importers[module].append(importer)
    return [(module, of[0]) for module, of in importers.items() if len(of) == 1]


def measure(modules: list[Module]) -> dict[str, Figures]:
    """The figures of each package."""
    packages = {package: dict.fromkeys(FIGURES, 0) for package in (*PACKAGES, NAME)}
    for module in modules:
        packages[module.package]["files"] += 1
        packages[module.package]["lines"] += module.lines
    for module, _ in cycles(modules):
        packages[module.package]["cycles"] += 1
    for module in short_modules(modules):
        packages[module.package]["short"] += 1
    for module, _ in with_one_importer(modules):
        packages[module.package]["one importer"] += 1
    return packages


def table(packages: Mapping[str, Figures], old: Figures) -> str:
    """The figures as text, with their sums."""
    total = {
        figure: sum(of_package[figure] for of_package in packages.values()) for figure in FIGURES
    }
    rows = [*packages.items(), ("together", total)]
    lines = [f"{'package':12}" + "".join(f"{figure:>14}" for figure in (*FIGURES, "old"))]
    for package, of_package in rows:
        numbers = [*of_package.values(), old.get(package, sum(old.values()))]
        lines.append(f"{package:12}" + "".join(f"{number:14,}" for number in numbers))
    return "\n".join(lines)


def listing(modules: list[Module], figure: str) -> list[str]:
    """The modules behind a figure."""
    if figure == "short":
        return [f"{module.name} {module.lines}" for module in short_modules(modules)]
    if figure == "cycles":
        return [f"{one.subpackage} <-> {other.subpackage}" for one, other in cycles(modules)]
    return [f"{module.name} <- {importer.name}" for module, importer in with_one_importer(modules)]


def as_toml(packages: Mapping[str, Figures]) -> str:
    """The figures as they are recorded."""
    lines = ["# Written by `make size`. `make check` fails where a figure of a package is larger."]
    for package, of_package in packages.items():
        lines += ["", f"[{package}]"]
        lines += [f"{figure.replace(' ', '_')} = {of_package[figure]}" for figure in FIGURES]
    return "\n".join([*lines, ""])


def growth(packages: Mapping[str, Figures], recorded: Mapping[str, Figures]) -> list[str]:
    """What is larger than recorded, in words."""
    return [
        f"{package} has grown: {figure} {before:,} -> {now:,}"
        for package, of_package in packages.items()
        for figure, now in of_package.items()
        if now > (before := recorded.get(package, {}).get(figure.replace(" ", "_"), 0))
    ]


def main() -> int:
    """Print, compare or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", choices=FIGURES[2:], help="name what a figure counts")
    parser.add_argument("--write", action="store_true", help=f"record the figures in {RECORD}")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder with the packages")
    options = parser.parse_args()
    all_modules = read_modules(options.root)
    modules = [module for module in all_modules if not module.is_old]
    if options.list:
        print(*listing(modules, options.list), sep="\n")
        return 0
    packages = measure(modules)
    old = dict.fromkeys(packages, 0)
    for module in all_modules:
        old[module.package] += module.lines if module.is_old else 0
    print(table(packages, old))
    record = options.root / RECORD
    if options.write:
        record.write_text(as_toml(packages), encoding="utf-8")
        return 0
    recorded = tomllib.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    larger = growth(packages, recorded)
    if larger:
        print("", *larger, sep="\n", file=sys.stderr)
        print(f"If that is meant, record it: make size ({RECORD}).", file=sys.stderr)
    return 1 if larger else 0


if __name__ == "__main__":
    sys.exit(main())
