"""The workers that were heard of lately, each with its state and what it carries out now.

What a worker carries out, it wrote with its last heartbeat, seconds ago. Of runs, their own rows say it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from django.db.models import F, TextChoices
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Campaign, CampaignWork
from curation.exchange.duplicate_searches import SEARCH
from curation.foundation.errors import UserError
from curation.foundation.heartbeats import alive, is_stuck
from curation.models import DuplicateSearch, ImportBatch
from curation.people.mail.waiting import SEND
from curation.people.webhooks.waiting import DELIVER
from mlworkers.models import Run, RunShard, WorkerHeartbeat
from mlworkers.plans.kinds import KINDS
from mlworkers.runs.invitations import ASSIST, EXECUTE
from mlworkers.runs.selectors import live_workers, started_workers

OTHER_TASKS = {
    DELIVER: gettext_lazy("sends what webhooks wait for"),
    SEND: gettext_lazy("sends e-mails"),
    # For a moment, until the run's row names the worker, or after it does no longer.
    EXECUTE: gettext_lazy("begins or ends a run"),
    ASSIST: gettext_lazy("begins or ends its part of a run"),
}


class WorkerState(TextChoices):
    WORKING = "working", gettext_lazy("working")
    IDLE = "idle", gettext_lazy("idle")
    DRAINING = "draining", gettext_lazy("draining")
    DRAINED = "drained", gettext_lazy("drained")
    SILENT = "silent", gettext_lazy("not heard of")


TONES = {
    WorkerState.WORKING: "accent",
    WorkerState.DRAINING: "doubtful",
    WorkerState.DRAINED: "good",
    WorkerState.SILENT: "wrong",
}


class Doing(NamedTuple):
    """Something that a worker carries out. address: of its page, "" where it has none; seconds: since when; stuck:
    whether it has reported nothing new for a long time.
    """

    words: str
    address: str = ""
    seconds: int | None = None
    stuck: bool = False


Numbered = Iterator[tuple[int, Doing]]


@dataclass(frozen=True)
class WorkerRow:
    worker: WorkerHeartbeat
    state: WorkerState
    doing: list[Doing]

    @property
    def device(self) -> str:
        """Its name, and how many there are where that is more than one."""
        worker = self.worker
        return f"{worker.devices} × {worker.device}" if worker.devices > 1 else worker.device

    @property
    def tone(self) -> str:
        return TONES.get(self.state, "")

    @property
    def may_drain(self) -> bool:
        return self.state in (WorkerState.WORKING, WorkerState.IDLE)

    @property
    def may_undrain(self) -> bool:
        return self.state in (WorkerState.DRAINING, WorkerState.DRAINED)


def worker_rows(at: datetime) -> list[WorkerRow]:
    """The workers that live, by name; then those that fell silent, which are forgotten after a day."""
    live = live_workers(at)
    silent = started_workers().exclude(pk__in=[worker.pk for worker in live]).order_by("name")
    tasks = [task for worker in live for task in worker.work]

    # By the name of the worker: the runs that it holds, and those that it assists with.
    found: dict[str, list[Doing]] = {}
    held = Run.objects.filter(alive(at), state=Run.State.RUNNING).order_by("pk")
    for run in held:
        seconds = round((at - run.claimed_at).total_seconds()) if run.claimed_at else None
        found.setdefault(run.worker, []).append(
            Doing(_run_named(run), _address_of(run), seconds, is_stuck(run, at))
        )
    shards = RunShard.objects.filter(alive(at), state=RunShard.State.RUNNING, run__state=Run.State.RUNNING)
    for shard in shards.exclude(worker=F("run__worker")).select_related("run").order_by("pk"):
        words = _("assists with %(run)s") % {"run": _run_named(shard.run)}
        found.setdefault(shard.worker, []).append(Doing(words, _address_of(shard.run)))
    # Tasks that are about a campaign or a dataset, by their name and number: a query for each name at most.
    numbers: dict[str, set[int]] = {}
    for task in tasks:
        if task["about"] is not None:
            numbers.setdefault(task["task"], set()).add(task["about"])
    named: dict[tuple[str, int | None], Doing] = {}
    for task_name, doings in NAMED.items():
        if task_name in numbers:
            named |= {(task_name, number): doing for number, doing in doings(numbers[task_name], at)}

    rows = []
    for worker in live:
        runs = found.get(worker.hostname, [])
        doing = list(runs)
        for task in worker.work:
            name = task["task"]
            if name in (EXECUTE, ASSIST) and runs:
                continue  # named by the rows above
            other = OTHER_TASKS.get(name, _("looks for waiting work"))
            known = named.get((name, task["about"])) or Doing(str(other))
            doing.append(known._replace(seconds=task["seconds"]))
        rows.append(WorkerRow(worker, state_of(worker), doing))
    return [*rows, *(WorkerRow(worker, WorkerState.SILENT, []) for worker in silent)]


def state_of(worker: WorkerHeartbeat) -> WorkerState:
    """Of a worker that lives. It is drained once it has said that it reads no queue and has no work."""
    if worker.drain_at is not None:
        return WorkerState.DRAINED if worker.is_closed and not worker.work else WorkerState.DRAINING
    return WorkerState.WORKING if worker.work else WorkerState.IDLE


def workers_named(names: Iterable[str], at: datetime) -> list[WorkerHeartbeat]:
    """The live workers of these names, with or without the number of the process.

    Raises UserError for a name that none has.
    """
    live = live_workers(at)
    found: dict[int, WorkerHeartbeat] = {}
    for name in names:
        those = [worker for worker in live if name in (worker.name, worker.hostname)]
        if not those:
            raise UserError(_("There is no live worker “%(name)s”. See semblance workers."), name=name)
        found |= {worker.pk: worker for worker in those}
    return list(found.values())


def _run_named(run: Run) -> str:
    kind = KINDS.get(run.kind)
    return _("run %(number)s, %(kind)s") % {"number": run.pk, "kind": kind.label if kind else run.kind}


def _address_of(run: Run) -> str:
    """What people ask of a model for a moment has a page for them alone."""
    kind = KINDS.get(run.kind)
    return reverse("mlworkers:run_detail", args=[run.pk]) if kind is None or kind.listed else ""


def _designs(numbers: Collection[int], at: datetime) -> Numbered:
    for campaign in Campaign.objects.filter(pk__in=numbers).select_related("design_work"):
        words = _("designs tuples of the campaign “%(name)s”") % {"name": campaign.name}
        address = reverse("annotation:campaign", args=[campaign.pk])
        stuck = hasattr(campaign, "design_work") and is_stuck(campaign.design_work, at)
        yield campaign.pk, Doing(words, address, stuck=stuck)


def _works(numbers: Collection[int], at: datetime) -> Numbered:
    for work in CampaignWork.objects.filter(pk__in=numbers).select_related("campaign"):
        about = {"name": work.campaign.name, "work": work.get_kind_display()}
        words = _("campaign “%(name)s”: %(work)s") % about
        address = reverse("annotation:campaign", args=[work.campaign_id])
        yield work.pk, Doing(words, address, stuck=is_stuck(work, at))


def _imports(numbers: Collection[int], at: datetime) -> Numbered:
    for batch in ImportBatch.objects.filter(pk__in=numbers).select_related("dataset"):
        words = _("imports judgements into “%(name)s”") % {"name": batch.dataset.name}
        address = reverse("annotation:judgement_import", args=[batch.dataset.slug, batch.pk])
        yield batch.pk, Doing(words, address, stuck=is_stuck(batch, at))


def _searches(numbers: Collection[int], at: datetime) -> Numbered:
    for search in DuplicateSearch.objects.filter(pk__in=numbers).select_related("dataset"):
        words = _("searches for duplicates in “%(name)s”") % {"name": search.dataset.name}
        address = reverse("curation:duplicates", args=[search.dataset.slug])
        yield search.pk, Doing(words, address, stuck=is_stuck(search, at))


NAMED: dict[str, Callable[[Collection[int], datetime], Numbered]] = {
    "annotation.design": _designs,
    "annotation.work": _works,
    "annotation.judgements_import": _imports,
    SEARCH: _searches,
}
