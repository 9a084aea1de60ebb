"""How many bytes one person may upload in a day, whatever becomes of the files."""

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import UploadDay, User


@transaction.atomic
def upload_count(*, user: User, size: int, at: datetime) -> None:
    """Count an upload of so many bytes. Raises UserError where the person's uploads of the day would be too many.

    A day is one of UTC. What is refused does not count.
    """
    most = settings.UPLOADS_PER_DAY_BYTES
    UploadDay.objects.filter(user=user, day__lt=at.date()).delete()
    # An upsert that adds nothing locks the row, so that two uploads at once count one after the other.
    UploadDay.objects.bulk_create(
        [UploadDay(user=user, day=at.date())],
        update_conflicts=True,
        unique_fields=["user", "day"],
        update_fields=["day"],
    )
    within = UploadDay.objects.filter(user=user, day=at.date(), size__lte=most - size)
    if not within.update(size=F("size") + size):
        sentence = _(
            "One person can upload %(most)s a day, and this upload would be more. Upload it tomorrow, or ask the "
            "administrator of this site for a higher limit (UPLOADS_PER_DAY_BYTES)."
        )
        raise UserError(sentence, most=filesizeformat(most))
