"""The results that labelling stores, and what computes each of them again: an entry point."""

from __future__ import annotations

from typing import Any


def analyses() -> dict[str, Any]:
    """By the name of an analysis the function of study and parameters that gives its result."""
    from faultatlas.annotation.settling import accuracy_command, accuracy_result
    from faultatlas.annotation.suggesting import command as suggesting
    from faultatlas.annotation.taxonomies import saturation_result

    return {
        accuracy_result.ANALYSIS: accuracy_command.again,
        suggesting.ANALYSIS: suggesting.again,
        saturation_result.ANALYSIS: saturation_result.again,
    }
