"""Pairs that a program sends without a file: imported as a file of them would be."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory

from django.utils.translation import gettext as _

from curation.exchange.importing import ONE_TRANSACTION_ROWS, ImportOptions, ImportOutcome, pairs_import
from curation.files.drafts import Columns
from curation.foundation.errors import UserError
from curation.models import Dataset, User
from curation.pairs.scales import Scale
from curation.people.access import dataset_require_active

MOST_PAIRS = ONE_TRANSACTION_ROWS  # which are written together or not at all
FIELDS = ("a", "b", "external_id", "source", "subset", "split", "score")


def pairs_add(
    *,
    dataset: Dataset,
    pairs: Sequence[Mapping[str, str | float | None]],
    name: str,
    score_set: str,
    scale: Scale | None = None,
    strict: bool = False,
    by: User | None,
) -> ImportOutcome:
    """Add pairs, or update those whose sentences are there, in one transaction.

    pairs: each by the names in FIELDS; what is missing or None is not said. name: of the import, and the source of new
    pairs that have none. Raises UserError where there are too many, or none of them, or with `strict` one, can be
    imported.
    """
    dataset_require_active(dataset)
    if not 0 < len(pairs) <= MOST_PAIRS:
        raise UserError(_("Send 1 to %(most)s pairs at once."), most=f"{MOST_PAIRS:,}")
    given = {field for field in FIELDS if any(pair.get(field) is not None for pair in pairs)} | {"a", "b"}
    columns = Columns(**{field.name: field.name if field.name in given else "" for field in fields(Columns)})
    options = ImportOptions(columns=columns, scale=scale, score_set=score_set, strict=strict)
    # Each row has every field: the columns of a file of objects are those of its first ones.
    rows = ({field: pair.get(field) for field in FIELDS if field in given} for pair in pairs)
    with TemporaryDirectory(prefix="pairs-") as folder:
        path = Path(folder) / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return pairs_import(dataset=dataset, path=path, options=options, by=by)
