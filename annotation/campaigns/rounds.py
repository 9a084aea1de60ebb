"""What a campaign's own verbs share: its row locked, a round of tuples written, and an entry in the dataset's log."""

from collections.abc import Collection
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.bws.judgements import IntArray
from annotation.campaigns.watching import NOBODY, Watch
from annotation.models import Campaign, CampaignDesign, Tuple, TupleItem, TuplePhase
from curation.foundation.errors import UserError
from curation.models import User
from curation.people.access import dataset_require_active
from curation.people.audit import Action, audit_record

ROWS_AT_ONCE = 2000


def campaign_lock(campaign: Campaign) -> Campaign:
    """The campaign's row as it is now, locked until the transaction ends."""
    return (
        Campaign.objects.select_for_update(of=("self",), no_key=True)
        .select_related("dataset")
        .get(pk=campaign.pk)
    )


def campaign_require(campaign: Campaign, *expected: Campaign.State) -> None:
    """Raise UserError where people may not change the campaign: in another state, or of an archived dataset."""
    dataset_require_active(campaign.dataset)
    if campaign.archived:
        raise UserError(
            _("“%(name)s” is archived, so nothing in it can be changed. Restore it first."),
            name=campaign.name,
        )
    if campaign.state not in expected:
        raise UserError(
            _("“%(name)s” is %(state)s, so this is not possible. Load the page again."),
            name=campaign.name,
            state=campaign.get_state_display(),
        )


def campaign_record(
    campaign: Campaign,
    action: Action,
    *,
    by: User | None,
    pairs: int | None = None,
    rule: bool = False,
    **details: object,
) -> None:
    """Write what was done with the campaign into the log of its dataset, in the transaction that does it."""
    audit_record(
        dataset=campaign.dataset,
        action=action,
        by=by,
        subject=campaign.name,
        pairs=pairs,
        rule=rule,
        details={"campaign": campaign.pk, **details},
    )


def design_forget(campaign: Campaign) -> None:
    """Forget what a worker was asked to design. The caller holds the campaign's lock."""
    CampaignDesign.objects.filter(campaign=campaign).delete()


def round_write(
    campaign: Campaign, pairs: IntArray, *, phase: TuplePhase, required: int, watch: Watch = NOBODY
) -> int:
    """Write tuples of pairs (T, k), handed out in this order, as the campaign's next round; its number.

    The caller holds the campaign's lock, and saves what else it changes of it: `rounds` is set.
    """
    watch.writes()
    last = campaign.tuples.for_scores().aggregate(last=Max("number", default=0))["last"]
    campaign.rounds = campaign.rounds + 1 if last else 1
    # Priorities go on from round to round, as numbers do, so that a cursor never points into an earlier round.
    facts: dict[str, Any] = {"round": campaign.rounds, "phase": phase, "required": required}
    for start in range(0, len(pairs), ROWS_AT_ONCE):
        some = pairs[start : start + ROWS_AT_ONCE].tolist()
        rows = Tuple.objects.bulk_create(
            Tuple(campaign=campaign, number=index + 1, priority=index, **facts)
            for index in range(last + start, last + start + len(some))
        )
        TupleItem.objects.bulk_create(
            TupleItem(tuple=row, slot=slot, pair_id=pair)
            for row, members in zip(rows, some, strict=True)
            for slot, pair in enumerate(members)
        )
        watch.written(start + len(some), len(pairs))
    return campaign.rounds


def extension_note(campaign: Campaign, **facts: Any) -> None:
    """Add what is known of a later round to the campaign's certificate; the caller saves it."""
    extensions = [*campaign.certificate.get("extensions", []), facts]
    campaign.certificate = {**campaign.certificate, "extensions": extensions}


def tuples_lock(tuple_ids: Collection[int]) -> dict[int, tuple[int, int]]:
    """Lock the tuples until the transaction ends. Returns how many judgements each requires and has collected."""
    tuples = Tuple.objects.for_scores().filter(pk__in=tuple_ids).order_by("pk")
    rows = tuples.select_for_update(no_key=True).values_list("pk", "required", "collected")
    return {pk: (required, collected) for pk, required, collected in rows}
