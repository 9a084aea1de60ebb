"""Two sentences and a model to try with them; a sentence and the dials of a paraphraser."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from curation.models import User
from curation.pairs.text import SENTENCE_MAX_CHARACTERS
from mlworkers.models import Artifact
from mlworkers.runs.cards import card_of
from mlworkers.runs.models_named import reference_of
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.pretrained.sources import ENCODER, SCORERS

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
                choices.append((PACKAGED, _packaged()))
        self.fields["artifact"].choices = choices  # type: ignore[attr-defined]

    @property
    def has_models(self) -> bool:
        return bool(self.fields["artifact"].choices)  # type: ignore[attr-defined]


def _packaged() -> str:
    return _("%(name)s, packaged") % {"name": ENCODER.removeprefix("packaged:")}


class TrialForm(forms.Form):
    """artifact: the paraphraser, whose tags are the choices. models: those that the person sees, of which encoders and
    labellers can measure similarity; the labellers come first.
    """

    source = forms.CharField(
        label=_lazy("Sentence"),
        max_length=SENTENCE_MAX_CHARACTERS,
        widget=forms.Textarea(attrs={"rows": 2, "maxlength": SENTENCE_MAX_CHARACTERS}),
    )
    similarity = forms.CharField(label=_lazy("Similarity in meaning"), max_length=20)
    bleu = forms.CharField(label=_lazy("Similarity in wording (BLEU)"), max_length=20)
    labeller = forms.ChoiceField(label=_lazy("Measured by"))

    def __init__(
        self, *args: Any, artifact: Artifact, models: QuerySet[Artifact], by: User, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.bounds = TagBounds(**artifact.card.get("tags", {}))
        sides = {
            "similarity": list(reversed(self.bounds.similarity)),
            "bleu": self.bounds.lexical,
        }
        for name, tags in sides.items():
            choices = [
                (tag.name, _("%(low)s to %(high)s") % {"low": tag.low, "high": tag.high}) for tag in tags
            ]
            self.fields[name].widget = forms.Select(choices=choices)
        measuring = models.filter(kind__in=SCORERS).select_related("run").order_by("-kind", "-pk")
        offered = list(measuring[:MODELS_OFFERED])
        self._labellers = {str(one.pk): reference_of(one, alone=False) for one in offered}
        labellers = [(str(one.pk), card_of(one).name) for one in offered]
        if by.is_staff or by.is_superuser:  # the packaged one belongs to no dataset; staff start runs
            labellers.append((PACKAGED, _packaged()))
        self.fields["labeller"].choices = labellers  # type: ignore[attr-defined]

    def clean_labeller(self) -> str:
        """As plans name it."""
        return self._labellers.get(self.cleaned_data["labeller"], ENCODER)

    def clean(self) -> dict[str, Any]:
        found: dict[str, Any] = super().clean() or {}
        if "similarity" in found and "bleu" in found:
            try:
                self.bounds.check_pair(found["similarity"], found["bleu"])
            except ValueError as error:
                self.add_error("similarity", str(error))
        return found
