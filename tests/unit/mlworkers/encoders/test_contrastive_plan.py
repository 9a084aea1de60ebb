"""The settings of contrastive training and of comparing paraphrases: what goes together, and what they mean."""

import numpy as np
import pytest

from mlworkers.plans.fields import PlanError
from mlworkers.plans.kinds import kind_named, plan_from
from mlworkers.science.encoders.contrastive.plan import Arm, AugmentationPlan, ContrastPlan, Pooler
from mlworkers.science.encoders.contrastive.variants import (
    VariantError,
    variant_places,
    variant_read,
    variants_listed,
)

BASE = {"dataset": "nli", "model": "packaged:all-MiniLM-L6-v2"}


def compared(**given) -> AugmentationPlan:
    return AugmentationPlan(**BASE, test_score_set="gold", **given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"objective": "triplet"}, "The loss “triplet” needs triplets; “material” is sentences."),
        ({"objective": "softmax", "material": "triplets"}, "The loss “softmax” needs pairs"),
        ({"similarity": "sims"}, "Tags need both “similarity” and “bleu”"),
        ({"keep_originals": False}, "Without paraphrases and without the original examples"),
        ({"paraphrases": "SIM95 +"}, "has an empty part"),
        ({"paraphrases": "original"}, "is the name of the row without paraphrases"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(given, sentence) -> None:
    with pytest.raises(PlanError, match=sentence):
        plan_from(kind_named("train_contrastive"), {**BASE, **given})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"sizes": "1"}, "“sizes” has 1; give whole numbers from 2 to 20"),
        ({"sizes": "two"}, "“sizes” has “two”, which is not a whole number"),
        ({"sizes": ""}, "“sizes” is empty"),
        ({"shares": "0"}, "“shares” has 0; give numbers above 0"),
        ({"shares": "half"}, "which is not a number"),
        ({"variants": ""}, "“variants” is empty"),
        ({"variants": "a, a"}, "“a” is named twice"),
        ({"suites": "sick-e"}, "SICK-E needs a trained probe"),
        ({"bootstrap": 5}, "5 resamples are too few"),
    ],
)
def test_a_comparison_refuses_what_it_cannot_do(given, sentence) -> None:
    with pytest.raises(PlanError, match=sentence):
        compared(**given)


def test_the_rows_are_the_originals_and_every_variant_and_size_of_every_share() -> None:
    plan = compared(variants="BLEU20, round trip", sizes="5,2", shares="0.5,1")

    assert plan.arms[:5] == (
        Arm(1.0, "original", 1),
        Arm(1.0, "BLEU20", 2),
        Arm(1.0, "BLEU20", 5),
        Arm(1.0, "round trip", 2),
        Arm(1.0, "round trip", 5),
    )
    assert len({arm.label for arm in plan.arms}) == 10
    assert [plan.copies_of(arm) for arm in plan.arms[:3]] == [0, 1, 4]


def test_without_the_originals_a_size_is_a_number_of_copies() -> None:
    plan = compared(keep_originals=False, sizes="1,3")

    original, once, thrice = plan.arms
    assert [plan.copies_of(arm) for arm in plan.arms] == [0, 1, 3]
    assert plan.training(original, 42).keep_originals
    assert (plan.training(thrice, 43).copies, plan.training(once, 43).seed) == (3, 43)


@pytest.mark.parametrize(
    ("given", "pooler"),
    [
        ({}, Pooler.CLS_MLP_IN_TRAINING),
        ({"material": "triplets"}, Pooler.CLS_MLP),
        ({"pooler": "mean", "material": "triplets"}, Pooler.MEAN),
    ],
)
def test_the_pooler_is_simcses_unless_it_is_named(given, pooler) -> None:
    assert plan_from(kind_named("train_contrastive"), {**BASE, **given}).pooling is pooler


def test_variants_are_read_with_their_parts() -> None:
    found = variants_listed("SIM95  BLEU0_5 + SIM95 BLEU20, round trip")

    assert [(one.name, one.parts) for one in found] == [
        ("SIM95 BLEU0_5 + SIM95 BLEU20", ("SIM95 BLEU0_5", "SIM95 BLEU20")),
        ("round trip", ("round trip",)),
    ]


class EveryOther:
    """Tags by which every other of n pairs has each."""

    def having(self, tag: str) -> np.ndarray:
        return np.array([True, False, True, False])


def places_of(variant: str, subsets: list[str], tags: EveryOther | None) -> list[list[int]]:
    return [places.tolist() for places in variant_places(variant_read(variant), subsets, tags)]


def test_where_labels_are_named_a_tag_chooses_by_them_even_if_a_subset_is_called_so() -> None:
    subsets = ["", "BLEU20", "", "BLEU20"]

    assert places_of("BLEU20", subsets, EveryOther()) == [[0, 2]]
    assert places_of("BLEU20", subsets, None) == [[1, 3]]


def test_a_subset_that_is_called_like_a_tag_is_chosen_by_its_name() -> None:
    subsets = ["BLEU20", "round trip", "BLEU20", ""]

    assert places_of("BLEU20", subsets, None) == [[0, 2]]
    assert places_of("round trip + BLEU20", subsets, None) == [[1], [0, 2]]
    assert places_of("all", subsets, None) == [[0, 1, 2, 3]]
    with pytest.raises(VariantError, match="no subset has this name"):
        variant_places(variant_read("SIM95"), subsets, None)
    assert ContrastPlan(**BASE).variant is None
