"""The benchmark whose scores chose what a model was trained on, and the mark that figures on that benchmark carry."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from django.db.models import Q
from django.utils.translation import gettext as _

from curation.models import Dataset, Pair, ScoreSet
from mlworkers.science.encoders.suites.catalogue import Suite
from mlworkers.science.paraphrasing.disclosure import (
    MADE_INTO_STS_BENCHMARK,
    STS_BENCHMARK,
    benchmark_behind,
    benchmark_of,
    benchmarks_in,
    benchmarks_joined,
)


def benchmark_of_training(dataset: Dataset, score_sets: Iterable[str], *, base: Path) -> str:
    """The benchmarks that chose training data out of a dataset: behind score sets that the plan names, behind the runs
    that wrote its generated pairs, and behind the base model; "" for none.
    """
    runs = dataset.pairs.filter(origin=Pair.Origin.GENERATED).order_by().values_list("run_ref").distinct()
    sets = ScoreSet.objects.filter(Q(name__in=list(score_sets)) | Q(run_ref__in=runs), dataset=dataset)
    told = [str((one or {}).get("labels_from", "")) for one in sets.values_list("parameters", flat=True)]
    return benchmarks_joined(*told, benchmark_behind(base))


def dataset_names(dataset: Dataset) -> list[str]:
    """What may say of which benchmark a dataset's pairs are: its names, and the sources of its pairs."""
    sources = dataset.pairs.order_by().values_list("source", flat=True).distinct()
    return [dataset.slug, dataset.name, *sources]


def suite_names_of(suites: Iterable[Suite]) -> dict[str, list[str]]:
    """Of published test suites by what people call them, their names, as `disclosure` takes them."""
    return {suite.label: [suite.name, suite.label] for suite in suites}


@dataclass(frozen=True)
class Disclosure:
    """Which benchmarks chose training data and are tested, and a sentence for each of them and each test."""

    benchmarks: str
    notes: list[str]

    @property
    def result(self) -> dict[str, str]:
        """What a run's result says; pages mark the run by it."""
        return {"labels_from": self.benchmarks} if self.benchmarks else {}


def disclosure_of_model(folder: Path, tested: Mapping[str, Iterable[str]]) -> Disclosure:
    """`disclosure` by what the folder of a model says of its training."""
    return disclosure(benchmark_behind(folder), tested)


def disclosure(benchmark: str, tested: Mapping[str, Iterable[str]]) -> Disclosure:
    """What must be said where a benchmark whose scores chose training data is tested (ConPGS does so with STS-B).

    benchmark: of the training. tested: of each test its names, by what people call it.
    """
    found, notes = [], []
    for label, given in tested.items():
        names = [str(name) for name in given]
        of = {name.casefold() for name in (*benchmarks_in(benchmark_of("", names)), *names)}
        for known in benchmarks_in(benchmark):
            sharing = {known}  # a test of a benchmark that shares pairs with it counts too
            if known == STS_BENCHMARK:
                sharing.update(MADE_INTO_STS_BENCHMARK)
            elif known in MADE_INTO_STS_BENCHMARK:
                sharing.add(STS_BENCHMARK)
            if of.isdisjoint(name.casefold() for name in sharing):
                continue
            found.append(known)
            sentence = _(
                "%(test)s: training examples were chosen by a scorer that learned from %(benchmark)s, and "
                "these test pairs are of %(benchmark)s or share pairs with it. The figures favour the "
                "paraphrases; say so where you cite them."
            )
            notes.append(sentence % {"test": label, "benchmark": known})
    return Disclosure(benchmarks_joined(*found), notes)
