"""What a curator decides about a campaign's crowd: its settings, what people agree to, and its link."""

import re
import secrets
from typing import TypedDict, Unpack

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.campaigns.rounds import campaign_lock, campaign_record
from annotation.crowds.presets import PRESETS
from annotation.models import Campaign, Crowd, CrowdConsent
from curation.foundation.errors import UserError, validation_shown
from curation.models import User
from curation.people.access import dataset_require_active
from curation.people.audit import Action

LINK_BYTES = 16  # every participant sees the link: it need only not be guessed before
CODE_BYTES = 4
_PARAMETER = re.compile(r"[A-Za-z0-9_.-]*")
_ADDRESS = re.compile(r"https?://\S+")
_CODES = ("code_completed", "code_stopped", "code_left")


class CrowdSettings(TypedDict, total=False):
    is_open: bool
    external_id_parameter: str
    study_parameter: str
    submission_parameter: str
    completion_address: str
    code_completed: str
    code_stopped: str
    code_left: str
    screens: int
    places: int
    hours: int
    leavers_judged_again: bool
    asks_about_person: bool


def crowd_of(campaign: Campaign) -> Crowd:
    """The campaign's crowd; before anybody saved its settings, an unsaved one with Prolific's and drawn codes."""
    saved = Crowd.objects.filter(campaign=campaign).first()
    if saved is not None:
        saved.campaign = campaign
        return saved
    codes = {name: secrets.token_hex(CODE_BYTES).upper() for name in _CODES}
    return Crowd(campaign=campaign, **PRESETS["prolific"].settings, **codes)


@transaction.atomic
def crowd_change(
    *, campaign: Campaign, consent: str, by: User | None = None, **settings: Unpack[CrowdSettings]
) -> Crowd:
    """Set how people enter and leave. Another consent text is a new version; who agreed to an earlier one keeps it.

    Raises UserError for settings that cannot work.
    """
    campaign = campaign_lock(campaign)
    dataset_require_active(campaign.dataset)
    crowd = crowd_of(campaign)
    before = {name: getattr(crowd, name) for name in settings} if crowd.pk else {}
    for name, value in settings.items():
        setattr(crowd, name, value)
    crowd.token = crowd.token or _link()
    with validation_shown(crowd):
        crowd.full_clean()
    settings_check(crowd, consent)
    crowd.save()
    # The number of the new version, if the text is not the newest version's already.
    version, text, newest = None, consent.strip(), crowd.consents.first()
    if text != (newest.text if newest else ""):
        version = newest.version + 1 if newest else 1
        CrowdConsent.objects.create(crowd=crowd, version=version, text=text)
    changed = {
        name: [before.get(name, ""), value] for name, value in settings.items() if before.get(name) != value
    }
    if changed or version:
        campaign_record(campaign, Action.CROWD_CHANGED, by=by, settings=changed, version=version)
    return crowd


def settings_check(crowd: Crowd, consent: str) -> None:
    """Raise UserError for what the fields alone cannot refuse."""
    names = [crowd.external_id_parameter, crowd.study_parameter, crowd.submission_parameter]
    given = [name for name in names if name]
    if not all(_PARAMETER.fullmatch(name) for name in given):
        raise UserError(_("Names of parameters consist of letters, digits, “_”, “-” and “.”."))
    if len(set(given)) < len(given):
        raise UserError(_("The names of the parameters must differ from each other."))
    address = crowd.completion_address
    if address and not _ADDRESS.fullmatch(address):
        raise UserError(_("The completion address must begin with https:// and have no spaces."))
    if address and "{code}" not in address:
        raise UserError(_("Write {code} in the completion address, where the code belongs."))
    if re.search(r"[{}]", address.replace("{code}", "").replace("{submission}", "")):
        raise UserError(_("Only {code} and {submission} may stand in braces in the completion address."))
    if len({getattr(crowd, name) for name in _CODES}) < len(_CODES):
        raise UserError(_("The three codes must differ: by them the platform tells the outcomes apart."))
    for name, least in {"screens": 1, "places": 1, "hours": 1}.items():
        if getattr(crowd, name) < least:
            label = crowd._meta.get_field(name).verbose_name  # type: ignore[union-attr]
            raise UserError(_("%(label)s: give at least 1."), label=label)
    if crowd.is_open and not consent.strip():
        raise UserError(
            _("Write what people agree to before they enter; nobody is admitted without a consent.")
        )


@transaction.atomic
def crowd_link_renew(*, campaign: Campaign, by: User | None = None) -> Crowd:
    """A new entry link. The old one admits nobody any more; who has entered judges on."""
    campaign = campaign_lock(campaign)
    dataset_require_active(campaign.dataset)
    crowd = crowd_of(campaign)
    if crowd.pk is None:
        raise UserError(_("Save the settings of the crowd first."))
    crowd.token = _link()
    crowd.save(update_fields=["token"])
    campaign_record(campaign, Action.CROWD_CHANGED, by=by, reason=_("new entry link"))
    return crowd


def _link() -> str:
    return secrets.token_urlsafe(LINK_BYTES)
