"""What a member of a dataset may do."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """Each role may do what the ones before it may."""

    ANNOTATOR = "annotator", _("annotator")
    CURATOR = "curator", _("curator")
    OWNER = "owner", _("owner")


class TokenScope(models.TextChoices):
    """What a program may do with a person's token, at most: the person's own rights hold besides."""

    READ = "read", _("Read")
    JUDGE = "judge", _("Annotate and rate")
    WRITE = "write", _("Read and change")
