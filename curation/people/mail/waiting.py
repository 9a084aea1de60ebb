"""E-mails that wait to be sent. `sending` sends them; only workers load it."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Q, QuerySet

from curation.foundation.heartbeats import database_now, worker_invite
from curation.models import Mail
from curation.people.outgoing import State, outgoing_due

SEND = "curation.mails_send"  # the task that takes the invitation
KEPT_FOR = timedelta(days=90)  # invitations, which owners see
OTHERS_KEPT_FOR = timedelta(days=1)


def send_soon() -> None:
    """Invite a worker. Where no message arrives, the next sweep invites again."""
    worker_invite(SEND)


def mails_open() -> QuerySet[Mail]:
    return Mail.objects.select_related("invitation__dataset", "invitation__created_by", "user")


def mails_sweep() -> None:
    """Invite a worker for what is due, and forget the addresses of what ended long ago."""
    at = database_now()
    invitation = Q(kind=Mail.Kind.INVITATION)
    old = (invitation & Q(made_at__lt=at - KEPT_FOR)) | (~invitation & Q(made_at__lt=at - OTHERS_KEPT_FOR))
    Mail.objects.filter(old).exclude(state=State.WAITING).delete()
    if settings.MAIL_SERVER and outgoing_due(mails_open(), at).exists():
        send_soon()
