"""The folder of a model that a plan names, in a worker."""

from functools import partial
from pathlib import Path

from django.utils.translation import gettext as _

from curation.files.progress import Report, silent
from mlworkers.pretrained.hub import hub_folder
from mlworkers.pretrained.sources import Kind, model_folder, parse_source, unavailable
from mlworkers.registry.selectors import models_of_run, reference_of
from mlworkers.runs.storage import home_path


def folder_of_model(name: str, *, kind: str, report: Report = silent) -> Path:
    """The folder that a plan's text names; of a run, its model of that kind. Raises ModelError."""
    return model_folder(
        parse_source(name),
        run_folder=partial(_run_folder, kind=kind),
        hub_folder=partial(hub_folder, report=report),
    )


def _run_folder(run_id: int, part: str, *, kind: str) -> Path:
    made = list(models_of_run(run_id, part, kinds=[kind])[:2])
    words = {"run": run_id, "kind": kind, "part": part}
    if not made and part:
        raise unavailable(_("Run %(run)s made no %(kind)s called “%(part)s”") % words, Kind.RUN)
    if not made:
        raise unavailable(_("Run %(run)s made no %(kind)s, or there is no such run") % words, Kind.RUN)
    if len(made) > 1:
        words["one"] = reference_of(made[0], alone=False)
        raise unavailable(_("Run %(run)s made several; name one, such as %(one)s") % words, Kind.RUN)
    folder = home_path(made[0].path)
    if not folder.is_dir():
        words["one"] = reference_of(made[0], alone=not part)
        sentence = _("The files of %(one)s are gone; start run %(run)s again to make them anew")
        raise unavailable(sentence % words, Kind.RUN)
    return folder
