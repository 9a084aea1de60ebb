"""What people of a crowd may say about themselves, in the words that they read."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Age(models.TextChoices):
    UNDER_25 = "18-24", _("18 to 24")
    UNDER_35 = "25-34", _("25 to 34")
    UNDER_45 = "35-44", _("35 to 44")
    UNDER_55 = "45-54", _("45 to 54")
    UNDER_65 = "55-64", _("55 to 64")
    OLDER = "65+", _("65 or older")


class Gender(models.TextChoices):
    WOMAN = "woman", _("woman")
    MAN = "man", _("man")
    NON_BINARY = "non-binary", _("non-binary")
    OTHER = "other", _("another")


LABELS = {
    "age": _("Age"),
    "gender": _("Gender"),
    "first_language": _("First language"),
    "country": _("Country where you live"),
}
