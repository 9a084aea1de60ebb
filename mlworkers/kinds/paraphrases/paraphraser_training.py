"""A paraphraser trained on a balanced selection of labelled pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.json_text import json_from
from curation.files.writing import folder_remove, folder_replacing, sha256_of
from curation.foundation.errors import UserError
from curation.models import Dataset
from mlworkers.kinds.paraphrases.selecting import PAIRS
from mlworkers.models import Artifact, Run
from mlworkers.pipelines.encoder_data import folder_linked
from mlworkers.pipelines.human_sentences import human_sentences
from mlworkers.pipelines.models import folder_of_model
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import artifact_path, content_of
from mlworkers.science.encoders.saving import About, seen_by, seen_save
from mlworkers.science.encoders.seen import Seen
from mlworkers.science.paraphrasing.card import card
from mlworkers.science.paraphrasing.denoising import sentences_to_write_again
from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmark_save
from mlworkers.science.paraphrasing.paraphraser import (
    Paraphraser,
    TaggedPair,
    Target,
    load_paraphraser,
    paraphraser_further,
    paraphraser_initialised,
)
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.paraphraser_training import paraphraser_trained, warmed_up
from mlworkers.science.paraphrasing.selection_plan import DEV, TRAIN
from mlworkers.science.paraphrasing.tags import TagBounds
from mlworkers.science.pretrained.compute import choose_compute

_WARMED_UP = "warmed-up"  # the folder of a model that has written sentences again


@dataclass(frozen=True)
class SelectedPairs:
    """The file of a selection: its pairs by split, the bounds of their tags, and the benchmark behind their labels."""

    splits: Mapping[str, list[TaggedPair]]
    bounds: TagBounds
    labels_from: str
    sha256: str


def train_paraphraser(plan: ParaphraserPlan, job: Job) -> Outcome:
    started = monotonic()
    dataset = job.dataset_of(plan.dataset)
    base = folder_of_model(plan.model, kind="paraphraser", report=job.report) if plan.model else None
    selected = selected_pairs(plan.selection, dataset)
    before = _to_warm_up_on(plan, dataset, selected.bounds)
    warmed = job.drawn_once("warmed-up.json", partial(_warmed_up, plan, job, base, selected, before))
    tried: list[dict[str, Any]] = []
    for number, rate in enumerate(plan.rates):
        train = partial(_trained, plan, job, base, selected, before, number=number, rate=rate)
        tried.append(job.drawn_once(f"rate-{number}.json", train))
        best = min(tried, key=lambda one: one["dev_loss"])
        for other in tried:
            if other is not best:
                folder_remove(job.kept / f"paraphraser-{other['number']}")
    folder = job.folder / "paraphraser"
    folder_linked(job.kept / f"paraphraser-{best['number']}", folder)
    labels_from = ", ".join(
        dict.fromkeys(filter(None, (selected.labels_from, benchmark_behind(base) if base else "")))
    )
    figures = {name: best[name] for name in ("learning_rate", "dev_loss", "kept_step", "steps", "parameters")}
    _about_save(
        folder,
        plan,
        base,
        selected=selected,
        before=before,
        dataset=dataset,
        figures=figures,
        labels_from=labels_from,
    )
    result = {
        **figures,
        "training_pairs": best["training_pairs"],
        "dev_pairs": best["dev_pairs"],
        "too_long": best["too_long"],
        "warm_up_sentences": len(before),
        "warm_up_loss": warmed["loss"],
        "rates": tried,
        "tags": selected.bounds.as_dict(),
        "labels_from": labels_from,
        "seconds": round(monotonic() - started, 1),
    }
    words = {"parameters": intcomma(best["parameters"]), "pairs": intcomma(best["training_pairs"])}
    message = _(
        "%(parameters)s parameters, %(pairs)s pairs, loss %(loss).2f on dev pairs, learning rate %(rate)s"
    )
    message %= {**words, "loss": best["dev_loss"], "rate": f"{best['learning_rate']:g}"}
    about = {
        "base": plan.model,
        "dataset": dataset.slug,
        "selection": plan.selection,
        "tags": selected.bounds.as_dict(),
        "labels_from": labels_from,
        **figures,
    }
    return Outcome(message, result, [NewArtifact("paraphraser", folder, about)])


def selected_pairs(number: int, dataset: Dataset) -> SelectedPairs:
    """The pairs that a run of the dataset selected. Raises UserError where its file is gone or was changed."""
    run = Run.objects.filter(pk=number, dataset=dataset, kind="select_paraphrases").first()
    file: Artifact | None = run.artifacts.filter(kind=PAIRS).first() if run else None
    if run is None or file is None:
        raise UserError(_("Run %(number)s selected no pairs; choose another selection."), number=number)
    try:
        path = artifact_path(file)
        whole = sha256_of(path) == file.sha256
    except (OSError, ValueError):
        whole = False
    if not whole:
        raise UserError(
            _("The file of the selection %(number)s is gone or was changed; select again."), number=number
        )
    splits: dict[str, list[TaggedPair]] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json_from(line)
        target = Target(row["sim_tag"], row["bleu_tag"])
        splits.setdefault(row["split"], []).append(TaggedPair(row["source"], row["paraphrase"], target))
    bounds = TagBounds(**file.card["tags"])
    return SelectedPairs(splits, bounds, str(file.card.get("labels_from", "")), file.sha256)


def _to_warm_up_on(plan: ParaphraserPlan, dataset: Dataset, bounds: TagBounds) -> list[TaggedPair]:
    """What the model warms up on: human sentences of the split, none that is held out."""
    if not plan.warm_up_epochs:
        return []
    sentences = [text for _number, text in human_sentences(dataset, plan.split)]
    if not sentences:
        raise UserError(
            _(
                "The split “%(split)s” of %(dataset)s has no human sentence to warm up on; name another split."
            ),
            split=plan.split,
            dataset=dataset.slug,
        )
    return sentences_to_write_again(sentences, bounds, seed=plan.seed)


def _begun(
    plan: ParaphraserPlan, base: Path | None, selected: SelectedPairs, before: Sequence[TaggedPair]
) -> Paraphraser:
    """The model before it has learned anything here."""
    compute = choose_compute(plan.device)
    if base is not None:
        return paraphraser_further(base, selected.bounds, compute)
    texts = [text for pair in selected.splits[TRAIN] for text in (pair.source, pair.paraphrase)]
    texts += [pair.paraphrase for pair in before]
    return paraphraser_initialised(texts, selected.bounds, plan, compute)


def _warmed_up(
    plan: ParaphraserPlan, job: Job, base: Path | None, selected: SelectedPairs, before: Sequence[TaggedPair]
) -> dict[str, Any]:
    """Warm up once for all learning rates, into `kept`; `loss` is None without a warm-up."""
    if not before:
        return {"loss": None}
    checkpoints = job.kept / "checkpoints-warm-up"
    with folder_replacing(job.kept / _WARMED_UP) as beside:
        loss = warmed_up(
            _begun(plan, base, selected, before),
            before,
            plan,
            folder=beside,
            checkpoints=checkpoints,
            now=monotonic,
            report=lambda done, total, message: job.report(done, _steps(plan, selected, before), message),
            note=lambda point: job.curve.write(point.step, rate=_("warm-up"), loss=point.loss),
        )
    folder_remove(checkpoints)
    return {"loss": loss}


def _steps(plan: ParaphraserPlan, selected: SelectedPairs, before: Sequence[TaggedPair]) -> int:
    """Of the warm-up and of all learning rates."""
    pairs = len(selected.splits[TRAIN])
    return plan.steps(len(before), plan.warm_up_epochs) + len(plan.rates) * plan.steps(pairs, plan.epochs)


def _trained(
    plan: ParaphraserPlan,
    job: Job,
    base: Path | None,
    selected: SelectedPairs,
    before: Sequence[TaggedPair],
    *,
    number: int,
    rate: float,
) -> dict[str, Any]:
    """Train with one learning rate into `kept`."""
    pairs, dev = selected.splits[TRAIN], selected.splits[DEV]
    if before:
        paraphraser = load_paraphraser(job.kept / _WARMED_UP, choose_compute(plan.device))
    else:
        paraphraser = _begun(plan, base, selected, before)
    first = plan.steps(len(before), plan.warm_up_epochs) + number * plan.steps(len(pairs), plan.epochs)

    def report(done: int, total: int, message: str) -> None:
        job.report(first + done, _steps(plan, selected, before), message)

    checkpoints = job.kept / f"checkpoints-{number}"
    with folder_replacing(job.kept / f"paraphraser-{number}") as beside:
        trained = paraphraser_trained(
            paraphraser,
            pairs,
            dev,
            plan,
            rate=rate,
            folder=beside,
            checkpoints=checkpoints,
            now=monotonic,
            report=report,
            note=lambda point: job.curve.write(
                point.step,
                rate=f"{rate:g}",
                loss=point.loss,
                **({} if point.dev is None else {"dev_loss": -point.dev}),
            ),
        )
    folder_remove(checkpoints)
    return {
        "number": number,
        "learning_rate": rate,
        "dev_loss": trained.dev_loss,
        "kept_step": trained.training.kept.step,
        "steps": trained.training.steps,
        "training_pairs": trained.fitting,
        "dev_pairs": trained.dev,
        "too_long": trained.too_long,
        "parameters": sum(weight.numel() for weight in paraphraser.model.parameters()),
    }


def _about_save(
    folder: Path,
    plan: ParaphraserPlan,
    base: Path | None,
    *,
    selected: SelectedPairs,
    before: Sequence[TaggedPair],
    dataset: Dataset,
    figures: Mapping[str, Any],
    labels_from: str,
) -> None:
    """Where the model comes from, for people and for what must not evaluate it on what it was trained on."""
    data = {
        "dataset": plan.dataset,
        "selection": f"run {plan.selection}",
        "selection_sha256": selected.sha256,
        "training_pairs": len(selected.splits[TRAIN]),
        "dev_pairs": len(selected.splits[DEV]),
        "warm_up_sentences": len(before),
    }
    about = About(plan.model, content_of(base)[0] if base else "", asdict(plan), data, dataset.licence)
    used = (pair for split in (TRAIN, DEV) for pair in selected.splits[split])
    sentences = [text for pair in used for text in (pair.source, pair.paraphrase)]
    sentences += [pair.paraphrase for pair in before]
    seen = seen_by(base, plan.model) if base else Seen(known=True)  # random weights have seen nothing
    seen_save(folder, about, sentences, base=seen)
    benchmark_save(folder, labels_from)
    text = card(about, selected.bounds, figures, labels_from=labels_from)
    (folder / "README.md").write_text(text, encoding="utf-8")
