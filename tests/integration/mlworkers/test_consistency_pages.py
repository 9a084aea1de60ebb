"""Where people meet p_y: the form, the page of its run, and the page of its score set."""

import pytest
from django.urls import reverse

from curation.models import PairScore
from mlworkers.forms.plans import PlanForm
from mlworkers.plans.kinds import KINDS
from tests.factories import GeneratedPairFactory, RunFactory, ScoreSetFactory, client_of

pytestmark = pytest.mark.django_db
CIRCULAR = {
    "circular": True,
    "trained_on": [{"dataset": "scenes", "scores": "run 7: target", "split": "", "pairs": 1200}],
    "planted_auc": 0.871,
    "planted_auc_low": 0.85,
    "planted_auc_high": 0.89,
}


@pytest.fixture
def consistency_set(dataset):
    made = ScoreSetFactory(
        dataset=dataset, name="run 9: p_y", kind="consistency", low=0.0, high=1.0, parameters=CIRCULAR
    )
    PairScore.objects.create(score_set=made, pair=GeneratedPairFactory(dataset=dataset), value=0.4)
    return made


def test_the_form_starts_with_the_human_scores_of_the_dataset(dataset) -> None:
    ScoreSetFactory(dataset=dataset, name="reference", kind="reference")
    ScoreSetFactory(dataset=dataset, name="run 1: target", kind="target", high=1.0)

    form = PlanForm(kind=KINDS["score_consistency"], dataset=dataset)

    assert form["scores"].initial in (None, "")
    assert form["human_scores"].initial == "reference"
    assert form.fields["human_scores"].choices[0] == ("", "none")


def test_without_human_scores_the_form_starts_with_none(dataset) -> None:
    ScoreSetFactory(dataset=dataset, name="run 1: target", kind="target", high=1.0)

    form = PlanForm(kind=KINDS["score_consistency"], dataset=dataset)

    assert form["human_scores"].initial == ""


def test_the_page_of_a_run_that_succeeded_leads_to_a_comparison(admin, dataset) -> None:
    run = RunFactory(kind="score_consistency", dataset=dataset, state="succeeded")

    page = client_of(admin).get(reverse("mlworkers:run_detail", args=[run.pk])).text

    assert f"{reverse('mlworkers:run_start', args=['compare_weightings'])}?dataset={dataset.slug}" in page


def test_the_page_of_the_score_set_says_what_it_learned_from_and_that_it_is_circular(
    admin, dataset, consistency_set
) -> None:
    page = " ".join(
        client_of(admin)
        .get(reverse("curation:dataset", args=[dataset.slug]), {"score_set": consistency_set.pk})
        .text.split()
    )

    assert "learned from 1,200 pairs with the scores “run 7: target” of scenes" in page
    assert "Circular: these scores are the target similarities" in page
    assert "AUC of 0.871. Its 95 % interval is 0.850 to 0.890" in page


def test_pairs_are_listed_beside_their_p_y(client, admin, dataset, consistency_set) -> None:
    client.force_login(admin)

    page = client.get(reverse("curation:dataset", args=[dataset.slug]), {"score_set": consistency_set.pk})

    assert page.status_code == 200
    assert "run 9: p_y" in page.text


def test_programs_read_that_a_score_set_is_circular(admin, dataset, consistency_set) -> None:
    sets = client_of(admin).get(f"/api/v1/datasets/{dataset.slug}/score-sets/").json()

    (found,) = [one for one in sets["results"] if one["name"] == consistency_set.name]
    assert found["kind"] == "consistency"
    assert found["parameters"]["circular"] is True
