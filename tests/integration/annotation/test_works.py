"""What is asked of a campaign's judgements: small work is done in the request, more by a worker, and once."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils.timezone import now

from annotation import tasks
from annotation.models import CampaignWork
from annotation.results import publishing, slider, works
from annotation.results.works import work_ask, work_carry_out, work_remove, works_free
from curation.foundation.heartbeats import LOST_MAX, ClaimLost, stale_after
from curation.foundation.jobs import Hold
from curation.models import AuditEntry, Dataset, ScoreSet
from mlworkers.models import WorkerHeartbeat
from tests.factories import MembershipFactory, client_of
from tests.integration.annotation.pages import address, text_of
from tests.integration.annotation.test_pages_api import program as program_fixture
from tests.integration.annotation.test_slider_comparison import arm as arm_fixture
from tests.integration.annotation.test_slider_comparison import rate_all

program, arm = program_fixture, arm_fixture
UNDERWAY = "A worker computes the scores and publishes them."


@pytest.fixture
def invited(monkeypatch) -> list[int]:
    """The works for which a worker was invited."""
    found: list[int] = []
    monkeypatch.setattr(tasks, "worker_invite", lambda _task, pk: found.append(pk))
    return found


@pytest.fixture
def large(monkeypatch, invited) -> None:
    """Any campaign is too large for a request."""
    monkeypatch.setattr(publishing, "AT_ONCE", dict.fromkeys(publishing.AT_ONCE, 10))
    monkeypatch.setattr(slider, "COMPARED_AT_ONCE", 10)


@pytest.fixture
def dataset(judged) -> Dataset:
    return judged.dataset


def publish(site, campaign, **more):
    return site.post(address("publish", campaign), {"method": "counting", "client_id": str(uuid4()), **more})


def asked_of(campaign, **choices) -> CampaignWork:
    return work_ask(campaign=campaign, kind="publish", asked=choices, wish=str(uuid4()), at=now())


# In the request


def test_a_small_campaign_is_published_while_somebody_waits(site, judged, invited) -> None:
    publish(site, judged)

    assert ScoreSet.objects.get().name == "human: Relatedness, counting"
    assert (judged.works.get().state, invited) == ("done", [])


def test_two_clicks_publish_once(site, judged, invited) -> None:
    page = site.get(address("publish", judged)).content.decode()
    client_id = re.search(r'name="client_id" value="([^"]+)"', page)[1]

    pages = [
        site.post(address("publish", judged), {"method": "counting", "client_id": client_id}, follow=True)
        for _click in range(2)
    ]

    assert ScoreSet.objects.count() == 1
    assert all("Published as the score set" in text_of(page) for page in pages)


def test_a_program_that_sends_its_wish_again_is_not_told_that_the_name_is_taken(
    site, judged, invited
) -> None:
    wish = {"name": "Mine", "client_id": str(uuid4())}

    pages = [
        site.post(address("publish", judged), {"method": "counting", **wish}, follow=True) for _ in range(2)
    ]

    assert ScoreSet.objects.get().name == "Mine"
    assert all("Published as the score set" in text_of(page) for page in pages)


def test_who_publishes_again_from_another_page_gets_a_second_score_set(site, judged, invited) -> None:
    for _visit in range(2):
        publish(site, judged)

    assert sorted(ScoreSet.objects.values_list("name", flat=True)) == [
        "human: Relatedness, counting",
        "human: Relatedness, counting 2",
    ]


def test_a_name_that_is_taken_is_said_on_the_form_and_leaves_no_work(site, judged, large) -> None:
    ScoreSet.objects.create(dataset=judged.dataset, name="Mine", kind="human", low=0, high=1)

    page = text_of(publish(site, judged, name="Mine"))

    assert "already has a score set “Mine”" in page
    assert not judged.works.exists()


# By a worker


def test_a_large_campaign_is_published_by_a_worker_and_its_page_says_so(site, judged, large, invited) -> None:
    page = publish(site, judged, follow=True)
    work = judged.works.get()
    shown = text_of(site.get(address("scores", judged)))
    polled = site.get(address("work", judged, work.pk), headers={"HX-Request": "true"})

    assert page.status_code == 302
    assert not ScoreSet.objects.exists()
    assert UNDERWAY in shown
    assert UNDERWAY in text_of(polled)
    assert invited == [work.pk]

    assert tasks.work(work.pk)
    ended = site.get(address("work", judged, work.pk), headers={"HX-Request": "true"})
    after = text_of(site.get(address("scores", judged)))

    assert ended["HX-Refresh"] == "true"
    assert "Published as the score set “human: Relatedness, counting”." in after
    assert UNDERWAY not in after


def test_the_log_names_who_asked_and_not_the_worker(site, curator, judged, large) -> None:
    publish(site, judged)
    work_carry_out(work_pk=judged.works.get().pk)

    assert AuditEntry.objects.get(action="scores_published").by == curator


def test_two_clicks_ask_a_worker_once(site, judged, large) -> None:
    client_id = str(uuid4())
    for _click in range(2):
        publish(site, judged, client_id=client_id)

    assert judged.works.count() == 1
    work = judged.works.get()
    assert work_carry_out(work_pk=work.pk)
    assert not work_carry_out(work_pk=work.pk)  # the second click's invitation
    assert ScoreSet.objects.count() == 1


def test_the_page_says_plainly_that_no_worker_runs(site, judged, large) -> None:
    publish(site, judged)
    without = text_of(site.get(address("scores", judged)))
    WorkerHeartbeat.objects.create(name="w", queues=["default"], seen_at=now())
    with_one = text_of(site.get(address("scores", judged)))

    assert "No worker serves the queue “default”" in without
    assert "No worker serves" not in with_one


def test_a_worker_that_is_killed_half_way_leaves_nothing_and_another_does_it(judged, monkeypatch) -> None:
    work = asked_of(judged)
    store = works.publications_store

    def killed(**scored):
        store(**scored)
        raise SystemExit  # between the rows and the row that ends the work

    monkeypatch.setattr(works, "publications_store", killed)
    with pytest.raises(SystemExit):
        work_carry_out(work_pk=work.pk)
    monkeypatch.setattr(works, "publications_store", store)

    assert not ScoreSet.objects.exists()
    assert not work_carry_out(work_pk=work.pk), "it was heard a moment ago"
    CampaignWork.objects.update(heartbeat_at=now() - 2 * stale_after())
    assert list(works_free(now())) == [work]
    assert work_carry_out(work_pk=work.pk)
    assert ScoreSet.objects.count() == 1
    work.refresh_from_db()
    assert (work.state, work.attempt, work.lost) == ("done", 2, 1)


def test_the_sweep_invites_again_for_what_nobody_has_begun(judged, invited) -> None:
    work = asked_of(judged)

    tasks.expire_leases()

    assert invited == [work.pk]


def test_work_that_silenced_three_workers_fails_and_says_why(site, judged, large) -> None:
    publish(site, judged)
    CampaignWork.objects.update(
        state="running", lost=LOST_MAX - 1, heartbeat_at=now() - timedelta(hours=1), attempt=3
    )

    assert not work_carry_out(work_pk=judged.works.get().pk)

    page = text_of(site.get(address("scores", judged)))
    assert "The scores were not published: 3 workers stopped responding" in page


def test_a_worker_whose_work_was_withdrawn_stores_nothing(judged, monkeypatch) -> None:
    work = asked_of(judged)
    compute = works.publications_of

    def withdrawn(**choices):
        scored = compute(**choices)
        work_remove(work=work)
        return scored

    monkeypatch.setattr(works, "publications_of", withdrawn)

    assert not work_carry_out(work_pk=work.pk)
    assert not ScoreSet.objects.exists()
    assert not judged.works.exists()


def test_a_worker_that_was_paused_while_another_took_over_stores_nothing(judged) -> None:
    work = asked_of(judged)
    CampaignWork.objects.update(state="running", attempt=5, heartbeat_at=now())
    work.attempt = 4

    with pytest.raises(ClaimLost):
        works._do(Hold(work))

    assert not ScoreSet.objects.exists()


def test_what_fails_in_a_worker_is_said_on_the_page_and_can_be_dismissed(site, judged, large) -> None:
    publish(site, judged, name="Mine")
    ScoreSet.objects.create(dataset=judged.dataset, name="Mine", kind="human", low=0, high=1)
    work = judged.works.get()

    assert not work_carry_out(work_pk=work.pk)

    page = text_of(site.get(address("scores", judged)))
    assert "The scores were not published: The dataset already has a score set “Mine”" in page
    site.post(address("work_remove", judged, work.pk))
    assert "The scores were not published:" not in text_of(site.get(address("scores", judged)))


def test_work_that_is_done_cannot_be_withdrawn(site, judged, large) -> None:
    publish(site, judged)
    work = judged.works.get()
    work_carry_out(work_pk=work.pk)

    site.post(address("work_remove", judged, work.pk))

    assert judged.works.get().state == "done"


def test_a_reader_follows_the_work_and_cannot_withdraw_it(judged, large, curator) -> None:
    publish(client_of(curator), judged)
    annotator = client_of(MembershipFactory(dataset=judged.dataset).user)
    work = judged.works.get()

    assert annotator.get(address("work", judged, work.pk)).status_code == 403
    assert annotator.post(address("work_remove", judged, work.pk)).status_code == 403
    assert judged.works.exists()


# Programs


def test_a_program_is_told_where_to_ask_and_finds_there_what_was_published(
    program, curator, judged, large
) -> None:
    client = program(curator)
    results = f"/api/v1/campaigns/{judged.pk}/results/"

    asked = client.post(results, {"method": "counting"}, format="json")
    again = client.post(results, {"method": "counting"}, format="json")
    before = client.get(asked["Location"]).json()
    work_carry_out(work_pk=asked.json()["id"])
    after = client.get(asked["Location"]).json()

    assert (asked.status_code, again.json()["id"]) == (202, asked.json()["id"])
    assert (before["state"], before["results"]) == ("waiting", [])
    assert (after["state"], after["results"]) == ("done", client.get(results).json())
    assert client.post(results, {"method": "counting"}, format="json").json()["id"] != asked.json()["id"]


def test_a_program_withdraws_work(program, curator, judged, large) -> None:
    client = program(curator)
    asked = client.post(f"/api/v1/campaigns/{judged.pk}/results/", {"method": "counting"}, format="json")

    assert client.delete(asked["Location"]).status_code == 204
    assert client.get(asked["Location"]).status_code == 404


# The comparison with the slider arm


@pytest.mark.exhaustive
def test_many_answers_are_compared_by_a_worker_as_a_request_would(site, arm, at, large, invited) -> None:
    rate_all(arm, people=4, noise=2, at=at)
    page = address("slider_comparison", arm.campaign)

    first = text_of(site.get(page))
    polled = site.post(page, headers={"HX-Request": "true"})
    again = site.post(page, headers={"HX-Request": "true"})
    work = arm.campaign.works.get()
    assert tasks.work(work.pk)
    shown = site.get(page)

    assert "There are many answers, so a worker compares them." in first
    assert "A worker compares the two methods." in text_of(polled)
    assert text_of(again) == text_of(polled)
    found = shown.context["compared"]
    assert found == slider.comparison_compute(arm, standardised=False)
    assert found.found.last.slider.value > 0.95
    assert "In the same time" in text_of(shown)


@pytest.mark.exhaustive
def test_new_ratings_leave_the_last_comparison_on_the_page(site, arm, at, large) -> None:
    rate_all(arm, people=4, noise=2, at=at)
    page = address("slider_comparison", arm.campaign)
    site.post(page)
    work_carry_out(work_pk=arm.campaign.works.get().pk)
    arm.campaign.participations.filter(rates=True).first().pair_ratings.last().delete()

    at_once = text_of(site.get(page))
    CampaignWork.objects.update(finished_at=now() - timedelta(minutes=5))
    later = text_of(site.get(page))

    assert "The answers have changed" not in at_once
    assert "The answers have changed since the comparison below was computed" in later
    assert "In the same time" in later


@pytest.mark.exhaustive
def test_answers_that_are_as_they_were_have_their_comparison(site, arm, at, large) -> None:
    """A rating that is taken back leads to a state that was compared before."""
    rate_all(arm, people=4, noise=2, at=at)
    page = address("slider_comparison", arm.campaign)
    rating = arm.campaign.participations.filter(rates=True).first().pair_ratings.last()
    site.post(page)
    work_carry_out(work_pk=arm.campaign.works.get().pk)
    first = site.get(page).context["compared"]
    number = rating.pk
    rating.delete()
    site.post(page)
    work_carry_out(work_pk=arm.campaign.works.order_by("pk").last().pk)
    CampaignWork.objects.update(finished_at=now() - timedelta(minutes=5))
    rating.pk = number
    rating.save(force_insert=True)

    again = site.get(page)

    assert again.context["compared"] == first
    assert "The answers have changed" not in text_of(again)
