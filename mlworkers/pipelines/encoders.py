"""Encoders: trained on scored pairs, measured on pairs that people scored, compared by how their pairs were weighed."""

import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
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
from mlworkers.encoders.comparison import ComparedEncoder, compare, undefined
from mlworkers.encoders.encoding import pair_cosines
from mlworkers.encoders.evaluation import Agreement, measure_agreement
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
_RESAMPLED_BY = 1234  # the seed of resamples: not of any training
_LONGEST_NAME = 300  # of a model, in an evaluation's row
_EVALUATING = 1  # what measuring the base counts for, beside the steps of trainings


def train_encoder(plan: EncoderPlan, job: Job) -> Outcome:
    """One encoder, from a snapshot's pairs."""
    started = monotonic()
    data = _data(plan, job)
    folder = job.folder / "encoder"
    trained = _trained_encoder(
        plan, data, job.kept / "checkpoints", report=job.report, note=_curve(job.curve)
    )
    _save(trained, plan, data, folder)
    seconds = round(monotonic() - started, 1)
    result = {**_counts(data.training, trained), **_kept_figures(trained), **data.facts, "seconds": seconds}
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
    snapshot = snapshot_taken(job, job.dataset_of(plan.dataset), plan.snapshot)
    every = table_of(snapshot).rows(plan.score_set, split=plan.split or None)
    tested, left_out = unseen_rows(every, trained_on(model))
    cosines = _cosines(model, tested, plan.device, job.report)
    agreement = measure_agreement(cosines, tested.values, resamples=plan.bootstrap, seed=plan.seed)
    suite = _suite(plan.dataset, plan.score_set, plan.split)
    result = {
        **_agreement_figures(agreement),
        "left_out": left_out,
        "snapshot": snapshot.number,
        "warnings": list(agreement.warnings),
    }
    message = _("Spearman %(value)s on %(pairs)s pairs") % {
        "value": _shown(agreement.spearman),
        "pairs": intcomma(agreement.pairs),
    }
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
    """What an encoder is trained from. told: where it comes from, for results and cards."""

    snapshot: Snapshot
    training: TrainingRows
    base: Path

    @property
    def facts(self) -> dict[str, Any]:
        return {"snapshot": self.snapshot.number}

    @property
    def licence(self) -> str:
        return self.snapshot.dataset.licence

    @cached_property
    def base_sha256(self) -> str:
        return content_of(self.base)[0]


def _data(plan: EncoderPlan, job: Job) -> _Data:
    # The model first: a name that leads nowhere leaves no snapshot behind.
    base = folder_of_model(plan.model, kind="encoder", report=job.report)
    snapshot = snapshot_taken(job, job.dataset_of(plan.dataset), plan.snapshot)
    table = table_of(snapshot)
    training = training_rows(
        table.rows(plan.scores, split=plan.split, realism=plan.realism),
        held_out=table.held_out(plan.split),
        needs_realism=plan.weighting.needs_realism,
        unscored=plan.unscored,
    )
    return _Data(snapshot, training, base)


def _trained_encoder(
    plan: EncoderPlan, data: _Data, checkpoints: Path, *, report: Report, note: Callable[[CurvePoint], object]
) -> TrainedEncoder:
    return encoder_train(
        data.base, data.training.rows, plan, checkpoints=checkpoints, now=monotonic, report=report, note=note
    )


def _save(trained: TrainedEncoder, plan: EncoderPlan, data: _Data, folder: Path) -> None:
    with folder_replacing(folder) as beside:
        encoder_save(trained.encoder, beside, _about(plan, data), trained.rows.sentences)


def _about(plan: EncoderPlan, data: _Data) -> About:
    facts = {
        "dataset": plan.dataset,
        "snapshot": data.snapshot.number,
        "snapshot_sha256": data.snapshot.sha256,
        "pairs": len(data.training.rows),
    }
    return About(plan.model, data.base_sha256, asdict(plan), facts, data.licence)


def _card(plan: EncoderPlan, data: _Data) -> dict[str, Any]:
    return {
        "label": str(plan.weighting),
        "seed": plan.seed,
        "base": plan.model,
        "base_sha256": data.base_sha256,
        "dataset": plan.dataset,
        "snapshot": data.snapshot.number,
        "snapshot_sha256": data.snapshot.sha256,
        "scores": plan.scores,
        "realism": plan.realism,
        "plan": asdict(plan),
    }


def _counts(training: TrainingRows, trained: TrainedEncoder) -> dict[str, Any]:
    return {
        "training_pairs": len(trained.rows),
        "effective_pairs": round(effective_size(trained.weights.weights), 1),
        "filtered": len(training.rows) - trained.validation - trained.tied - len(trained.rows),
        "validation_pairs": trained.validation,
        "tied_to_validation": trained.tied,
        "held_out_left_out": training.held_out,
        "unscored_left_out": training.unscored,
        "unscored_as_human": training.as_human,
    }


def _kept_figures(trained: TrainedEncoder) -> dict[str, Any]:
    kept = trained.training.kept
    return {"steps": trained.training.steps, "kept_step": kept.step, "loss": kept.loss, "dev": kept.dev}


def _curve(curve: Curve, **series: str) -> Callable[[CurvePoint], object]:
    def note(point: CurvePoint) -> None:
        figures = {"loss": point.loss} if point.dev is None else {"loss": point.loss, "dev": point.dev}
        curve.write(point.step, **figures, **series)

    return note


def _cosines(model: Path, rows: Rows, device: str, report: Report) -> Scores:
    compute = choose_compute(device)
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
        self._base = folder_of_model(plan.model, kind="encoder", report=job.report)
        self._snapshot = snapshot_taken(job, job.dataset_of(plan.dataset), plan.snapshot)
        self._tests, self._tests_left_out, self._test_snapshot = self._tested()
        self._training = self._training_rows()

    def _tested(self) -> tuple[Rows, int, Snapshot]:
        plan, snapshot = self._plan, self._snapshot
        if plan.test_dataset not in ("", plan.dataset):
            snapshot = snapshot_taken(self._job, dataset_read(self._job, plan.test_dataset), 0)
        every = table_of(snapshot).rows(plan.test_score_set, split=plan.test_split or None)
        tests, left_out = unseen_rows(every, trained_on(self._base))
        return tests, left_out, snapshot

    def _training_rows(self) -> TrainingRows:
        """The same pairs for every weighting: those that all of them can use."""
        plan, table = self._plan, table_of(self._snapshot)
        return training_rows(
            table.rows(plan.scores, split=plan.split, realism=plan.realism),
            held_out=table.held_out(plan.split) | HeldOut.of(self._tests.sentences),
            needs_realism=any(weighting.needs_realism for weighting in plan.chosen),
            unscored=plan.unscored,
        )

    @cached_property
    def _data(self) -> _Data:
        return _Data(self._snapshot, self._training, self._base)

    @cached_property
    def sizes(self) -> list[int]:
        """Of each shard, in steps."""
        return [
            _EVALUATING if plan is None else steps_planned(self._training.rows, plan)
            for _label, plan in self._encoders
        ]

    def shard(self, number: int, path: Path, report: Report) -> None:
        """Train an encoder and measure it: a folder with the encoder, its cosines and what there is to tell."""
        started = monotonic()
        checkpoints = self._job.kept / "checkpoints" / path.name
        plan = self._encoders[number][1]
        trained = None if plan is None else self._trained(plan, checkpoints, report)
        with folder_replacing(path, once=True) as beside:
            model, facts = self._base, dict[str, Any]()
            if plan is not None and trained is not None:
                model = beside / "encoder"
                _save(trained, plan, self._data, model)
                facts = {**_counts(self._training, trained), **_kept_figures(trained)}
            still = _standing_still(report, self.sizes[number])
            array_write(beside / "cosines.npy", _cosines(model, self._tests, self._plan.device, still))
            facts["seconds"] = round(monotonic() - started, 1)
            (beside / "told.json").write_text(json.dumps(facts), encoding="utf-8")
        shutil.rmtree(checkpoints, ignore_errors=True)

    def _trained(self, plan: EncoderPlan, checkpoints: Path, report: Report) -> TrainedEncoder:
        series = f"{plan.weighting}, seed {plan.seed}"
        note = _curve(self._job.curve, series=series)
        return _trained_encoder(plan, self._data, checkpoints, report=report, note=note)

    def outcome(self, paths: Sequence[Path]) -> Outcome:
        cosines = [array_read(path / "cosines.npy") for path in paths]
        facts = [json_from((path / "told.json").read_text("utf-8")) for path in paths]
        compared = self._compared(cosines)
        made = self._new_artifacts(paths, facts)
        result = {
            "encoders": {label: _compared_figures(one) for label, one in compared.items()},
            "pairs": len(self._tests),
            "training_pairs": len(self._training.rows),
            "seeds": list(self._plan.all_seeds),
            "effective_pairs": self._by_label(facts, "effective_pairs"),
            "snapshot": self._snapshot.number,
            "test_snapshot": self._test_snapshot.number,
            "test_left_out": self._tests_left_out,
            "held_out_left_out": self._training.held_out,
            "unscored_left_out": self._training.unscored,
            "unscored_as_human": self._training.as_human,
            "warnings": list(undefined(compared)),
        }
        message = _("%(encoders)s encoders evaluated on %(pairs)s test pairs") % {
            "encoders": len(paths),
            "pairs": intcomma(len(self._tests)),
        }
        return Outcome(message, result, list(made.values()), self._evaluations(cosines, made))

    def _compared(self, cosines: Sequence[Scores]) -> dict[str, ComparedEncoder]:
        by_label: dict[str, list[Scores]] = {}
        for (label, _plan), vector in zip(self._encoders, cosines, strict=True):
            by_label.setdefault(label, []).append(vector)
        return compare(
            by_label,
            self._tests.values,
            reference=REFERENCE,
            resamples=self._plan.bootstrap,
            seed=_RESAMPLED_BY,
        )

    def _new_artifacts(
        self, paths: Sequence[Path], facts: Sequence[Mapping[str, Any]]
    ) -> dict[int, NewArtifact]:
        """Each trained encoder as an artefact, by its place."""
        made = {}
        for place, (label, plan) in enumerate(self._encoders):
            if plan is None:
                continue
            folder = self._job.folder / f"{label}-{plan.seed}"
            _linked(paths[place] / "encoder", folder)
            kept = {name: facts[place][name] for name in ("training_pairs", "seconds")}
            made[place] = NewArtifact("encoder", folder, {**_card(plan, self._data), **kept})
        return made

    def _by_label(self, facts: Sequence[Mapping[str, Any]], name: str) -> dict[str, float]:
        """A figure of the first seed of each weighting."""
        found: dict[str, float] = {}
        for (label, _plan), one in zip(self._encoders, facts, strict=True):
            if name in one:
                found.setdefault(label, one[name])
        return found

    def _evaluations(
        self, cosines: Sequence[Scores], made: Mapping[int, NewArtifact]
    ) -> list[tuple[Evaluation, Path | None]]:
        plan, rows = self._plan, []
        suite = _suite(plan.test_dataset or plan.dataset, plan.test_score_set, plan.test_split)
        for place, (label, encoder) in enumerate(self._encoders):
            agreement = measure_agreement(
                cosines[place], self._tests.values, resamples=plan.bootstrap, seed=_RESAMPLED_BY
            )
            folder = made[place].path if place in made else None
            model = plan.model if folder is None else home_relative(folder)
            seed = None if encoder is None else encoder.seed
            found = _evaluations(agreement, model=model, suite=suite, label=label, seed=seed)
            rows += [(row, folder) for row in found]
        return rows


def _standing_still(report: Report, size: int) -> Report:
    """Measuring comes after all steps: it counts no further, but can still be stopped."""

    def still(done: int, total: int, message: str) -> None:
        report(size, size, message)

    return still


def _linked(source: Path, target: Path) -> None:
    """A folder's files under a second name, or copied where the disk knows no links; the shard is removed later."""

    def link(file: str, place: str) -> None:
        try:
            os.link(file, place)
        except OSError:
            shutil.copy2(file, place)

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
    return [
        Evaluation(
            metric="spearman",
            value=agreement.spearman,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            **shared,
        ),
        Evaluation(metric="pearson", value=agreement.pearson, **shared),
    ]


def _agreement_figures(agreement: Agreement) -> dict[str, Any]:
    interval = agreement.interval
    return {
        "spearman": agreement.spearman,
        "spearman_low": interval and interval.low,
        "spearman_high": interval and interval.high,
        "pearson": agreement.pearson,
        "pairs": agreement.pairs,
    }


def _compared_figures(one: ComparedEncoder) -> dict[str, Any]:
    mean, difference = one.mean, one.difference
    return {
        "spearman": mean.value,
        "low": mean.low,
        "high": mean.high,
        "sd": one.sd,
        "difference": difference and difference.value,
        "difference_low": difference and difference.low,
        "difference_high": difference and difference.high,
    }


def _shown(value: float | None) -> str:
    return _("undefined") if value is None else f"{value:.4f}"
