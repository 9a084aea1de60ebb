"""The contexts of pairs, and the terms of Eq. 3 in them (Sun et al. 2022, section 3.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.files.progress import Report
from curation.pairs.text import near_copy_key, words
from mlworkers.science.contexts.asking import Questioner
from mlworkers.science.contexts.bigram_index import BigramIndex
from mlworkers.science.contexts.corpus import Corpus
from mlworkers.science.contexts.discriminative import DiscriminativeModel, Fit
from mlworkers.science.contexts.diversity import diverse_chosen
from mlworkers.science.contexts.gaps import Question
from mlworkers.science.contexts.language_model import ContextModel
from mlworkers.science.contexts.pair_terms import PairContexts
from mlworkers.science.contexts.scores_plan import Choice, ContextScoresPlan
from mlworkers.science.contexts.selection import (
    Candidates,
    Leaks,
    Window,
    at_random,
    best_of_chunks,
    by_retrieval,
    places_of_chunks,
    without_leaks,
)
from mlworkers.science.contexts.similarity import TERMS, Terms, Weights, combined


class Pair(NamedTuple):
    first: str
    second: str


# Why a pair has no contexts: a long sentence; nothing in common with the corpus.
LONG, ALONE = "long", "alone"
SPARE = 2  # background sentences more than are used: a pair's own are passed over
_NONE = np.empty((0, len(TERMS)))
_CHUNKS_OF_A_PLACE = (
    4  # so many chunks are looked at for each place: some hold a scored sentence, or no place
)


def background_of(corpus: Corpus, model: ContextModel, plan: ContextScoresPlan) -> list[str]:
    """Sentences of the corpus at random, no two near copies, `SPARE` more than the plan's; fewer where it does not have
    so many short enough.
    """
    # The first distinct sentences of a random permutation are a sample without replacement.
    order = np.random.default_rng([plan.seed, 1]).permutation(len(corpus)).tolist()
    found: dict[int, str] = {}
    for place in order:
        if len(found) == plan.background + SPARE:
            break
        key = int(corpus.near_keys[place])
        if key not in found and model.fits(text := corpus.text(place)):
            found[key] = text
    return list(found.values())


@dataclass(frozen=True)
class PairScorer:
    """Finds and scores the contexts of pairs, several at once, so that batches are full.

    background: as `background_of` gives them. weights: by which contexts are chosen. discriminator: ranks places, and
    gives the term of λ1.
    """

    corpus: Corpus
    index: BigramIndex
    model: ContextModel
    plan: ContextScoresPlan
    background: Sequence[str]
    weights: Weights
    discriminator: DiscriminativeModel | None = None

    def pairs(self, pairs: Sequence[Pair], questioner: Questioner, report: Report) -> list[PairContexts]:
        """The contexts of each pair. report counts pairs."""
        fitting = [all(map(self.model.fits, pair)) for pair in pairs]  # both sentences must be read whole

        def part(number: int) -> Report:
            """Of two parts, in pairs."""

            def told(done: int, total: int, message: str) -> None:
                share = (number + done / max(total, 1)) / 2  # choosing, then scoring: a half each
                report(int(share * len(pairs)), len(pairs), message)

            return told

        chosen = self._chosen(
            [pair for pair, fits in zip(pairs, fitting, strict=True) if fits], questioner, part(0)
        )
        beside = [
            background_beside(pair, self.background, most=self.plan.background) for pair, _places in chosen
        ]
        # For each place of a pair 2 + background questions: the cost of a pair is their product.
        asked = [
            Fit(text, place)
            for (pair, places), others in zip(chosen, beside, strict=True)
            for place, _second in places  # place by place: (places, 2 + background) in rows
            for text in (*pair, *others)
        ]
        terms = self._terms(asked, questioner, part(1))
        found, start = [], 0
        for (_pair, places), others in zip(chosen, beside, strict=True):
            width = 2 + len(others)
            # The terms of one pair are (places, 2 + background, 4): both sentences, then the others.
            own = terms[start : start + len(places) * width].reshape(-1, width, len(TERMS))
            start += len(places) * width
            found.append(
                pair_contexts(
                    [place for place, _second in places], [second for _place, second in places], own
                )
            )
        return with_refused(found, fitting)

    def _chosen(
        self, pairs: Sequence[Pair], questioner: Questioner, report: Report
    ) -> list[tuple[Pair, list[tuple[int, bool]]]]:
        """The places of each pair: those of its first sentence, then those of its second. A place that is found for
        both is there twice, as in the paper.
        """
        texts = [text for pair in pairs for text in pair]
        candidates = self._ranked(texts, [self._candidates(text, pair) for pair in pairs for text in pair])
        asked = [
            Fit(text, place)
            for text, found in zip(texts, candidates, strict=True)
            for place in found.places.tolist()
        ]
        if self.plan.choice is Choice.FITTING:
            scores = combined(self._terms(asked, questioner, report), self.weights)
        else:
            scores = np.zeros(len(asked))  # as they were drawn
        chosen, start = list[list[int]](), 0
        for found in candidates:
            own = scores[start : start + len(found.places)]  # (k,): S(s, c), or 0 where none is computed
            start += len(found.places)
            # The (i - 1)th sentences, whose words must differ (section 3.3). Every place has one.
            before = [words(self.corpus.text(place - 1)) for place in found.places.tolist()]
            order = diverse_chosen(
                own,
                found.chunks,
                before,
                most=self.plan.contexts,
                below=self.plan.below,
                one_of_chunk=self.plan.diverse,  # off is the paper's ablation without diversity
            )
            chosen.append(found.places[order].tolist())
        return [
            (
                pair,
                [(place, False) for place in chosen[2 * number]]
                + [(place, True) for place in chosen[2 * number + 1]],
            )
            for number, pair in enumerate(pairs)
        ]

    def _terms(self, asked: Sequence[Fit], questioner: Questioner, report: Report) -> Terms:
        """The terms of Eq. 3, (n, 4); that of λ1 is NaN without a discriminative model."""
        terms = questioner.terms(
            [Question(text, self.corpus.context(place, *self._window)) for text, place in asked],
            report=report,
        )
        if self.discriminator is not None:
            # log p(y = 1 | s, c) in nats; the other three terms are nats per token.
            terms[:, 0] = self.discriminator.log_probabilities(self.corpus, asked)
        return terms

    @property
    def _looked_at(self) -> int:
        """Candidates of a sentence that the language model looks at."""
        return self.plan.candidates * self.plan.contexts

    @property
    def _is_ranked(self) -> bool:
        return self.discriminator is not None and self.plan.choice is Choice.FITTING

    def _candidates(self, sentence: str, pair: Pair) -> Candidates:
        """Places for a sentence, none of which contains a sentence of the pair."""
        # A ranking is of use only if more places enter it than leave it.
        # Places before and after the ranking.
        most = max(self._looked_at, self.plan.ranked) if self._is_ranked else self._looked_at
        if self.plan.choice is Choice.RANDOM:
            # A seed of the sentence's own, so that it has the same places in all pairs.
            seed = [self.plan.seed, *sentence.encode()]
            found = at_random(self.corpus, self.index, most=most, seed=seed)
        else:
            chunks = self.index.retrieve(sentence, most=self.plan.chunks).chunks[: _CHUNKS_OF_A_PLACE * most]
            found = places_of_chunks(self.corpus, self.index, chunks)
            if self.plan.diverse and not self._is_ranked:
                # Without a ranking: one place a chunk, by bigrams.
                found = by_retrieval(self.corpus, found, sentence)
        return without_leaks(self.corpus, found, Leaks(pair), self._around, most=most)

    def _ranked(self, texts: Sequence[str], candidates: Sequence[Candidates]) -> list[Candidates]:
        """The places of each text that the language model looks at, the best by the discriminative model first."""
        if self.discriminator is None or not self._is_ranked:
            return list(candidates)
        fits = [
            Fit(text, place)
            for text, found in zip(texts, candidates, strict=True)
            for place in found.places.tolist()
        ]
        # log σ(z) rises with z, so the order is that of the logits.
        scores = self.discriminator.log_probabilities(self.corpus, fits)
        # Scores are in one array, text after text.
        ends = np.cumsum([len(found.places) for found in candidates])
        ranked = [
            best_of_chunks(found, own, one_of_chunk=self.plan.diverse)
            for found, own in zip(candidates, np.split(scores, ends[:-1]), strict=True)
        ]
        most = self._looked_at
        return [Candidates(found.places[:most], found.chunks[:most]) for found in ranked]

    @property
    def _window(self) -> Window:
        return Window(self.plan.left, self.plan.right)

    @property
    def _around(self) -> Window:
        """What must hold no scored sentence: all that either model reads."""
        if self.discriminator is None:
            return self._window
        # The wider of the two windows on each side covers what either model reads.
        sides = zip(self._window, self.discriminator.window, strict=True)
        return Window(*(max(side) for side in sides))


def background_beside(pair: Pair, background: Sequence[str], *, most: int) -> list[str]:
    """The first background sentences that are not near copies of a sentence of the pair: the value of a sentence in a
    context must not be subtracted from itself.
    """
    keys = {near_copy_key(text) for text in pair}  # S(s, c) - mean would otherwise hold S(s, c) itself
    return [text for text in background if near_copy_key(text) not in keys][:most]


def pair_contexts(
    places: list[int], of_second: list[bool], terms: Terms, texts: Sequence[str] = ()
) -> PairContexts:
    """What is kept of k contexts: terms (k, 2 + background sentences, 4)."""
    return PairContexts(
        places,
        of_second,
        terms[:, 0],
        terms[:, 1],
        # The mean over background sentences, (k, b, 4) -> (k, 4).
        terms[:, 2:].mean(axis=1),
        refused="" if places else ALONE,
        texts=list(texts),
    )


def with_refused(found: Sequence[PairContexts], fitting: Sequence[bool]) -> list[PairContexts]:
    """What was found for the pairs that fit, and nothing for those whose sentences are too long, in their order."""
    answers = iter(found)
    none = PairContexts([], [], _NONE, _NONE, _NONE, refused=LONG)
    return [next(answers) if fits else none for fits in fitting]


def weights_given(weights: Weights, terms: Sequence[str]) -> Weights:
    """The weights; 0 for terms that no model gives."""
    return weights.without(*(term for term in TERMS if term not in terms))
