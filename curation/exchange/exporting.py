"""Pairs and scores of a dataset into files: exports for people, snapshots for training and evaluation."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import Case, Max
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.datasets.inclusion import inclusion_counts, verdict_of_pair
from curation.datasets.leak_guard import (
    LeaksError,
    allowed_in_the_log,
    leaks_require_allowed,
    some_splits_set_here,
    splits_set_here,
)
from curation.datasets.selectors import PairFilter, pairs_matching
from curation.exchange.score_columns import (
    SetColumns,
    columns_of,
    score_cells,
    scores_about,
    values_and_errors,
    values_explained,
)
from curation.files.comparing import snapshot_leaks, snapshot_splits
from curation.files.drafts import FileError
from curation.files.progress import Report, silent
from curation.files.tables import PAIR_COLUMNS, Column, Row, table_blocks, write_table
from curation.files.writing import make_folder, sha256_of, sync_folder
from curation.foundation.errors import UserError, errors_shown
from curation.foundation.shared_files import shared_path, shared_put, shared_remove, shared_store
from curation.models import Dataset, Pair, ScoreSet, Snapshot, User
from curation.pairs.inclusion import UNNAMED, Inclusion
from curation.pairs.leaks import Leaks
from curation.pairs.splitting import pair_components
from curation.people.access import dataset_lock, dataset_require_active
from curation.people.audit import Action, audit_record

_ROWS_AT_ONCE = 2_000
_EXPORTED = ("external_id", "a__text", "b__text", "source", "subset", "split")
_KEPT = ("pk", "a_id", "b_id", *_EXPORTED, "origin", "a__origin", "b__origin", verdict_of_pair())
_WITH_ORIGIN = (*PAIR_COLUMNS, Column("origin"))
_LICENCE = Column("licence")
ACTIVE = PairFilter(status=Pair.Status.ACTIVE, generated_pairs=UNNAMED)
SNAPSHOT_COLUMNS = (
    *(Column(name, "integer") for name in ("component", "pair", "a_id", "b_id")),
    *PAIR_COLUMNS,
    Column("origin"),
    # Who wrote it: a pair of a machine's making may hold a sentence of a person's, or one that a curator edited.
    Column("sentence1_origin"),
    Column("sentence2_origin"),
    # "kept" where a curator kept the pair's sentence, or an edit made the pair; else empty.
    Column("verdict"),
)
Integers = NDArray[np.int64]


class ExportOutcome(NamedTuple):
    """generated: how many of the pairs are generated ones; unreviewed: how many of these have no valid verdict."""

    path: Path
    rows: int
    score_sets: tuple[str, ...]
    generated_pairs: Inclusion
    generated: int
    unreviewed: int


class ExportStream(NamedTuple):
    """A file that is made while it is sent. rows: how many it will have; fewer are an error in the middle of it."""

    rows: int
    blocks: Iterator[bytes]


def pairs_export(
    *,
    dataset: Dataset,
    path: Path,
    format: str,
    score_set: str | None = None,
    plain: bool = False,
    standard_errors: bool = False,
    neutralise: bool = False,
    generated_pairs: Inclusion = UNNAMED,
    scored_only: bool = False,
    report: Report = silent,
) -> ExportOutcome:
    """Write a dataset's active pairs, in the order in which they were added, with their scores.

    generated_pairs: which pairs with a machine-written sentence are among them. scored_only: leave out pairs that no
    written score set scores.
    Each score set is a column under its name; one that is named is the only one, under the name `score`. Beside it
    stand who judged, and, unless the file is to be plain, the number of judgements and the method; the pair has its
    origin, and the dataset's licence is a column: a file of rows has no other place for it, and is passed on without
    its card. Parquet has it in its metadata. standard_errors: of the scores that have any.
    The rows are those of one moment; scores that are added in the meantime may or may not be among them.
    Raises UserError where the score set is unknown or the file cannot be written; an older file is kept then.
    """
    sets = _score_sets(dataset, score_set)
    scored = values_explained(sets, named=score_set is not None, plain=plain, standard_errors=standard_errors)
    filter = _exported(generated_pairs, sets if scored_only else ())
    table = _export_table(dataset, scored, filter, format=format, plain=plain, report=report)
    among = pairs_matching(dataset, replace(filter, generated_pairs="")) if scored_only else None
    counts = inclusion_counts(dataset, among=among)
    kept = min(counts[generated_pairs], counts[Inclusion.KEPT])
    numbers = (counts[generated_pairs] - counts[Inclusion.HUMAN], counts[generated_pairs] - kept)
    with errors_shown(FileError):
        written = write_table(
            path, format, table.columns, table.rows, neutralise=neutralise, about=table.about
        )
    return ExportOutcome(path, written, tuple(one.name for one in sets), generated_pairs, *numbers)


def pairs_stream(
    *,
    dataset: Dataset,
    format: str,
    score_set: str | None = None,
    plain: bool = False,
    standard_errors: bool = False,
    neutralise: bool = False,
    generated_pairs: Inclusion = UNNAMED,
    scored_only: bool = False,
) -> ExportStream:
    """The file that `pairs_export` writes, to be sent while it is made.

    Raises UserError where the score set or the format is unknown, before there is a block. The blocks end in UserError
    where pairs were deleted in the meantime, so that nobody takes the others for all.
    """
    sets = _score_sets(dataset, score_set)
    scored = values_explained(sets, named=score_set is not None, plain=plain, standard_errors=standard_errors)
    filter = _exported(generated_pairs, sets if scored_only else ())
    table = _export_table(dataset, scored, filter, format=format, plain=plain, report=silent)

    def rows() -> Iterator[Row]:
        count = 0
        for row in table.rows:
            yield row
            count += 1
        if count < table.number:
            sentence = _("%(number)s of the pairs were deleted while they were exported; export them again.")
            raise UserError(sentence, number=table.number - count)

    with errors_shown(FileError):
        blocks = table_blocks(format, table.columns, rows(), neutralise=neutralise, about=table.about)
    return ExportStream(table.number, blocks)


class _ExportTable(NamedTuple):
    """number: of the rows, known before the first is read."""

    columns: Sequence[Column]
    rows: Iterator[Row]
    number: int
    about: dict[str, str]


def _exported(generated_pairs: Inclusion, scored: Sequence[ScoreSet]) -> PairFilter:
    """The filter of an export. scored: sets of which at least one scores each pair; () for all pairs."""
    return replace(ACTIVE, generated_pairs=generated_pairs, scored=tuple(one.name for one in scored))


def _export_table(
    dataset: Dataset,
    scored: Sequence[SetColumns],
    filter: PairFilter,
    *,
    format: str,
    plain: bool,
    report: Report,
) -> _ExportTable:
    facts, fields = (PAIR_COLUMNS, _EXPORTED) if plain else (_WITH_ORIGIN, (*_EXPORTED, "origin"))
    licence = [] if plain or format == "parquet" or not dataset.licence else [dataset.licence]
    ending = (_LICENCE,) * len(licence)
    columns = (*facts, *columns_of(scored, (*facts, *ending)), *ending)
    about: dict[str, object] = {"dataset": dataset.slug, "licence": dataset.licence}
    about["scores"] = scores_about(scored, columns[len(facts) :], people=False)
    pks = np.fromiter(_numbers(dataset, filter, "pk"), dtype=np.int64)
    rows = _rows(pks, fields, scored, report, _("Exporting pairs"))
    if licence:
        rows = ((*row, *licence) for row in rows)
    return _ExportTable(columns, rows, len(pks), _metadata(about))


def snapshot_create(
    *,
    dataset: Dataset,
    filter: PairFilter = ACTIVE,
    by: User | None = None,
    run_ref: int | None = None,
    report: Report = silent,
    leaks: Leaks = Leaks.REFUSE,
) -> Snapshot:
    """Keep the pairs that the filter finds, with all their scores and standard errors, in a Parquet file that never
    changes.

    Its column `component` numbers the groups of pairs that are connected by shared sentences, so that a split
    can keep each on one side. Its metadata names the filter, with the choice of generated pairs, and each score
    column's set, kind and scale. A run that made one before gets that one: the successor of a killed worker may ask
    again.

    leaks: whether splits that were set here may share sentences. Raises LeaksError where they do and may not.
    """
    dataset_require_active(dataset)
    if (made := _made_before(dataset, run_ref)) is not None:
        return made
    triples = np.fromiter(_numbers(dataset, filter, "pk", "a_id", "b_id"), dtype=np.int64).reshape(-1, 3)
    if not len(triples):
        sentence = _(
            "No pair matches the filter, so the snapshot would be empty. Choose a wider filter, or import pairs first."
        )
        raise UserError(sentence)
    staged = _staged(dataset, filter, triples, leaks, report)
    digest = sha256_of(staged)
    shared_put(staged)  # under this name, for a store renames nothing; and while nobody waits for the dataset
    with transaction.atomic():
        dataset_lock(dataset)
        if (made := _made_before(dataset, run_ref)) is not None:
            staged.unlink()
            shared_remove(str(staged.relative_to(settings.SEMBLANCE_HOME)))
            return made
        number = (Snapshot.objects.filter(dataset=dataset).aggregate(last=Max("number"))["last"] or 0) + 1
        path = staged if shared_store() else staged.with_name(f"{number}.parquet")
        snapshot = Snapshot.objects.create(
            dataset=dataset,
            number=number,
            filter=filter.as_json(),
            rows=len(triples),
            sha256=digest,
            path=str(path.relative_to(settings.SEMBLANCE_HOME)),
            created_by=by,
            run_ref=run_ref,
        )
        audit_record(
            dataset=dataset,
            action=Action.SNAPSHOT_CREATED,
            by=by,
            subject=number,
            pairs=len(triples),
            details={"sha256": digest, "run": run_ref, **allowed_in_the_log(leaks)},
        )
        staged.replace(path)
        sync_folder(path.parent)
    return snapshot


def _staged(
    dataset: Dataset, filter: PairFilter, triples: NDArray[np.int64], leaks: Leaks, report: Report
) -> Path:
    """The snapshot under a name of its own: it gets its number while the dataset is locked, which is short.

    triples: (n, 3) the pairs and their sentences.
    """
    sets = _score_sets(dataset, None)
    scored = values_and_errors(sets)
    columns = (*SNAPSHOT_COLUMNS, *columns_of(scored, SNAPSHOT_COLUMNS))
    about: dict[str, object] = {"dataset": dataset.slug, "licence": dataset.licence}
    about["filter"] = filter.as_json()
    about["scores"] = scores_about(scored, columns[len(SNAPSHOT_COLUMNS) :], people=True)
    components = pair_components(triples[:, 1], triples[:, 2])
    rows = _rows(triples[:, 0], _KEPT, scored, report, _("Writing the snapshot"))
    with_components = ((component, *row) for component, row in zip(components.tolist(), rows, strict=True))
    with errors_shown(FileError):
        folder = Path(settings.SEMBLANCE_HOME) / "snapshots" / dataset.slug
        make_folder(folder)
        staged = folder / f"{uuid4().hex}.parquet"
        write_table(staged, "parquet", columns, with_components, about=_metadata(about))
    if leaks is not Leaks.ALLOW and some_splits_set_here(dataset):
        # Remove a file in which splits that were set here share sentences, and raise LeaksError.
        pairs, splits = snapshot_splits(staged)
        try:
            found = snapshot_leaks(staged, splits_set_here(dataset, pairs, splits))
            leaks_require_allowed([], found, leaks)
        except LeaksError:
            staged.unlink()
            raise
    staged.chmod(0o444 & ~settings.SEMBLANCE_UMASK)
    return staged


def _made_before(dataset: Dataset, run_ref: int | None) -> Snapshot | None:
    return None if run_ref is None else dataset.snapshots.filter(run_ref=run_ref).first()


def snapshot_path(snapshot: Snapshot) -> Path:
    """Its file, fetched from the file storage where it is not on this machine. Raises StorageError."""
    return shared_path(snapshot.path, snapshot.sha256)


def snapshot_file(snapshot: Snapshot) -> Path:
    """The file of a snapshot. Raises UserError where it is gone."""
    path = snapshot_path(snapshot)
    if not path.is_file():
        raise UserError(_("The file of snapshot %(number)s is gone; make a new one."), number=snapshot.number)
    return path


def _score_sets(dataset: Dataset, name: str | None) -> list[ScoreSet]:
    """All that are offered, or the one of that name, even if it was withdrawn. Raises UserError where there is none."""
    every = ScoreSet.objects.filter(dataset=dataset).order_by("pk")
    score_sets = list(every.offered())
    chosen = score_sets if name is None else list(every.filter(name=name))
    if name is not None and not chosen:
        names = ", ".join(f"“{score_set.name}”" for score_set in score_sets) or _("none")
        sentence = _("%(dataset)s has no score set “%(name)s”. Its score sets: %(names)s.")
        raise UserError(sentence, dataset=dataset.slug, name=name, names=names)
    return chosen


def _numbers(dataset: Dataset, filter: PairFilter, *fields: str) -> Iterator[int]:
    """The fields of the pairs that the filter finds at this moment, one after the other."""
    rows = pairs_matching(dataset, filter).order_by("pk").values_list(*fields)
    return chain.from_iterable(rows.iterator(chunk_size=_ROWS_AT_ONCE))


def _metadata(about: Mapping[str, object]) -> dict[str, str]:
    """What a Parquet file says about itself. CSV, TSV and JSON lines have no place for it, but for their card."""
    return {"semblance": json.dumps(about, ensure_ascii=False)}


def _rows(
    pks: Integers, fields: Sequence[str | Case], sets: Sequence[SetColumns], report: Report, message: str
) -> Iterator[Row]:
    """The fields of the pairs and their scores. No query is open while rows are taken or work is reported."""
    for start in range(0, len(pks), _ROWS_AT_ONCE):
        part = pks[start : start + _ROWS_AT_ONCE].tolist()
        scores = score_cells(part, sets)
        # From the first pair to the last, others left out: over all parts that reads each row once, and a range
        # costs the database less than two thousand numbers do.
        pairs = Pair.objects.filter(pk__range=(part[0], part[-1])).order_by("pk").values_list("pk", *fields)
        found = pairs.iterator(chunk_size=_ROWS_AT_ONCE)
        # Read to the end before the first is given away: the caller may take minutes over each row.
        yield from [(*facts, *scores[pk]) for pk, *facts in found if pk in scores]
        report(start + len(part), len(pks), message)
