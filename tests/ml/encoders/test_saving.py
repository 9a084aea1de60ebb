"""A trained encoder as others load it."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from curation.pairs.holding_out import HeldOut
from curation.pairs.text import earlier_near_copy_key, sentence_key
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.pre_fine_tuning.saving import card as card_of_classifier
from mlworkers.science.encoders.saving import About, card, encoder_save, seen_by, seen_save
from mlworkers.science.paraphrasing.card import card as card_of_paraphraser
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from tests.markup import HOSTILE, elements_in, html_of
from tests.ml.tiny import tiny_encoder

ABOUT = About(
    base="packaged:all-MiniLM-L6-v2",
    base_sha256="ab" * 32,
    plan={"epochs": 3, "weighting": "realism"},
    data={"dataset": "scenes", "snapshot": 4},
    licence="CC-BY-4.0",
)
FIRST = ["a dog runs", "the man plays with a ball", "the child sits"]
SECOND = ["the dog runs", "a woman plays", "a bird sings in the tree"]


@pytest.fixture(params=[True, False], ids=["normalised", "not normalised"])
def saved(request, tmp_path):
    encoder = load_encoder(tiny_encoder(tmp_path, normalise=request.param), choose_compute("cpu"))
    folder = tmp_path / "saved"
    folder.mkdir()
    encoder_save(encoder, folder, ABOUT, [*FIRST, "A dog  runs"])
    return encoder, folder


def test_sentence_transformers_loads_it_plainly_with_the_scores_we_compute(saved) -> None:
    encoder, folder = saved

    theirs = SentenceTransformer(str(folder), device="cpu")

    ours = pair_cosines(encoder, FIRST, SECOND, choose_compute("cpu")).values
    vectors = [theirs.encode(side, show_progress_bar=False) for side in (FIRST, SECOND)]
    assert np.allclose(theirs.similarity_pairwise(*vectors).numpy(), ours, atol=1e-6)
    assert [type(module).__name__ for module in theirs] == [type(module).__name__ for module in encoder]


def test_it_passes_our_own_checks_and_gives_the_same_cosines_again(saved) -> None:
    encoder, folder = saved

    again = load_encoder(folder, choose_compute("cpu"))

    cosines = [pair_cosines(one, FIRST, SECOND, choose_compute("cpu")).values for one in (encoder, again)]
    assert np.array_equal(*cosines)


def test_what_people_typed_is_text_in_the_cards_of_models(tmp_path) -> None:
    about = About(HOSTILE, "ab", {"model": HOSTILE}, {"dataset": HOSTILE}, HOSTILE)
    encoder = load_encoder(tiny_encoder(tmp_path), choose_compute("cpu"))
    task = SimpleNamespace(label=HOSTILE, classes=[HOSTILE], test=SimpleNamespace(second=None))

    cards = [
        card(encoder, about),
        card_of_classifier(about, task),
        card_of_paraphraser(about, TagBounds(), {"BLEU": HOSTILE}, labels_from=HOSTILE),
    ]

    for text in cards:
        assert set(elements_in(html_of(text))) == {"h1", "h2", "p", "ul", "li", "pre", "code"}
        assert "\x1b" not in text


def test_nothing_in_it_is_pickled(saved) -> None:
    suffixes = {file.suffix for file in saved[1].rglob("*") if file.is_file()}

    assert suffixes == {".safetensors", ".json", ".md"}


def test_its_card_tells_base_plan_data_and_licence(saved) -> None:
    text = (saved[1] / "README.md").read_text()

    assert "library_name: sentence-transformers" in text
    assert f"Trained from packaged:all-MiniLM-L6-v2 (SHA-256 of its files {'ab' * 32})" in text
    for fact in ("* snapshot: 4", "* weighting: realism", "Licence of the data: CC-BY-4.0"):
        assert fact in text


def test_a_licence_that_nobody_told_is_not_made_up(saved, tmp_path) -> None:
    encoder, _folder = saved
    folder = tmp_path / "other"
    folder.mkdir()

    encoder_save(encoder, folder, About("m", "0", {}, {}), [])

    assert "Licence of the data: not stated; ask whoever holds the data" in (folder / "README.md").read_text()


def test_it_knows_its_training_sentences_without_holding_them(saved) -> None:
    folder = saved[1]

    assert seen_by(folder).sets == (
        HeldOut.of(["A DOG runs", "the man plays with a ball", "the child sits"]),
    )
    assert "plays" not in (folder / "semblance.json").read_text()
    assert json.loads((folder / "semblance.json").read_text())["plan"] == ABOUT.plan


def test_a_model_that_says_nothing_was_trained_on_nothing_we_know(encoder_folder, tmp_path) -> None:
    (tmp_path / "semblance.json").write_text("no JSON")

    assert len(seen_by(encoder_folder)) == len(seen_by(tmp_path)) == 0


def test_an_earlier_encoder_still_names_its_sentences_but_for_case(tmp_path) -> None:
    keys = [sentence_key(text.casefold())[:16] for text in ("A dog runs.", "the child sits")]
    (tmp_path / "semblance.json").write_text(json.dumps({"trained_on": keys}))

    trained = seen_by(tmp_path)

    assert "a dog  RUNS." in trained
    assert "A dog runs" not in trained


def test_an_encoder_saved_before_words_kept_their_marks_knows_its_sentences(saved, tmp_path) -> None:
    keys = [earlier_near_copy_key(text) for text in ("वह घर जाता है।", "A dog runs.")]
    about = {"trained_on": keys, "trained_on_key": "near copy", "trained_on_unknown": []}
    (tmp_path / "semblance.json").write_text(json.dumps(about))
    further = tmp_path / "further"
    further.mkdir()

    seen_save(further, ABOUT, ["今天下雨"], base=seen_by(tmp_path))

    for folder in (tmp_path, further):
        assert "वह घर जाता है" in seen_by(folder)
        assert "a dog runs" in seen_by(folder)
        assert not seen_by(folder).unknown
    assert "今天下雨。" in seen_by(further)
    assert "今天下雨。" not in seen_by(tmp_path)
