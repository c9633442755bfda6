"""Takes the fields of a YAML file apart, and notes everything that is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from faultatlas.data.yaml_lines import Mapping, Problem


class Fields:
    """Takes text fields out of a mapping and notes what is missing or strange."""

    def __init__(self, mapping: Mapping, problems: list[Problem], where: str = "") -> None:
        self.mapping = mapping
        self.problems = problems
        self.where = f"{where}: " if where else ""

    def complain(self, text: str, key: str = "") -> None:
        """Note a problem, on the line of the key if it is there."""
        line = self.mapping.lines.get(key, self.mapping.line)
        self.problems.append(Problem(line, f"{self.where}{text}"))

    def expect(self, required: Iterable[str], optional: Iterable[str] = ()) -> None:
        """Complain about keys that mean nothing here."""
        known = {*required, *optional}
        for key in self.mapping.values:
            if key not in known:
                self.complain(f"unknown key {key!r}", key)

    def text(self, key: str, *, required: bool = True) -> str:
        """A text without superfluous spaces; "" where there is none."""
        value = self.mapping.values.get(key)
        if value is None or (isinstance(value, str) and not value.strip()):
            if required:
                self.complain(f"{key} is missing", key)
            return ""
        if isinstance(value, str):
            return " ".join(value.split())
        written = self.mapping.written.get(key, "")
        advice = f": put {written} in quotes" if written else ""
        self.complain(f"{key} must be text{advice}", key)
        return written

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.mapping.values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.complain(f"{key} must be a list of texts", key)
            return ()
        texts = tuple(" ".join(item.split()) for item in value)
        if not all(texts):
            self.complain(f"{key} must not be blank", key)
        return texts

    def codes(self, key: str) -> tuple[str, ...]:
        """One code or a list of them."""
        if isinstance(self.mapping.values.get(key), list):
            return tuple(dict.fromkeys(self.texts(key)))
        text = self.text(key, required=False)
        return (text,) if text else ()

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str:
        """A text that must be one of some."""
        value = self.text(key)
        if value and value not in allowed:
            self.complain(f"{key} must be one of {', '.join(allowed)}, not {value!r}", key)
        return value

    def matching(self, key: str, pattern: re.Pattern[str], meaning: str) -> str:
        """A text of a certain form."""
        value = self.text(key)
        if value and not pattern.match(value):
            self.complain(f"{key} must be {meaning}, not {value!r}", key)
        return value

    def entries(self, key: str) -> list[Mapping]:
        """A list of mappings with at least one."""
        value = self.mapping.values.get(key)
        if not isinstance(value, list) or not value:
            self.complain(f"{key} must be a list with at least one entry", key)
            return []
        entries = [item for item in value if isinstance(item, Mapping)]
        if len(entries) < len(value):
            self.complain(f"every entry of {key} must have keys", key)
        return entries
