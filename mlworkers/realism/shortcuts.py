"""The shortcut check: how well bare counts of characters tell the classes apart.

A classifier that knows which characters occur, and how many, knows nothing of meaning or order. Where it does about
as well as the real one, p_D may be a matter of format, and says little about realism.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mlworkers.realism.dataset import SdiData
from mlworkers.realism.discrimination import auc
from mlworkers.realism.head import Floats, cross_fit

_FEWEST = 5  # sentences in which a character must occur
_PENALTY = 0.01


def characters_auc(texts: Sequence[str], data: SdiData) -> float:
    """The AUC of a cross-fitted logistic regression on counts of characters, over the sentences learnt from.

    texts: the n sentences as they are to be counted, in their dress or without it.
    """
    logits = cross_fit(count_characters(texts), data, penalties=[_PENALTY]).logits[:, 1]
    return auc(logits[data.learnt], data.human[data.learnt])


def count_characters(texts: Sequence[str]) -> Floats:
    """log(1 + count) of each character that occurs in enough sentences, (n, characters); their order is Unicode's."""
    counted = [Counter(text) for text in texts]
    spread = Counter(character for counts in counted for character in counts)
    kept = sorted(character for character, sentences in spread.items() if sentences >= _FEWEST)
    table = np.array([[counts[character] for character in kept] for counts in counted], dtype=np.float64)
    return np.log1p(table.reshape(len(texts), len(kept)))
