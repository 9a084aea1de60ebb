"""Models that are pre-fine-tuned on inference with paraphrases and without, then fine-tuned on tasks, and compared."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.json_text import json_from
from curation.files.progress import Report
from curation.files.writing import folder_remove, folder_replacing
from curation.foundation.errors import UserError
from curation.models import Dataset
from curation.pairs.judged_by import judged_by_all
from mlworkers.kinds.comparisons.task_data import tasks_taken
from mlworkers.kinds.encoders.contrast_data import Corpus, Made, corpus_of
from mlworkers.models import Evaluation, Run
from mlworkers.pipelines.disclosure import Disclosure, benchmark_of_training, dataset_names, disclosure
from mlworkers.pipelines.encoder_data import LONGEST_NAME, curve_note, folder_linked, judges_results
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import seen_by_model, seen_in_words, seen_upstream
from mlworkers.pipelines.snapshots import snapshot_taken
from mlworkers.pipelines.suite_tables import RESAMPLED_BY, compared_cell
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of, home_relative
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.comparison import ComparedEncoder, adjusted, compare, differences_of
from mlworkers.science.encoders.contrastive.variants import ORIGINAL, cell_of
from mlworkers.science.encoders.differences import Difference
from mlworkers.science.encoders.measuring import Measured
from mlworkers.science.encoders.plan import SEEDS_TO_JUDGE
from mlworkers.science.encoders.pre_fine_tuning.plan import PreFineTuningPlan, Row
from mlworkers.science.encoders.pre_fine_tuning.saving import about_save
from mlworkers.science.encoders.pre_fine_tuning.tasks import (
    Task,
    TaskRows,
    decided,
    dev_score,
    figures,
    median_place,
)
from mlworkers.science.encoders.pre_fine_tuning.training import classifier_trained, predictions
from mlworkers.science.encoders.saving import About, seen_by
from mlworkers.science.encoders.text_classifier import load_saved
from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmark_save
from mlworkers.science.pretrained.compute import choose_compute

MODEL, TOLD = "model", "told.json"
_EVALUATING = 1  # what measuring a model counts for, beside the steps of trainings
_LONGEST_LABEL, _LONGEST_SUITE = 40, 200  # of an evaluation's row


def compare_pre_fine_tuning(plan: PreFineTuningPlan, job: Job) -> Outcome:
    """A shard for each pre-fine-tuning, then one for each row, task and seed."""
    comparison = _Comparison(plan, job)
    tuned = job.shards.all(
        "pre-fine-tuning", comparison.pre_sizes, comparison.pre_fine_tune, message=_("Pre-fine-tuning models")
    )
    measured = job.shards.all(
        "fine-tuning",
        comparison.sizes,
        lambda number, path, report: comparison.fine_tune(tuned, number, path, report),
        message=_("Fine-tuning and evaluating models"),
    )
    return comparison.outcome(measured)


class _Pre(NamedTuple):
    row: Row
    seed: int


class _Fit(NamedTuple):
    """The fine-tuning of a row on a task with a seed; task: its place among the tasks."""

    row: Row
    task: int
    seed: int


@dataclass(frozen=True)
class _Figures:
    """Of one row on one task: of each metric a figure for each seed, and the dev score of each seed."""

    by_metric: Sequence[Sequence[Measured]]
    dev: Sequence[float | None]

    @property
    def median(self) -> int:
        return median_place(self.dev)

    @property
    def dev_mean(self) -> float | None:
        known = [value for value in self.dev if value is not None]
        return float(np.mean(known)) if known and len(known) == len(self.dev) else None


class _Comparison:
    """What the shards share. Cheap to make, and the same in every worker that does a shard of it."""

    def __init__(self, plan: PreFineTuningPlan, job: Job) -> None:
        self._plan, self._job = plan, job
        self._base = folder_of_model(plan.model, kind="encoder", report=job.report)
        self._snapshot = snapshot_taken(
            job, job.dataset_of(plan.dataset), plan.snapshot, generated_pairs=plan.generated_pairs
        )
        run = Run.objects.select_related("dataset").get(pk=job.run_id)
        self._seen = seen_by_model(plan.model, self._base) | seen_upstream(run)
        self._taken = tasks_taken(plan, job, self._snapshot, self._seen)
        # All workers read the same files of a task.
        files = [list(one) for taken in self._taken for one in taken.files]
        if files != self._job.drawn_once("tasks.json", lambda: {"files": files})["files"]:
            raise UserError(
                _(
                    "The files of a task are not those here with which the run began; give all workers the same files."
                )
            )
        held = [text for task in self._tasks for rows in (task.dev, task.test) for text in rows.sentences]
        corpus = corpus_of(plan.inference, job, self._snapshot, plan.all_variants, tested=held)
        self._before = len(corpus.examples)
        self._corpus: Corpus = corpus.complete(copies=plan.copies) if plan.complete else corpus
        self._pre = [
            _Pre(row, seed) for row in plan.rows if row.is_pre_fine_tuned for seed in plan.all_pre_seeds
        ]
        self._fits = [
            _Fit(row, place, seed)
            for place, task in enumerate(self._tasks)
            for row in plan.rows
            if task.train is not None or row.is_pre_fine_tuned
            for seed in (plan.all_pre_seeds if task.train is None else plan.all_seeds)
        ]

    @property
    def _tasks(self) -> list[Task]:
        return [one.task for one in self._taken]

    def _made(self, row: Row) -> Made:
        variant = row.name if row.has_copies else ""
        return self._corpus.made(variant=variant, copies=self._plan.copies, share=1.0, keep_originals=True)

    @cached_property
    def pre_sizes(self) -> list[int]:
        """Of each pre-fine-tuning, in steps."""
        plan = self._plan
        steps = {
            row: plan.steps(len(self._made(row).examples), epochs=plan.pre_epochs)
            for row in plan.rows
            if row.is_pre_fine_tuned
        }
        return [steps[one.row] for one in self._pre]

    @cached_property
    def sizes(self) -> list[int]:
        """Of each fine-tuning, in steps."""
        plan, found = self._plan, []
        for task in self._tasks:
            rows = 0 if task.train is None else len(task.train)
            found.append(plan.steps(rows, epochs=plan.epochs_on(rows)))
        return [found[one.task] or _EVALUATING for one in self._fits]

    def pre_fine_tune(self, number: int, path: Path, report: Report) -> None:
        """A classifier of inference: a folder with the model and what there is to tell of it."""
        one, plan = self._pre[number], self._plan
        made = self._made(one.row)
        checkpoints = self._job.kept / "checkpoints" / f"pre-{path.name}"
        first, second = zip(*made.examples.sides, strict=True)
        classifier, trained = classifier_trained(
            self._base,
            TaskRows(first, second, np.array(made.examples.classes, dtype=np.float64)),
            plan,
            choose_compute(plan.device),
            classes=(plan.entailment, plan.neutral, plan.contradiction),
            epochs=plan.pre_epochs,
            seed=one.seed,
            checkpoints=checkpoints,
            now=monotonic,
            report=report,
            note=curve_note(self._job.curve, series=f"pre-fine-tuning, {one.row.name}, seed {one.seed}"),
            message="Pre-fine-tuning",
        )
        with folder_replacing(path, once=True) as beside:
            (beside / MODEL).mkdir()
            classifier.save(beside / MODEL)
            told = {"steps": trained.steps, "loss": trained.kept.loss}
            (beside / TOLD).write_text(json.dumps(told), encoding="utf-8")
        folder_remove(checkpoints)

    def fine_tune(self, tuned: Sequence[Path], number: int, path: Path, report: Report) -> None:
        """What a model decides of each dev and test row of a task, and, if asked, the model itself."""
        one, plan = self._fits[number], self._plan
        task = self._tasks[one.task]
        base = self._base
        if one.row.is_pre_fine_tuned:
            base = tuned[self._pre.index(_Pre(one.row, plan.pre_seed_of(one.seed)))] / MODEL
        checkpoints = self._job.kept / "checkpoints" / f"fit-{path.name}"
        compute, told = choose_compute(plan.device), dict[str, Any]()
        if task.train is None:  # the task is what the model was pre-fine-tuned on
            classifier = load_saved(base, longest=plan.max_length, compute=compute)
        else:
            classifier, trained = classifier_trained(
                base,
                task.train,
                plan,
                compute,
                classes=task.classes,
                epochs=plan.epochs_on(len(task.train)),
                seed=one.seed,
                checkpoints=checkpoints,
                now=monotonic,
                report=report,
                note=curve_note(self._job.curve, series=f"{task.label}, {one.row.name}, seed {one.seed}"),
            )
            told = {"steps": trained.steps, "loss": trained.kept.loss}
        dev, test = (decided(task, predictions(classifier, rows)) for rows in (task.dev, task.test))
        told["dev"] = dev_score(task, dev)
        with folder_replacing(path, once=True) as beside:
            array_write(beside / "test.npy", test)
            (beside / TOLD).write_text(json.dumps(told), encoding="utf-8")
            if plan.keep_models and task.train is not None:
                (beside / MODEL).mkdir()
                classifier.save(beside / MODEL)
                self._about(beside / MODEL, one.row, task)
                behind = self._benchmark if one.row.has_copies else benchmark_behind(self._base)
                benchmark_save(beside / MODEL, behind)
        folder_remove(checkpoints)

    def _about(self, folder: Path, row: Row, task: Task) -> None:
        plan = self._plan
        facts = {
            "task": task.label,
            "row": row.name,
            "dataset": plan.dataset,
            "snapshot": self._snapshot.number,
            "snapshot_sha256": self._snapshot.sha256,
            "training_rows": len(task.train or ()),
        }
        about = About(
            plan.model, content_of(self._base)[0], asdict(plan), facts, self._snapshot.dataset.licence
        )
        learned = [*(task.train.sentences if task.train else ())]
        if row.is_pre_fine_tuned:
            learned += self._made(row).examples.sentences
        about_save(folder, about, learned, task=task, base=seen_by(self._base, plan.model))

    # ---- the result

    def outcome(self, paths: Sequence[Path]) -> Outcome:
        plan = self._plan
        found = self._figures(paths)
        # By task, metric and row: means, and differences from the row without paraphrases, all tested together.
        means: dict[tuple[int, int, str], ComparedEncoder] = {}
        differences: dict[tuple[int, int, str], Difference] = {}
        for place, task in enumerate(self._tasks):
            for number, _metric in enumerate(task.metrics):
                of_rows = {row: each.by_metric[number] for (of, row), each in found.items() if of == place}
                between = [(row, ORIGINAL) for row in of_rows if row != ORIGINAL]
                means |= {(place, number, row): one for row, one in compare(of_rows).items()}
                differences |= {
                    (place, number, pair[0]): one for pair, one in differences_of(of_rows, between).items()
                }
        tested = adjusted(differences)
        cells = {key: compared_cell(one, tested.get(key)) for key, one in means.items()}
        made, evaluations = self._kept(paths, found)
        tasks = [self._task_told(place, found, cells) for place in range(len(self._tasks))]
        taken = self._taken
        result = {
            "tasks": tasks,
            "rows": [self._row_told(row) for row in plan.rows],
            "seeds": list(plan.all_seeds),
            "pre_seeds": list(plan.all_pre_seeds),
            "judged": plan.seeds >= SEEDS_TO_JUDGE,
            "examples": len(self._corpus.examples),
            "examples_that_not_all_can_copy": self._before - len(self._corpus.examples),
            "held_out_left_out": self._corpus.held_out,
            "training_data": seen_in_words(self._seen),
            "snapshot": self._snapshot.number,
            "files": [{"file": name, "sha256": digest} for one in taken for name, digest in one.files],
            **judges_results(judged_by_all([one.judges for one in taken])),
            "warnings": [
                *(note for one in taken for note in one.task.notes),
                *self._disclosed.notes,
            ],
            **self._disclosed.result,
        }
        words = {"models": intcomma(len(paths)), "tasks": len(tasks), "pre": intcomma(len(self._pre))}
        message = _("%(models)s models evaluated on %(tasks)s tasks, from %(pre)s pre-fine-tunings") % words
        return Outcome(message, result, made, evaluations)

    def _figures(self, paths: Sequence[Path]) -> dict[tuple[int, str], _Figures]:
        """By the place of the task and the row."""
        found: dict[tuple[int, str], tuple[list[list[Measured]], list[float | None]]] = {}
        for path, one in zip(paths, self._fits, strict=True):
            task = self._tasks[one.task]
            told = json_from((path / TOLD).read_text("utf-8"))
            measured = figures(
                task,
                task.test,
                array_read(path / "test.npy"),
                resamples=self._plan.bootstrap,
                seed=RESAMPLED_BY,
            )
            by_metric, dev = found.setdefault((one.task, one.row.name), ([[] for _each in measured], []))
            for known, figure in zip(by_metric, measured, strict=True):
                known.append(figure)
            dev.append(told["dev"])
        return {key: _Figures(*each) for key, each in found.items()}

    def _task_told(
        self,
        place: int,
        found: Mapping[tuple[int, str], _Figures],
        cells: Mapping[tuple[int, int, str], dict[str, Any]],
    ) -> dict[str, Any]:
        task = self._tasks[place]
        rows = [row for row in self._plan.rows if (place, row.name) in found]
        # The row with paraphrases of the highest mean dev score, the first of equal ones; "" where none has one.
        known = [
            (score, row.name)
            for row in self._plan.rows
            if row.has_copies and (score := found[place, row.name].dev_mean) is not None
        ]
        return {
            "label": task.label,
            "metrics": [metric.value for metric in task.metrics],
            "classes": len(task.classes),
            "training_rows": 0 if task.train is None else len(task.train),
            "dev_rows": len(task.dev),
            "test_rows": len(task.test),
            "left_out": task.left_out,
            "seen_left_out": task.seen,
            "skipped": task.train is None,
            "epochs": 0 if task.train is None else self._plan.epochs_on(len(task.train)),
            "notes": list(task.notes),
            "chosen": max(known, key=lambda one: one[0])[1] if known else "",
            "rows": [
                {
                    "row": row.name,
                    "dev": (one := found[place, row.name]).dev_mean,
                    "median_seed": self._seeds_of(task)[one.median],
                    "figures": [
                        {
                            **cells[place, number, row.name],
                            "median": one.by_metric[number][one.median].value,
                        }
                        for number in range(len(task.metrics))
                    ],
                }
                for row in rows
            ],
        }

    def _seeds_of(self, task: Task) -> range:
        return self._plan.all_pre_seeds if task.train is None else self._plan.all_seeds

    def _row_told(self, row: Row) -> dict[str, Any]:
        told: dict[str, Any] = {"row": row.name}
        if row.is_pre_fine_tuned:
            made = self._made(row)
            told |= {
                "examples": len(made.examples),
                "copies": len(made.examples) - made.originals,
                "copies_missing": made.missing,
            }
        if row.has_copies and (cell := cell_of(row.name)):
            told |= {"similarity": cell[0], "bleu": cell[1]}
        return told

    def _kept(
        self, paths: Sequence[Path], found: Mapping[tuple[int, str], _Figures]
    ) -> tuple[list[NewArtifact], list[tuple[Evaluation, Path | None]]]:
        """The median models, if they are kept, and a row for each figure of each model."""
        plan = self._plan
        made, evaluations = list[NewArtifact](), list[tuple[Evaluation, Path | None]]()
        for path, one in zip(paths, self._fits, strict=True):
            task, each = self._tasks[one.task], found[one.task, one.row.name]
            place = self._seeds_of(task).index(one.seed)
            folder = None
            if place == each.median and (path / MODEL).is_dir():
                folder = self._job.folder / f"task-{one.task + 1}-row-{plan.rows.index(one.row) + 1}"
                folder_linked(path / MODEL, folder)
                card = {
                    "label": f"{task.label}: {one.row.name}",
                    "seed": one.seed,
                    "base": plan.model,
                    "base_sha256": content_of(self._base)[0],
                    "dataset": plan.dataset,
                    "snapshot": self._snapshot.number,
                    "plan": asdict(plan),
                }
                made.append(NewArtifact("classifier", folder, card))
            for figures_of_seeds in each.by_metric:
                figure = figures_of_seeds[place]
                model = self._plan.model if folder is None else home_relative(folder)
                interval = figure.interval
                row = Evaluation(
                    suite=task.label[:_LONGEST_SUITE],
                    metric=figure.metric.value,
                    value=figure.value,
                    low=interval.low if interval else None,
                    high=interval.high if interval else None,
                    n=figure.pairs,
                    label=one.row.name[:_LONGEST_LABEL],
                    seed=one.seed,
                    model=model[:LONGEST_NAME],
                )
                evaluations.append((row, folder))
        return made, evaluations

    @cached_property
    def _disclosed(self) -> Disclosure:
        tested = {}
        for names, taken in zip(self._plan.all_tasks, self._taken, strict=True):
            known = dataset_names(taken.snapshot.dataset) if taken.snapshot else []
            # As it is written, so that the names of GLUE are known.
            tested[names.label] = [names.name, "STS-B" if names.glue == "stsb" else "", *known]
        return disclosure(self._benchmark, tested)

    @cached_property
    def _benchmark(self) -> str:
        """The benchmark whose scores chose the paraphrases, or what the base model learned from."""
        slug = self._plan.paraphrase_dataset or self._plan.dataset
        dataset = Dataset.objects.get(slug=slug)
        return benchmark_of_training(dataset, filter(None, [self._plan.similarity]), base=self._base)
