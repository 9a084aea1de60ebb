"""A dataset's own facts."""

from django import forms
from django.utils.translation import gettext_lazy as _

from curation.models import Dataset

# Addresses under /datasets/ that are not datasets.
RESERVED = {"new"}
FACTS = ["name", "description", "language", "licence", "source_address"]
HELP = {
    "description": _("A few lines about the pairs. People who are invited to the dataset read them."),
    "licence": _("An SPDX identifier if there is one, such as CC-BY-SA-4.0."),
}
WIDGETS: dict[str, forms.Widget] = {"description": forms.Textarea(attrs={"rows": 4})}


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


class NewDatasetForm(DatasetForm):
    class Meta(DatasetForm.Meta):
        fields = ["name", "slug", *FACTS[1:]]
        widgets = {**WIDGETS, "slug": forms.TextInput(attrs={"data-made-from": "name"})}
        help_texts = {
            **HELP,
            "slug": _("Used in addresses and commands. Lower-case letters, digits and hyphens only."),
        }
        error_messages = {"slug": {"unique": _("Another dataset has this short name. Choose another.")}}

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"].lower()
        if slug in RESERVED:
            sentence = _("“%(slug)s” is reserved for an address of this site. Choose another short name.")
            raise forms.ValidationError(sentence % {"slug": slug})
        return slug
