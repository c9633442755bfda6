"""A text classifier whose probabilities mean what they say.

Words and pairs of words, weighted by TF-IDF, and a logistic regression: on texts and numbers of
labels as studies have them, hardly anything is better, and it takes seconds. Probabilities are
calibrated on held-out folds: by one temperature where an item has one code (Guo et al. 2017), by
Platt's sigmoid for each code where it may have several.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from data.errors import StudyError

if TYPE_CHECKING:
    from numpy import float64
    from numpy.typing import NDArray

    from annotation.suggesting.examples import Example

    Probabilities = NDArray[float64]

FOLDS = 5
INNER_FOLDS = 3
_FEWEST = FOLDS * 2  # examples of a code: two in each held-out fold
_WAY = (
    "TF-IDF of words and pairs of words, logistic regression, {calibration}, "
    f"judged by {FOLDS} folds in which an artifact stands on one side only"
)


@dataclass(frozen=True)
class Judged:
    """A model and what it says of every example when it has not seen it."""

    codes: tuple[str, ...]
    examples: tuple[Example, ...]  # that it was trained on
    held_out: Probabilities  # examples by codes
    rare: dict[str, int]  # codes with too few examples to learn, and how many
    is_multiple: bool
    fitted: Any
    way: str

    def probabilities(self, texts: Sequence[str]) -> Probabilities:
        """Of every code, for texts."""
        return _probabilities(self.fitted, texts, self.codes, is_multiple=self.is_multiple)


def judged(examples: Sequence[Example], *, is_multiple: bool, seed: int) -> Judged:
    """Train on all examples, after judging by folds. Codes that are too rare are left out."""
    counts = Counter(code for example in examples for code in example.codes)
    rare = {code: count for code, count in sorted(counts.items()) if count < _FEWEST}
    codes = tuple(sorted(set(counts) - rare.keys()))
    kept = tuple(example for example in examples if example.codes & set(codes))
    if len(codes) < 2:
        raise StudyError(
            f"a model needs two codes with {_FEWEST} labelled texts each; {len(codes)} "
            f"{'has' if len(codes) == 1 else 'have'} as many ({len(examples)} in all)",
            "Label more, or train on other rounds too: --trained-on ROUND",
        )
    held_out = _held_out(kept, codes, is_multiple=is_multiple, seed=seed)
    fitted = _fit([example.text for example in kept], kept, codes, is_multiple=is_multiple)
    calibration = "Platt's sigmoid for each code" if is_multiple else "one temperature"
    return Judged(
        codes, kept, held_out, rare, is_multiple, fitted, _WAY.format(calibration=calibration)
    )


def _held_out(
    examples: Sequence[Example], codes: Sequence[str], *, is_multiple: bool, seed: int
) -> Probabilities:
    import numpy as np
    from sklearn.model_selection import StratifiedGroupKFold

    texts = np.array([example.text for example in examples], dtype=object)
    groups = [example.artifact_id for example in examples]
    strata = [_stratum(example, codes) for example in examples]
    found = np.zeros((len(examples), len(codes)))
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(texts, strata, groups):
        fitted = _fit(texts[train], [examples[at] for at in train], codes, is_multiple=is_multiple)
        found[test] = _probabilities(fitted, texts[test], codes, is_multiple=is_multiple)
    return found


def _fit(
    texts: Sequence[str], examples: Sequence[Example], codes: Sequence[str], *, is_multiple: bool
) -> Any:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline

    words = TfidfVectorizer(
        sublinear_tf=True,
        ngram_range=(1, 2),
        min_df=2,
        max_features=50_000,
        strip_accents="unicode",
    )
    regression = LogisticRegression(C=10, max_iter=1000)
    if is_multiple:
        sigmoid = CalibratedClassifierCV(regression, method="sigmoid", cv=INNER_FOLDS)
        pipeline = make_pipeline(words, OneVsRestClassifier(sigmoid))
        wanted: Any = [[code in example.codes for code in codes] for example in examples]
    else:
        temperature = CalibratedClassifierCV(regression, method="temperature", cv=INNER_FOLDS)
        pipeline = make_pipeline(words, temperature)
        wanted = [_stratum(example, codes) for example in examples]
    return pipeline.fit(list(texts), wanted)


def _probabilities(
    fitted: Any, texts: Sequence[str], codes: Sequence[str], *, is_multiple: bool
) -> Probabilities:
    import numpy as np

    if not len(texts):
        return np.zeros((0, len(codes)))
    found = fitted.predict_proba(list(texts))
    if is_multiple:
        return np.asarray(found, dtype=float)
    aligned = np.zeros((len(texts), len(codes)))
    for at, code in enumerate(fitted.classes_):
        aligned[:, codes.index(code)] = found[:, at]
    return aligned


def _stratum(example: Example, codes: Sequence[str]) -> str:
    """The code of an example; of several, the first that can be learnt."""
    return next(code for code in sorted(example.codes) if code in codes)
