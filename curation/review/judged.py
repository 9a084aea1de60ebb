"""The verdicts on the sentences of a p_D set, for statistics: what was judged, by whom, and how it came to be shown."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Q, Subquery

from curation.models import PairScore, ReviewDecision, ScoreSet, Sentence, SentenceScore

Frame = ReviewDecision.Frame


@dataclass(frozen=True)
class JudgedSentence:
    """One verdict on one sentence.

    sentence, pair, reviewer: numbers of rows; the reviewer is None where the account is gone.
    p_d: in the score set that was asked about.
    kept: the sentence could stay as it is (edited ones could not).
    blind: p_D was hidden.
    frame: a value of ReviewDecision.Frame.
    stratum: 1..10, the tenth of the sentences by p_D, of a stratified sample.
    human: a human sentence that was mixed in.
    second: the reviewer was asked although somebody had judged the sentence, and did not see that verdict.
    """

    sentence: int
    pair: int
    text: str
    p_d: float | None
    kept: bool
    blind: bool
    frame: str
    stratum: int | None
    reviewer: int | None
    human: bool
    reasons: tuple[str, ...]
    second: bool
    decided_at: datetime


def judged_sentences(score_set: ScoreSet) -> list[JudgedSentence]:
    """Every independent verdict on a sentence of the p_D set that was not undone, the oldest first. One query.

    A sentence has at most one row for a frame and `second`. It has two rows that are not second where a random or
    stratified sample had it judged although a curator had decided about it in another queue. Left out are decisions
    that resolve a disagreement, because who makes them has seen both verdicts, and the companions of a verdict, which
    hold the same sentence in other pairs.
    A verdict from the queue of another p_D set is reported as chosen: that queue sampled other sentences.
    """
    verdicts = ReviewDecision.objects.filter(undone_at=None, alongside=None, settles=None)
    of_pair = PairScore.objects.filter(score_set=score_set, pair=OuterRef("pair"))
    of_sentence = SentenceScore.objects.filter(score_set=score_set, sentence=OuterRef("sentence"))
    scored = verdicts.filter(pair__dataset=score_set.dataset_id).annotate(
        p_d_of_pair=Subquery(of_pair.values("value")[:1]),
        p_d_of_sentence=Subquery(of_sentence.values("value")[:1]),
    )
    known = Q(p_d_of_pair__isnull=False) | Q(p_d_of_sentence__isnull=False) | Q(score_set=score_set)
    rows = scored.filter(known).select_related("sentence").order_by("decided_at", "pk")
    judged = []
    for row in rows:
        # Decisions from before queues were kept name no set; all of them were of the lowest p_D.
        own = row.score_set_id == score_set.pk or (row.score_set_id is None and row.frame == Frame.LOWEST)
        judged.append(
            JudgedSentence(
                sentence=row.sentence_id,
                pair=row.pair_id,
                text=row.sentence.text,
                p_d=row.p_d_of_sentence if row.p_d_of_pair is None else row.p_d_of_pair,
                kept=row.verdict == ReviewDecision.Verdict.KEEP,
                blind=row.blind,
                frame=row.frame if own else Frame.CHOSEN.value,
                stratum=row.stratum if own else None,
                reviewer=row.reviewer_id,
                human=row.sentence.origin == Sentence.Origin.HUMAN,
                reasons=tuple(row.reasons),
                second=row.second,
                decided_at=row.decided_at,
            )
        )
    return judged
