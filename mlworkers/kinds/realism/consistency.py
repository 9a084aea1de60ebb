"""Whether generated pairs are as similar as they were meant to be: p_y of each, from a classifier that never saw it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.foundation.errors import UserError
from curation.models import Dataset, ScoreSet
from mlworkers.kinds.encoders.scoring_pairs import scores_in_shards
from mlworkers.pipelines.encoder_data import judges_results
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.publishing import scores_to_publish
from mlworkers.pipelines.snapshots import dataset_read, snapshot_taken, table_of
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.consistency.classifier import score_features
from mlworkers.science.consistency.dataset import UNKNOWN, labelled_pairs, labels_of, nearest_label
from mlworkers.science.consistency.plan import ConsistencyPlan
from mlworkers.science.consistency.scoring import ConsistencyScores, consistency_scores
from mlworkers.science.encoders.rows import Rows, training_rows
from mlworkers.science.encoders.saving import seen_by


class _Drawn(NamedTuple):
    """The pairs that are scored, those with human scores (None: there are none), and the snapshots they are from.

    trained_on: what the classifiers learn from, for the score set and the pages that show it.
    judges: who judged these, as `PairTable.judges` says it.
    """

    scored: Rows
    human: Rows | None
    held_out: int
    snapshots: dict[str, int]
    trained_on: dict[str, Any]
    judges: str


def score_consistency(plan: ConsistencyPlan, job: Job) -> Outcome:
    """Estimate p_y of each generated pair: how likely a classifier finds the target that the pair was written for.

    The classifier reads the model's score of a pair. It learns from pairs of people where there are some,
    otherwise from the generated ones in folds (then the result says that it is circular). Publishes a score set of
    kind consistency. Raises UserError where the model was trained on a scored sentence.
    """
    dataset = job.dataset_of(plan.dataset)
    # The model first: a name that leads nowhere leaves no snapshot behind.
    folder = folder_of_model(plan.model, kind="encoder", report=job.report)
    drawn = _drawn(plan, dataset, job)
    scored, human = drawn.scored, drawn.human
    seen = seen_by(folder)
    if known := sum(text in seen for text in scored.sentences):
        sentence = _(
            "“%(model)s” was trained on %(number)s of the sentences, so its scores of them say little; choose a model "
            "that was not."
        )
        raise UserError(sentence, model=plan.model, number=known)
    labels = labels_of(scored.values, within=plan.merged)
    target = nearest_label(scored.values, labels)
    both = [scored] if human is None else [scored, human]
    first = [text for rows in both for text in rows.first.tolist()]
    second = [text for rows in both for text in rows.second.tolist()]
    label, place = target, target
    if human is not None:
        unknown = np.full(len(human), UNKNOWN)
        place = np.concatenate([target, unknown])
        label = np.concatenate([np.full(len(scored), UNKNOWN), nearest_label(human.values, labels)])
    # Before the sentences are encoded: too few pairs are found at once.
    pairs = labelled_pairs(first, second, label, labels=labels.size, folds=plan.folds, seed=plan.seed)
    values = scores_in_shards(job, folder, plan.device, first, second)
    job.report(0, 0, _("Fitting the classifiers of the folds"))
    scoring = consistency_scores(
        score_features(values),
        pairs,
        place,
        place != UNKNOWN,
        circular=human is None,
        planted=plan.planted,
        seed=plan.seed,
    )
    about = {
        "circular": human is None,
        "trained_on": [drawn.trained_on],
        "targets": plan.scores,
        "labels": labels.tolist(),
        "model": plan.model,
        "model_sha256": content_of(folder)[0],
        "folds": plan.folds,
        "seed": plan.seed,
        **drawn.snapshots,
    }
    figures = scoring.figures
    publish = _to_publish(plan, job, dataset, scored, scoring=scoring, about=about)
    message = _message(figures, len(scored), circular=human is None)
    return Outcome(message, _result(drawn, figures, about), publish=publish)


def _to_publish(
    plan: ConsistencyPlan,
    job: Job,
    dataset: Dataset,
    scored: Rows,
    *,
    scoring: ConsistencyScores,
    about: dict[str, Any],
) -> Callable[[], dict[str, Any]]:
    figures = scoring.figures
    return scores_to_publish(
        job,
        dataset,
        name=_("run %(run)s: p_y") % {"run": job.run_id},
        kind=ScoreSet.Kind.CONSISTENCY,
        low=0.0,
        high=1.0,
        method=(
            _("label consistency, cross-fitted, from human scores")
            if plan.human_scores
            else _("label consistency, cross-fitted, circular: from the target similarities themselves")
        ),
        parameters={
            **about,
            **{name: figures[name] for name in ("planted_auc", "planted_auc_low", "planted_auc_high")},
        },
        scores=(
            (pair, value, None, None)
            for pair, value in zip(scored.numbers.tolist(), scoring.p_y.tolist(), strict=True)
        ),
    )


def _drawn(plan: ConsistencyPlan, dataset: Dataset, job: Job) -> _Drawn:
    snapshot = snapshot_taken(job, dataset, plan.snapshot)
    table = table_of(snapshot)
    scored = table.rows(plan.scores, split=None)
    taken = {"snapshot": snapshot.number}
    if not plan.human_scores:
        circle = {"dataset": plan.dataset, "scores": plan.scores, "split": "", "pairs": len(scored)}
        return _Drawn(scored, None, 0, taken, circle, table.judges(plan.scores))
    if plan.human_dataset not in ("", plan.dataset):
        other = snapshot_taken(job, dataset_read(job, plan.human_dataset), 0)
        taken["human_snapshot"] = other.number
        table = table_of(other)
    # The same rule as for encoders: what is tested later must not have shaped a weight.
    rows = training_rows(
        table.rows(plan.human_scores, split=plan.human_split or None),
        held_out=table.held_out(plan.human_split),
    )
    trained_on = {
        "dataset": plan.human_dataset or plan.dataset,
        "scores": plan.human_scores,
        "split": plan.human_split,
        "pairs": len(rows.rows),
    }
    return _Drawn(scored, rows.rows, rows.held_out, taken, trained_on, table.judges(plan.human_scores))


def _message(figures: dict[str, Any], pairs: int, *, circular: bool) -> str:
    sentence = _(
        "p_y of %(pairs)s pairs; it finds planted errors with an AUC of %(auc).2f (%(low).2f to %(high).2f)"
    )
    words = {
        "pairs": intcomma(pairs),
        "auc": figures["planted_auc"],
        "low": figures["planted_auc_low"],
        "high": figures["planted_auc_high"],
    }
    if not circular:
        return sentence % words
    return _("%(found)s; circular, because the classifiers learned from the target similarities") % {
        "found": sentence % words
    }


def _result(drawn: _Drawn, figures: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in about.items() if name not in ("trained_on", "folds", "seed")}
    (source,) = about["trained_on"]
    return {
        "pairs": len(drawn.scored),
        **figures,
        "trained_on": [f"{name}: {value}" for name, value in source.items() if value],
        "held_out_left_out": drawn.held_out,
        **judges_results(drawn.judges),
        **told,
    }
