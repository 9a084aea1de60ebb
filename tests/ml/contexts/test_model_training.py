"""A language model that is trained on a corpus itself: what it learns from, and that it learns."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from curation.files.documents import Document
from mlworkers.science.contexts.asking import Questioner
from mlworkers.science.contexts.corpus import Context, Corpus, CorpusError, corpus_write
from mlworkers.science.contexts.gaps import Form, Question
from mlworkers.science.contexts.language_model import load_context_model
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.model_training import context_model_trained, directions_measured
from mlworkers.science.contexts.places import places_split
from tests.ml.contexts.models import COMPUTE, bart
from tests.ml.contexts.small_corpus import corpus_of_stories

PLAN = ContextModelPlan(
    dataset="scenes", corpus=1, steps=150, held_out=0.1, layers=1, width=64, vocabulary=400, part_tokens=32
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return corpus_of_stories(tmp_path_factory.mktemp("corpus"))


@pytest.mark.exhaustive
def test_a_model_beats_frequencies_in_all_directions_and_can_be_loaded(
    corpus: Corpus, tmp_path: Path
) -> None:
    trained = context_model_trained(corpus, PLAN, COMPUTE, folder=tmp_path)

    assert trained.informs
    assert set(trained.directions) == {"sentence", "left", "right"}
    for direction in trained.directions.values():
        assert direction.model < direction.unigram - 0.5
    model = load_context_model(tmp_path, COMPUTE, part_tokens=32)
    questions = [
        Question(f"Soon the {hero} was hungry.", corpus.context(8, 2, 2)) for hero in ("dog", "fox", "bird")
    ]
    assert model.asking.form is Form.GAP  # type: ignore[union-attr]
    assert np.isfinite(Questioner(model).terms(questions)[:, 1:]).all()


@pytest.mark.exhaustive
def test_a_model_with_random_weights_does_not_beat_frequencies(corpus: Corpus, tmp_path: Path) -> None:
    trained = context_model_trained(corpus, replace(PLAN, steps=1), COMPUTE, folder=tmp_path)

    assert not trained.informs


@pytest.mark.parametrize("stories", [1, 2, 60])
def test_no_context_of_a_held_out_place_has_a_sentence_of_the_others(tmp_path: Path, stories: int) -> None:
    texts = [[f"Story {story}, sentence {number}." for number in range(40)] for story in range(stories)]
    corpus_write([Document(f"d{number}", [text], []) for number, text in enumerate(texts)], tmp_path)
    corpus = Corpus(tmp_path)

    split = places_split(corpus, replace(PLAN, places=0))

    def around(places: np.ndarray) -> set[int]:
        return {number for place in places.tolist() for number in range(*corpus.bounds(place, 2, 2))}

    assert len(split.held_out)
    assert len(split.train) > len(split.held_out)
    assert not around(split.train) & around(split.held_out)


def test_the_unigram_model_of_a_worked_corpus() -> None:
    model = bart(Form.GAP)
    question = Question("Dog.", Context(("It came.",), ("It left.",)))
    rows = model.rows([question])[0]
    written = rows[0].writes[0]

    found = directions_measured(model, rows, [question])["sentence"]

    vocabulary, distinct = len(model.tokenizer), len(set(written))
    assert distinct == len(written)
    assert found.tokens == len(written)
    assert found.unigram == pytest.approx(np.log((vocabulary + len(written)) / 2))  # each was seen once
    assert found.model == pytest.approx(-Questioner(model).terms([question])[0, 1])


def test_a_corpus_whose_sentences_are_all_too_long_is_refused(tmp_path: Path) -> None:
    text = [f"{'word ' * 300}{number}." for number in range(20)]
    corpus_write([Document("d", [text], [])], tmp_path)

    with pytest.raises(CorpusError, match="have sentences of at most 32 tokens; choose a longer part"):
        context_model_trained(Corpus(tmp_path), PLAN, COMPUTE, folder=tmp_path)
