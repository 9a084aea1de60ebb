"""Training examples of contrast: triplets, copies, and what siblings are."""

from mlworkers.science.encoders.contrastive.examples import (
    NliLabel,
    copies_of,
    copyable,
    pair_examples,
    sentence_examples,
    triplet_examples,
)

YES, MAYBE, NO = NliLabel


def test_triplets_join_each_entailment_with_a_contradiction_of_its_premise() -> None:
    rows = [("p", "e1", YES), ("p", "n", MAYBE), ("p", "c1", NO), ("p", "e2", YES), ("q", "e3", YES)]

    found = triplet_examples(rows)

    assert found.sides == (("p", "e1", "c1"),)


def test_copies_take_the_kth_paraphrase_of_every_member_and_count_what_is_missing() -> None:
    examples = triplet_examples([("p", "e", YES), ("p", "c", NO), ("q", "f", YES), ("q", "d", NO)])
    paraphrases = {"p": ["p1", "p2"], "e": ["e1", "e2"], "c": ["c1"], "q": ["q1"], "f": ["f1"], "d": ["d1"]}

    copies, missing = copies_of(examples, [paraphrases], number=2)

    assert copies.sides == (("p1", "e1", "c1"), ("q1", "f1", "d1"))
    assert copies.origins == (("p", "e", "c"), ("q", "f", "d"))
    assert missing == 2
    assert copyable(examples, [paraphrases], number=1) == [0, 1]
    assert copyable(examples, [{**paraphrases, "c": ["c1", "c2"]}], number=2) == [0]


def test_copies_of_a_mixture_take_turns_and_never_mix_within_an_example() -> None:
    examples = pair_examples([("a", "b"), ("c", "d")])
    parts = [
        {text: [f"{text} {part}{rank}" for rank in (1, 2)] for text in "abcd"} for part in ("near", "far")
    ]

    copies, missing = copies_of(examples, parts, number=3)

    assert missing == 0
    assert copies.sides == (
        ("a near1", "b near1"), ("c far1", "d far1"),
        ("a far1", "b far1"), ("c near1", "d near1"),
        ("a near2", "b near2"), ("c far2", "d far2"),
    )  # fmt: skip
    assert copyable(examples, parts, number=4) == [0, 1]
    assert copyable(examples, [parts[0], {"a": ["a far1"], "b": ["b far1"]}], number=2) == [0]


def test_of_a_sentence_with_itself_the_paraphrase_becomes_the_positive() -> None:
    examples = sentence_examples(["a cat sits", "a dog runs", "a cat sits"])

    copies, missing = copies_of(examples, [{"a cat sits": ["a cat rests", "the cat sits"]}], number=2)

    assert len(examples) == 2
    assert copies.sides == (("a cat sits", "a cat rests"), ("a cat sits", "the cat sits"))
    assert missing == 2


def test_copies_and_near_copies_are_siblings_of_their_originals() -> None:
    examples = pair_examples([("A cat sits.", "A cat rests."), ("A dog runs.", "a cat  SITS")])
    copies, _missing = copies_of(
        examples, [{"A dog runs.": ["A hound runs."], "a cat  SITS": ["It sits."]}], number=1
    )

    first, second, copy = (set(row) for row in (examples + copies).sources.tolist())

    assert first & second  # they share a near copy
    assert second & copy  # one was made from the other
    assert first & copy  # the copy's original shares a sentence with it


def test_classes_go_with_their_pairs() -> None:
    examples = pair_examples([("a", "b"), ("c", "d")], [0, 2])

    copies, _missing = copies_of(examples, [{"c": ["c1"], "d": ["d1"]}], number=1)

    assert (examples + copies).classes == (0, 2, 2)
    assert examples.taken([1]).classes == (2,)
