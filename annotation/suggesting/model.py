"""A text classifier whose probabilities mean what they say.

Words and pairs of words, weighted by TF-IDF, and a logistic regression: on texts and numbers of
labels as studies have them, hardly anything is better, and it takes seconds. Probabilities are
calibrated on held-out folds: by one temperature where an item has one code (Guo et al. 2017), by
Platt's sigmoid for each code where it may have several.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from faultatlas.data.errors import StudyError

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from faultatlas.annotation.suggesting.examples import Example

    Probabilities = NDArray[float64]

FOLDS = 5
INNER_FOLDS = 3
_FEWEST = FOLDS * 2  # different texts of a code: two in each held-out fold
_WAY = (
    "TF-IDF of words and pairs of words, logistic regression, {calibration}, "
    f"judged by {FOLDS} folds in which an artifact, and a text that several have, stands on one "
    "side only"
)


@dataclass(frozen=True)
class Judged:
    """A model and what it says of every example when it has not seen it."""

    codes: tuple[str, ...]
    examples: tuple[Example, ...]  # that it was trained on
    held_out: Probabilities  # examples by codes
    rare: dict[str, int]  # codes with too few texts to learn, and how many examples they have
    beyond: int  # examples that have such codes only, which it gets wrong always
    is_multiple: bool
    fitted: Any
    way: str

    def probabilities(self, texts: Sequence[str]) -> Probabilities:
        """Of every code, for texts."""
        return _probabilities(self.fitted, texts, self.codes, is_multiple=self.is_multiple)


def judged(examples: Sequence[Example], *, is_multiple: bool, seed: int) -> Judged:
    """Train on all examples, after judging by folds. Codes that are too rare are left out.

    In multiple choice, so are codes that (nearly) every example has: there is nothing to tell.
    """
    counts = Counter(code for example in examples for code in example.codes)
    groups = _groups(examples)
    having: dict[str, set[int]] = {code: set() for code in counts}
    lacking: dict[str, set[int]] = {code: set() for code in counts}
    for example, group in zip(examples, groups, strict=True):
        for code in counts:
            (having if code in example.codes else lacking)[code].add(group)
    enough = {
        code
        for code in counts
        if len(having[code]) >= _FEWEST and (not is_multiple or len(lacking[code]) >= _FEWEST)
    }
    codes = tuple(sorted(enough))
    kept = tuple(example for example in examples if example.codes & enough)
    if len(codes) < 2:
        raise StudyError(
            f"a model needs two codes with {_FEWEST} different labelled texts each; {len(codes):,} "
            f"{'has' if len(codes) == 1 else 'have'} as many ({len(examples):,} labelled in all)",
            "Label more, or train on other rounds too: --trained-on ROUND",
        )
    held_out = _held_out(kept, codes, is_multiple=is_multiple, seed=seed)
    fitted = _fit(kept, codes, is_multiple=is_multiple)
    calibration = "Platt's sigmoid for each code" if is_multiple else "one temperature"
    return Judged(
        codes=codes,
        examples=kept,
        held_out=held_out,
        rare={code: counts[code] for code in sorted(counts.keys() - enough)},
        beyond=len(examples) - len(kept),
        is_multiple=is_multiple,
        fitted=fitted,
        way=_WAY.format(calibration=calibration),
    )


def _groups(examples: Sequence[Example]) -> list[int]:
    """What must stand on one side of a fold: examples of one artifact, and of one text."""
    leader: dict[str, int] = {}
    groups = list(range(len(examples)))

    def top(at: int) -> int:
        while groups[at] != at:
            at = groups[at]
        return at

    for at, example in enumerate(examples):
        words = " ".join(re.findall(r"\w+", example.text.casefold()))
        for key in (f"artifact {example.artifact_id}", f"text {words}"):
            groups[top(at)] = top(leader.setdefault(key, at))
    return [top(at) for at in range(len(examples))]


def _held_out(
    examples: Sequence[Example], codes: Sequence[str], *, is_multiple: bool, seed: int
) -> Probabilities:
    import numpy as np
    from sklearn.model_selection import StratifiedGroupKFold

    groups = _groups(examples)
    strata = [_stratum(example, codes) for example in examples]
    found = np.zeros((len(examples), len(codes)))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(strata, strata, groups):
        fitted = _fit([examples[at] for at in train], codes, is_multiple=is_multiple)
        texts = [examples[at].text for at in test]
        found[test] = _probabilities(fitted, texts, codes, is_multiple=is_multiple)
    return found


def _fit(examples: Sequence[Example], codes: Sequence[str], *, is_multiple: bool) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(
        sublinear_tf=True, ngram_range=(1, 2), min_df=2, max_features=50_000,
        strip_accents="unicode",
    )  # fmt: skip
    regression = LogisticRegression(C=10, max_iter=1000)
    texts = [example.text for example in examples]
    try:
        vectors = words.fit_transform(texts)
    except ValueError as error:  # not one word that two texts have
        raise StudyError(
            "the labelled texts have no words in common", "Nothing can be learnt from them."
        ) from error
    if is_multiple:
        wanted: list[list[Any]] = [[code in each.codes for each in examples] for code in codes]
    else:
        wanted = [[_stratum(example, codes) for example in examples]]
    fitted = [
        CalibratedClassifierCV(
            regression,
            method="sigmoid" if is_multiple else "temperature",
            cv=_inner_folds(examples, each),
        ).fit(vectors, each)
        for each in wanted
    ]
    return make_pipeline(words), fitted


def _inner_folds(examples: Sequence[Example], wanted: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Folds for the calibration; every class is on both sides, or the model could not be fit."""
    from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

    groups = _groups(examples)
    grouped = list(StratifiedGroupKFold(INNER_FOLDS).split(wanted, wanted, groups))
    classes = set(wanted)
    if all({wanted[at] for at in train} == classes for train, _test in grouped):
        return grouped
    return list(StratifiedKFold(INNER_FOLDS).split(wanted, wanted))


def _probabilities(
    fitted: Any, texts: Sequence[str], codes: Sequence[str], *, is_multiple: bool
) -> Probabilities:
    import numpy as np

    if not len(texts):
        return np.zeros((0, len(codes)))
    words, models = fitted
    vectors = words.transform(list(texts))
    if is_multiple:
        return np.column_stack([model.predict_proba(vectors)[:, 1] for model in models])
    aligned = np.zeros((len(texts), len(codes)))
    found = models[0].predict_proba(vectors)
    for at, code in enumerate(models[0].classes_):
        aligned[:, codes.index(code)] = found[:, at]
    return aligned


def _stratum(example: Example, codes: Sequence[str]) -> str:
    """The code of an example; of several, the first that can be learnt."""
    return next(code for code in sorted(example.codes) if code in codes)
