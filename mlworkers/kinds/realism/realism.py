"""How human the sentences of a generation sound: p_D of each, from a classifier that saw neither it nor its doubles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from curation.datasets.services import ScoredSentence
from curation.files.progress import Report
from curation.files.tables import Column, write_table
from curation.models import ScoreSet
from mlworkers.kinds.realism.scored_sentences import SentencesToScore, Verdict, scored_sentences
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.publishing import scores_to_publish
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.encoding import encode
from mlworkers.science.pretrained.compute import Compute, choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.realism.dataset import SdiData, sdi_data
from mlworkers.science.realism.discrimination import auc_difference
from mlworkers.science.realism.fine_tuning import fine_tune, part_of, schedule_of
from mlworkers.science.realism.head import Floats, cross_fit, fit_head, usual_penalty
from mlworkers.science.realism.plan import ClassifierKind, RealismPlan
from mlworkers.science.realism.scoring import in_sample_auc, pair_figures, score_sentences
from mlworkers.science.realism.shortcuts import shortcut_figures, shortcuts_near
from mlworkers.science.realism.verdicts import FEWEST_EACH
from mlworkers.science.training.loop import CurvePoint

SENTENCES_IN_SHARD = 1_000
COLUMNS = (
    Column("sentence", "integer"),
    *map(Column, ("text", "origin")),
    *(Column(name, "integer") for name in ("learnt", "group", "fold")),
    *(Column(name, "number") for name in ("logit_machine", "logit_human", "p_human")),
)


class ClassifierLogits(NamedTuple):
    """Logits of n sentences (n, 2).

    held_out: none from a classifier that saw the sentence. in_sample: of one that saw them all. without_verdicts: as
    held_out, where classifiers learned from verdicts, of those that did not.
    """

    held_out: Floats
    in_sample: Floats
    without_verdicts: Floats | None = None


def score_realism(plan: RealismPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    # Once: a review in between must not change what a successor scores.
    drawn = job.drawn_once("sentences.json", lambda: asdict(scored_sentences(plan, dataset)))
    scored = SentencesToScore.from_json(drawn)
    human, usable = (np.array(marks, dtype=bool) for marks in (scored.human, scored.usable))
    data = sdi_data(scored.texts, human, usable, scored.links, folds=plan.folds, seed=plan.seed)
    if plan.learn_from_verdicts:
        kept, rejected = (np.zeros(len(data.texts), dtype=bool) for _side in range(2))
        for verdict in scored.verdicts:
            (kept if verdict.kept else rejected)[verdict.index] = True
        data = data.with_verdicts(kept, rejected, count=plan.verdict_count)
    logits, in_sample, without = CLASSIFIERS[plan.classifier](plan, data, job)
    job.report(0, 0, _("Calibrating"))
    scoring = score_sentences(logits, data, temperature=plan.temperature)
    p_human = scoring.p_human.tolist()
    # Of two machine-written sentences the less human one decides (ADR 33).
    of_pairs = [min(p_human[index] for index in pair.machines) for pair in scored.pairs]
    figures = {
        **scoring.figures,
        **shortcut_figures(scored.texts, data),
        "auc_in_sample": in_sample_auc(in_sample, data),
        **pair_figures(of_pairs, [pair.target for pair in scored.pairs]),
        **({} if without is None else verdict_figures(scored.verdicts, without, logits)),
    }
    if warning := _shortcut_warning(figures):
        figures["warnings"] = [warning]
    made = _sentence_scores(job.folder / "sentence-scores.csv", scored, data, logits, p_human)
    publish = scores_to_publish(
        job,
        dataset,
        name=_("run %(run)s: p_D") % {"run": job.run_id},
        kind=ScoreSet.Kind.REALISM,
        low=0.0,
        high=1.0,
        method=_("human-likeness, learned from decisions")
        if plan.learn_from_verdicts
        else _("human-likeness, cross-fitted"),
        parameters={
            "generation": plan.run,
            "model": plan.model,
            "classifier": plan.classifier.value,
            "folds": plan.folds,
            "seed": plan.seed,
            "learn_from_verdicts": plan.learn_from_verdicts,
            "first_sentences": "human" if all(pair.first is None for pair in scored.pairs) else "written",
            **{name: figures[name] for name in ("temperature", "auc", "auc_low", "auc_high")},
        },
        scores=[(pair.pair, p_d, None, None) for pair, p_d in zip(scored.pairs, of_pairs, strict=True)],
        sentence_scores=map(ScoredSentence, scored.numbers, p_human, *logits.T.tolist(), data.fold.tolist()),
    )
    about = {"pairs": len(scored.pairs), "classifier": plan.classifier.value}
    message = _(
        "AUC %(auc).2f (%(auc_low).2f to %(auc_high).2f; the interval excludes the variation of training again); "
        "median p_D %(median_p_human).2f of human, %(median_p_machine).2f of machine sentences"
    )
    told = [message % figures, _change(figures)] if plan.learn_from_verdicts else [message % figures]
    return Outcome(". ".join(told), figures | about, [made], publish=publish)


def _shortcut_warning(figures: Mapping[str, Any]) -> str:
    """That p_D may know no more than characters or words, where these alone do about as well."""
    near = shortcuts_near(figures)
    if not near:
        return ""
    names = {"characters": _("counts of characters"), "words": _("the words that occur")}
    alone = [f"{names[bag]} ({figures[f'{bag}_auc']:.2f})" for bag in near]
    sentence = _(
        "The AUC of %(bags)s alone is within the interval of p_D's own AUC or above it, so p_D may say more about "
        "format or vocabulary than about how sentences are written."
    )
    return sentence % {"bags": get_text_list(alone, _("and"))}


def verdict_figures(verdicts: Sequence[Verdict], before: Floats, after: Floats) -> dict[str, Any]:
    """How p_D ranks kept above rejected sentences of the random or stratified sample, without and with verdicts.

    before, after: logits (n, 2) of classifiers that saw neither the sentence nor its verdict. The figures of the AUC
    are None where the sample has too few kept or rejected sentences.
    """
    counted = {
        "verdicts_kept": sum(verdict.kept for verdict in verdicts),
        "verdicts_rejected": sum(not verdict.kept for verdict in verdicts),
    }
    sample = [verdict for verdict in verdicts if verdict.weight > 0]
    kept = np.array([verdict.kept for verdict in sample], dtype=bool)
    if min(kept.sum(), (~kept).sum()) < FEWEST_EACH:
        return {**counted, "verdict_auc_before": None, "verdict_auc_after": None, "verdict_auc_change": None}
    index = np.array([verdict.index for verdict in sample])
    weights, strata = np.array([verdict.weight for verdict in sample]), np.array([v.stratum for v in sample])
    without, learned = (np.diff(logits[index], axis=1)[:, 0] for logits in (before, after))
    found = auc_difference(without, learned, kept, weights, strata)
    return {
        **counted,
        "verdict_auc_before": found.before,
        "verdict_auc_after": found.after,
        "verdict_auc_change": found.value,
        "verdict_auc_change_low": found.low,
        "verdict_auc_change_high": found.high,
    }


def _change(figures: dict[str, Any]) -> str:
    if figures["verdict_auc_change"] is None:
        return (
            _(
                "What learning from %(verdicts_kept)s kept and %(verdicts_rejected)s rejected sentences changes is not "
                "known: no random or stratified sample has enough of both"
            )
            % figures
        )
    sentence = _(
        "learning from %(verdicts_kept)s kept and %(verdicts_rejected)s rejected sentences changes the AUC of p_D "
        "for kept sentences from %(verdict_auc_before).2f to %(verdict_auc_after).2f (difference "
        "%(verdict_auc_change)+.2f, %(verdict_auc_change_low)+.2f to %(verdict_auc_change_high)+.2f)"
    )
    return str(sentence % figures)


def _with_head(plan: RealismPlan, data: SdiData, job: Job) -> ClassifierLogits:
    """Vectors in shards, which encode each distinct text once; the heads of the folds here: they take seconds."""
    index_of = {text: index for index, text in enumerate(dict.fromkeys(data.texts))}
    starts = range(0, len(index_of), SENTENCES_IN_SHARD)
    parts = [list(index_of)[start : start + SENTENCES_IN_SHARD] for start in starts]

    @cache
    def loaded() -> tuple[Any, Compute]:
        """The encoder, loaded where a shard has to be done."""
        compute = choose_compute()
        folder = folder_of_model(plan.model, kind="encoder", report=job.report)
        return load_encoder(folder, compute), compute

    def write(number: int, path: Path, report: Report) -> None:
        encoder, compute = loaded()
        array_write(path, encode(encoder, parts[number], compute, report=report))

    paths = job.shards.all("vectors", list(map(len, parts)), write, message=_("Encoding sentences"))
    vectors = np.concatenate([array_read(path) for path in paths]).astype(np.float64)
    features = vectors[[index_of[text] for text in data.texts]]  # (n, d), in the order of the texts
    crossed = cross_fit(features, data, report=job.report)
    penalty = usual_penalty(crossed.penalties)
    learned = data.learned
    head = fit_head(features[learned], data.label[learned], counts=data.count[learned], penalty=penalty)
    without = None
    if plan.learn_from_verdicts:
        without = cross_fit(features, data.without_verdicts(), report=job.report).logits
    return ClassifierLogits(crossed.logits, head.logits(features), without)


def _fine_tuned(plan: RealismPlan, data: SdiData, job: Job) -> ClassifierLogits:
    """A shard for each fold, and one for the classifier of all sentences; each goes on from its checkpoints."""
    parts = [part_of(data, plan, number) for number in range(data.folds + 1)]
    compute = choose_compute()

    def write(number: int, path: Path, report: Report) -> None:
        """The logits of a fold's sentences, or of all by the classifier of all."""
        everything = number == data.folds
        line: dict[str, Any] = {"training": "all"} if everything else {"fold": number}

        def note(point: CurvePoint) -> None:
            inner = {} if point.dev is None else {"inner_loss": -point.dev}
            job.curve.write(point.step, loss=point.loss, **inner, **line)

        folder = folder_of_model(plan.model, kind="encoder", report=job.report)
        model = fine_tune(
            load_encoder(folder, compute),
            data,
            plan,
            parts[number],
            compute,
            checkpoints=job.kept / f"checkpoint-{number}",
            report=report,
            note=note,
        )
        scored = np.flatnonzero(everything | (data.fold == number))
        texts = [data.texts[index] for index in scored.tolist()]
        array_write(path, model.logits(texts, compute))

    sizes = [schedule_of(part, plan).steps for part in parts]
    message = _("Training the classifiers of the folds")
    *folds, whole = job.shards.all("folds", sizes, write, message=message)
    logits = np.empty((len(data.texts), 2))
    for fold, path in enumerate(folds):
        logits[data.fold == fold] = array_read(path)
    return ClassifierLogits(logits, array_read(whole))


CLASSIFIERS: dict[ClassifierKind, Callable[[RealismPlan, SdiData, Job], ClassifierLogits]] = {
    ClassifierKind.HEAD: _with_head,
    ClassifierKind.FINE_TUNED: _fine_tuned,
}


def _sentence_scores(
    path: Path, scored: SentencesToScore, data: SdiData, logits: Floats, p_human: list[float]
) -> NewArtifact:
    """Every sentence with what became of it, to trace a score by."""
    rows = zip(
        scored.numbers,
        scored.texts,
        ("human" if human else "machine" for human in scored.human),
        *(values.astype(int).tolist() for values in (data.learned, data.group, data.fold)),
        *logits.T.tolist(),
        p_human,
        strict=True,
    )
    return NewArtifact("sentence scores", path, {"sentences": write_table(path, "csv", COLUMNS, rows)})
