"""Pairs from single sentences: the pool of a dataset, a preview of what a strategy draws, adding it, and undo."""

from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from curation.datasets.composing import (
    MOST_ON_A_PAGE,
    composition_add,
    composition_preview,
    composition_undo,
    last_by_similarity,
    last_composition,
    pool_of,
    too_many_for_a_page,
)
from curation.datasets.composing_chart import dice_chart
from curation.exchange.claiming import imports_of
from curation.exchange.pool import SentenceOptions, pool_clear
from curation.exchange.receiving import takes_file, upload_refusal
from curation.exchange.refusals import NothingImportedError
from curation.exchange.sentence_uploads import (
    AT_ONCE_SENTENCES,
    sentences_add_at_once,
    sentences_upload,
)
from curation.exchange.uploads import (
    import_discard,
    import_errors_offered,
    import_is_closed,
    import_options_save,
)
from curation.forms.composing import CompositionForm, ReadingSentencesForm, SentencesForm
from curation.foundation.errors import UserError
from curation.models import Dataset, ImportBatch
from curation.people.access import AuthedRequest, dataset_for
from curation.views.exchange import rejected_rows_answer
from curation.views.said import pairs_say

IMPORTS_SHOWN = 20


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
                told = ngettext("%(n)s pair was added.", "%(n)s pairs were added.", composition.pairs)
                pairs_say(request, slug, told % {"n": intcomma(composition.pairs)})
                # A browser keeps the form's #preview otherwise, and scrolls what became of it out of sight.
                return redirect(f"{reverse('curation:compose', args=[slug])}#main")
            preview = composition_preview(dataset, form.settings, form.labels, form.chosen_synonyms)
        except UserError as error:
            form.add_error(None, str(error))
    return _page(request, dataset, {"form": form, "preview": preview, "pool": pool, "many": many})


@takes_file(lambda request, slug: dataset_for(request.user, slug, may="curate"))
@require_POST
def sentences_upload_view(request: AuthedRequest, slug: str) -> HttpResponse:
    """Add the sentences of a file to the pool; a large one is kept for a run, and its page starts it."""
    dataset = dataset_for(request.user, slug, may="curate")
    form = SentencesForm(request.POST, request.FILES, refusal=upload_refusal(request))
    if form.is_valid():
        try:
            file = form.cleaned_data["file"]
            batch = sentences_upload(dataset=dataset, file=file, options=form.options(), by=request.user)
            return _added(request, batch)
        except UserError as error:
            form.add_error(None, str(error))
    pool = pool_of(dataset)
    context = {"pool": pool, "upload": form, "form": CompositionForm(names=list(pool.labels))}
    return _page(request, dataset, context)


@require_http_methods(["GET", "POST"])
def sentences_batch(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    """An uploaded file of sentences and its result. A POST reads a file that was not added in another way."""
    batch = _batch(request, slug, batch_pk)
    closed = import_is_closed(batch)
    if closed:
        return _batch_page(request, batch)
    stored = SentenceOptions.from_json(batch.mapping)
    form = ReadingSentencesForm(request.POST) if request.POST else ReadingSentencesForm.of_stored(stored)
    if form.is_valid():
        import_options_save(batch=batch, mapping=form.options().as_json())
        try:
            return _added(request, batch)
        except UserError as error:
            form.add_error(None, str(error))
    return _batch_page(request, batch, form=form)


def _added(request: AuthedRequest, batch: ImportBatch) -> HttpResponse:
    """Add the sentences, and tell so on the page from which they came; the page of the file tells anything else.

    Raises UserError where the file cannot be read, and forgets it where it was not uploaded before.
    """
    slug = batch.dataset.slug
    try:
        outcome = sentences_add_at_once(batch=batch, by=request.user)
    except NothingImportedError:
        outcome = None  # the batch keeps the reason, with the rejected rows
    except UserError:
        if request.FILES:
            import_discard(batch=batch)
        raise
    if outcome is None or outcome.rejected:
        return redirect("curation:sentences_batch", slug=slug, batch_pk=batch.pk)

    # What became of the rows of a file, as messages.
    told = ngettext("%(n)s single sentence was added.", "%(n)s single sentences were added.", outcome.added)
    told %= {"n": intcomma(outcome.added)}
    if outcome.known:
        repeats = ngettext(
            "%(n)s row repeats a single sentence of the dataset or of the file.",
            "%(n)s rows repeat a single sentence of the dataset or of the file.",
            outcome.known,
        )
        told += " " + repeats % {"n": intcomma(outcome.known)}
    messages.success(request, told)
    if outcome.guesses:
        decided = _("Nobody said the following, so it was decided from the whole file:")
        messages.info(request, " ".join([decided, *(guess.reason for guess in outcome.guesses)]))
    for warning in outcome.warnings:
        messages.warning(request, warning)

    return redirect("curation:compose", slug=slug)


@require_POST
def sentences_discard(request: AuthedRequest, slug: str, batch_pk: int) -> HttpResponse:
    batch = _batch(request, slug, batch_pk)
    import_discard(batch=batch)
    messages.success(request, _("%(file)s is discarded.") % {"file": batch.file_name})
    return redirect("curation:compose", slug=slug)


@require_GET
def sentences_errors(request: AuthedRequest, slug: str, batch_pk: int) -> StreamingHttpResponse:
    return rejected_rows_answer(request, _batch(request, slug, batch_pk))


def _batch(request: AuthedRequest, slug: str, batch_pk: int) -> ImportBatch:
    dataset = dataset_for(request.user, slug, may="curate")
    return get_object_or_404(imports_of(dataset, now(), kind=ImportBatch.Kind.SENTENCES), pk=batch_pk)


def _batch_page(request: AuthedRequest, batch: ImportBatch, **more: Any) -> HttpResponse:
    batch = imports_of(batch.dataset, now(), kind=ImportBatch.Kind.SENTENCES).get(pk=batch.pk)
    context = {
        "dataset": batch.dataset,
        "batch": batch,
        "report": batch.report,
        "done": batch.state == ImportBatch.State.DONE,
        "waits": batch.state == ImportBatch.State.UPLOADED or batch.interrupted,  # type: ignore[attr-defined]
        "launch": uuid4(),
        "errors_file": import_errors_offered(batch),
        "errors_route": "curation:sentences_errors",
        "failure": batch.state != ImportBatch.State.RUNNING and batch.report.get("error"),
        **more,
    }
    return render(request, "curation/sentences_batch.html", context)


@require_POST
def pool_clear_view(request: AuthedRequest, slug: str) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="curate")
    removed = pool_clear(dataset=dataset, by=request.user)
    told = ngettext("%(n)s single sentence was removed.", "%(n)s single sentences were removed.", removed)
    pairs_say(request, slug, told % {"n": intcomma(removed)})
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
        pairs_say(request, slug, _("Sampling is undone. The single sentences remain."))
    return redirect("curation:compose", slug=slug)


def _page(request: AuthedRequest, dataset: Dataset, context: dict[str, Any]) -> HttpResponse:
    preview = context.get("preview")
    shared = {
        "dataset": dataset,
        "upload": SentencesForm(),
        "chart": dice_chart(preview.drawn) if preview and len(preview.drawn.dice) else None,
        "last": last_composition(dataset),
        "last_by_similarity": last_by_similarity(dataset),
        "button": _("Add these pairs"),
        "imports": imports_of(dataset, now(), kind=ImportBatch.Kind.SENTENCES)[:IMPORTS_SHOWN],
        "most": MOST_ON_A_PAGE,
        "at_once": AT_ONCE_SENTENCES,
        "may_run": request.user.is_staff or request.user.is_superuser,
        "most_bytes": settings.UPLOAD_MAX_BYTES,
    }
    return render(request, "curation/compose.html", shared | context)
