"""Pairs from single sentences: the pool of a dataset, a preview of what a strategy draws, adding it, and undo."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from curation.access import AuthedRequest, dataset_for
from curation.datasets.composing import (
    MOST_ON_A_PAGE,
    composition_add,
    composition_preview,
    composition_undo,
    last_composition,
    pool_of,
    too_many_for_a_page,
)
from curation.datasets.composing_chart import dice_chart
from curation.errors import UserError
from curation.exchange.pool import PoolOutcome, pool_clear, sentences_import
from curation.exchange.receiving import takes_file, upload_refusal
from curation.exchange.uploads import under_its_name
from curation.forms.composing import CompositionForm, SentencesForm
from curation.models import Dataset

ERRORS_TOLD = 5


@require_http_methods(["GET", "POST"])
def compose(request: AuthedRequest, slug: str) -> HttpResponse:
    """The pool and the settings. A POST shows what would be drawn and, with `add`, adds what was shown."""
    dataset = dataset_for(request.user, slug, may="curate")
    pool = pool_of(dataset)
    form = CompositionForm(request.POST or None, names=list(pool.labels))
    preview = None
    many = too_many_for_a_page(dataset)
    if form.is_valid() and form.settings is not None and not many:
        try:
            if "add" in request.POST:
                composition = composition_add(
                    dataset=dataset,
                    settings=form.settings,
                    labels=form.labels,
                    synonyms=form.chosen_synonyms,
                    state=request.POST.get("state", ""),
                    by=request.user,
                )
                told = ngettext("%(n)d pair was added.", "%(n)d pairs were added.", composition.pairs)
                messages.success(request, told % {"n": composition.pairs})
                return redirect("curation:compose", slug=slug)
            preview = composition_preview(dataset, form.settings, form.labels, form.chosen_synonyms)
        except UserError as error:
            form.add_error(None, str(error))
    return _page(request, dataset, {"form": form, "preview": preview, "pool": pool, "many": many})


@takes_file(lambda request, slug: dataset_for(request.user, slug, may="curate"))
@require_POST
def sentences_add(request: AuthedRequest, slug: str) -> HttpResponse:
    """Add the sentences of a file to the pool."""
    dataset = dataset_for(request.user, slug, may="curate")
    form = SentencesForm(request.POST, request.FILES, refusal=upload_refusal(request))
    if form.is_valid():
        try:
            with under_its_name(form.cleaned_data["file"]) as path:
                outcome = sentences_import(
                    dataset=dataset, path=path, options=form.options(), by=request.user
                )
        except UserError as error:
            form.add_error(None, str(error))
        else:
            _tell(request, outcome)
            return redirect("curation:compose", slug=slug)
    pool = pool_of(dataset)
    context = {"pool": pool, "upload": form, "form": CompositionForm(names=list(pool.labels))}
    return _page(request, dataset, context)


@require_POST
def pool_clear_view(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="curate")
    removed = pool_clear(dataset=dataset, by=request.user)
    told = ngettext("%(n)d sentence left the pool.", "%(n)d sentences left the pool.", removed)
    messages.success(request, told % {"n": removed})
    return redirect("curation:compose", slug=slug)


@require_POST
def composition_undo_view(request: AuthedRequest, slug: str, composition_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="curate")
    composition = get_object_or_404(dataset.compositions, pk=composition_pk)
    try:
        composition_undo(composition=composition, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("The pairs were taken back. Their sentences are in the pool."))
    return redirect("curation:compose", slug=slug)


def _page(request: AuthedRequest, dataset: Dataset, context: dict[str, Any]) -> HttpResponse:
    preview = context.get("preview")
    shared = {
        "dataset": dataset,
        "upload": SentencesForm(),
        "chart": dice_chart(preview.drawn) if preview and len(preview.drawn.dice) else None,
        "last": last_composition(dataset),
        "most": MOST_ON_A_PAGE,
        "may_run": request.user.is_staff or request.user.is_superuser,
        "most_bytes": settings.UPLOAD_MAX_BYTES,
    }
    return render(request, "curation/compose.html", shared | context)


def _tell(request: AuthedRequest, outcome: PoolOutcome) -> None:
    """What became of the rows of a file, as messages."""
    told = ngettext("%(n)d sentence joined the pool.", "%(n)d sentences joined the pool.", outcome.added)
    told %= {"n": outcome.added}
    if outcome.known:
        told += " " + _("%(n)d were there before.") % {"n": outcome.known}
    messages.success(request, told)
    for warning in outcome.warnings:
        messages.warning(request, warning)
    for error in outcome.errors[:ERRORS_TOLD]:
        names = {"line": error.line, "reason": error.reason}
        messages.warning(request, _("Line %(line)s was left out: %(reason)s.") % names)
    if outcome.rejected > ERRORS_TOLD:
        messages.warning(
            request, _("%(n)d more lines were left out.") % {"n": outcome.rejected - ERRORS_TOLD}
        )
