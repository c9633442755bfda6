"""Finds taxonomies and crosswalks: those that are shipped and those of a study.

A taxonomy is a YAML file in `data/taxonomies/`, or in `taxonomies/` of a study; a
crosswalk is one in `data/crosswalks/` or `crosswalks/` of a study. Nothing has to be
registered. Files that are wrong are refused with file, line and code, all problems at
once. A study can change a shipped taxonomy: its file of the same name stands in for the
shipped one if it says, in `changes`, from which version it comes, or if it says the same.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

from faultatlas.data.config_files import Problem
from faultatlas.data.errors import StudyError
from faultatlas.data.taxonomy import Crosswalk, Taxonomy
from faultatlas.data.taxonomy_changes import version_key
from faultatlas.data.taxonomy_files import read_crosswalk, read_taxonomy

_OTHERWISE = "If it is another taxonomy, rename the file and the name in it."


class TaxonomyLibrary:
    """The taxonomies and crosswalks that a study can use: shipped ones and its own.

    Of a shipped one that the study has changed it is the study's version, unless they are
    wanted `as_shipped`.
    """

    def __init__(self, study_directory: Path | None = None, *, as_shipped: bool = False) -> None:
        shipped = Path(str(files("faultatlas.data")))
        self._taxonomies = _found(shipped / "taxonomies")
        self._crosswalks = _found(shipped / "crosswalks")
        self._changed: dict[str, Path] = {}  # shipped ones that the study has a file of
        self._loaded: dict[Path, Taxonomy] = {}  # an analysis asks for the same ones many times
        if study_directory is not None:
            own = _found(study_directory / "taxonomies")
            crosswalks = _found(study_directory / "crosswalks")
            if as_shipped:
                own = {name: path for name, path in own.items() if name not in self._taxonomies}
            self._changed = {
                name: self._taxonomies[name] for name in own if name in self._taxonomies
            }
            for name in sorted({*crosswalks} & {*self._crosswalks}):
                raise StudyError(
                    f"{crosswalks[name]}: a taxonomy or crosswalk {name!r} is there already "
                    f"({self._crosswalks[name]})",
                    "Rename the file and the name in it.",
                )
            self._taxonomies.update(own)
            self._crosswalks.update(crosswalks)

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
            near = difflib.get_close_matches(name, self.names, n=1)
            raise StudyError(
                f"there is no taxonomy {name!r}",
                (f"Did you mean {near[0]}? " if near else "")
                + f"Known: {', '.join(self.names)}. An own one is a file taxonomies/{name}.yaml "
                "in the study.",
            )
        return self._successor(name) if name in self._changed else self._load(path)

    def versions(self, name: str) -> tuple[Taxonomy, ...]:
        """The versions of a taxonomy that are on disk: the shipped one, that of the study.

        Also where the study's does not say yet how it came about: to compare them.
        """
        if name not in self._taxonomies:
            return ()
        if name not in self._changed:
            return (self.taxonomy(name),)
        own, shipped = self._load(self._taxonomies[name]), self._load(self._changed[name])
        return (shipped, own) if own.version != shipped.version else (self._successor(name),)

    def is_shipped(self, name: str) -> bool:
        """Whether the taxonomy is the shipped one itself, of which the study has no file."""
        path = self._taxonomies.get(name)
        return (
            path is not None and path.parent == Path(str(files("faultatlas.data"))) / "taxonomies"
        )

    def _successor(self, name: str) -> Taxonomy:
        """The study's file of a shipped taxonomy: a plain copy, or one that says its origin."""
        own, shipped = self._load(self._taxonomies[name]), self._load(self._changed[name])
        if _content(own) == _content(shipped) or (own.revisions and own.version != shipped.version):
            return own
        proposes = f"annotation taxonomy diff {name} proposes the lines to say in `changes`."
        if version_key(own.version) > version_key(shipped.version):
            raise StudyError(
                f"{own.path}: {name} {own.version} has no `changes`: nothing says how it came "
                f"from {shipped.version}, which is shipped",
                f"{proposes} {_OTHERWISE}",
            )
        is_same = own.version == shipped.version
        this = "this file is not the same" if is_same else f"this is {own.version}"
        raise StudyError(
            f"{own.path}: {name} {shipped.version} is there already, and {this}",
            f"Raise its `version` above {shipped.version}; then {proposes} {_OTHERWISE}",
        )

    def _load(self, path: Path) -> Taxonomy:
        if path not in self._loaded:
            self._loaded[path] = load_taxonomy(path)
        return self._loaded[path]

    def _in_version(self, name: str, version: str) -> Taxonomy:
        """The taxonomy on disk in that version, or else the one that is used."""
        if name in self._changed and self._load(self._changed[name]).version == version:
            return self._load(self._changed[name])  # also where the study's file is wrong
        versions = {each.version: each for each in self.versions(name)}
        return versions.get(version) or self.taxonomy(name)

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
        start = self._in_version(source, crosswalk.target_version)
        return crosswalk.inverted(node.code for node in start.selectable)

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
        """Load a file of either kind (a crosswalk has `--` in its name), as it would be used."""
        name = path.stem
        if names_crosswalk(name):
            return self._checked_crosswalk(path)
        if name in self._changed and path.resolve() == self._taxonomies[name].resolve():
            return self._successor(name)
        return load_taxonomy(path)

    def _checked_crosswalk(self, path: Path) -> Crosswalk:
        crosswalk = load_crosswalk(path)
        for name in (crosswalk.source_taxonomy, crosswalk.target_taxonomy):
            if name not in self._taxonomies:
                known = ", ".join(self.names)
                raise refusal(path, [Problem(1, f"there is no taxonomy {name!r}, only {known}")])
        problems = list(
            _crosswalk_problems(
                crosswalk,
                self._in_version(crosswalk.source_taxonomy, crosswalk.source_version),
                self._in_version(crosswalk.target_taxonomy, crosswalk.target_version),
            )
        )
        if problems:
            raise refusal(path, problems)
        return crosswalk


def _content(taxonomy: Taxonomy) -> Taxonomy:
    """What a taxonomy says, wherever it says it."""
    nodes = tuple(replace(node, line=0) for node in taxonomy.nodes)
    return replace(taxonomy, nodes=nodes, path=Path())


def names_crosswalk(name: str) -> bool:
    """Whether that is how a crosswalk is called; no taxonomy can have such a name."""
    return "--" in name


def load_taxonomy(path: Path) -> Taxonomy:
    """Read and validate one taxonomy file."""
    taxonomy, problems = read_taxonomy(path)
    if taxonomy is None or problems:
        raise refusal(path, problems)
    return taxonomy


def taxonomy_of_text(text: str, name: str) -> Taxonomy:
    """A taxonomy whose file a study has kept; its path leads nowhere."""
    path = Path(f"{name}.yaml")
    taxonomy, problems = read_taxonomy(path, text.encode())
    if taxonomy is None or problems:
        raise refusal(path, problems)
    return taxonomy


def load_crosswalk(path: Path) -> Crosswalk:
    """Read one crosswalk file; `TaxonomyLibrary` also checks its codes."""
    crosswalk, problems = read_crosswalk(path)
    if crosswalk is None or problems:
        raise refusal(path, problems)
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


def _found(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def refusal(path: Path, problems: list[Problem]) -> StudyError:
    """A file's problems in the order of its lines."""
    in_order = sorted(problems, key=lambda problem: (problem.line, problem.text))
    lines = [f"{path}:{problem.line}: {problem.text}" for problem in in_order]
    return StudyError("\n".join(lines), f"Mend the file, then: annotation taxonomy validate {path}")
