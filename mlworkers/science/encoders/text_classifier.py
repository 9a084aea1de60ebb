"""A transformer that reads a text, or both texts of a pair together, and gives one or several values."""

import copy
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from mlworkers.science.encoders.forward import length_batches
from mlworkers.science.pretrained.compute import Compute, Fitting
from mlworkers.science.pretrained.cross_encoder import is_cross_encoder
from mlworkers.science.pretrained.encoder import transformer_folder
from mlworkers.science.pretrained.loading import (
    LOADING_FAILS,
    check_loaded,
    loading_failed,
    quiet_transformers,
)

_HEAD = ("classifier.", "pre_classifier.", "score.", "head.")  # the layers behind the transformer
_NEED_NOT_HAVE = (*_HEAD, "pooler.")  # weights that a base model may lack
_ANY: Any = AutoModelForSequenceClassification


class TextClassifier(nn.Module):
    """A transformer with k values for a text or a pair of texts: the logits of k classes, or a score."""

    def __init__(self, model: Any, tokenizer: Any, *, longest: int, compute: Compute) -> None:
        super().__init__()
        self.transformer, self._tokenizer, self._compute = model, tokenizer, compute
        limits = (
            longest,
            tokenizer.model_max_length,
            getattr(model.config, "max_position_embeddings", longest),
        )
        tokenizer.model_max_length = self._longest = min(limits)

    def tokens(self, first: Sequence[str], second: Sequence[str] | None = None) -> list[dict[str, Tensor]]:
        """n texts, or n pairs of them, as the model reads them, cut at the longest input."""
        texts = [list(first)] if second is None else [list(first), list(second)]
        read = self._tokenizer(*texts, truncation=True, max_length=self._longest)
        # Also token types, if it has them.
        names = [name for name in self._tokenizer.model_input_names if name in read]
        return [{name: torch.tensor(read[name][row]) for name in names} for row in range(len(first))]

    def forward(self, rows: Sequence[dict[str, Tensor]]) -> Tensor:
        """The values of b rows, (b, k)."""
        fill = {"input_ids": int(self._tokenizer.pad_token_id or 0)}
        padded = {
            name: pad_sequence([row[name] for row in rows], True, fill.get(name, 0)).to(self._compute.device)
            for name in rows[0]
        }
        logits: Tensor = self.transformer(**padded).logits  # (b, k)
        return logits

    def predicted(
        self, rows: Sequence[dict[str, Tensor]], of: Callable[[Tensor], Tensor] = lambda values: values
    ) -> NDArray[np.float64]:
        """What `of` makes of the values of n rows, (n, k) or (n,), with dropout off."""
        self.eval()
        lengths = [row["input_ids"].numel() for row in rows]
        batches = length_batches(lengths, tokens_per_batch=self._compute.tokens_per_batch)
        fitting = Fitting()

        @torch.inference_mode()
        def of_part(places: Sequence[int]) -> NDArray[np.float64]:
            values: NDArray[np.float64] = of(self([rows[place] for place in places])).double().cpu().numpy()
            return values

        # (n, k), in the order of the batches.
        values = np.concatenate([fitting.values(of_part, places) for places in batches])
        # The batches hold a permutation of the rows; its argsort puts the values back in the rows' order.
        back: NDArray[np.float64] = values[np.argsort(np.concatenate(batches))]
        return back

    def save(self, folder: Path) -> None:
        with quiet_transformers():
            self.transformer.save_pretrained(folder)
            self._tokenizer.save_pretrained(folder)


def load_trainable(base: Path, *, values: int, seed: int, new_head: bool = False) -> tuple[Any, Any]:
    """A model with so many values, and its tokenizer, from the folder of an encoder, a transformer or a cross-encoder.

    Weights are float32. new_head: the layers behind the transformer are random whatever the folder holds, and the same
    for every base of one architecture; else those of a cross-encoder are kept. Random weights follow from the seed.
    Raises ModelError.
    """
    crossed = is_cross_encoder(base)
    place = base if crossed else transformer_folder(base)
    with quiet_transformers(), torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            model, told = _ANY.from_pretrained(
                place,
                output_loading_info=True,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                dtype=torch.float32,
                **({} if crossed else {"num_labels": values}),
            )
            tokenizer = AutoTokenizer.from_pretrained(place, local_files_only=True, trust_remote_code=False)
            missing = [name for name in told["missing_keys"] if not name.startswith(_NEED_NOT_HAVE)]
            check_loaded(model.state_dict().keys(), {**told, "missing_keys": missing})
            if new_head:
                torch.manual_seed(seed)
                # The same transformer before random layers, from torch's random numbers.
                config = copy.deepcopy(model.config)
                config.num_labels = values
                fresh = _ANY.from_config(config).float()
                kept = {
                    name: weight for name, weight in model.state_dict().items() if not name.startswith(_HEAD)
                }
                # All but the head: that one keeps its random weights.
                fresh.load_state_dict(kept, strict=False)
                model = fresh
        except LOADING_FAILS as error:
            raise loading_failed(base, error) from error
    return model, tokenizer


def load_saved(folder: Path, *, longest: int, compute: Compute) -> TextClassifier:
    """A model that `TextClassifier.save` wrote, as it is. Raises ModelError."""
    model, tokenizer = load_trainable(folder, values=1, seed=0)
    return TextClassifier(model.to(compute.device), tokenizer, longest=longest, compute=compute)
