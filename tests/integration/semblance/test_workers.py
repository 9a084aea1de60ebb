"""The page of workers, and `semblance workers`: what each does, and draining."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils.timezone import now

from curation.models import AuditEntry
from mlworkers.models import WorkerHeartbeat
from semblance.doctor import State
from semblance.workers.listing import worker_rows
from tests.factories import CampaignFactory, RunFactory, client_of
from tests.integration.semblance.test_doctor import said
from tests.integration.semblance.test_metrics import read

pytestmark = pytest.mark.django_db


def worker(name: str, **about) -> WorkerHeartbeat:
    given = {"queues": ["default"], "device": "cpu", "version": "1.2", "started_at": now(), "seen_at": now()}
    return WorkerHeartbeat.objects.create(name=name, **(given | about))


def task(name: str, about: int | None = None) -> dict:
    return {"task": name, "about": about, "seconds": 65}


def states() -> dict[str, str]:
    return {row.worker.name: row.state.value for row in worker_rows(now())}


def told(capsys) -> list[dict]:
    return json.loads(capsys.readouterr().out.splitlines()[-1])["workers"]


def test_each_worker_has_a_state() -> None:
    busy = [task("curation.sweep")]
    worker("a/1")
    worker("b/2", work=busy)
    worker("c/3", work=busy, is_closed=True, drain_at=now())
    worker("d/4", drain_at=now())  # it has not read that yet, and may take something
    worker("e/5", is_closed=True, drain_at=now())
    worker("f/6", seen_at=now() - timedelta(minutes=3), work=busy)

    assert states() == {
        "a/1": "idle",
        "b/2": "working",
        "c/3": "draining",
        "d/4": "draining",
        "e/5": "drained",
        "f/6": "silent",
    }


def test_the_page_names_what_workers_carry_out_with_links(staff) -> None:
    run = RunFactory(
        kind="train_encoder", queue="gpu", state="running", worker="gpu@here", heartbeat_at=now()
    )
    run.shards.create(stage="s", number=0, state="running", worker="gpu@there", heartbeat_at=now())
    campaign = CampaignFactory(name="Scenes of the sea")
    worker("gpu@here/1", queues=["gpu"], device="NVIDIA H100", devices=4, work=[task("mlworkers.execute", 3)])
    worker("gpu@there/2", queues=["gpu"], work=[task("mlworkers.assist", run.pk)])
    worker("default@here/3", work=[task("annotation.design", campaign.pk), task("curation.mails_send")])

    page = client_of(staff).get(reverse("workers")).text

    address = reverse("mlworkers:run_detail", args=[run.pk])
    assert page.count(f'href="{address}"') == 2
    for words in (
        "4 × NVIDIA H100",
        f"run {run.pk}, Train an encoder",
        f"assists with run {run.pk}, Train an encoder",
        "designs tuples of the campaign “Scenes of the sea”",
        "Semblance 1.2",
        "No worker takes work of these queues",  # of the playground
    ):
        assert words in page


def test_the_number_of_queries_does_not_grow_with_the_workers(
    client, staff, django_assert_num_queries
) -> None:
    for number in range(12):
        campaign = CampaignFactory()
        worker(f"w{number}/1", work=[task("annotation.design", campaign.pk)])

    with django_assert_num_queries(5):  # live, silent, runs, shards, campaigns
        worker_rows(now())


def test_staff_drain_one_worker_and_all_and_end_it(client, staff) -> None:
    one, _other = worker("a/1"), worker("b/2")
    client.force_login(staff)

    answer = client.post(reverse("worker_drain", args=[one.pk]), follow=True)
    after_one = states()
    client.post(reverse("workers_drain"))
    after_all = states()
    client.post(reverse("worker_undrain", args=[one.pk]))
    after_undrain = states()
    client.post(reverse("workers_undrain"))

    assert "a/1 takes no more work." in answer.text
    assert after_one == {"a/1": "draining", "b/2": "idle"}
    assert after_all == {"a/1": "draining", "b/2": "draining"}
    assert after_undrain == {"a/1": "idle", "b/2": "draining"}
    assert states() == {"a/1": "idle", "b/2": "idle"}
    assert AuditEntry.objects.count() == 4


def test_the_page_says_when_every_worker_can_be_stopped(client, staff) -> None:
    worker("a/1", is_closed=True, drain_at=now())
    client.force_login(staff)
    drained = client.get(reverse("workers")).text
    worker("b/2", work=[task("curation.sweep")], drain_at=now())

    assert "Every worker is drained." in drained
    assert "Every worker is drained." not in client.get(reverse("workers")).text


def test_a_site_without_workers_says_how_to_start_one(staff) -> None:
    page = client_of(staff).get(reverse("workers")).text

    assert "No worker has been heard of." in page
    assert "semblance worker --queues gpu" in page


@pytest.mark.parametrize("person", ["owner", "curator", "annotator"])
def test_only_staff_see_and_drain_workers(client, request, dataset, person: str) -> None:
    one = worker("a/1")
    client.force_login(request.getfixturevalue(person))

    answers = [client.get(reverse("workers")), client.post(reverse("worker_drain", args=[one.pk]))]
    answers += [client.get("/api/v1/workers/"), client.post(f"/api/v1/workers/{one.pk}/drain/")]

    assert {answer.status_code for answer in answers} == {403}
    assert states() == {"a/1": "idle"}


def test_the_log_of_all_datasets_tells_it_and_that_of_a_dataset_does_not(
    client, staff, owner, dataset
) -> None:
    one = worker("gpu@here/1")
    client.force_login(staff)
    client.post(reverse("worker_drain", args=[one.pk]))

    page = client.get(reverse("curation:audit_of_all")).text
    rows = client.get(reverse("curation:audit_file_of_all", args=["csv"])).getvalue().decode()
    lines = client.get(reverse("curation:audit_file_of_all", args=["jsonl"])).getvalue().decode()
    client.force_login(owner)
    of_dataset = client.get(reverse("curation:audit", args=[dataset.slug])).text

    assert "drained a worker" in page
    assert "gpu@here/1" in page
    assert "worker_drained,gpu@here/1" in rows
    assert json.loads(lines)["dataset"] is None
    assert "gpu@here/1" not in of_dataset


def test_the_command_lists_drains_and_undrains(capsys) -> None:
    worker("default@here/1")
    worker("gpu@here/2", queues=["gpu"])

    call_command("workers")
    listed = capsys.readouterr().out.splitlines()
    call_command("workers", "drain", "gpu@here", json=True)
    one = told(capsys)
    call_command("workers", "drain", all=True, json=True)
    everybody = told(capsys)
    call_command("workers", "undrain", "default@here/1", json=True)
    undrained = told(capsys)

    assert [line.split("  ")[0] for line in listed] == ["default@here/1", "gpu@here/2"]
    assert [row["state"] for row in one] == ["idle", "draining"]
    assert [row["state"] for row in everybody] == ["draining", "draining"]
    assert [row["state"] for row in undrained] == ["idle", "draining"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (("drain", "nobody"), "There is no live worker “nobody”"),
        (("drain",), "Name the workers, or give --all."),
        (("list", "a"), "Give drain or undrain"),
    ],
)
def test_the_command_says_what_was_wrong(given: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence) as failed:
        call_command("workers", *given)

    assert failed.value.returncode == 2


def test_the_command_waits_until_workers_are_drained_and_not_longer_than_it_is_told(capsys) -> None:
    one = worker("a/1", work=[task("curation.sweep")])
    with pytest.raises(CommandError, match="After 0 seconds not every worker is drained: a/1"):
        call_command("workers", "drain", "a/1", wait=0.0)

    WorkerHeartbeat.objects.filter(pk=one.pk).update(is_closed=True, work=[])
    call_command("workers", "drain", "a/1", wait=0.0, json=True)

    assert told(capsys)[0]["state"] == "drained"


def test_programs_of_staff_see_and_drain_workers(client, staff) -> None:
    one = worker("a/1", work=[task("curation.sweep")])
    client.force_login(staff)

    [listed] = client.get("/api/v1/workers/").json()
    drained = client.post(f"/api/v1/workers/{one.pk}/drain/").json()
    undrained = client.post(f"/api/v1/workers/{one.pk}/undrain/").json()

    assert (listed["name"], listed["state"], listed["queues"]) == ("a/1", "working", ["default"])
    assert listed["doing"] == [{"words": "looks for waiting work", "seconds": 65}]
    assert (drained["state"], undrained["state"]) == ("draining", "working")


def test_the_doctor_and_the_metrics_know_of_drained_workers(settings) -> None:
    settings.SECRET_KEY, settings.DISK_FREE_MIN_BYTES = "x" * 60, 1
    worker("default@here/1", drain_at=now())

    figures = read(settings)

    assert "The queue default waits: default@here/1 is drained." in said("workers", State.WARNING)
    assert (figures["semblance_workers", "default"], figures["semblance_workers_drained",]) == (0, 1)
