"""What changes datasets, score sets and uploads. Each is called with keywords and does one thing whole."""

import hashlib
import math
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils.text import get_valid_filename
from django.utils.timezone import now
from django.utils.translation import gettext as _

from curation.access import dataset_require_active
from curation.datasets.selectors import import_is_free
from curation.errors import UserError, errors_shown, validation_shown
from curation.exchange.claiming import import_claim
from curation.exchange.importing import ONE_TRANSACTION_ROWS, ImportOptions, ImportOutcome, pairs_import
from curation.exchange.pair_writing import dataset_lock
from curation.files.drafts import FileError
from curation.files.parquet import ROWS_MOST
from curation.files.progress import Report, silent
from curation.files.survey import TooManyRowsError
from curation.files.writing import leftovers_remove, make_folder, replacing
from curation.models import (
    Dataset,
    ImportBatch,
    Membership,
    Pair,
    PairScore,
    Role,
    ScoreSet,
    Sentence,
    SentenceScore,
    User,
)
from curation.pairs.scales import scale_checked

_SCORES_IN_INSERT = 5_000
# A larger file is checked by a run: no request waits for it.
CHECK_AT_ONCE_BYTES = 8 * 1024**2
FORGOTTEN_AFTER = timedelta(hours=1)
CHANGEABLE = {"name", "language", "licence", "description", "source_address"}

Score = tuple[int, float, float | None, int | None]


class ScoredSentence(NamedTuple):
    """The number of a sentence, its value on the score set's scale, and what a classifier said of it.

    fold: the classifier that scored it, which never saw it.
    """

    sentence: int
    value: float
    logit_machine: float | None = None
    logit_human: float | None = None
    fold: int | None = None


def dataset_draft(*, slug: str, name: str, **facts: Any) -> Dataset:
    """A dataset that is not saved yet. Raises UserError where a field is wrong or the short name is taken."""
    if Dataset.objects.filter(slug=slug).exists():
        raise UserError(
            _("There is a dataset with the short name “%(slug)s”; choose another.") % {"slug": slug}
        )
    dataset = Dataset(slug=slug, name=name, **facts)
    with validation_shown():
        dataset.full_clean()
    return dataset


@transaction.atomic
def dataset_create(
    *,
    slug: str,
    name: str,
    language: str = "en",
    licence: str = "",
    description: str = "",
    source_address: str = "",
    by: User | None = None,
) -> Dataset:
    """Make a dataset, whose owner is `by`."""
    dataset = dataset_draft(
        slug=slug,
        name=name,
        language=language,
        licence=licence,
        description=description,
        source_address=source_address,
        created_by=by,
    )
    dataset.save()
    if by:
        Membership.objects.create(dataset=dataset, user=by, role=Role.OWNER)
    return dataset


def dataset_change(*, dataset: Dataset, **facts: str) -> Dataset:
    """Change what a dataset says about itself. Its short name stays: addresses and commands hold it."""
    unknown = sorted(facts.keys() - CHANGEABLE)
    if unknown:
        raise TypeError(f"a dataset's {', '.join(unknown)} cannot be changed")
    dataset_require_active(dataset)
    for name, value in facts.items():
        setattr(dataset, name, value)
    with validation_shown():
        dataset.full_clean()
    dataset.save(update_fields=list(facts))
    return dataset


def dataset_archive(*, dataset: Dataset) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(archived=True)


def dataset_restore(*, dataset: Dataset) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(archived=False)


@transaction.atomic
def score_set_publish(
    *,
    dataset: Dataset,
    name: str,
    kind: str,
    low: float,
    high: float,
    method: str,
    parameters: Mapping[str, Any],
    scores: Iterable[Score],
    sentence_scores: Iterable[ScoredSentence] = (),
    campaign_ref: int | None = None,
    run_ref: int | None = None,
) -> ScoreSet:
    """Store scores under a name of their own. A published set never changes; another one gets another name.

    scores: of each pair its number, its value on the scale low..high, and, where they are known, the value's
    standard error and the number of judgements behind it. sentence_scores: of single sentences, on the same scale.
    A run that published under this name before gets what it published: the successor of a killed worker may ask again.
    Raises UserError, and stores nothing, where the name is taken, or a score, a pair or a sentence does not belong.
    """
    # Two who publish at once queue here, so that the second finds the name taken.
    dataset_lock(dataset)
    there = ScoreSet.objects.filter(dataset=dataset, name=name).first()
    if there is not None:
        return _of_the_same_run(there, kind, run_ref)
    with errors_shown():
        low, high = scale_checked(low, high)
    score_set = ScoreSet(
        dataset=dataset,
        name=name,
        kind=kind,
        low=low,
        high=high,
        method=method,
        parameters=dict(parameters),
        campaign_ref=campaign_ref,
        run_ref=run_ref,
    )
    with validation_shown():
        score_set.clean_fields()
    score_set.save()
    remaining = iter(scores)
    while part := list(islice(remaining, _SCORES_IN_INSERT)):
        _scores_store(score_set, part)
    remaining_sentences = iter(sentence_scores)
    while several := list(islice(remaining_sentences, _SCORES_IN_INSERT)):
        _sentence_scores_store(score_set, several)
    return score_set


def _of_the_same_run(there: ScoreSet, kind: str, run_ref: int | None) -> ScoreSet:
    """The set that a run published before: it entered whole, or not at all."""
    if run_ref is None or (there.kind, there.run_ref) != (kind, run_ref):
        raise UserError(
            _("The dataset has a score set “%(name)s”, and a score set never changes; choose another name.")
            % {"name": there.name}
        )
    return there


def _scores_store(score_set: ScoreSet, scores: list[Score]) -> None:
    for pair_id, value, _error, _judgements in scores:
        if not score_set.low <= value <= score_set.high:
            sentence = _("The score %(value)g of pair %(pair)s is outside the scale %(low)g to %(high)g.")
            raise UserError(sentence % {"value": value, "pair": pair_id, **_scale_of(score_set)})
    ids = {pair_id for pair_id, *_rest in scores}
    there = Pair.objects.filter(dataset=score_set.dataset, pk__in=ids).count()
    if there < len(ids):
        raise UserError(
            _("%(missing)s of the scored pairs do not belong to the dataset %(dataset)s.")
            % {"missing": len(ids) - there, "dataset": score_set.dataset}
        )
    try:
        PairScore.objects.bulk_create(
            PairScore(
                score_set=score_set, pair_id=pair_id, value=value, standard_error=error, judgements=number
            )
            for pair_id, value, error, number in scores
        )
    except IntegrityError as error:
        raise UserError(_("A pair is scored twice; give one score for each pair.")) from error


def _sentence_scores_store(score_set: ScoreSet, scores: list[ScoredSentence]) -> None:
    for score in scores:
        _check_sentence_score(score_set, score)
    numbers = {score.sentence for score in scores}
    there = Sentence.objects.filter(dataset=score_set.dataset, pk__in=numbers).count()
    if there < len(numbers):
        raise UserError(
            _("%(missing)s of the scored sentences do not belong to the dataset %(dataset)s.")
            % {"missing": len(numbers) - there, "dataset": score_set.dataset}
        )
    rows = (
        SentenceScore(
            score_set=score_set,
            sentence_id=score.sentence,
            value=score.value,
            logit_machine=score.logit_machine,
            logit_human=score.logit_human,
            fold=score.fold,
        )
        for score in scores
    )
    try:
        SentenceScore.objects.bulk_create(rows)
    except IntegrityError as error:
        raise UserError(_("A sentence is scored twice; give one score for each sentence.")) from error


def _check_sentence_score(score_set: ScoreSet, score: ScoredSentence) -> None:
    words = {"sentence": score.sentence, "value": score.value, **_scale_of(score_set)}
    if not score_set.low <= score.value <= score_set.high:
        sentence = _("The score %(value)g of sentence %(sentence)s is outside the scale %(low)g to %(high)g.")
        raise UserError(sentence % words)
    logits = (score.logit_machine, score.logit_human)
    if any(logit is not None and not math.isfinite(logit) for logit in logits):
        raise UserError(_("A logit of sentence %(sentence)s is no finite number.") % words)
    if score.fold is not None and score.fold < 0:
        raise UserError(_("The fold of sentence %(sentence)s is negative.") % words)


def _scale_of(score_set: ScoreSet) -> dict[str, float]:
    return {"low": score_set.low, "high": score_set.high}


def import_upload(*, dataset: Dataset, file: "UploadedFile[bytes]", by: User | None) -> ImportBatch:
    """Keep an uploaded file until it is imported or discarded; of one that does not fit the disk, nothing."""
    dataset_require_active(dataset)
    # In a folder of its own the file keeps its name, which messages and sources show.
    folder = Path("imports") / uuid4().hex
    path = folder / _file_name(file)
    digest = hashlib.sha256()
    with errors_shown(FileError), _removing_after_error(settings.SEMBLANCE_HOME / folder):
        with replacing(settings.SEMBLANCE_HOME / path) as kept:
            for block in file.chunks():
                digest.update(block)
                kept.write(block)
        return ImportBatch.objects.create(
            dataset=dataset, file_name=path.name, path=str(path), sha256=digest.hexdigest(), created_by=by
        )


def _file_name(file: "UploadedFile[bytes]") -> str:
    name = Path(get_valid_filename(Path(file.name or "pairs").name))
    return f"{name.stem[:100]}{name.suffix[:20]}"


@contextmanager
def _removing_after_error(folder: Path) -> Iterator[None]:
    try:
        make_folder(folder)
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def import_check(
    *, batch: ImportBatch, options: ImportOptions, most_rows: int = ROWS_MOST, report: Report = silent
) -> ImportOutcome:
    """Try an import without writing a row, and keep for `import_apply` what was asked and what would come."""
    dataset_require_active(batch.dataset)
    _require_free(batch)
    outcome = pairs_import(
        dataset=batch.dataset,
        path=_upload_path(batch),
        options=options,
        errors=_errors_path(batch),
        dry_run=True,
        most_rows=most_rows,
        report=report,
    )
    batch.mapping = options.as_json()
    batch.rows, batch.added = outcome.rows, outcome.added
    batch.unchanged, batch.rejected = outcome.unchanged, outcome.rejected
    batch.report = outcome.as_json()
    _asked_save(batch)
    return outcome


def import_check_at_once(*, batch: ImportBatch, options: ImportOptions) -> bool:
    """Check a small file. Of a larger one keep what was asked, for a run that checks it, and answer False."""
    _require_free(batch)
    try:
        if _upload_path(batch).stat().st_size <= CHECK_AT_ONCE_BYTES:
            import_check(batch=batch, options=options, most_rows=ONE_TRANSACTION_ROWS)
            return True
    except (TooManyRowsError, FileNotFoundError):
        pass
    batch.mapping, batch.report = options.as_json(), {}
    batch.rows = batch.added = batch.unchanged = batch.rejected = 0
    _asked_save(batch)
    return False


def _require_free(batch: ImportBatch) -> None:
    if not batch.path or not ImportBatch.objects.filter(import_is_free(now()), pk=batch.pk).exists():
        raise UserError(
            _("%(file)s is imported already or at this moment; upload it again.") % {"file": batch.file_name}
        )


def _asked_save(batch: ImportBatch) -> None:
    """Keep what was asked and found, unless somebody began to import meanwhile. What comes next is counted anew."""
    asked = {
        name: getattr(batch, name) for name in ("mapping", "rows", "added", "unchanged", "rejected", "report")
    }
    free = ImportBatch.objects.filter(import_is_free(now()), pk=batch.pk)
    if not free.update(**asked, state=ImportBatch.State.UPLOADED, heartbeat_at=None, written={}):
        raise UserError(_("The import of %(file)s has begun meanwhile.") % {"file": batch.file_name})
    batch.refresh_from_db()


def import_apply(*, batch: ImportBatch, report: Report = silent, again: bool = False) -> ImportOutcome:
    """Import an upload as it was last checked, then delete it. An import that was stopped goes on where it was.

    again: take the upload also from another importer that seems alive: an earlier attempt of the run that asks.
    """
    dataset_require_active(batch.dataset)
    import_claim(batch=batch, again=again)
    outcome = pairs_import(
        dataset=batch.dataset,
        path=_upload_path(batch),
        options=ImportOptions.from_json(batch.mapping),
        errors=_errors_path(batch),
        batch=batch,
        report=report,
    )
    shutil.rmtree(_upload_path(batch).parent, ignore_errors=True)
    return outcome


def import_errors_path(batch: ImportBatch) -> Path | None:
    """The rejected rows as CSV with the columns line, reason and row; None where no row was rejected."""
    path = _errors_path(batch)
    return path if batch.path and batch.rejected and path.is_file() else None


def import_discard(*, batch: ImportBatch) -> None:
    """Forget an upload that nobody imported, with its file, or an import by a command that came to nothing."""
    dataset_require_active(batch.dataset)
    free = ImportBatch.objects.filter(import_is_free(now()), pk=batch.pk)
    deleted, _by_model = free.delete()
    if not deleted:
        raise UserError(
            _("%(file)s is imported already or at this moment, so it stays.") % {"file": batch.file_name}
        )
    if batch.path:  # a command's file is where its owner put it
        shutil.rmtree(_upload_path(batch).parent, ignore_errors=True)
        leftovers_remove(_errors_path(batch))
        _errors_path(batch).unlink(missing_ok=True)


def imports_tidy(*, at: datetime) -> None:
    """Remove what killed processes left: files that were being written, and uploads that no import needs."""
    folder = Path(settings.SEMBLANCE_HOME) / "imports"
    for part in [*folder.glob(".*.part"), *folder.glob("*/.*.part")]:
        leftovers_remove(part.with_name(part.name.split(".", 1)[1].rsplit(".", 2)[0]))
    needed = ImportBatch.objects.exclude(state=ImportBatch.State.DONE).values_list("path", flat=True)
    kept = {Path(path).parent.name for path in needed}
    for upload in folder.glob("*/"):
        with suppress(FileNotFoundError):  # several workers tidy, and another one may have been here first
            old = upload.stat().st_mtime < (at - FORGOTTEN_AFTER).timestamp()
            if old and upload.name not in kept:
                shutil.rmtree(upload, ignore_errors=True)


def _upload_path(batch: ImportBatch) -> Path:
    return Path(settings.SEMBLANCE_HOME) / batch.path


def _errors_path(batch: ImportBatch) -> Path:
    return _upload_path(batch).parent.with_suffix(".errors.csv")
