"""What `manage.py check` and `manage.py serve` say of settings that work, but less well than people may expect."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Warning, register  # noqa: A004 - Django's name
from django.utils.translation import gettext as _

TAG = "production"


@register(TAG)
def redis_is_set(**_kwargs: Any) -> list[CheckMessage]:
    """A database server without Redis works on one machine, and less well on several."""
    if settings.EMBEDDED or settings.REDIS_URL:
        return []
    sentence = _(
        "DATABASE_URL is set, but REDIS_URL is not. Messages to workers are therefore files in SEMBLANCE_HOME, which "
        "workers on other machines cannot read, and every web process has a cache of its own. Set REDIS_URL."
    )
    return [Warning(sentence, id="semblance.W001")]
