"""Load an encoder-decoder safely: safetensors alone, and no code from the model's folder."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

from mlworkers.science.pretrained.loading import (
    LOADING_FAILS,
    check_loaded,
    loading_failed,
    quiet_transformers,
)
from mlworkers.science.pretrained.sources import ModelError, check_folder


def is_encoder_decoder(folder: Path) -> bool:
    """Whether the model in a folder is one. Raises ModelError where nobody can tell."""
    check_folder(folder)
    with quiet_transformers():
        try:
            config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        except LOADING_FAILS as error:
            raise loading_failed(folder, error) from error
    return bool(config.is_encoder_decoder)


def load_encoder_decoder(folder: Path, *, otherwise: str) -> tuple[Any, Any]:
    """An encoder-decoder and its tokenizer, in float32 and on the processor.

    otherwise: what to do where it is none, as the end of a sentence. Raises ModelError.
    """
    if not is_encoder_decoder(folder):
        raise ModelError(f"The model in {folder} is not an encoder-decoder; {otherwise}.")
    loader: Any = AutoModelForSeq2SeqLM
    with quiet_transformers():
        try:
            model, told = loader.from_pretrained(
                folder,
                output_loading_info=True,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
            )
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            check_loaded(model.state_dict().keys(), told)
        except LOADING_FAILS as error:
            raise loading_failed(folder, error) from error
    return model, tokenizer
