"""The pipeline of lengths, its estimate, its page and its next step."""

from collections.abc import Sequence

import numpy as np
from django.db.models import QuerySet

from curation.models import Dataset, Pair
from curation.results.estimates import Estimate
from curation.results.reports import Link, Report
from curation.results.tables import Column, Table
from mlworkers.kinds.reader import Reader
from mlworkers.kinds.toy.kinds import LengthPlan
from mlworkers.models import Run
from mlworkers.runs.jobs import Job, Outcome


def measure_length(plan: LengthPlan, job: Job) -> Outcome:
    """Words of a sentence; its interval by 1,000 resamples of the pairs (percentiles)."""
    pairs = _pairs(plan, job.dataset_of(plan.dataset)).order_by("pk").values_list("a__text", "b__text")
    lengths = np.array([(len(a.split()) + len(b.split())) / 2 for a, b in pairs])
    drawn = np.random.default_rng(plan.seed).integers(lengths.size, size=(1_000, lengths.size))
    low, high = np.percentile(lengths[drawn].mean(axis=1), [2.5, 97.5])
    job.report(lengths.size, lengths.size, "Measured")
    result = {"pairs": lengths.size, "mean": lengths.mean(), "low": low, "high": high}
    return Outcome(f"{lengths.mean():.2f} words", {name: float(value) for name, value in result.items()})


def work(plan: LengthPlan, dataset: Dataset) -> int:
    return _pairs(plan, dataset).count()


def _pairs(plan: LengthPlan, dataset: Dataset) -> QuerySet[Pair]:
    pairs = dataset.pairs.filter(status=Pair.Status.ACTIVE)
    return pairs.filter(split=plan.split) if plan.split else pairs


def length_report(run: Run, _reader: Reader) -> Report:
    if "mean" not in run.result:
        return Report("Length of sentences")
    split, found = run.plan["split"] or "all", run.result
    mean = Estimate(found["mean"], found["low"], found["high"], n=int(found["pairs"]))
    page = Table([Column("Split"), Column("Words", form="figure")], [[split, mean]])
    names = ("mean", "low", "high", "pairs")
    file = Table([Column("split"), *map(Column, names)], [[split, *(found[name] for name in names)]])
    finding = f"A sentence has {mean.value:.2f} words in the mean."
    return Report("Length of sentences", data=file, finding=finding, parts=[page])


def next_steps(run: Run, reader: Reader) -> Sequence[Link]:
    return reader.form("measure_length", run.dataset, "Measure another split")
