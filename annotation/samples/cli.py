"""`annotation sample`: parses and calls, no logic."""

from __future__ import annotations

from report import console

commands = console.application("Later.")
