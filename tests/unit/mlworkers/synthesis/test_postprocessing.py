"""What of the written rows is kept, and why the others are not."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curation.pairs.holding_out import HeldOut
from mlworkers.science.synthesis.plan import GenerationPlan
from mlworkers.science.synthesis.postprocessing import ProcessedRows, Reason, postprocessed, smoothed
from mlworkers.science.synthesis.rows import Source, WrittenRow

SOURCES = [
    Source(1, "A dog runs.", 1),
    Source(2, "The cat sleeps on a mat.", 2),
    Source(3, "A dog sprints.", 1),
]


def written(source: int, label: str, *texts: str) -> list[WrittenRow]:
    return [WrittenRow(source, label, sample, text, 7) for sample, text in enumerate(texts)]


def processed(rows: list[WrittenRow], *, held_out: tuple[str, ...] = (), **settings) -> ProcessedRows:
    plan = GenerationPlan(dataset="scenes", model="run:1", **({"sampled": 0} | settings))
    return postprocessed(rows, SOURCES, plan, held_out=HeldOut.of(held_out))


def reasons(result: ProcessedRows) -> dict[str, int]:
    return {reason: count for reason, count in result.dropped.items() if count}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("A hound runs.", Reason.NO_QUOTE),
        ('"', Reason.EMPTY),
        (' \t "', Reason.EMPTY),
        ('?! "', Reason.EMPTY),
        ('A hound\nruns."', Reason.LINE_BREAK),
        ("A hound\nruns", Reason.LINE_BREAK),
        ('A h�und runs."', Reason.BROKEN),
        ("word " * 500 + '"', Reason.TOO_LONG),
        ('a DOG runs"', Reason.SOURCE),
        ('Rex barks!"', Reason.HELD_OUT),
    ],
)
def test_a_row_that_cannot_be_used_is_dropped_with_its_reason(text: str, reason: Reason) -> None:
    result = processed(written(1, "1", text), held_out=("rex barks",))

    assert reasons(result) == {reason: 1}
    assert result.rows[0].raw == text


def test_the_text_before_the_quote_is_kept_without_spaces_around_it() -> None:
    result = processed(written(1, "1", ' A hound  runs. " and more "'))

    assert [row.text for row in result.kept] == ["A hound runs."]


def test_a_sentence_shorter_than_asked_for_is_dropped() -> None:
    assert reasons(processed(written(1, "1", 'Dogs run."'), least_words=3)) == {Reason.TOO_SHORT: 1}


def test_a_sentence_that_is_repeated_is_kept_once() -> None:
    result = processed(written(1, "1", 'A hound runs."', 'a hound runs"', 'A hound runs."'))

    assert reasons(result) == {Reason.REPEATED: 2}


def test_a_sentence_under_two_labels_has_neither() -> None:
    rows = written(1, "1", 'A hound runs."') + written(1, "0.5", 'A hound runs!"') + written(1, "0", 'Tea."')

    result = processed(rows)

    assert reasons(result) == {Reason.CONTRADICTION: 2}
    assert [row.text for row in result.kept] == ["Tea."]


def test_the_same_sentence_may_answer_two_sources() -> None:
    result = processed(written(1, "0", 'Tea is hot."') + written(2, "1", 'Tea is hot."'))

    assert len(result.kept) == 2


def test_a_source_keeps_two_rows_of_a_label() -> None:
    result = processed(written(1, "1", *(f'Dog number {n} runs."' for n in range(5))))

    assert reasons(result) == {Reason.ENOUGH: 3}


@pytest.mark.parametrize(("label", "target"), [("0", 0.1), ("0.5", 0.5), ("1", 0.9)])
def test_targets_are_smoothed(label: str, target: float) -> None:
    assert smoothed(label, 0.2) == target
    assert [row.target for row in processed(written(1, label, 'A hound runs."')).kept] == [target]


def test_sampled_partners_come_from_other_groups_and_have_the_similarity_0() -> None:
    rows = [
        row for number in (1, 2, 3) for row in written(number, "1", *(f'Text {number} {n}."' for n in "ab"))
    ]

    result = processed(rows, sampled=2)

    partners = [row for row in result.kept if row.sampled]
    assert Counter(row.source for row in partners) == {1: 2, 2: 2, 3: 2}
    assert {row.target for row in partners} == {0.0}
    assert {row.text[5] for row in partners if row.source in {1, 3}} == {"2"}  # 1 and 3 are of one group
    assert {row.text[5] for row in partners if row.source == 2} <= {"1", "3"}
    assert len({(row.source, row.text) for row in partners}) == 6


def test_a_partner_that_nearly_repeats_the_source_is_not_taken() -> None:
    rows = written(1, "1", 'Rex runs."') + written(2, "0", 'A dog runs now."')

    near, far = (processed(rows, sampled=1, near_duplicate=share) for share in (0.7, 0.8))

    assert (near.missing, far.missing) == (1, 0)
    assert ("A dog runs now.", True) in [(row.text, row.sampled) for row in far.kept if row.source == 1]


def test_a_source_without_a_kept_row_gets_no_partner() -> None:
    result = processed(written(1, "1", "no quote") + written(2, "1", 'Cats sleep."'), sampled=2)

    assert {row.source for row in result.rows if row.sampled} <= {2}


def test_at_most_so_many_rows_are_kept() -> None:
    rows = [
        row for number in (1, 2) for row in written(number, "1", f'Text {number} a."', f'Text {number} b."')
    ]

    result = processed(rows, sampled=1, most_rows=4)

    assert len(result.kept) == 4
    assert reasons(result) == {Reason.LIMIT: 2}


TEXTS = st.sampled_from(
    ['A hound runs."', 'a hound runs"', 'Tea."', 'A dog runs."', "no end", '"', 'x\ny"', 'Cats."']
)
ROWS = st.lists(st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from(["0", "0.5", "1"]), TEXTS), max_size=25)


@given(ROWS, st.integers(0, 3), st.integers(0, 6))
def test_every_row_is_kept_or_dropped_for_one_reason(drawn, sampled: int, most: int) -> None:
    rows = [WrittenRow(source, label, n, text, 3) for n, (source, label, text) in enumerate(drawn)]

    result = processed(rows, sampled=sampled, most_rows=most)

    partners = [row for row in result.rows if row.sampled]
    assert [row.sample for row in result.rows if not row.sampled] == list(range(len(rows)))
    assert len(result.kept) + sum(result.dropped.values()) == len(rows) + len(partners)
    assert len(result.kept) <= (most or len(rows) + len(partners))
    assert all(row.target is not None and row.text for row in result.kept)


@given(ROWS)
def test_the_same_rows_come_out_the_same(drawn) -> None:
    rows = [WrittenRow(source, label, n, text, 3) for n, (source, label, text) in enumerate(drawn)]

    assert processed(rows, sampled=2) == processed(rows, sampled=2)
