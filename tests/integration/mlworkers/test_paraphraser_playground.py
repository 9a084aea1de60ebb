"""A paraphraser's playground: who may try it, what is refused, and what is answered, on pages and by the API."""

import pytest
from django.urls import reverse
from django.utils.timezone import now

from mlworkers.models import Artifact, Run
from mlworkers.science.paraphrasing.tags import TagBounds
from tests.factories import ArtifactFactory, client_of

pytestmark = pytest.mark.django_db
ROWS = [
    {"text": "A hound is running.", "similarity": 96.25, "bleu": 3.5, "in_cell": True, "copy": False},
    {"text": "A dog runs.", "similarity": 100.0, "bleu": 100.0, "in_cell": False, "copy": True},
    {"text": "?!", "similarity": None, "bleu": None, "in_cell": False, "copy": False},
]


@pytest.fixture
def labeller(dataset) -> Artifact:
    return ArtifactFactory(kind="labeller", run__dataset=dataset, run__plan={})


@pytest.fixture
def paraphraser(dataset, labeller) -> Artifact:
    card = {"tags": TagBounds().as_dict()}
    return ArtifactFactory(kind="paraphraser", run__dataset=dataset, run__plan={}, card=card)


def sent(labeller: Artifact, **changes: object) -> dict[str, object]:
    asked = {"source": "A dog runs.", "similarity": "SIM95", "bleu": "BLEU0_5", "labeller": labeller.pk}
    return asked | changes


def ask(client, user, artifact: Artifact, labeller: Artifact, **changes: object):
    client.force_login(user)
    return client.post(reverse("mlworkers:paraphrase", args=[artifact.pk]), sent(labeller, **changes))


def ask_api(client, user, artifact: Artifact, labeller: Artifact, **changes: object):
    client.force_login(user)
    address = f"/api/v1/artifacts/{artifact.pk}/paraphrase/"
    return client.post(address, sent(labeller, **changes), content_type="application/json")


def trials() -> int:
    return Run.objects.filter(kind="try_paraphraser").count()


@pytest.mark.parametrize(
    ("person", "status"), [("stranger", 404), ("annotator", 403), ("curator", 200), ("staff", 200)]
)
def test_who_reads_the_dataset_of_a_paraphraser_may_try_it(
    client, request, paraphraser, labeller, person, status
) -> None:
    asked = ask(client, request.getfixturevalue(person), paraphraser, labeller)
    by_api = ask_api(client, request.getfixturevalue(person), paraphraser, labeller)

    assert asked.status_code == status
    assert by_api.status_code == (202 if status == 200 else status)
    assert trials() == (2 if status == 200 else 0)


def test_another_model_writes_no_paraphrases(client, staff, labeller) -> None:
    assert ask(client, staff, labeller, labeller).status_code == 404
    assert ask_api(client, staff, labeller, labeller).status_code == 404


def test_a_labeller_that_one_does_not_see_measures_nothing(client, curator, paraphraser) -> None:
    hidden = ArtifactFactory(kind="labeller", run__plan={})

    assert "Measured by: Select a valid choice" in ask(client, curator, paraphraser, hidden).text
    assert ask_api(client, curator, paraphraser, hidden).status_code == 400
    assert trials() == 0


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"source": " "}, "Sentence: This field is required."),
        ({"similarity": "SIM97"}, "There is no pair of tags “SIM97 BLEU0_5”; the 48 pairs are SIM70 BLEU0_5, SIM70"),
        ({"bleu": "BLEU45"}, "There is no pair of tags “SIM95 BLEU45”; the 48 pairs are"),
        ({"source": "x" * 2001}, "2000 characters"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_at_once(
    client, curator, paraphraser, labeller, changes, sentence
) -> None:
    asked = ask(client, curator, paraphraser, labeller, **changes)

    assert sentence in asked.text
    assert ask_api(client, curator, paraphraser, labeller, **changes).status_code == 400
    assert trials() == 0


def test_the_page_of_the_paraphraser_offers_its_own_tags(curator, paraphraser, labeller) -> None:
    paraphraser.card = {"tags": TagBounds(sim_above=50, sim_width=10, bleu_most=30).as_dict()}
    paraphraser.save()

    shown = client_of(curator).get(reverse("mlworkers:model_detail", args=[paraphraser.pk])).text

    assert "Try a sentence" in shown
    assert '<option value="SIM50">50 to 60</option>' in shown
    assert '<option value="BLEU0_5">0 to 10</option>' in shown
    assert "BLEU30" not in shown


def test_a_paraphraser_whose_files_were_removed_has_no_form_and_says_what_to_do(curator, paraphraser) -> None:
    paraphraser.removed_at = now()
    paraphraser.save()

    shown = client_of(curator).get(reverse("mlworkers:model_detail", args=[paraphraser.pk])).text

    assert "Try a sentence" not in shown
    assert "Start its run again to create them." in shown


def test_the_answer_has_what_was_measured_and_marks_copies(client, curator, paraphraser, labeller) -> None:
    ask(client, curator, paraphraser, labeller)
    run = Run.objects.get(kind="try_paraphraser")
    Run.objects.filter(pk=run.pk).update(state="succeeded", result={"paraphrases": ROWS})

    shown = client.get(reverse("mlworkers:paraphrased", args=[run.pk])).text
    by_api = client.get(f"/api/v1/paraphrases/{run.pk}/").json()

    assert "A hound is running." in shown
    assert "96.2" in shown
    assert shown.count("same as the sentence") == 1
    assert shown.count("in the cell") == 1
    assert shown.count("–") == 2  # nothing could be measured
    assert by_api["paraphrases"] == ROWS
    assert by_api["answer"].endswith(f"/api/v1/paraphrases/{run.pk}/")


def test_nobody_else_gets_the_answer(client, curator, owner, staff, paraphraser, labeller) -> None:
    ask(client, curator, paraphraser, labeller)
    run = Run.objects.get(kind="try_paraphraser")

    statuses = []
    for person in (curator, owner, staff):
        client.force_login(person)
        addresses = (reverse("mlworkers:paraphrased", args=[run.pk]), f"/api/v1/paraphrases/{run.pk}/")
        statuses += [client.get(address).status_code for address in addresses]

    assert statuses == [200, 200, 404, 404, 404, 404]


def test_a_question_that_failed_says_why(client, curator, paraphraser, labeller) -> None:
    ask(client, curator, paraphraser, labeller)
    run = Run.objects.get(kind="try_paraphraser")
    Run.objects.filter(pk=run.pk).update(state="failed", message="“Dog” has one word.")

    shown = client.get(reverse("mlworkers:paraphrased", args=[run.pk])).text

    assert "“Dog” has one word." in shown
    assert "hx-trigger" not in shown


def test_before_an_answer_the_page_says_that_no_worker_serves(client, curator, paraphraser, labeller) -> None:
    asked = ask(client, curator, paraphraser, labeller)

    assert "No worker serves the queue “playground”" in asked.text
