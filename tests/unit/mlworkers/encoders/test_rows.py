"""Pairs out of a snapshot, with no sentence on both sides."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from curation.exchange.exporting import SNAPSHOT_COLUMNS
from curation.files.tables import Column, free_columns, write_table
from curation.pairs.holding_out import NOTHING_HELD_OUT, HeldOut
from mlworkers.science.encoders.plan import Signal
from mlworkers.science.encoders.rows import (
    PairTable,
    Rows,
    RowsError,
    training_rows,
    unseen_rows,
    validation_split,
)

SETS = {
    "gold": {"kind": "reference", "low": 0, "high": 5},
    "intended": {"kind": "target", "low": 0, "high": 1},
    "p_D": {"kind": "realism", "low": 0, "high": 1},
}
# number, first, second, split, origin, gold, intended, p_D; EDITED says whose second sentence a curator edited
EDITED = {9}
KEPT = {1, 9}
PAIRS = [
    (1, "A dog runs.", "A hound runs.", "train", "generated", None, 0.9, 0.8),
    (2, "A dog runs.", "The sun is up.", "train", "generated", None, 0.1, 0.3),
    (3, "A cat sits.", "a BIRD sings", "train", "generated", None, 0.5, None),
    (4, "A bird sings.", "A bird chirps.", "test", "imported", 4.0, None, None),
    (5, "A man reads.", "A man sleeps.", "test", "imported", 1.0, None, None),
    (6, "A child plays.", "A child sings.", "test", "imported", 2.5, None, None),
    (7, "A dog runs.", "A cat sits.", "train", "imported", 5.0, 0.2, None),
    (8, "A boat sails.", "A ship sails.", "", "imported", 3.0, None, None),
    (9, "A cow eats.", "A cow is eating.", "more", "generated", None, 0.7, None),
    (10, "A cow eats.", "A cow was hungry.", "more", "generated", None, 0.4, 0.2),
]


def author(number: int, origin: str) -> str:
    return "human" if origin == "imported" else "edited" if number in EDITED else "machine"


def table_with(path: Path, *, first: str = "human") -> PairTable:
    """first: who wrote the first sentences of the pairs."""
    columns = (*SNAPSHOT_COLUMNS, *free_columns((Column(name, "number") for name in SETS), SNAPSHOT_COLUMNS))
    rows = [
        (0, number, 10 * number, 10 * number + 1, f"p{number}", a, b, "", "", split, origin, first, *told)
        for number, a, b, split, origin, *scores in PAIRS
        for told in [(author(number, origin), "kept" if number in KEPT else "", *scores)]
    ]
    sets = {name: {"score_set": name, **told} for name, told in SETS.items()}
    write_table(path, "parquet", columns, rows, about={"semblance": json.dumps({"scores": sets})})
    return PairTable(path)


@pytest.fixture
def table(tmp_path) -> PairTable:
    return table_with(tmp_path / "1.parquet")


def test_standard_errors_are_brought_to_the_scale_of_the_scores(tmp_path) -> None:
    columns = (*SNAPSHOT_COLUMNS, Column("gold", "number"), Column("gold: standard_error", "number"))
    rows = [
        (0, number, 2 * number, 2 * number + 1, f"p{number}", f"a {number}", f"b {number}", "", "", "train", "imported",
         "human", "human", "", float(number), error)
        for number, error in enumerate((0.5, None, 1.0))
    ]  # fmt: skip
    told = {"gold": {**SETS["gold"], "score_set": "gold", "standard_error": "gold: standard_error"}}
    write_table(
        tmp_path / "2.parquet", "parquet", columns, rows, about={"semblance": json.dumps({"scores": told})}
    )

    found = PairTable(tmp_path / "2.parquet").rows("gold", split="train")

    assert found.values.tolist() == [0, 0.2, 0.4]
    assert np.array_equal(found.errors, [0.1, np.nan, 0.2], equal_nan=True)
    assert found.weighable.signals[Signal.ERRORS] is found.errors


def test_a_snapshot_without_standard_errors_has_none(table) -> None:
    found = table.rows("gold", split=None)

    assert found.errors is None
    assert Signal.ERRORS not in found.weighable.signals


def test_of_intended_scores_the_generated_pairs_of_the_split_are_learned(table) -> None:
    found = table.rows("intended", split="train", realism="p_D")

    assert found.numbers.tolist() == [1, 2, 3]
    assert found.values.tolist() == [0.9, 0.1, 0.5]
    assert found.realism[:2].tolist() == [0.8, 0.3]
    assert np.isnan(found.realism[2])


def test_scores_are_brought_to_zero_and_one(table) -> None:
    found = table.rows("gold", split="test")

    assert found.numbers.tolist() == [4, 5, 6]
    assert found.values.tolist() == [0.8, 0.2, 0.5]
    assert found.realism is None


def test_pairs_of_any_split_or_of_none_can_be_asked_for(table) -> None:
    assert table.rows("gold", split=None).numbers.tolist() == [4, 5, 6, 7, 8]
    assert table.rows("gold", split="").numbers.tolist() == [8]


def test_no_sentence_of_another_split_is_learned_however_it_is_written(table) -> None:
    found = training_rows(
        table.rows("intended", split="train"),
        held_out=table.held_out("train"),
        needed=[],
        unscored="refuse",
    )

    assert found.rows.numbers.tolist() == [1, 2]
    assert (found.held_out, found.unscored) == (1, 0)


@pytest.mark.parametrize(("unscored", "left"), [("leave out", [1, 2])])
def test_pairs_without_p_d_can_be_left_out_and_are_counted(table, unscored: str, left: list[int]) -> None:
    rows = table.rows("intended", split="train", realism="p_D")

    found = training_rows(rows, held_out=NOTHING_HELD_OUT, needed=[Signal.REALISM], unscored=unscored)

    assert found.rows.numbers.tolist() == left
    assert found.unscored == 1


def test_pairs_without_p_d_are_refused_with_their_number(table) -> None:
    rows = table.rows("intended", split="train", realism="p_D")

    for unscored in ("refuse", "as human"):
        with pytest.raises(
            RowsError, match=r"p_D is missing for 1 of 3 pairs, first pair 3; score the human-likeness"
        ):
            training_rows(rows, held_out=NOTHING_HELD_OUT, needed=[Signal.REALISM], unscored=unscored)


def test_a_pair_that_a_curator_edited_counts_as_human_text_and_is_counted(table) -> None:
    rows = table.rows("intended", split="more", realism="p_D")

    found = training_rows(rows, held_out=NOTHING_HELD_OUT, needed=[Signal.REALISM], unscored="as human")

    assert found.rows.numbers.tolist() == [9, 10]
    assert found.rows.realism.tolist() == [1.0, 0.2]
    assert (found.as_human, found.unscored) == (1, 0)


@pytest.mark.parametrize("unscored", ["as human", "leave out", "refuse"])
def test_where_no_pair_has_p_d_there_is_nothing_to_weigh_by(table, unscored: str) -> None:
    rows = table.rows("gold", split="test", realism="p_D")

    with pytest.raises(RowsError, match="p_D is missing for 3 of 3 pairs, first pair 4; choose other scores"):
        training_rows(rows, held_out=NOTHING_HELD_OUT, needed=[Signal.REALISM], unscored=unscored)


def test_an_older_snapshot_does_not_say_who_wrote_a_sentence_so_nothing_counts_as_human(table) -> None:
    table._table = table._table.drop_columns(["sentence2_origin"])
    rows = table.rows("intended", split="more", realism="p_D")

    with pytest.raises(RowsError, match="first pair 9; score the human-likeness"):
        training_rows(rows, held_out=NOTHING_HELD_OUT, needed=[Signal.REALISM], unscored="as human")


def test_an_edited_sentence_written_for_a_machines_does_not_count_as_human(tmp_path) -> None:
    rows = table_with(tmp_path / "1.parquet", first="machine").rows("intended", split="more", realism="p_D")

    with pytest.raises(RowsError, match="first pair 9; score the human-likeness"):
        training_rows(rows, held_out=NOTHING_HELD_OUT, needed=[Signal.REALISM], unscored="as human")


def test_both_signals_are_asked_for_where_both_are_needed(table) -> None:
    rows = table.rows("intended", split="train", realism="p_D", consistency="gold")
    both = [Signal.REALISM, Signal.CONSISTENCY]

    with pytest.raises(RowsError, match="p_y is missing for 3 of 3 pairs"):
        training_rows(rows, held_out=NOTHING_HELD_OUT, needed=both, unscored="leave out")
    without = table.rows("intended", split="train", realism="p_D")
    with pytest.raises(RowsError, match="Weighting by p_y needs p_y"):
        training_rows(without, held_out=NOTHING_HELD_OUT, needed=both, unscored="leave out")
    known = replace(rows, consistency=np.array([np.nan, 0.4, 0.5]))
    found = training_rows(known, held_out=NOTHING_HELD_OUT, needed=both, unscored="leave out")
    assert found.rows.numbers.tolist() == [2]  # 1 lacks p_y, and 3 lacks p_D
    assert found.unscored == 2


def test_verdicts_are_one_for_kept_and_human_pairs_and_unknown_for_others(table) -> None:
    generated = table.rows("intended", split="train").verdicts
    imported = table.rows("gold", split="test").verdicts

    np.testing.assert_array_equal(generated, [1, np.nan, np.nan])
    assert imported.tolist() == [1, 1, 1]
    table._table = table._table.drop_columns(["verdict"])
    assert table.rows("gold", split="test").verdicts is None


def test_a_page_calls_a_setting_by_its_label_and_a_command_by_its_key(table) -> None:
    rows = table.rows("intended", split="train", realism="p_D")

    with pytest.raises(RowsError) as refused:
        training_rows(rows, held_out=NOTHING_HELD_OUT, needed=[Signal.REALISM], unscored="refuse")

    assert str(refused.value).endswith("choose another value for “unscored”.")
    assert refused.value.labelled({"unscored": "Pairs without p_D"}).endswith("for “Pairs without p_D”.")


def test_nothing_left_to_learn_is_said(table) -> None:
    rows = table.rows("intended", split="train")

    with pytest.raises(RowsError, match="Each of the 3 pairs holds a sentence that is held out or tested"):
        training_rows(rows, held_out=HeldOut.of(rows.sentences), needed=[], unscored="refuse")


def test_an_encoder_is_not_measured_on_sentences_it_was_trained_on(table) -> None:
    every = table.rows("gold", split=None)

    found, left_out = unseen_rows(every, HeldOut.of(["A MAN reads.", "A man walks."]))

    assert found.numbers.tolist() == [4, 6, 7, 8]
    assert left_out == 1


def test_too_few_unseen_pairs_are_refused_with_the_reason(table) -> None:
    with pytest.raises(
        RowsError, match="2 test pairs are too few, because 1 hold sentences the encoder was trained on"
    ):
        unseen_rows(table.rows("gold", split="test"), HeldOut.of(["A man reads."]))


def test_tests_with_equal_scores_are_refused() -> None:
    with pytest.raises(RowsError, match="All 4 test pairs have the same score"):
        unseen_rows(made(np.arange(4), np.arange(4) + 10, values=np.full(4, 0.5)), frozenset())


@pytest.mark.parametrize(
    ("scores", "split", "sentence"),
    [
        ("silver", "train", "no score set “silver”; it has “gold”, “intended”, “p_D”"),
        ("gold", "dev", "No pair of the split “dev” has a score in “gold”"),
        ("intended", "", "No pair without a split has a score in “intended”"),
    ],
)
def test_what_the_snapshot_lacks_is_named(table, scores: str, split: str, sentence: str) -> None:
    with pytest.raises(RowsError, match=sentence):
        table.rows(scores, split=split)


def test_a_file_that_is_no_snapshot_is_refused(tmp_path) -> None:
    (tmp_path / "1.parquet").write_text("not Parquet")

    with pytest.raises(RowsError, match=r"1\.parquet is not a snapshot that this program wrote"):
        PairTable(tmp_path / "1.parquet")


def made(a, b, *, values=None) -> Rows:
    a, b = np.asarray(a), np.asarray(b)
    texts = [np.array([f"s{number}" for number in side], dtype=object) for side in (a, b)]
    return Rows(np.arange(a.size), a, b, *texts, np.linspace(0, 1, a.size) if values is None else values)


def sentences_of(rows: Rows) -> set[int]:
    return {*rows.a.tolist(), *rows.b.tolist()}


def test_pairs_that_hang_together_go_to_validation_together() -> None:
    sources = np.repeat(np.arange(20), 4)

    kept, back, tied = validation_split(made(sources, 100 + np.arange(80)), 0.2, seed=3)

    assert (len(kept), len(back), tied) == (64, 16, 0)
    assert not sentences_of(kept) & sentences_of(back)


def test_where_random_partners_tie_everything_together_the_ties_are_left_out() -> None:
    sources = np.repeat(np.arange(30), 4)
    partners = 100 + np.arange(120)
    partners[3::4] = np.roll(partners[0::4], 1)  # the last partner of each source is another source's first

    kept, back, tied = validation_split(made(sources, partners), 0.2, seed=3)

    assert not sentences_of(kept) & sentences_of(back)
    assert len(back) == 24
    assert len(kept) + len(back) + tied == 120
    assert 0 < tied <= 24  # at most what the held-back sources and their partners' partners tie


def test_other_seeds_draw_other_pairs_for_validation() -> None:
    rows = made(np.repeat(np.arange(20), 4), 100 + np.arange(80))

    assert (
        validation_split(rows, 0.2, seed=1)[1].numbers.tolist()
        != validation_split(rows, 0.2, seed=2)[1].numbers.tolist()
    )


def test_holding_back_what_would_leave_nothing_is_refused() -> None:
    with pytest.raises(RowsError, match="choose another value for “validation_share”"):
        validation_split(made([1, 1, 1, 1], [2, 3, 4, 5]), 0.5, seed=1)
