"""What beat asks for, and what pages leave to a worker."""

from celery import shared_task

from curation.exchange.duplicate_searches import SEARCH, search_carry_out, searches_sweep
from curation.people.mail.sending import mails_carry_out
from curation.people.mail.waiting import SEND, mails_sweep
from curation.people.webhooks.sending import deliveries_carry_out
from curation.people.webhooks.waiting import DELIVER, deliveries_sweep


@shared_task(name=SEARCH)
def duplicates(search_pk: int) -> bool:
    """Search for duplicates, if that is still to be done; whether it came to a good end."""
    return search_carry_out(search_pk=search_pk)


@shared_task(name="curation.sweep")
def sweep() -> None:
    """Invite workers for what no worker has begun, or what a worker began that sends no heartbeat."""
    searches_sweep()
    deliveries_sweep()
    mails_sweep()


@shared_task(name=DELIVER)
def webhooks_deliver() -> int:
    """Send what webhooks wait for; how many receivers answered with success."""
    return deliveries_carry_out()


@shared_task(name=SEND)
def mails_send() -> int:
    """Send the e-mails that wait; how many the server took."""
    return mails_carry_out()
