"""Pairs of sentences scored by an encoder, as a surrogate does, against the same pairs scored by contexts.

Both do what their run does. By contexts (`score_contexts`), some pairs are scored together with an empty cache: chunks
are found, a discriminative model ranks their places, a language model chooses 20 contexts for each sentence and scores
both sentences and the background sentences in them, and both similarities get their intervals. The models and settings
are those of `docs/experiments/real_contexts.py --small`; the notes have the ratio for the settings that the forms begin
with, whose models are larger and look at more places. Weights are random: speed does not depend on them.

The encoder (`score_pairs`) is all-MiniLM-L6-v2 where its package is installed, and otherwise one of that size with
random weights; the notes have the ratio for the small one that “Initialise an encoder” makes. A surrogate is as fast as
the encoder that it is trained from. Corpus and pairs are from the novels of SEMBLANCE_REAL_DATA, or made; no sentence
is in two pairs.

Both have batches of like length within the same number of tokens, and one thread; both were warmed up. They take turns.
Seconds are of the processor, so that other work on the machine counts for neither; the notes have those of the clock.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch
from _compare import is_quick, print_comparison, rates_compared
from context_scores import documents
from encoding import encoder_found
from sentence_transformers import SentenceTransformer

from curation.files.progress import silent
from mlworkers.science.contexts.asking import Questioner
from mlworkers.science.contexts.bigram_index import BigramIndex, index_write
from mlworkers.science.contexts.corpus import Corpus, corpus_write
from mlworkers.science.contexts.discriminative import DiscriminativeModel, lstm_vectors, network_made
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan
from mlworkers.science.contexts.kept_values import KeptValues
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.model_training import context_model_initialised
from mlworkers.science.contexts.pair_scoring import Pair, PairScorer, background_of
from mlworkers.science.contexts.scores_plan import ContextScoresPlan
from mlworkers.science.contexts.similarity import Weights, pair_similarity
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.initial import encoder_initialised
from mlworkers.science.encoders.initial_plan import InitialEncoderPlan
from mlworkers.science.pretrained.compute import Compute, choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned

ROUNDS = 2
NOVELS = 12
BY_ENCODER, BY_CONTEXTS = 200, (2, 1)  # pairs of a round; the settings of the forms take longest
TEXTS = 20_000  # from which tokenizers learn


@dataclass(frozen=True)
class Size:
    """Settings of `real_contexts.Size` of the same names; the contexts of a sentence are 20."""

    layers: int
    vocabulary: int
    window: int
    part_tokens: int
    hidden: int
    candidates: int
    background: int
    contexts: int = 20


SMALL = Size(layers=1, vocabulary=2048, window=1, part_tokens=48, hidden=150, candidates=2, background=6)
DEFAULT = Size(layers=2, vocabulary=4096, window=2, part_tokens=64, hidden=300, candidates=5, background=10)
TINY = Size(
    layers=1, vocabulary=300, window=1, part_tokens=48, hidden=8, candidates=1, background=1, contexts=3
)


class ByContexts:
    """Scores pairs by the contexts of a corpus, with an empty cache each time."""

    def __init__(self, folder: Path, texts: list[str], size: Size, compute: Compute) -> None:
        window: dict[str, Any] = {"left": size.window, "right": size.window}
        model_plan = ContextModelPlan(
            dataset="", corpus=0, layers=size.layers, vocabulary=size.vocabulary, part_tokens=size.part_tokens, **window
        )  # fmt: skip
        self.plan = ContextScoresPlan(
            dataset="", model="", corpus=1, discriminator="run:0", contexts=size.contexts, candidates=size.candidates,
            background=size.background, part_tokens=size.part_tokens, **window,
        )  # fmt: skip
        self.model = context_model_initialised(texts, model_plan, compute)
        self.model.model.eval()
        ranks = DiscriminativePlan(dataset="", corpus=0, hidden=size.hidden, **window)
        tokenizer = tokenizer_learned(
            texts, vocabulary=ranks.vocabulary, longest=ranks.longest, special={"pad_token": "<pad>"}, lower=True
        )  # fmt: skip
        network = network_made(ranks, size=0, vocabulary=len(tokenizer)).eval()
        read = lstm_vectors(network, tokenizer, compute, longest=ranks.longest)
        corpus = Corpus(folder)
        self.scorer = PairScorer(
            corpus,
            BigramIndex(folder),
            self.model,
            self.plan,
            background_of(corpus, self.model, self.plan),
            Weights(),
            DiscriminativeModel(network, read, compute),
        )
        self._folder, self._numbers = folder, count()
        self.contexts: list[int] = []

    def score(self, pairs: list[Pair]) -> None:
        kept = KeptValues(self._folder / f"kept-{id(self)}-{next(self._numbers)}")  # cold
        found = self.scorer.pairs(pairs, Questioner(self.model, kept), silent)
        for each in found:
            json.dumps(each.as_json())
            similar = pair_similarity(each.first, each.second, each.background, Weights())
            self.contexts.append(similar.contexts)


@dataclass(frozen=True)
class Taken:
    """Seconds of the processor and of the clock for a pair, by round."""

    processor: list[float]
    clock: list[float]

    def add(self, work: Callable[[], object], pairs: int) -> None:
        processor, clock = process_time(), perf_counter()
        work()
        self.processor.append((process_time() - processor) / pairs)
        self.clock.append((perf_counter() - clock) / pairs)

    def times(self, other: "Taken") -> str:
        """How many times as long the other one took, by the processor and by the clock, in the best round of each."""
        processor, clock = min(other.processor) / min(self.processor), min(other.clock) / min(self.clock)
        return f"{processor:,.0f} times (by the clock {clock:,.0f})"


def main() -> None:
    quick = is_quick(__doc__)
    by_encoder, shards, rounds = (100, (2,), 1) if quick else (BY_ENCODER, BY_CONTEXTS, ROUNDS)
    torch.set_num_threads(1)
    compute = choose_compute("cpu")
    with TemporaryDirectory() as name:
        folder = Path(name)
        corpus_write(documents(1 if quick else NOVELS), folder)
        corpus = Corpus(folder)
        index_write(corpus, folder)
        rng = np.random.default_rng(1)
        drawn = list(map(corpus.text, rng.permutation(len(corpus))[: 2 * TEXTS].tolist()))
        texts = [f" {text}" for text in drawn[:TEXTS]]
        sizes = [TINY] if quick else [SMALL, DEFAULT]
        by_contexts = [ByContexts(folder, texts, size, compute) for size in sizes]
        fitting = [text for text in dict.fromkeys(drawn) if all(one.model.fits(text) for one in by_contexts)]
        pairs = [Pair(*both) for both in zip(fitting[::2], fitting[1::2], strict=False)]
        encoder, source = encoder_found(compute)
        (folder / "small").mkdir()
        encoder_initialised(drawn, InitialEncoderPlan(dataset=""), folder / "small")
        encoders = [encoder, load_encoder(folder / "small", compute)]
        taken = [Taken([], []) for _ in (*encoders, *by_contexts)]

        def encode(one: SentenceTransformer, of: list[Pair]) -> None:
            pair_cosines(one, [pair.first for pair in of], [pair.second for pair in of], compute)

        for one in encoders:
            encode(one, pairs[:8])  # warm
        by_contexts[0].score(pairs[:1])
        by_contexts[0].contexts.clear()
        for number in range(rounds):
            start = 8 + number * by_encoder
            many = pairs[start : start + by_encoder]
            for one, of_one in zip(encoders, taken, strict=False):
                of_one.add(partial(encode, one, many), len(many))
            for scorer, shard, of_one in zip(by_contexts, shards, taken[len(encoders) :], strict=True):
                of_one.add(partial(scorer.score, many[:shard]), shard)
        sentences = len(corpus)
    of_encoder, of_small, *of_contexts = taken
    told = "; ".join(
        f"{label}: {100 * min(one.processor):.1f} s of the processor ({100 * min(one.clock):.1f} of the clock) for 100 "
        f"pairs of {np.mean(scorer.contexts):.0f} contexts, {source} {of_encoder.times(one)}, a small random "
        f"encoder {of_small.times(one)}"
        for label, one, scorer in zip(("small", "default"), of_contexts, by_contexts, strict=False)
    )
    print_comparison(
        rates_compared(
            "surrogate",
            work=1,
            unit="pairs/s of the processor",
            seconds=min(of_encoder.processor),
            baseline="score_contexts, empty cache",
            baseline_seconds=min(of_contexts[0].processor),
            notes=f"{sentences:,} sentences; {by_encoder:,} pairs a round by an encoder, {shards[0]} by contexts, "
            f"best of {rounds} rounds, one thread; a small random encoder {1 / min(of_small.processor):,.0f} pairs/s; "
            + told,
        )
    )


if __name__ == "__main__":
    main()
