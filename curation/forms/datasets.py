"""A dataset's own facts."""

from typing import Any

from django import forms
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from curation.files.publishing.cards import LICENCES, licence_known
from curation.models import Dataset

# Addresses under /datasets/ that are not datasets.
RESERVED = {"new"}
FACTS = ["name", "description", "language", "licence", "source_address"]
HELP = {
    "description": _("A few lines about the pairs. People who are invited to the dataset read them."),
    "licence": _("An SPDX identifier if there is one, such as CC-BY-SA-4.0. The field offers those of data."),
}


class LicenceInput(forms.TextInput):
    """A text field that offers the licences of data by identifier and name, and takes any other."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        field = super().render(name, value, {**(attrs or {}), "list": "licences"}, renderer)
        offers = format_html_join("", '<option value="{}">{}</option>', LICENCES.items())
        return format_html('{}<datalist id="licences">{}</datalist>', field, offers)


WIDGETS: dict[str, forms.Widget] = {
    "description": forms.Textarea(attrs={"rows": 4}),
    "licence": LicenceInput(),
}


class DatasetForm(forms.ModelForm):  # type: ignore[type-arg]
    """The facts that may change; the short name may not, because addresses and commands hold it."""

    source_address = forms.URLField(
        label=_("Where the sentences come from"),
        required=False,
        max_length=Dataset._meta.get_field("source_address").max_length,
        assume_scheme="https",
        help_text=_("A web address. Optional."),
    )

    class Meta:
        model = Dataset
        fields = FACTS
        help_texts = HELP
        widgets = WIDGETS

    @property
    def notes(self) -> list[str]:
        """What a person should know of values that were accepted."""
        licence = self.cleaned_data["licence"]
        if "licence" not in self.changed_data or not licence or licence_known(licence).spdx:
            return []
        sentence = gettext(
            "“%(licence)s” is not an SPDX identifier that Semblance knows. Published folders quote it as it is."
        )
        return [sentence % {"licence": licence}]


class NewDatasetForm(DatasetForm):
    class Meta(DatasetForm.Meta):
        fields = ["name", "slug", *FACTS[1:]]
        widgets = {**WIDGETS, "slug": forms.TextInput(attrs={"data-made-from": "name"})}
        help_texts = {
            **HELP,
            "slug": _("Used in addresses and commands. Lower-case letters, digits and hyphens only."),
        }
        error_messages = {
            "slug": {
                "unique": _("Another dataset has this short name. Choose another."),
                "invalid": _(
                    "A short name has only letters from a to z, digits, hyphens and underscores, and no space."
                ),
            }
        }

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"].lower()
        if slug in RESERVED:
            sentence = _("“%(slug)s” is reserved for an address of this site. Choose another short name.")
            raise forms.ValidationError(sentence % {"slug": slug})
        return slug

    @property
    def notes(self) -> list[str]:
        slug = self.cleaned_data["slug"]
        if slug == self.data["slug"].strip():
            return super().notes
        sentence = gettext("The short name is “%(slug)s”: capital letters became lower-case.")
        return [sentence % {"slug": slug}, *super().notes]
