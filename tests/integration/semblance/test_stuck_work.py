"""Work that has reported nothing new for a long time: where it is shown as stuck, and how somebody ends it."""

from datetime import datetime, timedelta

import pytest
from django.db.models import Model
from django.urls import reverse
from django.utils.timezone import now

from annotation.models import CampaignDesign, CampaignWork
from annotation.results.works import work_remove
from curation.exchange.uploads import import_discard
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import ClaimLost
from curation.foundation.jobs import Hold, job_claim
from curation.models import DuplicateSearch, ImportBatch
from mlworkers.models import WorkerHeartbeat
from tests.factories import CampaignFactory, DatasetFactory, MembershipFactory, RunFactory, client_of

pytestmark = pytest.mark.django_db

TAG = '<span class="tag doubtful">stuck</span>'


@pytest.fixture
def quiet() -> dict[str, object]:
    """A job whose worker is heard, and which has reported nothing new for 31 minutes."""
    return {
        "state": "running",
        "attempt": 1,
        "heartbeat_at": now(),
        "progressed_at": now() - timedelta(minutes=31),
    }


@pytest.fixture
def lately(quiet) -> dict[str, object]:
    return {**quiet, "progressed_at": now() - timedelta(minutes=29)}


def search(**about) -> DuplicateSearch:
    return DuplicateSearch.objects.create(dataset=DatasetFactory(), threshold=0.8, **about)


def page_of(job: Model) -> str:
    match job:
        case CampaignDesign():
            dataset = job.campaign.dataset
            address = reverse("annotation:design_state", args=[job.campaign_id])
        case CampaignWork():
            address = reverse("annotation:work", args=[job.campaign_id, job.pk])
            dataset = job.campaign.dataset
        case DuplicateSearch():
            dataset = job.dataset
            address = reverse("curation:duplicates_state", args=[dataset.slug, job.pk])
        case ImportBatch():
            dataset = job.dataset
            address = reverse("annotation:judgement_import_state", args=[dataset.slug, job.pk])
    owner = MembershipFactory(dataset=dataset, role="owner").user
    return client_of(owner).get(address).text


def jobs(about: dict[str, object]) -> list[Model]:
    campaign = CampaignFactory()
    return [
        CampaignDesign.objects.create(campaign=campaign, **about),
        CampaignWork.objects.create(campaign=campaign, kind="publish", key="k", asked_at=now(), **about),
        search(**about),
        ImportBatch.objects.create(
            dataset=DatasetFactory(), kind="judgements", file_name="a.csv", mapping={"a": 1}, **about
        ),
    ]


@pytest.mark.parametrize("place", range(4))
def test_work_without_news_is_shown_as_stuck_and_offers_an_end(quiet, lately, place: int) -> None:
    stuck, at_work = (page_of(jobs(about)[place]) for about in (quiet, lately))

    assert TAG in stuck
    assert "<button" in stuck
    assert TAG not in at_work


def test_a_run_without_news_is_shown_as_stuck_on_its_page_in_lists_and_among_what_workers_do(
    staff, quiet, lately
) -> None:
    WorkerHeartbeat.objects.create(name="default@here/1", queues=["default"], seen_at=now())
    at_work = RunFactory(kind="export_dataset", worker="default@here", **lately)
    stuck = RunFactory(kind="export_dataset", worker="default@here", dataset=at_work.dataset, **quiet)
    client = client_of(staff)

    def shown(name: str, *arguments) -> int:
        return client.get(reverse(name, args=arguments)).text.count(TAG)

    assert [shown("mlworkers:run_detail", run.pk) for run in (stuck, at_work)] == [1, 0]
    assert "has reported nothing new" in client.get(reverse("mlworkers:run_detail", args=[stuck.pk])).text
    assert shown("mlworkers:run_list") == 1
    assert shown("mlworkers:dataset_runs", at_work.dataset.slug) == 1
    assert shown("workers") == 1


def test_the_workers_page_marks_tasks_that_are_stuck(staff, quiet) -> None:
    found = jobs(quiet)
    names = ("annotation.design", "annotation.work", "curation.duplicates", "annotation.judgements_import")
    numbers = (found[0].campaign_id, *(job.pk for job in found[1:]))
    work = [
        {"task": name, "about": number, "seconds": 65} for name, number in zip(names, numbers, strict=True)
    ]
    WorkerHeartbeat.objects.create(name="a/1", queues=["default"], seen_at=now(), work=work)

    assert client_of(staff).get(reverse("workers")).text.count(TAG) == 4


def test_the_patience_is_a_setting(staff, lately, settings) -> None:
    settings.STUCK_SECONDS = 28 * 60
    RunFactory(kind="export_dataset", **lately)

    assert TAG in client_of(staff).get(reverse("mlworkers:run_list")).text


def test_a_heartbeat_without_news_is_no_progress() -> None:
    began = now()
    hold = job_claim(DuplicateSearch.objects.filter(pk=search().pk), at=began, gave_up="%(number)s")

    def progressed(at: datetime) -> datetime:
        hold.beat(at)
        row = DuplicateSearch.objects.get()
        assert row.heartbeat_at == at
        return row.progressed_at

    silent = progressed(began + timedelta(seconds=1))
    hold.note(done=1, total=9)
    news = progressed(began + timedelta(seconds=2))
    hold.note(done=1, total=9)
    the_same = progressed(began + timedelta(seconds=3))

    assert (silent - began, news - began, the_same - began) == (
        timedelta(0),
        timedelta(seconds=2),
        timedelta(seconds=2),
    )


def test_stuck_work_that_somebody_ended_stores_nothing(quiet) -> None:
    work = jobs(quiet)[1]
    hold = Hold(work)

    work_remove(work=work)

    with pytest.raises(ClaimLost):
        hold.end(result={"score_sets": []})
    assert not CampaignWork.objects.exists()


def test_an_import_that_is_stuck_can_be_discarded_and_one_that_goes_on_cannot(quiet, lately) -> None:
    stuck, at_work = jobs(quiet)[3], jobs(lately)[3]
    hold = Hold(stuck)

    import_discard(batch=stuck)
    with pytest.raises(UserError, match="is being imported"):
        import_discard(batch=at_work)

    assert list(ImportBatch.objects.all()) == [at_work]
    with pytest.raises(ClaimLost):
        hold.require()


def test_an_import_that_another_process_took_over_meanwhile_is_not_discarded(quiet) -> None:
    stuck = jobs(quiet)[3]
    ImportBatch.objects.update(attempt=2)

    with pytest.raises(UserError, match="is being imported"):
        import_discard(batch=stuck)
