"""The files of a data dump as streams of bytes: plain, gzip, or inside a 7z archive.

Nothing is unpacked to disk, and nothing is held but what the caller asks for. The archives are
opened by 7-Zip itself, if there is one: the format is its own. What only packed files need is
imported for them only: it takes as long as reading many megabytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    import gzip

_TOOLS = ("7z", "7zz", "7za", "7zr")
_ENDINGS = (".xml", ".xml.gz", ".7z")
_CHUNK = 1 << 18

Read = Callable[[memoryview], int]  # fills as much as it can; 0 at the end


class Broken(Exception):  # noqa: N818  (it is what the file is)
    """Why a packed file ends before its end."""


@dataclass(frozen=True)
class DumpFile:
    """A file of a dump; of an archive, the file of that name inside."""

    path: Path
    member: str  # Posts.xml or Comments.xml

    @property
    def name(self) -> str:
        """Without its folder."""
        name = self.path.name
        return f"{name}/{self.member}" if self._is_archive else name

    @property
    def size(self) -> int | None:
        """Bytes to read; None where only the end will tell."""
        return None if self._is_packed else self.path.stat().st_size

    def mark(self) -> tuple[int, int]:
        """What a write to the file changes."""
        about = self.path.stat()
        return about.st_size, about.st_mtime_ns

    @contextmanager
    def opened(self) -> Iterator[Read]:
        """The bytes from the first one on."""
        try:
            if self._is_archive:
                with _extracted(self.path, self.member) as read:
                    yield read
            elif self._is_packed:
                import gzip

                with self.path.open("rb") as raw, gzip.GzipFile(fileobj=raw) as file:
                    yield _gunzipping(file)
            else:
                with self.path.open("rb", buffering=0) as plain:
                    yield lambda view: _filled(plain, view)
        except OSError as error:
            raise StudyError(
                f"{self.path} cannot be read: {error.strerror or error}",
                "Check the path and its permissions, then run this again.",
            ) from None

    @property
    def _is_archive(self) -> bool:
        return self.path.name.lower().endswith(".7z")

    @property
    def _is_packed(self) -> bool:
        return self.path.name.lower().endswith((".7z", ".gz"))


def posts_file(path: Path) -> DumpFile:
    """The posts of a dump."""
    if not path.name.lower().endswith(_ENDINGS):
        raise StudyError(
            f"{path} is no file of a data dump: it does not end in .xml, .xml.gz or .7z",
            "Give Posts.xml as archive.org has it, packed or not.",
        )
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise StudyError(f"{path} {what}", "Give the file Posts.xml of a data dump.")
    return DumpFile(path, "Posts.xml")


def comments_file(posts: DumpFile) -> DumpFile | None:
    """The comments of the same dump: beside the posts, or in the same archive."""
    folder, name = posts.path.parent, posts.path.name
    match = re.search("Posts", name, re.IGNORECASE)
    if match:
        stem = re.sub(r"(?i)\.(?:xml|xml\.gz|7z)\Z", "", name)
        other = f"{stem[: match.start()]}Comments{stem[match.end() :]}"
        for ending in sorted(_ENDINGS, key=lambda each: not name.lower().endswith(each)):
            if (folder / f"{other}{ending}").is_file():
                return DumpFile(folder / f"{other}{ending}", "Comments.xml")
    archived = name.lower().endswith(".7z") and "Comments.xml" in _listed(posts.path)
    return DumpFile(posts.path, "Comments.xml") if archived else None


def _filled(file: io.FileIO, view: memoryview) -> int:
    done = 0
    while done < len(view) and (got := file.readinto(view[done:])):
        done += got
    return done


def _gunzipping(file: gzip.GzipFile) -> Read:
    import zlib
    from gzip import BadGzipFile

    broken = ""

    def read(view: memoryview) -> int:
        nonlocal broken
        done = 0
        while done < len(view) and not broken:
            try:
                got = file.read1(min(_CHUNK, len(view) - done))
            except EOFError:
                broken = "it is cut"
            except (BadGzipFile, zlib.error) as error:
                broken = f"its gzip is damaged ({error})"
            else:
                if not got:
                    break
                view[done : done + len(got)] = got
                done += len(got)
        if broken and not done:  # what came before is sound, and was given out
            raise Broken(broken)
        return done

    return read


@contextmanager
def _extracted(path: Path, member: str) -> Iterator[Read]:
    import subprocess

    command = [_tool(path), "x", "-so", "-bd", "-y", "--", str(path.absolute()), member]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as program:
        assert program.stdout is not None  # noqa: S101  (it is a pipe)
        pipe: BinaryIO = program.stdout  # type: ignore[assignment]

        def read(view: memoryview) -> int:
            done = 0
            while done < len(view) and (got := pipe.readinto(view[done:])):  # type: ignore[attr-defined]
                done += got
            if not done and program.wait() != 0:
                raise Broken(f"7-Zip could not unpack it to its end (it said {program.returncode})")
            return done

        try:
            yield read
        finally:
            program.kill()  # of what is no longer wanted; no harm when it has ended


def _listed(path: Path) -> set[str]:
    """The names of the files in an archive."""
    import subprocess

    command = [_tool(path), "l", "-slt", "-ba", "--", str(path.absolute())]
    found = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True)
    lines = found.stdout.decode("utf-8", "replace").splitlines()
    return {line.removeprefix("Path = ") for line in lines if line.startswith("Path = ")}


def _tool(path: Path) -> str:
    import shutil

    for name in _TOOLS:
        if found := shutil.which(name):
            return found
    raise StudyError(
        f"{path.name} is a 7z archive, and none of {', '.join(_TOOLS)} is installed",
        "Install 7-Zip (the package 7zip or p7zip-full), or unpack the file and give Posts.xml.",
    )
