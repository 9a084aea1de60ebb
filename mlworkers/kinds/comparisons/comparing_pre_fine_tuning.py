"""Models that are pre-fine-tuned on inference with paraphrases and without, then fine-tuned on tasks, and compared."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.files.progress import Report
from curation.foundation.errors import UserError
from curation.models import Dataset
from curation.pairs.judged_by import judged_by_all
from mlworkers.kinds.comparisons.task_data import tasks_taken
from mlworkers.kinds.encoders.contrast_data import Corpus, Made, corpus_of
from mlworkers.models import Evaluation
from mlworkers.pipelines.disclosure import Disclosure, benchmark_of_training, dataset_names, disclosure
from mlworkers.pipelines.encoder_data import LONGEST_NAME, curve_note, folder_linked, judges_results
from mlworkers.pipelines.experiment import (
    NO_TRAINING,
    RESAMPLED_BY,
    Compared,
    Stage,
    arms_compare,
    told_of,
)
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.seen import seen_behind, seen_by_model, seen_in_words
from mlworkers.pipelines.snapshots import snapshot_of_plan
from mlworkers.pipelines.suites import evaluation_of
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of, home_relative
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.contrastive.variants import ORIGINAL, cell_of
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
from mlworkers.science.encoders.suites.figures import WHOLE, Figure
from mlworkers.science.encoders.text_classifier import TextClassifier, load_saved
from mlworkers.science.paraphrasing.disclosure import benchmark_behind, benchmark_save
from mlworkers.science.pretrained.compute import choose_compute

MODEL = "model"
_LONGEST_LABEL, _LONGEST_SUITE = 40, 200  # of an evaluation's row


def compare_pre_fine_tuning(plan: PreFineTuningPlan, job: Job) -> Outcome:
    """A shard for each pre-fine-tuning, then one for each row, task and seed."""
    c = _Comparison(plan, job)
    first = Stage("pre-fine-tuning", c.pre, c.pre_sizes, c.pre_train, c.pre_store, "pre-", timed=False)
    tuned = first.carry_out(job, _("Pre-fine-tuning models"))
    second = Stage("fine-tuning", c.fits, c.sizes, partial(c.train, tuned), c.store, "fit-", timed=False)
    return c.outcome(second.carry_out(job, _("Fine-tuning and evaluating models")))


class _Pre(NamedTuple):
    row: Row
    seed: int


class _Fit(NamedTuple):
    """The fine-tuning of a row on a task with a seed; task: its place among the tasks."""

    row: Row
    task: int
    seed: int


_Trained = tuple[TextClassifier, dict[str, Any]]  # a model, and the figures of its training


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
        self._snapshot = snapshot_of_plan(plan, job)
        self._seen = seen_by_model(plan.model, self._base) | seen_behind(job)
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
        self.pre = [
            _Pre(row, seed) for row in plan.rows if row.is_pre_fine_tuned for seed in plan.all_pre_seeds
        ]
        self.fits = [
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

    @property
    def pre_sizes(self) -> list[int]:
        """Of each pre-fine-tuning, in steps."""
        plan = self._plan
        steps = {
            row: plan.steps(len(self._made(row).examples), epochs=plan.pre_epochs)
            for row in plan.rows
            if row.is_pre_fine_tuned
        }
        return [steps[one.row] for one in self.pre]

    @property
    def sizes(self) -> list[int]:
        """Of each fine-tuning, in steps."""
        plan, found = self._plan, []
        for task in self._tasks:
            rows = 0 if task.train is None else len(task.train)
            found.append(plan.steps(rows, epochs=plan.epochs_on(rows)))
        return [found[one.task] or NO_TRAINING for one in self.fits]

    def _trained(self, base: Path, rows: TaskRows, series: str, **settings: Any) -> _Trained:
        plan, note = self._plan, curve_note(self._job.curve, series=series)
        classifier, trained = classifier_trained(
            base, rows, plan, choose_compute(plan.device), now=monotonic, note=note, **settings
        )
        return classifier, {"steps": trained.steps, "loss": trained.kept.loss}

    def pre_train(self, one: _Pre, checkpoints: Path, report: Report) -> _Trained:
        """A classifier of inference."""
        plan, examples = self._plan, self._made(one.row).examples
        first, second = zip(*examples.sides, strict=True)
        return self._trained(
            self._base,
            TaskRows(first, second, np.array(examples.classes, dtype=np.float64)),
            f"pre-fine-tuning, {one.row.name}, seed {one.seed}",
            classes=(plan.entailment, plan.neutral, plan.contradiction),
            epochs=plan.pre_epochs,
            seed=one.seed,
            checkpoints=checkpoints,
            report=report,
            message="Pre-fine-tuning",
        )

    @staticmethod
    def pre_store(_one: _Pre, trained: _Trained, folder: Path, _report: Report) -> dict[str, Any]:
        classifier, told = trained
        (folder / MODEL).mkdir()
        classifier.save(folder / MODEL)
        return told

    def train(self, tuned: Sequence[Path], one: _Fit, checkpoints: Path, report: Report) -> _Trained:
        """tuned: the folders of the pre-fine-tuned models."""
        plan, task, base = self._plan, self._tasks[one.task], self._base
        if one.row.is_pre_fine_tuned:
            base = tuned[self.pre.index(_Pre(one.row, plan.pre_seed_of(one.seed)))] / MODEL
        if task.train is None:  # the task is what the model was pre-fine-tuned on
            return load_saved(base, longest=plan.max_length, compute=choose_compute(plan.device)), {}
        return self._trained(
            base,
            task.train,
            f"{task.label}, {one.row.name}, seed {one.seed}",
            classes=task.classes,
            epochs=plan.epochs_on(len(task.train)),
            seed=one.seed,
            checkpoints=checkpoints,
            report=report,
        )

    def store(self, one: _Fit, trained: _Trained, folder: Path, _report: Report) -> dict[str, Any]:
        """What the model decides of each test row of the task and, if models are kept, the model."""
        task, (classifier, told) = self._tasks[one.task], trained
        dev, test = (decided(task, predictions(classifier, rows)) for rows in (task.dev, task.test))
        array_write(folder / "test.npy", test)
        if self._plan.keep_models and task.train is not None:
            (folder / MODEL).mkdir()
            classifier.save(folder / MODEL)
            self._about(folder / MODEL, one.row, task)
            behind = self._benchmark if one.row.has_copies else benchmark_behind(self._base)
            benchmark_save(folder / MODEL, behind)
        return {**told, "dev": dev_score(task, dev)}

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
        # By the places of the task and the metric. Every row is compared with the one without paraphrases.
        compared = arms_compare(
            {
                (place, number): {
                    row: each.by_metric[number] for (of, row), each in found.items() if of == place
                }
                for place, task in enumerate(self._tasks)
                for number in range(len(task.metrics))
            },
            lambda _test, rows: [(row, ORIGINAL) for row in rows if row != ORIGINAL],
        )
        made, evaluations = self._kept(paths, found)
        tasks = [self._task_told(place, found, compared) for place in range(len(self._tasks))]
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
        words = {"models": intcomma(len(paths)), "tasks": len(tasks), "pre": intcomma(len(self.pre))}
        message = _("%(models)s models evaluated on %(tasks)s tasks, from %(pre)s pre-fine-tunings") % words
        return Outcome(message, result, made, evaluations)

    def _figures(self, paths: Sequence[Path]) -> dict[tuple[int, str], _Figures]:
        """By the place of the task and the row."""
        found: dict[tuple[int, str], tuple[list[list[Measured]], list[float | None]]] = {}
        for path, one in zip(paths, self.fits, strict=True):
            task = self._tasks[one.task]
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
            dev.append(told_of(path)["dev"])
        return {key: _Figures(*each) for key, each in found.items()}

    def _task_told(
        self,
        place: int,
        found: Mapping[tuple[int, str], _Figures],
        compared: Mapping[tuple[int, int], Compared],
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
                            **compared[place, number].cell(row.name),
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
        for path, one in zip(paths, self.fits, strict=True):
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
            model = plan.model if folder is None else home_relative(folder)
            about = {"model": model[:LONGEST_NAME], "label": one.row.name[:_LONGEST_LABEL], "seed": one.seed}
            for of_seeds in each.by_metric:
                figure = Figure(task.label[:_LONGEST_SUITE], WHOLE, of_seeds[place])
                evaluations.append((evaluation_of(figure, **about), folder))
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
