"""What a pipeline gets and what it gives back."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import replacing
from curation.foundation.errors import UserError
from curation.models import Dataset
from mlworkers.models import Evaluation
from mlworkers.runs.kept import kept_newest
from mlworkers.runs.shards import Shards
from mlworkers.runs.storage import Curve


@dataclass(frozen=True)
class Job:
    """What a pipeline gets beside its plan.

    folder: this attempt's own; files that it leaves there become the run's, if the outcome says so.
    kept: the run's, for all its attempts: what was drawn once, shards, checkpoints. Whatever lies there is whole, and
    would be the same had another attempt written it. It is removed when the run has succeeded.
    curve: figures along the way, such as the loss, for the run's page.
    """

    run_id: int
    dataset: Dataset | None
    attempt: int
    folder: Path
    kept: Path
    report: Report
    shards: Shards
    curve: Curve

    def dataset_of(self, slug: str) -> Dataset:
        """The run's dataset, which its plan names so. Raises UserError where it was removed."""
        if self.dataset is None:
            raise UserError(_("The dataset “%(slug)s” no longer exists."), slug=slug)
        return self.dataset

    def drawn_once(self, name: str, draw: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """What the run's first attempt drew: rows that come later must not change what a successor does."""
        path = kept_newest(self.kept / name)
        if not path.is_file():
            with replacing(path) as file:
                file.write(json.dumps(draw(), ensure_ascii=False).encode())
        drawn: dict[str, Any] = json_from(path.read_text("utf-8"))
        return drawn


@dataclass(frozen=True)
class NewArtifact:
    """A file or folder that becomes an artefact of the run. card: what a reader should know of it."""

    kind: str
    path: Path
    card: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The result of a run: a phrase for the log book, figures, files, and evaluations, each of which may name the
    file it measured by its path.

    publish: writes the run's rows into the dataset and returns what is added to the result. It is called in the
    transaction that ends the run (`lifecycle.run_finish`), so that a run which does not succeed leaves no row.
    """

    message: str
    result: dict[str, Any]
    made: Sequence[NewArtifact] = ()
    evaluations: Sequence[tuple[Evaluation, Path | None]] = ()
    publish: Callable[[], Mapping[str, Any]] = dict
