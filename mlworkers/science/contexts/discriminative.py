"""A discriminative model as scores and rankings use it: log p(y = 1 | s, c) of sentences in contexts of a corpus."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from transformers import AutoTokenizer

from curation.files.json_text import json_from
from curation.files.progress import Report, silent
from mlworkers.science.contexts.corpus import Corpus
from mlworkers.science.contexts.discriminative_network import BiLstm, ContextFit
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan, Head, Reader, Sides
from mlworkers.science.contexts.selection import Window
from mlworkers.science.encoders.encoding import encode
from mlworkers.science.pretrained.compute import Compute, Fitting
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.sources import ModelError

ABOUT, WEIGHTS, ENCODER = "config.json", "model.safetensors", "encoder"
_BLOCK = 4096  # sentences in contexts at a time
_DAMAGED = (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError)
Vectors = Callable[[Sequence[str]], Tensor]  # of n sentences, (n, d)


class Fit(NamedTuple):
    """A sentence, and the place of a corpus whose context it is put into."""

    sentence: str
    place: int


class About(NamedTuple):
    """What a saved model says of itself. informs: whether it finds the right context more often than by chance."""

    language: str
    informs: bool
    window: Window


@dataclass(frozen=True)
class DiscriminativeModel:
    """vectors: of sentences that are given as text, on the model's device."""

    network: ContextFit
    vectors: Vectors
    compute: Compute

    @property
    def window(self) -> Window:
        return Window(self.network.left, self.network.right)

    def log_probabilities(
        self, corpus: Corpus, fits: Sequence[Fit], *, report: Report = silent
    ) -> NDArray[np.float64]:
        """log p(y = 1 | s, c), (n,), in nats."""
        # For logits z: log σ(z) = -log(1 + exp(-z)), computed without overflow for large negative z, where
        # σ(z) itself would round to 0 and its logarithm to minus infinity.
        # log σ(z), which is 0 at most.
        found: NDArray[np.float64] = -np.logaddexp(0.0, -self.logits(corpus, fits, report=report))
        return found

    @torch.inference_mode()
    def logits(self, corpus: Corpus, fits: Sequence[Fit], *, report: Report = silent) -> NDArray[np.float64]:
        """The log odds of p(y = 1 | s, c), (n,). Every distinct sentence is read once.

        The numbers follow from the fits alone: the last bits depend on what is read in the same batch.
        """
        if not fits:
            return np.empty(0)
        known: dict[str, int] = {}
        contexts: dict[int, list[int]] = {}
        for _sentence, place in fits:
            if place not in contexts:
                contexts[place] = [  # left + right rows of vectors
                    -1 if number is None else known.setdefault(corpus.text(number), len(known))
                    for number in window_places(corpus, place, self.window)
                ]
        own = [known.setdefault(sentence, len(known)) for sentence, _place in fits]  # (n,): rows of vectors
        vectors = self.vectors(list(known))  # (distinct sentences, d)
        found, fitting = [], Fitting()

        def of_part(numbers: Sequence[int]) -> NDArray[np.float64]:
            """Of these fits, (b,)."""
            places = torch.tensor([contexts[fits[number][1]] for number in numbers], device=vectors.device)
            sentences = torch.tensor([own[number] for number in numbers], device=vectors.device)
            logits: NDArray[np.float64] = (
                self.network.logits(vectors, sentences, places).double().cpu().numpy()
            )
            return logits

        # Only the head runs over pairs of sentence and context, in blocks, because its features have (1 + 3 ·
        # slots) · d columns; the sentences are read once, above.
        for start in range(0, len(fits), _BLOCK):
            found.append(fitting.values(of_part, range(start, min(start + _BLOCK, len(fits)))))
            report(min(start + _BLOCK, len(fits)), len(fits), "Ranking contexts")
        return np.concatenate(found)


def window_places(corpus: Corpus, place: int, window: Window) -> list[int | None]:
    """The sentences around a place, left + right of them in the order of the text: None where its document has none."""
    first, after = corpus.bounds(place, *window)
    around = [*range(place - window.left, place), *range(place + 1, place + window.right + 1)]
    return [number if first <= number < after else None for number in around]


def lstm_vectors(network: ContextFit, tokenizer: Any, compute: Compute, *, longest: int) -> Vectors:
    """The vectors of the network's LSTM, in batches of like length."""

    def vectors(texts: Sequence[str]) -> Tensor:
        reader = network.reader
        if reader is None:
            raise ValueError("The network has no LSTM.")
        tokens = sentence_tokens(tokenizer, texts, longest=longest)
        # Longest first: the first batch needs the most memory, and padding is small among neighbours.
        order = np.argsort([-len(each) for each in tokens], kind="stable")
        made = torch.empty(len(texts), reader.size, device=compute.device)  # (n, 2 · hidden)
        start, fitting = 0, Fitting()

        def of_part(numbers: Sequence[int]) -> Any:
            return reader(*padded([tokens[number] for number in numbers], compute.device))

        while start < len(order):
            # The first of a batch is its longest, and all are padded to it.
            # At least one, however long it is.
            size = max(1, compute.tokens_per_batch // len(tokens[order[start]]))
            batch = order[start : start + size]
            made[torch.from_numpy(batch).to(compute.device)] = torch.cat(fitting.parts(of_part, batch))
            start += size
        return made

    return vectors


def sentence_tokens(tokenizer: Any, texts: Sequence[str], *, longest: int) -> list[list[int]]:
    """At least one token of each text, at most `longest`."""
    found: list[list[int]] = tokenizer(
        [f" {text}" for text in texts], add_special_tokens=False, verbose=False
    )["input_ids"]
    return [tokens[:longest] or [int(tokenizer.pad_token_id)] for tokens in found]


def padded(tokens: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor]:
    """Tokens (n, t) and their lengths (n,)."""
    lengths = torch.tensor([len(each) for each in tokens])
    return pad_sequence([torch.tensor(each) for each in tokens], True, 0).to(device), lengths


def frozen_vectors(folder: Path, compute: Compute) -> tuple[Vectors, int]:
    """The vectors of the encoder in a folder, and their length. Raises ModelError."""
    encoder = load_encoder(folder, compute)

    def vectors(texts: Sequence[str]) -> Tensor:
        return torch.from_numpy(encode(encoder, texts, compute)).to(compute.device)

    return vectors, int(encoder.get_embedding_dimension() or 0)


def network_made(plan: DiscriminativePlan, *, size: int, vocabulary: int) -> ContextFit:
    """A network with random weights. size: of a frozen vector; vocabulary: of the LSTM's tokenizer."""
    reader = BiLstm(vocabulary, plan.embedding, plan.hidden) if plan.reader is Reader.BILSTM else None
    return ContextFit(
        reader,
        size=reader.size if reader is not None else size,
        hidden=plan.hidden,
        head=plan.head,
        sides=plan.sides,
        left=plan.left,
        right=plan.right,
    )


def discriminative_save(
    folder: Path,
    network: nn.Module,
    tokenizer: Any,
    plan: DiscriminativePlan,
    about: dict[str, Any],
    *,
    size: int,
) -> None:
    """Weights as safetensors, the tokenizer of an LSTM, and what the model is. Frozen encoders are copied by the
    caller into the folder ENCODER.
    """
    save_file({name: value.contiguous() for name, value in network.state_dict().items()}, folder / WEIGHTS)
    if tokenizer is not None:
        tokenizer.save_pretrained(folder)
    told = {**about, "plan": asdict(plan), "size": size, "vocabulary": len(tokenizer) if tokenizer else 0}
    (folder / ABOUT).write_text(json.dumps(told, indent=1), encoding="utf-8")


def discriminative_told(folder: Path) -> About:
    """Raises ModelError where the folder holds something else."""
    told = _told(folder)
    plan = told["plan"]
    return About(
        str(told.get("language", "")),
        bool(told.get("informs")),
        Window(int(plan["left"]), int(plan["right"])),
    )


def load_discriminative(folder: Path, compute: Compute) -> DiscriminativeModel:
    """The model that `discriminative_save` wrote. Raises ModelError."""
    told = _told(folder)
    try:
        plan = DiscriminativePlan(
            **{
                **told["plan"],
                "reader": Reader(told["plan"]["reader"]),
                "head": Head(told["plan"]["head"]),
                "sides": Sides(told["plan"]["sides"]),
            }
        )
        network = network_made(plan, size=int(told["size"]), vocabulary=int(told["vocabulary"]))
        network.load_state_dict(load_file(folder / WEIGHTS))
        network.to(compute.device).eval()
        if plan.reader is Reader.FROZEN:
            vectors, _size = frozen_vectors(folder / ENCODER, compute)
        else:
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            vectors = lstm_vectors(network, tokenizer, compute, longest=plan.longest)
    except ModelError:
        raise
    except _DAMAGED as error:
        raise ModelError(
            f"The discriminative model in {folder} is damaged: {error}; train it again."
        ) from error
    return DiscriminativeModel(network, vectors, compute)


def _told(folder: Path) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json_from((folder / ABOUT).read_text("utf-8"))
        _plan = told["plan"]["left"], told["plan"]["right"]
    except _DAMAGED as error:
        raise ModelError(
            f"{folder} holds no discriminative model; name a run “Train a discriminative model”."
        ) from error
    return told
