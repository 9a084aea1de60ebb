"""Campaigns of Best-Worst judgements.

A campaign shows tuples of pairs to people. Which judgements of a tuple count is decided in one place,
`settling.tuples_settle`; the counters on `Tuple` follow from it in the same transaction.

A foreign key that leads a unique constraint or an index has no second index (`db_index=False`): these
rows are written many times a second.
"""

from annotation.models.campaigns import (
    CAMPAIGN_SETTINGS,
    MOST_PAIRS_IN_TUPLE,
    REPEATS_AT_MOST_EVERY,
    Campaign,
    Guideline,
    QuizQuestion,
    TuplePhase,
)
from annotation.models.crowds import Crowd, CrowdAnswers, CrowdConsent, CrowdPerson, CrowdSubmission
from annotation.models.judgements import Flag, Judgement, JudgementRevision, Lease
from annotation.models.norming import (
    NormingComment,
    NormingItem,
    NormingJudgement,
    NormingSession,
    NormingTuple,
)
from annotation.models.participation import Participation, QuizResult, Sitting
from annotation.models.ratings import PairRating, SliderArm, SliderPair
from annotation.models.tuples import GoldAnswer, Tuple, TupleItem, TupleItemQuerySet, TupleQuerySet
from annotation.models.works import CampaignDesign, CampaignStudy, CampaignWork

__all__ = [
    "CAMPAIGN_SETTINGS",
    "MOST_PAIRS_IN_TUPLE",
    "REPEATS_AT_MOST_EVERY",
    "Campaign",
    "CampaignDesign",
    "CampaignStudy",
    "CampaignWork",
    "Crowd",
    "CrowdAnswers",
    "CrowdConsent",
    "CrowdPerson",
    "CrowdSubmission",
    "Flag",
    "GoldAnswer",
    "Guideline",
    "Judgement",
    "JudgementRevision",
    "Lease",
    "NormingComment",
    "NormingItem",
    "NormingJudgement",
    "NormingSession",
    "NormingTuple",
    "PairRating",
    "Participation",
    "QuizQuestion",
    "QuizResult",
    "Sitting",
    "SliderArm",
    "SliderPair",
    "Tuple",
    "TupleItem",
    "TupleItemQuerySet",
    "TuplePhase",
    "TupleQuerySet",
]
