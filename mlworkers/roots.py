"""From which folders of this machine a run may take a model. People who start runs on pages do not run the machine."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from mlworkers.plans import Kind
from mlworkers.sources import check_roots, local_folder, parse_source


def models_check_roots(kind: Kind, values: Mapping[str, Any]) -> None:
    """Raise ModelError where a plan names a folder outside MODEL_ROOTS. Asked when a person's run is started, and
    again by its worker, on whose disk links may lead elsewhere.
    """
    named = [str(values[setting.name]) for setting in kind.settings if setting.refers_to == "model"]
    for folder in (local_folder(parse_source(name)) for name in named if name):
        if folder is not None:
            check_roots(folder, settings.MODEL_ROOTS)
