"""The benchmark whose scores chose what a model was trained on, and the mark that figures on that benchmark carry."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from django.db.models import Q
from django.utils.translation import gettext as _

from curation.models import Dataset, Pair, ScoreSet
from mlworkers.encoders.suites.catalogue import Suite
from mlworkers.paraphrasing.disclosure import STS_BENCHMARK, benchmark_behind, benchmark_of

# The STS benchmark's pairs are chosen from these (Cer et al. 2017, section 8).
_MADE_INTO_STS_BENCHMARK = ("sts12", "sts13", "sts14", "sts15", "sts16")


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
    """Of published test suites by what people call them, their names, as `benchmark_notes` takes them."""
    return {suite.label: [suite.name, suite.label] for suite in suites}


def benchmarks_joined(*benchmarks: str) -> str:
    """The names of benchmarks in several such texts, each once."""
    return ", ".join(dict.fromkeys(name for text in benchmarks for name in text.split(", ") if name))


def notes_of_model(folder: Path, tested: Mapping[str, Iterable[str]]) -> list[str]:
    """`benchmark_notes` by what the folder of a model says of its training."""
    return benchmark_notes(benchmark_behind(folder), tested)


def benchmark_notes(benchmark: str, tested: Mapping[str, Iterable[str]]) -> list[str]:
    """A sentence for each test that is of a benchmark whose scores chose training data (ConPGS does so with STS-B).

    benchmark: of the training. tested: of each test its names, by what people call it.
    """
    known = [name for name in benchmark.split(", ") if name]
    notes = []
    for label, given in tested.items():
        names = [str(name) for name in given]
        of = benchmark_of("", names)
        if STS_BENCHMARK in known and set(names) & set(_MADE_INTO_STS_BENCHMARK):
            of = STS_BENCHMARK
        if not of:
            of = next((one for one in known if one.casefold() in {name.casefold() for name in names}), "")
        if of in known:
            sentence = _(
                "%(test)s: training examples were chosen by a labeller that learned from %(benchmark)s, and these test "
                "pairs are of %(benchmark)s or among those that it was made from. The figures favour the paraphrases; "
                "say so where you cite them."
            )
            notes.append(sentence % {"test": label, "benchmark": of})
    return notes
