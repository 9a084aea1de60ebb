"""Runs that train encoders by contrast, on a tiny model."""

import json

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from curation.models import PairScore, PooledSentence
from curation.pairs.judged_by import SIMULATED
from mlworkers.models import Run
from mlworkers.runs.storage import home_path
from mlworkers.science.encoders.saving import seen_by
from tests.factories import PairFactory, ScoreSetFactory, SentenceFactory
from tests.ml.nli_data import nli_dataset
from tests.runs import run_execute, run_plan

pytestmark = pytest.mark.django_db
SHORT = {"batch_size": 4, "learning_rate": 0.001, "device": "cpu"}
COMPARED = {"variants": "tagged,round trip", "seeds": 2, "test_score_set": "test gold", "bootstrap": 100}


@pytest.fixture
def dataset(db):
    return nli_dataset()


def ran(kind: str, dataset, model, state: str = "succeeded", **given) -> Run:
    values = {"dataset": dataset.slug, "model": str(model), **SHORT, **given}
    return run_execute(run_plan(kind, dataset, values), state)


def trained(dataset, model, state: str = "succeeded", **given) -> Run:
    return ran("train_contrastive", dataset, model, state, **given)


def test_sentences_are_their_own_positives_and_the_mlp_is_gone_afterwards(dataset, encoder_folder) -> None:
    run = trained(dataset, encoder_folder)

    assert (run.result["examples"], run.result["copies"]) == (48, 0)
    assert (run.result["fewest_negatives"], run.result["most_negatives"]) == (3, 3)
    assert run.result["pooler_in_words"] == "cls, MLP in training only"
    folder = home_path(run.artifacts.get().path)
    kinds = [one["type"].rpartition(".")[2] for one in json.loads((folder / "modules.json").read_text())]
    assert kinds == ["Transformer", "Pooling", "Normalize"]
    encoder = SentenceTransformer(str(folder), device="cpu")
    assert encoder[1].pooling_mode == "cls"


def test_triplets_have_hard_negatives_and_keep_the_mlp(dataset, encoder_folder) -> None:
    run = trained(dataset, encoder_folder, material="triplets", epochs=2)

    assert (run.result["examples"], run.result["most_negatives"], run.result["steps"]) == (12, 7, 6)
    assert "7 negatives of an anchor" in run.result["loss_in_words"]
    folder = home_path(run.artifacts.get().path)
    assert "Dense" in (folder / "modules.json").read_text()
    assert "7 negatives of an anchor" in (folder / "README.md").read_text()
    assert "a dog runs on the mat with ball 0" in seen_by(folder)
    assert "a dog runs in a tree 0" not in seen_by(folder)  # neutral pairs have no part


def test_copies_are_added_and_never_share_a_batch_with_their_originals(dataset, encoder_folder) -> None:
    run = trained(dataset, encoder_folder, material="triplets", paraphrases="tagged", copies=2)

    assert (run.result["original_examples"], run.result["copies"], run.result["copies_missing"]) == (
        12,
        24,
        0,
    )
    again = trained(dataset, encoder_folder, material="triplets", paraphrases="round trip", copies=2)
    assert (again.result["copies"], again.result["copies_missing"]) == (12, 12)


def test_paraphrases_take_the_place_of_dropout(dataset, encoder_folder) -> None:
    run = trained(dataset, encoder_folder, paraphrases="round trip", keep_originals=False)

    assert (run.result["examples"], run.result["original_examples"]) == (48, 0)


def test_dev_pairs_choose_the_weights_every_so_many_steps(dataset, encoder_folder) -> None:
    simulated = {"annotators": 3, "simulated_annotators": 3}
    dataset.score_sets.filter(name="dev gold").update(kind="human", parameters=simulated)

    run = trained(dataset, encoder_folder, dev_scores="dev gold", evaluate_every=3, epochs=2)

    points = run.result
    assert points["dev_pairs"] == 8
    assert points["kept_step"] % 3 == 0
    assert points["dev"] is not None
    assert run.judges == run.artifacts.get(kind="encoder").card["judged_by"] == SIMULATED


def test_pairs_of_some_subsets_are_positives(dataset, encoder_folder) -> None:
    run = trained(dataset, encoder_folder, material="pairs", subsets="entailment,neutral", pooler="mean")

    assert run.result["examples"] == 24
    assert run.result["most_negatives"] <= 3


def test_softmax_and_triplet_losses_train_too(dataset, encoder_folder) -> None:
    softmax = trained(dataset, encoder_folder, material="pairs", objective="softmax", pooler="as the model")
    triplet = trained(dataset, encoder_folder, material="triplets", objective="triplet", pooler="cls")

    assert softmax.result["examples"] == 36
    assert softmax.result["most_negatives"] is None
    assert "three classes" in softmax.result["loss_in_words"]
    assert (triplet.result["examples"], triplet.result["most_negatives"]) == (12, 1)


def test_cached_gradients_train_the_same_encoder_but_for_rounding(dataset, encoder_folder) -> None:
    about = {"material": "triplets", "pooler": "mean", "batch_size": 8}
    without_dropout = home_path("no-dropout")
    encoder = SentenceTransformer(str(encoder_folder), device="cpu")
    encoder[0].model.config.hidden_dropout_prob = 0.0
    encoder[0].model.config.attention_probs_dropout_prob = 0.0
    encoder.save(str(without_dropout), create_model_card=False)

    runs = [trained(dataset, without_dropout, cached=cached, **about) for cached in (0, 3)]

    whole, parts = (
        SentenceTransformer(str(home_path(run.artifacts.get().path)), device="cpu").encode(["the dog runs"])
        for run in runs
    )
    assert np.allclose(whole, parts, atol=1e-4)


def test_sentences_of_the_pool_are_learned_where_they_are_asked_for(dataset, encoder_folder) -> None:
    sentence = SentenceFactory(dataset=dataset, text="a bird sings in the pool")
    PooledSentence.objects.create(dataset=dataset, sentence=sentence)

    run = trained(dataset, encoder_folder, pool=True)

    assert run.result["examples"] == 49


def test_no_sentence_of_dev_or_test_is_learned(dataset, encoder_folder) -> None:
    tested = dataset.pairs.filter(split="test").first().a
    source = dataset.pairs.filter(subset="entailment").first().a
    PairFactory(dataset=dataset, split="train", a=tested, b__text="a woman is on a mat", subset="entailment")
    copy = SentenceFactory(dataset=dataset, text=f"{tested.text}.", origin="machine")  # a near copy
    PairFactory(dataset=dataset, split="train", a=source, b=copy, subset="tagged", origin="generated")

    run = trained(
        dataset, encoder_folder, material="pairs", subsets="entailment", paraphrases="tagged", copies=3
    )

    assert (run.result["held_out_left_out"], run.result["original_examples"]) == (1, 12)
    assert tested.text not in seen_by(home_path(run.artifacts.get().path))


@pytest.fixture
def labelled(dataset):
    """The paraphrases with labels of similarity and BLEU: those that are tagged are SIM95 with a BLEU of 5 or 22."""
    sets = [
        ScoreSetFactory(dataset=dataset, name=name, kind="model", low=0.0, high=100.0)
        for name in ("similarity", "BLEU")
    ]
    for number, pair in enumerate(dataset.pairs.filter(subset="tagged").order_by("pk")):
        for scores, value in zip(sets, (97.0, (5.0, 22.0)[number % 2]), strict=True):
            PairScore.objects.create(score_set=scores, pair=pair, value=value)
    return {"similarity": "similarity", "bleu": "BLEU"}


@pytest.mark.parametrize(
    ("tags", "copies"), [("SIM95 BLEU0_5", 12), ("bleu20", 12), ("SIM95 BLEU0_5 + SIM95 BLEU20", 24)]
)
def test_tags_choose_paraphrases_by_their_measured_labels(
    dataset, encoder_folder, labelled, tags, copies
) -> None:
    run = trained(dataset, encoder_folder, material="triplets", paraphrases=tags, copies=2, **labelled)

    assert run.result["copies"] == copies


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"paraphrases": "SIM80 BLEU20"}, "No pair is a paraphrase of “SIM80 BLEU20”"),
        ({"paraphrases": "SIM95 BLEU12"}, "There is no tag “BLEU12”; the tags are SIM70"),
        (
            {"material": "triplets", "entailment": "yes"},
            "No first sentence of the split “train” has pairs both",
        ),
        (
            {"material": "pairs", "objective": "softmax", "neutral": "maybe"},
            "lacks pairs of one of the subsets",
        ),
        (
            {"material": "pairs", "subsets": "nothing"},
            "No pair of the split “train” is in one of the subsets",
        ),
        ({"split": "other"}, "The split “other” has no sentence that a person wrote"),
        ({"material": "pairs", "subsets": "tagged", "paraphrases": "round trip", "copies": 20}, ""),
    ],
)
def test_what_cannot_be_learned_is_said_in_one_sentence(
    dataset, encoder_folder, labelled, given, sentence
) -> None:
    run = trained(dataset, encoder_folder, state="failed", **labelled, **given)

    assert sentence in run.message
    assert not run.artifacts.exists()


def compared(dataset, model, state: str = "succeeded", **given) -> Run:
    return ran(
        "compare_augmentations", dataset, model, state, **{**COMPARED, "material": "triplets", **given}
    )


def test_every_row_is_trained_with_every_seed_and_compared_with_the_originals(
    dataset, encoder_folder
) -> None:
    run = compared(dataset, encoder_folder, sizes="2", shares="1,0.5")

    rows = {row["label"]: row for row in run.result["rows"]}
    assert list(rows) == [
        "base", "original", "tagged ×2", "round trip ×2", "original (0.5 of the examples)",
        "tagged ×2 (0.5 of the examples)", "round trip ×2 (0.5 of the examples)",
    ]  # fmt: skip
    assert [rows[name].get("examples") for name in list(rows)[1:]] == [12, 24, 24, 6, 12, 12]
    [figure] = rows["tagged ×2"]["figures"]
    assert len(figure["by_seed"]) == 2
    assert figure["low"] <= figure["mean"] <= figure["high"]
    [original] = rows["original"]["figures"]
    assert figure["difference"] == pytest.approx(figure["mean"] - original["mean"])
    assert "difference" not in original
    assert run.evaluations.count() == 1 + 6 * 2
    assert not run.artifacts.exists()


@pytest.mark.exhaustive
def test_all_rows_begin_with_the_examples_that_every_variant_can_copy(dataset, encoder_folder) -> None:
    dataset.pairs.filter(subset="round trip").order_by("pk").first().delete()

    complete = compared(dataset, encoder_folder, seeds=1)
    incomplete = compared(dataset, encoder_folder, seeds=1, complete=False)

    assert (complete.result["examples"], complete.result["examples_that_not_all_can_copy"]) == (11, 1)
    rows = {row["label"]: row for row in incomplete.result["rows"]}
    assert (rows["round trip ×2"]["copies"], rows["round trip ×2"]["copies_missing"]) == (11, 1)
    assert rows["tagged ×2"]["copies"] == 12


def test_paraphrases_alone_are_compared_at_equal_size(dataset, encoder_folder) -> None:
    run = compared(dataset, encoder_folder, seeds=1, keep_originals=False, sizes="1")

    assert [row.get("examples") for row in run.result["rows"]] == [None, 12, 12, 12]


@pytest.mark.exhaustive
def test_encoders_of_a_comparison_are_kept_where_they_are_asked_for(dataset, encoder_folder) -> None:
    run = compared(dataset, encoder_folder, seeds=1, keep_encoders=True)

    made = run.artifacts.order_by("pk")
    assert [one.card["label"] for one in made] == ["original", "tagged ×2", "round trip ×2"]
    assert run.evaluations.exclude(artifact=None).count() == 3
    SentenceTransformer(str(home_path(made[1].path)), device="cpu").encode(["the dog runs"])


def test_who_labelled_the_paraphrases_is_named(dataset, encoder_folder, labelled) -> None:
    run = compared(dataset, encoder_folder, seeds=1, variants="SIM95", **labelled)

    assert "Paraphrases were chosen by the similarity" in run.result["warnings"][0]


def test_variants_that_lack_paraphrases_are_refused_before_anything_is_trained(
    dataset, encoder_folder
) -> None:
    run = compared(dataset, encoder_folder, state="failed", sizes="4")

    assert run.message.startswith("No example has 3 paraphrases in every variant")
