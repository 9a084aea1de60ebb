"""What a run's bookkeeping costs the work: our reports against a row written at every report.

The baseline is what progress libraries do: each report updates the run's row and waits for the database.
"""

from pathlib import Path
from time import perf_counter

from _compare import alternate, is_quick, print_comparison, rates_compared
from _installation import HOME
from _pairs import pairs_file
from django.utils import timezone

from curation.exchange.exporting import pairs_export
from curation.exchange.importing import pairs_import
from curation.models import Dataset
from mlworkers.models import Run
from mlworkers.runs.lifecycle import Claim, run_beat, run_claim
from mlworkers.runs.reporting import Reporter
from mlworkers.runs.services import run_start
from mlworkers.runs.storage import RunLog
from mlworkers.tasks import execute

BASELINE = "the run's row updated at every report"
MESSAGE = "Counting"


def claimed() -> Claim:
    run = Run.objects.create(kind="export_dataset")
    claim = run_claim(run_id=run.pk, worker="benchmark", at=timezone.now())
    assert claim is not None
    return claim


def reported(count: int) -> None:
    claim = claimed()
    report = Reporter(claim, RunLog(claim.run_id))
    with report.heartbeat():
        for number in range(count):
            report(number, count, MESSAGE)


def written(count: int) -> None:
    claim = claimed()
    for number in range(count):
        run_beat(claim=claim, at=timezone.now(), done=number, total=count, message=MESSAGE)


def export_compared(count: int) -> str:
    """The same export as a run, from its claim to its file's checksum, and called by itself."""
    home = Path(HOME)
    dataset = Dataset.objects.create(slug="benchmark", name="Benchmark")
    pairs_import(dataset=dataset, path=pairs_file(home / "pairs.csv", count, seed=1))
    run = run_start(kind="export_dataset", plan={"dataset": dataset.slug}, by=None)

    began = perf_counter()
    pairs_export(dataset=dataset, path=home / "alone.csv", format="csv")
    alone = perf_counter() - began
    began = perf_counter()
    execute(run.pk)
    as_run = perf_counter() - began

    run.refresh_from_db()
    assert run.state == Run.State.SUCCEEDED, run.message
    return f"an export of {count} pairs takes {alone:.2f} s alone and {as_run:.2f} s as a run"


def main() -> None:
    reports, pairs, rounds = (500, 2_000, 2) if is_quick(__doc__) else (2_000, 20_000, 3)
    seconds, baseline_seconds = alternate(lambda: reported(reports), lambda: written(reports), rounds=rounds)
    print_comparison(
        rates_compared(
            "run_overhead",
            work=reports,
            unit="reports/s",
            seconds=seconds,
            baseline=BASELINE,
            baseline_seconds=baseline_seconds,
            notes=f"{reports} reports on SQLite, claim and last heartbeat included; {export_compared(pairs)}",
        )
    )


if __name__ == "__main__":
    main()
