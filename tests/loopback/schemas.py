"""GitHub's own description of its payloads, to check ours against."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

ROOT = "urn:github"


class Schemas:
    """The schemas of the API description by name: issue, issue-comment, repository, ..."""

    def __init__(self, study_fixtures: Path) -> None:
        text = (study_fixtures / "github" / "openapi_subset.json").read_text(encoding="utf-8")
        described = json.loads(text)
        self.names = frozenset(described["components"]["schemas"])
        resource = DRAFT202012.create_resource(described)
        self._registry: Registry[Any] = Registry().with_resource(ROOT, resource)
        self._validators: dict[str, Validator] = {}

    def problems(self, name: str, payload: Mapping[str, Any]) -> list[str]:
        """What is wrong with a payload, with the place."""
        if name not in self._validators:
            schema = {"$ref": f"{ROOT}#/components/schemas/{name}"}
            self._validators[name] = Draft202012Validator(schema, registry=self._registry)
        found = self._validators[name].iter_errors(payload)
        return [f"{name} {problem.json_path}: {problem.message[:200]}" for problem in found]
