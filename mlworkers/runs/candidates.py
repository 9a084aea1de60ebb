"""The file of candidates that a round-trip translation leaves."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from curation.files.heavy import pa, pq
from curation.files.tables import Column
from curation.foundation.errors import UserError
from mlworkers.models import Run
from mlworkers.runs.storage import artifact_path

CANDIDATES = "round-trip candidates"  # the kind of the artefact
CANDIDATE_COLUMNS = (
    *(Column("source", "integer"), Column("setting"), Column("rank", "integer"), Column("pair", "integer")),
    *(Column("dropped"), Column("cut_off", "integer")),
    *(Column("numbers_changed", "integer"), Column("names_changed", "integer")),
    *(Column("source_text"), Column("pivot"), Column("text")),
)


def candidates_read(run: Run, columns: Sequence[str]) -> pa.Table:
    """Columns of the run's file of candidates. Raises UserError where it is gone or cannot be read."""
    artifact = run.artifacts.filter(kind=CANDIDATES).first()
    try:
        if artifact is None:
            raise FileNotFoundError
        return pq.read_table(artifact_path(artifact), columns=list(columns))
    except (OSError, ValueError, pa.ArrowInvalid) as error:
        sentence = _(
            "The file of candidates of run %(run)s is gone or damaged; start the run again to create it."
        )
        raise UserError(sentence, run=run.pk) from error
