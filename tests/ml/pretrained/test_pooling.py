"""How the vectors of tokens become the vector of a sentence."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense

from mlworkers.science.encoders.plan import EncoderPlan, Pooling
from mlworkers.science.encoders.saving import About, encoder_save
from mlworkers.science.encoders.training import base_encoder
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder, pooling_set
from mlworkers.science.pretrained.sources import ModelError

CPU = choose_compute("cpu")
SENTENCES = ["a dog runs", "the man plays with a ball in the grass"]
POOLED = {
    "mean": lambda tokens: tokens.mean(0),
    "cls": lambda tokens: tokens[0],
    "max": lambda tokens: tokens.amax(0),
}


def pooled(encoder: SentenceTransformer, how) -> np.ndarray:
    """By hand, from the tokens of each sentence alone, of length 1."""
    vectors = []
    for sentence in SENTENCES:
        tokens = encoder.encode(sentence, output_value="token_embeddings", convert_to_tensor=True)
        vector = how(tokens)
        vectors.append((vector / vector.norm()).numpy())
    return np.stack(vectors)


@pytest.mark.parametrize("mode", ["mean", "cls", "max"])
def test_pooling_is_what_the_plan_says_and_is_saved_with_the_encoder(
    encoder_folder, tmp_path: Path, mode: str
) -> None:
    plan = EncoderPlan("d", "m", "s", pooling=Pooling(mode))
    encoder = base_encoder(encoder_folder, plan, CPU)
    expected = pooled(encoder, POOLED[mode])
    tmp_path.joinpath("saved").mkdir()

    encoder_save(encoder, tmp_path / "saved", About("m", "ab", {}, {}), [])

    for loaded in (load_encoder(tmp_path / "saved", CPU), SentenceTransformer(str(tmp_path / "saved"))):
        assert loaded[1].pooling_mode == mode
        assert np.allclose(loaded.encode(SENTENCES), expected, atol=1e-5)


def test_the_base_model_s_own_pooling_is_kept_by_default(encoder_folder, tmp_path: Path) -> None:
    encoder = load_encoder(encoder_folder, CPU)
    pooling_set(encoder, "cls")
    encoder.save(str(tmp_path / "cls"))

    kept = base_encoder(tmp_path / "cls", EncoderPlan("d", "m", "s"), CPU)

    assert kept[1].pooling_mode == "cls"


def test_an_encoder_without_pooling_is_refused(encoder_folder) -> None:
    encoder = load_encoder(encoder_folder, CPU)
    del encoder[1]

    with pytest.raises(ModelError, match="has no pooling that could be set to cls"):
        pooling_set(encoder, "cls")


def test_a_layer_that_needs_vectors_of_another_length_is_not_given_them(encoder_folder) -> None:
    encoder = load_encoder(encoder_folder, CPU)
    width = encoder[1].embedding_dimension
    encoder[1] = type(encoder[1])(width, ("mean", "cls"))
    encoder.append(Dense(2 * width, 4, activation_function=torch.nn.Identity()))

    with pytest.raises(ModelError, match=f"expects vectors of {2 * width} numbers, not {width}"):
        pooling_set(encoder, "mean")
