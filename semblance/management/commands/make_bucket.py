"""`semblance make_bucket`: make the bucket that STORAGE_URL names."""

from typing import Any

from django.utils.translation import gettext as _

from curation.foundation.command import Command as BaseCommand
from curation.foundation.shared_files import shared_store


class Command(BaseCommand):
    help = "Make the bucket of STORAGE_URL, unless it is there. The key must be allowed to make buckets."

    def handle(self, **options: Any) -> None:
        store = shared_store()
        if store is None:
            self.fail(_("STORAGE_URL is not set, so there is no bucket to make."))
        made = store.bucket_make()
        sentence = (
            _("The bucket of %(url)s was made.") if made else _("The bucket of %(url)s is there already.")
        )
        figures = {"url": store.url, "made": made}
        self.answer(figures, sentence % {"url": store.url}, as_json=options["json"])
