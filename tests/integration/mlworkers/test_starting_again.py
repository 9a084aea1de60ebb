"""A run started again with changes: what stays as it was, and what is said where something is gone."""

from dataclasses import asdict

import pytest
from django.urls import reverse

from curation.models import Dataset, ScoreSet
from mlworkers.models import Artifact, Run
from mlworkers.plans.kinds import KINDS, plan_from
from mlworkers.runs.references import references_wrong
from tests.factories import ArtifactFactory, RunFactory, ScoreSetFactory

pytestmark = pytest.mark.django_db


def again(client, run: Run, **changes):
    """What the form sends that opens from the run's page, with these changes."""
    address = reverse("mlworkers:run_start", args=[run.kind])
    form = client.get(address, {"dataset": run.dataset.slug, "again": run.pk}).context["form"]
    sent = {name: _as_a_browser_sends(field) for name, field in ((name, form[name]) for name in form.fields)}
    return client.post(
        address, {**{name: value for name, value in sent.items() if value is not False}, **changes}
    )


def _as_a_browser_sends(field):
    """Of a list that lacks the value, the first choice."""
    value = "" if (value := field.value()) is None else value
    offered = [str(choice) for choice, _words in getattr(field.field, "choices", [])]
    return value if not offered or str(value) in offered else offered[0]


def training_of(dataset, **given) -> Run:
    ScoreSetFactory(dataset=dataset, name="gold", kind="reference")
    kind = KINDS["train_encoder"]
    values = {"dataset": dataset.slug, "model": "packaged:all-MiniLM-L6-v2", "scores": "gold", **given}
    plan = asdict(plan_from(kind, values))
    return RunFactory(kind=kind.name, dataset=dataset, plan=plan, state="succeeded", queue="gpu")


def test_a_run_is_started_again_with_one_change_and_everything_else_as_it_was(client, admin, dataset) -> None:
    client.force_login(admin)
    run = training_of(dataset, epochs=5)

    again(client, run, batch_size=8)

    assert Run.objects.get(state="queued").plan == {**run.plan, "batch_size": 8}


@pytest.mark.parametrize(
    ("lose", "says"),
    [
        (lambda run: ScoreSet.objects.all().delete(), "has no score set “gold”; choose one that it has"),
        (
            lambda run: Run.objects.filter(pk=run.pk).update(plan={**run.plan, "snapshot": 7}),
            "has no snapshot 7; choose one that it has",
        ),
        (lambda run: Dataset.objects.update(archived=True), "archived"),
        (
            lambda run: Run.objects.filter(pk=run.pk).update(plan={**run.plan, "model": "run:999"}),
            "Run 999 made no encoder",
        ),
    ],
    ids=["score set", "snapshot", "archived dataset", "model"],
)
def test_what_is_gone_is_said_and_nothing_replaces_it(client, admin, dataset, lose, says) -> None:
    client.force_login(admin)
    run = training_of(dataset)
    lose(run)
    run.refresh_from_db()

    page = again(client, run)
    button = client.post(reverse("mlworkers:run_again", args=[run.pk]), follow=True)

    assert says in page.text
    assert button.status_code < 500
    assert not Run.objects.filter(state="queued").exists()


def test_a_setting_that_the_kind_no_longer_has_is_left_out_of_the_form(client, admin, dataset) -> None:
    client.force_login(admin)
    run = training_of(dataset)
    Run.objects.filter(pk=run.pk).update(plan={**run.plan, "of_an_earlier_version": 3})

    again(client, run)

    assert Run.objects.get(state="queued").plan == run.plan


def test_a_run_that_cannot_be_repeated_offers_no_button_and_starts_nothing(client, admin, dataset) -> None:
    client.force_login(admin)
    run = RunFactory(
        kind="import_pairs", dataset=dataset, plan={"dataset": dataset.slug, "batch": 3}, state="succeeded"
    )

    page = client.get(reverse("mlworkers:run_detail", args=[run.pk]))

    assert "Start again" not in page.text
    assert "has no uploaded file number 3" in again(client, run).text
    assert not Run.objects.filter(state="queued").exists()


ENCODER = "packaged:all-MiniLM-L6-v2"


@pytest.fixture
def encoder_folder(tmp_path, settings) -> str:
    """A folder that people may name, with what tells a sentence encoder."""
    settings.MODEL_ROOTS = [tmp_path]
    (tmp_path / "modules.json").write_text("[]")
    return str(tmp_path)


@pytest.fixture(params=["packaged", "folder"])
def generation(request, dataset, encoder_folder) -> Run:
    """A failed run that was to write sentences with an encoder."""
    model = ENCODER if request.param == "packaged" else encoder_folder
    plan = asdict(plan_from(KINDS["generate_pairs"], {"dataset": dataset.slug, "model": "run:1"}))
    about = {"kind": "generate_pairs", "state": "failed", "queue": "gpu"}
    return RunFactory(dataset=dataset, plan=plan | {"model": model}, **about)


def test_a_failed_generator_is_not_proposed_with_an_encoder_again(client, admin, generation) -> None:
    client.force_login(admin)
    ArtifactFactory(kind="generator", run__dataset=generation.dataset)
    address = reverse("mlworkers:run_start", args=[generation.kind])

    form = client.get(address, {"dataset": generation.dataset.slug, "again": generation.pk}).context["form"]

    made = Artifact.objects.get(kind="generator")
    assert form["model"].value() == f"run:{made.run_id}"
    assert form["sources"].value() == generation.plan["sources"]


def test_a_generator_s_form_refuses_an_encoder_before_anything_is_queued(client, admin, generation) -> None:
    client.force_login(admin)

    page = again(client, generation, model="another", model_other=generation.plan["model"])

    assert "encoder" in page.context["form"].errors["model"][0]
    assert not Run.objects.filter(state="queued").exists()


def test_an_error_about_a_generator_names_no_encoder_instead(dataset) -> None:
    kind = KINDS["generate_pairs"]

    found = references_wrong(
        kind, asdict(plan_from(kind, {"dataset": dataset.slug, "model": "run:999"})), dataset
    )

    assert found["model"].endswith("or give a folder, a hub id such as openai-community/gpt2 or openai:NAME.")


def test_nothing_is_said_of_a_folder_that_people_may_not_name(settings, encoder_folder, dataset) -> None:
    settings.MODEL_ROOTS = []
    named = {"dataset": dataset.slug, "model": encoder_folder}

    found = references_wrong(
        KINDS["generate_pairs"], asdict(plan_from(KINDS["generate_pairs"], named)), dataset
    )

    assert "model" not in found
