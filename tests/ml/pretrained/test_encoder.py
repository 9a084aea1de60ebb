"""Loading an encoder: what is loaded, and what is refused before it could run code, unpickle or guess weights."""

import json
import logging
import pickle
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.sources import ModelError
from tests.ml.tiny import DIMENSIONS, tiny_transformer

CPU = choose_compute("cpu")


class Trap:
    """Unpickling this writes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.fixture
def folder(encoder_folder, tmp_path) -> Path:
    """A copy of the tiny encoder that a test may change."""
    return Path(shutil.copytree(encoder_folder, tmp_path / "encoder"))


def change_json(file: Path, change) -> None:
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def test_a_folder_of_sentence_transformers_is_loaded_as_it_was_saved(folder) -> None:
    encoder = load_encoder(folder, CPU)

    assert [type(module).__name__ for module in encoder] == ["Transformer", "Pooling", "Normalize"]
    assert not encoder.training


def test_a_bare_transformer_gets_mean_pooling(tmp_path) -> None:
    encoder = load_encoder(tiny_transformer(tmp_path), CPU)

    assert encoder[1].pooling_mode == "mean"
    assert encoder.get_embedding_dimension() == DIMENSIONS


def test_a_transformer_in_a_folder_of_its_own_is_loaded(folder) -> None:
    own = folder / "0_Transformer"
    own.mkdir()
    for file in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (folder / file).rename(own / file)
    (folder / "sentence_bert_config.json").rename(own / "sentence_bert_config.json")
    change_json(folder / "modules.json", lambda modules: modules[0].update(path="0_Transformer"))

    encoder = load_encoder(folder, CPU)

    assert encoder.encode("a dog", show_progress_bar=False).shape == (DIMENSIONS,)


def test_the_precision_is_the_one_that_was_chosen(folder) -> None:
    encoder = load_encoder(folder, choose_compute("cpu", "bfloat16"))

    assert encoder.dtype == torch.bfloat16


def test_a_transformer_without_the_unused_pooler_is_loaded(tmp_path) -> None:
    file = tiny_transformer(tmp_path) / "model.safetensors"
    weights = load_file(file)
    save_file(
        {name: weight for name, weight in weights.items() if "pooler" not in name}, file, {"format": "pt"}
    )

    encoder = load_encoder(tmp_path, CPU)

    assert encoder.encode("a dog", show_progress_bar=False).shape == (DIMENSIONS,)


def test_loading_writes_nothing_to_the_terminal(folder, capfd) -> None:
    load_encoder(folder, CPU)

    assert capfd.readouterr() == ("", "")


def test_loading_leaves_the_libraries_loggers_as_they_were(folder) -> None:
    before = [logging.getLogger(name).level for name in ("transformers", "sentence_transformers")]

    load_encoder(folder, CPU)

    assert before == [logging.getLogger(name).level for name in ("transformers", "sentence_transformers")]


@pytest.mark.parametrize("place", ["pytorch_model.bin", "1_Pooling/pytorch_model.bin"])
def test_pickled_files_beside_safetensors_are_never_opened(folder, tmp_path, place) -> None:
    sprung = tmp_path / "sprung"
    (folder / place).write_bytes(pickle.dumps(Trap(sprung)))

    load_encoder(folder, CPU)

    assert not sprung.exists()


def test_a_dense_module_with_pickled_weights_is_refused(folder, tmp_path) -> None:
    sprung = tmp_path / "sprung"
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense" / "pytorch_model.bin").write_bytes(pickle.dumps(Trap(sprung)))
    dense = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    change_json(folder / "modules.json", lambda modules: modules.append(dense))

    with pytest.raises(ModelError, match="2_Dense holds no safetensors weights"):
        load_encoder(folder, CPU)
    assert not sprung.exists()


@pytest.mark.parametrize(
    "module", ["sentence_transformers.models.WordEmbeddings", "modeling_mine.Transformer", "os.Transformer"]
)
def test_an_unknown_module_is_refused(folder, module) -> None:
    change_json(folder / "modules.json", lambda modules: modules[0].update(type=module))

    with pytest.raises(ModelError, match=f"The module {module} is not loaded; only Transformer,"):
        load_encoder(folder, CPU)


def test_a_model_with_code_of_its_own_is_refused_and_the_code_not_run(folder, tmp_path) -> None:
    sprung = tmp_path / "sprung"
    (folder / "modeling_mine.py").write_text(f"from pathlib import Path\nPath({str(sprung)!r}).touch()\n")
    own = {
        "model_type": "mine",
        "auto_map": {"AutoConfig": "modeling_mine.C", "AutoModel": "modeling_mine.M"},
    }
    change_json(folder / "config.json", lambda config: config.update(own))

    with pytest.raises(ModelError, match="cannot be loaded"):
        load_encoder(folder, CPU)
    assert not sprung.exists()


def test_a_model_that_lacks_a_weight_is_refused(folder) -> None:
    file = folder / "model.safetensors"
    weights = load_file(file)
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, file, {"format": "pt"})

    with pytest.raises(ModelError, match=r"lacks 1 of its weights, first encoder\.layer\.1\.output\.dense"):
        load_encoder(folder, CPU)


@pytest.mark.parametrize(
    ("lie", "sentence"),
    [
        ({"intermediate_size": 12}, "its config.json describes weights of other shapes than its files hold"),
        (
            {"hidden_size": 10**7, "num_attention_heads": 1},
            "its config.json describes weights of other shapes",
        ),
        ({"num_hidden_layers": 3}, "it lacks 16 of its weights, first encoder.layer.2.attention"),
        (
            {"num_hidden_layers": 1},
            "its config.json leaves out 16 of its weights, first encoder.layer.1.attention",
        ),
        ({"model_type": "gpt2"}, "it lacks 28 of its weights, first h.0.attn"),
        ({"model_type": "t5"}, "Validation error for field 'classifier_dropout': TypeError"),
        ({"model_type": "nonsense"}, "model type `nonsense`"),
        ({"hidden_size": "wide"}, "Validation error for field 'hidden_size': TypeError: Field 'hidden_size'"),
        ({"num_attention_heads": 5}, "is not a multiple of the number of attention heads"),
    ],
)
def test_a_config_that_lies_about_the_weights_is_refused_in_one_sentence(folder, lie, sentence) -> None:
    change_json(folder / "config.json", lambda config: config.update(lie))

    with pytest.raises(ModelError) as refused:
        load_encoder(folder, CPU)
    assert str(refused.value).startswith(f"The model in {folder} cannot be loaded: ")
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


def test_layers_beyond_the_config_are_noticed_under_the_whole_model_s_prefix(tmp_path) -> None:
    file = tiny_transformer(tmp_path) / "model.safetensors"
    save_file({f"bert.{name}": weight for name, weight in load_file(file).items()}, file, {"format": "pt"})
    load_encoder(tmp_path, CPU)
    change_json(tmp_path / "config.json", lambda config: config.update(num_hidden_layers=1))

    with pytest.raises(ModelError, match=r"leaves out 16 of its weights, first bert\.encoder\.layer\.1\."):
        load_encoder(tmp_path, CPU)


def test_a_pooling_that_lies_about_the_vectors_is_refused(folder) -> None:
    change_json(folder / "1_Pooling" / "config.json", lambda config: config.update(embedding_dimension=99))

    with pytest.raises(ModelError, match="its files say that vectors have 99 numbers, but they have 32"):
        load_encoder(folder, CPU)


def test_a_module_that_nothing_is_told_of_is_refused(folder) -> None:
    shutil.rmtree(folder / "1_Pooling")

    with pytest.raises(ModelError, match=r"1_Pooling/config\.json is missing; download the model again"):
        load_encoder(folder, CPU)


def test_a_folder_without_a_tokenizer_is_refused(folder) -> None:
    for file in folder.glob("tokenizer*"):
        file.unlink()

    with pytest.raises(ModelError, match="the files of its tokenizer are missing"):
        load_encoder(folder, CPU)


@pytest.mark.parametrize("content", ['{"0": "Transformer"}', "[1]", "["])
def test_a_list_of_modules_that_is_none_is_refused(folder, content) -> None:
    (folder / "modules.json").write_text(content)

    with pytest.raises(ModelError, match=r"modules\.json is not the list of modules"):
        load_encoder(folder, CPU)


@pytest.mark.parametrize(
    "name",
    ["config.json", "modules.json", "tokenizer.json", "tokenizer_config.json", "sentence_bert_config.json"],
)
@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000])
def test_json_that_is_nested_deeply_is_refused_in_one_sentence(folder, name, text) -> None:
    (folder / name).write_text(text)

    with pytest.raises(ModelError) as refused:
        load_encoder(folder, CPU)

    assert "\n" not in str(refused.value)
