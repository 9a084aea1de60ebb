"""Edits of many pairs at once: a preview, the edit, the edits there were, and undo."""

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from curation.datasets.edits import edit_apply, edit_leaks, edit_preview, edit_undo, edits_of
from curation.datasets.leak_guard import LeaksError
from curation.datasets.pairs_table import PairChoices
from curation.datasets.selectors import score_sets_in_order
from curation.forms.duplicates import DuplicatesEditForm, search_address
from curation.forms.edits import EditForm
from curation.forms.pairs import PairFilterForm
from curation.forms.splits import leaks_sent
from curation.foundation.errors import UserError
from curation.foundation.numbers import number_from, page_number
from curation.models import Dataset
from curation.people.access import (
    AuthedRequest,
    dataset_allow,
    dataset_for,
    dataset_may,
    duplicate_search_for,
)
from curation.views.said import pairs_say

EDITS_ON_A_PAGE = 20


@require_http_methods(["GET", "POST"])
def edit_list(request: AuthedRequest, slug: str) -> HttpResponse:
    """The edits there were. A POST shows what an edit would change and, with `apply`, applies what was shown.

    The query string is that of the table of pairs: its filters say which pairs it showed.
    """
    dataset = dataset_for(request.user, slug, may="read")
    filters = PairFilterForm(
        request.GET, choices=PairChoices(dataset), score_sets=score_sets_in_order(dataset)
    )
    form = preview = leaks = None
    refused = False
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="curate")
        form = _form(request, dataset, filters)
        if filters.errors:
            form.add_error(None, _("One of the filters makes no sense. Go back to the pairs and change it."))
        if form.is_valid() and form.edit is not None:
            try:
                if "apply" in request.POST:
                    state = request.POST.get("state", "")
                    entry = edit_apply(
                        dataset=dataset,
                        edit=form.edit,
                        by=request.user,
                        state=state,
                        leaks=leaks_sent(request.POST),
                    )
                    sentence = ngettext(
                        "%(n)s pair was edited.", "%(n)s pairs were edited.", entry.pairs or 0
                    )
                    pairs_say(request, slug, sentence % {"n": intcomma(entry.pairs or 0)})
                    return redirect("curation:edits", slug=slug)
                preview = edit_preview(dataset, form.edit)
                leaks = edit_leaks(dataset, form.edit)
            except LeaksError as error:
                refused = True
                form.add_error(None, str(error))
                preview = edit_preview(dataset, form.edit)
            except UserError as error:
                form.add_error(None, str(error))
    context = {
        "dataset": dataset,
        "form": form,
        "preview": preview,
        "leaks": leaks,
        "must_allow": refused or (leaks and leaks.added),
        "refused": refused,
        "address": filters.address(),
        "back": f"{reverse('curation:duplicates', args=[dataset.slug])}?{search_address(form.found_by)}"
        if isinstance(form, DuplicatesEditForm)
        else f"{reverse('curation:dataset', args=[dataset.slug])}?{filters.address()}",
        "page": Paginator(edits_of(dataset), EDITS_ON_A_PAGE).get_page(max(page_number(request), 1)),
        "may_curate": dataset_may(request.user, dataset, may="curate"),
    }
    return render(request, "curation/edits.html", context)


def _form(request: AuthedRequest, dataset: Dataset, filters: PairFilterForm) -> EditForm | DuplicatesEditForm:
    """What was sent by the table of pairs, or by the page of duplicates, which names its search."""
    number = number_from(request.POST.get("search", ""))
    if number is None:
        return EditForm(request.POST, filter=filters.pair_filter)
    return DuplicatesEditForm(request.POST, search=duplicate_search_for(request.user, dataset, number))


@require_POST
def edit_undo_view(request: AuthedRequest, slug: str, entry_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="curate")
    entry = get_object_or_404(edits_of(dataset), pk=entry_pk)
    try:
        edit_undo(entry=entry, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
    else:
        pairs_say(request, slug, _("The pairs have the values back that they had before."))
    return redirect("curation:edits", slug=slug)
