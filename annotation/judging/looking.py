"""What a curator decides about signs of carelessness: a sign by itself stops nobody."""

from collections.abc import Collection

from django.db import transaction
from django.utils.translation import gettext as _

from annotation.bws.annotators.carelessness import SignKind
from annotation.judging.settling import participation_lock
from annotation.models import Participation
from curation.foundation.errors import UserError


@transaction.atomic
def signs_accept(*, participation: Participation, kinds: Collection[str]) -> Participation:
    """Note that a curator looked at these kinds of signs and found them harmless: they ask for no look any more."""
    if not kinds or not set(kinds) <= {kind.value for kind in SignKind}:
        raise UserError(_("The page did not say which signs this is about; load it again."))
    return _kept(participation, set(kinds) | set(participation_lock(participation).signs_accepted))


@transaction.atomic
def signs_reopen(*, participation: Participation) -> Participation:
    """Undo `signs_accept`: every sign of the person asks for a look again."""
    return _kept(participation, set())


def _kept(participation: Participation, kinds: set[str]) -> Participation:
    person = participation_lock(participation)
    person.signs_accepted = sorted(kinds)
    person.save(update_fields=["signs_accepted"])
    return person
