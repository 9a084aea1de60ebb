"""Background sentences, whose mean is subtracted from what the sentences of a pair get in a context."""

from pathlib import Path

from curation.files.documents import Document
from curation.pairs.text import near_copy_key
from mlworkers.science.contexts.corpus import Corpus, corpus_write
from mlworkers.science.contexts.gaps import Form
from mlworkers.science.contexts.pair_scoring import SPARE, Pair, background_beside, background_of
from mlworkers.science.contexts.scores_plan import ContextScoresPlan
from tests.ml.contexts.models import bart


def test_a_sentence_is_not_subtracted_from_itself() -> None:
    pair = Pair("The dog ran.", "A cat sat.")
    background = ["the dog  ran", "One came.", "A cat sat.", "Two came.", "Three came."]

    assert background_beside(pair, background, most=2) == ["One came.", "Two came."]


def test_no_two_background_sentences_are_near_copies_and_two_are_to_spare(tmp_path: Path) -> None:
    texts = [*(["Yes."] * 40), "yes", "The dog ran.", "It was late.", "A cat sat down.", "The fox ate it."]
    corpus_write([Document("one", [texts], [])], tmp_path)
    plan = ContextScoresPlan(dataset="", model="", corpus=1, background=2)

    found = background_of(Corpus(tmp_path), bart(Form.GAP), plan)

    assert len(found) == 2 + SPARE
    assert len({near_copy_key(text) for text in found}) == len(found)
    assert set(found) <= set(texts)
