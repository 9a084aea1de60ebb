"""Datasets, pairs and scores: the ground that annotation and mlworkers share.

A sentence's text never changes, a score keeps the scale it was given on, and whatever a higher app owns is a plain
reference (`campaign_ref`, `run_ref`), never a foreign key. Rules about data are named constraints.
"""

from curation.models.accounts import ApiToken, BrowserSession, PasswordTries, SecondFactor, User
from curation.models.audit import Appended, AuditEntry, PairChange
from curation.models.composing import ComposedPair, Composition, PooledSentence
from curation.models.datasets import Dataset
from curation.models.duplicates import DuplicateFound, DuplicateSearch
from curation.models.imports import ImportBatch, UploadDay
from curation.models.jobs import Job
from curation.models.machine_judges import MachineJudge, MachineJudgement, TupleBlock
from curation.models.mail import Mail
from curation.models.members import Invitation, InvitationBar, Membership
from curation.models.outgoing import Outgoing
from curation.models.pairs import Pair, Sentence
from curation.models.review import ReviewClaim, ReviewDecision
from curation.models.scores import PairScore, ScoreSet, SentenceScore, mark_shown
from curation.models.snapshots import Snapshot
from curation.models.splits import SplitBefore, SplitChange
from curation.models.webhooks import Webhook, WebhookDelivery, message_id_new

__all__ = [
    "ApiToken",
    "Appended",
    "AuditEntry",
    "BrowserSession",
    "ComposedPair",
    "Composition",
    "Dataset",
    "DuplicateFound",
    "DuplicateSearch",
    "ImportBatch",
    "Invitation",
    "InvitationBar",
    "Job",
    "MachineJudge",
    "MachineJudgement",
    "Mail",
    "Membership",
    "Outgoing",
    "Pair",
    "PairChange",
    "PairScore",
    "PasswordTries",
    "PooledSentence",
    "ReviewClaim",
    "ReviewDecision",
    "ScoreSet",
    "SecondFactor",
    "Sentence",
    "SentenceScore",
    "Snapshot",
    "SplitBefore",
    "SplitChange",
    "TupleBlock",
    "UploadDay",
    "User",
    "Webhook",
    "WebhookDelivery",
    "mark_shown",
    "message_id_new",
]
