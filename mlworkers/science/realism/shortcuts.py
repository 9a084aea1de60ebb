"""The shortcut check: how well a classifier separates the classes that knows nothing of meaning or order.

Where characters or words alone do about as well as the real classifier, p_D may be a matter of format or of vocabulary,
and says little about how a sentence is written. Both are cross-fitted on the folds of the real classifier.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from curation.pairs.text import words
from mlworkers.science.realism.calibration import class_weights
from mlworkers.science.realism.dataset import SdiData
from mlworkers.science.realism.discrimination import auc
from mlworkers.science.realism.head import cross_fit

BAGS = ("characters", "words")
_FEWEST_SENTENCES = 5  # in which a character or a word must occur, to be counted
_PENALTY_OF_COUNTS = 0.01
_CHANCE = 0.5


def shortcut_figures(raw: Sequence[str], data: SdiData) -> dict[str, float]:
    """AUCs over the sentences learned from: of counts of characters, in their common dress and as they were drawn (n,),
    and of which words occur, in their common dress.
    """
    return {
        "characters_auc": _characters_auc(data.texts, data),
        "characters_auc_raw": _characters_auc(raw, data),
        "words_auc": _words_auc(data),
    }


def shortcuts_near(figures: Mapping[str, float]) -> list[str]:
    """Which of BAGS reach the interval of p_D's own AUC, where that is above chance."""
    if figures["auc_low"] <= _CHANCE:
        return []
    # Above the lower bound a bag's AUC could be as good as the classifier's true one.
    return [bag for bag in BAGS if figures[f"{bag}_auc"] >= figures["auc_low"]]


def _characters_auc(texts: Sequence[str], data: SdiData) -> float:
    # log(1 + count) of each character that occurs in enough sentences, (n, characters); their order is Unicode's.
    counted = [Counter(text) for text in texts]
    spread = Counter(character for counts in counted for character in counts)  # sentences with each character
    kept = sorted(character for character, sentences in spread.items() if sentences >= _FEWEST_SENTENCES)
    table = np.array([[counts[character] for character in kept] for counts in counted], dtype=np.float64)
    logits = cross_fit(
        np.log1p(table.reshape(len(texts), len(kept))), data, penalties=[_PENALTY_OF_COUNTS]
    ).logits[:, 1]

    return auc(logits[data.learned], data.human[data.learned])


def _words_auc(data: SdiData) -> float:
    """Of a logistic regression on which words occur; words have thousands of columns, so they stay sparse."""
    counter = CountVectorizer(
        tokenizer=words, token_pattern=None, lowercase=False, binary=True, min_df=_FEWEST_SENTENCES
    )
    try:
        table = counter.fit_transform(data.texts)  # (n, words)
    except ValueError:  # no word occurs often enough
        return _CHANCE
    margins = np.zeros(len(data.texts))
    for fold in range(data.folds):
        seen, own = data.seen_by(fold), data.fold == fold
        # Weights of mean 1: scikit-learn's default C = 1 then means Σ_i w_i loss_i + 1/2 |coefficients|².
        weights = class_weights(data.label[seen], data.count[seen]) * seen.sum()
        with threadpool_limits(1):
            regression = LogisticRegression(max_iter=1000).fit(
                table[seen], data.label[seen], sample_weight=weights
            )
        margins[own] = regression.decision_function(table[own])  # log-odds of being human
    return auc(margins[data.learned], data.human[data.learned])
