"""The splits of a dataset: what they hold and share, new ones with a preview, and undo."""

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from curation.datasets.selectors import score_shown_first
from curation.datasets.split_chart import splits_chart
from curation.datasets.splits import (
    MOST_ON_A_PAGE,
    last_change,
    splits_apply,
    splits_now,
    splits_preview,
    splits_undo,
    too_many_for_a_page,
)
from curation.forms.splits import DrawingForm, leaks_sent
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest, dataset_allow, dataset_for, dataset_may
from curation.views.said import pairs_say, success_say


@require_http_methods(["GET", "POST"])
def split_list(request: AuthedRequest, slug: str) -> HttpResponse:
    """The splits there are. A POST shows what a drawing would give and, with `apply`, applies what was shown."""
    dataset = dataset_for(request.user, slug, may="read")
    if too_many_for_a_page(dataset):
        return render(request, "curation/splits.html", {"dataset": dataset, "most": MOST_ON_A_PAGE})
    shown = score_shown_first(dataset)
    form = DrawingForm(request.POST or None)
    preview = None
    if request.method == "POST":
        dataset_allow(request.user, dataset, may="curate")
        if form.is_valid() and form.drawing is not None:
            try:
                if "apply" in request.POST:
                    state = request.POST.get("state", "")
                    change = splits_apply(
                        dataset=dataset,
                        drawing=form.drawing,
                        state=state,
                        by=request.user,
                        leaks=leaks_sent(request.POST),
                    )
                    sentence = ngettext(
                        "%(n)s pair got another split.", "%(n)s pairs got another split.", change.pairs
                    )
                    success_say(
                        request,
                        sentence % {"n": intcomma(change.pairs)},
                        then=_("Keep a snapshot"),
                        address=reverse("curation:snapshots", args=[slug]),
                    )
                    return redirect("curation:splits", slug=slug)
                preview = splits_preview(dataset, form.drawing, shown)
            except UserError as error:
                form.add_error(None, str(error))
    splits = splits_now(dataset, shown)
    context = {
        "dataset": dataset,
        "shown": shown,
        "splits": splits,
        "chart": splits_chart(preview.splits if preview else splits, shown, name="splits"),
        "form": form,
        "preview": preview,
        "change": last_change(dataset),
        "may_curate": dataset_may(request.user, dataset, may="curate"),
    }
    return render(request, "curation/splits.html", context)


@require_POST
def split_undo_view(request: AuthedRequest, slug: str, change_pk: int) -> HttpResponse:
    dataset = dataset_for(request.user, slug, may="curate")
    change = get_object_or_404(dataset.split_changes, pk=change_pk)
    try:
        splits_undo(change=change, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
    else:
        pairs_say(request, slug, _("The pairs have the splits back that they had before."))
    return redirect("curation:splits", slug=slug)
