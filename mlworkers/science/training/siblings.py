"""Batches in which no two rows have a sentence, or the source of one, in common.

Where the other rows of a batch are negatives, a paraphrase of the same source would be a false one: the model would be
trained to push apart what means the same.
"""

import numpy as np
from numpy.typing import NDArray

from mlworkers.science.training.schedule import Places

Sources = NDArray[np.int64]


class SiblingsApart:
    """Every row once an epoch, in batches without siblings. The batches follow from the seed and the sources alone.

    sources: numbers of what each row must not share with another of its batch, (n, k); a number may stand in a row more
    than once. A batch has at most batch_size rows; where a source has more rows than there would be batches, there are
    more and smaller ones. The rate rises over the share `warmup` of all steps, then falls to 0, as in `ShuffledEpochs`.
    evaluate_every: steps between two evaluations; there is one after the last step too.
    """

    def __init__(
        self,
        sources: Sources,
        *,
        batch_size: int,
        epochs: int,
        warmup: float,
        seed: int,
        evaluate_every: int,
    ) -> None:
        self._batches: list[Places] = []
        for epoch in range(epochs):
            self._batches += batches_without_siblings(sources, batch_size, seed=(seed, epoch))
        self._rising = int(np.ceil(warmup * len(self._batches)))  # steps of the warm-up
        self._evaluate_every = evaluate_every

    @property
    def steps(self) -> int:
        return len(self._batches)

    @property
    def sizes(self) -> list[int]:
        """How many rows each batch has."""
        return [batch.size for batch in self._batches]

    def batch(self, step: int) -> Places:
        return self._batches[step].copy()

    def rate(self, step: int) -> float:
        if step < self._rising:
            return step / self._rising
        return (self.steps - step) / max(1, self.steps - self._rising)

    def is_evaluated(self, done: int) -> bool:
        return done == self.steps or done % self._evaluate_every == 0


def batches_without_siblings(sources: Sources, size: int, *, seed: tuple[int, int]) -> list[Places]:
    """Every row once, in batches of at most `size` rows of which no two share a source.

    sources: (n, k). Rows come in random order, but those of the most frequent sources first, because they find the
    fewest batches. The rows are dealt to the batches in turn, so that these are nearly equally large; a row whose turn
    is at a batch that is full or has one of its sources goes to the next batch without, or to a new one.
    """
    rows = len(sources)
    numbered = np.unique(sources, return_inverse=True)[1].reshape(sources.shape)  # (n, k): sources from 0
    distinct = [sorted({int(one) for one in row}) for row in numbered]
    standing = np.bincount([one for row in distinct for one in row], minlength=1)  # in how many rows
    # Two lower bounds: ceil(n / size) batches hold n rows, and the rows of one source need a batch each.
    # The dealing is greedy and may need more.
    batches = max(-(-rows // size), int(standing.max()))
    # With ceil(n / batches) rows in each, all rows have room; it is at most `size`.
    room = -(-rows // max(batches, 1))
    rng = np.random.default_rng(seed)
    order = rng.permutation(rows)
    # A row of a frequent source finds many batches closed, so each row counts by its most frequent source.
    most = standing[numbered].max(axis=1) if rows else np.zeros(0, dtype=np.int64)  # (n,)
    order = order[np.argsort(-most[order], kind="stable")]
    filled: list[list[int]] = [[] for _ in range(batches)]
    within: list[set[int]] = [set() for _ in range(batches)]
    for turn, row in enumerate(order.tolist()):
        # At most one look at each batch, so dealing n rows to b batches costs n · b looks at worst.
        looked_at = ((turn % batches + step) % len(filled) for step in range(len(filled)))
        free = (at for at in looked_at if len(filled[at]) < room and within[at].isdisjoint(distinct[row]))
        if (place := next(free, None)) is None:
            place = len(filled)
            filled.append([])
            within.append(set())
        filled[place].append(row)
        within[place].update(distinct[row])
    # Shuffled twice: otherwise rows of frequent sources would come first in every batch.
    drawn = [rng.permutation(np.array(batch, dtype=np.int64)) for batch in filled if batch]
    return [drawn[place] for place in rng.permutation(len(drawn))]
