"""Simulated curators, marked as such, who review machine-written sentences through the verbs of the review page.

They know the grammar: a sentence that it cannot write is rejected, one that says the same part twice for repetition.
Now and then they slip, as people do.
"""

from datetime import datetime, timedelta
from uuid import UUID

import numpy as np

from curation.files.progress import Report
from curation.models import ReviewDecision, ScoreSet, User
from curation.review.queue import Queue
from curation.review.verdicts import Reason, review_decide, review_next
from semblance.demo.plan import DemoPlan
from semblance.demo.scenes import scene_of

SECONDS_EACH = 6.0  # a plausible time for one sentence
Verdict = ReviewDecision.Verdict


def pairs_review(plan: DemoPlan, p_d: ScoreSet, *, curators: list[User], at: datetime, report: Report) -> int:
    """Review the generated pairs of the lowest p_D, the curators in turn. Returns the number of verdicts given."""
    queue = Queue(p_d, share=plan.reviewed_share)
    rng = np.random.default_rng([plan.seed, 2])
    reviewed = 0
    while True:
        curator = curators[reviewed % len(curators)]
        offered = review_next(queue=queue, reviewer=curator, at=at, count=1)
        if not offered:
            return reviewed
        at += timedelta(seconds=SECONDS_EACH)
        reasons = reasons_against(offered[0].pair.b.text)
        if rng.uniform() < plan.reviewer_slips:
            reasons = [] if reasons else [Reason.OTHER]
        review_decide(
            pair=offered[0].pair,
            verdict=Verdict.REJECT if reasons else Verdict.KEEP,
            client_id=UUID(bytes=rng.bytes(16), version=4),
            by=curator,
            at=at,
            reasons=reasons,
            score_set=p_d,
        )
        reviewed += 1
        report(reviewed, 0, "")


def reasons_against(text: str) -> list[str]:
    """Why a sentence is no sentence of the scenes; nothing where it is one."""
    if scene_of(text) is not None:
        return []
    words = text.lower().rstrip(".").replace(",", "").split()
    runs = list(zip(words, words[1:], words[2:], strict=False))
    return [Reason.REPETITION if len(set(runs)) < len(runs) else Reason.GRAMMAR]
