"""How human the sentences of a generation sound: p_D of each, from a classifier that saw neither it nor its doubles."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from curation.datasets.services import ScoredSentence, score_set_publish
from curation.files.progress import Report
from curation.files.tables import Column, write_table
from curation.models import Dataset, ScoreSet
from mlworkers.encoders.arrays import array_read, array_write
from mlworkers.encoders.encoding import encode
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.scored_sentences import SentencesToScore, scored_sentences
from mlworkers.pretrained.compute import Compute, choose_compute
from mlworkers.pretrained.encoder import load_encoder
from mlworkers.realism.dataset import SdiData, sdi_data
from mlworkers.realism.fine_tuning import FineTuned, fine_tune, part_of, steps_of
from mlworkers.realism.head import Floats, cross_fit, fit_head, usual_penalty
from mlworkers.realism.plan import ClassifierKind, RealismPlan
from mlworkers.realism.scoring import Scoring, in_sample_auc, pair_figures, score_sentences, shortcut_figures
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.training.loop import CurvePoint

SENTENCES_IN_SHARD = 1_000
COLUMNS = (
    Column("sentence", "integer"),
    Column("text"),
    Column("origin"),
    Column("learnt", "integer"),
    Column("group", "integer"),
    Column("fold", "integer"),
    Column("logit_machine", "number"),
    Column("logit_human", "number"),
    Column("p_human", "number"),
)


@dataclass(frozen=True)
class ClassifierLogits:
    """Logits of n sentences (n, 2), none from a classifier that saw the sentence; and those of the classifier that saw
    them all.
    """

    logits: Floats
    in_sample: Floats


@dataclass(frozen=True)
class RealismResult:
    """A scoring from its plan to its figures: what is published, written and shown."""

    plan: RealismPlan
    scored: SentencesToScore
    data: SdiData
    classified: ClassifierLogits
    scoring: Scoring
    figures: dict[str, Any]


def score_realism(plan: RealismPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    # Once: a review in between must not change what a successor scores.
    drawn = job.drawn_once("sentences.json", lambda: scored_sentences(plan, dataset).as_json())
    scored = SentencesToScore.from_json(drawn)
    data = sdi_data(scored.drawn(), folds=plan.folds, seed=plan.seed)
    classified = CLASSIFIERS[plan.classifier](plan, data, job)
    job.report(0, 0, _("Calibrating"))
    result = _evaluated(plan, scored, data, classified)
    made = [_sentence_scores(result, job.folder / "sentence-scores.csv")]
    score_set = _published(result, dataset, job.run_id)
    about = {"score_set": score_set.name, "pairs": len(scored.pairs), "classifier": plan.classifier.value}
    return Outcome(_message(result.figures), result.figures | about, made)


def _with_head(plan: RealismPlan, data: SdiData, job: Job) -> ClassifierLogits:
    """Vectors in shards, each distinct text once; the heads of the folds here: they take seconds."""
    features = _Vectors(plan, data, job).all()
    crossed = cross_fit(features, data, report=job.report)
    penalty = usual_penalty(crossed.penalties)
    head = fit_head(features[data.learnt], data.human[data.learnt], penalty=penalty)
    return ClassifierLogits(crossed.logits, head.logits(features))


class _Vectors:
    """The vectors of a scoring's texts; the encoder is loaded where a shard has to be done."""

    def __init__(self, plan: RealismPlan, data: SdiData, job: Job) -> None:
        self._plan, self._job = plan, job
        self._place = {text: place for place, text in enumerate(dict.fromkeys(data.texts))}
        self._texts = data.texts

    def all(self) -> Floats:
        """(n, d), in the order of the texts."""
        parts = [self._part(number) for number in range(-(-len(self._place) // SENTENCES_IN_SHARD))]
        sizes = [len(part) for part in parts]
        paths = self._job.shards.all("vectors", sizes, self._write, message=_("Encoding sentences"))
        vectors = np.concatenate([array_read(path) for path in paths]).astype(np.float64)
        result: Floats = vectors[[self._place[text] for text in self._texts]]
        return result

    def _part(self, number: int) -> list[str]:
        return list(self._place)[number * SENTENCES_IN_SHARD : (number + 1) * SENTENCES_IN_SHARD]

    def _write(self, number: int, path: Path, report: Report) -> None:
        vectors = encode(self._encoder, self._part(number), self._compute, report=report)
        array_write(path, vectors)

    @cached_property
    def _compute(self) -> Compute:
        return choose_compute()

    @cached_property
    def _encoder(self) -> Any:
        folder = folder_of_model(self._plan.model, kind="encoder", report=self._job.report)
        return load_encoder(folder, self._compute)


def _fine_tuned(plan: RealismPlan, data: SdiData, job: Job) -> ClassifierLogits:
    """A shard for each fold, and one for the classifier of all sentences; each goes on from its checkpoints."""
    trainings = _FoldTrainings(plan, data, job)
    *folds, whole = job.shards.all(
        "folds", trainings.sizes, trainings.write, message=_("Training the classifiers of the folds")
    )
    logits = np.empty((len(data.texts), 2))
    for fold, path in enumerate(folds):
        logits[data.fold == fold] = array_read(path)
    return ClassifierLogits(logits, array_read(whole))


class _FoldTrainings:
    """The trainings of a fine-tuned classifier, each from the same encoder."""

    def __init__(self, plan: RealismPlan, data: SdiData, job: Job) -> None:
        self._plan, self._data, self._job = plan, data, job
        self._parts = [part_of(data, plan, number) for number in range(data.folds + 1)]
        self.sizes = [steps_of(part, plan) for part in self._parts]
        self._compute = choose_compute()

    def write(self, number: int, path: Path, report: Report) -> None:
        """The logits of a fold's sentences, or of all by the classifier of all."""
        model = self._trained(number, report)
        everything = number == self._data.folds
        scored = np.flatnonzero(everything | (self._data.fold == number))
        texts = [self._data.texts[place] for place in scored.tolist()]
        array_write(path, model.logits(texts, self._compute))

    def _trained(self, number: int, report: Report) -> FineTuned:
        folder = folder_of_model(self._plan.model, kind="encoder", report=self._job.report)

        line: dict[str, Any] = {"training": "all"} if number == self._data.folds else {"fold": number}

        def note(point: CurvePoint) -> None:
            inner = {} if point.dev is None else {"inner_loss": -point.dev}
            self._job.curve.write(point.step, loss=point.loss, **inner, **line)

        return fine_tune(
            load_encoder(folder, self._compute),
            self._data,
            self._plan,
            self._parts[number],
            self._compute,
            checkpoints=self._job.kept / f"checkpoint-{number}",
            report=report,
            note=note,
        )


CLASSIFIERS: dict[ClassifierKind, Callable[[RealismPlan, SdiData, Job], ClassifierLogits]] = {
    ClassifierKind.HEAD: _with_head,
    ClassifierKind.FINE_TUNED: _fine_tuned,
}


def _evaluated(
    plan: RealismPlan, scored: SentencesToScore, data: SdiData, classified: ClassifierLogits
) -> RealismResult:
    scoring = score_sentences(classified.logits, data, temperature=plan.temperature)
    p_human = scoring.p_human.tolist()
    figures = {
        **scoring.figures,
        **shortcut_figures(scored.texts, data),
        "auc_in_sample": in_sample_auc(classified.in_sample, data),
        **pair_figures(
            [p_human[pair.place] for pair in scored.pairs], [pair.target for pair in scored.pairs]
        ),
    }
    return RealismResult(plan, scored, data, classified, scoring, figures)


def _sentence_scores(result: RealismResult, path: Path) -> NewArtifact:
    """Every sentence with what became of it, to trace a score by."""
    scored, data = result.scored, result.data
    rows = zip(
        scored.numbers,
        scored.texts,
        ("human" if human else "machine" for human in scored.human),
        *(values.astype(int).tolist() for values in (data.learnt, data.group, data.fold)),
        *result.classified.logits.T.tolist(),
        result.scoring.p_human.tolist(),
        strict=True,
    )
    return NewArtifact("sentence scores", path, {"sentences": write_table(path, "csv", COLUMNS, rows)})


def _published(result: RealismResult, dataset: Dataset, run_id: int) -> ScoreSet:
    plan, p_human = result.plan, result.scoring.p_human.tolist()
    logits = result.classified.logits.T.tolist()
    known = ("temperature", "auc", "auc_low", "auc_high")
    return score_set_publish(
        dataset=dataset,
        name=_("run %(run)s: p_D") % {"run": run_id},
        kind=ScoreSet.Kind.REALISM,
        low=0.0,
        high=1.0,
        method=_("realism, cross-fitted"),
        parameters={
            "generation": plan.run,
            "model": plan.model,
            "classifier": plan.classifier.value,
            "folds": plan.folds,
            "seed": plan.seed,
            **{name: result.figures[name] for name in known},
        },
        scores=[(pair.pair, p_human[pair.place], None, None) for pair in result.scored.pairs],
        sentence_scores=map(
            ScoredSentence, result.scored.numbers, p_human, *logits, result.data.fold.tolist()
        ),
        run_ref=run_id,
    )


def _message(figures: dict[str, Any]) -> str:
    return (
        _(
            "AUC %(auc).2f (%(auc_low).2f to %(auc_high).2f); median p_D %(median_p_human).2f of human, "
            "%(median_p_machine).2f of machine sentences"
        )
        % figures
    )
