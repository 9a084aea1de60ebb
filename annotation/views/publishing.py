"""What leaves a campaign: score sets, its judgements as a file, and all of it as a bundle."""

from tempfile import TemporaryFile
from typing import Any

from django.contrib import messages
from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods

from annotation.access import campaign_for
from annotation.bws.files.judgement_files import judgement_lines
from annotation.campaigns.head import campaign_head
from annotation.forms.publishing import PublishForm
from annotation.models import Campaign
from annotation.results.bundle import bundle_is_small, bundle_name, bundle_zip
from annotation.results.publishing import scores_publish, strata_publish
from annotation.results.record import campaign_judgements, judgement_table
from curation.access import AuthedRequest
from curation.errors import UserError
from curation.files.tables import harmless
from curation.models import ScoreSet
from curation.said import success_say


@require_http_methods(["GET", "POST"])
def publish(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The form by itself, which keeps what was typed where it is refused; a POST publishes."""
    chosen = campaign_for(request.user, campaign_pk, may="curate")
    form = PublishForm(request.POST if request.method == "POST" else None, campaign=chosen)
    if form.is_valid():
        try:
            published = _published(campaign=chosen, by=request.user, **form.cleaned_data)
            names = ", ".join(f"“{score_set.name}”" for score_set in published)
            sentence = ngettext(
                "Published as the score set %(names)s.",
                "Published as the score sets %(names)s.",
                len(published),
            )
            success_say(
                request,
                sentence % {"names": names},
                then=_("Export the dataset"),
                address=reverse("curation:export", args=[chosen.dataset.slug]),
            )
            return redirect("annotation:campaign", chosen.pk)
        except UserError as error:
            if not form.cleaned_data["name"]:  # nothing was typed that would be lost
                messages.error(request, str(error))
                return redirect("annotation:campaign", chosen.pk)
            form.add_error("name", str(error))
    context = campaign_head(request.user, chosen, "campaign") | {"publish_form": form}
    return render(request, "annotation/campaigns/publish.html", context)


def _published(*, strata: bool, **asked: Any) -> list[ScoreSet]:
    return strata_publish(**asked) if strata else [scores_publish(**asked)]


@require_GET
def judgements_file(request: AuthedRequest, campaign_pk: int) -> StreamingHttpResponse:
    """The collected judgements as the file of the K&M scripts; items are the pairs' ids.

    Those of the adaptive phase, which counting and reliability leave out, stand in it with `?adaptive=1`. With
    `?spreadsheet=1` nothing in it is a formula to a spreadsheet, as with the switch of that name of exports.
    """
    chosen = campaign_for(request.user, campaign_pk, may="read")
    judged = campaign_judgements(chosen)
    filed = judged.as_filed(judged.feeding("maxdiff" if request.GET.get("adaptive") == "1" else "counting"))
    cell = harmless if request.GET.get("spreadsheet") == "1" else str
    lines = judgement_lines(*judgement_table(chosen, filed), cell=cell)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    name = slugify(chosen.name) or f"campaign-{chosen.pk}"
    response["Content-Disposition"] = f'attachment; filename="{name}-judgements.csv"'
    return response


@require_GET
def bundle(request: AuthedRequest, campaign_pk: int) -> FileResponse:
    """The campaign's bundle as a zip, where it is small enough to be made while somebody waits.

    With `?spreadsheet=1` nothing in its CSV and TSV files is a formula to a spreadsheet.
    """
    chosen = campaign_for(request.user, campaign_pk, may="oversee")
    return bundle_answer(chosen, spreadsheet=request.GET.get("spreadsheet") == "1")


def bundle_answer(chosen: Campaign, *, spreadsheet: bool = False) -> FileResponse:
    """The zip, for pages and programs. Raises UserError where it is too large to be made while somebody waits."""
    if not bundle_is_small(chosen):
        raise UserError(
            _("This campaign is too large for a page. Run: manage.py bws bundle %(number)d --out bundle.zip"),
            number=chosen.pk,
        )
    file = TemporaryFile()  # noqa: SIM115 - the response closes it
    try:
        bundle_zip(campaign=chosen, file=file, spreadsheet=spreadsheet)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"{bundle_name(chosen)}.zip")
