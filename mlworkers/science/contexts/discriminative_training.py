"""Training a discriminative model (Sun et al. 2022, section 3.2.1).

A place of the corpus gives two examples with one context: the sentence that the corpus has there, and another one,
from the same document or from the whole corpus. The paper does not say how many others there are; here it is one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from curation.files.progress import Report, silent
from curation.files.writing import replacing
from curation.pairs.keeping import wilson_interval
from mlworkers.science.contexts.corpus import Corpus, CorpusError, Places
from mlworkers.science.contexts.discriminative import (
    DiscriminativeModel,
    Fit,
    discriminative_save,
    frozen_vectors,
    lstm_vectors,
    network_made,
    padded,
    sentence_tokens,
    window_places,
)
from mlworkers.science.contexts.discriminative_network import ContextFit
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan, Reader
from mlworkers.science.contexts.places import places_split
from mlworkers.science.contexts.selection import Window
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned
from mlworkers.science.training.checkpoints import checkpoints_of
from mlworkers.science.training.loop import CurvePoint, train
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import BatchesOfLikeLength

CHECKPOINT_STEPS = 100
CLIP = 1.0
TOKENIZER_SENTENCES = 50_000
_TRIES = 20  # of another sentence that is not a near copy of the right one
_LEAST_PLACES = 4
_TIE = 1e-4  # of a sum of four logits in single precision
_VECTORS = "vectors.npy"
_SPECIAL = {"pad_token": "<pad>"}


class Example(NamedTuple):
    """Numbers among the sentences of a training: the right one, another one, and those around it;
    -1 where a document has none.
    """

    centre: int
    other: int
    around: tuple[int, ...]


@dataclass(frozen=True)
class Examples:
    """texts: the distinct sentences (n,). rows: places of the corpus. from_document: whether the other sentence of each
    is from the same document.
    """

    texts: Sequence[str]
    rows: Sequence[Example]
    places: Sequence[int]
    other_texts: Sequence[str]
    from_document: Sequence[bool]


@dataclass(frozen=True)
class Share:
    """A share of n trials, and its 95 % interval (Wilson 1927)."""

    n: int
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class TrainedDiscriminative:
    """Shares of held-out places. right_sentence: the sentence of a place gets a higher probability there than another
    one; of others from the same document, and from the whole corpus. right_context: where two sentences change places,
    the sum of their log odds falls; 0.5 by chance, and for the literal head, where it never changes.
    """

    places: int
    held_out: int
    steps: int
    parameters: int
    loss: float
    right_sentence: Share
    right_sentence_of_document: Share | None
    right_sentence_of_corpus: Share | None
    right_context: Share

    @property
    def informs(self) -> bool:
        """Whether the model ranks contexts better than chance."""
        return self.right_context.low > 0.5  # a model that knows nothing passes in about 2.5 % of trainings


class FitLearner:
    """See `training.loop.Learner`. A row is a place: the right sentence and another one in its context."""

    def __init__(
        self, network: ContextFit, examples: Examples, source: Callable[[Sequence[int]], Tensor]
    ) -> None:
        """source: the vectors of some sentences, by number, (n, d), through which gradients flow where they learn."""
        self.module = network
        self._rows, self._source = examples.rows, source

    def shares(self, batch: Places) -> Tensor:
        """The share of a place in the batch's mean loss, (b,)."""
        return torch.full((len(batch),), 1 / len(batch))

    def backward(self, batch: Places, shares: Tensor) -> Tensor:
        """Add the gradients of some places; returns their part of the mean binary cross-entropy, in nats."""
        loss = self.losses([self._rows[place] for place in batch]).mul(shares.to(self.device)).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    @property
    def device(self) -> torch.device:
        return next(self.module.parameters()).device

    def losses(self, rows: Sequence[Example]) -> Tensor:
        """The mean loss of the two examples of each place, (b,)."""
        # Every distinct sentence of the batch is read once, however many examples it is in.
        # Sorted, so that the batch, and with it the last bits, follow from the rows alone.
        numbers = sorted({number for row in rows for number in (row.centre, row.other, *row.around)} - {-1})
        place = {number: index for index, number in enumerate(numbers)} | {-1: -1}
        vectors = self._source(numbers)  # (distinct sentences, d)
        # (b, left + right).
        around = torch.tensor([[place[number] for number in row.around] for row in rows], device=self.device)
        # Logits of the right and of the other sentences in the same contexts, (b,) each.
        both = [
            self.module.logits(
                vectors, torch.tensor([place[number] for number in side], device=self.device), around
            )
            for side in ([row.centre for row in rows], [row.other for row in rows])
        ]
        # Binary cross-entropy: -log σ(z) for the right sentence and -log(1 - σ(z)) for the other one, with as
        # many of each, so that the model's prior is 1/2.
        right, wrong = (
            binary_cross_entropy_with_logits(logits, torch.full_like(logits, wanted), reduction="none")
            for logits, wanted in zip(both, (1.0, 0.0), strict=True)
        )
        return (right + wrong) / 2  # log 2 = 0.693 nats for a model that knows nothing


def discriminative_trained(
    corpus: Corpus,
    plan: DiscriminativePlan,
    compute: Compute,
    *,
    folder: Path,
    encoder: Path | None = None,
    checkpoints: Path | None = None,
    report: Report = silent,
    note: Callable[[CurvePoint], object] = lambda point: None,
) -> TrainedDiscriminative:
    """Train a model, measure it on held-out places, and save it into `folder`.

    encoder: the folder of frozen sentence vectors. On a processor the weights follow from corpus, encoder and plan
    alone (with as many threads), whether or not the training was stopped in between. Raises CorpusError where too
    little can be learned from, ModelError, TrainingError, CheckpointError.
    """
    learned, held_out = _examples(corpus, plan)
    model, tokenizer, size = _initialised(learned.texts, plan, compute, encoder)
    network = model.network
    kept = checkpoints_of(checkpoints, plan, (learned.texts, learned.rows), every_steps=CHECKPOINT_STEPS)
    source = _source(model, tokenizer, plan, learned.texts, compute, kept=checkpoints, report=report)
    trained = train(
        FitLearner(network, learned, source),
        # Characters of the longer of the two sentences, a rough measure of their tokens.
        BatchesOfLikeLength(
            np.array(
                [max(len(learned.texts[row.centre]), len(learned.texts[row.other])) for row in learned.rows]
            ),
            batch_size=plan.batch,
            steps=plan.steps,
            warmup=plan.warmup,
            seed=plan.seed,
        ),
        LoopPlan(plan.learning_rate, plan.seed, weight_decay=plan.weight_decay, clip=CLIP),
        checkpoints=kept,
        report=report,
        note=note,
        message="Training the model",
    )
    network.eval()
    sentence, of_document, of_corpus, context = shares_measured(model, corpus, held_out)
    made = TrainedDiscriminative(
        places=len(learned.rows),
        held_out=len(held_out.rows),
        steps=trained.steps,
        parameters=sum(weight.numel() for weight in network.parameters()),
        loss=trained.kept.loss,
        right_sentence=sentence,
        right_sentence_of_document=of_document,
        right_sentence_of_corpus=of_corpus,
        right_context=context,
    )
    told = {"language": corpus.facts.language, "informs": made.informs}
    discriminative_save(folder, network, tokenizer, plan, told, size=size)
    return made


def _examples(corpus: Corpus, plan: DiscriminativePlan) -> tuple[Examples, Examples]:
    """Examples to learn from and held-out ones. Raises CorpusError where there are too few."""
    split = places_split(corpus, plan)
    learned, held_out = (
        examples_of(corpus, places, plan, seed=[plan.seed, number])
        for number, places in enumerate((split.train, split.held_out))  # streams [seed, 0] and [seed, 1]
    )
    if min(len(learned.rows), len(held_out.rows)) < _LEAST_PLACES:
        raise CorpusError(
            f"The corpus gives {len(learned.rows)} places to learn from and {len(held_out.rows)} held-out ones; at "
            f"least {_LEAST_PLACES} of each are needed. Choose a larger held-out share, or a larger corpus."
        )
    return learned, held_out


def examples_of(corpus: Corpus, places: Places, plan: DiscriminativePlan, *, seed: list[int]) -> Examples:
    """An example of each place; the other sentences are at some of the places too. places: ascending.

    Another sentence is not a near copy of the right one, and is nowhere in its context. A place for which none is
    found is left out.
    """
    rng = np.random.default_rng(seed)  # [plan.seed, 0] for places to learn from, 1 for held-out ones
    window = Window(plan.left, plan.right)
    texts: dict[str, int] = {}
    rows, kept, others, same = [], [], [], []
    for place in places.tolist():
        wants_same = bool(rng.random() < plan.same_document)  # the paper: one half
        other = None
        if wants_same:
            # The places ascend, so those of one document are a slice, and no list of all places is searched.
            first, after = np.searchsorted(places, corpus.document_bounds(place))
            other = _drawn_other(corpus, place, places[first:after], window, rng)
        is_same = other is not None
        if other is None:
            other = _drawn_other(corpus, place, places, window, rng)
        if other is None:
            continue
        around = [
            -1 if number is None else texts.setdefault(corpus.text(number), len(texts))
            for number in window_places(corpus, place, window)
        ]
        centre, wrong = (texts.setdefault(corpus.text(number), len(texts)) for number in (place, other))
        rows.append(Example(centre, wrong, tuple(around)))
        kept.append(place)
        others.append(corpus.text(other))
        same.append(is_same)
    return Examples(list(texts), rows, kept, others, same)


def _drawn_other(
    corpus: Corpus, place: int, among: Places, window: Window, rng: np.random.Generator
) -> int | None:
    # Rejection sampling: uniform over the places that are allowed, if one of _TRIES draws is.
    around = range(*corpus.bounds(place, *window))
    keys = set(corpus.near_keys[around.start : around.stop].tolist())
    for other in among[rng.integers(len(among), size=_TRIES)].tolist() if len(among) else []:
        if other not in around and int(corpus.near_keys[other]) not in keys:
            return int(other)
    return None


def _initialised(
    texts: Sequence[str], plan: DiscriminativePlan, compute: Compute, encoder: Path | None
) -> tuple[DiscriminativeModel, Any, int]:
    """The model with random weights, the tokenizer of an LSTM, and the length of a frozen vector."""
    if plan.reader is Reader.FROZEN:
        if encoder is None:
            raise ValueError("Frozen sentence vectors need an encoder.")
        vectors, size = frozen_vectors(encoder, compute)
        return DiscriminativeModel(_seeded(plan, compute, size, 0), vectors, compute), None, size
    # Every n-th sentence: evenly from the whole corpus.
    some = [f" {text}" for text in texts[:: max(1, len(texts) // TOKENIZER_SENTENCES)]]
    tokenizer = tokenizer_learned(
        some, vocabulary=plan.vocabulary, longest=plan.longest, special=_SPECIAL, lower=True
    )
    network = _seeded(plan, compute, 0, len(tokenizer))
    read = lstm_vectors(network, tokenizer, compute, longest=plan.longest)
    return DiscriminativeModel(network, read, compute), tokenizer, 0


def _seeded(plan: DiscriminativePlan, compute: Compute, size: int, vocabulary: int) -> ContextFit:
    # PyTorch draws initial weights from its global generator: seeded here, restored afterwards.
    with torch.random.fork_rng():
        torch.manual_seed(plan.seed)
        return network_made(plan, size=size, vocabulary=vocabulary).to(compute.device)


def _source(
    model: DiscriminativeModel,
    tokenizer: Any,
    plan: DiscriminativePlan,
    texts: Sequence[str],
    compute: Compute,
    *,
    kept: Path | None,
    report: Report,
) -> Callable[[Sequence[int]], Tensor]:
    """The vectors of some of the texts, by number: read by the LSTM that learns, or frozen ones that are made once.

    kept: a folder in which frozen vectors wait for a successor.
    """
    reader = model.network.reader
    if reader is not None:
        tokens = sentence_tokens(tokenizer, texts, longest=plan.longest)

        def read(numbers: Sequence[int]) -> Tensor:
            vectors: Tensor = reader(*padded([tokens[number] for number in numbers], compute.device))
            return vectors

        return read
    # A worker that goes on finds the frozen vectors there, and does not encode all sentences again.
    path = kept / _VECTORS if kept is not None else None
    if path is not None and path.exists():
        made = np.load(path)
    else:
        report(0, plan.steps, "Encoding sentences")
        made = model.vectors(texts).cpu().numpy()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            with replacing(path) as file:
                np.save(file, made)
    frozen = torch.from_numpy(made).to(compute.device)  # (texts, d); no gradient flows into it
    return lambda numbers: frozen[list(numbers)]


def shares_measured(
    model: DiscriminativeModel, corpus: Corpus, held_out: Examples
) -> tuple[Share, Share | None, Share | None, Share]:
    """How often the model is right on held-out places: the fields of `TrainedDiscriminative`, in their order."""
    texts = [held_out.texts[row.centre] for row in held_out.rows]
    count, half = len(texts), len(texts) // 2
    places = held_out.places
    asked = [
        *map(Fit, texts, places),
        *map(Fit, held_out.other_texts, places),
        # Each place of the first half changes its sentence with one of the second half.
        *map(Fit, texts[:half], places[half:]),
        *map(Fit, texts[half : 2 * half], places),
    ]
    logits = model.logits(corpus, asked)
    own, others, swapped = logits[:count], logits[count : 2 * count], logits[2 * count :]
    is_right, same = own > others, np.array(held_out.from_document)  # (count,); a tie is wrong
    # What a sentence or a context adds everywhere cancels out.
    # If z(s, c) = a(s) + b(c), then gain = z(s1, c1) + z(s2, c2) - z(s1, c2) - z(s2, c1) = 0.
    gain = own[:half] + own[half : 2 * half] - swapped[:half] - swapped[half:]
    # Rounding leaves a gain of 0 a little above 0 or below it.
    is_tie = np.abs(gain) < _TIE
    return (
        share_of(int(is_right.sum()), count),
        share_of(int(is_right[same].sum()), int(same.sum())) if same.any() else None,
        share_of(int(is_right[~same].sum()), int((~same).sum())) if not same.all() else None,
        # Ties count one half, so that a head whose gain is always 0 comes out at chance.
        share_of(float((gain[~is_tie] > 0).sum() + is_tie.sum() / 2), half),
    )


def share_of(right: float, n: int) -> Share:
    """The share right / n with its interval. right: of n trials, ties counting one half."""
    return Share(n, right / n, *wilson_interval(right, n))
