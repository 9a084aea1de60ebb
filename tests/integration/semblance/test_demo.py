"""The demonstration's job at a small size, with its runs carried out on the spot."""

import io
from contextlib import contextmanager
from dataclasses import replace

import pytest
from django.utils import timezone
from rich.console import Console

from annotation.models import Campaign, Participation
from curation.models import Dataset, ReviewDecision, Snapshot
from mlworkers.models import Artifact
from mlworkers.tasks import execute
from semblance.demo.accounts import accounts_prepare
from semblance.demo.importing import scenes_import
from semblance.demo.job import Demonstrated, demonstrate, people_figures
from semblance.demo.judging import scores_from_people
from semblance.demo.machines import broken_figures
from semblance.demo.plan import DemoPlan, Stages
from semblance.demo.results import first_table, shown_table, tables
from tests.factories import CampaignFactory, DatasetFactory, GeneratedPairFactory, RunFactory

# Whoever guesses at ten golds gets 5 of 20 trials right; more than 10, which the gate would let pass, in 4 of 1,000.
SMALL = DemoPlan(pairs=100, judgements_per_tuple=2, careless=1.0, gold_every=2, labelled=20, held_out=20)
SMALLEST = DemoPlan(pairs=40, judgements_per_tuple=2, golds=2, labelled=20, held_out=20)
pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def stage(title):
    yield lambda done, total, message: None


def carried_out(run, report):
    execute(run.pk)
    run.refresh_from_db()
    return run


STAGES = Stages(stage, carried_out)


def printed(*tables) -> str:
    console = Console(file=io.StringIO(), width=200)
    console.print(*tables)
    return console.file.getvalue()


def judged(plan: DemoPlan):
    owner, curator, annotator = accounts_prepare()
    dataset = scenes_import(plan, owner=owner.user, stages=STAGES)
    campaign, published = scores_from_people(
        plan, dataset, curator=curator.user, annotator=annotator.user, at=timezone.now(), stages=STAGES
    )
    return campaign, people_figures(campaign, published)


@pytest.mark.exhaustive
def test_its_scores_agree_with_the_known_relatedness_and_the_careless_are_stopped() -> None:
    campaign, figures = judged(SMALL)

    people = Participation.objects.filter(campaign=campaign).select_related("user")
    stopped = {person.user.username for person in people if person.state == Participation.State.STOPPED}
    assert (figures["pairs"], figures["tuples"], figures["judgements"]) == (100, 200, 400)
    # Guessing gives 0; two careful halves of this size agree at .8 or more.
    assert figures["latent_spearman"] > 0.85
    assert figures["shr_spearman"] > 0.7
    assert stopped == {"simulated-5", "simulated-6"}
    assert figures["annotators_stopped"] == 2
    assert len(people) == SMALL.annotators
    assert all(person.user.simulated and not person.user.has_usable_password() for person in people)


@pytest.mark.exhaustive
def test_a_second_one_leaves_the_first_alone_and_something_to_judge() -> None:
    first, figures = judged(SMALLEST)

    second, figures_again = judged(SMALLEST)

    assert (first.dataset.slug, second.dataset.slug) == ("scenes", "scenes-2")
    assert figures == figures_again
    assert Dataset.objects.get(slug="scenes").pairs.count() == 80
    assert Campaign.objects.get(dataset=second.dataset, name="Your turn").state == Campaign.State.OPEN
    assert Snapshot.objects.get(dataset=second.dataset).rows == 80


def test_what_is_held_out_shares_no_sentence_with_the_rest() -> None:
    owner, _curator, _annotator = accounts_prepare()

    dataset = scenes_import(SMALLEST, owner=owner.user, stages=STAGES)

    sides = {
        split: {sentence for pair in dataset.pairs.filter(split=split) for sentence in (pair.a_id, pair.b_id)}
        for split in ("train", "test")
    }
    assert dataset.pairs.filter(split="test").count() == 20
    assert not sides["train"] & sides["test"]


def test_the_grammar_says_how_far_p_d_recognises_broken_sentences() -> None:
    dataset = DatasetFactory()
    whole = [
        "A nurse is kicking a football in the park at noon.",
        "At noon, two men are kicking a football in the park.",
    ]
    for text, p_d in [(whole[0], 0.9), (whole[1], 0.2), ("A nurse is kicking.", 0.1), ("In the park.", 0.5)]:
        GeneratedPairFactory(dataset=dataset, b__text=text, p_d=p_d)

    found = broken_figures(dataset.score_sets.get())

    # Of four twos of a sentence of the grammar and a broken one, .9 > .1, .9 > .5 and .2 > .1 are in order.
    assert (found["sentences"], found["broken"], found["lowest"], found["auc"]) == (4, 2, 1, 0.75)
    assert found["low"] < 0.75 < found["high"]


def test_without_broken_sentences_there_is_no_auc() -> None:
    pair = GeneratedPairFactory(b__text="A nurse is kicking a football in the park at noon.", p_d=0.5)

    found = broken_figures(pair.dataset.score_sets.get())

    assert (found["broken"], found["auc"], found["lowest"]) == (0, None, 0)


COMPARED = {"encoders": {}, "differences": [], "seeds": 1, "tests": 1}
FIGURES = {
    **dict.fromkeys(
        ("latent_spearman", "latent_low", "latent_high", "shr_spearman", "realism_auc", "seconds"), 0.5
    ),
    **dict.fromkeys(("median_p_human", "median_p_machine"), 0.5),
    **dict.fromkeys(
        ("pairs", "tuples", "judgements", "annotators_stopped", "generated", "kept", "reviewed"), 1
    ),
    **dict.fromkeys(("people", "small", "minilm"), COMPARED),
    "broken": {"auc": None, "broken": 0, "sentences": 0, "lowest": 0},
}


def test_what_the_job_shows_is_printed_before_all_its_figures_and_then_what_to_open() -> None:
    campaign = CampaignFactory()
    CampaignFactory(dataset=campaign.dataset, name="Your turn")
    made = Demonstrated(campaign, RunFactory(dataset=campaign.dataset), FIGURES)

    text = printed(*tables(made, FIGURES, list(accounts_prepare()), site="http://host"))

    assert 0 == text.index("What it shows") < text.index("All figures") < text.index("Open first.")


@pytest.mark.exhaustive
@pytest.mark.minilm
def test_the_whole_job_ends_with_a_comparison_of_encoders_on_what_was_held_out() -> None:
    owner, curator, annotator = accounts_prepare()
    plan = replace(
        SMALLEST,
        labelled=300,
        generator_layers=2,
        generator_width=96,
        generator_steps=150,
        sources=6,
        small_epochs=1,
        people_epochs=1,
    )

    made = demonstrate(
        plan, owner=owner, curator=curator, annotator=annotator, at=timezone.now(), stages=STAGES
    )

    campaign, figures = made.campaign, made.figures
    assert figures["pairs"] == 40
    assert figures["latent_low"] < figures["latent_spearman"] < figures["latent_high"]
    assert sorted(figures["people"]["encoders"]) == ["base", "constant", "plain"]
    assert made.learned.plan["scores"] == campaign.dataset.score_sets.get(campaign_ref=campaign.pk).name
    assert 0 < figures["kept"] <= figures["generated"] + 2 * plan.sources  # with sampled partners
    assert 0 <= figures["realism_auc"] <= 1
    assert figures["broken"]["lowest"] <= figures["broken"]["broken"] <= figures["broken"]["sentences"]
    assert figures["reviewed"] == ReviewDecision.objects.filter(alongside=None).count() > 0
    assert all(decision.reviewer.simulated for decision in ReviewDecision.objects.select_related("reviewer"))
    minilm, small = figures["minilm"], figures["small"]
    assert sorted(minilm["encoders"]) == sorted(
        ["base", "plain", "realism", "filter", "random", "shuffle", "shuffle-filter", "constant"]
    )
    assert sorted(small["encoders"]) == sorted(["base", "plain", "realism", "shuffle", "constant"])
    for row in [*minilm["encoders"].values(), *small["encoders"].values()]:
        assert -1 <= row["low"] <= row["spearman"] <= row["high"] <= 1
    assert (minilm["seeds"], minilm["differences"]) == (1, [])
    assert minilm["shows"].startswith("One seed cannot show")
    assert [(one["of"], one["from"]) for one in small["differences"]] == [
        ("plain", "base"),
        ("realism", "plain"),
        ("shuffle", "plain"),
        ("constant", "plain"),
        ("realism", "shuffle"),
    ]
    of_base = small["encoders"]["plain"]["spearman"] - small["encoders"]["base"]["spearman"]
    assert small["differences"][0]["difference"] == pytest.approx(of_base)
    assert Artifact.objects.filter(kind="encoder").count() == 7 + 1 + (2 + 4) * plan.small_seeds
    assert Artifact.objects.filter(run__dataset=campaign.dataset, kind="pairs").exists()
    shown = printed(shown_table(figures), first_table(made, [owner, curator, annotator], site="http://host"))
    assert f"{figures['latent_spearman']:.3f}" in shown
    assert shown.count("http://host/") == 4
    assert all(account.password in shown for account in (owner, curator, annotator))
