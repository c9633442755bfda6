"""Packages come from anybody: one that is damaged or hostile is refused in one message."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from faultatlas.data.errors import StudyError
from faultatlas.report.package import archive
from faultatlas.report.package.archive import ROOT, SUMS, sums
from faultatlas.report.package.verify import verify_package


def zipped(path: Path, files: dict[str, bytes], *, link: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive_:
        for name, data in files.items():
            archive_.writestr(name, data)
        if link:
            info = zipfile.ZipInfo(link)
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive_.writestr(info, "/etc/passwd")
    return path


def refused(path: Path) -> str:
    with pytest.raises(StudyError) as error:
        verify_package(path)
    assert error.value.hint
    assert "\n" not in error.value.message
    return error.value.message


@pytest.mark.parametrize(
    "name",
    [f"{ROOT}/../../evil", "/etc/evil", "evil", f"{ROOT}/a\\..\\evil", f"{ROOT}//evil", "../x"],
)
def test_no_name_leads_out_of_the_package(tmp_path: Path, name: str) -> None:
    hostile = zipped(tmp_path / "p.zip", {name: b"x", f"{ROOT}/{SUMS}": b""})
    assert "leads out of the package" in refused(hostile)
    assert [path.name for path in tmp_path.iterdir()] == ["p.zip"]


def test_links_bombs_and_too_many_files_are_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "not an ordinary file" in refused(
        zipped(tmp_path / "l.zip", {}, link=f"{ROOT}/claims.json")
    )
    bomb = zipped(tmp_path / "b.zip", {f"{ROOT}/claims.json": bytes(30_000_000)})
    assert "implausible compression ratio" in refused(bomb)
    monkeypatch.setattr(archive, "MOST_BYTES", 1_000)
    assert "would unpack to" in refused(zipped(tmp_path / "m.zip", {f"{ROOT}/x": bytes(2_000)}))


def test_names_that_clash_and_strange_packing_are_refused(tmp_path: Path) -> None:
    for one, other in (("a", "A"), ("a", "a/b"), ("A", "a/b")):
        both = {f"{ROOT}/{one}": b"x", f"{ROOT}/{other}": b"y"}
        assert "occurs twice" in refused(zipped(tmp_path / "c.zip", both))
    with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_BZIP2) as strange:
        strange.writestr(f"{ROOT}/claims.json", b"{}")
    assert "unsupported compression method" in refused(tmp_path / "z.zip")


def test_what_is_damaged_or_no_package_says_so(tmp_path: Path) -> None:
    nothing = tmp_path / "n.zip"
    nothing.write_bytes(b"PK\x03\x04 no zip file")
    assert "is not a package, or a damaged one" in refused(nothing)
    assert "it has no SHA256SUMS" in refused(zipped(tmp_path / "o.zip", {f"{ROOT}/x": b"x"}))
    files = {"claims.json": b"{}"}
    whole = {f"{ROOT}/claims.json": b"{}", f"{ROOT}/{SUMS}": sums(files)}
    assert "claims.json of the package cannot be read" in refused(zipped(tmp_path / "w.zip", whole))
    changed = {**whole, f"{ROOT}/claims.json": b"[]", f"{ROOT}/more": b"x"}
    said = refused(zipped(tmp_path / "c.zip", changed))
    assert "more is not in SHA256SUMS" in said
    assert "claims.json has changed" in said
    assert "there is no" in refused(tmp_path / "missing.zip")


def test_a_bit_that_flipped_on_the_way_is_found(tmp_path: Path) -> None:
    path = tmp_path / "p.zip"
    archive.write(path, {"claims.json": b"x" * 1_000})
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    assert "damaged" in refused(path)
