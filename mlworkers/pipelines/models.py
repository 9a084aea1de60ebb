"""The folder of a model that a plan names, in a worker."""

from collections.abc import Collection
from functools import partial
from pathlib import Path

from django.conf import settings

from curation.files.progress import Report, silent
from mlworkers.models import Artifact
from mlworkers.runs.references import files_missing, model_of_run
from mlworkers.runs.storage import artifact_path
from mlworkers.science.pretrained.gguf import gguf_folder
from mlworkers.science.pretrained.hub import hub_folder
from mlworkers.science.pretrained.sources import ModelError, model_folder, parse_source, unavailable_generator


def folder_of_model(name: str, *, kind: str, also: Collection[str] = (), report: Report = silent) -> Path:
    """The folder that a plan's text names; of a run, its model of that kind, or of one of the others. Raises
    ModelError.
    """
    kinds = list(dict.fromkeys([kind, *also]))
    try:
        return model_folder(
            parse_source(name),
            run_folder=lambda run_id, part: folder_of_artifact(model_of_run(run_id, part, kinds=kinds)),
            hub_folder=partial(hub_folder, report=report, private=settings.PRIVATE_ADDRESSES),
            gguf_folder=partial(
                gguf_folder, converted=Path(settings.SEMBLANCE_HOME) / "converted", report=report
            ),
        )
    except ModelError as error:
        if kind != "generator":
            raise
        raise unavailable_generator(error) from error


def folder_of_artifact(model: Artifact) -> Path:
    """Raises ModelError where its files were removed."""
    try:
        folder = artifact_path(model)
    except FileNotFoundError:
        raise files_missing(model) from None
    if not folder.is_dir():
        raise files_missing(model)
    return folder
