"""What runs that train encoders have in common: rows out of snapshots, encoders as files, figures as rows."""

import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _

from curation.datasets.agreement import Difference, differences_ordered
from curation.files.writing import folder_replacing
from curation.foundation.errors import UserError
from curation.models import Dataset, ScoreSet, Snapshot
from curation.pairs.holding_out import HeldOut
from curation.pairs.judged_by import mark_of, marked
from curation.statistics.correlation import Scores
from mlworkers.models import Evaluation
from mlworkers.pipelines.disclosure import benchmark_of_training
from mlworkers.pipelines.snapshots import table_of
from mlworkers.runs.storage import Curve, content_of
from mlworkers.science.encoders.evaluation import Agreement
from mlworkers.science.encoders.plan import EncoderPlan, Signal, TrainingPlan, Weighting, signals_of
from mlworkers.science.encoders.rows import Rows, TrainingRows, training_rows
from mlworkers.science.encoders.saving import About, encoder_save, seen_by
from mlworkers.science.encoders.training import TrainedEncoder
from mlworkers.science.encoders.weighting import effective_size
from mlworkers.science.paraphrasing.disclosure import benchmark_save
from mlworkers.science.realism.calibration import at_temperature
from mlworkers.science.training.loop import CurvePoint

LONGEST_NAME = 300  # of a model, in an evaluation's row
FURTHEST_MOST = 50  # pairs that a result names, of each encoder


@dataclass(frozen=True)
class EncoderData:
    """What an encoder is trained from."""

    snapshot: Snapshot
    training: TrainingRows
    base: Path

    @cached_property
    def base_sha256(self) -> str:
        return content_of(self.base)[0]


def training_rows_of(
    plan: TrainingPlan,
    snapshot: Snapshot,
    *,
    weightings: Iterable[Weighting],
    tests: Iterable[str] = (),
) -> TrainingRows:
    """The pairs that a plan trains on, with p_D at its temperature. tests: sentences that nothing may be trained on."""
    table, used = table_of(snapshot), list(weightings)
    training = training_rows(
        table.rows(plan.scores, split=plan.split, realism=plan.realism, consistency=plan.consistency),
        held_out=table.held_out(plan.split) | HeldOut.of(tests),
        needed=signals_of(used),
        unscored=plan.unscored,
    )
    training = replace(training, judges=table.judges(plan.scores))
    if table.gives_cosines(plan.scores):  # to which the encoder's own are to be equal
        low, high = table.scale(plan.scores)
        cosines = low + training.rows.values * (high - low)
        training = replace(training, rows=replace(training.rows, values=cosines))
    if not plan.temperature or not any(one.uses_size_of_realism for one in used):
        return training
    published = published_temperature(snapshot.dataset, plan.realism)
    return replace(training, rows=rows_at_temperature(training.rows, published, plan.temperature))


def rows_at_temperature(rows: Rows, published: float, temperature: float) -> Rows:
    """The rows with p_D at another temperature; 0 for the one with which it was published."""
    if rows.realism is None or not temperature:
        return rows
    return replace(rows, realism=at_temperature(rows.realism, published=published, temperature=temperature))


def published_temperature(dataset: Dataset, name: str) -> float:
    """The temperature with which the p_D of a score set was made. Raises UserError where nobody knows it."""
    scores = dataset.score_sets.filter(name=name, kind=ScoreSet.Kind.REALISM).first()
    known = (scores.parameters or {}).get("temperature") if scores else None
    if not isinstance(known, int | float) or not known > 0:
        sentence = _(
            "The score set “%(name)s” does not say with which temperature its p_D was made, so it cannot be brought to "
            "another one; leave the temperature at 0 (fitted), or score the human-likeness again."
        )
        raise UserError(sentence, name=name)
    return float(known)


def encoder_store(trained: TrainedEncoder, plan: EncoderPlan, data: EncoderData, folder: Path) -> None:
    facts = {
        "dataset": plan.dataset,
        "snapshot": data.snapshot.number,
        "snapshot_sha256": data.snapshot.sha256,
        "generated_pairs": plan.generated_pairs.value,
        "pairs": len(data.training.rows),
        **judges_results(data.training.judges),
    }
    about = About(plan.model, data.base_sha256, asdict(plan), facts, data.snapshot.dataset.licence)
    with folder_replacing(folder) as beside:
        base = seen_by(data.base, plan.model)
        encoder_save(trained.encoder, beside, about, trained.rows.sentences, base=base)
        benchmark_save(beside, benchmark_of_data(plan, data))


def benchmark_of_data(plan: EncoderPlan, data: EncoderData) -> str:
    """The benchmarks whose labellers chose what an encoder is trained on; "" for none."""
    return benchmark_of_training(data.snapshot.dataset, [plan.scores], base=data.base)


def encoder_card(plan: EncoderPlan, data: EncoderData) -> dict[str, Any]:
    benchmark = benchmark_of_data(plan, data)
    circular = False  # whether the weights come from a p_y that learned from the targets themselves
    if Signal.CONSISTENCY in (plan.weighting.controlled or plan.weighting).signals:
        sets = ScoreSet.objects.filter(dataset=data.snapshot.dataset_id, name=plan.consistency)
        circular = any(bool(one.parameters.get("circular")) for one in sets)
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
        **judges_results(data.training.judges),
        "realism": plan.realism,
        "consistency": plan.consistency,
        "consistency_circular": circular,
        "plan": asdict(plan),
        **({"labels_from": benchmark} if benchmark else {}),
    }


def training_figures(training: TrainingRows, trained: TrainedEncoder) -> dict[str, Any]:
    kept = trained.training.kept
    return {
        "training_pairs": len(trained.rows),
        "effective_pairs": round(effective_size(trained.weights.weights), 1),
        "mean_weight": float(trained.weights.weights.mean()),
        "filtered": len(training.rows) - trained.validation - trained.tied - len(trained.rows),
        "validation_pairs": trained.validation,
        "tied_to_validation": trained.tied,
        **left_out_figures(training),
        "steps": trained.training.steps,
        "kept_step": kept.step,
        "loss": kept.loss,
        "dev": kept.dev,
        **trained.training.shared,
    }


def left_out_figures(training: TrainingRows) -> dict[str, int]:
    return {
        "held_out_left_out": training.held_out,
        "unscored_left_out": training.unscored,
        "unscored_as_human": training.as_human,
    }


def furthest_pairs(tested: Rows, predicted: Scores, scale: tuple[float, float]) -> list[Difference]:
    """The pairs whose ranks by people and by an encoder differ most: those that cost Spearman's correlation most.

    predicted: of the n tested pairs, (n,). scale: the lowest and highest human score; the rows have 0..1.
    """
    low, high = scale
    human = low + tested.values * (high - low)
    return differences_ordered(tested.numbers, human, predicted)[:FURTHEST_MOST]


def curve_note(curve: Curve, **series: str) -> Callable[[CurvePoint], object]:
    def note(point: CurvePoint) -> None:
        figures = {"loss": point.loss} if point.dev is None else {"loss": point.loss, "dev": point.dev}
        curve.write(point.step, **figures, **series)

    return note


def folder_linked(source: Path, target: Path) -> None:
    """A folder's files under a second name, or copied where the disk knows no links; the shard is removed later."""

    def link(file: str, path: str) -> None:
        try:
            os.link(file, path)
        except OSError:
            shutil.copy2(file, path)

    with folder_replacing(target) as beside:
        shutil.copytree(source, beside, copy_function=link, dirs_exist_ok=True)


def suite_words(dataset: str, score_set: str, split: str, *, judges: str) -> str:
    """What an encoder is tested on, with the mark of simulated annotators. judges: as `PairTable.judges` says it."""
    return f"{dataset}, {marked(score_set, judges)}, {split or 'every split'}"


def judges_results(judges: str) -> dict[str, str]:
    """The mark of the scores behind a result; nothing where people alone judged, or nobody."""
    return {"judged_by": mark} if (mark := mark_of(judges)) else {}


def agreement_figures(agreement: Agreement) -> dict[str, float | None]:
    """Both correlations with their intervals, for a result."""
    interval, of_pearson = agreement.interval, agreement.pearson_interval
    return {
        "spearman": agreement.spearman,
        "spearman_low": interval.low if interval else None,
        "spearman_high": interval.high if interval else None,
        "pearson": agreement.pearson,
        "pearson_low": of_pearson.low if of_pearson else None,
        "pearson_high": of_pearson.high if of_pearson else None,
    }


def agreement_rows(
    agreement: Agreement,
    *,
    model: str,
    suite: str,
    label: str = "",
    seed: int | None = None,
    part: str = "",
) -> list[Evaluation]:
    interval = agreement.interval
    shared = {
        "model": model[:LONGEST_NAME],
        "suite": suite,
        "part": part,
        "label": label,
        "seed": seed,
        "n": agreement.pairs,
    }
    of_pearson = agreement.pearson_interval
    bounds = {"low": interval.low, "high": interval.high} if interval else {}
    pearson_bounds = {"low": of_pearson.low, "high": of_pearson.high} if of_pearson else {}
    return [
        Evaluation(metric="spearman", value=agreement.spearman, **bounds, **shared),
        Evaluation(metric="pearson", value=agreement.pearson, **pearson_bounds, **shared),
    ]
