"""Tiny packages made by hand, for environments that are built without a network."""

import base64
import hashlib
import io
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

# A build backend that lies in the package itself: nothing has to be downloaded to run it.
_BACKEND = """
import base64, hashlib, os, zipfile

NAME, VERSION = {name!r}, {version!r}

def _run():
{code}

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _run()
    file = f"{{NAME}}-{{VERSION}}-py3-none-any.whl"
    parts = {{
        f"{{NAME}}.py": f"VERSION = {{VERSION!r}}\\n",
        f"{{NAME}}-{{VERSION}}.dist-info/METADATA":
            f"Metadata-Version: 2.1\\nName: {{NAME}}\\nVersion: {{VERSION}}\\n",
        f"{{NAME}}-{{VERSION}}.dist-info/WHEEL":
            "Wheel-Version: 1.0\\nGenerator: hand\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }}
    with zipfile.ZipFile(os.path.join(wheel_directory, file), "w") as wheel:
        for path, text in parts.items():
            wheel.writestr(path, text)
        rows = "".join(f"{{path}},,\\n" for path in parts)
        wheel.writestr(f"{{NAME}}-{{VERSION}}.dist-info/RECORD", rows)
    return file

def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError
"""


def make_wheel(
    folder: Path,
    name: str,
    version: str,
    *,
    requires: Iterable[str] = (),
    files: dict[str, str] | None = None,
) -> Path:
    """A wheel for any Python 3; `files` are put in besides its one module."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {one}\n" for one in requires)
    parts = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n",
        **(files or {}),
    }
    rows = []
    for path, text in parts.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        rows.append(f"{path},sha256={digest.decode()},{len(text.encode())}\n")
    parts[f"{info}/RECORD"] = "".join([*rows, f"{info}/RECORD,,\n"])
    file = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as wheel:
        for path, text in parts.items():
            wheel.writestr(path, text)
    return file


def make_source(folder: Path, name: str, version: str, code: str = "pass") -> Path:
    """A source package; `code` is run when it is built."""
    folder.mkdir(parents=True, exist_ok=True)
    indented = "".join(f"    {line}\n" for line in code.splitlines())
    parts = {
        "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\n'
        'backend-path = ["."]\n'
        f'[project]\nname = "{name}"\nversion = "{version}"\n',
        "backend.py": _BACKEND.format(name=name, version=version, code=indented),
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
    }
    file = folder / f"{name}-{version}.tar.gz"
    with tarfile.open(file, "w:gz") as archive:
        for path, text in parts.items():
            entry = tarfile.TarInfo(f"{name}-{version}/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return file
