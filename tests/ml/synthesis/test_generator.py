"""Loading a language model: safetensors alone, and one sentence for whatever is no causal model."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel

from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.sources import ModelError
from mlworkers.science.synthesis.generator import Generator, generator_of, load_generator
from tests.ml.tiny_generator import CONTEXT, tiny_byte_pairs, tiny_generator


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("generator")
    made = tiny_generator()
    made.model.save_pretrained(folder)
    made.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


def loaded(folder: Path) -> Generator:
    return load_generator(folder, choose_compute("cpu"))


def test_a_model_without_a_pad_token_is_loaded(saved: Path) -> None:
    generator = loaded(saved)

    assert generator.tokenizer.pad_token is None
    assert generator.context == CONTEXT
    assert generator.barred.sum() == 1  # the end of a text


def test_what_is_saved_loads_in_the_transformers_library(saved: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(saved, local_files_only=True, use_safetensors=True)
    tokenizer = AutoTokenizer.from_pretrained(saved, local_files_only=True)

    assert tokenizer.decode(tokenizer("Ein Hund läuft – 犬.")["input_ids"]) == "Ein Hund läuft – 犬."
    assert model.config.vocab_size == len(tokenizer)


def test_tokens_that_the_tokenizer_does_not_know_are_never_drawn() -> None:
    tokenizer = tiny_byte_pairs()
    padded = GPT2LMHeadModel(
        GPT2Config(vocab_size=len(tokenizer) + 9, n_embd=32, n_layer=1, n_head=1, eos_token_id=0)
    )

    generator = generator_of(padded, tokenizer)

    assert generator.barred[len(tokenizer) :].all()
    assert not generator.ends[len(tokenizer) :].any()


def test_a_sentence_encoder_is_refused(encoder_folder: Path) -> None:
    with pytest.raises(ModelError, match="holds a sentence encoder, which writes nothing"):
        loaded(encoder_folder)


def test_a_bare_encoder_is_refused(encoder_folder: Path, tmp_path: Path) -> None:
    bare = Path(shutil.copytree(encoder_folder, tmp_path / "bare"))
    (bare / "modules.json").unlink()

    with pytest.raises(ModelError, match="holds BertModel, which is not a causal language model"):
        loaded(bare)


def test_a_pickled_model_is_refused(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")

    with pytest.raises(ModelError, match="holds no safetensors weights"):
        loaded(folder)


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"n_layer": 1}, "its config.json leaves out 11 of its weights, first transformer.h.1."),
        ({"n_embd": 64}, "its config.json describes weights of other shapes than its files hold"),
        ({"n_embd": "wide"}, "Validation error for field 'n_embd': TypeError"),
        ({"architectures": "GPT2LMHeadModel"}, "holds nothing known, which is not a causal language model"),
    ],
)
def test_a_config_that_lies_is_refused_in_one_sentence(folder: Path, lie: dict, sentence: str) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | lie))

    with pytest.raises(ModelError) as refused:
        loaded(folder)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_config_that_is_a_list_is_no_causal_model(folder: Path) -> None:
    (folder / "config.json").write_text("[1]")

    with pytest.raises(ModelError, match="holds nothing known, which is not a causal language model"):
        loaded(folder)


def test_a_model_that_lacks_weights_is_refused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"n_layer": 3}))

    with pytest.raises(ModelError, match="lacks 12 of its weights, first transformer"):
        loaded(folder)


def test_a_model_of_another_shape_is_refused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"n_embd": 64}))

    with pytest.raises(ModelError, match="cannot be loaded"):
        loaded(folder)


def test_a_model_that_brings_code_of_its_own_is_refused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    own = {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}}
    (folder / "config.json").write_text(json.dumps(config | own))
    (folder / "own.py").write_text("raise SystemExit('this ran')\n")

    with pytest.raises(ModelError, match="cannot be loaded"):
        loaded(folder)


def test_a_model_without_its_tokenizer_is_refused(folder: Path) -> None:
    for file in folder.glob("tokenizer*"):
        file.unlink()

    with pytest.raises(ModelError):
        loaded(folder)


def test_a_tokenizer_with_more_tokens_than_the_model_is_refused() -> None:
    model = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_embd=32, n_layer=1, n_head=1, eos_token_id=0))

    with pytest.raises(ModelError, match="do not belong together"):
        generator_of(model, tiny_byte_pairs())


@pytest.mark.parametrize(
    "name", ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"]
)
def test_json_that_is_nested_deeply_is_refused_in_one_sentence(folder: Path, name: str) -> None:
    (folder / name).write_text("[" * 200_000)

    with pytest.raises(ModelError) as refused:
        loaded(folder)

    assert "\n" not in str(refused.value)
