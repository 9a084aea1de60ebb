"""Scorers of pairs beside the same scores, and how fast encoders are."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import numpy as np
import torch
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.files.json_text import json_from
from curation.files.progress import Report, silent
from curation.files.writing import folder_replacing
from curation.foundation.errors import UserError, errors_shown
from curation.statistics.correlation import Scores
from mlworkers.models import Evaluation
from mlworkers.pipelines.encoder_data import (
    LONGEST_NAME,
    agreement_figures,
    agreement_rows,
    judges_results,
)
from mlworkers.pipelines.experiment import Tests
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import seen_by_model, seen_in_words
from mlworkers.pipelines.snapshots import snapshot_taken
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.models_named import models_to_name
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.crossing import cross_scores
from mlworkers.science.encoders.differences import difference_from
from mlworkers.science.encoders.encoding import EncoderError
from mlworkers.science.encoders.evaluation import measure_agreement
from mlworkers.science.encoders.measuring import Metric, correlation_measured
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.encoders.scorers import scores_by
from mlworkers.science.encoders.scorers_plan import (
    MOST_SCORERS,
    ScorerNamed,
    ScorersPlan,
    Way,
    models_of_scorers,
)
from mlworkers.science.encoders.seen import NOTHING_KNOWN
from mlworkers.science.encoders.speed import Pace, paces_measured
from mlworkers.science.encoders.speed_plan import BY_LENGTH, IN_ORDER, SPEED, SpeedPlan
from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmarks_joined
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.cross_encoder import is_cross_encoder, load_cross_encoder
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.sources import SCORERS, ModelError

_WARMED_UP = 8  # pairs
_LABEL = 40  # characters of an evaluation's label


@dataclass(frozen=True)
class _Scorer:
    """A scorer with the folders of its models."""

    named: ScorerNamed
    folders: Sequence[Path]

    @property
    def crosses(self) -> bool:
        return self.named.way is Way.OWN and is_cross_encoder(self.folders[0])

    def scores(self, rows: Rows, device: str, report: Report) -> tuple[Scores, float]:
        """The scores of the rows, (n,), and the seconds that they took after the models were loaded."""
        compute = choose_compute(device)
        first, second = rows.first.tolist(), rows.second.tolist()
        if self.crosses:
            model = load_cross_encoder(self.folders[0], compute)

            def score(a: list[str], b: list[str], report: Report) -> Scores:
                return cross_scores(model, a, b, report=report)
        else:
            encoders = [load_encoder(folder, compute) for folder in self.folders]

            def score(a: list[str], b: list[str], report: Report) -> Scores:
                return scores_by(self.named.way, encoders, a, b, compute, report=report)

        score(first[:_WARMED_UP], second[:_WARMED_UP], silent)
        started = perf_counter()
        return score(first, second, report), perf_counter() - started


def compare_scorers(plan: ScorersPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    # The models first: a name that leads nowhere leaves no snapshot behind.
    folders = {
        name: folder_of_model(name, kind="encoder", also=SCORERS, report=job.report)
        for name in models_of_scorers(plan.scorers)
    }
    scorers = [_Scorer(named, [folders[name] for name in named.models]) for named in plan.named]
    _require_vectors(scorers)
    snapshot = snapshot_taken(job, dataset, plan.snapshot, generated_pairs=plan.generated_pairs)
    seen = NOTHING_KNOWN
    for name, folder in folders.items():
        seen |= seen_by_model(name, folder)
    tests = Tests(snapshot, plan.score_set, plan.split, seen)
    rows = tests.rows

    def write(number: int, path: Path, report: Report) -> None:
        def in_pairs(done: int, total: int, message: str) -> None:
            report(len(rows) * done // max(total, 1), len(rows), message)

        with errors_shown(EncoderError), folder_replacing(path) as beside:
            values, seconds = scorers[number].scores(rows, plan.device, in_pairs)
            array_write(beside / "scores", values)
            (beside / "seconds.json").write_text(json.dumps(seconds), "utf-8")

    paths = job.shards.all("scorers", [len(rows)] * len(scorers), write, message=_("Scoring pairs"))
    columns = [array_read(path / "scores") for path in paths]
    pace = [
        len(rows) / max(float(json_from((path / "seconds.json").read_text("utf-8"))), 1e-9) for path in paths
    ]
    cosines = tests.table.gives_cosines(plan.score_set)
    figures, evaluations = _figures(plan, scorers, columns, rows, tests.name, cosines=cosines)
    benchmark = benchmarks_joined(*map(benchmark_behind, folders.values()))
    disclosed = tests.disclosed(benchmark, marked=True)
    labels = [one.named.label for one in scorers]
    result = {
        "scorers": figures,
        "pairs_per_second": dict(zip(labels, pace, strict=True)),
        "pairs": len(rows),
        "left_out": tests.left_out,
        "snapshot": snapshot.number,
        "compared_with": labels[0],
        "threads": torch.get_num_threads(),
        "training_data": seen_in_words(seen),
        **judges_results(tests.judges),
        **disclosed.result,
        "warnings": disclosed.notes,
    }
    words = {"scorers": len(scorers), "pairs": intcomma(len(rows))}
    message = ngettext(
        "%(scorers)s scorer compared on %(pairs)s pairs",
        "%(scorers)s scorers compared on %(pairs)s pairs",
        len(scorers),
    )
    return Outcome(message % words, result, evaluations=evaluations)


def _require_vectors(scorers: Sequence[_Scorer]) -> None:
    """Raises ModelError where a way needs vectors of sentences and a model has none."""
    for one in scorers:
        if one.named.way is not Way.OWN and any(map(is_cross_encoder, one.folders)):
            sentence = _(
                "“%(name)s” is a cross-encoder, which has no vector of a sentence; name it by itself."
            )
            raise ModelError(sentence % {"name": one.named.label})


def _figures(
    plan: ScorersPlan,
    scorers: Sequence[_Scorer],
    columns: Sequence[Scores],
    rows: Rows,
    suite: str,
    *,
    cosines: bool,
) -> tuple[list[dict[str, Any]], list[tuple[Evaluation, Path | None]]]:
    """The figures of each scorer, and its agreements as rows. cosines: whether the scores are cosines."""
    figures: list[dict[str, Any]] = []  # in their order, which a database does not keep of names
    evaluations: list[tuple[Evaluation, Path | None]] = []
    by_pair = [
        correlation_measured(Metric.SPEARMAN, column, rows.values, resamples=0, seed=0).by_pair
        for column in columns
    ]
    for number, (one, column) in enumerate(zip(scorers, columns, strict=True)):
        agreement = measure_agreement(column, rows.values, resamples=plan.bootstrap, seed=plan.seed)
        of_scorer: dict[str, Any] = agreement_figures(agreement)
        if number:
            # Spearman's correlation minus that of the first scorer, with an interval over pairs.
            its, of_first = by_pair[number], by_pair[0]
            if its is not None and of_first is not None:
                found = difference_from((its - of_first)[None, :])
                of_scorer |= {
                    "difference": found.value,
                    "difference_low": found.low,
                    "difference_high": found.high,
                }
        if cosines and one.named.way not in (Way.STATIC, Way.TWO):
            given, own = 2 * rows.values - 1, 2 * column - 1 if one.crosses else column
            of_scorer["mean_squared_distance"] = float(np.mean((own - given) ** 2))
        known = {name: value for name, value in of_scorer.items() if value is not None}
        figures.append({"scorer": one.named.label, **known})
        if len(one.named.models) == 1:
            label = one.named.way.value[:_LABEL]
            made = agreement_rows(agreement, model=one.named.models[0], suite=suite, label=label, part=label)
            evaluations += [(row, None) for row in made]
    return figures, evaluations


def measure_speed(plan: SpeedPlan, job: Job) -> Outcome:
    """Each encoder's sentences a second, with batches of like length and in order, for its page."""
    started = monotonic()
    dataset = job.dataset_of(plan.dataset)
    every_name = job.drawn_once(
        "encoders.json",
        lambda: {"names": list(plan.named) or [name for name, _one in models_to_name(["encoder"])]},
    )["names"]
    names = every_name[:MOST_SCORERS]
    if not names:
        raise UserError(_("No encoder is registered here yet; name one, such as packaged:all-MiniLM-L6-v2."))
    folders = [folder_of_model(name, kind="encoder", report=job.report) for name in names]
    every = dataset.sentences.order_by("pk").values_list("text", flat=True)
    drawn = job.drawn_once("sentences.json", lambda: {"texts": _drawn(list(every), plan)})["texts"]
    if len(drawn) < plan.batch_size:
        sentence = _(
            "The dataset has %(sentences)s sentences, fewer than one batch; choose a smaller batch size."
        )
        raise UserError(sentence, sentences=len(drawn))
    compute = choose_compute(plan.device)

    def write(number: int, path: Path, report: Report) -> None:
        paces = paces_measured(
            load_encoder(folders[number], compute),
            drawn,
            compute,
            batch_size=plan.batch_size,
            rounds=plan.rounds,
            now=perf_counter,
            report=report,
        )
        with folder_replacing(path) as beside:
            (beside / "paces.json").write_text(json.dumps(paces), "utf-8")

    sizes = [plan.rounds * len(drawn)] * len(names)
    paths = job.shards.all("speed", sizes, write, message=_("Encoding sentences"))
    suite = _("%(dataset)s, %(device)s, threads: %(threads)s")
    suite %= {"dataset": dataset.slug, "device": compute.device, "threads": torch.get_num_threads()}
    rates, evaluations = _rates(names, paths, suite, len(drawn))
    words = {"encoders": len(names), "sentences": intcomma(len(drawn))}
    message = ngettext(
        "%(encoders)s encoder timed on %(sentences)s sentences",
        "%(encoders)s encoders timed on %(sentences)s sentences",
        len(names),
    )
    result = {
        "timed_encoders": rates,
        "sentences": len(drawn),
        "threads": torch.get_num_threads(),
        "device": str(compute.device),
        "seconds": round(monotonic() - started, 1),
        "warnings": _left_out(every_name[MOST_SCORERS:]),
    }
    return Outcome(message % words, result, evaluations=evaluations)


def _rates(
    names: Sequence[str], paths: Sequence[Path], suite: str, sentences: int
) -> tuple[list[dict[str, Any]], list[tuple[Evaluation, Path | None]]]:
    """The paces of each encoder as figures of the result, and as rows."""
    rates: list[dict[str, Any]] = []
    evaluations: list[tuple[Evaluation, Path | None]] = []
    for name, path in zip(names, paths, strict=True):
        both = [Pace(*each) for each in json_from((path / "paces.json").read_text("utf-8"))]
        rates.append({"timed_encoder": name, "times_as_fast": both[0].median / both[1].median})
        for part, pace in zip((BY_LENGTH, IN_ORDER), both, strict=True):
            key = part.replace(" ", "_")
            rates[-1] |= {key: pace.median, f"{key}_low": pace.slowest, f"{key}_high": pace.fastest}
            figure = {"value": pace.median, "low": pace.slowest, "high": pace.fastest, "n": sentences}
            row = Evaluation(model=name[:LONGEST_NAME], suite=suite, part=part, metric=SPEED, **figure)
            evaluations.append((row, None))
    return rates, evaluations


def _left_out(names: Sequence[str]) -> list[str]:
    if not names:
        return []
    sentence = ngettext(
        "%(left)s older encoder was not timed; name it: %(names)s.",
        "%(left)s older encoders were not timed; name them: %(names)s.",
        len(names),
    )
    named = ", ".join([*names[:MOST_SCORERS], *(["…"] if len(names) > MOST_SCORERS else [])])
    return [sentence % {"left": len(names), "names": named}]


def _drawn(texts: Sequence[str], plan: SpeedPlan) -> list[str]:
    order = np.random.default_rng(plan.seed).permutation(len(texts))[: plan.sentences]
    return [texts[place] for place in order.tolist()]
