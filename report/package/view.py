"""What `report package` tells on the terminal."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from faultatlas.data.errors import StudyError
from faultatlas.report.claims.check import differences_table
from faultatlas.report.formatting import counted, plain
from faultatlas.report.tables import console_table

if TYPE_CHECKING:
    from faultatlas.report.old.console import Output
    from faultatlas.report.package.making import Packed
    from faultatlas.report.package.verifying import Outcome, Verified

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
            "unclaimed": list(found.unclaimed),
            "unlike": None if found.unlike is None else list(found.unlike),
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
    output.show(*_on_its_word(found, open_ones))
    if output.verbose:
        output.show(*(f"- {plain(each.claim.claim_id)}: {each.verdict}" for each in found.outcomes))
    if found.unlike is None:
        output.show("data/ and claims.csv were not compared: another version made the package.")
    if bad or found.differences:
        names = [each.claim_id for each in found.differences]
        raise StudyError(
            f"{counted(len(names), 'claim')} of the package "
            f"{'differs' if len(names) == 1 else 'differ'} from what its rows give: "
            f"{_named(names)}",
            "The rows, the numbers or the program changed since it was made "
            f"(with faultatlas {plain(found.version)}): ask its authors.",
        )
    if found.unlike:
        raise StudyError(
            f"{counted(len(found.unlike), 'file')} for readers of the package "
            f"{'is' if len(found.unlike) == 1 else 'are'} not what its rows and claims give: "
            f"{_named(found.unlike)}",
            "Somebody changed it after it was made: ask its authors.",
        )


def _on_its_word(found: Verified, open_ones: Sequence[Outcome]) -> list[str]:
    """What nobody but the package says: a reader must know which numbers these are."""
    told = []
    if open_ones:
        names = _named([each.claim.claim_id for each in open_ones])
        other = sum(each.now is not None for each in open_ones)
        rest = f" (its rows give another number for {other:,})" if other else ""
        told.append(f"That reason, and these numbers, are the package's own word{rest}: {names}")
    if found.unclaimed:
        told.append(
            f"{counted(len(found.unclaimed), 'number')} of its rows "
            f"{'is' if len(found.unclaimed) == 1 else 'are'} not among its claims: "
            f"{_named(found.unclaimed)}"
        )
    return told


def _named(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else ""
    return f"{', '.join(map(plain, ids[:_NAMED]))}{more}"


def _reasons(why: Iterable[str]) -> list[str]:
    return [
        f"{counted(number, 'claim')} cannot be verified: {plain(reason)}."
        for reason, number in Counter(why).items()
    ]
