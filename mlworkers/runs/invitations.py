"""Runs that were a question of a moment are forgotten, row and folder."""

import shutil
from collections.abc import Collection
from datetime import datetime

from mlworkers.models import Run
from mlworkers.runs.storage import run_folder


def runs_forget(*, kinds: Collection[str], before: datetime) -> None:
    """Remove the runs of those kinds that were started before that moment, whatever came of them."""
    old = Run.objects.filter(kind__in=kinds, created_at__lt=before)
    for number in old.values_list("pk", flat=True):
        shutil.rmtree(run_folder(number), ignore_errors=True)
    old.delete()
