"""Many numbers of posts in little memory: eight bytes each, where a set takes 66.

A dump without a tag has tens of millions of questions. Few numbers are a set or a dict, in which
one is found faster.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

FEW = 100_000


def numbers(found: Iterable[int]) -> Container[int]:
    """Numbers, to ask whether one is among them."""
    keys = array("q", found)
    if len(keys) <= FEW:
        return frozenset(keys)
    (keys,) = _sorted(keys)
    return _Numbers(keys)


def pairs(found: Iterable[tuple[int, int]]) -> Mapping[int, int]:
    """Numbers with another one each; of one that comes twice the last."""
    keys, values = array("q"), array("q")
    for key, value in found:
        keys.append(key)
        values.append(value)
    if len(keys) <= FEW:
        return dict(zip(keys, values, strict=True))
    keys, values = _sorted(keys, values)
    return _Pairs(keys, values)


class _Numbers:
    def __init__(self, keys: array[int]) -> None:
        self._keys = keys

    def __contains__(self, number: Any) -> bool:
        return _place(self._keys, number) is not None


class _Pairs(Mapping[int, int]):
    def __init__(self, keys: array[int], values: array[int]) -> None:
        self._keys = keys
        self._values = values

    def __getitem__(self, number: int) -> int:
        at = _place(self._keys, number)
        if at is None:
            raise KeyError(number)
        return self._values[at]

    def __contains__(self, number: Any) -> bool:
        return _place(self._keys, number) is not None

    def __iter__(self) -> Iterator[int]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


def _place(keys: array[int], number: int) -> int | None:
    at = bisect_left(keys, number)
    return at if at < len(keys) and keys[at] == number else None


def _sorted(keys: array[int], *others: array[int]) -> list[array[int]]:
    """The numbers in their order, each once, and the others with them."""
    import numpy as np

    order = np.frombuffer(keys, np.int64)
    is_sorted = bool((order[1:] > order[:-1]).all())
    if is_sorted:  # as a dump has them
        return [keys, *others]
    # Backwards, so that of equal ones the last comes first.
    _unique, first = np.unique(order[::-1], return_index=True)
    places = len(keys) - 1 - first
    found = []
    for each in (keys, *others):
        sorted_values = array("q")
        sorted_values.frombytes(np.frombuffer(each, np.int64)[places].tobytes())
        found.append(sorted_values)
    return found
