"""Wherever a model computes, memory that runs short makes batches smaller and changes no result."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from curation.files.progress import silent
from mlworkers.science.contexts.corpus import Context
from mlworkers.science.contexts.discriminative import DiscriminativeModel, Fit, lstm_vectors, network_made
from mlworkers.science.contexts.discriminative_plan import DiscriminativePlan
from mlworkers.science.contexts.gaps import Form, Question
from mlworkers.science.contexts.trajectories import continuations
from mlworkers.science.encoders.crossing import cross_scores
from mlworkers.science.encoders.encoding import encode
from mlworkers.science.encoders.scorers import token_vectors
from mlworkers.science.encoders.text_classifier import load_saved
from mlworkers.science.judges.writing import log_probabilities
from mlworkers.science.paraphrasing.decoding import Decoding, Request, paraphrases_decoded
from mlworkers.science.paraphrasing.paraphraser import Target, paraphraser_initialised
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.paraphraser_training import dev_loss
from mlworkers.science.paraphrasing.perplexity import surprise_of
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.paraphrasing.translation import ModelTranslator, Sentence, language_read
from mlworkers.science.pretrained.compute import Fitting, TooLittleMemory, choose_compute
from mlworkers.science.pretrained.cross_encoder import load_cross_encoder
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.realism.fine_tuning import FineTuned
from mlworkers.science.training.writing import TokenPair
from tests.ml.contexts.models import bart, gpt2
from tests.ml.contexts.small_corpus import corpus_of_stories
from tests.ml.tiny import WORDS, tiny_cross_encoder, tiny_encoder
from tests.ml.tiny_generator import tiny_generator
from tests.ml.tiny_translator import TEXTS, tiny_marian

COMPUTE = choose_compute("cpu")
FITS = 2  # rows
SENTENCES = [" ".join(row) for row in np.random.default_rng(3).choice(WORDS, (11, 4)).tolist()]
OTHERS = SENTENCES[::-1]


class Work(NamedTuple):
    """module: what computes. values: what it gives."""

    module: nn.Module
    values: Callable[[], Any]


def rows_of(arguments: Any) -> int:
    """Of the first tensor of two dimensions that a forward pass is given."""
    if isinstance(arguments, torch.Tensor):
        return len(arguments) if arguments.ndim > 1 else 0
    within = (
        arguments.values()
        if isinstance(arguments, Mapping)
        else arguments
        if isinstance(arguments, tuple)
        else ()
    )
    return next((rows for rows in map(rows_of, within) if rows), 0)


@contextmanager
def cramped(module: nn.Module, most: int) -> Iterator[list[int]]:
    """A module that has memory for so many rows. Gives the sizes that were too large."""
    refused: list[int] = []

    def check(_module: nn.Module, arguments: Any, named: Any) -> None:
        rows = rows_of((*arguments, *named.values()))
        if rows > most:
            refused.append(rows)
            raise torch.OutOfMemoryError("CUDA out of memory")

    hook = module.register_forward_pre_hook(check, with_kwargs=True)
    try:
        yield refused
    finally:
        hook.remove()


def encoding(folder) -> Work:
    encoder = load_encoder(tiny_encoder(folder), COMPUTE)
    return Work(encoder, lambda: encode(encoder, SENTENCES, COMPUTE))


def vectors_of_tokens(folder) -> Work:
    encoder = load_encoder(tiny_encoder(folder), COMPUTE)
    return Work(encoder[0], lambda: np.concatenate(token_vectors(encoder, SENTENCES, COMPUTE)))


def cross_encoder(folder) -> Work:
    model = load_cross_encoder(tiny_cross_encoder(folder), COMPUTE)
    return Work(model, lambda: cross_scores(model, SENTENCES, OTHERS, report=silent))


def text_classifier(folder) -> Work:
    model = load_saved(tiny_cross_encoder(folder), longest=24, compute=COMPUTE)
    return Work(model.transformer, lambda: model.predicted(model.tokens(SENTENCES, OTHERS)))


def fine_tuned_realism(folder) -> Work:
    model = FineTuned(load_encoder(tiny_encoder(folder), COMPUTE))
    return Work(model.encoder[0], lambda: model.logits(SENTENCES, COMPUTE))


def perplexity(_folder) -> Work:
    generator = tiny_generator()
    return Work(generator.model, lambda: np.stack(surprise_of(generator, SENTENCES, report=silent)))


def contexts_left_to_right(_folder) -> Work:
    model = gpt2()
    rows = [row for each in model.rows(_questions()) for row in each]
    return Work(model.model, lambda: model.values(rows))


def contexts_filled_in(_folder) -> Work:
    model = bart(Form.GAP)
    rows = [row for each in model.rows(_questions()) for row in each]
    return Work(model.model, lambda: model.values(rows))


def discriminative_head(folder) -> Work:
    corpus, model = _discriminative(folder)
    fits = [Fit(sentence, place) for place, sentence in enumerate(SENTENCES)]
    return Work(model.network.head, lambda: model.logits(corpus, fits))


def discriminative_reader(folder) -> Work:
    _corpus, model = _discriminative(folder)
    return Work(model.network.reader, lambda: model.vectors(SENTENCES).detach().numpy())


def paraphrases(_folder) -> Work:
    paraphraser = _paraphraser()
    requests = [Request(text, Target("SIM95", "BLEU40")) for text in SENTENCES]
    return Work(paraphraser.model, lambda: paraphrases_decoded(paraphraser, requests, Decoding(1)))


def loss_of_a_paraphraser(_folder) -> Work:
    paraphraser = _paraphraser()
    pairs = [TokenPair([5, 6, 7, 8], [6, 7, 8, 9, 10])] * 9
    return Work(paraphraser.model, lambda: dev_loss(paraphraser, pairs))


def translation(folder) -> Work:
    translator = ModelTranslator(language_read(tiny_marian(folder)), COMPUTE)
    sentences = [Sentence(text, "there", text) for text in TEXTS["en"]]
    return Work(translator._model, lambda: translator.translated(sentences, Decoding(1, 1), seed=1))


def judge(_folder) -> Work:
    generator = tiny_generator()
    answers = [[5, number] for number in range(6, 15)]
    fitting = Fitting()
    values = lambda: torch.cat(  # noqa: E731
        fitting.parts(lambda part: log_probabilities(generator, [5, 6, 7], part), answers)
    ).numpy()
    return Work(generator.model, values)


PLACES = [
    encoding, vectors_of_tokens, cross_encoder, text_classifier, fine_tuned_realism, perplexity, contexts_left_to_right,
    contexts_filled_in, discriminative_head, discriminative_reader, paraphrases, loss_of_a_paraphraser, translation,
    judge,
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_fewer_rows_at_a_time_give_the_same_result(place, tmp_path) -> None:
    work = place(tmp_path)
    expected = work.values()

    with cramped(work.module, FITS) as refused:
        found = work.values()

    assert refused, "memory never ran short"
    if isinstance(expected, np.ndarray | float):
        assert np.allclose(found, expected, atol=1e-5, equal_nan=True)
    else:
        assert found == expected


@pytest.mark.parametrize(
    "place", [perplexity, cross_encoder, paraphrases, judge], ids=lambda place: place.__name__
)
def test_where_not_one_row_fits_it_is_one_sentence(place, tmp_path) -> None:
    work = place(tmp_path)

    with cramped(work.module, 0), pytest.raises(TooLittleMemory, match="Not even one row at a time fits"):
        work.values()


def test_what_fitted_is_remembered_for_the_batches_after_it() -> None:
    fitting, sizes = Fitting(), []

    def compute(rows) -> np.ndarray:
        sizes.append(len(rows))
        if len(rows) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return np.asarray(rows)

    for _batch in range(3):
        assert fitting.values(compute, range(12)).tolist() == list(range(12))

    assert sizes == [12, 6, *[3] * 4, *[3] * 8]  # a quarter fits, and nothing larger is tried again


def test_continuations_are_written_fewer_at_a_time() -> None:
    model = gpt2()

    def values() -> list[str]:
        return continuations(model, "The dog came.", count=6, tokens=5, seed=3)

    with cramped(model.model, FITS) as refused:
        found = values()

    assert refused == [6, 3]
    assert 1 < len(found) <= 6
    assert found == values()  # the model remembers what fits


def _questions() -> list[Question]:
    context = Context(("The cat came.",), ("It was night.",))
    return [
        Question(text, context) for text in ("The dog slept.", "A cat likes the garden.", "Dog!", "It came.")
    ]


def _discriminative(folder) -> tuple[Any, DiscriminativeModel]:
    plan = DiscriminativePlan(dataset="scenes", corpus=1, hidden=8, embedding=8, vocabulary=400)
    tokenizer = gpt2().tokenizer
    torch.manual_seed(4)
    network = network_made(plan, size=0, vocabulary=len(tokenizer)).eval()
    vectors = lstm_vectors(network, tokenizer, COMPUTE, longest=20)
    return corpus_of_stories(folder, stories=4), DiscriminativeModel(network, vectors, COMPUTE)


def _paraphraser() -> Any:
    plan = ParaphraserPlan(dataset="news", selection=1, layers=1, width=32, vocabulary=300, context=64)
    return paraphraser_initialised(SENTENCES, TagBounds(), plan, COMPUTE)
