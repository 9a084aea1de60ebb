"""The audit log of a dataset has what is done with its campaigns: by whom, once, and nothing that was refused."""

import csv
import io

import pytest
from django.utils import timezone

from annotation.campaigns.adapting import adaptive_spend, adaptive_withdraw
from annotation.campaigns.commissioning import design_carry_out, design_claim, design_commission
from annotation.campaigns.gold import gold_add
from annotation.campaigns.services import campaign_create, campaign_pause
from annotation.judging.settling import participation_reinstate, participation_stop
from annotation.models import Campaign
from curation.foundation.errors import UserError
from curation.models import AuditEntry
from tests.factories import PairFactory, client_of
from tests.integration.annotation.pages import address, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def pairs(dataset):
    return PairFactory.create_batch(12, dataset=dataset, source="news")


@pytest.fixture
def draft(dataset, pairs, curator) -> Campaign:
    return campaign_create(dataset=dataset, name="Pilot", by=curator, guideline="Think of meaning.")


def told(dataset) -> list[tuple]:
    """Action, person, way and details of every entry without the campaign's number, the oldest first."""
    entries = AuditEntry.objects.filter(dataset=dataset).order_by("pk")
    return [
        (
            entry.action,
            entry.by and entry.by.username,
            entry.via,
            {name: value for name, value in entry.details.items() if name != "campaign"},
        )
        for entry in entries
    ]


def test_every_move_on_the_pages_of_a_campaign_is_one_entry_with_the_person(dataset, draft, curator) -> None:
    site = client_of(curator)
    for move in ("open", "pause", "pause", "resume", "close", "nonsense"):
        site.post(address("campaign_move", draft), {"move": move})
    site.post(address("guidelines", draft), {"text": "Think of meaning."})
    site.post(address("guidelines", draft), {"text": "Think of meaning alone."})

    assert told(dataset) == [
        ("campaign_created", "curator", "site", {}),
        ("campaign_opened", "curator", "site", {}),
        ("campaign_paused", "curator", "site", {}),
        ("campaign_resumed", "curator", "site", {}),
        ("campaign_closed", "curator", "site", {}),
        ("guidelines_saved", "curator", "site", {"version": 2}),
    ]


def test_changed_settings_are_written_down_with_what_they_were(dataset, draft, curator) -> None:
    form = client_of(curator).get(address("campaign_edit", draft)).context["form"]
    given = {name: "" if form[name].value() is None else form[name].value() for name in form.fields}
    client_of(curator).post(address("campaign_edit", draft), given)
    client_of(curator).post(address("campaign_edit", draft), given | {"factor": "3", "number": "8"})

    assert told(dataset)[1:] == [
        ("campaign_changed", "curator", "site", {"settings": {"factor": [2.0, 3.0], "number": ["", 8]}})
    ]


def test_repeats_extra_judgements_and_gold_are_written_down(dataset, draft, pairs, curator) -> None:
    site = client_of(curator)
    gold = gold_add(campaign=draft, pairs=pairs[:4], best=pairs[0], worst=pairs[3], by=curator)
    site.post(address("gold_edit", draft, gold.pk), {"why": "The same event."})
    site.post(address("gold_remove", draft, gold.pk))
    site.post(address("campaign_move", draft), {"move": "open"})
    site.post(address("campaign_repeats", draft), {"repeat_every": "9"})
    site.post(address("spend", draft), {"judgements": "5"})
    site.post(address("withdraw", draft))

    assert told(dataset)[1:] == [
        ("gold_added", "curator", "site", {"tuple": 1}),
        ("gold_changed", "curator", "site", {"tuple": 1}),
        ("gold_removed", "curator", "site", {"tuple": 1}),
        ("campaign_opened", "curator", "site", {}),
        ("campaign_changed", "curator", "site", {"settings": {"repeat_every": [0, 9]}}),
        ("campaign_changed", "curator", "site", {"settings": {"adaptive_budget": [0, 5]}}),
        ("campaign_changed", "curator", "site", {"settings": {"adaptive_budget": [5, 0]}}),
    ]


def test_stopped_excluded_and_reinstated_annotators_are_named_with_the_reason(
    dataset, campaign, anna, answer, curator
) -> None:
    answer(anna)
    participation_stop(participation=anna, reason="Thank you.", by=curator)
    participation_stop(participation=anna, reason="Answers at random.", exclude=True, by=curator)
    participation_reinstate(participation=anna, by=curator)
    participation_reinstate(participation=anna, by=curator)

    about = {"annotator": "anna", "judgements": 1}
    assert told(dataset) == [
        ("annotator_stopped", "curator", "site", about | {"reason": "Thank you."}),
        ("annotator_excluded", "curator", "site", about | {"reason": "Answers at random."}),
        ("annotator_reinstated", "curator", "site", about),
    ]


def test_a_design_that_a_worker_makes_is_written_down_for_the_person_who_asked(
    dataset, draft, curator, owner, at
) -> None:
    design_commission(campaign=draft, purpose="open", at=at, by=owner)

    assert design_carry_out(design_claim(campaign_pk=draft.pk, at=timezone.now())) is True

    assert told(dataset)[1:] == [("campaign_opened", "owner", "site", {})]


def test_what_is_refused_is_not_written_down(dataset, draft, curator) -> None:
    with pytest.raises(UserError):
        campaign_pause(campaign=draft, by=curator)
    with pytest.raises(UserError):
        adaptive_spend(campaign=draft, judgements=3, by=curator)
    adaptive_withdraw(campaign=draft, by=curator)

    assert [entry[0] for entry in told(dataset)] == ["campaign_created"]


def test_owners_find_an_annotator_in_the_log_on_the_page_in_csv_and_by_program(
    dataset, draft, campaign, anna, owner, curator
) -> None:
    participation_stop(participation=anna, reason="Answers at random.", exclude=True, by=curator)
    site = client_of(owner)

    log = f"/datasets/{dataset.slug}/log/"
    page = site.get(f"{log}?search=ANNA")
    file = b"".join(site.get(f"{log}log.csv?search=anna").streaming_content).decode()
    rows = list(csv.reader(io.StringIO(file)))
    listed = site.get(f"/api/v1{log}?search=anna").json()["results"]

    assert [entry.action for entry in page.context["page"]] == ["annotator_excluded"]
    assert f'href="/campaigns/{campaign.pk}/"' in page.content.decode()
    assert "annotator anna" in text_of(page)
    assert [row[4] for row in rows[1:]] == ["annotator_excluded"]
    assert [entry["details"]["annotator"] for entry in listed] == ["anna"]
