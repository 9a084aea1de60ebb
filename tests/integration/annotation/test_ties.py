"""Pairs that are too close to call: stored, reported and exported, a tie to MaxDiff, and nothing to counting."""

from itertools import permutations
from uuid import uuid4

import numpy as np
import pytest
from django.core.management import call_command
from scipy.optimize import minimize

from annotation.campaigns.cloning import campaign_clone
from annotation.judging.assignment import RefusedError, judgement_submit, judgement_undo, tuple_claim
from annotation.judging.screen import shown_now
from annotation.models import Campaign, Judgement
from annotation.results.bundle import bundle_write
from annotation.results.figures import scores_now
from annotation.results.publishing import scores_publish
from annotation.results.record import campaign_judgements
from annotation.results.study import study_make
from tests.factories import GoldFactory, MembershipFactory, client_of
from tests.integration.annotation.crowd import BEGAN
from tests.integration.annotation.pages import address, answer_on, text_of
from tests.integration.annotation.test_pages_api import program as program_fixture

program = program_fixture


@pytest.fixture
def with_ties(judged) -> Campaign:
    """80 tuples, judged twice; every fifth judgement is a tie."""
    Campaign.objects.filter(pk=judged.pk).update(allows_ties=True)
    every = Judgement.objects.order_by("pk").values_list("pk", flat=True)
    Judgement.objects.filter(pk__in=list(every)[::5]).update(best_slot=None, worst_slot=None)
    return Campaign.objects.get(pk=judged.pk)


def tie(person, at, **more):
    lease = tuple_claim(participation=person, at=at)
    return judgement_submit(
        participation=person,
        tuple_id=lease.tuple_id,
        best_slot=None,
        worst_slot=None,
        client_id=uuid4(),
        at=at,
        **more,
    )


def test_a_tie_is_refused_unless_the_campaign_offers_it(campaign, anna, at) -> None:
    with pytest.raises(RefusedError, match="has no answer “too close to call”"):
        tie(anna, at)

    assert not Judgement.objects.exists()


@pytest.mark.parametrize("slots", [(None, 1), (1, None)])
def test_half_a_tie_is_none(campaign, anna, at, slots) -> None:
    Campaign.objects.update(allows_ties=True)
    anna.campaign.refresh_from_db()
    lease = tuple_claim(participation=anna, at=at)

    with pytest.raises(RefusedError, match="must be two of the 4 pairs"):
        judgement_submit(
            participation=anna,
            tuple_id=lease.tuple_id,
            best_slot=slots[0],
            worst_slot=slots[1],
            client_id=uuid4(),
            at=at,
        )


def test_a_tie_is_a_judgement_that_the_tuple_requires_and_an_undo_brings_it_back(campaign, anna, at) -> None:
    Campaign.objects.update(allows_ties=True)
    anna.refresh_from_db()

    judgement = tie(anna, at).judgement

    assert (judgement.status, judgement.is_tie) == ("collected", True)
    judgement.tuple.refresh_from_db()
    assert judgement.tuple.collected == 1
    lease = judgement_undo(participation=anna, at=at)
    shown = shown_now(anna, lease)
    assert (shown.tie, shown.best, shown.worst) == (True, None, None)


def test_who_finds_a_gold_tuple_too_close_to_call_misses_both_trials(campaign, anna, at) -> None:
    Campaign.objects.update(allows_ties=True, gold_every=2)
    GoldFactory.create_batch(3, campaign=campaign)
    anna.refresh_from_db()

    answers = [tie(anna, at) for _ in range(4)]

    golds = [answer.gold for answer in answers if answer.gold]
    assert golds
    assert not any(gold.best_right or gold.worst_right for gold in golds)
    anna.refresh_from_db()
    assert (anna.gold_trials, anna.gold_right) == (2 * len(golds), 0)


@pytest.mark.exhaustive
def test_counting_and_reliability_are_as_if_ties_were_not_there(with_ties) -> None:
    found = scores_now(with_ties)
    study = study_make(campaign=with_ties, at=BEGAN).figures

    Judgement.objects.filter(best_slot=None).update(status="excluded")
    without = scores_now(with_ties)
    study_without = study_make(campaign=with_ties, at=BEGAN).figures

    assert (found.pairs.tolist(), found.values.tolist()) == (without.pairs.tolist(), without.values.tolist())
    assert found.appearances.tolist() == without.appearances.tolist()
    assert (study["ties"], study_without["ties"]) == (32, 0)
    for name in ("judgements", "reliability", "curve", "scores"):
        assert study[name] == study_without[name]


@pytest.mark.exhaustive
def test_maxdiff_takes_ties_as_davidson_does(with_ties) -> None:
    """Against scipy's own search for the utilities and the weight of ties, with the formula written out."""
    judged = campaign_judgements(with_ties)
    filed = judged.as_filed(judged.feeding("maxdiff")).judgements
    published = scores_publish(campaign=with_ties, method="maxdiff")
    precision, weight = published.parameters["prior_precision"], published.parameters["tie_weight"]

    def loss(values: np.ndarray) -> float:
        """Less the log posterior of utilities at that precision, and of the log weight of ties."""
        u, log_v = values[:-1], values[-1]
        total = precision / 2 * u @ u
        for row, best, worst in zip(filed.items, filed.best, filed.worst, strict=True):
            ways = [np.exp(u[a] - u[b]) for a, b in permutations(row, 2)]
            tied = np.exp(log_v) * len(ways)
            chosen = tied if best < 0 else np.exp(u[best] - u[worst])
            total -= np.log(chosen / (sum(ways) + tied))
        return total

    start = np.append(np.zeros(filed.item_count), 0.0)
    best = minimize(loss, start, method="L-BFGS-B", options={"maxiter": 60})

    numbers = judged.as_filed(judged.feeding("maxdiff")).pairs
    scores = dict(published.scores.values_list("pair", "value"))
    values = np.array([scores[pair] for pair in numbers.tolist()])
    utilities = np.log(values / (1 - values))
    assert filed.ties.sum() == 32
    # Published utilities are means of the posterior, so they lie a little further out than the likeliest ones.
    assert np.corrcoef(utilities, best.x[:-1])[0, 1] > 0.999
    assert np.exp(best.x[-1]) == pytest.approx(weight, rel=0.15)


def test_files_have_ties_where_models_read_and_nowhere_else(with_ties, tmp_path) -> None:
    bundle_write(campaign=with_ties, path=tmp_path / "bundle")

    counted = (tmp_path / "bundle" / "judgements.csv").read_text()
    modelled = (tmp_path / "bundle" / "judgements-for-models.csv").read_text()
    assert (counted.count(",tie,tie"), modelled.count(",tie,tie")) == (0, 32)
    assert modelled.count("\n") - counted.count("\n") == 32
    for method, name in (("counting", "judgements"), ("maxdiff", "judgements-for-models")):
        again = tmp_path / f"{method}.csv"
        source = tmp_path / "bundle" / f"{name}.csv"
        call_command("bws", "score", str(source), "--method", method, "--out", str(again))
        assert again.read_bytes() == (tmp_path / "bundle" / "scores" / f"{method}.csv").read_bytes()
    annotators = (tmp_path / "bundle" / "annotators.csv").read_text().splitlines()
    place = annotators[0].split(",").index("ties")
    assert sum(int(line.split(",")[place]) for line in annotators[1:]) == 32


@pytest.mark.exhaustive
def test_the_screen_offers_it_and_the_analysis_reports_it(with_ties, client, at) -> None:
    curator = client_of(MembershipFactory(dataset=with_ties.dataset, role="curator").user)
    Judgement.objects.filter(tuple__number=1).delete()
    with_ties.tuples.filter(number=1).update(collected=0)

    page = curator.get(address("judge", with_ties))
    sent = {name: value for name, value in answer_on(page).items() if name not in {"best", "worst"}} | {
        "tie": "1"
    }
    answer = curator.post(address("judgement_create", with_ties), sent)
    analysis = text_of(curator.get(address("analysis", with_ties)))
    own = text_of(curator.get("/judge/"))

    assert "Too close to call" in text_of(page)
    assert answer.status_code == 302
    assert Judgement.objects.latest("pk").is_tie
    assert "the pairs were too close to call. Counting and reliability leave them out" in analysis
    assert "too close to call" in own


def test_a_campaign_without_it_shows_nothing_of_it(campaign, annotator) -> None:
    assert "Too close to call" not in text_of(client_of(annotator).get(address("judge", campaign)))


def test_a_program_judges_a_tie(campaign, program, annotator) -> None:
    Campaign.objects.update(allows_ties=True)
    api, place = program(annotator), f"/api/v1/campaigns/{campaign.pk}/"
    lease = api.post(f"{place}claim/").json()["lease"]

    half = api.post(
        f"{place}judgements/", {"lease": lease, "client_id": str(uuid4()), "best": 1}, format="json"
    )
    both = {"lease": lease, "client_id": str(uuid4()), "best": 1, "worst": 0, "tie": True}
    both_said = api.post(f"{place}judgements/", both, format="json")
    whole = api.post(
        f"{place}judgements/", {"lease": lease, "client_id": str(uuid4()), "tie": True}, format="json"
    )

    assert [half.status_code, both_said.status_code, whole.status_code] == [400, 400, 200]
    assert Judgement.objects.get(tuple__campaign=campaign).is_tie


def test_a_copy_offers_what_the_campaign_offers(with_ties) -> None:
    assert campaign_clone(campaign=with_ties).allows_ties
