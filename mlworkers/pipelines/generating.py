"""A generator trained on a dataset's pairs, and the pairs that a generator writes."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.errors import UserError
from curation.exchange.generated import GeneratedRow, generated_pairs_add
from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import folder_replacing, replacing
from curation.models import Dataset
from mlworkers.pipelines.human_sentences import held_out_of, labelled_pairs, sources_drawn
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pretrained.compute import Compute, choose_compute
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.synthesis.bootstrap import BootstrapResult, generator_trained
from mlworkers.synthesis.generator import Generator, PromptTooLongError, load_generator
from mlworkers.synthesis.plan import BootstrapPlan, GenerationPlan
from mlworkers.synthesis.postprocessing import ProcessedRows, Row, postprocessed
from mlworkers.synthesis.prompts import LabelledPair, examples_written, label_counts, task_named
from mlworkers.synthesis.rows import Source, WrittenRow
from mlworkers.synthesis.writing import check_length, rows_written

METHOD = "DINO: similarity that the instruction asks for"


def bootstrap_generator(plan: BootstrapPlan, job: Job) -> Outcome:
    kept = job.drawn_once("pairs.json", lambda: _pairs_to_learn(plan, job))
    pairs = [LabelledPair(*pair) for pair in kept["pairs"]]
    task = task_named(plan.task)
    started = monotonic()
    folder = job.folder / "generator"
    with folder_replacing(folder) as beside:
        trained = generator_trained(
            list(examples_written(pairs, task)),
            plan,
            choose_compute(plan.device),
            folder=beside,
            checkpoints=job.kept / "checkpoints",
            report=job.report,
            note=lambda point: job.curve.write(point.step, loss=point.loss),
            expired=lambda: monotonic() - started > plan.minutes * 60,
        )
    result = {
        "pairs": len(pairs),
        "held_out": kept["held_out"],
        "labels": label_counts(pairs, task),
        "seconds": round(monotonic() - started, 1),
        **_trained_figures(trained, plan),
    }
    card = {"parameters": trained.parameters, "task": plan.task, "loss": trained.loss, "steps": trained.steps}
    return Outcome(_message_of(trained, plan), result, [NewArtifact("generator", folder, card)])


def generate_pairs(plan: GenerationPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    drawn = job.drawn_once("sources.json", lambda: _sources_to_continue(plan, dataset))
    sources = [Source(*source) for source in drawn["sources"]]
    writer = _Writer(plan, sources, job.report)
    sizes = [len(part) * plan.samples * len(plan.label_list) for part in writer.parts]
    paths = job.shards.all("writing", sizes, writer.write, message=_("Writing sentences"))
    written, refused = _read(paths)
    if not written:
        raise UserError(refused[0])
    held_out = held_out_of(dataset, plan.split)
    processed = postprocessed(written, sources, plan, held_out=held_out)
    return _stored(processed, plan, job, dataset=dataset, refused=refused, writer=writer)


@dataclass
class _Writer:
    """Writes shards of the sources; loads the model for the first one that it has to do.

    seconds, rows: of the shards that this worker wrote.
    """

    plan: GenerationPlan
    sources: Sequence[Source]
    report: Report
    seconds: float = 0.0
    rows: int = 0

    @property
    def parts(self) -> list[Sequence[Source]]:
        size = self.plan.shard_sources
        return [self.sources[start : start + size] for start in range(0, len(self.sources), size)]

    @cached_property
    def _generator(self) -> Generator:
        folder = folder_of_model(self.plan.model, kind="generator", report=self.report)
        return load_generator(folder, self._compute)

    @cached_property
    def _compute(self) -> Compute:
        return choose_compute(self.plan.device, self.plan.precision)

    def write(self, number: int, path: Path, report: Report) -> None:
        """One shard, a line for each row and for each source that was refused."""
        generator = self._generator
        started = monotonic()
        fitting, refused = self._fitting(self.parts[number])
        rows = rows_written(generator, fitting, self.plan, self._compute, shard=number, report=report)
        lines = [row.as_json() for row in rows] + [{"refused": sentence} for sentence in refused]
        _lines_write(path, lines)
        self.seconds += monotonic() - started
        self.rows += len(rows)

    def _fitting(self, sources: Sequence[Source]) -> tuple[list[Source], list[str]]:
        """The sources whose prompts fit into the model's context, and why the others do not."""
        fitting, refused = [], []
        for source in sources:
            try:
                check_length(self._generator, source, self.plan)
            except PromptTooLongError as error:
                refused.append(str(error))
            else:
                fitting.append(source)
        return fitting, refused


def _stored(
    processed: ProcessedRows,
    plan: GenerationPlan,
    job: Job,
    *,
    dataset: Dataset,
    refused: Sequence[str],
    writer: _Writer,
) -> Outcome:
    kept = processed.kept
    if not kept:
        raise UserError(_nothing_kept(processed))
    path = job.folder / "rows.jsonl"
    _lines_write(path, [row.as_json() for row in processed.rows])
    added = generated_pairs_add(
        dataset=dataset,
        run_ref=job.run_id,
        rows=[GeneratedRow(row.source, row.text, row.target or 0.0) for row in kept],
        split=plan.split,
        method=METHOD,
        parameters={"model": plan.model, "task": plan.task, "smoothing": plan.smoothing, "seed": plan.seed},
    )
    result = _figures(processed, writer, plan) | {
        "refused": len(refused),
        "refused_because": list(refused[:3]),
        "score_set": added.score_set.name,
        "pairs": added.pairs,
        "human_sentences": added.human,
    }
    message = _("%(kept)s rows kept of %(generated)s, written for %(sources)s sentences") % {
        "kept": intcomma(len(kept)),
        "generated": intcomma(result["generated"]),
        "sources": intcomma(result["sources"]),
    }
    card = {"rows": len(processed.rows), "kept": len(kept), "model": plan.model}
    return Outcome(message, result, [NewArtifact("generated rows", path, card)])


def _figures(processed: ProcessedRows, writer: _Writer, plan: GenerationPlan) -> dict[str, Any]:
    generated = [row for row in processed.rows if not row.sampled]
    kept = processed.kept
    written = sum(not row.sampled for row in kept)
    return {
        "sources": len({row.source for row in generated}),
        "generated": len(generated),
        "kept": len(kept),
        "written": written,
        "sampled": len(kept) - written,
        "partners_not_found": processed.missing,
        "labels": {label: _kept_of(label, kept) for label in plan.label_list},
        "dropped": {reason: count for reason, count in processed.dropped.items() if count},
        "rows_per_second": _rate(writer, written / len(generated)),
    }


def _kept_of(label: str, kept: Sequence[Row]) -> int:
    return sum(row.label == label and not row.sampled for row in kept)


def _rate(writer: _Writer, share: float) -> float | None:
    """Kept rows a second, sampled ones not counted; None where other workers or attempts wrote everything."""
    return round(writer.rows * share / writer.seconds, 1) if writer.seconds else None


def _nothing_kept(processed: ProcessedRows) -> str:
    reasons = ", ".join(f"{reason} {count}" for reason, count in processed.dropped.items() if count)
    sentence = _("No row could be kept (%(reasons)s); take a larger model, or train it for longer.")
    return sentence % {"reasons": reasons}


def _pairs_to_learn(plan: BootstrapPlan, job: Job) -> dict[str, Any]:
    dataset = job.dataset_of(plan.dataset)
    score_set = dataset.score_sets.filter(name=plan.score_set).first()
    if score_set is None:
        raise UserError(_("The score set “%(name)s” is gone; choose another.") % {"name": plan.score_set})
    pairs, held_out = labelled_pairs(dataset, plan.split, score_set)
    if not pairs:
        sentence = _(
            "No pair of the split “%(split)s” has a score in “%(name)s”; choose another split or score set."
        )
        raise UserError(sentence % {"split": plan.split, "name": plan.score_set})
    return {"pairs": pairs, "held_out": held_out}


def _sources_to_continue(plan: GenerationPlan, dataset: Dataset) -> dict[str, Any]:
    sources = sources_drawn(dataset, plan.split, most=plan.sources, seed=plan.seed)
    if not sources:
        sentence = _(
            "The split “%(split)s” of %(dataset)s has no human sentence that is not held out; name another split."
        )
        raise UserError(sentence % {"split": plan.split, "dataset": dataset.slug})
    return {"sources": sources}


def _lines_write(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    with replacing(path) as file:
        file.writelines(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def _read(paths: Sequence[Path]) -> tuple[list[WrittenRow], list[str]]:
    written, refused = [], []
    for path in paths:
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            facts = json_from(line)
            if "refused" in facts:
                refused.append(facts["refused"])
            else:
                written.append(WrittenRow(**facts))
    return written, refused


def _trained_figures(trained: BootstrapResult, plan: BootstrapPlan) -> dict[str, Any]:
    return {
        "steps": trained.steps,
        "steps_planned": plan.steps,
        "stopped_by_time": not trained.finished,
        "examples": trained.examples,
        "too_long": trained.too_long,
        "parameters": trained.parameters,
        "tokens": trained.tokens,
        "loss": trained.loss,
    }


def _message_of(trained: BootstrapResult, plan: BootstrapPlan) -> str:
    words = {
        "parameters": intcomma(trained.parameters),
        "steps": intcomma(trained.steps),
        "planned": intcomma(plan.steps),
        "loss": trained.loss,
    }
    if trained.finished:
        return _("%(parameters)s parameters, %(steps)s steps, loss %(loss).2f") % words
    return _("%(parameters)s parameters; its time ended after %(steps)s of %(planned)s steps") % words
