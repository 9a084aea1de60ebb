"""The models that runs made: all of them, one with where it comes from, and its files."""

from typing import Any

from django.core.paginator import Paginator
from django.http import (
    FileResponse,
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    StreamingHttpResponse,
)
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from curation.files.zipping import files_in, zip_blocks
from curation.foundation.numbers import page_number
from curation.foundation.shared_files import shared_sums
from curation.people.access import AuthedRequest
from curation.views.tables import csv_file_answer, for_spreadsheet
from mlworkers.access import model_for, models_visible, run_for, runs_allow
from mlworkers.forms.playground import PlaygroundForm, TrialForm
from mlworkers.models import Artifact
from mlworkers.plans.kinds import KINDS
from mlworkers.runs.cards import card_of
from mlworkers.runs.lineage import lineage_of
from mlworkers.runs.models_named import evaluations_of, reference_to, speeds_of
from mlworkers.runs.selectors import worker_for
from mlworkers.runs.storage import artifact_path, artifact_place

MODELS_ON_A_PAGE = 50


@require_GET
def model_list(request: AuthedRequest) -> HttpResponse:
    runs_allow(request.user)
    models = models_visible(request.user).select_related("run__dataset", "run__started_by").order_by("-pk")
    page = Paginator(models, MODELS_ON_A_PAGE).get_page(page_number(request))
    evaluations = evaluations_of(list(page))
    context = {
        "page": page,
        "rows": [(artifact, card_of(artifact), evaluations[artifact.pk]) for artifact in page],
        **playground_context(request),
    }
    return render(request, "mlworkers/models.html", context)


@require_GET
def model_detail(request: AuthedRequest, pk: int) -> HttpResponse:
    artifact = model_for(request.user, pk)
    files = _files(artifact)
    context = {
        "artifact": artifact,
        "card": card_of(artifact),
        # The run's page has the plan.
        "facts": {name: value for name, value in artifact.card.items() if name != "plan"},
        "evaluations": evaluations_of([artifact])[artifact.pk],
        "speeds": speeds_of(artifact) if artifact.kind == "encoder" else [],
        "lineage": lineage_of(artifact.run),
        "files": files,
        "is_folder": [name for name, _size in files] != [artifact.name],
        "reference": reference_to(artifact),
        **(playground_context(request, artifact) if artifact.kind == "encoder" else {}),
        **(trial_context(request, artifact) if artifact.kind == "paraphraser" else {}),
    }
    return render(request, "mlworkers/model.html", context)


def trial_context(request: AuthedRequest, artifact: Artifact) -> dict[str, Any]:
    """The form of a paraphraser's playground, with a warning where no worker would answer."""
    models = models_visible(request.user)
    return {
        "trial": TrialForm(artifact=artifact, models=models, by=request.user),
        **worker_for(KINDS["try_paraphraser"].queue),
    }


def playground_context(request: AuthedRequest, artifact: Artifact | None = None) -> dict[str, Any]:
    """The form of the playground, with a warning where no worker would answer."""
    return {
        "playground": PlaygroundForm(models=models_visible(request.user), artifact=artifact, by=request.user),
        **worker_for(KINDS["relate_sentences"].queue),
    }


def _files(artifact: Artifact) -> list[tuple[str, int]]:
    """Each file's name and size in bytes; none where the files are gone. Nothing is fetched to say so."""
    try:
        path = artifact_place(artifact)
        if not path.exists():
            sums = shared_sums(artifact.path) or []
            return [(one.name or path.name, one.size) for one in sums]
    except (ValueError, OSError):
        return []
    if not path.is_dir():
        return [(path.name, path.stat().st_size)]
    return [(file.relative_to(path).as_posix(), file.stat().st_size) for file in files_in(path)]


@require_GET
def artifact_download(request: AuthedRequest, pk: int, artifact_pk: int) -> HttpResponseBase:
    run = run_for(request.user, pk, may="read")
    return artifact_answer(request, get_object_or_404(run.artifacts, pk=artifact_pk))


def artifact_answer(request: HttpRequest, artifact: Artifact) -> HttpResponseBase:
    """A file as it is; a folder as one zip file. Raises Http404 where it was removed.

    With `?spreadsheet=1` nothing in a CSV file is a formula to a spreadsheet.
    """
    try:
        path = artifact_path(artifact)
        if path.suffix == ".csv" and for_spreadsheet(request):
            return csv_file_answer(request, artifact.name, path)
        if not path.is_dir():
            return FileResponse(path.open("rb"), as_attachment=True, filename=artifact.name)
        answer = StreamingHttpResponse(zip_blocks(path), content_type="application/zip")
    except (ValueError, OSError):
        raise Http404 from None
    answer["Content-Disposition"] = f'attachment; filename="run-{artifact.run_id}-{artifact.pk}.zip"'
    return answer
