"""Copying a campaign as a draft, and taking one out of the lists."""

import pytest

from annotation.campaigns.cloning import campaign_clone
from annotation.campaigns.gold import gold_add
from annotation.campaigns.services import (
    campaign_archive,
    campaign_change,
    campaign_close,
    campaign_create,
    campaign_open,
    campaign_restore,
    campaign_resume,
    guideline_save,
)
from annotation.models import CAMPAIGN_SETTINGS, Campaign
from curation.foundation.errors import UserError
from curation.models import AuditEntry
from tests.factories import CampaignFactory, PairFactory, client_of
from tests.integration.annotation.pages import address, text_of


@pytest.fixture
def pairs(dataset):
    return PairFactory.create_batch(12, dataset=dataset, split="train")


@pytest.fixture
def original(dataset, pairs, at):
    campaign = campaign_create(
        dataset=dataset,
        name="Relatedness",
        guideline="Think of meaning.",
        question="Which is funniest?",
        best_label="Funniest",
        worst_label="Dullest",
        factor=1.5,
        seed=7,
        split="train",
    )
    gold_add(campaign=campaign, pairs=pairs[:4], best=pairs[0], worst=pairs[1], why="It is a joke.")
    gold_add(campaign=campaign, pairs=pairs[4:8], best=pairs[4], worst=pairs[5])
    return campaign_open(campaign=campaign, at=at)


def test_a_copy_is_a_draft_with_settings_guidelines_and_gold(original, pairs, owner) -> None:
    guideline_save(campaign=original, text="Think of jokes.")

    clone = campaign_clone(campaign=original, by=owner)

    assert (clone.state, clone.name, clone.created_by) == ("draft", "Relatedness (2)", owner)
    assert [getattr(clone, name) for name in CAMPAIGN_SETTINGS] == [
        getattr(original, name) for name in CAMPAIGN_SETTINGS
    ]
    assert clone.pair_filter == {"split": "train"}
    assert clone.guidelines.get().text == "Think of jokes."
    gold = clone.tuples.filter(is_gold=True).order_by("number").first()
    by_slot = [item.pair for item in gold.items.order_by("slot")]
    assert (by_slot[gold.gold_answer.best_slot], by_slot[gold.gold_answer.worst_slot]) == (pairs[0], pairs[1])
    assert gold.gold_answer.why == "It is a joke."
    assert clone.tuples.count() == 2


def test_a_copy_of_an_open_campaign_changes_nothing_of_it(original) -> None:
    before = original.tuples.count()

    campaign_change(campaign=campaign_clone(campaign=original), tuple_size=3)

    original.refresh_from_db()
    assert (original.state, original.tuple_size, original.tuples.count()) == ("open", 4, before)


def test_gold_tuples_with_a_rejected_pair_are_not_copied(original, pairs) -> None:
    pairs[0].status = "rejected"
    pairs[0].save()

    clone = campaign_clone(campaign=original)

    assert clone.tuples.filter(is_gold=True).count() == 1


def test_an_imported_campaign_without_a_question_is_not_copied(dataset) -> None:
    imported = CampaignFactory(dataset=dataset, question="")

    with pytest.raises(UserError, match="imported from a file without its question"):
        campaign_clone(campaign=imported)


def test_an_open_campaign_is_not_archived(original) -> None:
    with pytest.raises(UserError, match="is open"):
        campaign_archive(campaign=original)


def test_an_archived_campaign_is_in_no_list_and_nothing_in_it_changes(original, curator) -> None:
    campaign_archive(campaign=campaign_close(campaign=original), by=curator)

    with pytest.raises(UserError, match="is archived"):
        campaign_resume(campaign=original)
    with pytest.raises(UserError, match="is archived"):
        guideline_save(campaign=original, text="Other words.")
    client = client_of(curator)
    assert "Relatedness" not in text_of(client.get("/campaigns/"))
    assert "1 archived campaign" in text_of(client.get("/campaigns/"))
    assert "Relatedness" in text_of(client.get("/campaigns/?show=archived"))
    assert AuditEntry.objects.first().action == "campaign_archived"


def test_a_restored_campaign_has_the_state_that_it_had(original) -> None:
    campaign_archive(campaign=campaign_close(campaign=original))

    campaign_restore(campaign=original)

    assert campaign_resume(campaign=original).state == "open"


def test_buttons_copy_and_archive(original, curator) -> None:
    client = client_of(curator)

    copied = client.post(address("campaign_copy", original))
    clone = Campaign.objects.get(state="draft")
    client.post(address("campaign_move", clone), {"move": "archive"})

    assert copied["Location"] == address("campaign_edit", clone)
    clone.refresh_from_db()
    assert clone.archived
    assert "Restore" in text_of(client.get(address("campaign", clone)))


def test_annotators_copy_and_archive_nothing(original, annotator) -> None:
    client = client_of(annotator)

    assert client.post(address("campaign_copy", original)).status_code == 403
    assert client.post(address("campaign_move", original), {"move": "archive"}).status_code == 403
