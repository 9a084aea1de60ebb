"""What waits for a person on the home page: questions, campaigns, sentences, runs; or the ways to begin."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from annotation.campaigns.selectors import campaigns_in, campaigns_of
from annotation.models import Campaign
from annotation.results.stages import Stage, stage_of_row, with_stage_facts
from curation.models import Dataset, ScoreSet, User
from curation.people.access import datasets_curated, datasets_may_create, datasets_readable
from curation.review.queue import waiting_by_set
from mlworkers.access import runs_visible
from mlworkers.runs.selectors import run_rows, runs_recent

MOST_SHOWN = 5
RECENT = timedelta(days=7)


@dataclass(frozen=True)
class Waiting:
    """annotate: open campaigns with questions that the person may answer.
    campaigns: those that the person curates, each with its stage, until its scores are published.
    review: score sets of p_D, each with the number of sentences that wait.
    datasets: the newest that the person may read and that are not archived.
    runs: rows of runs under way, or ended within RECENT, newest first.
    begins: whether there is no dataset yet that the person may read.
    may_create: whether the person may create one.
    """

    annotate: Sequence[Any]
    campaigns: Sequence[tuple[Any, Stage]]
    review: Sequence[tuple[ScoreSet, int]]
    runs: Sequence[Any]
    datasets: Sequence[Dataset]
    begins: bool
    may_create: bool

    @property
    def nothing(self) -> bool:
        return not (self.annotate or self.campaigns or self.review or self.runs)


def waiting_for(user: User, *, at: datetime) -> Waiting:
    """A fixed number of queries, however many datasets there are."""
    readable, curated = datasets_readable(user), datasets_curated(user)
    open_for: Any = campaigns_of(user)
    annotate = [
        campaign
        for campaign in open_for
        if campaign.state == Campaign.State.OPEN and campaign.left and not campaign.stopped
    ]
    looked_at = with_stage_facts(campaigns_in(curated))
    staged = [(campaign, stage_of_row(campaign)) for campaign in looked_at[: 4 * MOST_SHOWN]]
    counts = waiting_by_set(curated)
    sets = ScoreSet.objects.filter(pk__in=counts).select_related("dataset").order_by("dataset__name", "-pk")
    runs = runs_recent(runs_visible(user).filter(started_by=user), at - RECENT)
    return Waiting(
        annotate=annotate[:MOST_SHOWN],
        campaigns=[row for row in staged if row[1] != Stage.EXPORT][:MOST_SHOWN],
        review=[(score_set, counts[score_set.pk]) for score_set in sets[:MOST_SHOWN]],
        runs=run_rows(runs[:MOST_SHOWN], at),
        datasets=(datasets := list(readable.filter(archived=False).order_by("-pk")[:MOST_SHOWN])),
        begins=not datasets and not readable.exists(),
        may_create=datasets_may_create(user),
    )
