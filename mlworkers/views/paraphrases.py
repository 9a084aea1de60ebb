"""How the pairs of a dataset, or of several, spread over similarity in meaning and in wording."""

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from curation.foundation.numbers import number_asked
from curation.models import Dataset
from curation.pairs.judged_by import judged_by_all
from curation.people.access import AuthedRequest, dataset_for, datasets_readable
from curation.views.tables import csv_answer
from mlworkers.kinds.paraphrases.forms import PartsForm, ProfileForm
from mlworkers.kinds.paraphrases.next_steps import labelling_links
from mlworkers.kinds.paraphrases.paraphrase_corpora import CSV_COLUMNS as PARTS_COLUMNS
from mlworkers.kinds.paraphrases.paraphrase_corpora import (
    MOST_SHOWN,
    csv_rows,
    labelled_datasets,
    parts_charts,
    parts_shown,
)
from mlworkers.kinds.paraphrases.paraphrases import (
    CSV_COLUMNS,
    cells_csv_rows,
    profile_chart,
    profile_shown,
    rows_for_profile,
)
from mlworkers.views.reports import reader_of


@require_GET
def paraphrase_profile(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="read")
    form = _form(request, dataset)
    context: dict[str, Any] = {"dataset": dataset, "label": labelling_links(reader_of(request), dataset)}
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


@require_GET
def paraphrase_corpora(request: AuthedRequest) -> HttpResponse:
    """Labelled datasets, or parts of them, side by side."""
    form = _parts_form(request)
    parts = parts_shown(form.chosen, form.divided_by)
    context = {
        "form": form,
        "parts": parts[:MOST_SHOWN],
        "parts_left_out": max(0, len(parts) - MOST_SHOWN),
        "charts": parts_charts(parts[:MOST_SHOWN]),
        "address": urlencode(
            {"labels": [one.similarity.pk for one in form.chosen], "by": form.divided_by}, doseq=True
        ),
    }
    return render(request, "mlworkers/paraphrase_corpora.html", context)


@require_GET
def paraphrase_corpora_csv(request: AuthedRequest) -> HttpResponse:
    """The number of pairs in each cell of tags, of every part."""
    form = _parts_form(request)
    rows = csv_rows(parts_shown(form.chosen, form.divided_by))
    judges = judged_by_all([label.judged_by for one in form.chosen for label in (one.similarity, one.bleu)])
    return csv_answer(request, "paraphrase-cells.csv", PARTS_COLUMNS, rows, judges=judges)


def _parts_form(request: AuthedRequest) -> PartsForm:
    return PartsForm(request.GET, labelled=labelled_datasets(datasets_readable(request.user)))


def _form(request: AuthedRequest, dataset: Dataset) -> ProfileForm | None:
    """None where the dataset has no two score sets with scores."""
    rows = rows_for_profile(dataset, number_asked(request, "run", 0))
    return ProfileForm(request.GET, rows=rows) if len(rows) > 1 else None
