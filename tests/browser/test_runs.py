"""The pages of runs in a browser: progress that comes by itself, and how they look on a narrow screen."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from mlworkers import tasks
from mlworkers.models import Artifact, Run, RunShard, WorkerHeartbeat
from mlworkers.runs.storage import RunLog
from tests.browser.conftest import sideways_overflow
from tests.factories import ArtifactFactory, DatasetFactory, PairFactory, RunFactory, ScoreSetFactory

pytestmark = pytest.mark.browser


@pytest.fixture
def worker(db) -> WorkerHeartbeat:
    return WorkerHeartbeat.objects.create(name="default@host/1", queues=["default"], seen_at=timezone.now())


def progress_made(run: Run, done: int) -> None:
    at = timezone.now()
    Run.objects.filter(pk=run.pk).update(
        state="running", done=done, total=1_000, claimed_at=at - timedelta(seconds=10), heartbeat_at=at
    )


def test_a_run_s_page_follows_it_to_its_end_and_then_stops_asking(
    curator_page: Page, dataset, worker
) -> None:
    run = RunFactory(dataset=dataset)
    asked = []
    curator_page.on("request", lambda request: asked.append(request.url))
    curator_page.clock.install()
    curator_page.goto(f"/runs/{run.pk}/")
    expect(curator_page.get_by_text("queued")).to_be_visible()

    progress_made(run, 400)
    expect(curator_page.get_by_text("400 of 1,000 pairs")).to_be_visible()
    Run.objects.filter(pk=run.pk).update(state="succeeded", message="1,000 pairs written")
    expect(curator_page.get_by_text("1,000 pairs written")).to_be_visible()
    asked.clear()
    curator_page.clock.run_for(10_000)

    expect(curator_page.get_by_role("progressbar")).to_have_count(0)
    assert asked == []


def test_kinds_of_run_are_filtered_by_words(open_as, staff, dataset) -> None:
    page = open_as(staff)
    page.goto("/runs/")
    page.get_by_role("link", name="Start run").click()
    kinds = page.locator("#kinds")

    page.get_by_role("searchbox", name="Filter").fill("contrast SIMCSE")
    expect(kinds.get_by_role("link")).to_have_text(["Train an encoder by contrast"])
    expect(kinds.get_by_role("heading")).to_have_text(["Train encoders"])
    page.get_by_role("searchbox", name="Filter").fill("which similarity measure agrees with people's scores")
    expect(kinds.get_by_role("link")).to_have_text(["Compare scorers of pairs"])
    page.get_by_role("searchbox", name="Filter").fill("train nothing-like-this")
    expect(page.get_by_text("No kind of run has these words.")).to_be_visible()
    page.get_by_role("searchbox", name="Filter").fill("")

    expect(kinds.get_by_role("heading")).to_have_count(6)


@pytest.mark.exhaustive
def test_an_export_is_started_cancelled_and_started_again(curator_page: Page, dataset) -> None:
    curator_page.goto("/runs/start/export_dataset/")
    curator_page.get_by_role("main").get_by_role("link", name=dataset.name).click()
    curator_page.get_by_label("Format").select_option("jsonl")
    curator_page.get_by_role("button", name="Start run").click()
    expect(curator_page.get_by_text("No worker serves the queue “default”")).to_be_visible()

    curator_page.get_by_role("button", name="Cancel run").click()
    expect(curator_page.get_by_text("Cancelled by curator.")).to_be_visible()
    curator_page.get_by_role("button", name="Start again", exact=True).click()

    expect(curator_page.get_by_text("queued")).to_be_visible()
    assert [run.plan["format"] for run in Run.objects.all()] == ["jsonl", "jsonl"]


def test_the_file_of_a_run_is_downloaded_from_its_page(curator_page: Page, dataset) -> None:
    PairFactory(dataset=dataset)
    run = RunFactory(dataset=dataset)
    tasks.execute(run.pk)
    curator_page.goto(f"/runs/{run.pk}/")

    with curator_page.expect_download() as download:
        curator_page.get_by_role("link", name=f"Download {dataset.slug}.csv", exact=True).click()

    assert download.value.suggested_filename == f"{dataset.slug}.csv"


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_no_page_of_runs_scrolls_sideways(open_as, curator, dataset, width: int) -> None:
    run = RunFactory(dataset=dataset, state="failed", message="x" * 300, result={"columns": {"a": "y" * 200}})
    path = f"runs/{run.pk}/1/{'long' * 40}.csv"
    Artifact.objects.create(run=run, kind="pairs", path=path, sha256="0" * 64)
    RunLog(run.pk).write("z" * 500)
    page = open_as(curator, width=width)

    for address in (
        f"/runs/{run.pk}/",
        "/runs/",
        "/runs/start/",
        f"/runs/start/export_dataset/?dataset={dataset.slug}",
    ):
        page.goto(address)

        assert sideways_overflow(page) <= 0, address


@pytest.mark.exhaustive
def test_what_was_opened_on_a_running_page_stays_open_and_cancel_asks_when_work_would_be_lost(
    curator_page: Page, dataset, worker
) -> None:
    run = RunFactory(dataset=dataset, plan={"dataset": dataset.slug, "spreadsheet": False, "plain": False})
    progress_made(run, 100)
    RunShard.objects.create(run=run, stage="writing", number=0, size=10, done=10, state="done")
    RunLog(run.pk).write("\n".join(f"line {number}" for number in range(200)))
    curator_page.goto(f"/runs/{run.pk}/")
    curator_page.get_by_text("Cancel run").click()
    curator_page.get_by_text("at their defaults").click()
    log = curator_page.get_by_role("region", name="The last lines of the log")
    log.evaluate("log => log.scrollTop = -300")

    progress_made(run, 200)
    expect(curator_page.get_by_text("200 of 1,000 pairs")).to_be_visible()

    expect(curator_page.get_by_text("1 shard is done. If you cancel, its work is lost")).to_be_visible()
    expect(curator_page.locator("details.usual")).to_have_attribute("open", "")
    assert log.evaluate("log => log.scrollTop") == -300
    curator_page.get_by_role("button", name="Cancel, and lose the work").click()
    expect(curator_page.get_by_text("Cancelled by curator.")).to_be_visible()


def test_models_are_searched_by_words_once_there_are_many(open_as, admin, dataset) -> None:
    wanted = ArtifactFactory.create_batch(9, run__dataset=dataset)[3]
    page = open_as(admin)
    page.goto(f"/runs/start/train_encoder/?dataset={dataset.slug}")
    search = page.get_by_role("searchbox", name="Search models").first
    models = page.locator(".open-select select").first
    offered = models.locator("option").count()

    search.fill(f"run:{wanted.run_id}")
    expect(models.locator("option")).to_have_count(2)  # that one, and “another”
    expect(models).to_have_value(f"run:{wanted.run_id}")
    search.press("Enter")
    expect(models).to_be_visible()
    search.fill("nothing is called so")
    expect(page.get_by_role("textbox", name="Name of another one").first).to_be_visible()
    search.fill("")

    expect(models.locator("option")).to_have_count(offered)


def test_rows_of_a_comparison_are_added_and_removed_by_keyboard(open_as, admin, dataset) -> None:
    for kind in ("human", "target", "realism"):
        ScoreSetFactory(dataset=dataset, name=kind, kind=kind)
    for slug, name in (("film", "Film"), ("news", "News")):
        other = DatasetFactory(slug=slug, name=name)
        ScoreSetFactory(dataset=other, name=f"{slug} target", kind="target")
    page = open_as(admin, width=390)
    page.goto(f"/runs/start/compare_weightings/?dataset={dataset.slug}&preset=table-3")
    sources = page.get_by_role("group", name="Further source datasets")
    sources.get_by_label("Dataset").select_option("film")
    sources.get_by_label("Training scores").select_option("film target")

    sources.get_by_role("button", name="Add a row").focus()
    page.keyboard.press("Enter")

    second = sources.get_by_role("group", name="Row 2")
    expect(second.get_by_label("Dataset")).to_be_focused()
    expect(second.get_by_label("Training scores")).to_have_value("")
    page.keyboard.type("News")
    expect(second.get_by_label("Dataset")).to_have_value("news")
    expect(second.locator("option", has_text="film target")).to_be_disabled()
    page.keyboard.press("Tab")
    page.keyboard.type("news target")
    expect(second.get_by_label("Training scores")).to_have_value("news target")
    assert sideways_overflow(page) == 0
    sources.get_by_role("group", name="Row 1").get_by_role("button", name="Remove").press("Enter")
    left = sources.get_by_role("group", name="Row 1")
    expect(left.get_by_label("Dataset")).to_be_focused()
    expect(left.get_by_label("Dataset")).to_have_value("news")
    page.get_by_role("button", name="Start run").click()

    expect(page.get_by_text("row 1 of “Further source datasets” names none for “news”")).to_be_visible()
    expect(left.get_by_label("Training scores")).to_have_value("news target")
