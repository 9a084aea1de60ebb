"""Choosing among the pairs of a dataset: a preview of what a strategy draws, and the edit that follows."""

from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from curation.datasets.choosing import choice_apply, choice_preview
from curation.datasets.composing_chart import dice_chart
from curation.datasets.leak_guard import LeaksError
from curation.forms.composing import ChoiceForm
from curation.forms.splits import leaks_sent
from curation.foundation.errors import UserError
from curation.pairs.leaks import Leaks
from curation.people.access import AuthedRequest, dataset_for
from curation.views.said import pairs_say


@require_http_methods(["GET", "POST"])
def choose(request: AuthedRequest, slug: str) -> HttpResponse:
    """The settings. A POST shows which pairs would be chosen and, with `add`, chooses those that were shown."""
    dataset = dataset_for(request.user, slug, may="curate")
    form = ChoiceForm.of(dataset, request.POST or None)
    preview, refused = None, False
    if form.is_valid() and form.choice is not None:
        try:
            if "add" in request.POST:
                state = request.POST.get("state", "")
                leaks = leaks_sent(request.POST)
                entry = choice_apply(
                    dataset=dataset, choice=form.choice, state=state, by=request.user, leaks=leaks
                )
                if form.choice.becomes is None:
                    told = ngettext(
                        "%(n)s pair was excluded.", "%(n)s pairs were excluded.", entry.pairs or 0
                    )
                else:
                    told = ngettext(
                        "%(n)s pair got the split %(split)s.",
                        "%(n)s pairs got the split %(split)s.",
                        entry.pairs or 0,
                    )
                told %= {"n": intcomma(entry.pairs or 0), "split": form.choice.becomes}
                pairs_say(request, slug, _("%(what)s You can undo this edit here.") % {"what": told})
                return redirect("curation:edits", slug=slug)
            preview = choice_preview(dataset, form.choice)
        except LeaksError as error:
            refused = True
            form.add_error(None, str(error))
            preview = choice_preview(dataset, form.choice)
        except UserError as error:
            form.add_error(None, str(error))
    context = {
        "dataset": dataset,
        "form": form,
        "preview": preview,
        "leaks": preview.leaks if preview else None,
        "must_allow": refused or bool(preview and preview.leaks and preview.leaks.added),
        "allowed": leaks_sent(request.POST) is Leaks.ALLOW,
        "chart": dice_chart(preview.drawn, of_pairs=True) if preview and len(preview.drawn.dice) else None,
        "button": _("Choose these pairs"),
        "has_pairs": dataset.pairs.exists(),
    }
    return render(request, "curation/choose.html", context)
