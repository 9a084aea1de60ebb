"""The text that is compared, BLEU, and the tags that labels fall into."""

import math
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from curation.files.progress import silent
from mlworkers.plans.fields import PlanError
from mlworkers.science.paraphrasing.lexical import bleu_scores, bleu_signature
from mlworkers.science.paraphrasing.plan import LabellingPlan
from mlworkers.science.paraphrasing.profile import profile_of
from mlworkers.science.paraphrasing.tags import OUTSIDE, TagBounds
from mlworkers.science.paraphrasing.text import compared_text

PAPER = TagBounds()


def bleu(first: Sequence[str], second: Sequence[str]) -> list[float]:
    return bleu_scores(first, second, report=silent).tolist()


@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("I don't know.", "I dont know."),
        ("It’s “fine” — really!", "Its fine really"),
        ("A well-known,  fact;\tsaid (he)", "A wellknown, fact said he"),
        ("3.5 % of $1,000", "3.5 of 1,000"),
        ("Cafe\u0301 à la carte", "Café à la carte"),
        ("हिन्दी है", "हिन्दी है"),
        ("snake_case", "snakecase"),
        ("?!", ""),
        (" ... , .", ""),
        ("", ""),
    ],
)
def test_letters_digits_commas_and_periods_are_compared(text: str, compared: str) -> None:
    assert compared_text(text) == compared


# The second sentence against the first; the product of the precisions, its root and the brevity penalty by hand.
HAND_WORKED = [
    ("the cat sat", "the cat sat", 1.0),
    ("the cat sat", "a dog ran", 0.0),
    ("the cat sat", "the cat", math.exp(1 - 3 / 2)),  # 2/2, 1/1; shorter by one of three
    ("the cat sat down", "the cat sat", math.exp(1 - 4 / 3)),  # 3/3, 2/2, 1/1
    ("a b c d", "a b c e", (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4)),  # the last 0/1 counts as 1/2
    ("a b", "b a", (2 / 2 * 1 / 2) ** (1 / 2)),
    (
        "the cat",
        "the the the",
        (1 / 3 * 1 / 4 * 1 / 4) ** (1 / 3),
    ),  # one “the” counts; 0/2 and 0/1 are 1/4 each
    ("The Cat Sat", "the cat sat", 1.0),
    ("I came, I saw.", "I came.", (3 / 3 * 1 / 2 * 1 / 2) ** (1 / 3) * math.exp(1 - 6 / 3)),
    ("yes sir", "yes", math.exp(1 - 2 / 1)),
]


@pytest.mark.parametrize(("first", "second", "expected"), HAND_WORKED)
def test_bleu_is_what_is_worked_out_by_hand(first: str, second: str, expected: float) -> None:
    assert bleu([first], [second]) == pytest.approx([100 * expected], abs=1e-9)


def test_bleu_is_what_sacrebleu_s_command_prints(tmp_path) -> None:
    first, second = ([pair[side] for pair in HAND_WORKED] for side in (0, 1))
    reference, hypothesis = tmp_path / "first.txt", tmp_path / "second.txt"
    reference.write_text("\n".join(first) + "\n")
    hypothesis.write_text("\n".join(second) + "\n")

    options = ["-m", "bleu", "-sl", "-lc", "-b", "--width", "6"]

    printed = subprocess.run(
        [sys.executable, "-m", "sacrebleu", reference, "-i", hypothesis, *options],
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert [float(line) for line in printed.split()] == pytest.approx(bleu(first, second), abs=1e-6)


def test_equal_sentences_never_exceed_a_hundred() -> None:
    assert bleu(["one two three"], ["one two three"]) == [100.0]


def test_the_signature_names_case_order_tokens_and_smoothing() -> None:
    assert bleu_signature().startswith("nrefs:1|case:lc|eff:yes|tok:13a|smooth:exp|version:")


@pytest.mark.parametrize(
    ("value", "similarity", "lexical"),
    [
        (0, None, "BLEU0_5"),
        (10, None, "BLEU0_5"),
        (10.01, None, "BLEU10"),
        (45, None, "BLEU40"),
        (45.01, None, None),
        (70, None, None),
        (70.01, "SIM70", None),
        (75, "SIM70", None),
        (100, "SIM95", None),
        (math.nan, None, None),
    ],
)
def test_a_bin_ends_with_its_upper_edge(value: float, similarity: str | None, lexical: str | None) -> None:
    rows, columns = PAPER.bins(np.array([value], dtype=float), np.array([value], dtype=float))

    found = [None if place == OUTSIDE else tags[place].name
             for tags, place in ((PAPER.similarity, rows[0]), (PAPER.lexical, columns[0]))]  # fmt: skip
    assert found == [similarity, lexical]


def test_the_paper_s_bounds_have_48_cells_of_14_tags() -> None:
    assert PAPER.cells == 48
    assert [tag.name for tag in PAPER.similarity] == ["SIM70", "SIM75", "SIM80", "SIM85", "SIM90", "SIM95"]
    assert [tag.name for tag in PAPER.lexical] == [
        "BLEU0_5", "BLEU10", "BLEU15", "BLEU20", "BLEU25", "BLEU30", "BLEU35", "BLEU40",
    ]  # fmt: skip
    assert PAPER.units.tolist() == [2, 1, 1, 1, 1, 1, 1, 1]


def test_other_bounds_cover_the_whole_range() -> None:
    whole = TagBounds(sim_above=0, sim_width=50, bleu_first=20, bleu_width=20, bleu_most=100)

    assert [tag.name for tag in whole.similarity] == ["SIM0", "SIM50"]
    assert [tag.name for tag in whole.lexical] == ["BLEU0", "BLEU20", "BLEU40", "BLEU60", "BLEU80"]
    rows, columns = whole.bins(np.array([0.0, 50.0, 100.0]), np.array([0.0, 20.0, 100.0]))
    assert rows.tolist() == [0, 0, 1]
    assert columns.tolist() == [0, 0, 4]


@pytest.mark.parametrize(
    ("bounds", "named"),
    [
        ({"sim_width": 7}, "sim_width"),
        ({"bleu_width": 3}, "bleu_width"),
        ({"bleu_most": 44}, "bleu_width"),
        ({"sim_above": 100}, "sim_width"),
    ],
)
def test_widths_that_do_not_fill_the_range_are_refused(bounds: dict[str, int], named: str) -> None:
    with pytest.raises(PlanError, match=f"“{named}” is .*do not fill"):
        LabellingPlan(dataset="mine", model="any", **bounds)


def test_tags_of_bleu_that_end_before_the_first_does_are_refused() -> None:
    with pytest.raises(PlanError, match="“bleu_most” is 5; it must be at least “bleu_first”, 10"):
        LabellingPlan(dataset="mine", model="any", bleu_most=5)


def test_the_first_tag_of_bleu_can_be_the_only_one() -> None:
    assert [tag.name for tag in TagBounds(bleu_most=10).lexical] == ["BLEU0_5"]


def test_a_first_tag_that_merges_many_bins_is_named_by_the_first_and_the_last() -> None:
    assert TagBounds(bleu_width=1, bleu_most=12).lexical[0].name == "BLEU0_9"


def test_the_full_range_and_the_cells_are_counted() -> None:
    similarity, bleu = np.array([0, 72, 97, 97, 97, 100]), np.array([0, 5, 7, 45, 46, 100])

    found = profile_of(similarity.astype(float), bleu.astype(float), PAPER)

    assert found.pairs == found.full.sum() == 6
    assert found.full[0, 0] == found.full[14, 0] == found.full[19, 1] == found.full[19, 19] == 1
    assert found.inside == 3
    assert found.tagged[0, 0] == found.tagged[5, 0] == found.tagged[5, 7] == 1
