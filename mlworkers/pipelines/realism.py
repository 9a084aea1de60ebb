"""How human the sentences of a generation sound: p_D of each, from a classifier that saw neither it nor its doubles."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from curation.datasets.services import ScoredSentence, score_set_publish
from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.tables import Column, write_table
from curation.files.writing import replacing
from curation.models import Dataset, ScoreSet
from mlworkers.encoders.arrays import array_read, array_write
from mlworkers.encoders.encoding import encode
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.scored_sentences import Scored, scored_sentences
from mlworkers.pretrained.compute import Compute, choose_compute
from mlworkers.pretrained.encoder import load_encoder
from mlworkers.realism.dataset import SdiData, sdi_data
from mlworkers.realism.fine_tuning import FineTuned, fine_tune, part_of, steps_of
from mlworkers.realism.head import Floats, cross_fit, fit_head, usual_penalty
from mlworkers.realism.plan import ClassifierKind, RealismPlan
from mlworkers.realism.scoring import Scoring, in_sample_auc, pair_figures, score_sentences, shortcut_figures
from mlworkers.runs.jobs import Made, Outcome, Work, dataset_of
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
class Classified:
    """Logits of n sentences (n, 2), none from a classifier that saw the sentence; and those of the classifier that saw
    them all.
    """

    logits: Floats
    in_sample: Floats


@dataclass(frozen=True)
class Found:
    """A scoring from its plan to its figures: what is published, written and shown."""

    plan: RealismPlan
    scored: Scored
    data: SdiData
    classified: Classified
    scoring: Scoring
    figures: dict[str, Any]


def score_realism(plan: RealismPlan, work: Work) -> Outcome:
    dataset = dataset_of(work, plan.dataset)
    scored = _drawn_once(plan, dataset, work.kept / "sentences.json")
    data = sdi_data(scored.drawn(), folds=plan.folds, seed=plan.seed)
    classified = CLASSIFIERS[plan.classifier](plan, data, work)
    work.report(0, 0, _("Calibrating"))
    found = _measured(plan, scored, data, classified)
    made = [_sentence_scores(found, work.folder / "sentence-scores.csv")]
    score_set = _published(found, dataset, work.run_id)
    about = {"score_set": score_set.name, "pairs": len(scored.pairs), "classifier": plan.classifier.value}
    return Outcome(_message(found.figures), found.figures | about, made)


def _drawn_once(plan: RealismPlan, dataset: Dataset, path: Path) -> Scored:
    """What the run's first attempt drew: a review in between must not change what its successor scores."""
    if not path.is_file():
        scored = scored_sentences(plan, dataset)
        with replacing(path) as file:
            file.write(json.dumps(scored.as_json()).encode())
    return Scored.from_json(json_from(path.read_text("utf-8")))


def _with_head(plan: RealismPlan, data: SdiData, work: Work) -> Classified:
    """Vectors in shards, each distinct text once; the heads of the folds here: they take seconds."""
    features = _Vectors(plan, data, work).all()
    crossed = cross_fit(features, data, report=work.report)
    penalty = usual_penalty(crossed.penalties)
    head = fit_head(features[data.learnt], data.human[data.learnt], penalty=penalty)
    return Classified(crossed.logits, head.logits(features))


class _Vectors:
    """The vectors of a scoring's texts; the encoder is loaded where a shard has to be done."""

    def __init__(self, plan: RealismPlan, data: SdiData, work: Work) -> None:
        self._plan, self._work = plan, work
        self._place = {text: place for place, text in enumerate(dict.fromkeys(data.texts))}
        self._texts = data.texts

    def all(self) -> Floats:
        """(n, d), in the order of the texts."""
        parts = [self._part(number) for number in range(-(-len(self._place) // SENTENCES_IN_SHARD))]
        sizes = [len(part) for part in parts]
        paths = self._work.shards.all("vectors", sizes, self._write, message=_("Encoding sentences"))
        vectors = np.concatenate([array_read(path) for path in paths]).astype(np.float64)
        found: Floats = vectors[[self._place[text] for text in self._texts]]
        return found

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
        folder = folder_of_model(self._plan.model, kind="encoder", report=self._work.report)
        return load_encoder(folder, self._compute)


def _fine_tuned(plan: RealismPlan, data: SdiData, work: Work) -> Classified:
    """A shard for each fold, and one for the classifier of all sentences; each goes on from its checkpoints."""
    trainings = _Trainings(plan, data, work)
    *folds, whole = work.shards.all(
        "folds", trainings.sizes, trainings.write, message=_("Training the classifiers of the folds")
    )
    logits = np.empty((len(data.texts), 2))
    for fold, path in enumerate(folds):
        logits[data.fold == fold] = array_read(path)
    return Classified(logits, array_read(whole))


class _Trainings:
    """The trainings of a fine-tuned classifier, each from the same encoder."""

    def __init__(self, plan: RealismPlan, data: SdiData, work: Work) -> None:
        self._plan, self._data, self._work = plan, data, work
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
        folder = folder_of_model(self._plan.model, kind="encoder", report=self._work.report)

        line: dict[str, Any] = {"training": "all"} if number == self._data.folds else {"fold": number}

        def note(point: CurvePoint) -> None:
            inner = {} if point.dev is None else {"inner_loss": -point.dev}
            self._work.curve.write(point.step, loss=point.loss, **inner, **line)

        return fine_tune(
            load_encoder(folder, self._compute),
            self._data,
            self._plan,
            self._parts[number],
            self._compute,
            checkpoints=self._work.kept / f"checkpoint-{number}",
            report=report,
            note=note,
        )


CLASSIFIERS: dict[ClassifierKind, Callable[[RealismPlan, SdiData, Work], Classified]] = {
    ClassifierKind.HEAD: _with_head,
    ClassifierKind.FINE_TUNED: _fine_tuned,
}


def _measured(plan: RealismPlan, scored: Scored, data: SdiData, classified: Classified) -> Found:
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
    return Found(plan, scored, data, classified, scoring, figures)


def _sentence_scores(found: Found, path: Path) -> Made:
    """Every sentence with what became of it, to trace a score by."""
    scored, data = found.scored, found.data
    rows = zip(
        scored.numbers,
        scored.texts,
        ("human" if human else "machine" for human in scored.human),
        *(values.astype(int).tolist() for values in (data.learnt, data.group, data.fold)),
        *found.classified.logits.T.tolist(),
        found.scoring.p_human.tolist(),
        strict=True,
    )
    return Made("sentence scores", path, {"sentences": write_table(path, "csv", COLUMNS, rows)})


def _published(found: Found, dataset: Dataset, run_id: int) -> ScoreSet:
    plan, p_human = found.plan, found.scoring.p_human.tolist()
    logits = found.classified.logits.T.tolist()
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
            **{name: found.figures[name] for name in known},
        },
        scores=[(pair.pair, p_human[pair.place], None, None) for pair in found.scored.pairs],
        sentence_scores=map(ScoredSentence, found.scored.numbers, p_human, *logits, found.data.fold.tolist()),
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
