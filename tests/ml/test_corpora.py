"""What corpora of pairs are like: BLEU, vocabulary and perplexity, by hand and in a run."""

import numpy as np
import pytest
import torch
from django.urls import reverse

from mlworkers.science.paraphrasing.corpora import (
    mean_estimated,
    perplexity_by_sentence,
    perplexity_by_token,
    vocabulary_at,
    vocabulary_of,
)
from mlworkers.science.paraphrasing.perplexity import surprise_of
from tests.factories import RunFactory, client_of
from tests.markup import squeezed
from tests.ml.nli_data import nli_dataset
from tests.ml.tiny_generator import tiny_generator
from tests.runs import run_execute, run_plan

SENTENCES = [
    "A dog runs.",
    "Two women are playing with a dog on the grass.",
    "a",
    "A man is singing in the park.",
]


@pytest.fixture(scope="module")
def generator():
    return tiny_generator()


def silent(*_said) -> None:
    pass


def test_perplexity_is_that_of_one_sentence_at_a_time_after_the_token_that_begins_texts(generator) -> None:
    found = surprise_of(generator, SENTENCES, report=silent)

    tokenizer = generator.tokenizer
    begins = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
    for place in (0, 1, 3):
        ids = tokenizer(SENTENCES[place], add_special_tokens=False)["input_ids"]
        before = [] if begins is None else [begins]
        tokens = torch.tensor([before + ids])
        with torch.no_grad():
            mean = float(generator.model(input_ids=tokens, labels=tokens).loss)  # transformers' own
        counted = tokens.shape[1] - 1
        assert found.tokens[place] == counted
        assert found.nats[place] == pytest.approx(mean * counted, rel=1e-4)


def test_a_sentence_of_one_token_and_one_beyond_the_context_have_no_perplexity(generator) -> None:
    found = surprise_of(generator, ["a", "dog " * 400], report=silent)

    assert np.isnan(found.nats).all()
    assert found.tokens.tolist() == [0, 0]


def test_both_aggregations_by_hand() -> None:
    nats, tokens = np.array([2.0, 12.0]), np.array([2.0, 4.0])

    by_token = perplexity_by_token(nats, tokens, resamples=200, seed=1)
    by_sentence = perplexity_by_sentence(nats, tokens, resamples=200, seed=1)

    assert by_token.value == pytest.approx(np.exp(14 / 6))
    assert by_sentence.value == pytest.approx((np.e + np.exp(3)) / 2)
    assert (by_token.low, by_token.high) == pytest.approx((np.e, np.exp(3)))
    assert by_sentence.low <= by_sentence.value <= by_sentence.high


def test_without_resamples_there_is_no_interval_and_without_values_no_mean() -> None:
    assert tuple(mean_estimated(np.array([1.0, 2.0]), resamples=0, seed=1)) == (1.5, None, None)
    assert mean_estimated(np.array([]), resamples=100, seed=1).value is None


def test_a_vocabulary_counts_distinct_words_and_is_compared_at_equal_size() -> None:
    words = vocabulary_of(["The cat, the dog.", "A cat"])  # the cat , dog . a
    many = vocabulary_of([f"word{n} the" for n in range(50)])

    assert words.distinct == 6
    assert tuple(vocabulary_at(words, 2, seed=1)) == (6, 6, 6)
    assert tuple(vocabulary_at(many, 10, seed=1)) == (11, 11, 11)
    with pytest.raises(ValueError, match="3 sentences cannot be drawn from 2"):
        vocabulary_at(words, 3, seed=1)


@pytest.fixture
def dataset(db):
    return nli_dataset(premises=6)


def profiled(dataset, state: str = "succeeded", **given):
    values = {
        "dataset": dataset.slug,
        "groups": "tagged,round trip",
        "device": "cpu",
        "bootstrap": 100,
        **given,
    }
    return run_execute(run_plan("profile_corpora", dataset, values), state)


@pytest.mark.django_db
def test_a_run_measures_every_group_and_what_the_pairs_begin_with(
    dataset, home, client, staff, generator
) -> None:
    folder = home / "causal"
    generator.model.save_pretrained(folder)
    generator.tokenizer.save_pretrained(folder)

    run = profiled(dataset, model=str(folder))

    rows = {row["group"]: row for row in run.result["groups"]}
    assert list(rows) == ["tagged", "round trip", "first sentences"]
    assert [rows[name]["sentences"] for name in rows] == [48, 24, 24]
    assert rows["round trip"]["bleu_low"] <= rows["round trip"]["bleu"] <= rows["round trip"]["bleu_high"]
    assert rows["tagged"]["bleu"] < rows["round trip"]["bleu"]  # more words were added
    assert all(row["perplexity_by_token"] > 1 for row in rows.values())
    assert run.result["sentences_at_equal_size"] == 12
    client.force_login(staff)
    page = squeezed(client.get(reverse("mlworkers:corpora", args=[run.pk])).content.decode())
    assert "Pairs of “tagged” share the least wording" in page
    assert "first sentences of the pairs" in page
    file = client.get(reverse("mlworkers:corpora_csv", args=[run.pk])).content.decode()
    assert len(file.splitlines()) == 4


@pytest.mark.django_db
def test_without_a_model_there_is_no_perplexity_and_a_comparison_adds_its_scores(dataset, staff) -> None:
    cells = [
        {"mean": mean, "low": mean, "high": mean, "sd": None, "by_seed": [mean]} for mean in (0.51, 0.62)
    ]
    rows = [
        {"label": name, "variant": name, "size": 1, "share": 1.0, "figures": [cell]}
        for name, cell in zip(("original", "tagged"), cells, strict=True)
    ]
    comparison = RunFactory(
        kind="compare_augmentations",
        dataset=dataset,
        state="succeeded",
        plan={"keep_originals": False},
        result={
            "rows": rows,
            "columns": [{"suite": "", "metric": "spearman", "pairs": 9}],
            "seeds": [1],
            "judged": False,
        },
    )

    run = profiled(dataset, comparison=comparison.pk)

    page = squeezed(client_of(staff).get(reverse("mlworkers:corpora", args=[run.pk])).content.decode())
    assert "Perplexity" not in page
    assert "0.510" in page
    assert "0.620" in page
    assert "They were trained on paraphrases alone, at equal size" in page


@pytest.mark.django_db
def test_a_group_that_is_not_there_and_one_that_is_too_small_are_said(dataset) -> None:
    dataset.pairs.filter(subset="round trip").exclude(
        pk=dataset.pairs.filter(subset="round trip").first().pk
    ).delete()

    missing = profiled(dataset, state="failed", groups="nothing")
    small = profiled(dataset, state="failed")

    assert missing.message.startswith("No pair is a paraphrase of “nothing”")
    assert small.message == "“round trip” has too few sentences for a profile, 1; name a larger group."


@pytest.mark.django_db
def test_a_stranger_gets_neither_the_page_nor_the_file(dataset, client, stranger) -> None:
    run = RunFactory(kind="profile_corpora", dataset=dataset, state="succeeded", result={})
    client.force_login(stranger)

    for name in ("corpora", "corpora_csv"):
        assert client.get(reverse(f"mlworkers:{name}", args=[run.pk])).status_code == 404
