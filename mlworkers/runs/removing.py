"""Removing the files that a run made, where nobody needs them. The run's row, result, evaluations and card remain."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from django.db import transaction
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.foundation.errors import UserError
from curation.foundation.shared_files import StorageError
from curation.models import User
from mlworkers.models import Artifact, Run
from mlworkers.plans.settings import listed
from mlworkers.runs.models_named import runs_naming
from mlworkers.runs.storage import RunLog, artifact_remove

RUNS_SHOWN = 5


@dataclass(frozen=True)
class Removal:
    """The files of a run that are still there, and the runs whose plans name them, which keep them from going."""

    artifacts: Sequence[Artifact]
    needed_by: Sequence[Run]

    @property
    def size(self) -> int:
        return sum(one.size for one in self.artifacts)

    @property
    def problem(self) -> str:
        """Why nothing can be removed; empty where all can."""
        if not self.artifacts:
            return _("The run has no files.")
        if not self.needed_by:
            return ""
        runs = listed(str(run.pk) for run in self.needed_by[:RUNS_SHOWN])
        sentence = ngettext(
            "The files cannot be removed, because run %(runs)s names them.",
            "The files cannot be removed, because %(number)s runs name them, such as %(runs)s.",
            len(self.needed_by),
        )
        return sentence % {"number": len(self.needed_by), "runs": runs}


def removal_of(run: Run) -> Removal:
    artifacts = run.artifacts.filter(removed_at=None).order_by("pk")
    return Removal(list(artifacts), runs_naming(run))


def run_files_remove(*, run: Run, by: User | None, at: datetime) -> int:
    """Remove the files of a run that has ended; the bytes that this frees. Raises UserError where a run needs them.

    Whoever starts a run that names one of them holds a lock on its row until the new run's row is in (`references`),
    so that one of the two sees the other. If this process is killed before the last file is gone, `disk` removes the
    rest: no row names it any more.
    """
    with transaction.atomic():
        locked = Artifact.objects.select_for_update(no_key=True).filter(run=run, removed_at=None)
        artifacts = list(locked.order_by("pk"))
        removal = removal_of(run)
        if removal.problem:
            raise UserError(removal.problem)
        Artifact.objects.filter(pk__in=[one.pk for one in artifacts]).update(removed_at=at)
        words = {"person": by or _("a command"), "size": filesizeformat(removal.size)}
        line = _("Files removed by %(person)s: %(size)s.") % words
        # The files follow, once the rows say so for good.
        transaction.on_commit(partial(_files_remove, run, artifacts, line))
    return removal.size


def _files_remove(run: Run, artifacts: Sequence[Artifact], line: str) -> None:
    for artifact in artifacts:
        with suppress(ValueError, OSError, StorageError):  # gone already, or `semblance reclaim` removes it
            artifact_remove(artifact)
    RunLog(run.pk).write(line)
