"""The groups of pairs that RISE compares (section 3, Tables 1 and 4): human pairs, generated pairs, and the generated
pairs with the highest and the lowest p_D; overall and within each target similarity.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlworkers.science.linguistics.measures import Group

Column = NDArray[Any]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class AnalysedPairs:
    """n pairs. numbers: their own; a, b: numbers of their sentences; first, second: the texts; generated: whether a
    machine wrote the second sentence for the first; realism: p_D of the second sentence, NaN where it has none;
    target: the target similarity, NaN where there is none. Each has shape (n,).
    """

    numbers: Column
    a: Column
    b: Column
    first: Column
    second: Column
    generated: Column
    realism: Column
    target: Column

    def __len__(self) -> int:
        return int(self.numbers.size)


@dataclass(frozen=True)
class Family:
    """Groups that are compared with one another. target: None overall, else the target similarity of its generated
    pairs. groups: the indices of each group's pairs.
    """

    target: float | None
    groups: dict[Group, Indices]


def families_of(pairs: AnalysedPairs, *, share: float) -> Iterator[Family]:
    """All generated pairs first, then those of each target similarity, if they have several; groups without a pair
    are left out. share: of the generated pairs with p_D that are highest, and lowest.
    """
    human, generated = np.flatnonzero(~pairs.generated), np.flatnonzero(pairs.generated)
    yield Family(None, _groups(pairs, human, generated, share))
    targets = np.unique(pairs.target[generated])
    targets = targets[~np.isnan(targets)]
    for target in targets.tolist() if targets.size > 1 else []:
        alike = generated[pairs.target[generated] == target]
        yield Family(target, _groups(pairs, human, alike, share))


def _groups(pairs: AnalysedPairs, human: Indices, generated: Indices, share: float) -> dict[Group, Indices]:
    scored = generated[~np.isnan(pairs.realism[generated])]
    # Equal p_D: the pair's number decides, so that the same pairs are taken whatever their order in the file.
    rising = scored[np.lexsort((pairs.numbers[scored], pairs.realism[scored]))]
    number = int(share * rising.size)  # rounded down, as many at either end
    groups = {
        Group.HUMAN: human,
        Group.GENERATED: generated,
        Group.HIGHEST: rising[rising.size - number :],
        Group.LOWEST: rising[:number],
    }
    return {group: indices for group, indices in groups.items() if indices.size}
