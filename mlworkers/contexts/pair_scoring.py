"""The contexts of pairs, and the terms of Eq. 3 in them (Sun et al. 2022, section 3.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from curation.files.progress import Report
from curation.pairs.text import words
from mlworkers.contexts.asking import Questioner
from mlworkers.contexts.bigram_index import BigramIndex
from mlworkers.contexts.corpus import Context, Corpus
from mlworkers.contexts.diversity import diverse_chosen
from mlworkers.contexts.gaps import Question
from mlworkers.contexts.language_model import ContextModel
from mlworkers.contexts.pair_terms import PairContexts
from mlworkers.contexts.scores_plan import Choice, ContextScoresPlan
from mlworkers.contexts.selection import (
    Candidates,
    Leaks,
    Window,
    at_random,
    by_retrieval,
    places_of_chunks,
    without_leaks,
)
from mlworkers.contexts.similarity import TERMS, Weights, combined


class Pair(NamedTuple):
    first: str
    second: str


LONG, ALONE = (
    "long",
    "alone",
)  # why a pair has no contexts: a long sentence; nothing in common with the corpus
_NONE = np.empty((0, len(TERMS)))


def background_of(corpus: Corpus, model: ContextModel, plan: ContextScoresPlan) -> list[str]:
    """Sentences of the corpus at random, fewer where it does not have so many short enough."""
    order = np.random.default_rng([plan.seed, 1]).permutation(len(corpus)).tolist()
    found: list[str] = []
    for place in order:
        if len(found) == plan.background:
            break
        if model.fits(text := corpus.text(place)):
            found.append(text)
    return found


@dataclass(frozen=True)
class PairScorer:
    """Finds and scores the contexts of pairs, several at once, so that batches are full."""

    corpus: Corpus
    index: BigramIndex
    model: ContextModel
    plan: ContextScoresPlan
    background: Sequence[str]

    @property
    def weights(self) -> Weights:
        """Those of the plan; 0 for terms that the model cannot give."""
        return weights_given(self.plan, self.model.terms)

    def pairs(self, pairs: Sequence[Pair], questioner: Questioner, report: Report) -> list[PairContexts]:
        """The contexts of each pair. report counts pairs."""
        fitting = [all(map(self.model.fits, pair)) for pair in pairs]

        def part(number: int) -> Report:
            """Of three parts, in pairs."""

            def told(done: int, total: int, message: str) -> None:
                share = (number + done / max(total, 1)) / 2
                report(int(share * len(pairs)), len(pairs), message)

            return told

        chosen = self._chosen(
            [pair for pair, fits in zip(pairs, fitting, strict=True) if fits], questioner, part(0)
        )
        asked: list[Question] = []
        for pair, places in chosen:
            for place, _second in places:
                context = self._context(place)
                asked += [Question(text, context) for text in (*pair, *self.background)]
        terms = questioner.terms(asked, report=part(1)).reshape(-1, 2 + len(self.background), len(TERMS))
        found, start = [], 0
        for _pair, places in chosen:
            own = terms[start : start + len(places)]
            start += len(places)
            found.append(
                PairContexts(
                    [place for place, _second in places],
                    [second for _place, second in places],
                    own[:, 0],
                    own[:, 1],
                    own[:, 2:].mean(axis=1),
                    refused="" if places else ALONE,
                )
            )
        answers = iter(found)
        none = PairContexts([], [], _NONE, _NONE, _NONE, refused=LONG)
        return [next(answers) if fits else none for fits in fitting]

    def _chosen(
        self, pairs: Sequence[Pair], questioner: Questioner, report: Report
    ) -> list[tuple[Pair, list[tuple[int, bool]]]]:
        """The places of each pair: those of its first sentence, then those of its second. A place that is found for
        both is there twice, as in the paper.
        """
        candidates = [self._candidates(text, pair) for pair in pairs for text in pair]
        texts = [text for pair in pairs for text in pair]
        asked = [
            Question(text, self._context(place))
            for text, found in zip(texts, candidates, strict=True)
            for place in found.places.tolist()
        ]
        if self.plan.choice is Choice.FITTING:
            scores = combined(questioner.terms(asked, report=report), self.weights)
        else:
            scores = np.zeros(len(asked))  # as they were drawn
        chosen, start = list[list[int]](), 0
        for found in candidates:
            own = scores[start : start + len(found.places)]
            start += len(found.places)
            before = [words(self.corpus.text(place - 1)) for place in found.places.tolist()]
            order = diverse_chosen(
                own,
                found.chunks,
                before,
                most=self.plan.contexts,
                below=self.plan.below,
                one_of_chunk=self.plan.diverse,
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

    def _candidates(self, sentence: str, pair: Pair) -> Candidates:
        """The places that the model looks at, none of which contains a sentence of the pair."""
        most = self.plan.candidates * self.plan.contexts
        if self.plan.choice is Choice.RANDOM:
            # A seed of the sentence's own, so that it has the same places in all pairs.
            seed = [self.plan.seed, *sentence.encode()]
            found = at_random(self.corpus, self.index, most=most, seed=seed)
        else:
            chunks = self.index.retrieve(sentence, most=self.plan.chunks).chunks[: 4 * most]
            found = places_of_chunks(self.corpus, self.index, chunks)
            if self.plan.diverse:
                found = by_retrieval(self.corpus, found, sentence)
        return without_leaks(self.corpus, found, Leaks(pair), self._window, most=most)

    def _context(self, place: int) -> Context:
        return self.corpus.context(place, *self._window)

    @property
    def _window(self) -> Window:
        return Window(self.plan.left, self.plan.right)


def weights_given(plan: ContextScoresPlan, terms: Sequence[str]) -> Weights:
    """The plan's weights; 0 for terms that the model cannot give."""
    return plan.weights.without(*(term for term in TERMS if term not in terms))
