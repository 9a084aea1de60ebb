"""Published test suites in runs: their files in SUITES_FOLDER, and their figures as rows and as results."""

from collections.abc import Container, Iterable, Sequence
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError, errors_shown
from curation.models import Dataset
from mlworkers.models import Evaluation
from mlworkers.runs.jobs import Job
from mlworkers.science.encoders.ceiling import Ceiling, ceiling_of
from mlworkers.science.encoders.suites.catalogue import Read, Suite, suite_named
from mlworkers.science.encoders.suites.figures import Figure, figure_as_json

PROBE = "probe"


def suites_read(names: Iterable[str]) -> list[tuple[Suite, Read]]:
    """The suites of those names from their folders. Raises UserError with one sentence about the first wrong one."""
    with errors_shown():
        return [(suite, suite.read(settings.SUITES_FOLDER / suite.name)) for suite in map(suite_named, names)]


def suites_of_run(job: Job, names: Iterable[str]) -> list[tuple[Suite, Read]]:
    """The suites, which every worker of the run reads from a folder of its machine.

    Raises UserError where the files are not those that the first worker read: all figures are of the same pairs.
    """
    suites = suites_read(names)
    files = suite_files(suites)
    first = job.drawn_once("suites.json", lambda: {"files": files})["files"]
    other = next((one["file"] for one in files if one not in first), None)
    if other is not None:
        raise UserError(
            _(
                "%(file)s is another file here than the one with which the run began; give all workers the same files."
            ),
            file=other,
        )
    return suites


def seen_before(read: Read, trained: Container[str]) -> int:
    """How many test pairs hold a sentence that the encoder was trained on. They are measured all the same."""
    pairs = zip(read.test.first, read.test.second, strict=True)
    return sum(first in trained or second in trained for first, second in pairs)


def evaluation_of(figure: Figure, **shared: Any) -> Evaluation:
    """The row of a figure. shared: what it says of the model."""
    told = figure_as_json(figure)
    part = " ".join(filter(None, (PROBE if figure.by == PROBE else "", figure.part)))
    return Evaluation(
        suite=figure.suite,
        part=part[:100],
        metric=told["metric"],
        value=told["value"],
        low=told["low"],
        high=told["high"],
        n=told["n"],
        **shared,
    )


def suite_results(figures: Sequence[Figure]) -> dict[str, dict[str, Any]]:
    """The figures and the thresholds of a result, by suite, part and metric."""
    told = {}
    for figure in figures:
        probe = PROBE if figure.by == PROBE else ""
        name = ", ".join(filter(None, (figure.suite, probe, figure.part, figure.measured.metric.value)))
        told[name] = figure_as_json(figure)
    thresholds = {name: one["threshold"] for name, one in told.items() if one["threshold"] is not None}
    named = {
        name: {"value": one["value"], "low": one["low"], "high": one["high"], "n": one["n"]}
        for name, one in told.items()
    }
    return {"suites": named, **({"thresholds": thresholds} if thresholds else {})}


def suite_files(suites: Sequence[tuple[Suite, Read]]) -> list[dict[str, str]]:
    """The SHA-256 of every file that was read."""
    return [
        {"suite": suite.name, "file": name, "sha256": digest}
        for suite, read in suites
        for name, digest in read.files
    ]


def ceiling_in(dataset: Dataset, score_set: str) -> Ceiling | None:
    """The ceiling of correlations with that score set; None where its reliability is not known."""
    scores = dataset.score_sets.filter(name=score_set).first()
    return None if scores is None else ceiling_of(scores.parameters or {}, method=scores.method)


def ceiling_results(ceiling: Ceiling | None) -> dict[str, Any]:
    """The ceiling, for a result; nothing where there is none."""
    if ceiling is None:
        return {}
    return {
        "ceiling": ceiling.value,
        "ceiling_low": ceiling.low,
        "ceiling_high": ceiling.high,
        "ceiling_source": ceiling.source,
    }
