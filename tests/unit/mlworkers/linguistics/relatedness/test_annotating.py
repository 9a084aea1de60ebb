"""Parts of speech, subjects and objects, on documents whose tags and labels are written by hand."""

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from mlworkers.science.linguistics.relatedness.annotating import (
    annotated,
    annotated_simply,
    pipeline_load,
    vectors_of_pipeline,
)
from mlworkers.science.linguistics.relatedness.features import pair_features
from mlworkers.science.linguistics.relatedness.names import ALL, DICE, OBJECTS, SUBJECTS
from mlworkers.science.linguistics.relatedness.plan import RelatednessError
from mlworkers.science.linguistics.relatedness.word_vectors import VectorTable

# Word, part of speech, label, and the place of the head.
ACTIVE = [
    ("Ann", "PROPN", "nsubj", 3), ("and", "CCONJ", "cc", 0), ("Bob", "PROPN", "conj", 0), ("eat", "VERB", "ROOT", 3),
    ("red", "ADJ", "amod", 5), ("apples", "NOUN", "dobj", 3), (".", "PUNCT", "punct", 3),
]  # fmt: skip
PASSIVE = [
    ("Apples", "NOUN", "nsubjpass", 2), ("are", "AUX", "auxpass", 2), ("eaten", "VERB", "ROOT", 2),
    ("by", "ADP", "agent", 2), ("Bob", "PROPN", "pobj", 3),
]  # fmt: skip
SENTENCES = [" ".join(word for word, *_rest in sentence) for sentence in (ACTIVE, PASSIVE)]


@Language.component("semblance_tests_by_hand")
def by_hand(document: Doc) -> Doc:
    rows = {"Ann": ACTIVE, "Apples": PASSIVE}[document[0].text]
    for token, (_word, tag, label, head) in zip(document, rows, strict=True):
        token.pos_, token.dep_, token.head = tag, label, document[head]
    return document


@pytest.fixture
def pipeline():
    made = spacy.blank("en")
    made.add_pipe("semblance_tests_by_hand")
    return made


def test_words_are_sorted_by_part_of_speech_and_by_group(pipeline) -> None:
    found = annotated(pipeline, SENTENCES).words

    assert found[ALL] == [["Ann", "and", "Bob", "eat", "red", "apples"], SENTENCES[1].split()]
    assert found["PROPN"] == [["Ann", "Bob"], ["Bob"]]
    assert found["noun group"] == [["Ann", "Bob", "apples"], ["Apples", "Bob"]]
    assert found["verb group"] == [["eat"], ["are", "eaten"]]
    assert found["adjective group"] == [["red"], ["by"]]
    assert "PUNCT" not in found


def test_subjects_and_objects_go_by_labels_and_what_is_joined_to_them(pipeline) -> None:
    found = annotated(pipeline, SENTENCES).words

    assert found[SUBJECTS] == [["Ann", "Bob"], ["Apples", "by"]]
    assert found[OBJECTS] == [["apples"], ["Bob"]], "the one who acts in a passive is its object too"


def test_a_pipeline_without_tags_says_what_was_left_out() -> None:
    found = annotated(spacy.blank("en"), ["A cat sits."])

    assert set(found.words) == {ALL}
    assert "no parts of speech" in found.warnings[0]
    assert "no dependencies" in found.warnings[1]


def test_a_pipeline_that_is_not_installed_says_what_to_do() -> None:
    with pytest.raises(RelatednessError, match="There is no spaCy pipeline “xx_none”"):
        pipeline_load("xx_none")


def test_a_pipeline_in_a_folder_is_loaded_with_its_vectors(tmp_path) -> None:
    made = spacy.blank("en")
    made.vocab.set_vector("cat", np.array([1, 2], dtype=np.float32))
    made.to_disk(tmp_path / "small")

    loaded = pipeline_load(str(tmp_path / "small"))

    assert vectors_of_pipeline(loaded, "small").of_word("Cat").tolist() == [[1, 2]]
    assert vectors_of_pipeline(loaded, "small").of_word("dog").shape == (0, 2)


def test_a_pipeline_without_vectors_says_what_to_give() -> None:
    with pytest.raises(RelatednessError, match="has no word vectors"):
        vectors_of_pipeline(spacy.blank("en"), "small")


def test_a_rare_part_of_speech_and_unknown_words_are_left_out_with_a_count() -> None:
    sentences = ["cat", "dog", "unknown"]
    annotation = annotated_simply(sentences)
    nouns = [["cat"], ["dog"], ["unknown"]]
    annotation = type(annotation)({**annotation.words, "NOUN": nouns, "VERB": [["cat"], [], []]})
    places = (np.array([0] * 30), np.array([1] * 25 + [2] * 5))
    vectors = VectorTable(2, {"cat": np.array([3.0, 4.0]), "dog": np.array([4.0, 3.0])})

    features = pair_features(
        ["cat"] * 30, ["dog"] * 25 + ["unknown"] * 5, annotation, places, vectors, least_share=0.1
    )

    assert [feature.name for feature in features] == [DICE, ALL, "NOUN"]
    assert features[1].without_vector == 5
    assert features[2].values[0] == pytest.approx(24 / 25)
