"""The losses of contrast, triplets and classified pairs: by hand, and against sentence-transformers."""

import math

import pytest
import torch
from sentence_transformers.sentence_transformer.losses import (
    CosineSimilarityLoss,
    MultipleNegativesRankingLoss,
    SoftmaxLoss,
    TripletLoss,
)
from torch import Tensor
from torch.nn.functional import cross_entropy

from mlworkers.science.encoders.contrastive.losses import (
    classified_vectors,
    contrastive_logits,
    contrastive_loss,
    triplet_loss,
)
from mlworkers.science.encoders.losses import batch_shares, weighted_cosine_loss
from mlworkers.science.encoders.plan import Normalise

SENTENCES = [
    ["the dog runs", "a cat sits on the mat", "the bird sings", "a man plays", "the woman is in the tree"],
    ["a dog runs", "the cat is on a mat", "a bird sings in the tree", "the man plays with a ball", "a woman"],
    ["the cat sits", "a dog is in the grass", "a man sings", "the child runs", "a ball on the grass"],
]


@torch.no_grad()
def sides(encoder, number: int) -> list[Tensor]:
    return [encoder(encoder.preprocess(texts))["sentence_embedding"] for texts in SENTENCES[:number]]


def theirs(loss, encoder, number: int, labels: Tensor) -> float:
    with torch.no_grad():
        return float(loss([encoder.preprocess(texts) for texts in SENTENCES[:number]], labels))


@pytest.mark.parametrize("number", [2, 3])
def test_the_contrastive_loss_is_that_of_sentence_transformers(encoder, number) -> None:
    expected = theirs(MultipleNegativesRankingLoss(encoder, scale=20), encoder, number, torch.zeros(5))

    found = contrastive_loss(*sides(encoder, number), temperature=0.05)

    assert float(found) == pytest.approx(expected, abs=1e-6)


def test_the_triplet_loss_is_that_of_sentence_transformers(encoder) -> None:
    expected = theirs(TripletLoss(encoder, triplet_margin=5), encoder, 3, torch.zeros(5))

    assert float(triplet_loss(*sides(encoder, 3), margin=5.0)) == pytest.approx(expected, abs=1e-6)


def test_the_softmax_of_pairs_is_that_of_sentence_transformers(encoder) -> None:
    classes = torch.tensor([0, 2, 1, 1, 0])
    loss = SoftmaxLoss(encoder, encoder.get_embedding_dimension(), 3)
    expected = theirs(loss, encoder, 2, classes)

    with torch.no_grad():
        found = cross_entropy(loss.classifier(classified_vectors(*sides(encoder, 2))), classes)

    assert float(found) == pytest.approx(expected, abs=1e-6)


def test_the_squared_error_of_cosines_is_that_of_sentence_transformers(encoder) -> None:
    targets = torch.tensor([0.9, 0.1, 0.5, 0.0, 1.0])
    expected = theirs(CosineSimilarityLoss(encoder), encoder, 2, targets)

    shares = batch_shares(torch.ones(5), Normalise.NONE)
    found = weighted_cosine_loss(*sides(encoder, 2), targets, shares)

    assert float(found) == pytest.approx(expected, abs=1e-6)


ANCHORS = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
POSITIVES = torch.tensor([[3.0, 4.0], [0.0, 1.0]])  # cosines .6, 0 and .8, 1
NEGATIVES = torch.tensor([[4.0, 3.0], [1.0, 0.0]])  # cosines .8, 1 and .6, 0


def test_the_loss_by_hand_has_the_other_positives_and_all_hard_negatives_as_negatives() -> None:
    first = -0.6 / 0.5 + math.log(sum(math.exp(cosine / 0.5) for cosine in (0.6, 0.0, 0.8, 1.0)))
    second = -1.0 / 0.5 + math.log(sum(math.exp(cosine / 0.5) for cosine in (0.8, 1.0, 0.6, 0.0)))

    found = contrastive_loss(ANCHORS, POSITIVES, NEGATIVES, temperature=0.5)

    assert float(found) == pytest.approx((first + second) / 2)


def test_the_weight_of_hard_negatives_is_added_to_the_logit_of_an_anchors_own() -> None:
    plain = contrastive_logits(ANCHORS, POSITIVES, NEGATIVES, temperature=0.5)

    weighted = contrastive_logits(ANCHORS, POSITIVES, NEGATIVES, temperature=0.5, hard_negative_weight=0.7)

    assert plain.shape == (2, 4)
    expected = torch.tensor([[0, 0, 0.7, 0], [0, 0, 0, 0.7]])
    assert torch.allclose(weighted - plain, expected, atol=1e-6)


def test_without_hard_negatives_there_is_nothing_to_weigh() -> None:
    plain = contrastive_logits(ANCHORS, POSITIVES, temperature=0.5)

    weighted = contrastive_logits(ANCHORS, POSITIVES, temperature=0.5, hard_negative_weight=0.7)

    assert torch.equal(plain, weighted)
