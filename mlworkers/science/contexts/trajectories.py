"""Contexts without a corpus: what a causal model writes after a sentence (Liu et al. 2024, arXiv:2310.18348).

Two sentences are similar if the same continuations follow them with like probabilities. The continuations of both
sentences of a pair are its contexts; a context's entry is the mean log-probability of a token of the continuation after
the sentence, the term of λ4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import torch

from curation.files.progress import Report
from mlworkers.science.contexts.asking import Questioner
from mlworkers.science.contexts.corpus import Context
from mlworkers.science.contexts.gaps import LeftToRight, Question
from mlworkers.science.contexts.language_model import ContextModel
from mlworkers.science.contexts.pair_scoring import Pair, background_beside, pair_contexts, with_refused
from mlworkers.science.contexts.pair_terms import PairContexts
from mlworkers.science.contexts.scores_plan import ContextScoresPlan
from mlworkers.science.contexts.selection import Leaks
from mlworkers.science.contexts.similarity import TERMS
from mlworkers.science.pretrained.sources import ModelError


@dataclass(frozen=True)
class TrajectoryScorer:
    """Samples and scores the contexts of pairs. background: sentences of the dataset, `pair_scoring.SPARE` more than
    the plan's.
    """

    model: ContextModel
    plan: ContextScoresPlan
    background: Sequence[str]
    _known: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.model.asking, LeftToRight):
            raise ModelError(
                "Trajectories are written by a causal model, and this one fills gaps; choose a causal model, such as "
                "gpt2."
            )

    def pairs(self, pairs: Sequence[Pair], questioner: Questioner, report: Report) -> list[PairContexts]:
        """The contexts of each pair. report counts pairs."""
        fitting = [all(map(self.model.fits, pair)) for pair in pairs]
        chosen = []
        for number, pair in enumerate(pairs):
            if fitting[number]:
                # The continuations of the first sentence, then those of the second; none holds a sentence of the pair.
                leaks = Leaks(pair)
                texts = [
                    (text, bool(second))
                    for second, sentence in enumerate(pair)
                    for text in self._continuations(sentence)
                    if not leaks.in_text(text)
                ]
                chosen.append((pair, texts))
            report(number // 2, len(pairs), "Writing continuations")
        asked = [
            # λ4: log p(continuation | sentence) per token; nothing is before the sentence.
            Question(sentence, Context((), (text,)))
            for pair, texts in chosen
            for text, _second in texts
            for sentence in (*pair, *self._background(pair))
        ]
        half = len(pairs) // 2

        def told(done: int, total: int, message: str) -> None:
            report(half + done * (len(pairs) - half) // max(total, 1), len(pairs), message)

        terms = questioner.terms(asked, report=told)
        found, start = [], 0
        for pair, texts in chosen:
            # Two sentences and those of the background.
            width = 2 + len(self._background(pair))
            # The terms of one pair are (texts, 2 + background, 4): both sentences, then the others.
            own = terms[start : start + len(texts) * width].reshape(-1, width, len(TERMS))
            start += len(texts) * width
            seconds = [second for _text, second in texts]
            places = list(range(len(texts)))  # no places of a corpus: numbers of the texts
            found.append(pair_contexts(places, seconds, own, [text for text, _second in texts]))
        return with_refused(found, fitting)

    def _background(self, pair: Pair) -> list[str]:
        return background_beside(pair, self.background, most=self.plan.background)

    def _continuations(self, sentence: str) -> list[str]:
        if sentence not in self._known:
            # Once for each sentence: a sentence in several pairs has the same contexts in all of them.
            self._known[sentence] = continuations(
                self.model,
                sentence,
                count=self.plan.contexts,
                tokens=self.plan.trajectory_tokens,
                seed=self.plan.seed,
            )
        return self._known[sentence]


@torch.inference_mode()
def continuations(model: ContextModel, sentence: str, *, count: int, tokens: int, seed: int) -> list[str]:
    """At most `count` texts that a causal model writes after a sentence, sampled from its whole distribution, each of
    at most so many tokens. They follow from model, sentence and seed alone. Empty ones, and one that was written
    before, are left out.
    """
    asking = model.asking
    starts = asking.starts if isinstance(asking, LeftToRight) else ()
    given = [*starts, *model.tokens(sentence)]  # (1, t): each continuation begins after these
    read = torch.tensor([given], device=model.compute.device)
    # A stream for each sentence: its continuations do not depend on which pairs it is in.
    told = blake2b(f"{seed} {sentence}".encode(), digest_size=8).digest()
    untyped: Any = model.model

    def written(rows: int) -> list[list[int]]:
        with torch.random.fork_rng([read.device] if read.device.type == "cuda" else []):
            # The seed has 63 bits of the hash, and the generator's state is restored afterwards.
            torch.manual_seed(int.from_bytes(told, "big") >> 1)
            parts = (
                untyped.generate(
                    input_ids=read,
                    attention_mask=torch.ones_like(read),
                    do_sample=True,
                    # No truncation: the texts are then a sample of p(text | sentence) itself, up to the most tokens.
                    top_k=0,
                    top_p=1.0,
                    temperature=1.0,
                    num_return_sequences=min(rows, count - first),
                    max_new_tokens=tokens,
                    pad_token_id=model.pad,
                )
                for first in range(0, count, rows)
            )
            return [row for part in parts for row in part.tolist()]

    # White space is made even, so that continuations which differ in it alone are one context.
    texts = (
        " ".join(str(model.tokenizer.decode(row[len(given) :], skip_special_tokens=True)).split())
        for row in model.fitting.within(written, count)
    )
    # Frequent continuations count once: the cosine weighs contexts, not how often they were drawn.
    return list(dict.fromkeys(text for text in texts if text))
