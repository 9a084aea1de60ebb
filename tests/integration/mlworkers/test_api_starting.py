"""Starting and cancelling runs by a program: the rules of the form, for the same people."""

from uuid import uuid4

import pytest
from django.core.files.base import ContentFile
from django.utils.timezone import now

from curation.exchange.importing import ImportOptions
from curation.exchange.uploads import import_check, import_upload
from curation.foundation.heartbeats import database_now
from curation.models import AuditEntry
from mlworkers.models import Run
from mlworkers.runs.attempts import run_carry_out
from mlworkers.runs.lifecycle import run_claim
from mlworkers.tasks import pipeline_of
from tests.factories import DatasetFactory, PairFactory, RunFactory, client_of, program_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def start(curator):
    """`start("export_dataset", dataset=…)` gives the status and the JSON of the answer."""
    client = program_of(curator)

    def post(kind: str, launch: str | None = None, **plan: object):
        body = {"kind": kind, "plan": plan} | ({"launch": launch} if launch else {})
        answer = client.post("/api/v1/runs/", body, content_type="application/json")
        return answer.status_code, answer.json()

    return post


def test_a_run_is_started_with_its_plan_and_the_defaults(start, dataset, curator) -> None:
    status, answer = start("export_dataset", dataset=dataset.slug, format="jsonl")

    run = Run.objects.get()
    assert (status, answer["id"], answer["state"]) == (201, run.pk, "queued")
    assert run.started_by == curator
    assert run.plan["format"] == "jsonl"
    assert run.plan["generated_pairs"] == "all but rejected"


def test_one_launch_starts_one_run(start, dataset) -> None:
    launch = str(uuid4())

    answers = [start("export_dataset", launch, dataset=dataset.slug)[1]["id"] for _time in range(2)]

    assert answers == [Run.objects.get().pk] * 2


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ({"format": "xls"}, "choose one of csv"),
        ({"formt": "csv"}, "did you mean “format”"),
        ({"score_set": "nothing"}, "nothing"),
        ({"spreadsheet": "perhaps"}, "yes or no"),
    ],
)
def test_a_plan_that_is_wrong_is_refused_in_a_sentence(start, dataset, plan, sentence) -> None:
    status, answer = start("export_dataset", dataset=dataset.slug, **plan)

    assert status == 400
    assert sentence in str(answer)
    assert not Run.objects.exists()


def test_a_dataset_is_needed_and_must_be_one_s_own(start, dataset) -> None:
    assert start("export_dataset")[0] == 400
    assert start("export_dataset", dataset=DatasetFactory().slug)[0] == 404
    assert start("nothing", dataset=dataset.slug)[0] == 404
    assert start("train_encoder", dataset=dataset.slug)[0] == 403


def test_the_kinds_that_one_may_start_are_listed_with_their_settings(curator, staff) -> None:
    own = {kind["name"] for kind in program_of(curator).get("/api/v1/runs/kinds/").json()}
    all_kinds = program_of(staff).get("/api/v1/runs/kinds/").json()

    assert "export_dataset" in own
    assert "train_encoder" not in own
    assert own < {kind["name"] for kind in all_kinds}
    export = next(kind for kind in all_kinds if kind["name"] == "export_dataset")
    formats = next(setting for setting in export["settings"] if setting["name"] == "format")
    assert (formats["default"], formats["choices"]) == ("csv", ["csv", "tsv", "jsonl", "parquet"])


def test_a_run_is_cancelled_and_started_again(start, dataset, curator) -> None:
    _status, run = start("export_dataset", dataset=dataset.slug)
    client = program_of(curator)

    cancelled = client.post(f"/api/v1/runs/{run['id']}/cancel/").json()
    again = client.post(f"/api/v1/runs/{run['id']}/again/", {}, content_type="application/json")

    assert cancelled["state"] == "cancelled"
    assert again.status_code == 201
    assert again.json()["plan"] == run["plan"]


@pytest.mark.parametrize("what", ["cancel", "again"])
def test_who_may_end_and_repeat_a_run(what, dataset, owner, annotator, stranger) -> None:
    people = {"owner": owner, "annotator": annotator, "stranger": stranger}
    clients = {who: program_of(person) for who, person in people.items()}
    plan = {"dataset": dataset.slug, "format": "csv", "score_set": "", "generated_pairs": "kept or human"}
    run = RunFactory(kind="export_dataset", dataset=dataset, plan=plan)

    answers = {
        who: client.post(f"/api/v1/runs/{run.pk}/{what}/", {}, content_type="application/json").status_code
        for who, client in clients.items()
        if who != "owner"
    }

    assert answers == {"annotator": 403, "stranger": 404}


def test_files_of_runs_are_for_those_who_read_the_dataset(
    start, dataset, curator, stranger, annotator
) -> None:
    PairFactory(dataset=dataset)
    _status, run = start("export_dataset", dataset=dataset.slug)
    claim = run_claim(run_id=run["id"], worker="test", at=now())
    run_carry_out(claim, pipeline_of)
    client = program_of(curator)
    made = client.get(f"/api/v1/runs/{run['id']}/").json()

    files = [one for one in made["artifacts"] if one["kind"] == "pairs"]
    answer = client.get(files[0]["download"], headers={"accept": "text/csv"})

    assert b"A dog runs" in b"".join(answer.streaming_content)
    assert program_of(annotator).get(files[0]["download"]).status_code == 404
    assert program_of(stranger).get(files[0]["download"]).status_code == 404


@pytest.mark.parametrize("with_token", [True, False])
def test_the_log_says_with_which_token_a_run_was_started(dataset, curator, with_token) -> None:
    """The upload came by the site, so that what the log says can only come from the run."""
    file = ContentFile(b"a,b\nA dog runs.,A cat sleeps.\n", "pairs.csv")
    batch = import_upload(dataset=dataset, files=[file], by=curator)
    import_check(batch=batch, options=ImportOptions())
    body = {"kind": "import_pairs", "plan": {"dataset": dataset.slug, "batch": batch.pk}}
    client = program_of(curator)
    if not with_token:
        client = client_of(curator)

    started = client.post("/api/v1/runs/", body, content_type="application/json").json()
    run_carry_out(run_claim(run_id=started["id"], worker="w", at=database_now()), pipeline_of)

    entry = AuditEntry.objects.get(action="pairs_imported")
    beginning = curator.api_tokens.get().beginning if with_token else ""
    assert (entry.by, entry.via, entry.token) == (curator, "token" if with_token else "site", beginning)
