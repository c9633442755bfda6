"""Small bugs for tests: a folder as `bug.toml` describes it, written in one call."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

LIMITS = {"seconds": 20, "memory_mb": 512, "processes": 64, "disk_mb": 64, "output_mb": 1}


def make_bug(
    folder: Path,
    *,
    buggy: str | Mapping[str, str],
    fixed: str | Mapping[str, str] | None,
    symptom: str = "crash",
    requirements: Sequence[str] = (),
    bug_id: str = "",
    data: Mapping[str, str | bytes] | None = None,
    files: Mapping[str, str] | None = None,
    **toml: Any,
) -> Path:
    """A bug's folder, which is returned.

    A side is the text of its `main.py`, or its files by name (one of them `main.py`, or say the
    commands in `run`); `fixed=None`: no such side. `data` are files of `data/`, declared with
    their true checksum; `files` lie beside bug.toml. Anything else is a table of bug.toml that is
    laid over the usual one, key by key: `oracle={"exception": "ValueError"}`,
    `run={"outputs": ["out.txt"]}`, `limits={"seconds": 1}`, `environment={"python": "3.6"}`,
    `labels={"about_gpu": True}`. The id is `made/<name of the folder>` unless `bug_id` says other.
    """
    sides = {"buggy": buggy} if fixed is None else {"buggy": buggy, "fixed": fixed}
    tables: dict[str, Any] = {
        "bug": {
            "id": bug_id or f"made/{folder.name}",
            "title": f"made for a test: {folder.name}",
            "url": "",
            "source": "own",
        },
        "labels": {"framework": "numpy"},
        "environment": {"python": "any"},
        "data": [
            {"path": name, "sha256": hashlib.sha256(_bytes(content)).hexdigest()}
            for name, content in (data or {}).items()
        ],
        "run": {side: {"commands": [["python", "main.py"]]} for side in sides},
        "oracle": {"symptom": symptom},
        "limits": dict(LIMITS),
        "fidelity": {"marks": ["declared"]},
    }
    for name, table in toml.items():
        if isinstance(table, Mapping):
            tables[name] = _laid_over(tables.get(name, {}), table)
        else:
            tables[name] = table
    for side, content in sides.items():
        texts = {"main.py": content} if isinstance(content, str) else content
        for name, text in texts.items():
            _write(folder / side / name, text)
    for name, blob in (data or {}).items():
        _write(folder / "data" / name, blob)
    for name, text in (files or {}).items():
        _write(folder / name, text)
    _write(folder / "requirements.txt", "".join(f"{line}\n" for line in requirements))
    _write(folder / "bug.toml", _toml(tables))
    return folder


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        if isinstance(value, Mapping) and isinstance(merged.get(key), Mapping):
            merged[key] = _laid_over(merged[key], value)
        else:
            merged[key] = value
    return merged


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_bytes(content))


def _toml(tables: Mapping[str, Any]) -> str:
    """All of it as inline values: TOML's strings, numbers and booleans are those of JSON."""
    plain = [f"{key} = {_value(value)}" for key, value in tables.items() if not _is_table(value)]
    lines = [*plain]
    for key, value in tables.items():
        if _is_table(value):
            lines += ["", f"[{key}]"]
            lines += [f"{_key(name)} = {_value(each)}" for name, each in value.items()]
    return "\n".join(lines) + "\n"


def _is_table(value: object) -> bool:
    return isinstance(value, Mapping)


def _key(name: str) -> str:
    return json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(name)} = {_value(each)}" for name, each in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    return json.dumps(value)
