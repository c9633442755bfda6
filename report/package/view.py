"""What `report package` tells on the terminal."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from data.errors import StudyError
from report.claims.checking import differences_table
from report.formatting import counted, plain
from report.tables import console_table

if TYPE_CHECKING:
    from report.console import Output
    from report.package.making import Packed
    from report.package.verifying import Verified

_NAMED = 20


def show_packed(output: Output, packed: Packed) -> None:
    """Where the package is, what it cannot give, and what is still to be said."""
    output.document(
        {
            "package": str(packed.path),
            "files": packed.files,
            "bytes": packed.size,
            "claims": packed.claims,
            "cannot_be_verified": packed.cannot,
            "missing": packed.missing,
            "raters_not_searched_for": packed.unsearched,
            "published_packages_left_out": list(packed.packages),
        }
    )
    output.show(
        f"Package: {packed.path} ({counted(packed.files, 'file')}, {packed.size:,} bytes)",
        f"{counted(packed.claims - len(packed.cannot), 'claim')} can be verified from it.",
    )
    output.show(*_reasons(packed.cannot.values()))
    if packed.unsearched:
        output.show(
            "Raters have other names in it; these are ordinary words too, so that sentences were "
            f"not searched for them: {', '.join(map(plain, packed.unsearched))}"
        )
    if packed.missing:
        output.show(f"study.toml does not say in [study]: {', '.join(packed.missing)}")
    output.show(f"Verify it anywhere: report package --verify {shlex.quote(str(packed.path))}")


def show_verified(output: Output, found: Verified) -> None:
    """What came of every claim; a difference is a failure."""
    good, bad, open_ones = (
        found.of("verified"),
        found.of("differs"),
        found.of("cannot be verified"),
    )
    output.document(
        {
            "title": found.title,
            "made_with": found.version,
            "verified": len(good),
            "differs": [each.to_json() for each in bad],
            "cannot_be_verified": [each.to_json() for each in open_ones],
        }
    )
    if found.differences:
        output.show(console_table(differences_table(found.differences)), "")
    rest = f"; {len(open_ones):,} cannot be verified from the package" if open_ones else ""
    output.show(
        f"{plain(found.title)}: {len(good):,} of {counted(len(found.outcomes), 'claim')} "
        f"verified{rest}."
    )
    output.show(*_reasons(each.reason for each in open_ones))
    if output.verbose:
        output.show(*(f"- {plain(each.claim.claim_id)}: {each.verdict}" for each in found.outcomes))
    if bad or found.differences:
        names = [plain(each.claim_id) for each in found.differences]
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        raise StudyError(
            f"{counted(len(names), 'claim')} of the package "
            f"{'differs' if len(names) == 1 else 'differ'} from what its rows give: "
            f"{', '.join(names[:_NAMED])}{more}",
            "The rows, the numbers or the program changed since it was made "
            f"(with faultatlas {plain(found.version)}): ask its authors.",
        )


def _reasons(why: Iterable[str]) -> list[str]:
    return [
        f"{counted(number, 'claim')} cannot be verified: {plain(reason)}."
        for reason, number in Counter(why).items()
    ]
