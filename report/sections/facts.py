"""What checks of a study have in common: the facts that they ask for, and what they give."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from faultatlas.report.sections import Material
from faultatlas.report.sections.agreement import entries

FILLED, PARTLY, MISSING, NOT_APPLICABLE = "filled", "partly", "missing", "not applicable"


@dataclass(frozen=True)
class Found:
    """What came of a check."""

    state: str
    evidence: str = ""
    section: str = ""


NONE = Found(MISSING)


@dataclass(frozen=True)
class Facts:
    """What several checks ask of the study, each asked once."""

    material: Material

    def value(self, sql: str) -> int:
        """A count."""
        return int(self.material.reader.value(sql) or 0)

    @cached_property
    def artifacts(self) -> int:
        """What was mined, papers aside."""
        return self.value(
            "SELECT count(*) FROM artifacts WHERE gone_at IS NULL AND kind IN "
            "('issue', 'pull', 'commit', 'post')"
        )

    @cached_property
    def papers(self) -> int:
        """Papers."""
        return self.value("SELECT count(*) FROM papers")

    @cached_property
    def labels(self) -> int:
        """Final labels and those of raters."""
        return self.value(
            "SELECT (SELECT count(*) FROM labels) + (SELECT count(*) FROM final_labels)"
        )

    @cached_property
    def draws(self) -> list[dict[str, Any]]:
        """The last draw of each sample."""
        return self.material.reader.rows(
            "SELECT * FROM sample_draws QUALIFY draw = max(draw) OVER (PARTITION BY sample) "
            "ORDER BY sample"
        )

    @cached_property
    def bug_sets(self) -> dict[str, int]:
        """Sets of bugs that can be run, each with how many it has."""
        rows = self.material.reader.rows(
            "SELECT set_name, count(*) AS bugs FROM bugs GROUP BY ALL ORDER BY set_name"
        )
        return {row["set_name"]: row["bugs"] for row in rows}

    @cached_property
    def bug_draws(self) -> list[dict[str, Any]]:
        """The last draw of each sample of bugs."""
        return self.material.reader.rows(
            "SELECT DISTINCT sample, strata, frame_count FROM bug_samples WHERE is_latest "
            "ORDER BY sample"
        )

    @cached_property
    def rounds(self) -> list[dict[str, Any]]:
        """The rounds, in their order."""
        return self.material.reader.rows("SELECT * FROM rounds ORDER BY created_at, run_id, round")

    @cached_property
    def agreement(self) -> list[dict[str, Any]]:
        """What was measured of raters on their own."""
        found = entries(self.material.of("agreement"))
        return [entry for _, entry in found if entry.get("stage") == "independent"]

    @cached_property
    def findings(self) -> list[Any]:
        """Results that are neither agreement nor the study's own numbers."""
        return [
            each for each in self.material.results if each.analysis not in {"agreement", "study"}
        ]


def found_if(condition: object, evidence: str, section: str, state: str = FILLED) -> Found:
    """What was found, if the condition holds; else it is missing."""
    return Found(state, evidence, section) if condition else NONE
