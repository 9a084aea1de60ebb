"""The folder of a model that a plan names, in a worker."""

from functools import partial
from pathlib import Path

from django.utils.translation import gettext as _

from mlworkers.hub import hub_folder
from mlworkers.models import Artifact
from mlworkers.progress import Report, silent
from mlworkers.sources import Kind, model_folder, parse_source, unavailable
from mlworkers.storage import home_path


def folder_of_model(name: str, *, kind: str, report: Report = silent) -> Path:
    """The folder that a plan's text names; `run:ID` finds the run's only artefact of that kind. Raises ModelError."""
    return model_folder(
        parse_source(name),
        run_folder=partial(_run_folder, kind=kind),
        hub_folder=partial(hub_folder, report=report),
    )


def _run_folder(run_id: int, *, kind: str) -> Path:
    made = list(Artifact.objects.filter(run=run_id, kind=kind)[:2])
    words = {"run": run_id, "kind": kind}
    if not made:
        raise unavailable(_("Run %(run)s made no %(kind)s, or there is no such run") % words, Kind.RUN)
    if len(made) > 1:
        raise unavailable(_("Run %(run)s made several; give the folder of one") % words, Kind.RUN)
    return home_path(made[0].path)
