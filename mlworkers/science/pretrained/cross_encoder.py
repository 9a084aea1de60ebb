"""Loading a cross-encoder safely: a model that reads both sentences of a pair together and gives one score.

The rules are those of `encoder.py`: safetensors alone, no code of the model's own, and no weight made up.
"""

from pathlib import Path
from typing import Any

from sentence_transformers import CrossEncoder

from curation.files.json_text import json_from
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.pretrained.loading import (
    LOADING_FAILS,
    check_loaded,
    loading_failed,
    quiet_transformers,
)
from mlworkers.science.pretrained.sources import ModelError, check_folder

_ARCHITECTURE = "ForSequenceClassification"


def is_cross_encoder(folder: Path) -> bool:
    """Whether the config.json in a folder describes a classifier of texts, which a cross-encoder is."""
    try:
        architectures = json_from((folder / "config.json").read_text("utf-8"))["architectures"]
        return any(str(name).endswith(_ARCHITECTURE) for name in architectures)
    except (OSError, ValueError, LookupError, TypeError):
        return False


def load_cross_encoder(folder: Path, compute: Compute) -> CrossEncoder:
    """The cross-encoder in a folder, on its device, ready to score.

    Raises ModelError where the folder holds something else, lacks weights, gives more than one score, or would run
    code or unpickle.
    """
    check_folder(folder)
    if (folder / "modules.json").is_file():
        raise ModelError(f"{folder} holds a list of modules; a cross-encoder is one model with config.json.")
    with quiet_transformers():
        try:
            model: CrossEncoder = CrossEncoder(
                str(folder),
                device=str(compute.device),
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": compute.dtype},
            )
            transformer: Any = model.model
            loaded = type(transformer).from_pretrained(
                folder, output_loading_info=True, local_files_only=True, use_safetensors=True
            )
            check_loaded(transformer.state_dict().keys(), loaded[1])
        except LOADING_FAILS as error:
            raise loading_failed(folder, error) from error
    if model.num_labels != 1:
        raise ModelError(
            f"The model in {folder} gives {model.num_labels} values for a pair; scoring needs a model that gives one."
        )
    model.eval()
    return model
