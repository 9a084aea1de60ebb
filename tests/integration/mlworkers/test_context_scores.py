"""The page of similarities from contexts: agreement with human scores, and the contexts of one pair."""

import pytest
from django.urls import reverse

from curation.models import PairScore
from mlworkers.kinds.contexts.context_scores import (
    contexts_compared,
    pair_shown,
    rows_to_compare,
    sets_of_run,
)
from mlworkers.models import Artifact, Run
from mlworkers.runs.storage import run_folder
from tests.factories import PairFactory, RunFactory, ScoreSetFactory, client_of
from tests.markup import squeezed
from tests.scored_contexts import scored_run

pytestmark = pytest.mark.django_db


def judged(dataset, run: Run):
    """Human scores that rise with the centred similarity."""
    people = ScoreSetFactory(dataset=dataset, name="people", kind="human", low=0.0, high=1.0)
    for score in PairScore.objects.filter(score_set__parameters__label="contexts-centred"):
        PairScore.objects.create(score_set=people, pair=score.pair, value=(score.value + 1) / 2)
    return people


def test_both_similarities_are_compared_overall_by_bin_and_by_source(dataset) -> None:
    run = scored_run(dataset)
    people = judged(dataset, run)
    [row, *_others] = rows_to_compare(dataset, run)

    found = contexts_compared(sets_of_run(run), row, folder=run_folder(run.pk) / "scores")

    names = [each.name for each in found.rows]
    assert row.score_set == people
    assert names[0] == "all"
    assert names[-2:] == ["forums", "news"]
    assert [found.rows[place].centred.value for place in (0, -1, -2)] == pytest.approx([1, 1, 1])
    assert [each.n for each in (found.rows[0].raw, found.rows[-1].raw)] == [12, 6]
    assert found.difference == pytest.approx(1 - found.rows[0].raw.value)
    assert found.interval.low > 0
    assert [each.dropped for each in found.ablations] == ["", "λ3", "λ4", "λ3, λ4"]
    assert found.ablations[0].centred.value == pytest.approx(1)


def test_the_contexts_of_a_pair_add_up_to_its_similarity_the_largest_part_first(dataset) -> None:
    run = scored_run(dataset)
    score = PairScore.objects.filter(score_set__parameters__label="contexts-centred").first()

    corpus = run_folder(run.plan["corpus"]) / "corpus"
    shown = pair_shown(run, score.pair, folder=run_folder(run.pk) / "scores", corpus=corpus)

    parts = [each.part for each in (*shown.most, *reversed(shown.least))]
    assert sum(parts) == pytest.approx(score.value)
    assert parts == sorted(parts, reverse=True)
    assert shown.contexts == len(parts) == 4
    assert {each.document for each in shown.most} == {"a.txt"}


def test_a_context_that_was_found_for_both_sentences_is_shown_once_and_counts_twice(dataset) -> None:
    run = scored_run(dataset, places=(1, 2, 2, 4))
    score = PairScore.objects.filter(score_set__parameters__label="contexts-centred").first()

    corpus = run_folder(run.plan["corpus"]) / "corpus"
    shown = pair_shown(run, score.pair, folder=run_folder(run.pk) / "scores", corpus=corpus)

    every = [*shown.most, *shown.least]
    assert sum(each.part for each in every) == pytest.approx(score.value)
    assert sorted((each.of_first, each.of_second) for each in every) == [
        (False, True), (True, False), (True, True)
    ]  # fmt: skip


def test_pages_show_the_comparison_and_the_contexts(client, owner, dataset) -> None:
    run = scored_run(dataset)
    judged(dataset, run)
    pair = dataset.pairs.first()
    client.force_login(owner)

    page = squeezed(client.get(reverse("mlworkers:context_scores", args=[run.pk])).text)
    contexts = squeezed(client.get(reverse("mlworkers:pair_contexts", args=[run.pk, pair.pk])).text)

    assert "Centred minus raw cosine" in page
    assert "λ3, λ4" in page
    assert pair.a.text in page
    assert "Contexts that agree most" in contexts
    assert "The dog came home in the rain." in contexts


def test_pages_without_human_scores_without_files_and_without_a_result_say_so(client, owner, dataset) -> None:
    run = scored_run(dataset)
    Artifact.objects.all().delete()
    waiting = RunFactory(kind="score_contexts", dataset=dataset, state="queued")
    pair = dataset.pairs.first()
    client.force_login(owner)

    def page(name: str, *args: int) -> str:
        return squeezed(client.get(reverse(f"mlworkers:{name}", args=args)).text)

    assert "no other scores to compare with" in page("context_scores", run.pk)
    assert "No contexts can be shown" in page("pair_contexts", run.pk, pair.pk)
    assert "when the run has ended" in page("context_scores", waiting.pk)


def test_strangers_and_other_kinds_and_pairs_of_other_datasets_are_not_found(
    client, owner, stranger, dataset
) -> None:
    run = scored_run(dataset)
    other, foreign = RunFactory(kind="score_pairs", dataset=dataset), PairFactory()

    def status(user, name: str, *args: int) -> int:
        client.force_login(user)
        return client.get(reverse(f"mlworkers:{name}", args=args)).status_code

    assert status(stranger, "context_scores", run.pk) == 404
    assert status(stranger, "pair_contexts", run.pk, dataset.pairs.first().pk) == 404
    assert status(owner, "context_scores", other.pk) == 404
    assert status(owner, "pair_contexts", run.pk, foreign.pk) == 404


def test_the_form_takes_the_corpus_and_the_model_of_the_page_before(staff, dataset) -> None:
    indexed = RunFactory(kind="index_corpus", dataset=dataset, state="succeeded")
    asked = {"dataset": dataset.slug, "corpus": indexed.pk, "trained": 7, "ranks": 8}

    page = client_of(staff).get(reverse("mlworkers:run_start", args=["score_contexts"]), asked)

    values = {name: page.context["form"][name].value() for name in ("corpus", "model", "discriminator")}
    assert values == {"corpus": indexed.pk, "model": "run:7", "discriminator": "run:8"}


def test_the_scores_of_the_page_before_are_what_a_surrogate_learns(client, staff, dataset) -> None:
    run = scored_run(dataset)
    centred = PairScore.objects.filter(score_set__parameters__label="contexts-centred").first().score_set
    client.force_login(staff)

    shown = client.get(reverse("mlworkers:context_scores", args=[run.pk])).text
    [address] = [part.split('"')[0] for part in shown.split('href="') if "train_encoder" in part[:60]]
    form = client.get(address.replace("&amp;", "&")).context["form"]

    assert form["scores"].value() == centred.name


def test_the_page_of_a_corpus_offers_training_to_those_who_may_start_it(
    client, staff, curator, dataset
) -> None:
    run = scored_run(dataset)
    address = reverse("mlworkers:corpus", args=[run.plan["corpus"]])
    link = f"{reverse('mlworkers:run_start', args=['train_context_model'])}?dataset={dataset.slug}"

    client.force_login(staff)
    of_staff = client.get(address).text
    client.force_login(curator)
    of_curator = client.get(address).text

    assert link in of_staff
    assert link not in of_curator


def test_a_form_that_begins_with_a_corpus_can_ask_for_trajectories(client, admin, dataset) -> None:
    corpus = RunFactory(kind="index_corpus", dataset=dataset, state="succeeded", plan={}, message="indexed")
    client.force_login(admin)
    address = reverse("mlworkers:run_start", args=["score_contexts"])
    form = client.get(address, {"dataset": dataset.slug}).context["form"]
    assert form["corpus"].initial == str(corpus.pk)
    sent = {bound.name: bound.initial for bound in form if bound.initial not in (None, False, "")}

    answer = client.post(address, sent | {"choice": "trajectories", "model": "gpt2"})

    assert answer.status_code == 302, answer.context["form"].errors
    assert Run.objects.get(state="queued").plan["corpus"] == 0
