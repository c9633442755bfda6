"""Finds taxonomies and crosswalks: those that are shipped and those of a study.

A taxonomy is a YAML file in `data/taxonomies/`, or in `taxonomies/` of a study; a
crosswalk is one in `data/crosswalks/` or `crosswalks/` of a study. Nothing has to be
registered. Files that are wrong are refused with file, line and code, all problems at
once.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

from data.errors import StudyError
from data.taxonomy import Crosswalk, Taxonomy
from data.taxonomy_files import read_crosswalk, read_taxonomy
from data.yaml_lines import Problem


class TaxonomyLibrary:
    """The taxonomies and crosswalks that a study can use: shipped ones and its own."""

    def __init__(self, study_directory: Path | None = None) -> None:
        shipped = Path(str(files("data")))
        folders = [shipped] if study_directory is None else [shipped, study_directory]
        self._taxonomies = _found(folder / "taxonomies" for folder in folders)
        self._crosswalks = _found(folder / "crosswalks" for folder in folders)
        self._loaded: dict[str, Taxonomy] = {}  # an analysis asks for the same ones many times

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the taxonomies, sorted."""
        return tuple(sorted(self._taxonomies))

    @property
    def crosswalk_names(self) -> tuple[str, ...]:
        """The names of the crosswalks, sorted."""
        return tuple(sorted(self._crosswalks))

    @property
    def paths(self) -> list[Path]:
        """The files of all taxonomies, then of all crosswalks."""
        return [
            *(self._taxonomies[name] for name in self.names),
            *(self._crosswalks[name] for name in self.crosswalk_names),
        ]

    def taxonomy(self, name: str) -> Taxonomy:
        """The taxonomy of that name, validated."""
        path = self._taxonomies.get(name)
        if path is None:
            raise StudyError(
                f"there is no taxonomy {name!r}",
                f"Known: {', '.join(self.names)}. An own one is a file taxonomies/{name}.yaml "
                "in the study.",
            )
        if name not in self._loaded:
            self._loaded[name] = load_taxonomy(path)
        return self._loaded[name]

    def crosswalk(self, source: str, target: str) -> Crosswalk | None:
        """The crosswalk from one taxonomy to another, validated against both; None if none.

        Where there is only a file for the way back, that one is inverted.
        """
        path = self._crosswalks.get(f"{source}--{target}")
        if path is not None:
            return self._checked_crosswalk(path)
        back = self._crosswalks.get(f"{target}--{source}")
        if back is None:
            return None
        crosswalk = self._checked_crosswalk(back)
        return crosswalk.inverted(node.code for node in self.taxonomy(source).selectable)

    def crosswalk_named(self, name: str) -> Crosswalk:
        """The crosswalk of that name, or the inverse of its way back, validated as above."""
        if name in self._crosswalks:
            return self._checked_crosswalk(self._crosswalks[name])
        source, _, target = name.partition("--")
        found = self.crosswalk(source, target)
        if found is None:
            raise StudyError(
                f"there is no crosswalk {name!r}", f"Known: {', '.join(self.crosswalk_names)}."
            )
        return found

    def check_file(self, path: Path) -> Taxonomy | Crosswalk:
        """Load a file of either kind (a crosswalk has `--` in its name)."""
        return self._checked_crosswalk(path) if names_crosswalk(path.stem) else load_taxonomy(path)

    def _checked_crosswalk(self, path: Path) -> Crosswalk:
        crosswalk = load_crosswalk(path)
        for name in (crosswalk.source_taxonomy, crosswalk.target_taxonomy):
            if name not in self._taxonomies:
                known = ", ".join(self.names)
                raise _refusal(path, [Problem(1, f"there is no taxonomy {name!r}, only {known}")])
        problems = list(
            _crosswalk_problems(
                crosswalk,
                self.taxonomy(crosswalk.source_taxonomy),
                self.taxonomy(crosswalk.target_taxonomy),
            )
        )
        if problems:
            raise _refusal(path, problems)
        return crosswalk


def names_crosswalk(name: str) -> bool:
    """Whether that is how a crosswalk is called; no taxonomy can have such a name."""
    return "--" in name


def load_taxonomy(path: Path) -> Taxonomy:
    """Read and validate one taxonomy file."""
    taxonomy, problems = read_taxonomy(path)
    if taxonomy is None or problems:
        raise _refusal(path, problems)
    return taxonomy


def taxonomy_of_text(text: str, name: str) -> Taxonomy:
    """A taxonomy whose file a study has kept; its path leads nowhere."""
    path = Path(f"{name}.yaml")
    taxonomy, problems = read_taxonomy(path, text.encode())
    if taxonomy is None or problems:
        raise _refusal(path, problems)
    return taxonomy


def load_crosswalk(path: Path) -> Crosswalk:
    """Read one crosswalk file; `TaxonomyLibrary` also checks its codes."""
    crosswalk, problems = read_crosswalk(path)
    if crosswalk is None or problems:
        raise _refusal(path, problems)
    return crosswalk


def _crosswalk_problems(
    crosswalk: Crosswalk, source: Taxonomy, target: Taxonomy
) -> Iterable[Problem]:
    for taxonomy, version in (
        (source, crosswalk.source_version),
        (target, crosswalk.target_version),
    ):
        if taxonomy.version != version:
            yield Problem(
                1, f"is for {taxonomy.name} {version}, but {taxonomy.name} is {taxonomy.version}"
            )
    for pair in crosswalk.pairs:
        if pair.code not in source:
            yield Problem(pair.line, f"code {pair.code}: not in {source.name}")
        for code in pair.targets:
            if code not in target:
                yield Problem(pair.line, f"code {pair.code}: {code} is not in {target.name}")
    for node in source.selectable:
        if crosswalk.pair(node.code) is None:
            yield Problem(1, f"code {node.code}: no pair; say `relation: none` if there is none")


def _found(folders: Iterable[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.yaml")):
            if path.stem in found:
                raise StudyError(
                    f"{path}: a taxonomy or crosswalk {path.stem!r} exists already "
                    f"({found[path.stem]})",
                    "Rename the file and the name in it.",
                )
            found[path.stem] = path
    return found


def _refusal(path: Path, problems: list[Problem]) -> StudyError:
    in_order = sorted(problems, key=lambda problem: (problem.line, problem.text))
    lines = [f"{path}:{problem.line}: {problem.text}" for problem in in_order]
    return StudyError("\n".join(lines), f"Mend the file, then: annotation taxonomy validate {path}")
