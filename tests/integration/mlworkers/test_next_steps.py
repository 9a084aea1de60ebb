"""What the page of a run offers once the run succeeded, for every kind of run."""

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve, reverse

from curation.models import Dataset, ImportBatch, User
from curation.results.reports import Link, Links
from mlworkers.models import Artifact, Run
from mlworkers.plans.kinds import KINDS, PAGES
from tests.factories import CampaignFactory, PairFactory, RunFactory, ScoreSetFactory, client_of
from tests.markup import squeezed

pytestmark = pytest.mark.django_db
MADE = {
    "bootstrap_generator": "generator", "initialise_encoder": "encoder", "train_encoder": "encoder",
    "train_contrastive": "encoder", "train_on_sections": "encoder", "train_labeller": "labeller",
    "train_paraphraser": "paraphraser", "train_context_model": "context_model",
    "train_discriminative_model": "discriminative_model", "export_dataset": "pairs",
}  # fmt: skip
# Pages that show what a run measured; without any figures they are not there.
OF_FIGURES = {"mlworkers:context_scores", "mlworkers:round_trip", "mlworkers:corpus"}


def finished(kind: str, dataset: Dataset, by: User) -> Run:
    """A run that succeeded, with the things that runs of its kind leave."""
    batch = ImportBatch.objects.create(
        dataset=dataset, file_name="pairs.csv", path="pairs.csv", sha256="0" * 64
    )
    run = RunFactory(
        kind=kind,
        dataset=dataset if KINDS[kind].needs_dataset or kind == "search_sentences" else None,
        plan={"dataset": dataset.slug, "batch": batch.pk},
        result={"campaign": CampaignFactory(dataset=dataset).pk, "score_sets": ["one"]},
        state=Run.State.SUCCEEDED,
        started_by=by,
        message="Done.",
    )
    ScoreSetFactory(dataset=dataset, run_ref=run.pk)
    if kind in MADE:
        path = f"runs/{run.pk}/1/{MADE[kind]}"
        Artifact.objects.create(run=run, kind=MADE[kind], path=path, sha256="0" * 64)
    return run


def steps_on(page: HttpResponse, run: Run) -> list[Link]:
    """The links of the page's notice, the page of the results first."""
    shown = [link for part in page.context["next_steps"] if isinstance(part, Links) for link in part.links]
    results = PAGES.get(run.kind)
    if results is None:
        return shown
    return [Link(str(results.see), reverse(f"mlworkers:{results.name}", args=[run.pk])), *shown]


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_of_a_finished_run_leads_on_by_links_that_work(staff, dataset, kind: str) -> None:
    PairFactory.create_batch(2, dataset=dataset)
    run = finished(kind, dataset, by=staff)
    browser = client_of(staff)

    page = browser.get(reverse("mlworkers:run_detail", args=[run.pk]))
    steps = steps_on(page, run)

    assert steps
    assert all(step.label in page.text for step in steps)
    assert {step.href: status(browser, step) for step in steps} == {step.href: 200 for step in steps}


def status(browser: Client, step: Link) -> int:
    """Of the page behind the link. A file that no run wrote is asked for by nobody: its address has to be known."""
    if step.download or resolve(step.href.partition("?")[0]).view_name in OF_FIGURES:
        return 200 if resolve(step.href.partition("?")[0]) else 404
    return browser.get(step.href).status_code


@pytest.mark.parametrize("kind", [name for name, kind in KINDS.items() if kind.listed])
def test_a_person_who_may_start_no_run_is_led_on_too(curator, staff, dataset, kind: str) -> None:
    run = finished(kind, dataset, by=staff)
    browser = client_of(curator)

    steps = steps_on(browser.get(reverse("mlworkers:run_detail", args=[run.pk])), run)

    assert steps
    assert {status(browser, step) for step in steps} == {200}


def test_the_facts_in_the_head_of_a_page_follow_its_run(curator, dataset) -> None:
    run = RunFactory(dataset=dataset, state=Run.State.RUNNING)
    browser = client_of(curator)
    before = browser.get(reverse("mlworkers:run_detail", args=[run.pk])).text
    PairFactory.create_batch(3, dataset=dataset)

    after = browser.get(reverse("mlworkers:run_progress", args=[run.pk])).text

    assert before.count('id="dataset-facts"') == 1
    assert "hx-swap-oob" not in before.partition('id="dataset-facts"')[2].partition(">")[0]
    facts = after.partition('id="dataset-facts" class="contents" hx-swap-oob="true"')[2]
    assert "<b>3</b>pairs" in squeezed(facts)
