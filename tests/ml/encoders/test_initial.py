"""A small encoder with random weights, and a tokenizer learned on the spot."""

from itertools import product

import numpy as np
import pytest

from curation.files.writing import sha256_of
from mlworkers.plans.fields import PlanError
from mlworkers.science.encoders.encoding import encode
from mlworkers.science.encoders.initial import encoder_initialised
from mlworkers.science.encoders.initial_plan import InitialEncoderPlan
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder

TEXTS = [
    f"The {who} {does} on the {where}."
    for who, does, where in product(("dog", "cat", "bird"), ("runs", "sits"), ("grass", "mat"))
]
PLAN = InitialEncoderPlan(dataset="scenes", layers=1, width=32, vocabulary=300, context=16, seed=5)


def files_of(folder):
    return {file.name: sha256_of(file) for file in folder.iterdir()}


def test_it_is_an_encoder_that_orders_texts_by_the_words_they_share(tmp_path) -> None:
    made = encoder_initialised(TEXTS, PLAN, tmp_path)

    compute = choose_compute("cpu")
    encoder = load_encoder(tmp_path, compute)
    texts = ["The dog runs on the grass.", "The DOG runs on the mat.", "A bird sat, it sat there."]
    vectors = encode(encoder, texts, compute)
    same, one_word, other = (
        vectors @ (vectors[0] / np.linalg.norm(vectors[0])) / np.linalg.norm(vectors, axis=1)
    )
    assert same > one_word > other
    assert made.tokens <= PLAN.vocabulary
    assert made.parameters == sum(weight.numel() for weight in encoder.parameters())


def test_the_same_texts_and_seed_give_the_same_files_and_another_seed_other_weights(tmp_path) -> None:
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        encoder_initialised(TEXTS, InitialEncoderPlan(**{**vars(PLAN), "seed": seed}), tmp_path / name)

    one, two, three = (files_of(tmp_path / name) for name in ("one", "two", "three"))
    assert one == two
    assert {name for name in one if one[name] != three[name]} == {"model.safetensors"}


def test_a_text_longer_than_the_context_and_one_of_unknown_characters_are_encoded(tmp_path) -> None:
    encoder_initialised(TEXTS, PLAN, tmp_path)

    compute = choose_compute("cpu")
    vectors = encode(load_encoder(tmp_path, compute), ["dog " * 100, "狗在草地上跑"], compute)

    assert np.isfinite(vectors).all()


def test_a_width_that_attention_heads_do_not_divide_is_refused() -> None:
    with pytest.raises(PlanError, match="“width” is 48; give a multiple of 32"):
        InitialEncoderPlan(dataset="scenes", width=48)
