"""A labeller trained on the scores that people or a model gave to pairs: of several seeds, the best on dev pairs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.writing import folder_remove, folder_replacing
from curation.foundation.errors import UserError
from curation.models import Dataset, ScoreSet, Snapshot
from curation.statistics.influence import spearman_within
from mlworkers.kinds.encoders.scoring_pairs import scores_in_shards
from mlworkers.pipelines.disclosure import benchmark_of_training
from mlworkers.pipelines.encoder_data import folder_linked, judges_results
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.encoders.rows import FEWEST_TESTED, Rows, training_rows, validation_split
from mlworkers.science.encoders.saving import About, seen_by, seen_save
from mlworkers.science.paraphrasing.disclosure import (
    benchmark_behind,
    benchmark_of,
    benchmark_save,
    benchmarks_joined,
)
from mlworkers.science.paraphrasing.labeller import check_base, comparable, labeller_trained
from mlworkers.science.paraphrasing.labeller_plan import LabellerPlan
from mlworkers.science.paraphrasing.text import compared_pairs
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.sources import SCORERS

_DIGITS = 6  # of a correlation after the point: seeds that differ by less are equal, and the first is kept


class _Divided(NamedTuple):
    """Pairs to train on and pairs to choose by. left_out: pairs that share a sentence with held-out pairs or with the
    dev pairs, or hold a sentence without a letter or a digit. judges: the mark of the scores, as results hold it.
    """

    training: Rows
    dev: Rows
    left_out: int
    judges: dict[str, str]


def train_labeller(plan: LabellerPlan, job: Job) -> Outcome:
    """Train a cross-encoder per seed, and keep the one whose scores agree best with those of the dev pairs.

    A seed that an earlier attempt finished is read from `job.kept`. The agreement is Spearman's, with its interval, on
    the pairs that also chose the seed, so it is optimistic for others. Raises UserError where dev pairs are too few or
    have equal scores.
    """
    started = monotonic()
    dataset = job.dataset_of(plan.dataset)
    # The model first: a name that leads nowhere leaves no snapshot behind.
    base = folder_of_model(plan.model, kind="encoder", also=SCORERS, report=job.report)
    check_base(base)
    snapshot = snapshot_taken(job, dataset, plan.snapshot)
    divided = _divided(plan, snapshot)
    if len(divided.dev) < FEWEST_TESTED or np.ptp(divided.dev.values) == 0:
        sentence = _(
            "The %(pairs)s dev pairs are too few, or all have the same score; choose another dev split or share."
        )
        raise UserError(sentence, pairs=len(divided.dev))
    best, trained = _best_of_seeds(plan, job, base, divided)
    kept = job.kept / f"labeller-{best['seed']}"
    benchmark = _benchmark(plan, dataset, base)
    folder = job.folder / "labeller"
    folder_linked(kept, folder)
    _about_save(folder, plan, base, snapshot=snapshot, divided=divided, seed=best["seed"])
    benchmark_save(folder, benchmark)
    dev = divided.dev
    similarity = scores_in_shards(
        job, kept, plan.device, *compared_pairs(dev.first.tolist(), dev.second.tolist())
    )
    agreement = spearman_within(similarity, dev.values)
    result = {
        "seed": best["seed"],
        "dev_spearman": agreement.value,
        "dev_spearman_low": agreement.low,
        "dev_spearman_high": agreement.high,
        "dev_pairs": len(dev),
        "training_pairs": len(divided.training),
        "left_out": divided.left_out,
        "labels_from": benchmark,
        **divided.judges,
        "labellers": trained,
        "snapshot": snapshot.number,
        "seconds": round(monotonic() - started, 1),
    }
    words = {"seeds": len(trained), "seed": best["seed"], "pairs": intcomma(len(dev))}
    message = _("Best of %(seeds)s seeds: seed %(seed)s, Spearman %(value).3f on %(pairs)s dev pairs")
    message %= {**words, "value": agreement.value}
    card = {
        "label": _("Scorer"),
        "seed": best["seed"],
        "base": plan.model,
        "dataset": dataset.slug,
        "snapshot": snapshot.number,
        "dev_spearman": agreement.value,
        "labels_from": benchmark,
        **divided.judges,
        "plan": asdict(plan),
    }
    return Outcome(message, result, [NewArtifact("labeller", folder, card)])


def _best_of_seeds(
    plan: LabellerPlan, job: Job, base: Path, divided: _Divided
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The facts of the best labeller, which alone stays on the disk, and those of all. Raises UserError."""
    trained: list[dict[str, Any]] = []
    for number, seed in enumerate(plan.all_seeds):
        train = partial(_trained, plan, job, base, divided, number=number, seed=seed)
        trained.append(job.drawn_once(f"labeller-{seed}.json", train))
        best = max(trained, key=_goodness)
        for other in trained:  # ten large models need not lie on the disk together
            if other is not best:
                folder_remove(job.kept / f"labeller-{other['seed']}")
    if best["dev_spearman"] is None:
        raise UserError(
            _("No scorer gives the dev pairs different scores; choose another base model or more epochs.")
        )
    return best, trained


def _goodness(trained: Mapping[str, Any]) -> tuple[float, int]:
    spearman = trained["dev_spearman"]
    return (-math.inf if spearman is None else round(spearman, _DIGITS)), -trained["seed"]


def _trained(
    plan: LabellerPlan, job: Job, base: Path, divided: _Divided, *, number: int, seed: int
) -> dict[str, Any]:
    """Train the labeller of one seed into `kept`."""
    steps = plan.steps(len(divided.training))

    def report(done: int, total: int, message: str) -> None:
        job.report(number * steps + done, plan.seeds * steps, message)

    folder = job.kept / f"labeller-{seed}"
    checkpoints = job.kept / f"checkpoints-{seed}"
    with folder_replacing(folder) as beside:
        trained = labeller_trained(
            base,
            divided.training,
            divided.dev,
            plan,
            choose_compute(plan.device),
            seed=seed,
            folder=beside,
            checkpoints=checkpoints,
            now=monotonic,
            report=report,
            note=lambda point: job.curve.write(
                point.step, seed=seed, loss=point.loss, **({} if point.dev is None else {"dev": point.dev})
            ),
        )
    folder_remove(checkpoints)
    return {"seed": seed, "dev_spearman": trained.kept.dev, "kept_step": trained.kept.step}


def _divided(plan: LabellerPlan, snapshot: Snapshot) -> _Divided:
    table = table_of(snapshot)
    judges = judges_results(table.judges(plan.scores))
    found = table.rows(plan.scores, split=plan.split)
    held_out = table.held_out(plan.split)
    if plan.dev_split:
        dev = comparable(table.rows(plan.scores, split=plan.dev_split))
        held_out |= table.human_sentences(plan.dev_split)
    allowed = comparable(training_rows(found, held_out=held_out).rows)
    if plan.dev_split:
        return _Divided(allowed, dev, len(found) - len(allowed), judges)
    training, dev, tied = validation_split(allowed, plan.dev_share, seed=plan.first_seed, setting="dev_share")
    return _Divided(training, dev, len(found) - len(allowed) + tied, judges)


def _benchmark(plan: LabellerPlan, dataset: Dataset, base: Path) -> str:
    if dataset.score_sets.filter(name=plan.scores, kind=ScoreSet.Kind.MODEL).exists():
        # Whatever the pairs are of, no published score was learned from, unless a model behind the scores did.
        behind = benchmark_of_training(dataset, [plan.scores], base=base)
        return benchmarks_joined(plan.benchmark.strip(), behind)
    sources = dataset.pairs.order_by().values_list("source", flat=True).distinct()
    own = benchmark_of(plan.benchmark, [dataset.slug, dataset.name, *sources])
    return benchmarks_joined(own, benchmark_behind(base))


def _about_save(
    folder: Path, plan: LabellerPlan, base: Path, *, snapshot: Snapshot, divided: _Divided, seed: int
) -> None:
    data: Mapping[str, Any] = {
        "dataset": plan.dataset,
        "snapshot": snapshot.number,
        "snapshot_sha256": snapshot.sha256,
        "training_pairs": len(divided.training),
        "dev_pairs": len(divided.dev),
    }
    about = About(
        plan.model, content_of(base)[0], {**asdict(plan), "seed": seed}, data, snapshot.dataset.licence
    )
    sentences: Sequence[str] = [*divided.training.sentences, *divided.dev.sentences]  # dev pairs chose it
    seen_save(folder, about, sentences, base=seen_by(base, plan.model))
