"""Models, comparisons and the playground in a browser: an answer that comes by itself, and narrow screens."""

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from mlworkers.models import Artifact, Run, WorkerHeartbeat
from mlworkers.runs.storage import Curve
from tests.browser.conftest import sideways_overflow
from tests.factories import ArtifactFactory, EvaluationFactory, RunFactory

pytestmark = pytest.mark.browser
LONG = "word " * 40


@pytest.fixture
def encoder(dataset) -> Artifact:
    plan = {"dataset": dataset.slug, "model": "sentence-transformers/" + "x" * 120, "weighting": "realism"}
    return ArtifactFactory(run__dataset=dataset, run__plan=plan, card={"label": "realism", "seed": 13})


def test_two_sentences_are_asked_of_a_model_and_the_answer_comes_by_itself(
    curator_page: Page, encoder
) -> None:
    WorkerHeartbeat.objects.create(name="playground@host/1", queues=["playground"], seen_at=timezone.now())
    curator_page.goto(f"/models/{encoder.pk}/")
    curator_page.get_by_label("First sentence").fill("A dog runs.")
    curator_page.get_by_label("Second sentence").fill("A dog is running.")

    curator_page.get_by_role("button", name="Relate").click()
    expect(curator_page.get_by_text("Waiting for the worker…", exact=False)).to_be_visible()
    asked = Run.objects.filter(kind="relate_sentences")
    asked.update(state="succeeded", result={"cosine": 0.874, "pairs": 40, "below": 30})

    expect(curator_page.get_by_text("0.87")).to_be_visible()
    expect(curator_page.get_by_text("Higher than 75% of 40 test pairs")).to_be_visible()
    assert asked.get().plan == {
        "first": "A dog runs.",
        "second": "A dog is running.",
        "artifact": encoder.pk,
    }


def test_settings_beyond_the_essential_ones_are_a_click_away(open_as, admin, dataset) -> None:
    page = open_as(admin)
    page.goto(f"/runs/start/train_encoder/?dataset={dataset.slug}")
    expect(page.get_by_label("Epochs")).to_be_visible()
    expect(page.get_by_label("Weight decay")).to_be_hidden()

    page.get_by_text("more settings").click()

    expect(page.get_by_label("Weight decay")).to_be_visible()


@pytest.mark.exhaustive
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_page_of_models_scrolls_sideways(open_as, curator, dataset, encoder, width: int) -> None:
    figures = {"spearman": 0.845, "low": 0.826, "high": 0.862, "sd": 0.002}
    difference = {
        "difference": 0.012,
        "difference_low": 0.003,
        "difference_high": 0.021,
        "p": 0.001,
        "p_holm": 0.002,
    }
    result = {
        "encoders": {"plain": figures, "realism": figures},
        "from_plain": {"realism": difference},
        "from_shuffle": {"realism": difference},
        "pairs": 420,
        "seeds": [13, 14, 15, 16, 17],
    }
    comparison = RunFactory(
        kind="compare_weightings", dataset=dataset, state="succeeded", result=result, plan={"model": "x" * 90}
    )
    EvaluationFactory(run=encoder.run, artifact=encoder, suite=LONG, label="realism")
    EvaluationFactory(run=comparison, suite="y" * 120, label="realism")
    Curve(encoder.run_id).write(1, loss=0.5)
    Curve(encoder.run_id).write(2, loss=0.25)
    page = open_as(curator, width=width)

    for address in (
        "/models/",
        f"/models/{encoder.pk}/",
        "/compare/",
        f"/compare/{comparison.pk}/",
        f"/runs/{comparison.pk}/",
        f"/runs/{encoder.run_id}/",
    ):
        page.goto(address)

        assert sideways_overflow(page) <= 0, address
