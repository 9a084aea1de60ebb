"""Which pair of a dataset a row is, where several pairs and several rows have the same two sentences."""

from hypothesis import given
from hypothesis import strategies as st

from curation.files.identity import PairName
from curation.files.known import Matching, StoredPair, Untaken

names = st.builds(
    PairName, st.sampled_from("12"), st.sampled_from(["", "news"]), st.sampled_from(["", "dev", "test"])
)
stored = st.lists(st.tuples(names, st.booleans(), st.booleans()), max_size=12)


def stored_pair(pk: int, name: PairName, *, generated: bool = False, active: bool = True) -> StoredPair:
    return StoredPair(pk, name, "", generated, active, None, None)


def may_be(row: PairName, pair: StoredPair, *, across_splits: bool) -> bool:
    """The rule in words of its own: see ADR 28."""
    if pair.generated and (row.external_id, row.source) != (pair.name.external_id, pair.name.source):
        return False
    return across_splits or not row.split or not pair.name.split or row.split == pair.name.split


def by_comparing_all(
    rows: list[PairName], pairs: list[StoredPair], *, across_splits: bool
) -> list[StoredPair | None]:
    """Each row's pair, found by comparing it with every pair that is left."""
    left, found = list(pairs), []
    for row in rows:

        def distance(pair: StoredPair, row: PairName = row) -> tuple[object, ...]:
            return (
                pair.name != row,
                pair.name[:2] != row[:2],
                bool(row.split) and pair.name.split != row.split,
                pair.name.source != row.source,
                not pair.active,
                pair.pk,
            )

        possible = [pair for pair in left if may_be(row, pair, across_splits=across_splits)]
        found.append(min(possible, key=distance, default=None))
        left = [pair for pair in left if pair is not found[-1]]
    return found


@given(st.lists(names, max_size=12), stored, st.booleans())
def test_rows_take_the_pairs_that_a_comparison_with_every_one_gives_them(
    rows: list[PairName], facts: list[tuple[PairName, bool, bool]], across_splits: bool
) -> None:
    pairs = [
        stored_pair(pk, name, generated=generated, active=active)
        for pk, (name, generated, active) in enumerate(facts, 1)
    ]
    matching, untaken, found = Matching(across_splits=across_splits), Untaken(pairs), []

    for row in rows:
        found.append(matching.best(row, untaken))
        if found[-1] is not None:
            untaken.take(found[-1])

    assert found == by_comparing_all(rows, pairs, across_splits=across_splits)
    assert len(untaken) == len(pairs) - sum(pair is not None for pair in found)


@given(names, names, st.booleans(), st.booleans())
def test_a_row_can_be_a_pair_that_it_would_take(
    row: PairName, name: PairName, generated: bool, across_splits: bool
) -> None:
    pair = stored_pair(1, name, generated=generated)

    can_be = Matching(across_splits=across_splits).can_be(row, pair)

    assert can_be == may_be(row, pair, across_splits=across_splits)
