"""The playground: two sentences are asked of a worker, and the answer is shown to whoever asked."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from mlworkers.access import runs_visible
from mlworkers.models import Artifact, Run, WorkerHeartbeat
from mlworkers.runs.invitations import questions_forget
from mlworkers.runs.selectors import runs_to_invite
from mlworkers.runs.storage import RunLog
from tests.factories import ArtifactFactory, RunFactory

pytestmark = pytest.mark.django_db
SENTENCES = {"first": "A dog runs.", "second": "A dog is running."}


@pytest.fixture
def encoder(dataset) -> Artifact:
    return ArtifactFactory(run__dataset=dataset, run__plan={})


@pytest.fixture
def worker(db) -> WorkerHeartbeat:
    return WorkerHeartbeat.objects.create(
        name="playground@host/1", queues=["playground"], seen_at=timezone.now()
    )


def ask(client, user, artifact: Artifact | int, **sentences: str):
    client.force_login(user)
    number = artifact if isinstance(artifact, int) else artifact.pk
    return client.post(reverse("mlworkers:relate"), {**SENTENCES, "artifact": number, **sentences})


def answer(client, user, run: Run):
    client.force_login(user)
    return client.get(reverse("mlworkers:related", args=[run.pk]))


def answered(run: Run, **result: float) -> Run:
    Run.objects.filter(pk=run.pk).update(state="succeeded", result=result)
    return run


@pytest.mark.parametrize(
    ("person", "status"), [("stranger", 404), ("annotator", 403), ("curator", 200), ("staff", 200)]
)
def test_who_reads_the_dataset_of_a_model_may_try_it(client, request, encoder, person, status) -> None:
    asked = ask(client, request.getfixturevalue(person), encoder)

    assert asked.status_code == status
    assert Run.objects.filter(kind="relate_sentences").exists() == (status == 200)


@pytest.mark.parametrize(("person", "asked"), [("curator", False), ("staff", True)])
def test_the_packaged_model_is_for_staff_since_it_belongs_to_no_dataset(
    client, request, dataset, person, asked
) -> None:
    ask(client, request.getfixturevalue(person), 0)

    assert Run.objects.filter(kind="relate_sentences").exists() == asked


def test_a_generator_relates_nothing(client, staff, dataset) -> None:
    generator = ArtifactFactory(kind="generator", run__dataset=dataset, run__plan={})
    client.force_login(staff)

    assert "Try two sentences" not in client.get(reverse("mlworkers:model_detail", args=[generator.pk])).text


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [("first", "  ", "First sentence: This field is required."), ("second", "x" * 2001, "2000 characters")],
)
def test_what_is_no_sentence_is_said_beside_its_field(
    client, curator, encoder, field, value, sentence
) -> None:
    asked = ask(client, curator, encoder, **{field: value})

    assert sentence in asked.text
    assert not Run.objects.filter(kind="relate_sentences").exists()


def test_while_no_worker_would_answer_the_page_says_how_to_start_one(client, curator, encoder) -> None:
    asked = ask(client, curator, encoder)

    assert "No worker serves the queue “playground”, so there is no answer." in asked.text
    assert "hx-trigger" in asked.text


def test_a_question_does_not_wait_for_the_runs_of_the_gpu(client, curator, encoder, worker) -> None:
    RunFactory(kind="train_encoder", queue="gpu", state="running", plan={})

    asked = ask(client, curator, encoder)

    assert "Waiting for the worker…" in asked.text
    assert [run.kind for run in runs_to_invite(timezone.now() + timedelta(minutes=1), worker.queues)] == [
        "relate_sentences"
    ]


def test_the_answer_is_the_cosine_with_its_place_among_the_test_pairs(client, curator, encoder) -> None:
    ask(client, curator, encoder)
    run = answered(Run.objects.get(kind="relate_sentences"), cosine=0.9149, pairs=200, below=166)

    shown = answer(client, curator, run).text

    assert "0.91" in shown
    assert "Higher than 83% of 200 test pairs of" in shown
    assert "hx-trigger" not in shown


def test_an_answer_without_test_pairs_is_the_cosine_alone(client, curator, encoder) -> None:
    ask(client, curator, encoder)
    run = answered(Run.objects.get(kind="relate_sentences"), cosine=-0.041)

    shown = answer(client, curator, run).text

    assert "−0.04" in shown
    assert "Higher than" not in shown


def test_a_question_that_failed_says_why_and_is_asked_no_more(client, curator, encoder) -> None:
    ask(client, curator, encoder)
    run = Run.objects.get(kind="relate_sentences")
    Run.objects.filter(pk=run.pk).update(state="failed", message="The model is gone.")

    shown = answer(client, curator, run).text

    assert "The model is gone." in shown
    assert "hx-trigger" not in shown


def test_what_one_person_asked_is_shown_to_nobody_else(client, curator, owner, staff, encoder) -> None:
    ask(client, curator, encoder)
    run = answered(Run.objects.get(kind="relate_sentences"), cosine=0.5)

    assert [answer(client, person, run).status_code for person in (curator, owner, staff)] == [200, 404, 404]


def test_questions_stand_in_no_list(client, curator, staff, encoder) -> None:
    ask(client, curator, encoder)
    question = Run.objects.get(kind="relate_sentences")

    pages = {
        address: client.get(address).text
        for address in ("/runs/", f"/runs/of/{encoder.run.dataset.slug}/", "/api/v1/runs/", "/runs/start/")
    }

    assert question not in runs_visible(staff)
    assert [address for address, text in pages.items() if "relate_sentences" in text] == []
    assert [address for address, text in pages.items() if f"/runs/{question.pk}/" in text] == []


def test_a_question_is_forgotten_after_an_hour_with_its_folder_and_other_runs_are_kept(
    client, curator, encoder
) -> None:
    ask(client, curator, encoder)
    ask(client, curator, encoder)
    old, young = Run.objects.filter(kind="relate_sentences").order_by("pk")
    long_ago = timezone.now() - timedelta(minutes=61)
    Run.objects.filter(pk__in=[old.pk, encoder.run_id]).update(created_at=long_ago)
    log = RunLog(old.pk)
    log.write("Attempt 1 begins.")

    questions_forget(at=timezone.now())

    assert set(Run.objects.values_list("pk", flat=True)) == {young.pk, encoder.run_id}
    assert not log.path.parent.exists()
