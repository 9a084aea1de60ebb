"""A dataset."""

from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from curation.pairs.text import LANGUAGE_TAG


class Dataset(models.Model):
    """Pairs of sentences with their people, campaigns, score sets and runs. An archived one stays as it is."""

    slug = models.SlugField(
        _("short name"), unique=True, max_length=60, help_text=_("Stands in addresses and commands.")
    )
    name = models.CharField(_("name"), max_length=200)
    description = models.TextField(_("description"), blank=True)
    language = models.CharField(
        _("language"),
        max_length=35,
        default="en",
        validators=[RegexValidator(LANGUAGE_TAG, _("Give a BCP-47 tag such as en or pt-BR."))],
        help_text=_("A BCP-47 tag such as en or pt-BR."),
    )
    licence = models.CharField(_("licence"), max_length=100, blank=True)
    source_address = models.URLField(_("source address"), blank=True)
    archived = models.BooleanField(_("archived"), default=False)
    created_by = models.ForeignKey("curation.User", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]

    def __str__(self) -> str:
        return self.name
