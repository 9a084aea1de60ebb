"""What owners and curators do with a campaign: make it, look at its design, open it, pause it, close it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TypedDict, Unpack

from django.db import transaction
from django.utils.timezone import now
from django.utils.translation import gettext as _

from annotation.campaigns.designing import campaign_design, chosen_pairs, design_places, first_tuples
from annotation.campaigns.rounds import (
    campaign_lock,
    campaign_record,
    campaign_require,
    design_forget,
    round_write,
)
from annotation.campaigns.watching import NOBODY, Watch
from annotation.models import Campaign, CampaignDesign, Flag, Guideline, Tuple
from curation.foundation.errors import UserError, validation_shown
from curation.models import Dataset, User
from curation.people.access import dataset_require_active
from curation.people.audit import Action
from curation.people.webhooks.events import Event, event_happened

_OF_PAIRS = ("source", "split", "number", "even_mix")  # settings that choose the pairs


class CampaignSettings(TypedDict, total=False):
    """What may be set of a campaign; the model has the defaults.

    source, split and number choose its pairs: all that fit, or a number of them drawn with the seed. even_mix: whether
    each tuple gets an even share of imported and generated pairs. estimate: what its estimate assumes.
    """

    source: str
    split: str
    number: int | None
    even_mix: bool
    question: str
    best_label: str
    worst_label: str
    tuple_size: int
    factor: float
    judgements_per_tuple: int
    gold_every: int
    gold_minimum: int
    gold_threshold: float
    repeat_every: int
    seed: int
    estimate: dict[str, object]


class CampaignChanges(CampaignSettings, total=False):
    name: str


@transaction.atomic
def campaign_create(
    *,
    dataset: Dataset,
    name: str,
    by: User | None = None,
    guideline: str = "",
    **settings: Unpack[CampaignSettings],
) -> Campaign:
    """A draft that asks for a dataset's active pairs to be judged, or for those that the settings choose."""
    dataset_require_active(dataset)
    campaign = Campaign(dataset=dataset, name=name, created_by=by)
    _set(campaign, settings)
    campaign.save()
    campaign_record(campaign, Action.CAMPAIGN_CREATED, by=by)
    if guideline.strip():
        Guideline.objects.create(campaign=campaign, version=1, text=guideline.strip())
    return campaign


@transaction.atomic
def campaign_change(
    *, campaign: Campaign, by: User | None = None, **changes: Unpack[CampaignChanges]
) -> Campaign:
    """Change a draft. What is open stays as it was, so that all its judgements answer one question."""
    campaign = campaign_lock(campaign)
    campaign_require(campaign, Campaign.State.DRAFT)
    shaping = changes.keys() - {"estimate"}
    before = _settings_of(campaign, shaping)
    _set(campaign, changes)
    campaign.certificate = {}
    campaign.save()
    design_forget(campaign)
    _record_changes(campaign, before, _settings_of(campaign, shaping), by=by)
    return campaign


def _settings_of(campaign: Campaign, names: Iterable[str]) -> dict[str, object]:
    """The settings of these names, "" where there is none."""
    fields = {name: getattr(campaign, name) for name in names if name not in _OF_PAIRS}
    chosen = {name: campaign.pair_filter.get(name) for name in names if name in _OF_PAIRS}
    return {name: "" if value is None else value for name, value in (chosen | fields).items()}


def _record_changes(
    campaign: Campaign, before: Mapping[str, object], after: Mapping[str, object], *, by: User | None
) -> None:
    changed = {name: [before[name], value] for name, value in after.items() if value != before[name]}
    if changed:
        campaign_record(campaign, Action.CAMPAIGN_CHANGED, by=by, settings=changed)


def _set(campaign: Campaign, settings: Mapping[str, object]) -> None:
    """Set fields of an unsaved or locked campaign.

    Raises UserError for what cannot work, too few pairs included.
    """
    chosen = {key: settings[key] for key in _OF_PAIRS if key in settings}
    campaign.pair_filter = {**campaign.pair_filter, **chosen}
    for field in settings.keys() - chosen.keys():
        setattr(campaign, field, settings[field])
    with validation_shown(campaign):
        campaign.full_clean()
    pairs, _sentences = chosen_pairs(campaign)
    design_places(campaign, len(pairs))


@transaction.atomic
def repeats_change(*, campaign: Campaign, every: int, by: User | None = None) -> Campaign:
    """Show tuples again more or less often from now on, or (0) no more. No score follows from it, so a running campaign
    may change.
    """
    campaign = campaign_lock(campaign)
    campaign_require(campaign, Campaign.State.OPEN, Campaign.State.PAUSED)
    before = {"repeat_every": campaign.repeat_every}
    campaign.repeat_every = every
    with validation_shown(campaign):
        campaign.full_clean()
    campaign.save(update_fields=["repeat_every"])
    _record_changes(campaign, before, {"repeat_every": every}, by=by)
    return campaign


def campaign_preview(*, campaign: Campaign, watch: Watch = NOBODY) -> dict[str, object]:
    """The certificate of the design that the campaign would get if it was opened now; kept with a draft."""
    looked_at = _as_stored(campaign)
    pairs, design = campaign_design(looked_at, watch=watch)
    certificate = design.certificate.as_dict()
    with transaction.atomic():
        campaign = campaign_lock(looked_at)
        if campaign.state != Campaign.State.DRAFT:
            return certificate
        _require_unchanged(campaign, looked_at)
        watch.writes()
        campaign.certificate = certificate
        campaign.save(update_fields=["certificate"])
        done = {"state": CampaignDesign.State.DONE, "first": first_tuples(pairs, design), "message": ""}
        CampaignDesign.objects.update_or_create(campaign=campaign, defaults=done)
    return certificate


def campaign_open(
    *, campaign: Campaign, at: datetime, by: User | None = None, watch: Watch = NOBODY
) -> Campaign:
    """Write the tuples of the design, and hand them out from now on.

    The design is searched for outside the transaction: nobody waits for the campaign's row in the meantime.
    """
    looked_at = _as_stored(campaign)
    campaign_require(looked_at, Campaign.State.DRAFT)
    pairs, design = campaign_design(looked_at, watch=watch)
    tuples = pairs[design.tuples]  # in the design's order, which is shuffled already
    with transaction.atomic():
        campaign = campaign_lock(looked_at)
        campaign_require(campaign, Campaign.State.DRAFT)
        _require_unchanged(campaign, looked_at)
        round_write(
            campaign, tuples, phase=Tuple.Phase.BALANCED, required=campaign.judgements_per_tuple, watch=watch
        )
        campaign.certificate = design.certificate.as_dict()
        campaign.state, campaign.opened_at = Campaign.State.OPEN, at
        campaign.save(update_fields=["certificate", "state", "opened_at", "rounds"])
        campaign_record(campaign, Action.CAMPAIGN_OPENED, by=by, pairs=design.certificate.items)
        design_forget(campaign)
    return campaign


def _as_stored(campaign: Campaign) -> Campaign:
    return Campaign.objects.select_related("dataset").get(pk=campaign.pk)


def _require_unchanged(campaign: Campaign, looked_at: Campaign) -> None:
    """Raise UserError where the draft was changed while its design was searched for."""
    shaping = ("tuple_size", "factor", "seed", "pair_filter")
    if any(getattr(campaign, field) != getattr(looked_at, field) for field in shaping):
        raise UserError(_("“%(name)s” was changed in the meantime. Load the page again."), name=campaign.name)


@transaction.atomic
def design_cancel(*, campaign: Campaign) -> None:
    """Let no worker design anything for the campaign; one that is at it finds out and writes nothing."""
    design_forget(campaign_lock(campaign))


def campaign_pause(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Hand out nothing for a while. What is on a screen may still be answered."""
    return _move(campaign, Campaign.State.PAUSED, Campaign.State.OPEN, action=Action.CAMPAIGN_PAUSED, by=by)


def campaign_resume(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Go on with a paused campaign, or with one that was closed too early."""
    if not campaign.question:  # an imported campaign
        unknown = _("The question of “%(name)s” is not known, so nobody can be asked; make a new campaign.")
        raise UserError(unknown, name=campaign.name)
    if campaign.certificate.get("imported", {}).get("smaller_tuples"):
        mixed = _("The tuples of “%(name)s” have several sizes, so nobody can be asked; make a new campaign.")
        raise UserError(mixed, name=campaign.name)
    ended = (Campaign.State.PAUSED, Campaign.State.CLOSED)
    return _move(campaign, Campaign.State.OPEN, *ended, action=Action.CAMPAIGN_RESUMED, by=by)


@transaction.atomic
def campaign_close(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Hand out nothing any more. What is on a screen may still be answered: no work is lost."""
    running = (Campaign.State.OPEN, Campaign.State.PAUSED)
    closed = _move(campaign, Campaign.State.CLOSED, *running, action=Action.CAMPAIGN_CLOSED, by=by)
    event_happened(
        dataset=closed.dataset_id,
        event=Event.CAMPAIGN_CLOSED,
        key=f"campaign {closed.pk} at {now().isoformat()}",  # it may be opened again, and closed again
        data={"campaign": closed.pk, "name": closed.name},
    )
    return closed


@transaction.atomic
def _move(
    campaign: Campaign, to: Campaign.State, *expected: Campaign.State, action: Action, by: User | None
) -> Campaign:
    campaign = campaign_lock(campaign)
    campaign_require(campaign, *expected)
    campaign.state = to
    campaign.save(update_fields=["state"])
    campaign_record(campaign, action, by=by)
    return campaign


@transaction.atomic
def guideline_save(
    *,
    campaign: Campaign,
    text: str,
    examples: list[dict[str, object]] | None = None,
    by: User | None = None,
) -> Guideline | None:
    """A new version of the guidelines, unless text and worked examples are the newest version's already.

    examples: as `Guideline` stores them; None keeps those of the newest version.
    """
    campaign = campaign_lock(campaign)
    campaign_require(campaign, *Campaign.State)
    newest = campaign.guidelines.first()
    before = (newest.text, newest.examples) if newest else ("", [])
    text, examples = text.strip(), before[1] if examples is None else examples
    if (text, examples) == before:
        return newest
    version = newest.version + 1 if newest else 1
    campaign_record(campaign, Action.GUIDELINES_SAVED, by=by, version=version)
    return Guideline.objects.create(campaign=campaign, version=version, text=text, examples=examples)


@transaction.atomic
def campaign_archive(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Take a draft or a closed campaign out of the lists. Nothing is deleted, and published scores stay."""
    campaign = campaign_lock(campaign)
    campaign_require(campaign, Campaign.State.DRAFT, Campaign.State.CLOSED)
    design_forget(campaign)
    return _archive_set(campaign, True, Action.CAMPAIGN_ARCHIVED, by)


@transaction.atomic
def campaign_restore(*, campaign: Campaign, by: User | None = None) -> Campaign:
    """Put an archived campaign back into the lists, in the state that it had."""
    campaign = campaign_lock(campaign)
    dataset_require_active(campaign.dataset)
    return _archive_set(campaign, False, Action.CAMPAIGN_RESTORED, by) if campaign.archived else campaign


def _archive_set(campaign: Campaign, archived: bool, action: Action, by: User | None) -> Campaign:
    campaign.archived = archived
    campaign.save(update_fields=["archived"])
    campaign_record(campaign, action, by=by)
    return campaign


def flag_resolve(*, flag: Flag, by: User, at: datetime) -> Flag:
    flag.resolved_by, flag.resolved_at = by, at
    flag.save(update_fields=["resolved_by", "resolved_at"])
    return flag
