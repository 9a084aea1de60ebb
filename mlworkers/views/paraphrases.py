"""How the pairs of a dataset spread over similarity in meaning and in wording."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.access import AuthedRequest, dataset_for
from curation.models import Dataset
from curation.numbers import number_asked
from curation.views.tables import csv_answer
from mlworkers.access import kind_may_start
from mlworkers.forms.paraphrases import ProfileForm
from mlworkers.plans.kinds import kind_named
from mlworkers.registry.paraphrases import (
    CSV_COLUMNS,
    cells_csv_rows,
    profile_chart,
    profile_shown,
    rows_for_profile,
)


@require_GET
def paraphrase_profile(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    form = _form(request, dataset)
    kind = kind_named("label_paraphrases")
    context: dict[str, Any] = {"dataset": dataset, "may_start": kind_may_start(request.user, kind, dataset)}
    if form is not None:
        similarity, bleu = form.first_row.score_set, form.second_row.score_set
        shown = profile_shown(form.first_row, form.second_row)
        context |= {
            "form": form,
            "similarity": similarity,
            "bleu": bleu,
            "shown": shown,
            "chart": profile_chart(shown, similarity, bleu),
            "address": f"first={similarity.pk}&second={bleu.pk}",
        }
    return render(request, "mlworkers/paraphrases.html", context)


@require_GET
def paraphrase_cells_csv(request: AuthedRequest, slug: str) -> HttpResponse:
    """The number of pairs in each cell of tags."""
    dataset = dataset_for(request.user, slug, may="read")
    form = _form(request, dataset)
    if form is None:
        raise Http404
    shown = profile_shown(form.first_row, form.second_row)
    return csv_answer(request, f"{dataset.slug}-paraphrase-cells.csv", CSV_COLUMNS, cells_csv_rows(shown))


def _form(request: AuthedRequest, dataset: Dataset) -> ProfileForm | None:
    """None where the dataset has no two score sets with scores."""
    rows = rows_for_profile(dataset, number_asked(request, "run", 0))
    return ProfileForm(request.GET, rows=rows) if len(rows) > 1 else None
