"""The review of machine-written sentences: who is shown which, what a verdict does, and how it is taken back.

A verdict is about a sentence. A binding one holds for every generated pair of the dataset that has the sentence as its
second and is undecided: kept pairs become active, rejected ones are left out of the next snapshot, edited ones are
retired in favour of pairs with the new sentence. Snapshots that exist stay as they are. Each decision keeps what its
pair was before, so that undoing restores exactly that.

Locks: an edit locks the dataset's row first (it adds a sentence), every verdict and undo the sentence's row.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID, uuid5

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import (
    Pair,
    PairScore,
    ReviewClaim,
    ReviewDecision,
    ScoreSet,
    Sentence,
    SentenceScore,
    User,
)
from curation.pairs.text import SENTENCE_MAX_CHARACTERS, is_readable, normalise, sentence_key, shows_something
from curation.people.access import dataset_lock, dataset_require_active
from curation.people.audit import Action, audit_record, hidden_before
from curation.people.webhooks.events import Event, event_happened, webhooks_for
from curation.review.queue import REVIEWABLE, Frame, Queue, standing
from curation.review.queues import queue_next, queue_progress
from curation.review.samples import sample_item, sample_items, verdicts_counted, verdicts_on_pair

CLAIM_TIME = timedelta(minutes=10)
NOTE_MAX_CHARACTERS = 500
Verdict = ReviewDecision.Verdict
Reason = ReviewDecision.Reason
_STATUS_AFTER = {
    Verdict.KEEP: Pair.Status.ACTIVE,
    Verdict.REJECT: Pair.Status.REJECTED,
    Verdict.EDIT: Pair.Status.RETIRED,
}


class DecidedError(UserError):
    """Somebody has decided about the sentence already."""


def review_next(*, queue: Queue, reviewer: User, at: datetime, count: int = 3) -> list[PairScore]:
    """The next sentences for this person, which nobody else is offered for some minutes. Fewer where fewer wait."""
    if queue.samples:
        sample_items(queue)  # which may have to be drawn: nobody should wait for the lock in the meantime
    return _offer(queue, reviewer, at, count)


@transaction.atomic
def _offer(queue: Queue, reviewer: User, at: datetime, count: int) -> list[PairScore]:
    dataset = queue.score_set.dataset
    # Two who ask at once queue here: the second sees what the first was given.
    dataset_lock(dataset)
    # Of all datasets: there are few claims, and a search by dataset might begin at its pairs.
    taken = ReviewClaim.objects.filter(until__gt=at).exclude(reviewer=reviewer)
    offered = queue_next(queue, reviewer=reviewer, without=taken, most=count)
    ReviewClaim.objects.bulk_create(
        [ReviewClaim(pair=score.pair, reviewer=reviewer, until=at + CLAIM_TIME) for score in offered],
        update_conflicts=True,
        unique_fields=["pair"],
        update_fields=["reviewer", "until"],
    )
    return offered


@transaction.atomic
def review_decide(
    *,
    pair: Pair,
    verdict: str,
    client_id: UUID,
    by: User,
    at: datetime,
    reasons: Sequence[str] = (),
    note: str = "",
    text: str = "",
    queue: Queue | None = None,
) -> ReviewDecision:
    """Decide about the machine's sentence of a generated pair, once per client_id however often it is sent.

    In a queue that asks two people, the second verdict changes no pair. Nor does one on a human sentence that was
    mixed in, nor one in a random or stratified sample on a sentence that was decided about in another queue.

    reasons: of a rejection, at least one. text: of an edit, the new sentence. queue: where the person saw the sentence,
    from which the decision keeps the sampling frame, p_D, and whether it was hidden; without one the sentence was
    chosen by its number, and the pair's newest p_D is kept.
    Raises DecidedError where the pair has a decision, UserError where this cannot be one. Changes nothing then.
    """
    _require_verdict(verdict, reasons)
    if verdict == Verdict.EDIT:
        dataset_lock(pair.dataset)
    Sentence.objects.select_for_update(no_key=True).get(pk=pair.b_id)
    if (first := _sent_before(client_id, pair, by)) is not None:
        return first
    # Locked, as every pair whose status changes: an edit of many pairs waits for the verdict, or the verdict for it.
    locked = Pair.objects.select_for_update(no_key=True, of=("self",))
    pair = locked.select_related("a", "b", "dataset").get(pk=pair.pk)
    dataset_require_active(pair.dataset)
    place = place_of(pair, queue, by)
    text = _text_edited(pair, text) if verdict == Verdict.EDIT else ""
    decision = ReviewDecision(
        client_id=client_id,
        pair=pair,
        sentence=pair.b,
        reviewer=by,
        verdict=verdict,
        reasons=sorted(set(reasons), key=Reason.values.index) if verdict == Verdict.REJECT else [],
        note=note.strip()[:NOTE_MAX_CHARACTERS],
        value_shown=_p_d(pair, queue.score_set if queue else None),
        score_set=queue.score_set if queue else None,
        frame=queue.frame if queue else Frame.CHOSEN,
        blind=queue.blind if queue else False,
        **place._asdict(),
        decided_at=at,
    )
    ReviewClaim.objects.filter(pair=pair).delete()
    if not place.binding:
        decision.status_before, decision.text = pair.status, text
        decision.save()
        _tell_if_finished(queue)
        return decision
    decision_store(decision, text=text, companions=_companions(pair))
    decision_record(decision, Action.REVIEW_DECIDED, by, blind=queue is not None and queue.discreet)
    _tell_if_finished(queue)
    return decision


def _sent_before(client_id: UUID, pair: Pair, by: User) -> ReviewDecision | None:
    """The decision under this client_id, if it is what was sent; it may have been undone since. Raises UserError."""
    first = ReviewDecision.objects.filter(client_id=client_id).first()
    if first is not None and (first.pair_id, first.reviewer_id) != (pair.pk, by.pk):
        raise UserError(
            _("This client_id belongs to another decision. Use a new client_id for each sentence shown.")
        )
    return first


def _companions(pair: Pair) -> list[int]:
    """The other pairs of the sentence that wait for a verdict, locked."""
    generated = Pair.objects.filter(dataset=pair.dataset_id, b=pair.b_id, origin=Pair.Origin.GENERATED)
    if pair.a.origin == Sentence.Origin.MACHINE:  # the verdict is on both sentences (ADR 33)
        generated = generated.filter(a=pair.a_id)
    decided = standing().filter(sentence=pair.b_id).values("pair")
    others = generated.filter(status__in=REVIEWABLE).exclude(pk=pair.pk).exclude(pk__in=decided)
    others = others.select_for_update(no_key=True).order_by("pk")
    return list(others.values_list("pk", flat=True))


def _tell_if_finished(queue: Queue | None) -> None:
    """Tell webhooks of a queue that has all its verdicts. It is counted only where somebody wants to know."""
    if queue is None or not webhooks_for([Event.REVIEW_FINISHED], dataset=queue.score_set.dataset_id):
        return
    progress = queue_progress(queue)
    if progress.decided >= progress.total:
        event_happened(
            dataset=queue.score_set.dataset_id,
            event=Event.REVIEW_FINISHED,
            key=f"review {queue.address} with {progress.total} decisions",
            data={"score_set": queue.score_set.pk, "queue": queue.address, "verdicts": progress.total},
        )


def decision_store(decision: ReviewDecision, *, text: str, companions: Sequence[int]) -> None:
    """Write a binding decision, with rows for the other pairs that it holds for, and change the pairs.

    text: of an edit. The caller has locked the sentence, and the dataset where the verdict is an edit.
    """
    new_sentence = None
    if decision.verdict == Verdict.EDIT:
        # The sentence that takes the machine's place. What a person had written before stays a person's.
        language = decision.pair.b.language
        new_sentence, _made = Sentence.objects.get_or_create(
            dataset=decision.pair.dataset,
            key=sentence_key(text),
            defaults={"text": text, "language": language, "origin": Sentence.Origin.EDITED},
        )
    _row_store(decision, new_sentence)
    pairs = Pair.objects.filter(pk__in=companions).select_related("a", "b", "dataset").order_by("pk")
    shared = ("sentence", "reviewer", "verdict", "reasons", "note", "value_shown", "score_set", "frame")
    facts = {name: getattr(decision, name) for name in (*shared, "stratum", "blind", "second", "decided_at")}
    for companion in pairs:
        own_id = uuid5(decision.client_id, str(companion.pk))
        _row_store(
            ReviewDecision(client_id=own_id, pair=companion, alongside=decision, **facts), new_sentence
        )


def decision_record(decision: ReviewDecision, action: Action, by: User, *, blind: bool) -> None:
    """Write a binding decision, or its end, into the log. blind: neither who decided nor the verdict may be known."""
    audit_record(
        dataset=decision.pair.dataset,
        action=action,
        by=by,
        subject=decision.pair.external_id,
        pair=decision.pair,
        blind=blind,
        details={"verdict": None if blind else decision.verdict},
    )


@transaction.atomic
def review_undo(*, decision: ReviewDecision, by: User, at: datetime) -> ReviewDecision:
    """Take a decision back: every pair is what it was before it. Undoing again changes nothing.

    Raises UserError where the sentence that an edit made was itself decided about in the meantime.
    """
    Sentence.objects.select_for_update(no_key=True).get(pk=decision.sentence_id)
    decisions = ReviewDecision.objects.select_related("pair__dataset")
    shown = decisions.get(pk=decision.alongside_id or decision.pk)
    if shown.undone_at is not None:
        return shown
    dataset_require_active(shown.pair.dataset)
    rows = [shown, *shown.companions.order_by("pk")]
    if shown.binding:
        effects_revert(rows)
    # A verdict that went into the resolution of a disagreement stays while that is valid.
    resolutions = standing().filter(sentence=shown.sentence_id, settles__isnull=False, alongside=None)
    if not shown.binding and resolutions.exists():
        sentence = _("The adjudication of this sentence is done. Undo it first.")
        raise UserError(sentence)
    ReviewDecision.objects.filter(pk__in=[row.pk for row in rows]).update(undone_at=at, undone_by=by)
    if shown.settles is not None:
        # Make a decision binding again that the resolution of a disagreement had replaced.
        for row in [shown.settles, *shown.settles.companions.order_by("pk")]:
            after = _STATUS_AFTER[Verdict(row.verdict)]
            Pair.objects.filter(pk=row.pair_id, status=row.status_before).update(status=after)
            if row.replacement_id:
                Pair.objects.filter(pk=row.replacement_id).update(status=Pair.Status.ACTIVE)
            ReviewDecision.objects.filter(pk=row.pk).update(binding=True)
    if shown.binding:
        decision_record(shown, Action.REVIEW_UNDONE, by, blind=hidden_before(shown.pair))
    shown.refresh_from_db()
    return shown


def effects_revert(rows: Sequence[ReviewDecision]) -> None:
    """Make the pairs of binding decisions what they were before. Raises UserError where an edit was reviewed since."""
    replacements = [row.replacement_id for row in rows if row.replacement_id]
    later = standing().filter(pair__in=replacements).select_related("pair").first()
    if later is not None:
        why = _("The edited sentence of pair %(pair)s has been reviewed since. Undo that decision first.")
        raise UserError(why, pair=later.pair.external_id)
    for row in rows:
        after = _STATUS_AFTER[Verdict(row.verdict)]
        Pair.objects.filter(pk=row.pair_id, status=after).update(status=row.status_before)
        if row.replacement_id:
            Pair.objects.filter(pk=row.replacement_id).update(status=Pair.Status.RETIRED)


class Place(NamedTuple):
    """What a verdict is: whether it decides about the pairs, whether it is the second, and the sample's stratum."""

    binding: bool
    second: bool
    stratum: int | None


def place_of(pair: Pair, queue: Queue | None, by: User) -> Place:
    """What the person's verdict on a pair's sentence would be. Raises UserError where there can be none.

    The caller has locked the sentence.
    """
    own = ReviewDecision.objects.filter(undone_at=None, reviewer=by, settles=None)
    if queue is None or not (queue.samples or queue.twice):
        _require_none(own.filter(pair=pair, binding=False))
        _require_undecided(pair)
        return Place(binding=True, second=False, stratum=None)
    stratum, human = None, False
    if queue.samples:
        item = sample_item(queue, pair.b_id)
        if item is None or (item.human and pair.origin == Pair.Origin.GENERATED):
            sentence = _(
                "The sentence of pair %(pair)s is not in the sample of this queue. Load the page again."
            )
            raise UserError(sentence, pair=pair.external_id)
        _require_none(own.filter(sentence=pair.b_id, alongside=None))
        stratum, human = item.stratum, item.human
        counted = verdicts_counted(queue, [pair.b_id]).get(pair.b_id, [])
    else:
        _require_none(own.filter(pair=pair))
        counted = verdicts_on_pair(pair)
    if len(counted) >= queue.verdicts_needed:
        # The answer hides the verdicts and their authors: the person may be asked for a verdict too.
        raise DecidedError(_("This sentence already has the required decisions."))
    binding = not human and not standing().filter(pair=pair).exists()
    if binding:
        _require_undecided(pair)
    return Place(binding, any(not verdict.second for verdict in counted), stratum)


def _require_none(own: QuerySet[ReviewDecision]) -> None:
    """A person judges a sentence once: a second verdict of the same person would not be independent."""
    if own.exists():
        sentence = _("You have already reviewed this sentence. Undo that decision to review it again.")
        raise DecidedError(sentence)


def _require_verdict(verdict: str, reasons: Sequence[str]) -> None:
    if verdict not in Verdict.values:
        raise UserError(
            _("“%(verdict)s” is not a decision. Give keep, reject or edit."), verdict=verdict[:40]
        )
    if verdict != Verdict.REJECT:
        return
    unknown = sorted(set(reasons) - set(Reason.values))
    if unknown:
        names = {"reason": unknown[0][:40], "reasons": ", ".join(Reason.values)}
        raise UserError(_("“%(reason)s” is not a reason. Choose from %(reasons)s."), **names)
    if not reasons:
        raise UserError(_("Choose at least one reason for rejecting the sentence."))


def _require_undecided(pair: Pair) -> None:
    stands = standing().filter(pair=pair).select_related("reviewer").first()
    if stands is not None:
        sentence = _(
            "%(person)s has already decided about this sentence (%(verdict)s). Undo that decision to decide again."
        )
        raise DecidedError(
            sentence, person=stands.reviewer or _("Somebody"), verdict=stands.get_verdict_display()
        )
    if pair.origin != Pair.Origin.GENERATED or pair.b.origin != Sentence.Origin.MACHINE:
        sentence = _("Pair %(pair)s contains no machine-written sentence, so there is nothing to review.")
        raise UserError(sentence, pair=pair.external_id)
    if pair.status not in REVIEWABLE:
        sentence = _("Pair %(pair)s is %(status)s. Only active and pending pairs are reviewed.")
        raise UserError(sentence, pair=pair.external_id, status=pair.get_status_display())


def _p_d(pair: Pair, score_set: ScoreSet | None) -> float | None:
    scores = PairScore.objects.filter(pair=pair, score_set__kind=ScoreSet.Kind.REALISM)
    if score_set is not None:
        scores = scores.filter(score_set=score_set)
    p_d = scores.order_by("-score_set__created_at", "-pk").values_list("value", flat=True).first()
    if p_d is None and score_set is not None:
        of_sentence = SentenceScore.objects.filter(score_set=score_set, sentence=pair.b_id)
        p_d = of_sentence.values_list("value", flat=True).first()
    return p_d


def _row_store(decision: ReviewDecision, new_sentence: Sentence | None) -> None:
    pair = decision.pair
    decision.status_before = pair.status
    # A companion whose first sentence is the new text has nothing to be paired with.
    if new_sentence is not None and new_sentence.pk != pair.a_id:
        # The pair with the new sentence; the same edit, done again after an undo, finds the pair it made before.
        replacement, _made = Pair.objects.get_or_create(
            dataset=pair.dataset,
            external_id=f"{pair.external_id[:180]}-edit-{new_sentence.key[:12]}",
            source=pair.source,
            split=pair.split,
            defaults={
                "a": pair.a,
                "b": new_sentence,
                "subset": pair.subset,
                "origin": Pair.Origin.GENERATED,
                "run_ref": pair.run_ref,
            },
        )
        replacement.status = Pair.Status.ACTIVE
        replacement.save(update_fields=["status"])
        # What was asked for is asked of the new sentence too. What was measured of the old one (p_D, people's scores)
        # says nothing of the new, so no other set gets a value.
        intended = PairScore.objects.filter(pair=pair, score_set__kind=ScoreSet.Kind.TARGET)
        values = intended.values_list("score_set_id", "value")
        copies = [PairScore(score_set_id=pk, pair=replacement, value=value) for pk, value in values]
        PairScore.objects.bulk_create(copies, ignore_conflicts=True)
        decision.replacement = replacement
    decision.save()
    Pair.objects.filter(pk=pair.pk).update(status=_STATUS_AFTER[Verdict(decision.verdict)])


def _text_edited(pair: Pair, text: str) -> str:
    """What a curator wrote in the place of the pair's second sentence, normalised. Raises UserError."""
    if not is_readable(text):
        raise UserError(_("The new text contains characters that cannot be stored. Type it again."))
    text = normalise(text)
    if not shows_something(text):
        raise UserError(_("The new text is empty. Write the sentence as it should be, or reject it."))
    if len(text) > SENTENCE_MAX_CHARACTERS:
        too_long = _("The new text has %(number)d characters. A sentence may have at most %(most)d.")
        raise UserError(too_long, number=len(text), most=SENTENCE_MAX_CHARACTERS)
    if text == pair.b.text:
        raise UserError(_("The text has not changed. Keep the sentence instead."))
    if text == pair.a.text:
        why = _("The new text is the source sentence itself. Write another sentence, or reject this one.")
        raise UserError(why)
    return text
