"""Which ratings are measured: those of a round at a stage, in a version, of some raters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultatlas.annotation.ratings import Ratings, ratings_of
from faultatlas.data.errors import StudyError
from faultatlas.data.old.gates import changed_after_gate

if TYPE_CHECKING:
    from pathlib import Path

    from faultatlas.annotation.agreement.choices import Choice
    from faultatlas.annotation.labels import Stage
    from faultatlas.annotation.rounds import Round
    from faultatlas.data.study import Reader
    from faultatlas.data.taxonomy import Taxonomy


@dataclass(frozen=True)
class Rated:
    """The ratings of a round, or of several that use one taxonomy, with what they are of."""

    name: str
    rounds: tuple[Round, ...]
    stage: Stage
    taxonomy: Taxonomy
    ratings: Ratings
    negotiated: int = 0  # ratings that were given after discussion
    unfinished: int = 0  # assignments without a label
    repeated: int = 0  # artifacts that stand in several of the rounds
    changed: int = 0  # independent labels that were changed after a gate was decided on them

    @property
    def is_multiple(self) -> bool:
        """Whether raters may choose several codes."""
        return any(each.choice == "multiple" for each in self.rounds)


def read_round(
    reader: Reader, directory: Path, of: Round, choice: Choice, *, stage: Stage | None = None
) -> Rated:
    """The ratings of a round as they were chosen.

    After discussion, what each rater said last counts: labels that nobody talked about stay
    as they were.
    """
    from faultatlas.annotation.taxonomies.versions import Versions, carrier

    wanted = stage or choice.stage
    version = choice.version or of.taxonomy_version
    taxonomy = Versions.known(reader, directory, of.taxonomy).taxonomy(version)
    carry = carrier(reader, directory, of.taxonomy, version) if choice.version else None
    ratings = ratings_of(reader, of, version=version, carry=carry)
    discussed: frozenset[tuple[str, str]] = frozenset()
    if wanted == "negotiated":
        after = ratings_of(reader, of, stage="negotiated", version=version, carry=carry)
        discussed = frozenset(after.given)
        ratings = replace(
            ratings,
            raters=tuple(dict.fromkeys((*ratings.raters, *after.raters))),
            given={**ratings.given, **after.given},
            undecided=(ratings.undecided - after.given.keys()) | after.undecided,
        )
    if choice.raters:
        ratings = _of_raters(ratings, choice.raters, of.name)
    unfinished = _unfinished(reader, of, ratings)
    if choice.first is not None:
        ratings = _first(reader, ratings, of, choice.first)
    negotiated = len(discussed & ratings.given.keys())
    changed = sum(each.round == of.name for each in changed_after_gate(reader))
    return Rated(of.name, (of,), wanted, taxonomy, ratings, negotiated, unfinished, changed=changed)


def has_negotiated(reader: Reader, round_name: str) -> bool:
    """Whether a round was discussed and labelled again."""
    sql = "SELECT 1 FROM store.answer WHERE round = ? AND stage = 'negotiated' LIMIT 1"
    return reader.value(sql, [round_name]) is not None


def together(reader: Reader, parts: list[Rated]) -> Rated:
    """The ratings of several rounds as if they were one; an item of each stays an item."""
    first = parts[0]
    names = [part.name for part in parts]

    def own(part: Rated, item: str) -> str:
        return f"{part.name}\0{item}"

    return Rated(
        f"{', '.join(names)} together",
        tuple(each for part in parts for each in part.rounds),
        first.stage,
        first.taxonomy,
        Ratings(
            items=tuple(own(part, item) for part in parts for item in part.ratings.items),
            raters=tuple(dict.fromkeys(who for part in parts for who in part.ratings.raters)),
            given={
                (own(part, item), rater): codes
                for part in parts
                for (item, rater), codes in part.ratings.given.items()
            },
            strata={
                own(part, item): stratum
                for part in parts
                for item, stratum in part.ratings.strata.items()
            },
            undecided=frozenset(
                (own(part, item), rater) for part in parts for item, rater in part.ratings.undecided
            ),
        ),
        sum(part.negotiated for part in parts),
        sum(part.unfinished for part in parts),
        _repeated(reader, parts),
        sum(part.changed for part in parts),
    )


def _repeated(reader: Reader, parts: list[Rated]) -> int:
    """The artifacts that have ratings in several of the rounds."""
    rounds: dict[str, set[str]] = {}
    for part in parts:
        rated = {item for item, _rater in part.ratings.given}
        sql = "SELECT item_id, artifact_id FROM store.item WHERE round = ?"
        for row in reader.rows(sql, [part.name]):
            if row["item_id"] in rated:
                rounds.setdefault(row["artifact_id"], set()).add(part.name)
    return sum(len(names) > 1 for names in rounds.values())


def _of_raters(ratings: Ratings, wanted: tuple[str, ...], round_name: str) -> Ratings:
    for rater in wanted:
        if rater not in ratings.raters:
            raise StudyError(
                f"round {round_name!r} has no rater {rater!r}",
                f"Known: {', '.join(ratings.raters) or 'none yet'}.",
            )
    undecided = frozenset(key for key in ratings.undecided if key[1] in wanted)
    return replace(ratings.only(raters=wanted), undecided=undecided)


def _first(reader: Reader, ratings: Ratings, of: Round, count: int) -> Ratings:
    """The first raters of each item: in the order of a sheet's columns, or of the round."""
    rows = reader.rows(  # the origin of a sheet's answer ends with the rater's place in the row
        r"SELECT item_id, rater, min(rowid) AS came, "
        r"min(TRY_CAST(regexp_extract(origin, ' rater ([0-9]+)$', 1) AS INTEGER)) AS place "
        r"FROM store.answer WHERE round = ? GROUP BY ALL ORDER BY place, came",
        [of.name],
    )
    came = {(row["item_id"], row["rater"]): at for at, row in enumerate(rows)}
    if of.origin != "imported":  # when labels arrived says nothing there
        came = {key: ratings.raters.index(key[1]) for key in ratings.given}
    kept: set[tuple[str, str]] = set()
    for item, said in ratings.of_items.items():
        keys = sorted(((item, rater) for rater in said), key=lambda key: came[key])
        kept.update(keys[:count])
    given = {key: codes for key, codes in ratings.given.items() if key in kept}
    return replace(ratings, given=given)


def _unfinished(reader: Reader, of: Round, ratings: Ratings) -> int:
    rows = reader.rows("SELECT item_id, rater FROM store.assignment WHERE round = ?", [of.name])
    done = ratings.given.keys() | ratings.undecided
    return sum(
        (row["item_id"], row["rater"]) not in done for row in rows if row["rater"] in ratings.raters
    )
