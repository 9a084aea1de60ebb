"""What the splits of a file would share with those that a dataset has: told by a check, refused by an import."""

from array import array
from dataclasses import dataclass, field
from sys import intern

import numpy as np

from curation.datasets.leak_guard import some_splits_set_here
from curation.datasets.splits import MOST_ON_A_PAGE, LeaksOfChange, leaks_of_import
from curation.exchange.pair_writing import WriteOutcome
from curation.models import Dataset, Pair
from curation.pairs.leaks import Leaks, leaks_between
from curation.pairs.text import near_copy_number


@dataclass
class RowsInSplits:
    """What the rows of a file do to splits.

    moved: from pairs that are there to their new splits.
    splits: of each new pair its split, (n,).
    a, b: of each new pair its two sentences, as `near_copy_number` gives them, (n,) each.
    """

    moved: dict[int, str] = field(default_factory=dict)
    splits: list[str] = field(default_factory=list)
    a: "array[int]" = field(default_factory=lambda: array("q"))
    b: "array[int]" = field(default_factory=lambda: array("q"))

    def add(self, written: WriteOutcome) -> None:
        for update in written.updates:
            for change in update.changes:
                if change.what == "split":
                    self.moved[update.pair.pk] = str(change.new)
        self.splits += [intern(pair.name.split) for pair in written.new]
        self.a.extend(near_copy_number(pair.draft.a) for pair in written.new)
        self.b.extend(near_copy_number(pair.draft.b) for pair in written.new)

    def leaks(self, dataset: Dataset) -> LeaksOfChange:
        """What splits share now, nothing in a dataset that is not saved yet, and would share after the import."""
        if dataset.pk is None:
            both = (np.array(side, dtype=np.int64) for side in (self.a, self.b))
            return LeaksOfChange([], leaks_between(self.splits, *both))
        return leaks_of_import(dataset, self.moved, self.splits, self.a, self.b)


def too_many_to_count(dataset: Dataset, rows: int) -> bool:
    """Whether a check does not count what the rows and the dataset's pairs share, because somebody waits for it."""
    left = MOST_ON_A_PAGE - rows
    if left < 0 or dataset.pk is None:
        return left < 0
    return Pair.objects.filter(dataset=dataset).order_by()[left : left + 1].exists()


def import_is_guarded(dataset: Dataset, leaks: Leaks) -> bool:
    """Whether an import must first be tried: the dataset has splits that were set here, and leaks are not allowed."""
    return leaks is not Leaks.ALLOW and dataset.pk is not None and some_splits_set_here(dataset)
