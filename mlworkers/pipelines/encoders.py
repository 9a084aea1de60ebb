"""Encoders: trained on scored pairs, measured on pairs that people scored, compared by how their pairs were weighed."""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import folder_replacing
from curation.models import Snapshot
from curation.pairs.holding_out import HeldOut
from mlworkers.encoders.arrays import array_read, array_write
from mlworkers.encoders.comparison import ComparedEncoder, adjusted, compare, differences_of, undefined
from mlworkers.encoders.differences import Difference
from mlworkers.encoders.encoding import pair_cosines
from mlworkers.encoders.evaluation import Agreement, measure_agreement
from mlworkers.encoders.measuring import Metric, correlation_measured
from mlworkers.encoders.metrics import Scores
from mlworkers.encoders.plan import ComparisonPlan, EncoderPlan, EvaluationPlan, Weighting
from mlworkers.encoders.rows import Rows, TrainingRows, training_rows, unseen_rows
from mlworkers.encoders.saving import About, encoder_save, trained_on
from mlworkers.encoders.training import TrainedEncoder, encoder_train, steps_planned
from mlworkers.encoders.weighting import effective_size
from mlworkers.models import Evaluation
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.snapshots import dataset_read, snapshot_taken, table_of
from mlworkers.pretrained.compute import choose_compute
from mlworkers.pretrained.encoder import load_encoder
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import Curve, content_of, home_relative
from mlworkers.training.loop import CurvePoint

BASE = "base"
REFERENCE = Weighting.PLAIN
CONTROL = Weighting.SHUFFLE  # the same weights as realism, each on another pair
_RESAMPLED_BY = 1234  # the seed of resamples: not of any training
_LONGEST_NAME = 300  # of a model, in an evaluation's row
_EVALUATING = 1  # what measuring the base counts for, beside the steps of trainings


def train_encoder(plan: EncoderPlan, job: Job) -> Outcome:
    """One encoder, from a snapshot's pairs."""
    started = monotonic()
    # The model first: a name that leads nowhere leaves no snapshot behind.
    base = folder_of_model(plan.model, kind="encoder", report=job.report)
    snapshot = snapshot_taken(
        job, job.dataset_of(plan.dataset), plan.snapshot, generated_pairs=plan.generated_pairs
    )
    training = _training_rows(plan, snapshot, needs_realism=plan.weighting.needs_realism)
    data = _Data(snapshot, training, base)
    folder = job.folder / "encoder"
    trained = encoder_train(
        base,
        data.training.rows,
        plan,
        checkpoints=job.kept / "checkpoints",
        now=monotonic,
        report=job.report,
        note=_curve(job.curve),
    )
    _save(trained, plan, data, folder)
    seconds = round(monotonic() - started, 1)
    result = {**_training_figures(data.training, trained), "snapshot": snapshot.number, "seconds": seconds}
    message = ngettext(
        "Trained on %(pairs)s pairs in %(steps)s step",
        "Trained on %(pairs)s pairs in %(steps)s steps",
        trained.training.steps,
    ) % {"pairs": intcomma(len(trained.rows)), "steps": intcomma(trained.training.steps)}
    card = {**_card(plan, data), "training_pairs": len(trained.rows), "seconds": seconds}
    return Outcome(message, result, [NewArtifact("encoder", folder, card)])


def evaluate_encoder(plan: EvaluationPlan, job: Job) -> Outcome:
    """An encoder's cosines against the scores that people gave."""
    model = folder_of_model(plan.model, kind="encoder", report=job.report)
    snapshot = snapshot_taken(
        job, job.dataset_of(plan.dataset), plan.snapshot, generated_pairs=plan.generated_pairs
    )
    every = table_of(snapshot).rows(plan.score_set, split=plan.split or None)
    tested, left_out = unseen_rows(every, trained_on(model))
    cosines = _cosines(model, tested, plan.device, job.report, precision=plan.precision)
    agreement = measure_agreement(cosines, tested.values, resamples=plan.bootstrap, seed=plan.seed)
    interval = agreement.interval
    result = {
        "spearman": agreement.spearman,
        "spearman_low": interval and interval.low,
        "spearman_high": interval and interval.high,
        "pearson": agreement.pearson,
        "pairs": agreement.pairs,
        "left_out": left_out,
        "snapshot": snapshot.number,
        "warnings": list(agreement.warnings),
    }
    message = _("Spearman %(value)s on %(pairs)s pairs") % {
        "value": _("undefined") if agreement.spearman is None else f"{agreement.spearman:.4f}",
        "pairs": intcomma(agreement.pairs),
    }
    suite = _suite(plan.dataset, plan.score_set, plan.split)
    rows = [(row, None) for row in _evaluations(agreement, model=plan.model, suite=suite)]
    return Outcome(message, result, evaluations=rows)


def compare_weightings(plan: ComparisonPlan, job: Job) -> Outcome:
    """The base, and an encoder of each weighting and seed, each a shard of the run."""
    comparison = _Comparison(plan, job)
    paths = job.shards.all(
        "encoders", comparison.sizes, comparison.shard, message=_("Training and evaluating encoders")
    )
    return comparison.outcome(paths)


@dataclass(frozen=True)
class _Data:
    """What an encoder is trained from."""

    snapshot: Snapshot
    training: TrainingRows
    base: Path

    @cached_property
    def base_sha256(self) -> str:
        return content_of(self.base)[0]


def _training_rows(
    plan: EncoderPlan | ComparisonPlan, snapshot: Snapshot, *, needs_realism: bool, tests: Iterable[str] = ()
) -> TrainingRows:
    table = table_of(snapshot)
    return training_rows(
        table.rows(plan.scores, split=plan.split, realism=plan.realism),
        held_out=table.held_out(plan.split) | HeldOut.of(tests),
        needs_realism=needs_realism,
        unscored=plan.unscored,
    )


def _save(trained: TrainedEncoder, plan: EncoderPlan, data: _Data, folder: Path) -> None:
    facts = {
        "dataset": plan.dataset,
        "snapshot": data.snapshot.number,
        "snapshot_sha256": data.snapshot.sha256,
        "generated_pairs": plan.generated_pairs.value,
        "pairs": len(data.training.rows),
    }
    about = About(plan.model, data.base_sha256, asdict(plan), facts, data.snapshot.dataset.licence)
    with folder_replacing(folder) as beside:
        encoder_save(trained.encoder, beside, about, trained.rows.sentences)


def _card(plan: EncoderPlan, data: _Data) -> dict[str, Any]:
    return {
        "label": str(plan.weighting),
        "seed": plan.seed,
        "base": plan.model,
        "base_sha256": data.base_sha256,
        "dataset": plan.dataset,
        "snapshot": data.snapshot.number,
        "snapshot_sha256": data.snapshot.sha256,
        "generated_pairs": plan.generated_pairs.value,
        "scores": plan.scores,
        "realism": plan.realism,
        "plan": asdict(plan),
    }


def _training_figures(training: TrainingRows, trained: TrainedEncoder) -> dict[str, Any]:
    kept = trained.training.kept
    return {
        "training_pairs": len(trained.rows),
        "effective_pairs": round(effective_size(trained.weights.weights), 1),
        "filtered": len(training.rows) - trained.validation - trained.tied - len(trained.rows),
        "validation_pairs": trained.validation,
        "tied_to_validation": trained.tied,
        **_left_out(training),
        "steps": trained.training.steps,
        "kept_step": kept.step,
        "loss": kept.loss,
        "dev": kept.dev,
    }


def _left_out(training: TrainingRows) -> dict[str, int]:
    return {
        "held_out_left_out": training.held_out,
        "unscored_left_out": training.unscored,
        "unscored_as_human": training.as_human,
    }


def _curve(curve: Curve, **series: str) -> Callable[[CurvePoint], object]:
    def note(point: CurvePoint) -> None:
        figures = {"loss": point.loss} if point.dev is None else {"loss": point.loss, "dev": point.dev}
        curve.write(point.step, **figures, **series)

    return note


def _cosines(model: Path, rows: Rows, device: str, report: Report, *, precision: str = "float32") -> Scores:
    compute = choose_compute(device, precision)
    encoder = load_encoder(model, compute)
    return pair_cosines(encoder, rows.first.tolist(), rows.second.tolist(), compute, report=report).values


class _Comparison:
    """What the shards of a comparison share. Cheap to make, and the same in every worker that does a shard of it."""

    def __init__(self, plan: ComparisonPlan, job: Job) -> None:
        self._plan, self._job = plan, job
        self._encoders: list[tuple[str, EncoderPlan | None]] = [(BASE, None)]
        self._encoders += [
            (str(weighting), plan.encoder(weighting, seed))
            for weighting in plan.chosen
            for seed in plan.all_seeds
        ]
        base = folder_of_model(plan.model, kind="encoder", report=job.report)
        snapshot = self._test_snapshot = snapshot_taken(
            job, job.dataset_of(plan.dataset), plan.snapshot, generated_pairs=plan.generated_pairs
        )
        if plan.test_dataset not in ("", plan.dataset):
            self._test_snapshot = snapshot_taken(
                job, dataset_read(job, plan.test_dataset), 0, generated_pairs=plan.generated_pairs
            )
        every = table_of(self._test_snapshot).rows(plan.test_score_set, split=plan.test_split or None)
        self._tests, self._tests_left_out = unseen_rows(every, trained_on(base))
        # The same pairs for every weighting: those that all of them can use.
        needs_realism = any(weighting.needs_realism for weighting in plan.chosen)
        training = _training_rows(plan, snapshot, needs_realism=needs_realism, tests=self._tests.sentences)
        self._data = _Data(snapshot, training, base)

    @cached_property
    def sizes(self) -> list[int]:
        """Of each shard, in steps."""
        rows = self._data.training.rows
        return [_EVALUATING if plan is None else steps_planned(rows, plan) for _label, plan in self._encoders]

    def shard(self, number: int, path: Path, report: Report) -> None:
        """Train an encoder and measure it: a folder with the encoder, its cosines and what there is to tell."""
        started = monotonic()
        checkpoints = self._job.kept / "checkpoints" / path.name
        plan = self._encoders[number][1]
        trained = None if plan is None else self._trained(plan, checkpoints, report)

        def still(done: int, total: int, message: str) -> None:
            """Measuring comes after all steps: it counts no further, but can still be stopped."""
            report(self.sizes[number], self.sizes[number], message)

        with folder_replacing(path, once=True) as beside:
            model, facts = self._data.base, dict[str, Any]()
            if plan is not None and trained is not None:
                model = beside / "encoder"
                _save(trained, plan, self._data, model)
                facts = _training_figures(self._data.training, trained)
            array_write(beside / "cosines.npy", _cosines(model, self._tests, self._plan.device, still))
            facts["seconds"] = round(monotonic() - started, 1)
            (beside / "told.json").write_text(json.dumps(facts), encoding="utf-8")
        shutil.rmtree(checkpoints, ignore_errors=True)

    def _trained(self, plan: EncoderPlan, checkpoints: Path, report: Report) -> TrainedEncoder:
        note = _curve(self._job.curve, series=f"{plan.weighting}, seed {plan.seed}")
        rows = self._data.training.rows
        return encoder_train(
            self._data.base, rows, plan, checkpoints=checkpoints, now=monotonic, report=report, note=note
        )

    def outcome(self, paths: Sequence[Path]) -> Outcome:
        plan, data = self._plan, self._data
        suite = _suite(plan.test_dataset or plan.dataset, plan.test_score_set, plan.test_split)
        cosines: dict[str, list[Scores]] = {}
        effective: dict[str, float] = {}  # of the first seed of each weighting
        made: list[NewArtifact] = []
        evaluations: list[tuple[Evaluation, Path | None]] = []
        for path, (label, encoder) in zip(paths, self._encoders, strict=True):
            vector = array_read(path / "cosines.npy")
            cosines.setdefault(label, []).append(vector)
            folder = None
            if encoder is not None:
                facts = json_from((path / "told.json").read_text("utf-8"))
                effective.setdefault(label, facts["effective_pairs"])
                folder = self._job.folder / f"{label}-{encoder.seed}"
                _linked(path / "encoder", folder)
                kept = {name: facts[name] for name in ("training_pairs", "seconds")}
                made.append(NewArtifact("encoder", folder, {**_card(encoder, data), **kept}))
            agreement = measure_agreement(
                vector, self._tests.values, resamples=plan.bootstrap, seed=_RESAMPLED_BY
            )
            model = plan.model if folder is None else home_relative(folder)
            seed = None if encoder is None else encoder.seed
            rows = _evaluations(agreement, model=model, suite=suite, label=label, seed=seed)
            evaluations += [(row, folder) for row in rows]
        measured = {
            label: [
                correlation_measured(
                    Metric.SPEARMAN,
                    vector,
                    self._tests.values,
                    resamples=plan.bootstrap,
                    seed=_RESAMPLED_BY,
                )
                for vector in vectors
            ]
            for label, vectors in cosines.items()
        }
        compared = compare(measured)
        differences = adjusted(differences_of(measured, _between(cosines)))
        result = {
            "encoders": {label: _compared_figures(one) for label, one in compared.items()},
            "from_plain": _differences_from(REFERENCE, differences),
            "from_shuffle": _differences_from(CONTROL, differences),
            "pairs": len(self._tests),
            "training_pairs": len(data.training.rows),
            "seeds": list(plan.all_seeds),
            "effective_pairs": effective,
            "snapshot": data.snapshot.number,
            "test_snapshot": self._test_snapshot.number,
            "test_left_out": self._tests_left_out,
            **_left_out(data.training),
            "warnings": list(undefined(compared)),
        }
        words = {"encoders": len(paths), "pairs": intcomma(len(self._tests))}
        message = _("%(encoders)s encoders evaluated on %(pairs)s test pairs") % words
        return Outcome(message, result, made, evaluations)


def _linked(source: Path, target: Path) -> None:
    """A folder's files under a second name, or copied where the disk knows no links; the shard is removed later."""

    def link(file: str, path: str) -> None:
        try:
            os.link(file, path)
        except OSError:
            shutil.copy2(file, path)

    with folder_replacing(target) as beside:
        shutil.copytree(source, beside, copy_function=link, dirs_exist_ok=True)


def _suite(dataset: str, score_set: str, split: str) -> str:
    return f"{dataset}, {score_set}, {split or 'every split'}"


def _evaluations(
    agreement: Agreement, *, model: str, suite: str, label: str = "", seed: int | None = None
) -> list[Evaluation]:
    interval = agreement.interval
    shared = {
        "model": model[:_LONGEST_NAME],
        "suite": suite,
        "label": label,
        "seed": seed,
        "n": agreement.pairs,
    }
    bounds = {"low": interval.low, "high": interval.high} if interval else {}
    return [
        Evaluation(metric="spearman", value=agreement.spearman, **bounds, **shared),
        Evaluation(metric="pearson", value=agreement.pearson, **shared),
    ]


def _between(labels: Iterable[str]) -> list[tuple[str, str]]:
    """Everything from plain, and realism from the control, where they were trained."""
    known = list(labels)
    from_plain = [(label, str(REFERENCE)) for label in known if label != REFERENCE]
    has_both = Weighting.REALISM in known and CONTROL in known
    return from_plain + ([(str(Weighting.REALISM), str(CONTROL))] if has_both else [])


def _compared_figures(one: ComparedEncoder) -> dict[str, Any]:
    return {"spearman": one.mean.value, "low": one.mean.low, "high": one.mean.high, "sd": one.sd}


def _differences_from(reference: str, differences: Mapping[tuple[str, str], Difference]) -> dict[str, Any]:
    """Of each label that was compared with that one."""
    return {
        label: {
            "difference": one.value,
            "difference_low": one.low,
            "difference_high": one.high,
            "difference_sd": one.sd,
            "p": one.p,
            "p_holm": one.p_holm,
        }
        for (label, other), one in differences.items()
        if other == reference
    }
