"""From a base model, examples and a plan to an encoder trained by contrast."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Dense, Pooling
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from curation.files.progress import Report, silent
from curation.statistics.correlation import spearman
from mlworkers.plans.fields import devices_wanted
from mlworkers.science.encoders import training as fitting
from mlworkers.science.encoders.contrastive.examples import Examples, NliLabel
from mlworkers.science.encoders.contrastive.learner import BatchLearner, BatchLoss, module_of
from mlworkers.science.encoders.contrastive.losses import classified_vectors, contrastive_loss, triplet_loss
from mlworkers.science.encoders.contrastive.plan import ContrastPlan, Objective, Pooler
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.rows import Rows
from mlworkers.science.pretrained.compute import Compute, choose_compute, devices_of
from mlworkers.science.pretrained.encoder import load_encoder, pooling_set
from mlworkers.science.pretrained.sources import ModelError
from mlworkers.science.training.checkpoints import checkpoints_of
from mlworkers.science.training.group import Group
from mlworkers.science.training.loop import TrainingResult, train
from mlworkers.science.training.schedule import Places
from mlworkers.science.training.several import Note, trained_on
from mlworkers.science.training.siblings import SiblingsApart

_SPREAD_OF_NEW_LAYERS = 0.02  # as BERT's weights begin
_WITH_HARD_NEGATIVE = 3  # sentences of an example


@dataclass(frozen=True)
class TrainedByContrast:
    """encoder: as it is used afterwards. batches: the fewest and the most examples of a batch. negatives: the fewest
    and the most sentences that an anchor was held against, None for a loss without them.
    """

    encoder: SentenceTransformer
    training: TrainingResult
    batches: tuple[int, int]
    negatives: tuple[int, int] | None


def contrast_train(
    base: Path,
    examples: Examples,
    plan: ContrastPlan,
    *,
    dev: Rows | None = None,
    checkpoints: Path | None = None,
    now: Callable[[], float] | None = None,
    report: Report = silent,
    note: Note = lambda point: None,
) -> TrainedByContrast:
    """Train the encoder in the folder `base` on examples, as the plan says.

    dev: pairs whose Spearman correlation chooses the weights; None keeps the last. checkpoints: a folder of this
    training's own; now: a clock in seconds, a function of a module where there are several devices. Raises the errors
    of `training` and `pretrained`, each one sentence.
    """
    recipe = ContrastTraining(base, examples, plan, dev, checkpoints, now)
    devices = devices_of(plan.device, devices_wanted(plan.devices))
    model, training = trained_on(devices, plan.precision, recipe, report=report, note=note)
    sizes = schedule_of(examples, plan).sizes  # siblings may make some batches smaller
    batches = (min(sizes), max(sizes))
    return TrainedByContrast(model.tested, training, batches, negatives_of(batches, examples, plan.objective))


@dataclass(frozen=True)
class _Model:
    """The encoder as it is trained and as it is used afterwards, its loss, and the layers that the loss needs."""

    trained: SentenceTransformer
    tested: SentenceTransformer
    loss: BatchLoss
    head: nn.Module | None


@dataclass(frozen=True)
class ContrastTraining:
    """All that a process needs to train the encoder (`training.several.Recipe`)."""

    base: Path
    examples: Examples
    plan: ContrastPlan
    dev: Rows | None
    checkpoints: Path | None
    now: Callable[[], float] | None

    def model(self, compute: Compute) -> _Model:
        # The layers of a pooler or of a loss are drawn here: the same seed gives every process the same ones.
        with torch.random.fork_rng():
            torch.manual_seed(self.plan.seed)  # of new layers; the batches have the schedule's own streams
            encoder, tested = encoders_with(self.base, self.plan, compute)
            return _Model(encoder, tested, *_loss_of(self.plan, self.examples, encoder))

    def module(self, model: _Model) -> nn.Module:
        return module_of(model.trained, model.head)

    def train(
        self, model: _Model, compute: Compute, *, report: Report, note: Note, group: Group
    ) -> TrainingResult:
        examples, plan, dev, encoder = self.examples, self.plan, self.dev, model.trained
        own = encoder.max_seq_length
        encoder.max_seq_length = plan.max_length if own is None else min(own, plan.max_length)
        learner = BatchLearner(
            encoder,
            examples,
            compute,
            model.loss,
            tokens_per_pass=fitting.TOKENS_PER_PASS[compute.device.type],
            head=model.head,
            cached=plan.cached,
        )
        if own is not None:
            encoder.max_seq_length = own  # the training sentences are cut now; dev pairs are read as a whole

        def evaluate() -> float | None:
            if dev is None:
                return None
            # Spearman's correlation reads ranks alone, so the scale of the cosines does not matter.
            cosines = pair_cosines(model.tested, dev.first.tolist(), dev.second.tolist(), compute).values
            return spearman(cosines, dev.values)

        return train(
            learner,
            schedule_of(examples, plan),
            plan.loop(),
            evaluate=evaluate if dev is not None else None,  # Spearman on dev pairs, higher is better
            checkpoints=checkpoints_of(
                self.checkpoints, plan, (examples.sides, examples.classes), now=self.now
            ),
            report=report,
            note=note,
            group=group,
        )


def schedule_of(examples: Examples, plan: ContrastPlan) -> SiblingsApart:
    """The batches of all epochs, without siblings."""
    return SiblingsApart(
        examples.sources,
        batch_size=plan.batch_size,
        epochs=plan.epochs,
        warmup=plan.warmup,
        seed=plan.seed,
        evaluate_every=plan.evaluate_every,
    )


def negatives_of(
    batches: tuple[int, int], examples: Examples, objective: Objective
) -> tuple[int, int] | None:
    """How many negatives an anchor has in the smallest and in the largest batch: b - 1 positives of the others and,
    where there are any, all b hard negatives.
    """
    if objective is Objective.SOFTMAX:
        return None
    if objective is Objective.TRIPLET:
        return 1, 1  # a triplet has its own negative alone
    # An anchor's logits have b columns, or 2b with hard negatives; one of them is its own positive.
    least, most = (size - 1 + (size if examples.width == _WITH_HARD_NEGATIVE else 0) for size in batches)
    return least, most


def encoders_with(
    base: Path, plan: ContrastPlan, compute: Compute
) -> tuple[SentenceTransformer, SentenceTransformer]:
    """The base model with the plan's pooler as it is trained, and as it is used afterwards; they share their weights.

    Weights are float32 whatever the precision. A new MLP begins as BERT's layers do, from torch's random numbers.
    """
    encoder = load_encoder(base, replace(compute, dtype=choose_compute("cpu").dtype))
    pooler = plan.pooling
    if pooler is Pooler.OWN:
        return encoder, encoder
    if pooler is Pooler.MEAN:
        pooling_set(encoder, "mean")
        return encoder, encoder
    pooling_set(encoder, "cls")  # the vector of [CLS], as SimCSE
    if pooler is Pooler.CLS:
        return encoder, encoder
    modules = list(encoder)
    place = next(number for number, module in enumerate(modules) if isinstance(module, Pooling)) + 1
    pooling: Any = modules[place - 1]
    # tanh(W v + b), (b, d) -> (b, d): the layer that BERT has behind [CLS].
    dense = Dense(
        pooling.pooling_output_dimension, pooling.pooling_output_dimension, activation_function=nn.Tanh()
    )
    nn.init.normal_(dense.linear.weight, std=_SPREAD_OF_NEW_LAYERS)  # N(0, 0.02²)
    nn.init.zeros_(dense.linear.bias)
    trained = [*modules[:place], dense, *modules[place:]]
    with_mlp = SentenceTransformer(
        modules=list(trained),
        device=str(encoder.device),
        prompts={name: prompt for name, prompt in encoder.prompts.items() if prompt is not None},
        default_prompt_name=encoder.default_prompt_name,
    )
    # Unsupervised SimCSE trains with the MLP and tests the vector before it; the supervised one keeps it.
    return with_mlp, with_mlp if pooler is Pooler.CLS_MLP else encoder


def _loss_of(
    plan: ContrastPlan, examples: Examples, encoder: SentenceTransformer
) -> tuple[BatchLoss, nn.Module | None]:
    """The loss of a batch, and its own layers."""
    if plan.objective is Objective.TRIPLET:
        return lambda sides, _batch: triplet_loss(*sides, margin=plan.margin), None
    if plan.objective is Objective.CONTRAST:
        return lambda sides, _batch: contrastive_loss(
            *sides, temperature=plan.temperature, hard_negative_weight=plan.hard_negative_weight
        ), None
    if examples.classes is None:
        raise ModelError("The loss softmax needs pairs with classes.")
    width = encoder.get_embedding_dimension() or 0
    # The layer reads the three parts of `classified_vectors`, (b, 3d) -> (b, classes).
    head = nn.Linear(3 * width, len(NliLabel)).to(encoder.device)  # d · 3 · 3 + 3 weights
    classes = torch.tensor(examples.classes, device=encoder.device)  # (n,) class numbers of all examples

    def classified(sides: Sequence[Tensor], batch: Places) -> Tensor:
        places = torch.from_numpy(batch).to(classes.device)
        # Sentence-BERT's softmax(W [u, v, |u - v|]) (section 3), here with a bias.
        return cross_entropy(head(classified_vectors(*sides)), classes[places])

    return classified, head
