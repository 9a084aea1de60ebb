"""`semblance run`: the same runs as the pages', from a shell."""

import json
import threading
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from mlworkers import tasks
from mlworkers.models import Run, WorkerHeartbeat
from mlworkers.runs.presence import workers_announce
from tests.factories import DatasetFactory, PairFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def scenes():
    dataset = DatasetFactory(slug="scenes")
    PairFactory.create_batch(3, dataset=dataset)
    return dataset


def answered(text: str) -> dict[str, object]:
    return json.loads(text.splitlines()[-1])


def test_a_run_is_queued_with_the_settings_that_were_given(scenes, capsys) -> None:
    call_command("run", "export_dataset", "dataset=scenes", "format=jsonl", "--json")

    run = Run.objects.get()
    assert run.plan["format"] == "jsonl"
    assert answered(capsys.readouterr().out) | {"message": ""} == {
        "run": run.pk,
        "kind": "export_dataset",
        "state": "queued",
        "message": "",
        "result": {},
        "files": [],
    }


def test_without_a_worker_the_command_says_how_to_start_one(scenes, capsys) -> None:
    call_command("run", "export_dataset", "dataset=scenes")

    assert "No worker serves the queue “default”" in (said := capsys.readouterr().err)
    assert "semblance worker --queues default" in said


def test_right_after_the_start_of_a_site_the_command_says_that_the_worker_is_starting(scenes, capsys) -> None:
    workers_announce(["default"])

    call_command("run", "export_dataset", "dataset=scenes")

    assert "The worker of the queue “default” is starting." in (said := capsys.readouterr().err)
    assert "No worker" not in said


def test_with_a_worker_it_says_nothing_of_that(scenes, capsys) -> None:
    WorkerHeartbeat.objects.create(name="default@host", queues=["default"], seen_at=timezone.now())

    call_command("run", "export_dataset", "dataset=scenes")

    assert "No worker" not in capsys.readouterr().err


def test_a_plan_in_a_file_gives_way_to_what_the_command_says(scenes, tmp_path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({"dataset": "scenes", "format": "tsv", "spreadsheet": True}))

    call_command("run", "export_dataset", "format=csv", "--plan", str(plan))

    stored = Run.objects.get().plan
    assert (stored["format"], stored["spreadsheet"]) == ("csv", True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["export_dataset", "scenes"], "“scenes” is not a setting; write key=value."),
        (["export_dataset", "datset=scenes"], "did you mean “dataset”?"),
        (["export_dataset", "dataset=scenes", "format=xls"], "“format” is “xls”; choose one of"),
        (["export_everything"], "There is no kind of run called “export_everything”"),
        ([], "No kind of run was given; `semblance run --list` prints those there are."),
        (["export_dataset", "--plan", "missing.json"], "missing.json cannot be read as JSON"),
        (["export_dataset", "--plan", "{list}"], "holds no plan; give an object of settings."),
        (["export_dataset", "--plan", "{deep}"], "cannot be read as JSON: it is nested too deeply"),
    ],
)
def test_what_cannot_be_started_gets_one_sentence_and_no_run(
    tmp_path, arguments: list[str], sentence: str
) -> None:
    not_a_plan = tmp_path / "list.json"
    not_a_plan.write_text("[1, 2]")
    deep = tmp_path / "deep.json"
    deep.write_text('{"a":' * 200_000)

    with pytest.raises(CommandError) as refused:
        call_command("run", *(argument.format(list=not_a_plan, deep=deep) for argument in arguments))

    assert sentence in str(refused.value)
    assert refused.value.returncode == 2
    assert not Run.objects.exists()


def test_the_list_tells_every_setting_s_type_default_and_choices(capsys) -> None:
    call_command("run", "--list", "--json")

    kinds = answered(capsys.readouterr().out)
    assert kinds["export_dataset"]["plan"]["format"] == {
        "label": "Format",
        "type": "text",
        "required": False,
        "default": "csv",
        "unit": "",
        "source": "",
        "choices": ["csv", "tsv", "jsonl", "parquet"],
        "low": None,
        "high": None,
        "refers_to": "",
        "kinds": [],
        "help": "The kind of file.",
    }


def test_the_list_for_people_tells_ranges_and_what_a_setting_names(capsys) -> None:
    call_command("run", "--list")

    training = capsys.readouterr().out.partition("train_encoder: ")[2].partition("\n\n")[0]
    lines = [line.strip() for line in training.splitlines()]
    assert [
        line
        for line in lines
        if line.startswith("scores  text  required  score set (target|reference|human|model)")
    ]
    assert [line for line in lines if line.startswith("epochs  int  3  1..100  epochs  RISE")]
    assert [line for line in lines if line.startswith("seed  int  42  0..2147483647")]


@pytest.fixture
def carrying_out() -> Callable[[], threading.Thread]:
    """A worker for the one run that the command under test is going to queue."""

    def work() -> None:
        try:
            for _look in range(1200):  # a minute; where no run comes, the test says so and not this thread
                if Run.objects.filter(state="queued").exists():
                    tasks.execute(Run.objects.get().pk)
                    return
                threading.Event().wait(0.05)
        finally:
            connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


@pytest.mark.django_db(transaction=True)
def test_waiting_ends_with_the_run_s_outcome(scenes, carrying_out, capsys) -> None:
    call_command("run", "export_dataset", "dataset=scenes", "--wait", "--json")

    answer = answered(capsys.readouterr().out)
    assert (answer["state"], answer["result"]["rows"]) == ("succeeded", 3)
    folder = f"runs/{answer['run']}/1"
    assert answer["files"] == [f"{folder}/scenes.csv", f"{folder}/scenes-card.md"]


@pytest.mark.django_db(transaction=True)
def test_waiting_for_a_run_that_fails_ends_with_its_sentence(carrying_out) -> None:
    dataset = DatasetFactory(slug="scenes")
    dataset.imports.create(file_name="pairs.csv", path="imports/x/pairs.csv")

    with pytest.raises(
        CommandError,
        match=r"pairs\.csv has been imported, is being imported, or its columns were not checked",
    ):
        call_command("run", "import_pairs", "dataset=scenes", f"batch={dataset.imports.get().pk}", "--wait")
