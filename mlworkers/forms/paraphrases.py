"""Which two score sets the profile of a dataset's pairs is drawn from: the address of the page."""

from collections.abc import Sequence

from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from curation.datasets.selectors import ScoreSetRow
from curation.forms.scores import ComparedSetsForm


class ProfileForm(ComparedSetsForm):
    def __init__(self, data: QueryDict, *, rows: Sequence[ScoreSetRow]) -> None:
        super().__init__(data, rows=rows)
        self.fields["first"].label = _("Similarity in meaning")
        self.fields["second"].label = _("Similarity in wording")
