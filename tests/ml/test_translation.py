"""Translation by FSMT and Marian models with random weights, by transformers and by CTranslate2."""

import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer

from curation.pairs.holding_out import HeldOut
from mlworkers.science.paraphrasing.paraphraser import SourceError
from mlworkers.science.paraphrasing.round_trip_plan import RoundTripPlan
from mlworkers.science.paraphrasing.round_trips import Candidate, candidates_judged, round_trips
from mlworkers.science.paraphrasing.translation import (
    Drawn,
    Language,
    ModelTranslator,
    Sentence,
    Translator,
    check_circle,
    language_read,
)
from mlworkers.science.paraphrasing.translation_int8 import Int8Translator, converted
from mlworkers.science.paraphrasing.writing_plan import Decoding, Sampling, Search
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.sources import ModelError
from tests.ml.tiny_translator import TEXTS, tiny_fsmt, tiny_marian

COMPUTE = choose_compute("cpu")
SOURCES = [*TEXTS["en"][::3], "The dog.", "The dog runs on the mat on the grass."]
SENTENCES = [Sentence(text, "there", text) for text in SOURCES]
MAKERS = {"fsmt": tiny_fsmt, "marian": tiny_marian}
WAYS = {"sampling": Sampling(20, 3.0), "beam": Decoding(5, 2), "greedy": Decoding(1, 1, 0.0, 3.0)}


@pytest.fixture(scope="module", params=list(MAKERS))
def language(request, tmp_path_factory) -> Language:
    return language_read(MAKERS[request.param](tmp_path_factory.mktemp(request.param)))


@pytest.fixture(scope="module")
def translator(language) -> ModelTranslator:
    return ModelTranslator(language, COMPUTE)


@pytest.fixture(scope="module")
def marian(tmp_path_factory) -> Path:
    return tiny_marian(tmp_path_factory.mktemp("one"))


def test_a_model_says_its_languages_and_its_context(language) -> None:
    assert (language.source, language.target, language.context) == ("en", "de", 64)


def test_tokens_are_those_of_the_models_own_tokenizer(language) -> None:
    tokenizer = AutoTokenizer.from_pretrained(language.folder)

    for text in SOURCES:
        read = tokenizer(text)["input_ids"]
        assert [language.tokenizer.convert_tokens_to_ids(token) for token in language.tokens(text)] == read


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_translation_does_not_depend_on_what_is_translated_beside_it(translator, way) -> None:
    together = translator.translated(SENTENCES, way, seed=1)

    for sentence, rows in zip(SENTENCES, together, strict=True):
        assert translator.translated([sentence], way, seed=1) == [rows]


@pytest.mark.parametrize("way", [WAYS["beam"], WAYS["greedy"]], ids=["beam", "greedy"])
def test_both_engines_find_the_same_translations(language, translator, tmp_path, way) -> None:
    whole = Int8Translator(language, converted(language, tmp_path / "whole", quantization=None))

    assert whole.translated(SENTENCES, way, seed=1) == translator.translated(SENTENCES, way, seed=1)


def test_a_search_finds_what_generate_finds_for_one_sentence(language, translator) -> None:
    tokenizer, model = language.tokenizer, translator._model
    for sentence in SENTENCES[:3]:
        read = tokenizer(sentence.text, return_tensors="pt")
        content = read["input_ids"].shape[1] - 1
        written = model.generate(
            **read, num_beams=5, early_stopping=True, max_length=None,
            min_new_tokens=int(0.75 * content), max_new_tokens=int(1.5 * content) + 1,
        )  # fmt: skip

        [[found]] = translator.translated([sentence], Decoding(5), seed=1)

        assert found.text == " ".join(tokenizer.decode(written[0], skip_special_tokens=True).split())


def test_the_length_is_bounded_by_the_source_without_its_mark(language) -> None:
    # The context of 64 has room for 62 beside the marks at both ends.
    assert language.bounds(9, Decoding(5, 1, 0.75, 1.5)) == (6, 13)
    assert language.bounds(50, Decoding(5, 1, 0.75, 1.5)) == (37, 62)
    assert language.bounds(9, Sampling(20, 3.0)) == (1, 28)


@pytest.mark.parametrize("engine", ["transformers", "CTranslate2"])
def test_a_seed_gives_the_same_samples_and_another_seed_others(
    language, translator, tmp_path, engine
) -> None:
    used: Translator = translator
    if engine == "CTranslate2":
        used = Int8Translator(language, converted(language, tmp_path / "int8"), threads=2)
    way = WAYS["sampling"]

    first, again, other = (used.translated(SENTENCES, way, seed=seed) for seed in (1, 1, 2))

    assert first == again
    assert sum(one != two for one, two in zip(first, other, strict=True)) > len(SOURCES) // 2


def test_a_token_is_drawn_from_the_k_likeliest_at_the_temperature() -> None:
    logits = torch.tensor([[3.0, 1.0, 2.0, -1.0, 0.5]])
    rows, way = 40_000, Sampling(3, 2.0)
    noise = torch.from_numpy(np.random.default_rng(3).random((rows, 1)))

    scores = Drawn(way, noise)(torch.empty(rows, 0, dtype=torch.long), logits.expand(rows, -1))

    drawn = Counter(scores.argmax(dim=1).tolist())
    # By hand: exp(3/2), exp(2/2) and exp(1/2) are 4.482, 2.718 and 1.649; their sum is 8.849.
    expected = {0: 4.482 / 8.849, 2: 2.718 / 8.849, 1: 1.649 / 8.849}
    assert set(drawn) == set(expected)
    for token, share in expected.items():
        assert drawn[token] / rows == pytest.approx(share, abs=4 * (share * (1 - share) / rows) ** 0.5)


def test_k_of_one_is_the_likeliest_token_at_every_step(language, translator) -> None:
    sampled = translator.translated(SENTENCES[:3], Sampling(1, 4.0), seed=1)

    for sentence, [one] in zip(SENTENCES[:3], sampled, strict=True):
        read = language.tokenizer(sentence.text, return_tensors="pt")
        most = min(2 * (read["input_ids"].shape[1] - 1) + 10, 62)
        written = translator._model.generate(**read, num_beams=1, max_length=None, max_new_tokens=most + 1)
        assert one.text == language.text_of(written[0].tolist())


def test_an_empty_sentence_and_one_beyond_the_context_get_no_translation(translator) -> None:
    asked = [Sentence(text, "there", text) for text in ("", "The dog " * 60, "The dog runs.")]

    empty, long, usual = translator.translated(asked, Decoding(2), seed=1)

    assert (empty, long) == ([], [])
    assert len(usual) == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("  ", "The sentence is empty; a round trip needs a sentence of two words or more."),
        ("Dogs", "“Dogs” has one word; a round trip needs a sentence of two words or more."),
        ("The dog " * 60, "tokens; the model takes 64. Shorten it."),
    ],
)
def test_what_cannot_be_translated_gets_one_sentence(language, text, sentence) -> None:
    with pytest.raises(SourceError, match=sentence):
        language.check_source(text)


def test_models_whose_languages_do_not_close_a_circle_are_refused(marian, tmp_path) -> None:
    there = language_read(marian)
    same = language_read(tiny_fsmt(tmp_path / "same"))
    closing = language_read(tiny_fsmt(tmp_path / "closing", "de", "en"))

    with pytest.raises(
        ModelError, match="one translates en to de, the other en to de; name a model from de to en"
    ):
        check_circle(there, same)
    check_circle(there, closing)


def test_a_model_of_another_kind_is_refused(tmp_path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bart"}))
    save_file({"weight": torch.zeros(1)}, tmp_path / "model.safetensors")

    with pytest.raises(ModelError, match="is of the kind bart; name an FSMT or a Marian model"):
        language_read(tmp_path)


def changed(folder: Path, into: Path, file: str, **values: object) -> Path:
    shutil.copytree(folder, into)
    path = into / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
    return into


def test_a_model_that_does_not_say_its_languages_is_refused(marian, tmp_path) -> None:
    folder = changed(marian, tmp_path / "silent", "tokenizer_config.json", source_lang=None)

    with pytest.raises(ModelError, match="does not say its languages; give source_lang and target_lang"):
        language_read(folder)


def test_a_model_of_several_target_languages_is_refused(marian, tmp_path) -> None:
    size = len(json.loads((marian / "vocab.json").read_text()))
    folder = changed(marian, tmp_path / "several", "vocab.json", **{">>fra<<": size, ">>ita<<": size + 1})

    with pytest.raises(
        ModelError, match="translates into 2 languages; name one that translates into a single"
    ):
        language_read(folder)


def test_pickled_weights_are_not_loaded(marian, tmp_path) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(marian, folder)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")

    with pytest.raises(ModelError, match="holds no safetensors weights"):
        language_read(folder)


@pytest.mark.exhaustive
def test_every_sentence_goes_every_way_there_and_back(language, translator, tmp_path) -> None:
    back = ModelTranslator(language_read(MAKERS[language.kind](tmp_path, "de", "en", seed=6)), COMPUTE)
    trips = RoundTripPlan(dataset="news", forward="a", backward="b").trips
    texts = SOURCES[:2]

    found = round_trips(translator, back, texts, trips, seed=5)

    assert [(one.source, one.trip) for one in found] == [
        (place, trip.name) for place in range(2) for trip in trips
    ]
    for one in found:  # each is the translation back of its own translation there
        trip = next(trip for trip in trips if trip.name == one.trip)
        [[there]] = translator.translated(
            [Sentence(texts[one.source], f"there {trip.forward}", texts[one.source])], trip.forward, seed=5
        )
        assert one.pivot == there.text
    # The same ways there: two candidates of one pivot, drawn with numbers of their own.
    assert found[0].pivot == found[1].pivot != found[2].pivot
    assert len({one.text for one in found[:4]}) > 1


def test_the_best_of_a_beam_come_in_their_order(language, translator, tmp_path) -> None:
    back = ModelTranslator(language_read(MAKERS[language.kind](tmp_path, "de", "en", seed=6)), COMPUTE)
    plan = RoundTripPlan(dataset="news", forward="a", backward="b", search=Search.BEAM, best=3)

    found = round_trips(translator, back, SOURCES[:2], plan.trips, seed=5)

    assert [(one.source, one.rank) for one in found] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert {one.trip for one in found} == {"round trip"}


def test_what_becomes_of_candidates_is_said_with_its_reason() -> None:
    texts = ["The dog runs home.", "A cat sits there."]

    def candidate(source: int, text: str, trip: str = "one") -> Candidate:
        return Candidate(source, trip, 0, "…", text, False)

    rows = candidates_judged(
        [
            candidate(0, "A dog walks home."),
            candidate(0, "a dog walks home", "two"),
            candidate(0, "The dog runs home!"),
            candidate(0, ""),
            candidate(1, "A dog walks home."),
            candidate(1, "In 1999 Bello sat there."),
            candidate(1, "A held-out sentence."),
        ],
        texts,
        near_copy=1.0,
        held_out=HeldOut.of(["A held-out sentence."]),
    )

    assert [(row.number, row.dropped) for row in rows] == [
        (1, ""),
        (1, "already written for the source"),
        (None, "copy of the source"),
        (None, "empty"),
        (2, ""),
        (3, ""),
        (None, "stands in held-out pairs"),
    ]
    assert (rows[5].numbers_changed, rows[5].names_changed) == (True, True)
