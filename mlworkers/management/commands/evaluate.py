"""`semblance evaluate`: an encoder's cosines against human scores or labels. Needs no database."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from django.db import DatabaseError
from django.utils.translation import gettext as _
from rich.console import Console
from rich.progress import Progress

from curation.files.drafts import column_option
from curation.files.parsing import Columns
from curation.files.progress import Report
from curation.foundation.command import Command as BaseCommand
from curation.foundation.command import no_header_argument, reading_arguments, reading_given, seed_argument
from curation.foundation.errors import errors_shown
from curation.statistics.correlation import Scores
from curation.statistics.intervals import Interval
from mlworkers.pipelines.disclosure import disclosure_of_model, suite_names_of
from mlworkers.science.encoders.evaluation import (
    Agreement,
    Classification,
    measure_agreement,
    measure_classification,
)
from mlworkers.science.encoders.plan import check_resamples
from mlworkers.science.encoders.scored_pairs import JudgedPairs, read_judged_pairs
from mlworkers.science.encoders.seen import Seen
from mlworkers.science.encoders.suites.catalogue import SUITES, Suite, suite_named
from mlworkers.science.encoders.suites.figures import (
    METRIC_NAMES,
    Figure,
    enough,
    figure_as_json,
    years_figures,
)
from mlworkers.science.pretrained.sources import Kind, ModelError, unavailable

try:
    from mlworkers.pipelines.models import folder_of_model
    from mlworkers.pipelines.seen import seen_by_model
    from mlworkers.science.encoders.encoding import EncoderError, pair_cosines, sentence_vectors
    from mlworkers.science.encoders.suites.evaluating import suite_evaluated
    from mlworkers.science.pretrained.compute import ComputeError, choose_compute
    from mlworkers.science.pretrained.encoder import load_encoder
except ModuleNotFoundError as error:  # an installation for the web alone still prints the help
    MISSING = error.name or ""
else:
    MISSING = ""


class Command(BaseCommand):
    help = "Evaluate a sentence encoder against human scores or human labels."

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = ", ".join(kind for kind in Kind if kind is not Kind.ENDPOINT)
        parser.add_argument("model", help=f"The encoder: {kinds}.")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--pairs", type=Path, metavar="FILE", help="A file of scored or labelled pairs.")
        what.add_argument(
            "--suite",
            action="append",
            metavar="NAME=PATH",
            help=f"A published test suite in a folder, or its test file, once for each: {', '.join(SUITES)}.",
        )
        reading_arguments(parser)
        parser.add_argument("--a", metavar="COL", help="The first sentence.")
        parser.add_argument("--b", metavar="COL", help="The second sentence.")
        parser.add_argument(
            "--pair",
            metavar="COL",
            help="One column with both sentences. A column Text whose cells hold two is recognised.",
        )
        target = parser.add_mutually_exclusive_group()
        target.add_argument("--score", metavar="COL", help="The score.")
        target.add_argument("--label", metavar="COL", help="Human labels, 0 or 1, with --dev.")
        no_header_argument(parser)
        parser.add_argument(
            "--dev", type=Path, metavar="FILE", help="Labelled pairs on which thresholds are tuned."
        )
        parser.add_argument(
            "--bootstrap",
            type=int,
            default=1000,
            metavar="N",
            help="Resamples for intervals, or 0 for none. Default: %(default)s.",
        )
        parser.add_argument(
            "--precision",
            choices=("float32", "int8"),
            default="float32",
            help="int8 is faster on a processor and less exact. Default: %(default)s.",
        )
        seed_argument(parser)

    def handle(
        self, *, model: str, pairs: Path | None, suite: list[str] | None, dev: Path | None, **options: Any
    ) -> None:
        if MISSING:
            self.fail(
                _("Evaluating needs the package %(name)s; install Semblance with the extra ml.")
                % {"name": MISSING}
            )
        with errors_shown():
            check_resamples(options["bootstrap"])
        if options["seed"] < 0:
            self.fail(_("The seed %(seed)s is negative; give 0 or more.") % {"seed": options["seed"]})
        if options["label"] and dev is None:
            self.fail(_("--label needs --dev FILE, other labelled pairs on which thresholds are tuned."))
        if dev and not options["label"]:
            self.fail(_("--dev is for labels; name their column with --label."))
        if suite:
            self._evaluate_suites(model, suite, options)
        elif pairs:
            self._evaluate_pairs(model, pairs, dev, options)

    def _evaluate_suites(self, model: str, named: list[str], options: dict[str, Any]) -> None:
        started = perf_counter()
        given = [
            name
            for name in ("a", "b", "pair", "score", "label", "no_header", "delimiter", "encoding")
            if options[name]
        ]
        if given:
            self.fail(
                _("A suite knows its columns; leave out %(options)s.")
                % {"options": ", ".join(f"--{name.replace('_', '-')}" for name in given)}
            )
        with errors_shown():
            suites = [(one, one.read(path)) for one, path in map(_suite_at, named)]
        lines: list[str] = []
        figures: list[Figure] = []
        with progress_shown() as report, errors_shown(ModelError, ComputeError, EncoderError):
            compute = choose_compute(
                "cpu" if options["precision"] == "int8" else "auto", options["precision"]
            )
            folder = _folder(model, report)
            encoder = load_encoder(folder, compute)
            seen = seen_by_model(model, folder)
            for one, read in suites:
                with errors_shown():
                    found = suite_evaluated(
                        one,
                        read,
                        lambda texts: sentence_vectors(encoder, texts, compute, report=report),
                        resamples=options["bootstrap"],
                        seed=options["seed"],
                        seen=seen,
                    )
                figures += found.figures
                self._warn(*_flattering(read.test, None, seen))
                lines.append(_("%(model)s on %(suite)s") % {"model": model, "suite": one.label})
                lines += [_figure_line(figure) for figure in found.figures]
                lines += found.notes
        tested = suite_names_of(one for one, _read in suites)
        self._warn(*disclosure_of_model(folder, tested).notes)
        of_years = years_figures(figures)
        lines += [_figure_line(figure) for figure in of_years]
        seconds = perf_counter() - started
        lines.append(_("%(seconds).1f s in all (%(compute)s)") % {"seconds": seconds, "compute": compute})
        answer = {
            "model": model,
            "figures": [figure_as_json(figure) for figure in (*figures, *of_years)],
            "files": {one.name: dict(read.files) for one, read in suites},
            "notes": {one.name: list(read.notes) for one, read in suites},
            "seconds": round(seconds, 3),
        }
        self.answer(answer, *lines, as_json=options["json"])

    def _evaluate_pairs(self, model: str, pairs: Path, dev: Path | None, options: dict[str, Any]) -> None:
        started = perf_counter()
        # Files before the model: what is wrong with them is then said at once.
        test = self._read(pairs, options)
        tuning = self._read(dev, options) if dev else None
        classification = None
        with progress_shown() as report, errors_shown(ModelError, ComputeError, EncoderError):
            compute = choose_compute(
                "cpu" if options["precision"] == "int8" else "auto", options["precision"]
            )
            folder = _folder(model, report)
            encoder = load_encoder(folder, compute)
            encoding = perf_counter()
            cosines = pair_cosines(encoder, test.first, test.second, compute, report=report)
            rate = cosines.sentences / (perf_counter() - encoding)
            agreement = measure_agreement(
                cosines.values, test.values, resamples=options["bootstrap"], seed=options["seed"]
            )
            if tuning:
                tuned = pair_cosines(encoder, tuning.first, tuning.second, compute, report=report).values
                classification = measure_classification(
                    cosines.values,
                    test.values,
                    tuning_cosines=tuned,
                    tuning_labels=tuning.values,
                    resamples=options["bootstrap"],
                    seed=options["seed"],
                )
            seen = seen_by_model(model, folder)
            unseen = _unseen_agreement(test, cosines.values, seen, options)
        chosen_by = disclosure_of_model(folder, {test.name: [test.name]}).notes
        self._warn(*agreement.warnings, *_flattering(test, tuning, seen), *chosen_by)
        seconds = perf_counter() - started
        lines = (
            *(guess.reason for guess in test.guesses),
            *_lines(model, test, cosines.sentences, agreement, options["seed"]),
            *_unseen_lines(unseen),
            *_classification_lines(classification, tuning),
            _("%(seconds).1f s in all; %(rate).0f sentences a second (%(compute)s)")
            % {"seconds": seconds, "rate": rate, "compute": compute},
        )
        figures = _figures(agreement, classification, seconds, rate)
        if unseen is not None:
            figures |= {
                "unseen_pairs": unseen.pairs,
                "unseen_pearson": unseen.pearson,
                "unseen_spearman": unseen.spearman,
                **_ends("unseen_spearman", unseen.interval),
            }
        figures["guesses"] = [guess._asdict() for guess in test.guesses]
        self.answer(figures, *lines, as_json=options["json"])

    def _read(self, path: Path, options: dict[str, Any]) -> JudgedPairs:
        fields = ("a", "b", "pair", "score", "label")
        columns = Columns(**{field: column_option(options[field]) for field in fields})
        with errors_shown():
            pairs = read_judged_pairs(path, columns, **reading_given(options))
        self._warn(*(f"{pairs.name}: {warning}" for warning in pairs.warnings))
        return pairs

    def _warn(self, *warnings: str) -> None:
        for warning in warnings:
            self.stderr.write(_("Warning: %(warning)s") % {"warning": warning}, self.style.WARNING)


def _suite_at(named: str) -> tuple[Suite, Path]:
    name, equals, path = named.partition("=")
    if not equals or not path:
        raise ValueError(
            _("Give a suite as NAME=PATH, such as stsb=/files/stsbenchmark; “%s” is not.") % named
        )
    return suite_named(name), Path(path)


def _figure_line(figure: Figure) -> str:
    measured = figure.measured
    threshold = ""
    if measured.threshold is not None:
        threshold = _(" where cosine > %(threshold).4f") % {"threshold": measured.threshold}
    words = {
        "metric": f"{METRIC_NAMES[measured.metric]}{_(' of the probe') if figure.by == 'probe' else ''}",
        "value": _correlation(measured.value),
        "threshold": threshold,
        "interval": _within(measured.interval),
        "part": figure.part or _("all"),
        "n": f"{measured.pairs:,}",
    }
    return _("  %(part)s (%(n)s pairs): %(metric)s %(value)s%(threshold)s%(interval)s") % words


@contextmanager
def progress_shown() -> Iterator[Report]:
    """A bar on standard error while a person watches it, and nothing else where nobody does."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None)

        def report(done: int, total: int, message: str) -> None:
            progress.update(task, completed=done, total=total, description=message)

        yield report


def _folder(model: str, report: Report) -> Path:
    try:
        return folder_of_model(model, kind="encoder", report=report)
    except DatabaseError as error:
        raise unavailable(
            _("%(model)s needs the database, which does not answer") % {"model": model}, Kind.RUN
        ) from error


def _unseen_agreement(
    test: JudgedPairs, cosines: Scores, seen: Seen, options: dict[str, Any]
) -> Agreement | None:
    """The agreement on pairs without a sentence that was seen; None where nobody knows, or too few are left."""
    if not seen.known:
        return None
    own = seen.pairs_unseen(test.first, test.second)
    values = np.array(test.values)[own]
    if not enough(values):
        return None
    return measure_agreement(cosines[own], values, resamples=options["bootstrap"], seed=options["seed"])


def _unseen_lines(unseen: Agreement | None) -> Iterator[str]:
    if unseen is not None:
        yield _("Spearman %(value)s%(interval)s on the %(n)s unseen pairs") % {
            "value": _correlation(unseen.spearman),
            "interval": _within(unseen.interval),
            "n": f"{unseen.pairs:,}",
        }


def _flattering(test: JudgedPairs, tuning: JudgedPairs | None, trained: Container[str]) -> Iterator[str]:
    """What makes the figures look better than the encoder is."""
    words = {"n": len(test), "file": test.name}
    if tuning and (shared := test.shared_with(tuning)):
        yield _(
            "%(shared)s of the %(n)s pairs of %(file)s stand in %(dev)s too: thresholds were tuned on them, "
            "and accuracy and F1 flatter the encoder."
        ) % {**words, "shared": shared, "dev": tuning.name}
    pairs = zip(test.first, test.second, strict=True)
    if seen := sum(first in trained or second in trained for first, second in pairs):
        yield _(
            "%(seen)s of the %(n)s pairs of %(file)s hold sentences that the encoder was trained on, and flatter it."
        ) % {**words, "seen": seen}


def _figures(
    agreement: Agreement, classification: Classification | None, seconds: float, rate: float
) -> dict[str, Any]:
    figures = {
        "pairs": agreement.pairs,
        "pearson": agreement.pearson,
        "spearman": agreement.spearman,
        "spearman_low": agreement.interval and agreement.interval.low,
        "spearman_high": agreement.interval and agreement.interval.high,
        **_ends("pearson", agreement.pearson_interval),
        "seconds": round(seconds, 3),
        "sentences_per_second": round(rate, 1),
    }
    if classification is not None:
        keys = ("accuracy", "f1", "accuracy_threshold", "f1_threshold")
        figures |= {key: getattr(classification, key) for key in keys}
        figures |= _ends("accuracy", classification.accuracy_interval)
        figures |= _ends("f1", classification.f1_interval)
    return figures


def _ends(name: str, interval: Interval | None) -> dict[str, float | None]:
    """The ends of an interval, under the name of its figure."""
    low, high = (interval.low, interval.high) if interval else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def _lines(model: str, test: JudgedPairs, sentences: int, agreement: Agreement, seed: int) -> Iterator[str]:
    words = {"model": model, "file": test.name, "n": f"{len(test):,}", "sentences": f"{sentences:,}"}
    yield _("%(model)s on %(file)s: %(n)s pairs, %(sentences)s distinct sentences") % words
    drawn = ""
    if (interval := agreement.interval) is not None:
        drawn = _(" (%(resamples)s resamples, seed %(seed)s)") % {
            "resamples": f"{interval.resamples:,}",
            "seed": seed,
        }
    yield _("Spearman %(value)s%(interval)s") % {
        "value": _correlation(agreement.spearman),
        "interval": f"{_within(interval)}{drawn}",
    }
    yield _("Pearson  %(value)s%(interval)s") % {
        "value": _correlation(agreement.pearson),
        "interval": _within(agreement.pearson_interval),
    }


def _within(interval: Interval | None) -> str:
    if interval is None:
        return ""
    return _(", %(level).0f %% interval %(low).4f to %(high).4f") % {
        "level": 100 * interval.level,
        "low": interval.low,
        "high": interval.high,
    }


def _correlation(value: float | None) -> str:
    return _("undefined") if value is None else f"{value:.4f}"


def _classification_lines(classified: Classification | None, tuning: JudgedPairs | None) -> Iterator[str]:
    if classified is None or tuning is None:
        return
    accuracy = {
        "figure": classified.accuracy,
        "threshold": classified.accuracy_threshold,
        "interval": _within(classified.accuracy_interval),
    }
    yield _("Accuracy %(figure).4f where cosine > %(threshold).4f%(interval)s") % accuracy
    f1 = {
        "figure": classified.f1,
        "threshold": classified.f1_threshold,
        "interval": _within(classified.f1_interval),
    }
    yield _("F1       %(figure).4f where cosine > %(threshold).4f%(interval)s") % f1
    tuned = _("Both thresholds were tuned on the human labels of the %(n)s pairs of %(file)s.")
    yield tuned % {"n": f"{len(tuning):,}", "file": tuning.name}
