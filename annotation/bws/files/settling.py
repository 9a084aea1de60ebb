"""What holds for whole files of judgements: which texts are one item, and what their best and worst cells name."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from annotation.bws.files.choices import Naming, naming_of
from annotation.bws.files.notices import Notice, Remedy
from annotation.bws.files.rows import Fault, FileRows, Rejected, short
from annotation.bws.judgements import IntArray, Mask


class BestIsWorst(StrEnum):
    """What to do with a row whose best item is its worst: the scripts of the field count it as both."""

    REJECT = "reject"
    COUNT = "count"
    FAIL = "fail"


class Spaces(StrEnum):
    """Whether texts of items that differ only in missing or added spaces are one item.

    AUTO: they are, unless a row holds two of them as different items.
    """

    AUTO = "auto"
    MERGE = "merge"
    KEEP = "keep"


@dataclass(frozen=True, eq=False)
class Spacing:
    """Which item each text is, where texts differ in white space.

    item_of: (t,) the item of each of the t texts.
    differing: how many texts differ from another one in spaces alone.
    clashes: rows that hold two such texts.
    merged: whether they are taken as one item.
    """

    item_of: IntArray
    differing: int
    clashes: int
    merged: bool

    @property
    def notice(self) -> Notice | None:
        """The sentence about these texts, with the option that reads them the other way; None if no text differs."""
        if not self.differing:
            return None
        texts = f"{self.differing:,} item texts differ from another one only in missing or added spaces"
        if self.differing == 1:
            texts = "1 item text differs from another one only in missing or added spaces"
        if self.merged:
            return Notice(f"{texts}; such texts are counted as one item.", Remedy.KEEP_SPACES)
        rows = "1 row holds" if self.clashes == 1 else f"{self.clashes:,} rows hold"
        held = f", and {rows} two of them" if self.clashes else ""
        return Notice(f"{texts}{held}; they are counted as different items.", Remedy.MERGE_SPACES)


def spacing_of(texts: IntArray, respelled: IntArray, alike: Sequence[int], spaces: Spaces) -> Spacing:
    """texts: (n, k) the item texts of all rows, -1 for none. respelled: (n, 2) texts of best and worst cells that name
    an item with other spaces, or -1. alike: (t,) for each text the first one that is the same but for spaces.
    """
    first = np.array(alike, dtype=np.int64)
    used = np.unique(np.concatenate([texts.ravel(), respelled.ravel()]))
    used = used[used >= 0]
    differing = len(used) - len(np.unique(first[used]))
    clashes = int((repeats(_numbered(texts, first)) > repeats(texts)).sum()) if differing else 0
    merged = spaces is Spaces.MERGE or (spaces is Spaces.AUTO and not clashes)
    return Spacing(first if merged else np.arange(len(first)), differing, clashes, merged)


def repeats(items: IntArray) -> IntArray:
    """How many positions of each row (n, k) hold an item that another position before them holds; -1 is not an item."""
    ordered = np.sort(items, axis=1)
    same: Mask = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    counts: IntArray = same.sum(axis=1)
    return counts


def padded(rows: Sequence[Sequence[int]]) -> IntArray:
    """Rows of different lengths as one array (n, k), with -1 at the ends."""
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    array = np.full((len(rows), int(sizes.max(initial=0))), -1, dtype=np.int64)
    array[np.arange(array.shape[1]) < sizes[:, None]] = [number for row in rows for number in row]
    return array


def _numbered(texts: IntArray, item_of: IntArray) -> IntArray:
    return np.where(texts < 0, -1, item_of[texts])


@dataclass(frozen=True, eq=False)
class SettledRows:
    """The rows of one file: items (n, k) with -1 at the ends, best, worst, annotators (n,), those that are judgements.

    best, worst: -1 for a tie. left_out: how many rows hold an item that was to be left out.

    texts: (n, k) the item texts. rejected: all other rows, in the order of the file.
    """

    texts: IntArray
    items: IntArray
    best: IntArray
    worst: IntArray
    annotators: IntArray
    rejected: list[Rejected]
    left_out: int
    warning: str


def settle(
    file: FileRows, spacing: Spacing, best_is_worst: BestIsWorst, unwanted: Sequence[int] = ()
) -> SettledRows:
    """Decide what the best and worst cells of a file name, and reject the rows whose cells do not fit.

    unwanted: items whose rows are left out, whatever their cells name.
    """
    texts, positions = padded([draft.items for draft in file.drafts]), file.positions
    naming, warning = naming_of(positions)
    chosen = positions[:, :, naming].copy()  # (n, 2)
    if naming is Naming.ITEM and not spacing.merged:
        chosen[file.respelled >= 0] = -1
    items = _numbered(texts, spacing.item_of)
    best, worst = np.take_along_axis(items, np.maximum(chosen, 0), axis=1).T if len(items) else chosen.T
    ties = file.ties
    best, worst = np.where(ties, -1, best), np.where(ties, -1, worst)
    left_out = np.isin(items, unwanted).any(axis=1)
    outside = (chosen.min(axis=1) < 0) & ~ties & ~left_out
    alike = (best == worst) & ~outside & ~ties & ~left_out & np.bool_(best_is_worst is not BestIsWorst.COUNT)
    rejected = []
    for row in np.flatnonzero(outside).tolist():
        draft = file.drafts[row]
        role = 0 if chosen[row, 0] < 0 else 1
        cell, name = draft.cells[role], ("best", "worst")[role]
        if not cell.strip():
            rejected.append(Rejected(draft.line, f"the row names no {name} item", Fault.EMPTY))
            continue
        reason = f'the row names "{short(cell)}" {name}, which is not among its items'
        others = [other for other in Naming if other != naming and draft.positions[role][other] >= 0]
        if draft.respelled[role] >= 0 and naming is Naming.ITEM:
            reason += " (it differs from one of them in spaces)"
        elif others:
            reason += f" (the cells of this file name {naming.words}, not {others[0].words})"
        rejected.append(Rejected(draft.line, reason, Fault.OUTSIDE))
    for draft in (file.drafts[row] for row in np.flatnonzero(alike).tolist()):
        reason = f'the row names "{short(draft.cells[0])}" both best and worst'
        rejected.append(Rejected(draft.line, reason, Fault.ALIKE))
    kept = ~outside & ~alike & ~left_out
    people = np.array([draft.annotator for draft in file.drafts], dtype=np.int64)
    return SettledRows(
        texts[kept], items[kept], best[kept], worst[kept], people[kept],
        sorted([*file.rejected, *rejected]), int(left_out.sum()), warning,
    )  # fmt: skip
