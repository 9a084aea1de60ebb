"""Designs that are too large for a request: a worker makes them, and the campaign's page says how far it is."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import tasks
from annotation.campaigns import watching
from annotation.campaigns.adapting import adaptive_phase, adaptive_spend, block_make
from annotation.campaigns.commissioning import (
    Progress,
    design_carry_out,
    design_claim,
    design_commission,
    designs_free,
)
from annotation.campaigns.services import campaign_change, campaign_create, campaign_open, design_cancel
from annotation.campaigns.watching import RequestWatch, TakesLonger
from annotation.models import Campaign, CampaignDesign
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import LOST_MAX, stale_after
from tests.factories import PairFactory, client_of
from tests.integration.annotation.pages import address, text_of
from tests.integration.annotation.test_pages_api import program as program_fixture
from tests.integration.annotation.test_pages_campaigns import SETTINGS

pytestmark = pytest.mark.django_db
program = program_fixture


@pytest.fixture
def invited(monkeypatch) -> list[int]:
    """The campaigns for which a worker was invited."""
    found: list[int] = []
    monkeypatch.setattr(tasks, "worker_invite", lambda _task, pk: found.append(pk))
    return found


@pytest.fixture
def small_requests(monkeypatch) -> None:
    """A request designs at most 40 places: 12 pairs once are 12 tuples with 48."""
    monkeypatch.setattr(watching, "PLACES_AT_ONCE", 40)


@pytest.fixture
def pairs(dataset):
    return PairFactory.create_batch(12, dataset=dataset)


@pytest.fixture
def draft(dataset, pairs):
    return campaign_create(dataset=dataset, name="Large", factor=1.0)


def work_of(campaign) -> CampaignDesign | None:
    return CampaignDesign.objects.filter(campaign=campaign).first()


def stored() -> Campaign:
    """The campaign that a test made; another one stays for the whole module."""
    return Campaign.objects.exclude(name="Relatedness").get()


def claimed(campaign, at, purpose="open"):
    design_commission(campaign=campaign, purpose=purpose, at=at)
    return design_claim(campaign_pk=campaign.pk, at=at)


# What a request does


def test_a_request_designs_no_more_places_than_it_may() -> None:
    RequestWatch().begins(watching.PLACES_AT_ONCE)

    with pytest.raises(TakesLonger):
        RequestWatch().begins(watching.PLACES_AT_ONCE + 1)


def test_a_search_that_takes_too_long_is_left_to_a_worker(monkeypatch, draft, invited, at) -> None:
    monkeypatch.setattr(watching, "SECONDS_AT_ONCE", 0.0)

    assert not tasks.design_now_or_later(campaign=draft, purpose="preview", at=at)

    assert invited == [draft.pk]


def test_what_took_too_long_once_is_not_tried_again(monkeypatch, draft, invited, site, at) -> None:
    monkeypatch.setattr(watching, "SECONDS_AT_ONCE", 0.0)
    tasks.design_now_or_later(campaign=draft, purpose="preview", at=at)
    monkeypatch.setattr(RequestWatch, "begins", lambda self, places: pytest.fail("A request designed again."))

    assert "There is no preview yet" in text_of(site.get(address("campaign_preview", draft)))
    assert not tasks.design_now_or_later(campaign=draft, purpose="open", at=at)


def test_the_factor_counts_and_not_the_pairs_alone(dataset, invited, at) -> None:
    PairFactory.create_batch(40, dataset=dataset)
    many = campaign_create(dataset=dataset, name="Many tuples", factor=60.0, judgements_per_tuple=1)

    assert not tasks.design_now_or_later(campaign=many, purpose="open", at=at)

    assert many.tuples.count() == 0
    assert work_of(many).state == "waiting"


def test_no_campaign_has_more_places_than_a_worker_can_design(dataset, pairs) -> None:
    with pytest.raises(
        UserError, match=r"fill 4,800,000 places, and a campaign has at most 2,000,000; lower"
    ):
        campaign_create(dataset=dataset, name="Absurd", factor=100_000)

    assert not Campaign.objects.filter(name="Absurd").exists()


def test_a_small_design_needs_no_worker(site, draft, invited) -> None:
    site.post(address("campaign_move", draft), {"move": "open"})

    assert stored().state == "open"
    assert invited == []
    assert work_of(draft) is None


# From the page to the worker and back


def test_a_large_draft_is_opened_by_a_worker_and_its_page_says_so(
    site, draft, small_requests, invited
) -> None:
    page = text_of(site.post(address("campaign_move", draft), {"move": "open"}, follow=True))
    assert "A worker designs the tuples and then opens the campaign." in page
    assert "It has not started yet." in page
    assert stored().state == "draft"

    assert tasks.design(invited.pop()) is True

    opened = stored()
    assert (opened.state, opened.tuples.count()) == ("open", 12)
    assert "A worker" not in text_of(site.get(address("campaign", draft)))
    assert tasks.design(draft.pk) is False


def test_a_worker_makes_the_design_that_a_request_would_make(dataset, pairs, draft, at) -> None:
    twin = campaign_create(dataset=dataset, name="Twin", factor=1.0)
    campaign_open(campaign=twin, at=at)

    design_carry_out(claimed(draft, at))

    def asked(campaign):
        return list(campaign.tuples.order_by("number", "items__slot").values_list("number", "items__pair"))

    assert asked(draft) == asked(twin)


def test_saving_a_large_draft_asks_a_worker_and_the_certificate_follows(
    site, dataset, pairs, small_requests, invited
) -> None:
    page = site.post(f"/campaigns/new/?dataset={dataset.slug}", SETTINGS, follow=True)
    assert "A worker is making the design." in text_of(page)

    tasks.design(invited.pop())

    made = stored()
    assert made.certificate["tuples"] == 24
    assert "Every pair is in exactly 8 tuples." in text_of(site.get(address("campaign", made)))


def test_a_changed_draft_is_designed_anew_and_nothing_of_before_is_shown(
    site, draft, small_requests, invited, at
) -> None:
    old = claimed(draft, at, purpose="preview")
    site.post(address("campaign_edit", draft), SETTINGS | {"factor": 2})

    assert design_carry_out(old) is False
    assert stored().certificate == {}
    assert work_of(draft).state == "waiting"


def test_the_page_fetches_the_progress_and_loads_itself_again_at_the_end(site, draft, at) -> None:
    claim = claimed(draft, at)
    CampaignDesign.objects.update(done=250, total=1000, message="Pairs are being put together.")
    state = site.get(address("design_state", draft))

    design_carry_out(claim)

    assert "Pairs are being put together. 250 of 1,000 steps." in text_of(state)
    assert "hx-trigger" in state.content.decode()
    assert site.get(address("design_state", draft)).headers["HX-Refresh"] == "true"


def test_a_large_growth_is_left_to_a_worker(judged, small_requests, invited, curator) -> None:
    PairFactory.create_batch(8, dataset=judged.dataset)
    curator.memberships.create(dataset=judged.dataset, role="curator")
    site = client_of(curator)

    page = text_of(site.post(address("grow", judged), {"number": "6"}, follow=True))
    assert "A worker designs the tuples of the pairs that join." in page
    assert not judged.tuples.filter(phase="bridge").exists()
    tasks.design(invited.pop())

    assert judged.tuples.filter(phase="bridge").count() == 24
    assert work_of(judged) is None


def test_extra_judgements_chosen_meanwhile_do_not_spoil_a_growth(judged, at, monkeypatch) -> None:
    adaptive_spend(campaign=judged, judgements=5)
    PairFactory.create_batch(8, dataset=judged.dataset)
    claim = claimed(judged, at, purpose="grow")

    def meanwhile(self, places) -> None:
        block_make(adaptive_phase(judged.pk))

    monkeypatch.setattr(Progress, "begins", meanwhile)

    assert design_carry_out(claim) is True
    assert set(judged.tuples.values_list("phase", flat=True)) == {"balanced", "adaptive", "bridge"}


# The preview


def test_the_preview_of_a_large_draft_computes_nothing_and_gives_the_sums(
    site, draft, small_requests
) -> None:
    page = text_of(site.get(address("campaign_preview", draft)))

    assert "There is no preview yet" in page
    assert "Pairs 12 Tuples 12 Judgements 24" in page
    assert "Hours of work" in page


def test_the_preview_shows_what_a_worker_has_worked_out(site, draft, small_requests, at) -> None:
    design_carry_out(claimed(draft, at, purpose="preview"))

    page = text_of(site.get(address("campaign_preview", draft)))

    assert page.count("A dog runs past house number") == 8


# Workers that die, are paused, or come too late


def test_of_two_workers_one_gets_the_work(draft, at) -> None:
    first = claimed(draft, at)

    assert first is not None
    assert design_claim(campaign_pk=draft.pk, at=at) is None


def test_what_a_killed_worker_left_is_taken_over_and_the_first_one_writes_nothing(draft, at) -> None:
    killed = claimed(draft, at)
    later = at + stale_after() + timedelta(seconds=1)

    other = design_claim(campaign_pk=draft.pk, at=later)

    assert design_carry_out(killed) is False
    assert stored().state == "draft"
    assert design_carry_out(other) is True
    assert stored().tuples.count() == 12


def test_a_worker_that_was_paused_before_it_wrote_writes_nothing(draft, at, monkeypatch) -> None:
    claim = claimed(draft, at)

    def taken_over(self, places) -> None:
        design_claim(campaign_pk=draft.pk, at=timezone.now() + 2 * stale_after())

    monkeypatch.setattr(Progress, "begins", taken_over)

    assert design_carry_out(claim) is False
    assert not draft.tuples.exists()
    assert work_of(draft).state == "running"


def test_the_sweep_invites_for_what_nobody_is_at(draft, at, invited) -> None:
    design_commission(campaign=draft, purpose="open", at=at)
    tasks.expire_leases()
    claim = design_claim(campaign_pk=draft.pk, at=timezone.now())
    tasks.expire_leases()
    CampaignDesign.objects.update(heartbeat_at=timezone.now() - 2 * stale_after())
    tasks.expire_leases()

    assert claim is not None
    assert invited == [draft.pk, draft.pk]


def test_what_silenced_several_workers_is_given_up(site, draft, at) -> None:
    design_commission(campaign=draft, purpose="open", at=at)
    for number in range(LOST_MAX):
        assert design_claim(campaign_pk=draft.pk, at=at + number * 2 * stale_after()) is not None

    assert design_claim(campaign_pk=draft.pk, at=at + LOST_MAX * 2 * stale_after()) is None

    assert not designs_free(at + timedelta(days=1)).exists()
    assert "3 workers stopped responding during this design" in text_of(site.get(address("campaign", draft)))


def test_a_design_that_cannot_be_made_says_why(site, dataset, draft, at) -> None:
    claim = claimed(draft, at)
    dataset.pairs.update(status="retired")

    assert design_carry_out(claim) is False

    page = text_of(site.get(address("campaign", draft)))
    assert "The design was not made: A campaign needs at least 4 active pairs" in page


def test_what_is_cancelled_is_not_written(site, draft, at) -> None:
    claim = claimed(draft, at)

    site.post(address("campaign_move", draft), {"move": "cancel"})

    assert design_carry_out(claim) is False
    assert not draft.tuples.exists()


def test_while_a_worker_opens_a_campaign_nothing_else_is_asked_of_it(draft, at) -> None:
    claimed(draft, at)

    with pytest.raises(UserError, match="A worker designs tuples for “Large” already"):
        design_commission(campaign=draft, purpose="preview", at=at)

    design_cancel(campaign=draft)
    design_commission(campaign=draft, purpose="preview", at=at)


def test_a_draft_that_changed_during_its_search_is_not_opened(draft, at, monkeypatch) -> None:
    class Changing(watching.Watch):
        def begins(self, places: int) -> None:
            campaign_change(campaign=draft, seed=99)

    with pytest.raises(UserError, match="was changed in the meantime"):
        campaign_open(campaign=draft, at=at, watch=Changing())


def test_a_page_of_a_draft_asks_as_much_whether_a_worker_is_at_it_or_not(site, draft) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            site.get(address("campaign", draft))
        return len(captured)

    queries()
    before = queries()
    claimed(draft, timezone.now())
    assert queries() == before


def test_a_program_that_opens_a_large_draft_is_told_where_to_ask(
    program, curator, draft, small_requests, invited
) -> None:
    client = program(curator)
    api = f"/api/v1/campaigns/{draft.pk}/"

    opened = client.post(f"{api}move/", {"move": "open"}, format="json")
    waiting = client.get(opened["Location"]).json()
    design_carry_out(design_claim(campaign_pk=draft.pk, at=timezone.now()))
    after = client.get(opened["Location"]).json()

    assert (opened.status_code, opened.json()["state"]) == (202, "draft")
    assert (waiting["purpose"], waiting["state"]) == ("open", "waiting")
    assert after["state"] in {"", "done"}
    assert client.get(api).json()["state"] == "open"
