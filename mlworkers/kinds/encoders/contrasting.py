"""Encoders trained by contrast."""

from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.files.writing import folder_replacing
from curation.models import Dataset
from mlworkers.kinds.encoders.contrast_data import Corpus, Made, corpus_of, dev_pairs_of
from mlworkers.pipelines.disclosure import benchmark_of_training
from mlworkers.pipelines.encoder_data import curve_note, judges_results
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.snapshots import snapshot_of_plan
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.encoders.contrastive.plan import (
    ContrastPlan,
    Material,
    Objective,
    SharedContrast,
)
from mlworkers.science.encoders.contrastive.training import TrainedByContrast, contrast_train
from mlworkers.science.encoders.saving import About, encoder_save, seen_by
from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmark_save


def train_contrastive(plan: ContrastPlan, job: Job) -> Outcome:
    """One encoder, from a snapshot's sentences, pairs or triplets and their paraphrases."""
    started = monotonic()
    # The model first: a name that leads nowhere leaves no snapshot behind.
    base = folder_of_model(plan.model, kind="encoder", report=job.report)
    snapshot = snapshot_of_plan(plan, job)
    found = dev_pairs_of(plan, job, snapshot, [])
    dev = found.rows if found else None
    variants = [plan.variant] if plan.variant else []
    corpus = corpus_of(plan, job, snapshot, variants, tested=dev.sentences if dev is not None else [])
    made = examples_made(corpus, plan)
    trained = contrast_train(
        base,
        made.examples,
        plan,
        dev=dev,
        checkpoints=job.kept / "checkpoints",
        now=monotonic,
        report=job.report,
        note=curve_note(job.curve),
    )
    folder = job.folder / "encoder"
    card = contrast_card(plan, corpus, base, made)
    if benchmark := benchmark_of_labels(plan, base, copied=plan.variant is not None):
        card["labels_from"] = benchmark
    with folder_replacing(folder) as beside:
        contrast_save(trained, plan, corpus, base=base, made=made, folder=beside)
        benchmark_save(beside, benchmark_of_labels(plan, base, copied=plan.variant is not None))
    seconds = round(monotonic() - started, 1)
    result = {
        **contrast_figures(made, trained),
        **trained.training.shared,
        "held_out_left_out": corpus.held_out,
        "loss_in_words": loss_in_words(plan, made, trained),
        "pooler_in_words": pooler_in_words(plan),
        "snapshot": snapshot.number,
        "seconds": seconds,
    }
    if found is not None:
        judges = judges_results(found.judges)
        result |= {"dev_pairs": len(found.rows), **judges}
        card |= judges
    message = ngettext(
        "Trained on %(examples)s examples in %(steps)s step",
        "Trained on %(examples)s examples in %(steps)s steps",
        trained.training.steps,
    ) % {"examples": intcomma(len(made.examples)), "steps": intcomma(trained.training.steps)}
    return Outcome(message, result, [NewArtifact("encoder", folder, {**card, "seconds": seconds})])


def benchmark_of_labels(plan: SharedContrast, base: Path, *, copied: bool) -> str:
    """The benchmark whose scores chose the paraphrases, or what the base model learned from."""
    dataset = Dataset.objects.filter(slug=plan.paraphrase_dataset or plan.dataset).first()
    if dataset is None or not copied:
        return benchmark_behind(base)
    return benchmark_of_training(dataset, filter(None, [plan.similarity]), base=base)


def loss_in_words(plan: SharedContrast, made: Made, trained: TrainedByContrast) -> str:
    """The loss with its shape, so that nobody needs to guess what an anchor was held against."""
    if plan.objective is Objective.SOFTMAX:
        return _("cross-entropy of three classes on [u, v, |u − v|]")
    if plan.objective is Objective.TRIPLET:
        return _("triplet, Euclidean distance, margin %(margin)g") % {"margin": plan.margin}
    least, most = trained.negatives or (0, 0)
    negatives = str(most) if least == most else _("%(least)s to %(most)s") % {"least": least, "most": most}
    hard = made.examples.width == 3
    words = {"temperature": plan.temperature, "negatives": negatives, "weight": plan.hard_negative_weight}
    if hard:
        return (
            _(
                "cross-entropy of cosines / %(temperature)g over the positives and the hard negatives of the batch; "
                "%(negatives)s negatives of an anchor; its own hard negative's logit + %(weight)g"
            )
            % words
        )
    return (
        _(
            "cross-entropy of cosines / %(temperature)g over the positives of the batch; %(negatives)s negatives of an "
            "anchor"
        )
        % words
    )


def pooler_in_words(plan: SharedContrast) -> str:
    return plan.pooling.value


def examples_made(corpus: Corpus, plan: ContrastPlan) -> Made:
    return corpus.made(
        variant=plan.variant.name if plan.variant else "",
        copies=plan.copies,
        share=plan.share,
        keep_originals=plan.keep_originals,
    )


def contrast_figures(made: Made, trained: TrainedByContrast) -> dict[str, Any]:
    kept = trained.training.kept
    least, most = trained.negatives or (None, None)
    return {
        "examples": len(made.examples),
        "original_examples": made.originals,
        "copies": len(made.examples) - made.originals,
        "copies_missing": made.missing,
        "fewest_in_a_batch": trained.batches[0],
        "most_in_a_batch": trained.batches[1],
        "fewest_negatives": least,
        "most_negatives": most,
        "steps": trained.training.steps,
        "kept_step": kept.step,
        "loss": kept.loss,
        "dev": kept.dev,
    }


def contrast_card(plan: ContrastPlan, corpus: Corpus, base: Path, made: Made) -> dict[str, Any]:
    return {
        "label": label_of(plan),
        "seed": plan.seed,
        "base": plan.model,
        "base_sha256": content_of(base)[0],
        "dataset": plan.dataset,
        "snapshot": corpus.snapshot.number,
        "snapshot_sha256": corpus.snapshot.sha256,
        "generated_pairs": plan.generated_pairs.value,
        "paraphrases": plan.paraphrases,
        "paraphrase_dataset": plan.paraphrase_dataset or plan.dataset,
        "examples": len(made.examples),
        "plan": asdict(plan),
    }


def label_of(plan: ContrastPlan) -> str:
    """What an encoder is called: its loss, what it learned from, and its paraphrases."""
    names = {
        Material.SENTENCES: _("contrast, sentences"),
        Material.PAIRS: _("contrast, pairs"),
        Material.TRIPLETS: _("contrast, triplets"),
    }
    name = names[plan.material] if plan.objective is Objective.CONTRAST else str(plan.objective.value)
    return f"{name}, {plan.variant.name}" if plan.variant else name


def contrast_save(
    trained: TrainedByContrast, plan: ContrastPlan, corpus: Corpus, *, base: Path, made: Made, folder: Path
) -> None:
    facts = {
        "dataset": plan.dataset,
        "snapshot": corpus.snapshot.number,
        "snapshot_sha256": corpus.snapshot.sha256,
        "generated_pairs": plan.generated_pairs.value,
        "examples": len(made.examples),
        "loss": loss_in_words(plan, made, trained),
        "pooler": pooler_in_words(plan),
    }
    about = About(plan.model, content_of(base)[0], asdict(plan), facts, corpus.snapshot.dataset.licence)
    encoder_save(trained.encoder, folder, about, made.examples.sentences, base=seen_by(base, plan.model))
