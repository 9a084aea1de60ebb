"""The pages of runs: who sees what, what they say, and how many questions they ask the database."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from curation.models import ImportBatch, Snapshot
from mlworkers import tasks
from mlworkers.access import instructions_dataset, instructions_may_write
from mlworkers.models import Artifact, Run, RunShard, WorkerHeartbeat
from mlworkers.runs.attempts import DISK_FULL, UNEXPECTED
from mlworkers.runs.presence import workers_announce
from mlworkers.runs.storage import RunLog
from tests.factories import DatasetFactory, PairFactory, RunFactory, ScoreSetFactory, client_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
NO_WORKER = "semblance worker --queues default"


@pytest.fixture
def run(dataset) -> Run:
    return RunFactory(dataset=dataset)


@pytest.fixture
def worker(db) -> WorkerHeartbeat:
    return WorkerHeartbeat.objects.create(name="default@host/1", queues=["default"], seen_at=timezone.now())


def page(client, user, name: str, *args: object, **query: object):
    client.force_login(user)
    return client.get(reverse(f"mlworkers:{name}", args=args), query)


def post(client, user, name: str, *args: object, **fields: object):
    client.force_login(user)
    return client.post(reverse(f"mlworkers:{name}", args=args), fields)


def questions(client, user, name: str, *args: object) -> int:
    """How many queries a page asks of whoever is logged in."""
    client.force_login(user)
    with CaptureQueriesContext(connection) as asked:
        client.get(reverse(f"mlworkers:{name}", args=args))
    return len(asked)


# Who sees what


@pytest.mark.parametrize("name", ["run_detail", "run_progress"])
@pytest.mark.parametrize(
    ("person", "status"),
    [("stranger", 404), ("annotator", 403), ("curator", 200), ("owner", 200), ("staff", 200)],
)
def test_a_run_is_shown_to_those_who_curate_its_dataset(client, request, run, name, person, status) -> None:
    answer = page(client, request.getfixturevalue(person), name, run.pk)

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("person", "status"), [("stranger", 404), ("annotator", 403), ("curator", 200), ("staff", 200)]
)
def test_the_log_book_is_for_staff_and_curators(client, request, dataset, person, status) -> None:
    answer = page(client, request.getfixturevalue(person), "run_list")

    assert answer.status_code == status


@pytest.mark.parametrize(
    ("person", "may"),
    [
        ("stranger", False),
        ("annotator", False),
        ("curator", True),
        ("owner", True),
        ("staff", True),
        ("admin", True),
    ],
)
def test_instructions_are_written_by_curators_and_staff(request, dataset, person, may) -> None:
    assert instructions_may_write(request.getfixturevalue(person), dataset) is may


def test_nobody_writes_instructions_of_an_archived_dataset(dataset, curator, staff) -> None:
    dataset.archived = True
    dataset.save()

    assert not instructions_may_write(curator, dataset)
    assert not instructions_may_write(staff, dataset)
    assert instructions_dataset(staff, dataset.slug, may="read") == dataset


def test_a_curator_sees_the_runs_of_their_datasets_alone(client, curator, run) -> None:
    other = RunFactory()

    answer = page(client, curator, "run_list")

    assert reverse("mlworkers:run_detail", args=[run.pk]) in answer.text
    assert reverse("mlworkers:run_detail", args=[other.pk]) not in answer.text


def test_a_run_without_a_dataset_is_staff_s_alone(client, curator, staff) -> None:
    run = RunFactory(dataset=None, kind="something_old", plan={"seed": 13})

    assert page(client, curator, "run_detail", run.pk).status_code == 404
    assert page(client, staff, "run_detail", run.pk).status_code == 200


@pytest.mark.parametrize("name", ["run_cancel", "run_again"])
@pytest.mark.parametrize(("person", "status"), [("stranger", 404), ("annotator", 403), ("curator", 302)])
def test_who_may_cancel_a_run_or_start_it_again(client, request, run, name, person, status) -> None:
    answer = post(client, request.getfixturevalue(person), name, run.pk)

    assert answer.status_code == status


@pytest.mark.parametrize("name", ["run_cancel", "run_again"])
def test_a_curator_watches_a_run_that_staff_started_and_does_not_interfere(
    client, curator, dataset, name
) -> None:
    run = RunFactory(dataset=dataset, kind="train_encoder", plan={})

    shown = page(client, curator, "run_detail", run.pk)

    assert shown.status_code == 200
    assert reverse(f"mlworkers:{name}", args=[run.pk]) not in shown.text
    assert post(client, curator, name, run.pk).status_code == 403


@pytest.mark.parametrize(
    ("kind", "person", "status"),
    [
        ("export_dataset", "stranger", 404),
        ("export_dataset", "annotator", 403),
        ("export_dataset", "curator", 200),
        ("export_dataset", "staff", 200),
        ("import_pairs", "curator", 200),
        ("import_pairs", "staff", 403),
        ("import_pairs", "admin", 200),
        ("train_everything", "staff", 404),
    ],
)
def test_who_may_start_which_kind(client, request, dataset, kind, person, status) -> None:
    answer = page(client, request.getfixturevalue(person), "run_start", kind, dataset=dataset.slug)

    assert answer.status_code == status


# The log book


def test_the_log_book_says_what_it_is_for_when_it_is_empty(client, staff, dataset) -> None:
    answer = page(client, staff, "run_list")

    assert "No runs yet. Start an export, or import a large file." in answer.text


def test_the_log_book_tells_each_outcome_in_a_phrase(client, staff) -> None:
    began = timezone.now() - timedelta(hours=1)
    RunFactory(
        state="succeeded",
        message="3,412 pairs written",
        started_at=began,
        finished_at=began + timedelta(seconds=200),
    )

    answer = page(client, staff, "run_list")

    assert "3,412 pairs written" in answer.text
    assert "3 min 20 s" in answer.text


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"kind": "import_pairs"}, 1),
        ({"state": "failed"}, 1),
        ({"dataset": "scenes"}, 1),
        ({"kind": "nonsense"}, 3),
    ],
)
def test_the_log_book_can_be_filtered(client, staff, query: dict[str, str], found: int) -> None:
    RunFactory(kind="import_pairs")
    RunFactory(state="failed")
    RunFactory(dataset=DatasetFactory(slug="scenes"))

    answer = page(client, staff, "run_list", **query)

    assert len(answer.context["rows"]) == found


def test_the_log_book_of_a_dataset_without_runs_leads_to_its_first(client, staff, dataset) -> None:
    other = RunFactory()

    answer = page(client, staff, "run_list", dataset=dataset.slug)

    start = f"{reverse('mlworkers:run_kinds')}?dataset={dataset.slug}"
    assert "Select a valid choice" not in answer.text
    assert f'<option value="{dataset.slug}" selected>' in answer.text
    assert reverse("mlworkers:run_detail", args=[other.pk]) not in answer.text
    assert f'No runs on the dataset “{dataset.name}” yet.<a href="{start}">' in squeezed(answer.text)


@pytest.mark.parametrize("person", ["staff", "curator"])
def test_the_log_book_asks_the_same_number_of_questions_however_long_it_is(
    client, request, dataset, person
) -> None:
    user = request.getfixturevalue(person)
    RunFactory(dataset=dataset, started_by=user)
    few = questions(client, user, "run_list")

    RunFactory.create_batch(40, dataset=dataset, started_by=user)

    assert questions(client, user, "run_list") == few <= 12


# A run's page


def test_a_run_that_no_worker_can_take_says_so_with_the_command_that_starts_one(client, curator, run) -> None:
    answer = page(client, curator, "run_detail", run.pk)

    assert "No worker serves the queue “default”" in answer.text
    assert NO_WORKER in answer.text


@pytest.mark.parametrize("name", ["run_detail", "run_progress"])
def test_right_after_the_start_of_the_site_a_run_says_that_its_worker_is_starting(
    client, curator, run, name
) -> None:
    workers_announce([run.queue])

    text = page(client, curator, name, run.pk).text

    assert "The worker of the queue “default” is starting." in squeezed(text)
    assert NO_WORKER not in text


def test_a_run_that_a_worker_can_take_says_nothing_of_commands(client, curator, run, worker) -> None:
    answer = page(client, curator, "run_detail", run.pk)

    assert NO_WORKER not in answer.text


def test_a_running_run_shows_how_far_it_is_how_fast_and_how_long_it_will_take(
    client, curator, dataset, worker
) -> None:
    at = timezone.now()
    run = RunFactory(
        dataset=dataset,
        state="running",
        done=2_000,
        total=10_000,
        claimed_at=at - timedelta(seconds=10),
        heartbeat_at=at,
    )

    answer = page(client, curator, "run_progress", run.pk)

    assert "2,000 of 10,000 pairs" in answer.text
    assert "200 pairs a second" in answer.text
    assert "about 40 s left" in answer.text


def test_the_page_asks_for_progress_until_the_run_has_ended(client, curator, run) -> None:
    while_queued = page(client, curator, "run_progress", run.pk)
    Run.objects.filter(pk=run.pk).update(state="succeeded")
    afterwards = page(client, curator, "run_progress", run.pk)

    assert "hx-trigger" in while_queued.text
    assert "hx-trigger" not in afterwards.text


def test_what_failed_is_said_beside_the_button_that_starts_it_again(client, curator, dataset) -> None:
    run = RunFactory(dataset=dataset, state="failed", message="The disk is full, so the run stopped.")

    answer = page(client, curator, "run_detail", run.pk)

    assert "The disk is full, so the run stopped." in answer.text
    assert reverse("mlworkers:run_again", args=[run.pk]) in answer.text


@pytest.mark.parametrize(
    ("state", "message", "primary"),
    [
        ("failed", "The dataset has no split “dev”.", "Change the settings and start again"),
        ("failed", UNEXPECTED % {"reference": "0a1b2c3d"}, "Start again"),
        ("failed", str(DISK_FULL), "Start again"),
        ("cancelled", "Cancelled by curator.", "Start again"),
    ],
)
def test_the_primary_action_of_a_run_that_did_not_succeed_is_what_mends_it(
    client, curator, dataset, state: str, message: str, primary: str
) -> None:
    failed = RunFactory(dataset=dataset, state=state, message=message)

    shown = page(client, curator, "run_detail", failed.pk).text

    primaries = re.findall(r'class="(?:button )?primary"[^>]*>\s*([^<]+?)\s*<', shown)
    assert primaries == [primary]


def test_cancelling_asks_where_work_would_be_lost(client, curator, run) -> None:
    Run.objects.filter(pk=run.pk).update(started_at=None, claimed_at=None, state="queued")
    plain = page(client, curator, "run_progress", run.pk).text
    Run.objects.filter(pk=run.pk).update(state="running", total=20, started_at=timezone.now())
    begun = page(client, curator, "run_progress", run.pk).text
    RunShard.objects.create(run=run, stage="writing", number=0, size=10, done=10, state="done")
    asking = page(client, curator, "run_progress", run.pk).text

    assert "Cancel, and lose the work" not in plain
    assert "the work of this run is lost" in begun
    assert "Cancel, and lose the work" in begun
    assert "1 shard is done. If you cancel, its work is lost" in squeezed(asking)


def test_the_log_s_last_lines_are_shown_as_text(client, curator, run) -> None:
    RunLog(run.pk).write("<script>alert(1)</script>")

    answer = page(client, curator, "run_detail", run.pk)

    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in answer.text


def test_plan_and_result_stand_side_by_side_in_words(client, curator, dataset) -> None:
    result = {"rows": 12_000, "columns": {"a": "sentence1"}, "scale": [0, 5], "errors": [{"line": 3}]}
    run = RunFactory(dataset=dataset, state="succeeded", result=result)

    answer = page(client, curator, "run_detail", run.pk)

    for text in (
        "<dt>Format</dt><dd>csv</dd>",
        "<dd>12,000</dd>",
        "<dt>Columns: a</dt><dd>sentence1</dd>",
        "<dd>0, 5</dd>",
    ):
        assert text in squeezed(answer.text)


@pytest.mark.parametrize("name", ["run_detail", "run_progress"])
@pytest.mark.parametrize("person", ["staff", "curator"])
def test_a_run_s_page_asks_the_same_number_of_questions_however_many_files_it_has(
    client, request, run, person, name
) -> None:
    user = request.getfixturevalue(person)
    few = questions(client, user, name, run.pk)

    for number in range(20):
        Artifact.objects.create(run=run, kind="pairs", path=f"runs/1/1/{number}.csv", sha256="0" * 64)

    assert questions(client, user, name, run.pk) == few


# Starting


def test_without_a_dataset_the_page_offers_those_one_may_start_it_for(client, curator, dataset) -> None:
    DatasetFactory(name="Somebody else's")

    answer = page(client, curator, "run_start", "export_dataset")

    assert dataset.name in answer.text
    assert "Somebody else" not in answer.text


def test_the_form_offers_the_dataset_s_own_score_sets(client, curator, dataset) -> None:
    ScoreSetFactory(dataset=dataset, name="gold of this one")
    ScoreSetFactory(name="gold of another")

    answer = page(client, curator, "run_start", "export_dataset", dataset=dataset.slug)

    assert "gold of this one" in answer.text
    assert "gold of another" not in answer.text


def test_a_filled_in_form_starts_a_run_and_opens_its_page(client, curator, dataset) -> None:
    fields = {"dataset": dataset.slug, "format": "jsonl", "generated_pairs": "kept only"}
    fields |= {"launch": str(uuid4())}

    answers = [post(client, curator, "run_start", "export_dataset", **fields) for _sent in range(2)]

    run = Run.objects.get()
    assert [answer.headers["Location"] for answer in answers] == [f"/runs/{run.pk}/"] * 2
    assert (run.plan["format"], run.plan["generated_pairs"]) == ("jsonl", "kept only")
    assert (run.started_by, run.dataset) == (curator, dataset)


def test_the_button_that_starts_a_run_again_starts_one_however_often_it_is_pressed(
    client, curator, dataset
) -> None:
    failed = RunFactory(dataset=dataset, state="failed")
    shown = page(client, curator, "run_detail", failed.pk)
    launch = re.search(r'name="launch" value="([^"]+)"', shown.text)[1]

    answers = [post(client, curator, "run_again", failed.pk, launch=launch) for _pressed in range(2)]

    run = Run.objects.exclude(pk=failed.pk).get()
    assert [answer.headers["Location"] for answer in answers] == [f"/runs/{run.pk}/"] * 2


def test_what_can_no_longer_be_started_again_is_one_sentence_and_no_run(client, staff, dataset) -> None:
    plan = {"dataset": dataset.slug, "model": "m", "scores": "gone", "weighting": "plain"}
    failed = RunFactory(kind="train_encoder", dataset=dataset, state="failed", plan=plan)

    answer = post(client, staff, "run_again", failed.pk, launch="nonsense")

    assert f"The dataset “{dataset.slug}” has no score set “gone”; choose one that it has." in answer.text
    assert Run.objects.count() == 1


def test_a_wrong_value_is_said_on_the_form_and_the_rest_is_kept(client, curator, dataset) -> None:
    answer = post(client, curator, "run_start", "export_dataset", dataset=dataset.slug, format="xls")

    assert "xls is not one of the available choices" in answer.text
    assert not Run.objects.exists()


def test_what_a_service_refuses_is_said_on_the_form(client, curator, dataset) -> None:
    batch = ImportBatch.objects.create(dataset=dataset, file_name="pairs.csv", mapping={"header": True})
    fields = {"dataset": dataset.slug, "batch": batch.pk}
    post(client, curator, "run_start", "import_pairs", **fields)

    answer = post(client, curator, "run_start", "import_pairs", **fields)

    assert "already imports this file" in answer.text
    assert Run.objects.count() == 1


def test_where_no_upload_waits_the_form_says_where_to_make_one(client, curator, dataset) -> None:
    ImportBatch.objects.create(dataset=dataset, file_name="done.csv", mapping={"header": True}, state="done")

    answer = page(client, curator, "run_start", "import_pairs", dataset=dataset.slug)

    assert "upload one on the dataset&#x27;s import page" in answer.text
    assert "done.csv" not in answer.text


def test_an_import_that_succeeded_is_not_offered_again(client, curator, dataset) -> None:
    plan = {"dataset": dataset.slug, "batch": 1}
    run = RunFactory(kind="import_pairs", dataset=dataset, plan=plan, state="succeeded")

    answer = page(client, curator, "run_detail", run.pk)

    assert reverse("mlworkers:run_again", args=[run.pk]) not in answer.text
    assert post(client, curator, "run_again", run.pk).status_code == 403


def test_a_run_can_be_started_again_with_changes(client, curator, dataset) -> None:
    run = RunFactory(dataset=dataset, state="failed", plan={"dataset": dataset.slug, "format": "parquet"})

    answer = page(client, curator, "run_start", "export_dataset", dataset=dataset.slug, again=run.pk)

    assert '<option value="parquet" selected>' in answer.text


def test_the_plan_of_a_run_one_may_not_read_fills_in_no_form(client, curator, dataset) -> None:
    secret = RunFactory()

    answer = page(client, curator, "run_start", "export_dataset", dataset=dataset.slug, again=secret.pk)

    assert answer.status_code == 404


# Files


def test_a_run_s_file_can_be_downloaded(client, curator, dataset) -> None:
    PairFactory(dataset=dataset, external_id="first pair")
    run = RunFactory(dataset=dataset)
    tasks.execute(run.pk)

    answer = page(client, curator, "artifact_download", run.pk, run.artifacts.get(kind="pairs").pk)

    assert "attachment" in answer.headers["Content-Disposition"]
    assert b"first pair" in b"".join(answer.streaming_content)


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "/etc/passwd", "runs/1/link.csv", "runs/1/missing.csv", "runs"]
)
def test_nothing_outside_the_installation_s_folder_is_ever_served(client, curator, run, home, path) -> None:
    link = home / "runs" / "1" / "link.csv"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to("/etc/passwd")
    artifact = Artifact.objects.create(run=run, kind="pairs", path=path, sha256="0" * 64)

    answer = page(client, curator, "artifact_download", run.pk, artifact.pk)

    assert answer.status_code == 404


def test_a_file_is_found_under_its_own_run_alone(client, curator, run) -> None:
    others = Artifact.objects.create(run=RunFactory(), kind="pairs", path="runs/9/1/a.csv", sha256="0" * 64)

    answer = page(client, curator, "artifact_download", run.pk, others.pk)

    assert answer.status_code == 404


# For programs


def test_the_api_lists_the_runs_one_may_see(curator, run) -> None:
    RunFactory()

    answer = client_of(curator).get("/api/v1/runs/").json()

    assert [row["id"] for row in answer["results"]] == [run.pk]


def test_the_api_tells_a_run_with_its_files(curator, dataset) -> None:
    run = RunFactory(dataset=dataset)
    tasks.execute(run.pk)

    answer = client_of(curator).get(f"/api/v1/runs/{run.pk}/").json()

    artifact = run.artifacts.order_by("pk").first()
    assert (answer["state"], answer["dataset"], answer["result"]["rows"]) == ("succeeded", dataset.slug, 0)
    assert answer["artifacts"][0]["sha256"] == artifact.sha256
    assert answer["artifacts"][0]["download"] == f"http://testserver/api/v1/artifacts/{artifact.pk}/file/"


def test_the_api_removes_no_run_and_starts_none_without_a_dataset(client, curator, run) -> None:
    client.force_login(curator)

    removed = client.delete(f"/api/v1/runs/{run.pk}/")
    started = client.post("/api/v1/runs/", {"kind": "export_dataset"}, content_type="application/json")

    assert (removed.status_code, started.status_code) == (405, 400)
    assert Run.objects.count() == 1


def test_the_administration_shows_runs_and_changes_none(client, admin, run) -> None:
    client.force_login(admin)
    address = f"/admin/mlworkers/run/{run.pk}/change/"

    shown, changed = client.get(address), client.post(address, {"state": "succeeded"})

    assert (shown.status_code, changed.status_code) == (200, 403)


def test_a_snapshot_names_the_runs_that_read_it_and_their_models(client, staff, dataset) -> None:
    for number in (3, 4):
        Snapshot.objects.create(dataset=dataset, number=number, rows=4, sha256="0" * 64, path=str(number))
    plan = {"dataset": dataset.slug, "snapshot": 3}
    run = RunFactory(kind="train_encoder", dataset=dataset, state="succeeded", plan=plan)
    Artifact.objects.create(run=run, kind="encoder", path="runs/1/small-encoder", sha256="0" * 64)
    RunFactory(kind="train_encoder", dataset=DatasetFactory(), plan=plan | {"dataset": "another"})

    shown = page(client, staff, "snapshot_runs", dataset.slug, 3).content.decode()
    other = page(client, staff, "snapshot_runs", dataset.slug, 4).content.decode()

    assert shown.count("small-encoder") == 1
    assert shown.count("<li>") == 1
    assert "snapshot=3" in shown
    assert "No run has read this snapshot." in other
    client.force_login(staff)
    assert client.get(f"/runs/of/{dataset.slug}/snapshots/5/").status_code == 404


def test_the_form_of_a_training_takes_the_snapshot_that_the_person_comes_from(client, staff, dataset) -> None:
    Snapshot.objects.create(dataset=dataset, number=3, rows=4, sha256="0" * 64, path="x")

    form = page(client, staff, "run_start", "train_encoder", dataset=dataset.slug, snapshot=3)

    assert re.search(r'<option value="3" selected', form.content.decode())


def test_scores_of_a_model_lead_to_a_comparison_with_others(client, staff, dataset) -> None:
    run = RunFactory(kind="score_pairs", dataset=dataset, state="succeeded")
    scores = ScoreSetFactory(dataset=dataset, kind="model", run_ref=run.pk)

    shown = page(client, staff, "run_detail", run.pk).content.decode()

    assert f"/datasets/{dataset.slug}/score-sets/?second={scores.pk}" in shown


def test_a_csv_file_of_a_run_is_safe_for_a_spreadsheet_on_demand(client, curator, run, home) -> None:
    path = home / "runs" / str(run.pk) / "1" / "folds.csv"
    path.parent.mkdir(parents=True)
    path.write_text("pair,id,score\n1,=1+1,-0.5\n")
    relative = str(path.relative_to(home))
    artifact = Artifact.objects.create(run=run, kind="folds", path=relative, sha256="0" * 64, size=27)

    plain, safe = (
        page(client, curator, "artifact_download", run.pk, artifact.pk, **query)
        for query in ({}, {"spreadsheet": 1})
    )
    program = client.get(f"/api/v1/artifacts/{artifact.pk}/file/?spreadsheet=1")

    assert b"".join(plain.streaming_content) == path.read_bytes()
    expected = b"pair,id,score\r\n1,'=1+1,-0.5\r\n"
    assert b"".join(safe.streaming_content) == b"".join(program.streaming_content) == expected
    assert 'filename="folds.csv"' in safe["Content-Disposition"]
    assert (
        f"/files/{artifact.pk}/?spreadsheet=1" in page(client, curator, "run_detail", run.pk).content.decode()
    )
