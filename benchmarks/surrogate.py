"""Pairs of sentences scored by an encoder, as a surrogate does, against the same pairs scored by contexts.

The contexts are found, chosen and scored as `score_contexts` does it with its default settings (20 contexts of each
sentence), by a small encoder-decoder of the size that “Train a model for contexts” makes (random weights: speed does
not depend on them), with an empty cache. The encoder is all-MiniLM-L6-v2 where its package is installed, and otherwise
one of that size with random weights; its pairs have distinct sentences. A surrogate is as fast as the encoder that it
is trained from. Corpus and pairs are from the novels of SEMBLANCE_REAL_DATA, or made.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
from _compare import is_quick, print_comparison, rates_compared
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
from mlworkers.pretrained.compute import choose_compute

BY_CONTEXTS = 2  # pairs


def main() -> None:
    quick = is_quick(__doc__)
    by_encoder = 200 if quick else 2_000
    plan = ContextScoresPlan(dataset="", model="", corpus=1, contexts=3 if quick else 20)
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
        started = perf_counter()
        found = scorer.pairs(pairs[:BY_CONTEXTS], Questioner(model, KeptValues(folder / "kept")), silent)
        seconds_of_contexts = (perf_counter() - started) / BY_CONTEXTS
    encoder, source = encoder_found(compute)
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    pair_cosines(encoder, first[:8], second[:8], compute)  # warm
    started = perf_counter()
    pair_cosines(encoder, first, second, compute)
    seconds = (perf_counter() - started) / len(pairs)
    print_comparison(
        rates_compared(
            "surrogate",
            work=1,
            unit="pairs/s",
            seconds=seconds,
            baseline="score_contexts, empty cache",
            baseline_seconds=seconds_of_contexts,
            notes=f"{source}, {len(pairs):,} pairs of distinct sentences; by contexts {BY_CONTEXTS} pairs with "
            f"{np.mean([len(each.places) for each in found]):.0f} contexts each, of "
            f"{plan.candidates} times as many places, and {len(scorer.background)} background sentences",
        )
    )


if __name__ == "__main__":
    main()
