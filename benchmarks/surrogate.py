"""Pairs of sentences scored by an encoder, as a surrogate does, against the same pairs scored by contexts.

The contexts are found, chosen and scored as `score_contexts` does it with its default settings (20 contexts of each
sentence), by a small encoder-decoder of the size that “Train a model for contexts” makes (random weights: speed does
not depend on them), with an empty cache. The encoder is all-MiniLM-L6-v2 where its package is installed, and otherwise
one of that size with random weights; the notes have the rate of a small one that “Initialise an encoder” makes. A
surrogate is as fast as the encoder that it is trained from. Corpus and pairs are from the novels of
SEMBLANCE_REAL_DATA, or made; no sentence is in two pairs.

Both have batches of like length, of as many tokens, and one thread; both were warmed up. They take turns, so that what
else the machine does slows both alike.
"""

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from _compare import every_round, is_quick, print_comparison, rates_compared, spread_of_ratios
from context_scores import PLAN, documents
from encoding import encoder_found

from curation.files.progress import silent
from mlworkers.contexts.asking import Questioner
from mlworkers.contexts.bigram_index import BigramIndex, index_write
from mlworkers.contexts.corpus import Corpus, corpus_write
from mlworkers.contexts.kept_values import KeptValues
from mlworkers.contexts.model_training import context_model_initialised
from mlworkers.contexts.pair_scoring import Pair, PairScorer, background_of
from mlworkers.contexts.scores_plan import ContextScoresPlan
from mlworkers.encoders.encoding import pair_cosines
from mlworkers.encoders.initial import encoder_initialised
from mlworkers.encoders.initial_plan import InitialEncoderPlan
from mlworkers.pretrained.compute import choose_compute
from mlworkers.pretrained.encoder import load_encoder

BY_CONTEXTS = 2  # pairs of a round
ROUNDS = 3


def main() -> None:
    quick = is_quick(__doc__)
    by_encoder, rounds = (200, 1) if quick else (1_000, ROUNDS)
    plan = ContextScoresPlan(dataset="", model="", corpus=1, contexts=3 if quick else 20)
    torch.set_num_threads(1)
    compute = choose_compute("cpu")
    with TemporaryDirectory() as name:
        folder = Path(name)
        corpus_write(documents(), folder)
        corpus = Corpus(folder)
        index_write(corpus, folder)
        texts = [f" {corpus.text(place)}" for place in range(min(len(corpus), 20_000))]
        model = context_model_initialised(texts, PLAN, compute)
        model.model.eval()
        scorer = PairScorer(
            corpus, BigramIndex(folder), model, plan, background_of(corpus, model, plan), plan.weights
        )
        distinct = [text for text in dict.fromkeys(map(corpus.text, range(len(corpus)))) if model.fits(text)]
        drawn = np.random.default_rng(1).permutation(len(distinct))[: 2 * by_encoder].tolist()
        pairs = [Pair(distinct[a], distinct[b]) for a, b in zip(drawn[::2], drawn[1::2], strict=True)]
        first, second = ([pair[side] for pair in pairs] for side in (0, 1))
        encoder, source = encoder_found(compute)
        (folder / "small").mkdir()
        encoder_initialised(distinct, InitialEncoderPlan(dataset=""), folder / "small")
        small = load_encoder(folder / "small", compute)
        for one in (encoder, small):
            pair_cosines(one, first[:8], second[:8], compute)  # warm
        numbers, found = count(), []

        def by_contexts(of: list[Pair]) -> None:
            kept = KeptValues(folder / f"kept-{next(numbers)}")  # cold
            found.extend(scorer.pairs(of, Questioner(model, kept), silent))

        by_contexts(pairs[-1:])  # warm
        rest = iter(range(0, len(pairs), BY_CONTEXTS))

        def next_by_contexts() -> None:
            start = next(rest)
            by_contexts(pairs[start : start + BY_CONTEXTS])

        of_encoder, of_contexts = every_round(
            lambda: pair_cosines(encoder, first, second, compute), next_by_contexts, rounds=rounds
        )
        of_small, _again = every_round(
            lambda: pair_cosines(small, first, second, compute), lambda: None, rounds=rounds
        )
    per_pair = (
        [seconds / len(pairs) for seconds in of_encoder],
        [seconds / BY_CONTEXTS for seconds in of_contexts],
    )
    print_comparison(
        rates_compared(
            "surrogate",
            work=1,
            unit="pairs/s",
            seconds=min(per_pair[0]),
            baseline="score_contexts, empty cache",
            baseline_seconds=min(per_pair[1]),
            notes=f"{source}, {len(pairs):,} pairs of distinct sentences a round; by contexts {BY_CONTEXTS} pairs a "
            f"round with {np.mean([len(each.places) for each in found]):.0f} contexts each, of {plan.candidates} times "
            f"as many places, and {len(scorer.background)} background sentences; one thread; "
            f"{spread_of_ratios(per_pair)}; a small random encoder: {len(pairs) / min(of_small):,.0f} pairs/s",
        )
    )


if __name__ == "__main__":
    main()
