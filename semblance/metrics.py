"""`/metrics` in Prometheus' text form: figures of the database at the moment of the question, and times of requests.

What the database says is the same from every process, and does not start again when one does. Only requests are counted
by the processes themselves (`request_times`).
"""

import hmac
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db.models import Count, Min
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.timezone import now
from django.views.decorators.http import require_GET
from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from annotation.models import Campaign, Judgement, Lease
from curation.models import Pair
from mlworkers.models import BeatHeartbeat, Run
from mlworkers.plans.kinds import QUEUES
from mlworkers.runs.durations import (
    Durations,
    run_durations,
    seconds_without_progress,
    task_durations,
)
from mlworkers.runs.selectors import live_workers, workers_serving
from semblance.health import CHECKS, problems
from semblance.request_times import counted_by_all

UNDERWAY = (Run.State.QUEUED, Run.State.RUNNING)


class Installation(Collector):
    """What is asked of the database for one answer. No figure names a person, a dataset or a sentence."""

    def collect(self) -> Iterable[Metric]:
        runs = GaugeMetricFamily("semblance_runs", "runs, by queue and state", labels=["queue", "state"])
        for queue, state, number in (
            Run.objects.order_by().values_list("queue", "state").annotate(Count("pk"))
        ):
            runs.add_metric([queue, state], number)
        yield runs
        waiting = Run.objects.filter(state=Run.State.QUEUED).aggregate(since=Min("created_at"))["since"]
        oldest = GaugeMetricFamily(
            "semblance_oldest_queued_seconds", "how long the oldest queued run has waited"
        )
        oldest.add_metric([], (now() - waiting).total_seconds() if waiting else 0)
        yield oldest

        at = now()
        yield _histogram(
            "semblance_run_seconds",
            "from the first claim of a run to its end, by kind and state, of all runs that the database has",
            ["kind", "state"],
            run_durations(),
        )
        yield _histogram(
            "semblance_task_seconds",
            "what live workers have carried out since they started, by worker and task",
            ["worker", "task"],
            task_durations(live_workers(at)),
        )
        yield _by(
            "semblance_run_without_progress_seconds",
            "for how long the run of a kind that stands still longest has said nothing new",
            "kind",
            seconds_without_progress(at),
        )

        age = GaugeMetricFamily(
            "semblance_beat_age_seconds", "since beat's last heartbeat; absent: none ever came"
        )
        for beat in BeatHeartbeat.objects.all():
            age.add_metric([], max(0.0, (now() - beat.seen_at).total_seconds()))
        yield age
        yield from _judging()
        at = now()
        serving = {queue: len(workers_serving(queue, at)) for queue in QUEUES}
        yield _by("semblance_workers", "workers that take work, by queue", "queue", serving)
        draining = GaugeMetricFamily("semblance_workers_drained", "live workers that are drained")
        draining.add_metric([], sum(worker.drain_at is not None for worker in live_workers(now())))
        yield draining
        found = problems()
        named = {check: int(check in found) for check in CHECKS}
        yield _by("semblance_problem", "1 where /healthz names the problem", "check", named)
        pairs = GaugeMetricFamily("semblance_pairs", "active pairs")
        pairs.add_metric([], Pair.objects.filter(status=Pair.Status.ACTIVE).count())
        free = GaugeMetricFamily("semblance_disk_free_bytes", "free bytes under SEMBLANCE_HOME")
        free.add_metric([], shutil.disk_usage(settings.SEMBLANCE_HOME).free)
        yield from (pairs, free)


def _judging() -> Iterator[Metric]:
    judgements = CounterMetricFamily("semblance_judgements", "judgements that are stored", labels=["status"])
    for status, number in Judgement.objects.order_by().values_list("status").annotate(Count("pk")):
        judgements.add_metric([status], number)
    yield judgements
    states = Campaign.objects.order_by().values_list("state").annotate(Count("pk"))
    yield _by("semblance_campaigns", "campaigns, by state", "state", dict(states))
    leases = GaugeMetricFamily("semblance_leases", "tuples that are on somebody's screen or fetched ahead")
    leases.add_metric([], Lease.objects.filter(state=Lease.State.LIVE, expires_at__gt=now()).count())
    yield leases


def _histogram(
    name: str, about: str, labels: Sequence[str], figures: Mapping[tuple[str, str], Durations]
) -> Metric:
    metric = HistogramMetricFamily(name, about, labels=labels)
    for values, figure in figures.items():
        limits = [*(str(limit) for limit in figure.limits), "+Inf"]
        metric.add_metric(list(values), list(zip(limits, figure.buckets, strict=True)), figure.seconds)
    return metric


def _by(name: str, about: str, label: str, figures: Mapping[str, float]) -> Metric:
    metric = GaugeMetricFamily(name, about, labels=[label])
    for value, figure in figures.items():
        metric.add_metric([value], figure)
    return metric


@login_not_required
@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    """For the program that has METRICS_TOKEN; without that setting there is nothing at the address."""
    sent = request.headers.get("Authorization", "").encode(errors="replace")
    if not settings.METRICS_TOKEN:
        raise Http404
    if not hmac.compare_digest(sent, f"Bearer {settings.METRICS_TOKEN}".encode()):
        return HttpResponse("Send METRICS_TOKEN as a bearer token.\n", status=401, content_type="text/plain")
    registry = CollectorRegistry(auto_describe=False)
    registry.register(Installation())
    said = generate_latest(registry) + generate_latest(counted_by_all())
    return HttpResponse(said, content_type=CONTENT_TYPE_LATEST)
