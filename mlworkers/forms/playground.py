"""Two sentences and a model to try with them."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from curation.models import User
from curation.pairs.text import SENTENCE_MAX_CHARACTERS
from mlworkers.models import Artifact
from mlworkers.pretrained.sources import PACKAGES
from mlworkers.registry.cards import card_of

MODELS_OFFERED = 100
PACKAGED = "0"


class PlaygroundForm(forms.Form):
    """models: those that the person sees. artifact: the one whose page it is, which is then not asked for."""

    first = forms.CharField(label=_lazy("First sentence"), max_length=SENTENCE_MAX_CHARACTERS)
    second = forms.CharField(label=_lazy("Second sentence"), max_length=SENTENCE_MAX_CHARACTERS)
    artifact = forms.ChoiceField(label=_lazy("Model"))

    def __init__(
        self,
        *args: Any,
        models: QuerySet[Artifact],
        by: User,
        artifact: Artifact | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        for name in ("first", "second"):
            self.fields[name].widget = forms.Textarea(attrs={"rows": 2, "maxlength": SENTENCE_MAX_CHARACTERS})
        if artifact is not None:
            choices = [(str(artifact.pk), card_of(artifact).name)]
            self.fields["artifact"].widget = forms.HiddenInput()
            self.fields["artifact"].initial = artifact.pk
        else:
            encoders = models.filter(kind="encoder").select_related("run").order_by("-pk")[:MODELS_OFFERED]
            choices = [(str(one.pk), card_of(one).name) for one in encoders]
            if by.is_staff or by.is_superuser:  # the packaged one belongs to no dataset; staff start runs
                choices += [(PACKAGED, _("%(name)s, packaged") % {"name": name}) for name in PACKAGES]
        self.fields["artifact"].choices = choices  # type: ignore[attr-defined]

    @property
    def has_models(self) -> bool:
        return bool(self.fields["artifact"].choices)  # type: ignore[attr-defined]
