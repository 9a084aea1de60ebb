"""What a member of a dataset may do."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """Each role may do what the ones before it may."""

    ANNOTATOR = "annotator", _("annotator")
    CURATOR = "curator", _("curator")
    OWNER = "owner", _("owner")
