"""A file of pairs into a dataset: a small file at once, a large one in steps that can be repeated.

The file is read twice. The first reading writes nothing: it counts, and finds what the scores span. The
second writes. Each row has its own id, so that importing a file again adds only what is missing.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from curation.datasets.leak_guard import allowed_in_the_log, leaks_require_allowed
from curation.datasets.rows import bulk_writing, datasets_counted, prepared_meanwhile, rows_add
from curation.datasets.services import dataset_save
from curation.datasets.splits import LeaksOfChange
from curation.exchange.claiming import BeatingReport, import_beat, imports_superseded
from curation.exchange.import_leaks import (
    RowsInSplits,
    import_is_guarded,
    too_many_to_count,
)
from curation.exchange.pair_writing import Target, WriteOutcome, pairs_write, sentences_found, stored_pairs
from curation.exchange.refusals import (
    NothingImportedError,
    failure_recorded,
    file_errors_shown,
    none_was_imported,
    rejections_kept,
)
from curation.files.drafts import RECOGNISED, Columns, DraftPair, Guess, Layout, RowError
from curation.files.identity import (
    FileOrigin,
    IdentifiedPair,
    Rejections,
    Survey,
    identified,
    split_in_name,
    survey_rows,
)
from curation.files.known import CHANGES, Matching, Untaken
from curation.files.parquet import ROWS_MOST
from curation.files.parsing import OutsideScores, inspect_file, parse_pairs
from curation.files.progress import Report, silent
from curation.files.ratings import RATING_COLUMNS, RatingFacts, ratings_gathered, with_rating_columns
from curation.files.recognising import FACT_MAX_CHARACTERS
from curation.files.writing import sha256_of
from curation.foundation.errors import UserError, errors_shown, validation_shown
from curation.foundation.parts import in_parts
from curation.models import AuditEntry, Dataset, ImportBatch, Pair, PairChange, ScoreSet, Sentence, User
from curation.pairs.duplicates import SeenPairs
from curation.pairs.leaks import Leaks
from curation.pairs.raters import rater_agreement
from curation.pairs.scales import SCALES_OF_WHOLE_NUMBERS, Scale, given_scale_checked, smallest_common_scale
from curation.people.access import dataset_lock
from curation.people.audit import Action, audit_record

# Above this each chunk is a transaction, so that on SQLite no judgement waits long for an import.
ONE_TRANSACTION_ROWS = 5_000
# A larger file is imported by a run: no request waits for it.
AT_ONCE_ROWS = 20_000
# As long as one chunk is written, a judgement waits on SQLite; on PostgreSQL it does not.
CHUNK_ROWS = 1_000 if connection.vendor == "sqlite" else ONE_TRANSACTION_ROWS
# Before the first chunk an earlier attempt may have written many rows, and before the second the first one has.
NEW_TO_STATISTICS = 2
# More stored pairs of two sentences than these are kept while a file is read, not read again for each chunk.
READ_AGAIN_MOST = 16
ERRORS_KEPT = 100
ERROR_CHARACTERS_KEPT = 500

CHANGES_KEPT = 20
# What attempts of one import add up: what an earlier one wrote is unchanged to a later one.
WRITTEN = ("added", "updated", "scores_added")
DUPLICATES = ("within_file", "in_dataset", "mirrored", "across_splits")
_PAIR_CHANGE = ("pair_id", "field", "before", "after")
Row = IdentifiedPair | RowError


@dataclass(frozen=True)
class ImportOptions:
    """How a file is to be imported. None: as the file's columns say it, and else its name and its scores."""

    columns: Columns = RECOGNISED
    header: bool = True
    delimiter: str | None = None
    # None detects it.
    encoding: str | None = None
    scale: Scale | None = None
    score_set: str = "reference"
    source: str | None = None
    split: str | None = None
    # Whether a row may be a pair of another split: None decides by the whole file, see `_Elsewhere`.
    across_splits: bool | None = None
    # One rejected row, and nothing is imported.
    strict: bool = False
    # Whether splits that were set here may come to share sentences with the file's.
    leaks: Leaks = Leaks.REFUSE
    # Whether each row is one rating of a pair: None decides it, see `_ratings_decide`.
    ratings: bool | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "ImportOptions":
        scale = stored["scale"] and tuple(stored["scale"])
        leaks = Leaks(stored.get("leaks", Leaks.REFUSE))  # uploads of an earlier version do not say it
        columns = Columns(**stored["columns"])
        return cls(**{**stored, "columns": columns, "scale": scale, "leaks": leaks})


AS_THE_FILE_SAYS = ImportOptions()


CHANGE_NAMES = {
    "split": gettext_lazy("split"),
    "source": gettext_lazy("source"),
    "subset": gettext_lazy("subset"),
    "score": gettext_lazy("score"),
    "score_added": gettext_lazy("first score"),
    "status": gettext_lazy("status"),
}


def change_shown(value: str | float | None) -> str:
    """What a pair has, or gets, in a list of changes."""
    if value is None or value == "":
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


class ChangedRow(NamedTuple):
    """What a row changes of a pair that is there: the line, the first sentence, and a change of `known.CHANGES`."""

    line: int
    sentence: str
    what: str
    old: str | float | None
    new: str | float | None


@dataclass
class ImportOutcome:
    """The result of an import, or the one it would have (`dry_run`).

    source, split: those of all rows; None where a column says it.
    columns: from each field to the name of its column.
    header: all columns of the file.
    scale_falls: whether the scale that was given falls, so that the import turned the scores round.
    guesses: what was decided although nobody said it.
    rows: added + updated + unchanged + rejected.
    changes: how many pairs get another split, source, subset or score, and how many their first score here.
    changed: the first of these changes.
    across_splits: whether a row may be a pair of another split.
    duplicates: rows whose two sentences stand elsewhere too, of which one may count under several heads: on an earlier
    row in the same order (within_file), in the same order under an id that the file does not hold (in_dataset), in
    the other order (mirrored), in another split (across_splits).
    errors: the first rejected rows.
    leaks: what splits share now and would share, in a dry run of a file that says splits; None where that is too much
    to count, which leaks_uncounted says.
    ratings: what became of the ratings, where each row is one; rows are then pairs.
    """

    dataset: str
    source: str | None
    split: str | None
    columns: dict[str, str]
    header: tuple[str, ...]
    warnings: tuple[str, ...]
    dry_run: bool
    score_set: str | None = None
    scale: Scale | None = None
    scale_guessed: bool = False
    scale_falls: bool = False
    guesses: tuple[Guess, ...] = ()
    rows: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    rejected: int = 0
    scores_added: int = 0
    changes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CHANGES, 0))
    changed: list[ChangedRow] = field(default_factory=list)
    across_splits: bool = True
    duplicates: dict[str, int] = field(default_factory=lambda: dict.fromkeys(DUPLICATES, 0))
    errors: list[RowError] = field(default_factory=list)
    leaks: LeaksOfChange | None = None
    leaks_uncounted: bool = False
    ratings: RatingFacts | None = None

    @property
    def ratings_told(self) -> dict[str, Any] | None:
        """What became of the ratings of a file, and how far raters agree, where pairs have several; else None."""
        if self.ratings is None:
            return None
        agreement = rater_agreement(*self.ratings.table)
        return self.ratings.as_json() | ({"agreement": agreement.as_json()} if agreement else {})

    @property
    def unread(self) -> list[str]:
        """The columns of the file that no field is read from, such as those that explain exported scores."""
        return [name for name in self.header if name not in self.columns.values()]

    def as_json(self) -> dict[str, Any]:
        listed = {
            "unread": self.unread,
            "errors": [
                {name: value for name, value in error._asdict().items() if name not in {"cells", "is_header"}}
                for error in self.errors
            ],
            "changed": [row._asdict() for row in self.changed],
            "leaks": self.leaks and self.leaks.as_json(),
            "guesses": [guess._asdict() for guess in self.guesses],
            "ratings": self.ratings_told,
        }
        return asdict(self) | listed

    def count_in(self, batch: ImportBatch) -> None:
        batch.report = self.as_json()
        for name in ("rows", "added", "unchanged", "rejected"):
            setattr(batch, name, getattr(self, name))

    def add(self, rows: int, written: WriteOutcome) -> None:
        self.rows += rows
        self.added += written.added
        self.unchanged += written.unchanged
        self.updated += len(written.updates)
        self.scores_added += written.scores_added
        for update in written.updates:
            for change in update.changes:
                self.changes[change.what] += 1
                if len(self.changed) < CHANGES_KEPT:
                    line, sentence = update.row.draft.line, update.row.draft.a[:ERROR_CHARACTERS_KEPT]
                    self.changed.append(ChangedRow(line, sentence, *change))
        self.rejected += len(written.refused)
        kept = written.refused[: ERRORS_KEPT - len(self.errors)]
        self.errors += [error._replace(row=error.row[:ERROR_CHARACTERS_KEPT]) for error in kept]
        for within, stored in written.repeats:
            either = (within.mirrored or stored.mirrored, within.across_splits or stored.across_splits)
            for name, counts in zip(DUPLICATES, (within.exact, stored.exact, *either), strict=True):
                self.duplicates[name] += counts


@dataclass
class _Job:
    """One import while it runs. scale: the one that was given, None where any number will do: what is guessed from the
    scores rejects none. entry: in the log, if it wrote.

    lenient: whether nobody named the column of the scores nor their scale, so that a score outside the scale of the set
    rejects no row. splits: what its rows do to splits, while it is tried. leaks: whether leaks are allowed. rated:
    whether each row is one rating of a pair.
    """

    layout: Layout
    origin: FileOrigin
    scale: Scale | None
    survey: Survey
    target: Target
    outcome: ImportOutcome
    entry: AuditEntry | None = None
    splits: RowsInSplits | None = None
    leaks: Leaks = Leaks.REFUSE
    rated: bool = False
    lenient: bool = False


def pairs_import(
    *,
    dataset: Dataset,
    path: Path,
    options: ImportOptions = AS_THE_FILE_SAYS,
    by: User | None = None,
    batch: ImportBatch | None = None,
    errors: Path | None = None,
    dry_run: bool = False,
    most_rows: int = ROWS_MOST,
    report: Report = silent,
) -> ImportOutcome:
    """Import a file of pairs. A dataset that is not saved yet is saved with the first rows.

    At most 5,000 rows are one transaction; more are written 1,000 at a time (on PostgreSQL 5,000), and an import that
    was stopped goes on where it was when it is called again. errors: where to write the rejected rows as CSV. dry_run
    writes no row. Raises UserError, before anything is written, where the file, its columns or its scale
    cannot be used, and TooManyRowsError where it has more than `most_rows`. LeaksError where splits that were set here
    would come to share sentences with the file's, unless the options allow it.
    """
    batch = batch or ImportBatch(file_name=path.name[:255], mapping=options.as_json(), created_by=by)
    report = BeatingReport(batch, report)
    with failure_recorded(batch), file_errors_shown():
        job = _job_prepared(dataset, path, options, dry_run=dry_run, most_rows=most_rows, report=report)
        batch.sha256 = batch.sha256 or sha256_of(path)
        with rejections_kept(errors, job.layout, job.origin) as refuse:
            if options.strict and not job.outcome.dry_run:
                # Try the import first. Raises NothingImportedError, with no row written, where a row is rejected.
                tried = _trial(job)
                outcome = tried.outcome
                _rows_import(tried, refuse, report, batch)
                if outcome.rejected:
                    raise none_was_imported(
                        job.layout.path.name, outcome.errors[0], outcome.rejected, outcome
                    )
            if job.outcome.dry_run:
                # Collect what the rows do to splits, unless they say none or are too many.
                if job.origin.split != "":
                    job.outcome.leaks_uncounted = too_many_to_count(job.target.dataset, job.survey.rows)
                    job.splits = None if job.outcome.leaks_uncounted else RowsInSplits()
                _rows_import(job, refuse, report, batch)
                job.outcome.leaks = job.splits.leaks(dataset) if job.splits else None
            else:
                _guard(job, report, batch)
                # Import, and store the options and the result in the batch's row.
                is_small = job.survey.rows <= ONE_TRANSACTION_ROWS
                with transaction.atomic() if is_small else bulk_writing():
                    if job.target.dataset.pk is None:
                        dataset_save(dataset=job.target.dataset, by=batch.created_by)
                    if batch.pk is None:
                        batch.dataset = job.target.dataset
                        batch.state, batch.heartbeat_at = ImportBatch.State.RUNNING, now()
                        batch.save()
                        if not is_small:
                            imports_superseded(batch=batch)
                    _rows_import(job, refuse, report, batch)
                    _batch_closed(batch, job.target.dataset, job.outcome)
    return job.outcome


def _job_prepared(
    dataset: Dataset, path: Path, options: ImportOptions, *, dry_run: bool, most_rows: int, report: Report
) -> _Job:
    layout = inspect_file(
        path, options.columns, header=options.header, delimiter=options.delimiter, encoding=options.encoding
    )
    layout = with_rating_columns(layout, options.columns.worker)
    origin = _origin(layout, options)
    score_set = _score_set_found(dataset, options) if "score" in layout.mapping else None
    scale, falls, lenient = _scale_before(options, layout, score_set)
    matching = Matching(
        source_said="source" in layout.mapping or options.source is not None,
        split_said="split" in layout.mapping or options.split is not None,
    )
    # A column says of each row by itself which split it is in.
    by_file = bool(origin.split) and options.across_splits is None
    compared = by_file and dataset.pk is not None and Pair.objects.filter(dataset=dataset).exists()

    def surveyed(drafts: Iterator[DraftPair | RowError]) -> tuple[Survey, _Elsewhere]:
        elsewhere, rows = _Elsewhere(), identified(drafts, origin, repeated=(), made=False)
        rows = _compared(rows, dataset, matching, elsewhere) if compared else rows
        survey = survey_rows(rows, most=most_rows, report=report, message=_("Reading the file"))
        return survey, elsewhere

    outside = OutsideScores() if lenient else None
    survey, elsewhere = surveyed(parse_pairs(layout, scale=scale, outside=outside))
    guessed = _said_of_outside(outside, layout, score_set)
    ratings = RatingFacts()
    rated, of_ratings = _ratings_decide(options, layout, survey, scale, lenient=lenient)
    if rated:
        survey, elsewhere = surveyed(_drafts(layout, scale, ratings, lenient=lenient))
        survey.scores = ratings.scores
    across = elsewhere.are_most if by_file else options.across_splits is not False
    matching = replace(matching, across_splits=across)
    outcome = ImportOutcome(
        dataset=dataset.slug,
        source=origin.source,
        split=origin.split,
        columns={
            field: layout.columns[index]
            for field, index in layout.mapping.items()
            if rated or field not in RATING_COLUMNS
        },
        header=layout.columns,
        across_splits=across,
        warnings=layout.warnings,
        guesses=(*layout.guesses, *guessed, *of_ratings),
        ratings=ratings if rated else None,
        scale_falls=falls,
        dry_run=dry_run or not survey.pairs,  # without a pair, the rows are read for their errors alone
    )
    target = Target(dataset, None, matching, survey, ids_guessed="external_id" in layout.guessed)
    job = _Job(
        layout, origin, scale, survey, target, outcome, leaks=options.leaks, rated=rated, lenient=lenient
    )
    _scores_prepared(job, options, score_set)
    return job


def _scale_before(
    options: ImportOptions, layout: Layout, known: ScoreSet | None
) -> tuple[tuple[float, float] | None, bool, bool]:
    """The scale before the file is read, whether it falls, and whether scores outside of it may be left out.

    known: the set that gets the scores, if it is there.
    """
    with errors_shown():
        scale = options.scale and given_scale_checked(*options.scale)
    falls = scale is not None and scale[0] > scale[1]
    lenient = known is not None and scale is None and "score" in layout.guessed
    if known:
        scale = (known.high, known.low) if falls else (known.low, known.high)
    return scale, falls, lenient


def _scores_prepared(job: _Job, options: ImportOptions, known: ScoreSet | None) -> None:
    """The scale of the scores and the set that takes them, where there are scores. known: the set of that name."""
    scores, outcome = job.survey.scores, job.outcome
    lowest, highest = scores.lowest, scores.highest
    if lowest is not None and highest is not None:
        # The scale that was given, rising, or a common one that includes all scores.
        if job.scale is not None:
            low, high = min(job.scale), max(job.scale)
        else:
            found = smallest_common_scale(lowest, highest, whole=scores.whole)
            if found is None:
                sentence = _(
                    "The scores range from %(lowest)g to %(highest)g, and no common scale includes them all. "
                    "Give the scale."
                )
                raise UserError(sentence, lowest=lowest, highest=highest)
            low, high = found
            reason = (
                f"The scores are whole numbers from {low:g} to {high:g}, which is their scale."
                if found in SCALES_OF_WHOLE_NUMBERS
                else f"{low:g} to {high:g} is the smallest common scale that includes all scores."
            )
            outcome.scale_guessed = True
            outcome.guesses = (*outcome.guesses, Guess("scale", f"{low:g} to {high:g}", reason))
        outcome.scale, outcome.score_set = (low, high), options.score_set
        job.target.score_set = known or ScoreSet(
            dataset=job.target.dataset,
            name=options.score_set,
            kind=ScoreSet.Kind.REFERENCE,
            low=low,
            high=high,
            method=_("mean of ratings") if job.rated else _("imported"),
            parameters={"file": job.layout.path.name}
            | (outcome.ratings_told or {})
            | ({"scale_given": list(options.scale or ())} if outcome.scale_falls else {}),
        )
        if known is None:
            with validation_shown(job.target.score_set):
                job.target.score_set.clean_fields(exclude={"dataset"})


def _said_of_outside(
    outside: OutsideScores | None, layout: Layout, score_set: ScoreSet | None
) -> tuple[Guess, ...]:
    """What becomes of scores outside the scale of the set, where nobody named their column."""
    if outside is None or score_set is None or not outside.count:
        return ()
    line, score = outside.first
    column = layout.columns[layout.mapping["score"]]
    are = ngettext("%(n)s score is", "%(n)s scores are", outside.count) % {"n": f"{outside.count:,}"}
    reason = (
        f"In “{column}” {are} outside the scale {score_set.low:g} to {score_set.high:g} of the score set "
        f"“{score_set.name}”, first on line {line}: {score:g}. Such pairs have no score. If the column has another "
        f"scale, import it into another score set."
    )
    return (Guess("score", column, reason),)


def _drafts(
    layout: Layout, scale: Scale | None, ratings: RatingFacts | None, *, lenient: bool
) -> Iterator[DraftPair | RowError]:
    """The rows of the file, or its pairs where each row is a rating. ratings: where what becomes of them is counted."""
    rows = parse_pairs(layout, scale=scale, outside=OutsideScores() if lenient else None)
    return rows if ratings is None else ratings_gathered(rows, layout.mapping, ratings)


def _ratings_decide(
    options: ImportOptions, layout: Layout, survey: Survey, scale: Scale | None, *, lenient: bool
) -> tuple[bool, tuple[Guess, ...]]:
    """Whether each row is one rating of a pair, and what is to be said about it.

    They are, where it was said; and where nobody said anything, if a column says who rated and a pair repeats. They may
    be, which is said, where there is no such column and pairs of most rows have several scores, or where the column
    of the ratings is not known. Raises UserError for that where they were said to be ratings.
    """
    if options.ratings and "score" not in layout.mapping:
        raise UserError(
            _("Each row is to be a rating, but the column of the ratings is not known. Name it as the score.")
        )
    if options.ratings is not None:
        return options.ratings, ()
    worker, repeated = layout.mapping.get("worker"), sum(survey.ordered.values())
    if not repeated or (worker is None and 2 * repeated < survey.rows):
        return False, ()
    facts = RatingFacts()
    deque(_drafts(layout, scale, facts, lenient=lenient), maxlen=0)
    if worker is None and not facts.disagreeing:
        return False, ()
    guess = facts.guess("" if worker is None else layout.columns[worker])
    return worker is not None and facts.ratings > 0, (guess,)


@dataclass
class _Elsewhere:
    """Of a file that is one split: the rows that are not pairs of this split.

    rows: their number.
    held: how many of them are pairs of another split.
    """

    rows: int = 0
    held: int = 0

    @property
    def are_most(self) -> bool:
        """Whether more rows are pairs of other splits than new pairs.

        A benchmark's test file shares a few pairs with its training file, and both keep them. A file of which most
        rows are pairs of another split is that split's file again. What an interrupted import has written counts for
        neither.
        """
        return self.held * 2 > self.rows


def _compared(
    rows: Iterator[Row], dataset: Dataset, matching: Matching, elsewhere: _Elsewhere
) -> Iterator[Row]:
    """The rows, after they were compared with the pairs that the dataset holds."""
    here = replace(matching, across_splits=False)
    often: dict[tuple[int, int], Untaken] = {}
    for chunk in in_parts(rows, CHUNK_ROWS):
        pairs = [row for row in chunk if isinstance(row, IdentifiedPair)]
        sentences = sentences_found(dataset, pairs)
        numbers = [(sentences.get(pair.a_key, 0), sentences.get(pair.b_key, 0)) for pair in pairs]
        asked = {both for both in numbers if all(both)} - often.keys()
        there = {both: Untaken(those) for both, those in stored_pairs(None, sorted(asked)).items()}
        often |= {both: those for both, those in there.items() if len(those) > READ_AGAIN_MOST}
        for pair, both in zip(pairs, numbers, strict=True):
            those = there.get(both) or often.get(both) or Untaken(())
            if here.best(pair.name, those) is None:
                elsewhere.rows += 1
                elsewhere.held += matching.best(pair.name, those) is not None
        yield from chunk


def _origin(layout: Layout, options: ImportOptions) -> FileOrigin:
    """The option, for all rows; else a column; else the file's name."""
    for name, value in (("source", options.source), ("split", options.split)):
        if value and len(value) > FACT_MAX_CHARACTERS[name]:
            sentence = _("The %(name)s “%(value)s…” is too long. It may have at most %(most)s characters.")
            raise UserError(sentence, name=name, value=value[:20], most=FACT_MAX_CHARACTERS[name])
    stem = layout.path.stem
    source = None if "source" in layout.mapping else stem[: FACT_MAX_CHARACTERS["source"]]
    split = None if "split" in layout.mapping else split_in_name(stem)
    return FileOrigin(
        source=source if options.source is None else options.source,
        split=split if options.split is None else options.split,
    )


def _nothing_imported(path: Path, outcome: ImportOutcome, rejections: Rejections) -> NothingImportedError:
    """The error of a file that has no row that can be imported."""
    rows = outcome.rows
    if not rows:
        sentence = _("%(file)s has no rows. Choose a file with one pair of sentences in each row.")
        return NothingImportedError(sentence, outcome=outcome, file=path.name)
    count, first = rejections.most_frequent()
    sentence = ngettext(
        "The only row of %(file)s cannot be imported. Line %(line)s: %(reason)s.",
        "None of the %(rows)s rows of %(file)s can be imported. Line %(line)s: %(reason)s.",
        rows,
    )
    if len(rejections.counts) > 1:
        sentence = _(
            "None of the %(rows)s rows of %(file)s can be imported. "
            "The most frequent reason (rows: %(count)s), first on line %(line)s: %(reason)s."
        )
    facts = {"rows": rows, "count": count, "line": first.line, "reason": first.reason}
    return NothingImportedError(sentence, outcome=outcome, file=path.name, **facts)


def _score_set_found(dataset: Dataset, options: ImportOptions) -> ScoreSet | None:
    """The score set that is imported into, if it exists. Raises UserError where it takes no such scores."""
    if dataset.pk is None:
        return None
    score_set = ScoreSet.objects.filter(dataset=dataset, name=options.score_set).first()
    if score_set is None:
        return None
    names = {"name": score_set.name, "low": score_set.low, "high": score_set.high}
    if score_set.withdrawn_at:
        raise UserError(
            _("The score set “%(name)s” was withdrawn. Restore it, or choose another name."), **names
        )
    if score_set.kind != ScoreSet.Kind.REFERENCE or score_set.campaign_ref or score_set.run_ref:
        sentence = _(
            "The score set “%(name)s” was not imported, so a file cannot add scores to it. Choose another name."
        )
        raise UserError(sentence, **names)
    if options.scale and sorted(options.scale) != [score_set.low, score_set.high]:
        sentence = _(
            "The score set “%(name)s” has the scale %(low)g to %(high)g. Give this scale, or choose another set."
        )
        raise UserError(sentence, **names)
    return score_set


def _guard(job: _Job, report: Report, batch: ImportBatch) -> None:
    """Try the import first where the dataset has splits that were set here. Raises LeaksError, with no row written,
    where they would share sentences with those of the file.
    """
    dataset = job.target.dataset
    if job.origin.split == "" or not import_is_guarded(dataset, job.leaks):
        return
    tried = _trial(job)
    tried.splits = RowsInSplits()
    with suppress(NothingImportedError):  # which the import then says, with the file of its errors
        _rows_import(tried, lambda error: None, report, batch)
    found = tried.splits.leaks(dataset)
    leaks_require_allowed(found.before, found.after, job.leaks)


def _trial(job: _Job) -> _Job:
    """The same import without a row written."""
    target = replace(job.target, seen=SeenPairs(), held={})
    outcome = replace(job.outcome, dry_run=True, duplicates={}, changes={}, errors=[], changed=[])
    outcome.duplicates, outcome.changes = dict.fromkeys(DUPLICATES, 0), dict.fromkeys(CHANGES, 0)
    return replace(job, target=target, outcome=outcome)


@transaction.atomic
def _batch_closed(batch: ImportBatch, dataset: Dataset, outcome: ImportOutcome) -> None:
    # What earlier attempts of this import added is unchanged to this one.
    for name in WRITTEN:
        before = batch.written.get(name, 0)
        setattr(outcome, name, getattr(outcome, name) + before)
        if name != "scores_added":
            outcome.unchanged = max(0, outcome.unchanged - before)
    for what, before in batch.written.get("changes", {}).items():
        outcome.changes[what] += before
    if batch.pk:
        import_beat(batch=batch)
    batch.dataset = dataset
    batch.state = ImportBatch.State.DONE
    outcome.count_in(batch)
    batch.save()


def _rows_import(job: _Job, refuse: Callable[[RowError], None], report: Report, batch: ImportBatch) -> None:
    """Raises NothingImportedError, with no row written, where every row is rejected."""
    outcome, dataset, rejections = job.outcome, job.target.dataset, Rejections()
    drafts = _drafts(job.layout, job.scale, RatingFacts() if job.rated else None, lenient=job.lenient)
    rows = identified(drafts, job.origin, repeated=job.survey.either)
    for number, chunk in enumerate(prepared_meanwhile(in_parts(rows, CHUNK_ROWS))):
        if number < NEW_TO_STATISTICS and job.survey.rows > ONE_TRANSACTION_ROWS:
            datasets_counted(Sentence, Pair)
        pairs = [row for row in chunk if isinstance(row, IdentifiedPair)]
        with nullcontext() if outcome.dry_run else transaction.atomic():
            if not outcome.dry_run:
                dataset_lock(dataset)
                # Another import may have made the score set since this one looked for it.
                made = job.target.score_set
                if made and made.pk is None:
                    asked = ImportOptions(score_set=made.name, scale=(made.low, made.high))
                    job.target.score_set = _score_set_found(job.target.dataset, asked) or made
                job.target.batch = batch.pk
            written = pairs_write(job.target, pairs, dry_run=outcome.dry_run)
            written.refused = sorted(written.refused + [row for row in chunk if isinstance(row, RowError)])
            outcome.add(len(chunk), written)
            if job.splits is not None:
                job.splits.add(written)
            if batch.pk and not outcome.dry_run:
                # What all attempts of an import have written, by the names in WRITTEN, and the kinds of changes. In
                # the same transaction, so that what an attempt added is known exactly, whenever it is killed.
                before = batch.written.get("changes", {})
                changes = {what: before.get(what, 0) + number for what, number in outcome.changes.items()}
                counts = {name: batch.written.get(name, 0) + getattr(outcome, name) for name in WRITTEN}
                import_beat(batch=batch, written={**counts, "changes": changes})

                _record(job, batch, written)
        for error in written.refused:
            rejections.add(error)
            refuse(error)
        report(outcome.rows, job.survey.rows, _("Importing pairs"))
    if outcome.rejected == outcome.rows:
        raise _nothing_imported(job.layout.path, outcome, rejections)


def _record(job: _Job, batch: ImportBatch, written: WriteOutcome) -> None:
    """Write down what the rows did: once that the import changed the dataset, and each value that it changed."""
    if not (written.added or written.updates or written.scores_added):
        return
    if job.entry is None:
        # Another attempt may have begun.
        job.entry = AuditEntry.objects.filter(batch=batch).first() or audit_record(
            dataset=job.target.dataset,
            action=Action.PAIRS_IMPORTED,
            by=batch.created_by,
            subject=batch.file_name,
            batch=batch,
            details={"sha256": batch.sha256, **allowed_in_the_log(job.leaks)},
        )
    rows = []
    for update in written.updates:
        for change in update.changes:
            old, new = (
                "" if value in {None, ""} else change_shown(value) for value in (change.old, change.new)
            )
            rows.append((update.pair.pk, "score" if change.what == "score_added" else change.what, old, new))
    rows_add(PairChange, shared={"entry_id": job.entry.pk}, columns=_PAIR_CHANGE, rows=rows)
