"""Joining the parts of a design, so that every item can be compared with every other."""

import numpy as np

from annotation.bws.circles import Circles
from annotation.bws.judgements import IntArray
from annotation.bws.meetings import comparison_components
from annotation.bws.swapping import SwapSearch

ATTEMPTS = 300


def connect(search: SwapSearch, circles: Circles) -> None:
    """Swap items between the parts of a design until it is one, or until that does not come about.

    Where a part holds a cycle, an item can leave one of its tuples and stay in the part: swapped with an
    item of another part it joins the two. A design whose tuples are too few to join all items is left as
    it is.
    """
    items = len(search.marks)
    if search.count * (search.size - 1) < items - 1:
        return
    parts, part_of_item = comparison_components(search.tuples, items)
    for _ in range(ATTEMPTS):
        if parts == 1:
            return
        ours, theirs = _bridges(search, circles, parts, part_of_item)
        search.swap(ours, theirs)
        joined, part_of_joined = comparison_components(search.tuples, items)
        if joined < parts:
            parts, part_of_item = joined, part_of_joined
        else:
            search.swap(ours, theirs)


def _bridges(
    search: SwapSearch, circles: Circles, parts: int, part_of_item: IntArray
) -> tuple[IntArray, IntArray]:
    """Draw a swap between every other part and the part with most slots to spare."""
    part_of_slot = part_of_item[search.slots]
    spare = np.bincount(part_of_slot, minlength=parts) - np.bincount(part_of_item, minlength=parts)
    spare = spare - np.bincount(part_of_item[search.tuples[:, 0]], minlength=parts)
    shuffled = search.rng.permutation(search.slots.size)
    firsts = np.unique(part_of_slot[shuffled], return_index=True)[1]
    ours = np.delete(shuffled[firsts], spare.argmax())
    theirs = circles.draw(ours, search.rng)
    useful = (part_of_slot[theirs] == spare.argmax()) & (search.gain(ours, theirs) >= 0)
    ours, theirs = ours[useful], theirs[useful]
    alone = search.independent(ours, theirs)
    return ours[alone], theirs[alone]
