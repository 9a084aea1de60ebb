"""What leaves a campaign: score sets, its judgements as a file, and all of it as a bundle."""

from tempfile import TemporaryFile
from uuid import uuid4

from django.contrib import messages
from django.http import FileResponse, Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.access import campaign_for, work_for
from annotation.bws.files.judgement_files import judgement_lines
from annotation.campaigns.head import campaign_head
from annotation.forms.publishing import PublishForm
from annotation.models import Campaign, CampaignWork
from annotation.results.bundle import bundle_name, bundle_zip
from annotation.results.dashboard import campaign_dashboard
from annotation.results.kept_bundles import bundle_is_quick, bundle_path
from annotation.results.next_step import to_look_at_said
from annotation.results.record import campaign_judgements, judgement_table
from annotation.results.since import early_said
from annotation.results.study_page import study_context
from annotation.tasks import bundle_now_or_later, publish_now_or_later
from annotation.views.studied import study_shown
from annotation.views.works import work_say
from curation.foundation.errors import UserError
from curation.people.access import AuthedRequest
from curation.views.tables import for_spreadsheet


@require_http_methods(["GET", "POST"])
def publish(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """The form by itself, which keeps what was typed where it is refused. A POST publishes, or asks a worker to."""
    chosen = campaign_for(request.user, campaign_pk, may="curate")
    sent = request.POST if request.method == "POST" else None
    form = PublishForm(sent, initial={"client_id": uuid4()}, campaign=chosen)
    if form.is_valid():
        try:
            client_id = form.cleaned_data.pop("client_id")
            asked = form.cleaned_data
            work = publish_now_or_later(campaign=chosen, asked=asked, client_id=client_id, by=request.user)
            work_say(request, work)
            return redirect("annotation:scores", chosen.pk)
        except UserError as error:
            if not form.cleaned_data["name"]:  # nothing was typed that would be lost
                messages.error(request, str(error))
                return redirect("annotation:scores", chosen.pk)
            form.add_error("name", str(error))
    figures = campaign_dashboard(chosen, at=now())
    studied = study_context(chosen, figures, study_shown(chosen, figures, at=now()))
    if "advice" in studied:
        form.propose(studied["method"], studied["advice"])
    context = campaign_head(request.user, chosen, "scores") | {
        "publish_form": form,
        "early": early_said(figures.collected, figures.required),
        "to_look_at": to_look_at_said(len(people)) if (people := studied["to_look_at"]) else "",
    }
    return render(request, "annotation/campaigns/publish.html", context)


@require_GET
def judgements_file(request: AuthedRequest, campaign_pk: int) -> StreamingHttpResponse:
    """The collected judgements as the file of the K&M scripts; items are the pairs' ids.

    Those of the adaptive phase, which counting and reliability leave out, stand in it with `?adaptive=1`. With
    `?spreadsheet=1` nothing in it is a formula to a spreadsheet, as with the switch of that name of exports.
    """
    chosen = campaign_for(request.user, campaign_pk, may="read")
    judged = campaign_judgements(chosen)
    filed = judged.as_filed(judged.feeding("maxdiff" if request.GET.get("adaptive") == "1" else "counting"))
    lines = judgement_lines(*judgement_table(chosen, filed), spreadsheet=for_spreadsheet(request))
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
    return bundle_answer(chosen, spreadsheet=for_spreadsheet(request))


def bundle_answer(chosen: Campaign, *, spreadsheet: bool = False) -> FileResponse:
    """The zip, for pages and programs. Raises UserError where it is too large to be made while somebody waits."""
    if not bundle_is_quick(chosen):
        raise UserError(
            _(
                "Making the bundle of this campaign takes longer than a request may. Have it made on the page of the "
                "campaign, or by POST to /api/v1/campaigns/%(number)d/bundle/."
            ),
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


@require_POST
def bundle_make(request: AuthedRequest, campaign_pk: int) -> HttpResponse:
    """Have the bundle of a large campaign made and kept, from which `spreadsheet` takes away formulas."""
    chosen = campaign_for(request.user, campaign_pk, may="oversee")
    spreadsheet = request.POST.get("spreadsheet") == "1"
    try:
        work_say(request, bundle_now_or_later(campaign=chosen, spreadsheet=spreadsheet, by=request.user))
    except UserError as error:
        messages.error(request, str(error))
    return redirect(f"{reverse('annotation:scores', args=[chosen.pk])}#bundle")


@require_GET
def bundle_file(request: AuthedRequest, campaign_pk: int, work_pk: int) -> FileResponse:
    """A bundle that was made and kept."""
    return bundle_kept_answer(work_for(request.user, campaign_pk, work_pk, may="oversee"))


def bundle_kept_answer(work: CampaignWork) -> FileResponse:
    """The file, for pages and programs; 404 while there is none. Raises UserError where it is lost."""
    if not work.has_bundle:
        raise Http404
    name = f"{bundle_name(work.campaign)}{'-spreadsheet' if work.asked['spreadsheet'] else ''}.zip"
    return FileResponse(bundle_path(work).open("rb"), as_attachment=True, filename=name)
