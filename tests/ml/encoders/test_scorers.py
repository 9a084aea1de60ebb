"""Scorers of pairs that were not trained for it, each against a hand-worked case or another computation."""

from itertools import product

import numpy as np
import pytest
import torch

from curation.files.progress import silent
from mlworkers.plans.fields import PlanError
from mlworkers.science.encoders.encoding import EncoderError, encode
from mlworkers.science.encoders.scorers import (
    bert_scores,
    greedy_f1,
    scores_by,
    token_vectors,
    two_encoder_scores,
)
from mlworkers.science.encoders.scorers_plan import ScorersPlan, Way, models_of_scorers, scorer_read
from mlworkers.science.encoders.speed import encode_in_order, paces_measured
from mlworkers.science.encoders.speed_plan import SpeedPlan
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder

FIRST = ["The dog runs.", "A cat sits on the mat.", "The bird sings in the tree"]
SECOND = ["A dog runs fast near the tree.", "The dog runs.", "The bird sings in the tree"]


def test_bertscore_takes_the_best_match_of_each_token_in_both_directions() -> None:
    left = np.array([[1, 0], [0.6, 0.8]], dtype=np.float32)
    right = np.array([[1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    # Cosines: 1 0 -1 / .6 .8 -.6. Precision (1 + .8) / 2 = .9; recall (1 + .8 - .6) / 3 = .4; F1 = .72 / 1.3.

    assert greedy_f1(left, right) == pytest.approx(0.72 / 1.3)


def test_the_f1_of_tokens_stays_within_the_cosines() -> None:
    # Precision .5 from the left, recall (.5 - .8 - .9) / 3 = -.4: the formula alone would say -4.
    left, right = np.array([[1.0, 0.0]]), np.array([[0.5, 0.75**0.5], [-0.8, 0.6], [-0.9, 0.19**0.5]])

    assert greedy_f1(left, right) == 0.0


def test_bertscore_reads_the_last_layer_without_the_tokens_that_the_tokenizer_adds(encoder) -> None:
    found = bert_scores(encoder, FIRST, SECOND, choose_compute("cpu"), report=silent)

    def alone(text: str) -> torch.Tensor:  # without batches, padding or our masks
        ids = encoder.tokenizer(text, return_tensors="pt", return_special_tokens_mask=True)
        special = ids.pop("special_tokens_mask")[0].bool()
        with torch.inference_mode():
            return encoder.transformers_model(**ids).last_hidden_state[0][~special]

    for one, other, score in zip(FIRST, SECOND, found, strict=True):
        cosines = torch.nn.functional.cosine_similarity(alone(one)[:, None], alone(other)[None], dim=-1)
        precision, recall = cosines.amax(1).mean(), cosines.amax(0).mean()
        assert score == pytest.approx(float(2 * precision * recall / (precision + recall)), abs=1e-5)
    assert found[2] == pytest.approx(1.0)


def test_two_encoders_multiply_their_vectors_in_both_orders(encoder, encoder_folder) -> None:
    compute = choose_compute("cpu")
    other = load_encoder(encoder_folder, compute)
    with torch.no_grad():
        for weights in other.parameters():
            weights.mul_(1.5)

    found = two_encoder_scores(encoder, other, FIRST, SECOND, compute, report=silent)

    of = {(number, text): encode(each, [text], compute)[0] for (number, each), text in
          product(enumerate((encoder, other)), {*FIRST, *SECOND})}  # fmt: skip
    expected = [(of[0, a] @ of[1, b] + of[0, b] @ of[1, a]) / 2 for a, b in zip(FIRST, SECOND, strict=True)]
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("way", [Way.OWN, Way.STATIC, Way.CLS, Way.MEAN, Way.BERTSCORE])
def test_every_way_gives_equal_sentences_the_highest_score(way, encoder_folder) -> None:
    compute = choose_compute("cpu")
    found = scores_by(way, [load_encoder(encoder_folder, compute)], FIRST, SECOND, compute, report=silent)

    assert found.argmax() == 2
    assert found[2] == pytest.approx(1.0, abs=1e-6)


def test_a_sentence_without_a_token_is_named(encoder) -> None:
    with pytest.raises(EncoderError, match="finds no token in “”"):
        token_vectors(encoder, [""], choose_compute("cpu"))


def test_a_list_of_scorers_is_read() -> None:
    text = "run:5, cls:run:5, two:run:5+packaged:all-MiniLM-L6-v2"

    assert [one.label for one in ScorersPlan("d", "s", text).named] == text.split(", ")
    assert models_of_scorers(text) == ("run:5", "packaged:all-MiniLM-L6-v2")
    assert scorer_read("bertscore:run:7/plain-42").models == ("run:7/plain-42",)


@pytest.mark.parametrize(
    "wrong",
    [
        "/etc/passwd",
        "cls:/tmp/x",
        "some/hub-id",
        "two:run:5",
        "run:5+run:6",
        "glove:run:5",
        "cls:",
        "",
        "run:1,run:1",
    ],
)
def test_what_is_no_scorer_is_refused_in_one_sentence(wrong: str) -> None:
    with pytest.raises(PlanError, match=r"\.$"):
        ScorersPlan("d", "s", wrong)


def test_speed_is_measured_of_encoders_alone() -> None:
    with pytest.raises(PlanError, match="give encoders alone"):
        SpeedPlan("d", "cls:run:5")


def test_batches_in_order_give_the_same_vectors_and_each_round_is_timed(encoder) -> None:
    compute, texts = choose_compute("cpu"), [*FIRST, *SECOND, "A word."]
    clock = iter(
        np.cumsum([0, 1, 0, 2, 0, 2, 0, 4, 0, 4, 0, 8]).tolist()
    )  # rounds of 1, 2, 4 s and 2, 4, 8 s

    by_length, in_order = paces_measured(
        encoder, texts, compute, batch_size=2, rounds=3, now=lambda: next(clock), report=silent
    )

    assert encode_in_order(encoder, texts, batch_size=2) == pytest.approx(
        encode(encoder, texts, compute), abs=1e-5
    )
    assert by_length == pytest.approx((7 / 2, 7 / 4, 7 / 1))
    assert in_order == pytest.approx((7 / 4, 7 / 8, 7 / 2))
