"""Every number that shapes a comparison of pre-fine-tunings: on inference with paraphrased copies, and without."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from curation.pairs.inclusion import Inclusion
from curation.pairs.leaks import Leaks
from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    clip_setting,
    dataset_setting,
    device_setting,
    generated_pairs_setting,
    setting,
    snapshot_setting,
    warmup_setting,
    weight_decay_setting,
)
from mlworkers.plans.rows import Cells, Column, RowError, RowSyntax, rows_setting
from mlworkers.science.encoders.contrastive.plan import (
    Material,
    Objective,
    SharedContrast,
    bleu_setting,
    complete_setting,
    contradiction_setting,
    copies_setting,
    entailment_setting,
    neutral_setting,
    paraphrase_dataset_setting,
    paraphrase_split_setting,
    similarity_setting,
)
from mlworkers.science.encoders.contrastive.variants import ORIGINAL, VARIANT_ROWS, Variant, variants_listed
from mlworkers.science.encoders.plan import (
    SEEDS_MAX,
    SEEDS_TO_JUDGE,
    check_resamples,
    first_seed_setting,
    resamples_setting,
)
from mlworkers.science.encoders.pre_fine_tuning.tasks import SUBSET, TaskError, TaskNames
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import BatchesOfLikeLength

DIRECT = "no pre-fine-tuning"  # the name of the row that is fine-tuned at once
SECTION = "ConPGS paper, section 6.2"
APPENDIX = "ConPGS paper, appendix C"
STILTS = "Phang et al. 2018, section 3"
from_appendix = partial(setting, source=APPENDIX)
ours = partial(setting, source="docs/guide/how-to/pre-fine-tune.md")
# Appendix C: 3 epochs above 10,000 training rows (SST-2, QQP, MNLI, QNLI), 10 for smaller tasks.
MANY_ROWS, EPOCHS_OF_MANY, EPOCHS_OF_FEW = 10_000, 3, 10


TASK_ROWS = RowSyntax(
    (
        Column("dataset", "Dataset or folder", required=True, offered="dataset or folder"),
        Column("labels", "Labels", offered="labels"),
        Column("task", "GLUE task", offered="GLUE task"),
    ),
    "a folder, or dataset | labels, or dataset | labels | GLUE task",
)


class Row(NamedTuple):
    """A row of the comparison: DIRECT, ORIGINAL, or the name of a variant of paraphrases."""

    name: str

    @property
    def is_pre_fine_tuned(self) -> bool:
        return self.name != DIRECT

    @property
    def has_copies(self) -> bool:
        return self.name not in (DIRECT, ORIGINAL)


@dataclass(frozen=True)
class PreFineTuningPlan:
    """Models that are pre-fine-tuned on inference, with paraphrased copies of each variant and without, and then
    fine-tuned on each task with several seeds (ConPGS, section 6).
    """

    dataset: str = dataset_setting()
    model: str = setting(
        "Base model",
        "The model that is trained further. Give an encoder: packaged:all-MiniLM-L6-v2, run:ID, a folder "
        "or a hub id such as bert-large-uncased.",
        refers_to="model",
        kinds=("encoder",),
    )
    tasks: str = rows_setting(
        "Tasks",
        "What the models are fine-tuned and tested on. The labels of a dataset are a score set (regression) or subset "
        "(the subset of a pair is its class). A folder in SUITES_FOLDER, such as cola, has files called train, dev and "
        "test. The GLUE task chooses the metric.",
        rows=TASK_ROWS,
    )
    split: str = setting(
        "Split of the inference pairs",
        "Only pairs of this split are used. They are learned before fine-tuning. Pairs with a near copy of "
        "a sentence of another split, or of the dev and test rows of a task, are left out.",
        default="train",
        offered="split",
    )
    entailment: str = entailment_setting("The subset of pairs whose second sentence follows from the first.")
    neutral: str = neutral_setting("The subset of pairs that are neither.")
    contradiction: str = contradiction_setting(
        "The subset of pairs whose second sentence contradicts the first."
    )
    variants: str = rows_setting(
        "Variants",
        "Copies that are compared. Pairs of tags such as SIM95 BLEU20 fill a heatmap.",
        rows=VARIANT_ROWS,
        # The paper's 3 · 3 = 9 pairs of tags, of which it reports the best.
        default=", ".join(f"SIM{sim} BLEU{bleu}" for sim in (70, 80, 95) for bleu in ("0_5", 20, 40)),
        source=SECTION,
    )
    copies: int = copies_setting(source=SECTION)
    complete: bool = complete_setting()
    paraphrase_dataset: str = paraphrase_dataset_setting()
    paraphrase_split: str = paraphrase_split_setting()
    similarity: str = similarity_setting()
    bleu: str = bleu_setting()
    direct: bool = setting(
        "Also without pre-fine-tuning",
        "Adds a row of the base model without pre-fine-tuning.",
        default=True,
        source=SECTION,
    )
    train_split: str = ours(
        "Training split of tasks",
        "The split that is fine-tuned on, of tasks in datasets.",
        default="train",
        offered="split",
    )
    dev_split: str = ours(
        "Dev split of tasks",
        "The split that chooses the tags and the seed with the median score. It is that of tasks in "
        "datasets. Where a task has none, a share of its training rows is drawn for it.",
        default="dev",
        offered="split",
    )
    test_split: str = ours(
        "Test split of tasks",
        "The split on which figures are measured, of tasks in datasets. Where a task has none with labels, "
        "as those of GLUE, its dev rows are the test.",
        default="test",
        offered="split",
    )
    dev_share: float = ours(
        "Share of dev rows",
        "Share of training rows that become dev rows without a dev split. They are not trained on.",
        default=0.1,
        bounds=(0.01, 0.5),
    )
    # Appendix C: 5 seeds for tasks of few rows, among which the median is taken; here every task has as many.
    seeds: int = from_appendix(
        "Seeds",
        "Number of trainings, each with another seed. Each row is fine-tuned so often on each task. With "
        "fewer than 5, the noise of training is not known well enough to test a difference.",
        default=SEEDS_TO_JUDGE,
        bounds=(1, SEEDS_MAX),
        essential=True,
    )
    first_seed: int = first_seed_setting()
    pre_seeds: int = setting(
        "Seeds of pre-fine-tuning",
        "Number of pre-fine-tunings of each row; the fine-tunings take them in turn. With 1, as in the "
        "paper, intervals cover other seeds of fine-tuning and not of pre-fine-tuning.",
        default=1,
        bounds=(1, SEEDS_MAX),
        source=SECTION,
    )
    pre_epochs: int = setting(
        "Epochs of pre-fine-tuning",
        "Number of times that each inference pair is used.",
        default=3,
        bounds=(1, 100),
        unit="epochs",
        source=STILTS,
        essential=True,
    )
    epochs: int = from_appendix(
        "Epochs of fine-tuning",
        "Number of times that each row of a task is used. 0: 10, or 3 above 10,000 training rows.",
        default=0,
        bounds=(0, 100),
        unit="epochs",
        essential=True,
    )
    # 24 in STILTs, and 32 in ConPGS for all models (its note 18).
    batch_size: int = from_appendix(
        "Batch size", "Number of examples in one training step.", default=32, bounds=(1, 4096), unit="rows"
    )
    learning_rate: float = from_appendix(
        "Learning rate", "Peak learning rate of AdamW, in both trainings.", default=2e-5, bounds=(1e-8, 0.1)
    )
    warmup: float = warmup_setting(default=0.1, source=STILTS)
    weight_decay: float = weight_decay_setting(default=0.01, source=STILTS)
    clip: float = clip_setting(source=STILTS)
    max_length: int = setting(
        "Longest input",
        "A longer sentence or pair is cut off. The limit of the model holds too.",
        default=128,
        bounds=(8, 8192),
        unit="tokens",
        source=STILTS,
    )
    keep_models: bool = ours(
        "Keep the models",
        "Keeps the fine-tuned model with the median dev score of each row and task. A run with many rows, "
        "tasks and seeds then needs much disk.",
        default=False,
    )
    snapshot: int = snapshot_setting()
    generated_pairs: Inclusion = generated_pairs_setting()
    leaks: str = ours(
        "Leaks",
        "refuse stops the run if test and training split of a task, one of them drawn or set here, share "
        "sentences. allow leaves these out of training.",
        default=Leaks.REFUSE.value,
        choices=tuple(choice.value for choice in Leaks),
    )
    bootstrap: int = resamples_setting()
    device: str = device_setting()

    def __post_init__(self) -> None:
        check_resamples(self.bootstrap)
        _rows, _tasks = self.rows, self.all_tasks
        self.inference.check()

    @property
    def all_variants(self) -> tuple[Variant, ...]:
        return variants_listed(self.variants)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows in their order. Raises PlanError for variants that are none."""
        names = (*((DIRECT,) if self.direct else ()), ORIGINAL, *(one.name for one in self.all_variants))
        return tuple(map(Row, names))

    @property
    def all_tasks(self) -> tuple[TaskNames, ...]:
        """Raises PlanError for a text that names none, or one twice."""
        rows = enumerate(TASK_ROWS.read(self.tasks, "tasks"), start=1)
        found = tuple(_task_read(cells, row) for row, cells in rows)
        if not found:
            raise PlanError(
                "“%(setting)s” is empty; name a folder, or a dataset and its labels.",
                setting=SettingName("tasks"),
            )
        try:
            _glue = [one.glue for one in found]
        except TaskError as error:
            raise PlanError("%(problem)s", problem=str(error)) from error
        labels = [one.label for one in found]
        twice = [label for label in labels if labels.count(label) > 1]
        if twice:
            raise PlanError("The task “%(name)s” is named twice; name it once.", name=twice[0])
        return found

    @property
    def inference(self) -> SharedContrast:
        """What the inference pairs and their paraphrases are read by: classified pairs of one dataset."""
        shared = (
            "dataset", "model", "split", "entailment", "neutral", "contradiction", "paraphrase_dataset",
            "paraphrase_split", "similarity", "bleu", "snapshot", "generated_pairs", "device",
        )  # fmt: skip
        given = {name: getattr(self, name) for name in shared}
        return SharedContrast(material=Material.PAIRS, objective=Objective.SOFTMAX, **given)

    @property
    def all_seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.seeds)

    @property
    def all_pre_seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.pre_seeds)

    def pre_seed_of(self, seed: int) -> int:
        """Which pre-fine-tuning the fine-tuning of a seed begins with."""
        # In turn: seed i begins with model i mod pre_seeds.
        return self.first_seed + (seed - self.first_seed) % self.pre_seeds

    def is_inference(self, task: TaskNames) -> bool:
        """Whether a task is what the models were pre-fine-tuned on, so that fine-tuning is skipped (section 6.1)."""
        return task.dataset == self.dataset and task.labels == SUBSET

    def epochs_on(self, rows: int) -> int:
        """Of fine-tuning on a task with so many training rows."""
        return self.epochs or (EPOCHS_OF_MANY if rows > MANY_ROWS else EPOCHS_OF_FEW)

    def loop(self, seed: int) -> LoopPlan:
        return LoopPlan(self.learning_rate, seed, weight_decay=self.weight_decay, clip=self.clip)

    def schedule(self, lengths: Sequence[int], *, epochs: int, seed: int) -> BatchesOfLikeLength:
        """Of rows with so many tokens."""
        return BatchesOfLikeLength(
            np.array(lengths, dtype=np.int64),
            batch_size=self.batch_size,
            steps=self.steps(len(lengths), epochs=epochs),
            warmup=self.warmup,
            seed=seed,
        )

    def steps(self, rows: int, *, epochs: int) -> int:
        return epochs * math.ceil(rows / self.batch_size)  # an epoch's last batch may be smaller


def _task_read(cells: Cells, row: int) -> TaskNames:
    name, labels, task = cells
    if labels:
        return TaskNames(name, labels, task)
    if task:
        raise RowError(
            "Row %(row)d of “%(setting)s” has a GLUE task and no labels",
            written=TASK_ROWS.written,
            row=row,
            setting=SettingName("tasks"),
        )
    return TaskNames("", "", name)
