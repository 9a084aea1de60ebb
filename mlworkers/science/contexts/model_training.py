"""A small encoder-decoder that learns the three directions of section 3.2.2 (Sun et al. 2022) from a corpus itself.

Its weights are random at first. One model learns all three: where the gap is says what is asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import BartConfig, BartForConditionalGeneration

from curation.files.progress import Report, silent
from mlworkers.plans.fields import HEAD_WIDTH
from mlworkers.science.contexts.asking import batches_of
from mlworkers.science.contexts.corpus import Corpus, CorpusError, Places
from mlworkers.science.contexts.gaps import Form, Question, Row
from mlworkers.science.contexts.language_model import MASK, ContextModel, about_save, context_model_of
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.places import places_split
from mlworkers.science.pretrained.compute import Compute
from mlworkers.science.pretrained.learned_tokenizer import tokenizer_learned
from mlworkers.science.pretrained.loading import quiet_transformers
from mlworkers.science.training.checkpoints import checkpoints_of
from mlworkers.science.training.loop import CurvePoint, train
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import BatchesOfLikeLength
from mlworkers.science.training.writing import PairWritingLearner, TokenPair

CHECKPOINT_STEPS = 100
CLIP = 1.0
TOKENIZER_SENTENCES = 50_000
# In this order their numbers are those that BART expects: 0, 1 and 2.
_SPECIAL = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "mask_token": MASK}
_FEED_FORWARD = 4  # times the width
_MARKS = 4  # tokens of the input beside its parts: begin, gap, end, and one to spare


@dataclass(frozen=True)
class Direction:
    """Nats per token on held-out places, of the model and of the frequencies of tokens in what it learned from."""

    tokens: int
    model: float
    unigram: float

    @property
    def informs(self) -> bool:
        return self.model < self.unigram


@dataclass(frozen=True)
class TrainedContextModel:
    """directions: by the term of Eq. 3. too_long: places left out, because their sentence has too many tokens."""

    places: int
    held_out: int
    too_long: int
    steps: int
    parameters: int
    loss: float
    directions: Mapping[str, Direction]

    @property
    def informs(self) -> bool:
        """Whether the model is better than frequencies in all directions; otherwise its scores carry no information."""
        return all(direction.informs for direction in self.directions.values())


def context_model_trained(
    corpus: Corpus,
    plan: ContextModelPlan,
    compute: Compute,
    *,
    folder: Path,
    checkpoints: Path | None = None,
    report: Report = silent,
    note: Callable[[CurvePoint], object] = lambda point: None,
) -> TrainedContextModel:
    """Train a model, save it into `folder`, and compare it with frequencies on held-out places.

    On a processor the weights follow from corpus and plan alone (with as many threads), whether or not the training was
    stopped in between. Raises CorpusError where too little can be learned from, TrainingError, CheckpointError.
    """
    split = places_split(corpus, plan)
    some = split.train[:: max(1, len(split.train) // TOKENIZER_SENTENCES)]
    model = context_model_initialised([f" {corpus.text(place)}" for place in some.tolist()], plan, compute)
    fitting, short = _fitting(model, corpus, split.train, plan)
    held_out, held_short = _fitting(model, corpus, split.held_out, plan)
    if not fitting or not held_out:
        raise CorpusError(
            f"Of {len(split.train)} places to learn from and {len(split.held_out)} held-out ones, {len(fitting)} and "
            f"{len(held_out)} have sentences of at most {model.room} tokens; choose a longer part, or another corpus."
        )
    rows = [row for each in model.rows(fitting) for row in each]
    end = int(model.tokenizer.eos_token_id)
    # The model also learns the end of a gap; the nats below leave that token out, for both models.
    pairs = [TokenPair(list(row.read), [*row.writes[0], end]) for row in rows]
    kept = checkpoints_of(checkpoints, plan, pairs, every_steps=CHECKPOINT_STEPS)
    trained = train(
        PairWritingLearner(model.model, pairs, pad=model.pad),
        BatchesOfLikeLength(
            np.array([pair.longest for pair in pairs]),
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
    model.model.eval()
    with quiet_transformers():
        model.model.save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
    made = TrainedContextModel(
        places=len(fitting),
        held_out=len(held_out),
        too_long=short + held_short,
        steps=trained.steps,
        parameters=sum(weight.numel() for weight in model.model.parameters()),
        loss=trained.kept.loss,
        directions=directions_measured(model, rows, held_out),  # unigrams are counted in what was learned
    )
    about_save(folder, language=corpus.facts.language, informs=made.informs)
    return made


def _fitting(
    model: ContextModel, corpus: Corpus, places: Places, plan: ContextModelPlan
) -> tuple[list[Question], int]:
    """The places as questions; and how many are left out because their sentence is too long."""
    found = [
        Question(text, corpus.context(place, plan.left, plan.right))
        for place in places.tolist()
        if model.fits(text := corpus.text(place))
    ]
    return found, len(places) - len(found)


def context_model_initialised(texts: Sequence[str], plan: ContextModelPlan, compute: Compute) -> ContextModel:
    """A small BART with random weights, whose tokenizer is learned from the texts. Both follow from texts and plan."""
    context = 3 * plan.part_tokens + _MARKS  # left, sentence and right
    tokenizer = tokenizer_learned(
        texts, vocabulary=plan.vocabulary, longest=context, special=_SPECIAL, lower=True
    )
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=plan.width,
        encoder_layers=plan.layers,
        decoder_layers=plan.layers,
        encoder_attention_heads=plan.width // HEAD_WIDTH,
        decoder_attention_heads=plan.width // HEAD_WIDTH,
        encoder_ffn_dim=_FEED_FORWARD * plan.width,
        decoder_ffn_dim=_FEED_FORWARD * plan.width,
        max_position_embeddings=context,
        dropout=0.0,
        attention_dropout=0.0,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        decoder_start_token_id=tokenizer.eos_token_id,  # as in BART, whose decoder begins with </s>
        forced_eos_token_id=tokenizer.eos_token_id,
    )
    with torch.random.fork_rng(), quiet_transformers():
        torch.manual_seed(plan.seed)
        model: Any = BartForConditionalGeneration(config)
    return context_model_of(
        model.to(compute.device), tokenizer, Form.GAP, compute, part_tokens=plan.part_tokens
    )


def directions_measured(
    model: ContextModel, learned: Sequence[Row], held_out: Sequence[Question]
) -> dict[str, Direction]:
    """Nats per token of what is written at held-out places, by term: of the model, and of a unigram model, with one
    added to the count of every token of the vocabulary.
    """
    vocabulary = len(model.tokenizer)
    # Three rows for each place.
    asked = [(model.key(row), row) for each in model.rows(held_out) for row in each]
    values = {
        key: value
        for batch in batches_of(asked, tokens_per_batch=model.compute.tokens_per_batch)
        for (key, _row), value in zip(
            batch, model.values([row for _key, row in batch])[:, 0].tolist(), strict=True
        )
    }
    found = {}
    for term in model.terms:
        # Unigram model with add-one smoothing: p(v) = (1 + n_v) / (V + Σ_u n_u), so that no held-out token
        # has p = 0.
        counts = np.ones(vocabulary)
        for row in learned:
            if row.terms == (term,):
                np.add.at(counts, list(row.writes[0]), 1)  # add.at counts repeated tokens
        logs = np.log(counts / counts.sum())
        # Both models are compared on the same tokens, those that the term's rows write.
        rows = [(key, row.writes[0]) for key, row in asked if row.terms == (term,)]
        tokens = sum(len(written) for _key, written in rows)
        found[term] = Direction(
            tokens,
            # A value is a mean per token; times the length it is a sum, and the total is a mean over all
            # tokens.
            model=-sum(values[key] * len(written) for key, written in rows) / tokens,
            unigram=-sum(float(logs[list(written)].sum()) for _key, written in rows) / tokens,
        )
    return found
