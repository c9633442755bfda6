"""Names and files as they are typed, in the commands that messages propose.

A round may be called `Round 1`: what a person pastes into a shell must still be one word.
"""

from __future__ import annotations

import shlex


def typed(word: object) -> str:
    """The word as a shell takes it for one."""
    return shlex.quote(str(word))
