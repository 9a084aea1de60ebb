"""What changes datasets and score sets. Each is called with keywords and does one thing whole."""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from curation.datasets.rows import rows_add
from curation.foundation.errors import UserError, errors_shown, validation_shown
from curation.foundation.parts import in_parts
from curation.foundation.roles import Role
from curation.models import Dataset, Membership, Pair, PairScore, ScoreSet, Sentence, SentenceScore, User
from curation.pairs.scales import scale_checked
from curation.people.access import dataset_lock, dataset_require_active
from curation.people.audit import Action, audit_record

_SCORES_IN_INSERT = 5_000
_PAIR_SCORE = (
    *("pair_id", "value", "standard_error", "judgements"),
    *("contexts", "interval_low", "interval_high"),
)
_SENTENCE_SCORE = ("sentence_id", "value", "logit_machine", "logit_human", "fold")
CHANGEABLE = {"name", "language", "licence", "description", "source_address"}


class Score(NamedTuple):
    """Of a pair. contexts, interval_low, interval_high: how many contexts of a corpus gave it, and its 95 % interval
    over them.
    """

    pair: int
    value: float
    standard_error: float | None = None
    judgements: int | None = None
    contexts: int | None = None
    interval_low: float | None = None
    interval_high: float | None = None


PlainScore = tuple[int, float, float | None, int | None] | Score


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
        sentence = _("A dataset with the short name “%(slug)s” already exists. Choose another short name.")
        raise UserError(sentence, slug=slug)
    dataset = Dataset(slug=slug, name=name, **facts)
    with validation_shown(dataset):
        dataset.full_clean()
    return dataset


@transaction.atomic
def dataset_create(
    *, slug: str, name: str, by: User | None = None, owner: User | None = None, **facts: str
) -> Dataset:
    """Make a dataset, whose owner is `owner`, or else `by`. facts: those of CHANGEABLE that are known."""
    dataset = dataset_draft(slug=slug, name=name, created_by=owner or by, **facts)
    dataset_save(dataset=dataset, by=by)
    return dataset


def dataset_save(*, dataset: Dataset, by: User | None) -> None:
    """Store a draft, whose owner is `created_by`."""
    with transaction.atomic():
        dataset.save()
        if dataset.created_by:
            Membership.objects.create(dataset=dataset, user=dataset.created_by, role=Role.OWNER)
        audit_record(dataset=dataset, action=Action.DATASET_CREATED, by=by, subject=dataset.name)


def owner_lines(dataset: Dataset | None, *, made: bool) -> list[str]:
    """What a command says of a dataset that it has made without an owner."""
    if dataset is None or not made or dataset.created_by_id is not None:
        return []
    sentence = _(
        "%(dataset)s has no owner: only administrators can change it or invite an owner. The option --owner names one."
    )
    return [sentence % {"dataset": dataset.slug}]


@transaction.atomic
def dataset_change(*, dataset: Dataset, by: User | None = None, **facts: str) -> Dataset:
    """Change what a dataset says about itself. Its short name stays: addresses and commands hold it."""
    unknown = sorted(facts.keys() - CHANGEABLE)
    if unknown:
        raise TypeError(f"a dataset's {', '.join(unknown)} cannot be changed")
    dataset_require_active(dataset)
    before = {name: getattr(dataset, name) for name in facts}
    for name, value in facts.items():
        setattr(dataset, name, value)
    with validation_shown(dataset):
        dataset.full_clean()
    dataset.save(update_fields=list(facts))
    changed = {name: [before[name], value] for name, value in facts.items() if before[name] != value}
    if changed:
        audit_record(dataset=dataset, action=Action.DATASET_CHANGED, by=by, details={"settings": changed})
    return dataset


@transaction.atomic
def dataset_archive(*, dataset: Dataset, by: User | None = None) -> None:
    if Dataset.objects.filter(pk=dataset.pk, archived=False).update(archived=True):
        audit_record(dataset=dataset, action=Action.DATASET_ARCHIVED, by=by)


@transaction.atomic
def dataset_restore(*, dataset: Dataset, by: User | None = None) -> None:
    if Dataset.objects.filter(pk=dataset.pk, archived=True).update(archived=False):
        audit_record(dataset=dataset, action=Action.DATASET_RESTORED, by=by)


def score_set_name_require(dataset: Dataset, name: str) -> None:
    """Raise UserError where a score set of the dataset has the name."""
    if ScoreSet.objects.filter(dataset=dataset, name=name).exists():
        sentence = _(
            "The dataset already has a score set “%(name)s”, and a score set never changes. Choose another name."
        )
        raise UserError(sentence, name=name)


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
    scores: Iterable[PlainScore],
    sentence_scores: Iterable[ScoredSentence] = (),
    campaign_ref: int | None = None,
    run_ref: int | None = None,
    by: User | None = None,
) -> ScoreSet:
    """Store scores under their own name. A published set never changes; another one gets another name.

    scores: of each pair its number, its value on the scale low..high, and, where they are known, the value's
    standard error and the number of judgements behind it, or all that a `Score` has. sentence_scores: of single
    sentences, on the same scale.
    by: who published them, or started the run; None for a command.
    Raises UserError, and stores nothing, where the name is taken, or a score, a pair or a sentence does not belong.
    """
    # Two who publish at once queue here, so that the second finds the name taken.
    dataset_lock(dataset)
    score_set_name_require(dataset, name)
    with errors_shown():
        low, high = scale_checked(low, high)
    facts = {"kind": kind, "low": low, "high": high, "method": method, "parameters": dict(parameters)}
    score_set = ScoreSet(dataset=dataset, name=name, campaign_ref=campaign_ref, run_ref=run_ref, **facts)
    with validation_shown(score_set):
        score_set.clean_fields()
    score_set.save()
    scored = 0
    for part in in_parts(scores, _SCORES_IN_INSERT):
        _scores_store(score_set, part)
        scored += len(part)
    for several in in_parts(sentence_scores, _SCORES_IN_INSERT):
        _sentence_scores_store(score_set, several)
    audit_record(
        dataset=dataset,
        action=Action.SCORES_PUBLISHED,
        by=by,
        subject=name,
        pairs=scored,
        details={"kind": kind, "campaign": campaign_ref, "run": run_ref},
    )
    return score_set


@transaction.atomic
def score_set_describe(*, score_set: ScoreSet, title: str, description: str, by: User | None = None) -> None:
    """Change what pages say of a score set. Its name stays: files, plans and snapshots hold it."""
    dataset_require_active(score_set.dataset)
    before = {"title": score_set.title, "description": score_set.description}
    score_set.title, score_set.description = title.strip(), description.strip()
    with validation_shown(score_set):
        score_set.clean_fields()
    score_set.save(update_fields=list(before))
    changed = {name: [old, now] for name, old in before.items() if (now := getattr(score_set, name)) != old}
    if changed:
        _score_set_record(score_set, Action.SCORES_DESCRIBED, by, {"settings": changed})


@transaction.atomic
def score_set_withdraw(*, score_set: ScoreSet, why: str, at: datetime, by: User | None = None) -> None:
    """Offer a score set no longer. It stays at its address, and what names it goes on reading it."""
    dataset_require_active(score_set.dataset)
    if not (why := why.strip()):
        raise UserError(_("Say why the scores are withdrawn."))
    facts = {"withdrawn_at": at, "withdrawn_by": by, "withdrawn_why": why}
    if ScoreSet.objects.offered().filter(pk=score_set.pk).update(**facts):
        _score_set_record(score_set, Action.SCORES_WITHDRAWN, by, {"reason": why})


@transaction.atomic
def score_set_restore(*, score_set: ScoreSet, by: User | None = None) -> None:
    dataset_require_active(score_set.dataset)
    withdrawn = ScoreSet.objects.filter(pk=score_set.pk, withdrawn_at__isnull=False)
    if withdrawn.update(withdrawn_at=None, withdrawn_by=None, withdrawn_why=""):
        _score_set_record(score_set, Action.SCORES_RESTORED, by, {})


def _score_set_record(score_set: ScoreSet, action: Action, by: User | None, details: dict[str, Any]) -> None:
    score_set.refresh_from_db()
    audit_record(dataset=score_set.dataset, action=action, by=by, subject=score_set.name, details=details)


def _scores_store(score_set: ScoreSet, scores: list[PlainScore]) -> None:
    low, high = score_set.low, score_set.high
    for pair_id, value, *_more in scores:
        if not low <= value <= high:
            sentence = _("The score %(value)g of pair %(pair)s is outside the scale %(low)g to %(high)g.")
            raise UserError(sentence, value=value, pair=pair_id, low=low, high=high)
    ids = {pair_id for pair_id, *_rest in scores}
    there = Pair.objects.filter(dataset=score_set.dataset, pk__in=ids).count()
    if there < len(ids):
        sentence = _("%(missing)s of the scored pairs do not belong to the dataset %(dataset)s.")
        raise UserError(sentence, missing=len(ids) - there, dataset=score_set.dataset)
    whole = [Score(*each) for each in scores]
    try:
        rows_add(
            PairScore,
            shared={"score_set_id": score_set.pk},
            columns=_PAIR_SCORE,
            rows=whole,
        )
    except IntegrityError as error:
        raise UserError(_("A pair has two scores. Give one score for each pair.")) from error


def _sentence_scores_store(score_set: ScoreSet, scores: list[ScoredSentence]) -> None:
    low, high = score_set.low, score_set.high
    for number, value, *logits, fold in scores:
        if not low <= value <= high:
            why = _("The score %(value)g of sentence %(sentence)s is outside the scale %(low)g to %(high)g.")
            raise UserError(why, value=value, sentence=number, low=low, high=high)
        if any(logit is not None and not math.isfinite(logit) for logit in logits):
            raise UserError(_("A logit of sentence %(sentence)s is not a finite number."), sentence=number)
        if fold is not None and fold < 0:
            raise UserError(_("The fold of sentence %(sentence)s is negative."), sentence=number)
    numbers = {score.sentence for score in scores}
    there = Sentence.objects.filter(dataset=score_set.dataset, pk__in=numbers).count()
    if there < len(numbers):
        sentence = _("%(missing)s of the scored sentences do not belong to the dataset %(dataset)s.")
        raise UserError(sentence, missing=len(numbers) - there, dataset=score_set.dataset)
    try:
        rows_add(SentenceScore, shared={"score_set_id": score_set.pk}, columns=_SENTENCE_SCORE, rows=scores)
    except IntegrityError as error:
        raise UserError(_("A sentence has two scores. Give one score for each sentence.")) from error
