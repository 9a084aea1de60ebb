"""Loading an encoder safely: known modules, safetensors alone, no code of the model's own."""

from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling
from torch import nn

from curation.files.json_text import json_from
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.pretrained.int8 import int8_layers_set
from mlworkers.science.pretrained.loading import (
    LOADING_FAILS,
    check_loaded,
    loading_failed,
    quiet_transformers,
)
from mlworkers.science.pretrained.sources import ModelError, check_folder

# Modules of sentence-transformers made from JSON and safetensors alone, and whether they hold weights.
_MODULES = {
    "Transformer": True,
    "Dense": True,
    "LayerNorm": True,
    "Pooling": False,
    "Normalize": False,
    "Dropout": False,
}
_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")


def load_encoder(folder: Path, compute: Compute) -> SentenceTransformer:
    """The encoder in a folder, on its device, ready to encode.

    A folder of sentence-transformers is taken as it is; a bare transformer gets mean pooling. Raises
    ModelError where the folder holds something else, lacks weights, or would run code or unpickle.
    """
    is_int8 = compute.dtype is torch.int8
    first, *_others = _module_folders(check_folder(folder))
    with quiet_transformers():
        try:
            encoder = SentenceTransformer(
                str(folder),
                device=str(compute.device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": torch.float32 if is_int8 else compute.dtype},
            )
            tokenizer, told = encoder.tokenizer, encoder.get_embedding_dimension()
            # Without its files the library makes up a tokenizer that knows no word, and goes on.
            if set(tokenizer.get_vocab()) <= set(tokenizer.all_special_tokens):
                raise ValueError("the files of its tokenizer are missing")
            transformer = encoder.transformers_model
            if transformer is None:
                raise ValueError(
                    "it does not begin with a transformer, and no other kind of encoder is known"
                )
            loaded: Any = type(transformer).from_pretrained(
                first, output_loading_info=True, local_files_only=True, use_safetensors=True
            )
            check_loaded(transformer.state_dict().keys(), loaded[1])
            width = encoder.encode(["a"], convert_to_tensor=True).shape[-1]
            if told != width:
                raise ValueError(f"its files say that vectors have {told} numbers, but they have {width}")
        except LOADING_FAILS as error:
            raise loading_failed(folder, error) from error
    if is_int8:
        int8_layers_set(encoder)
    return encoder.eval()


def pooling_set(encoder: SentenceTransformer, mode: str) -> None:
    """Make the encoder's vector of a sentence from those of its tokens in this way: mean, cls or max.

    It becomes part of the encoder and is saved with it. Raises ModelError where a later layer expects vectors of
    another length, or where the encoder has no such step.
    """
    modules = list(encoder)
    places = [place for place, module in enumerate(modules) if isinstance(module, Pooling)]
    if not places:
        raise ModelError(f"The encoder has no pooling that could be set to {mode}; keep its own.")
    before = modules[places[0]]
    after = Pooling(before.embedding_dimension, mode, include_prompt=before.include_prompt)
    later = [part for module in modules[places[0] + 1 :] for part in module.modules()]
    if (
        any(isinstance(part, nn.Linear) for part in later)
        and after.pooling_output_dimension != before.pooling_output_dimension
    ):
        raise ModelError(
            f"The pooling cannot be set to {mode}: a later layer of the encoder expects vectors of "
            f"{before.pooling_output_dimension} numbers, not {after.pooling_output_dimension}; keep its own."
        )
    encoder[places[0]] = after.to(encoder.device)


def transformer_folder(folder: Path) -> Path:
    """Where the transformer of the encoder in a folder is. Raises ModelError as `load_encoder` does."""
    return _module_folders(check_folder(folder))[0]


def _module_folders(folder: Path) -> list[Path]:
    """Of the modules that modules.json names, in its order; without one, of a transformer in the folder itself.

    Refuses a module other than those known, one that nothing is known of, and one without safetensors.
    """
    modules, file = [("sentence_transformers.models.Transformer", folder)], folder / "modules.json"
    if file.is_file():
        try:
            entries = json_from(file.read_text("utf-8"))
            modules = [(str(entry["type"]), folder / str(entry["path"])) for entry in entries]
        except (ValueError, TypeError, LookupError) as error:
            raise ModelError(
                f"{file} is not the list of modules that sentence-transformers writes."
            ) from error
    for kind, module_folder in modules:
        package, _, name = kind.rpartition(".")
        if package.partition(".")[0] != "sentence_transformers" or name not in _MODULES:
            raise ModelError(f"The module {kind} is not loaded; only {', '.join(_MODULES)} are.")
        if _MODULES[name] and not any((module_folder / weights).is_file() for weights in _WEIGHTS):
            raise ModelError(f"{module_folder} holds no safetensors weights, and no other kind is loaded.")
        if name != "Normalize" and not (module_folder / "config.json").is_file():
            raise ModelError(f"{module_folder / 'config.json'} is missing; download the model again.")
    return [module_folder for _kind, module_folder in modules]
