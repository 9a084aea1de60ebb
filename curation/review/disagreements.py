"""Sentences on which two reviewers gave different verdicts, and how a curator resolves them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import Dataset, ReviewDecision, Sentence, User
from curation.people.access import dataset_lock, dataset_require_active
from curation.people.audit import Action
from curation.review.queue import Frame, standing
from curation.review.verdicts import Verdict, decision_record, decision_store, effects_revert

MOST_SHOWN = 50


@dataclass(frozen=True)
class Disagreement:
    """The decision that is valid, and the verdicts of others on the sentence, one of which at least differs."""

    decision: ReviewDecision
    others: Sequence[ReviewDecision]

    @property
    def verdicts(self) -> list[ReviewDecision]:
        return [self.decision, *self.others]


def decisions_disputed(dataset: Dataset) -> QuerySet[ReviewDecision]:
    """The decisions with which another person's verdict disagrees and that nobody has resolved, the oldest first."""
    others = _opinions().filter(sentence=OuterRef("sentence")).exclude(verdict=OuterRef("verdict"))
    shown = standing().filter(pair__dataset=dataset, alongside=None, settles=None)
    return shown.filter(Exists(others)).order_by("pk")


def disagreements(dataset: Dataset, *, most: int = MOST_SHOWN) -> list[Disagreement]:
    with_people = ("sentence", "pair__a", "reviewer", "replacement__b")
    decisions = list(decisions_disputed(dataset).select_related(*with_people)[:most])
    opinions = _opinions().filter(sentence__in=[decision.sentence_id for decision in decisions])
    of_sentence: dict[int, list[ReviewDecision]] = {}
    for opinion in opinions.select_related("reviewer", "replacement__b").order_by("pk"):
        of_sentence.setdefault(opinion.sentence_id, []).append(opinion)
    return [Disagreement(decision, of_sentence[decision.sentence_id]) for decision in decisions]


@transaction.atomic
def disagreement_resolve(
    *, decision: ReviewDecision, follow: ReviewDecision, client_id: UUID, by: User, at: datetime
) -> ReviewDecision:
    """Make one of the verdicts on a sentence the valid one, with its reasons and text. Sent twice, it is done once.

    decision: the valid one, which stays as it was given but no longer binds. follow: itself, or another verdict on the
    sentence. Both stay for the agreement of reviewers. Raises UserError where nobody disagrees any more.
    """
    if follow.verdict == Verdict.EDIT:
        dataset_lock(decision.pair.dataset)
    Sentence.objects.select_for_update(no_key=True).get(pk=decision.sentence_id)
    first = ReviewDecision.objects.filter(client_id=client_id).first()
    if first is not None and first.settles_id == decision.pk:
        return first
    dataset_require_active(decision.pair.dataset)
    disputed = decisions_disputed(decision.pair.dataset).filter(pk=decision.pk).first()
    known = _opinions().filter(sentence=decision.sentence_id)
    if disputed is None or not (follow.pk == decision.pk or known.filter(pk=follow.pk).exists()):
        raise UserError(_("The decisions on this sentence agree now. Load the page again."))
    rows = [disputed, *disputed.companions.order_by("pk")]
    effects_revert(rows)
    ReviewDecision.objects.filter(pk__in=[row.pk for row in rows]).update(binding=False)
    disputed.pair.refresh_from_db()
    resolution = ReviewDecision(
        client_id=client_id,
        pair=disputed.pair,
        sentence=disputed.sentence,
        reviewer=by,
        verdict=follow.verdict,
        reasons=follow.reasons,
        value_shown=disputed.value_shown,
        score_set=disputed.score_set,
        frame=Frame.CHOSEN,
        decided_at=at,
        settles=disputed,
    )
    decision_store(resolution, text=text_of(follow), companions=[row.pair_id for row in rows[1:]])
    decision_record(resolution, Action.REVIEW_DECIDED, by, blind=False)
    return resolution


def text_of(verdict: ReviewDecision) -> str:
    """The sentence that an edit wrote, whether it changed pairs or not; nothing for other verdicts."""
    return verdict.replacement.b.text if verdict.replacement else verdict.text


def _opinions() -> QuerySet[ReviewDecision]:
    """Verdicts of others than the one that is valid; those that a resolution replaced are none."""
    return ReviewDecision.objects.filter(undone_at=None, binding=False, alongside=None)
