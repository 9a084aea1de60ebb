"""Why somebody skips or flags a tuple: what annotators choose from."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class FlagReason(models.TextChoices):
    LANGUAGE = "language", _("not my language")
    BROKEN = "broken", _("broken text")
    OFFENSIVE = "offensive", _("offensive")
    CANNOT_TELL = "cannot_tell", _("cannot tell")
    OTHER = "other", _("other")
