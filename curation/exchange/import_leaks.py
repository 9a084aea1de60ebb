"""What the splits of a file would share with those that a dataset has: told by a check, refused by an import."""

from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from curation.datasets.leak_guard import LeaksError, leaks_require_allowed, some_splits_set_here
from curation.datasets.splits import MOST_ON_A_PAGE, LeaksOfChange, leaks_of_import
from curation.exchange.pair_writing import WriteOutcome
from curation.models import Dataset, Pair
from curation.pairs.leaks import Leaks, leaks_between_texts


@dataclass
class RowsInSplits:
    """What the rows of a file do to splits. moved: from pairs that are there to their new splits; added: of each new
    pair its split and its sentences.
    """

    moved: dict[int, str] = field(default_factory=dict)
    added: list[tuple[str, str, str]] = field(default_factory=list)

    def add(self, written: WriteOutcome) -> None:
        for update in written.updates:
            for change in update.changes:
                if change.what == "split":
                    self.moved[update.pair.pk] = str(change.new)
        self.added += [(pair.name.split, pair.draft.a, pair.draft.b) for pair in written.new]

    def leaks(self, dataset: Dataset) -> LeaksOfChange:
        if dataset.pk is None:
            splits, first, second = zip(*self.added, strict=True) if self.added else ((), (), ())
            return LeaksOfChange([], leaks_between_texts(splits, first, second))
        return leaks_of_import(dataset, self.moved, self.added)


def too_many_to_count(dataset: Dataset, rows: int) -> bool:
    """Whether the rows and the dataset's pairs are too many for somebody to wait until what they share is counted."""
    left = MOST_ON_A_PAGE - rows
    if left < 0 or dataset.pk is None:
        return left < 0
    return Pair.objects.filter(dataset=dataset).order_by()[left : left + 1].exists()


def import_is_guarded(dataset: Dataset, leaks: Leaks) -> bool:
    """Whether an import must first be tried: the dataset has splits that were set here, and leaks are not allowed."""
    return leaks is not Leaks.ALLOW and dataset.pk is not None and some_splits_set_here(dataset)


def leaks_of_file_require_allowed(found: LeaksOfChange | None) -> None:
    """Raises LeaksError where splits that were set here would share more than before. found: None if not counted."""
    if found is not None:
        leaks_require_allowed(found.before, found.after, Leaks.REFUSE)
        return
    sentence = _(
        "The file and the dataset have too many pairs to count what splits that were set here would share with the "
        "file's. Import the file without splits, or allow these leaks."
    )
    raise LeaksError(sentence)
