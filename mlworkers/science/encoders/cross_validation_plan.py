"""Every setting of a cross-validation of encoders."""

from dataclasses import dataclass
from enum import StrEnum

from curation.pairs.inclusion import Inclusion
from mlworkers.plans.fields import (
    SEEDS,
    PlanError,
    SettingName,
    dataset_setting,
    device_setting,
    generated_pairs_setting,
    precision_setting,
    seed_setting,
    setting,
    snapshot_setting,
    warmup_setting,
)
from mlworkers.science.encoders.folds import Protocol
from mlworkers.science.encoders.plan import (
    SEEDS_MAX,
    SEEDS_TO_JUDGE,
    EncoderPlan,
    Pooling,
    check_resamples,
    leaks_setting,
    names_listed,
    ours,
    resamples_setting,
)


class Method(StrEnum):
    """What gives a pair its score. Only `FINE_TUNED` learns from the other folds."""

    DICE = "dice"  # 2 |A ∩ B| / (|A| + |B|) of distinct words: .57 in the STR paper
    STATIC = "static"  # the mean of word vectors
    MEAN = "mean"  # Σ_t h_t / T of T token vectors
    MAX = "max"  # max_t h_t, coordinate by coordinate
    CLS = "cls"  # h_1, the vector of the first token
    FINE_TUNED = "fine-tuned"  # by (cos - score)² on the other folds

    @property
    def needs_model(self) -> bool:
        return self not in (Method.DICE, Method.STATIC)


UNTRAINED = tuple(method for method in Method if method is not Method.FINE_TUNED)


@dataclass(frozen=True)
class CrossValidationPlan:
    """Rows of the STR paper's tables 5 and 6, with folds that leak and folds that do not, side by side."""

    dataset: str = dataset_setting()
    score_set: str = setting(
        "Score set",
        "Human or reference scores, to train on and to measure by.",
        refers_to="score set",
        kinds=("human", "reference"),
    )
    model: str = setting(
        "Model",
        "The encoder that is pooled without training, and fine-tuned. Give packaged:all-MiniLM-L6-v2, "
        "run:ID, a folder or a hub id. May be empty if the methods are dice and static only.",
        default="",
        refers_to="model",
        kinds=("encoder",),
    )
    methods: str = ours(
        "Methods",
        "Names separated by commas: dice (words in common), static (mean word vectors), mean, max and cls "
        "(the untrained model with that pooling), fine-tuned. fine-tuned is trained on the other folds "
        "with mean pooling. Empty: dice, and all that a model is needed for if you choose one.",
        default="",
        essential=True,
        several=tuple(Method),
    )
    vectors: str = setting(
        "Word vectors",
        "The path of word vectors (word2vec, GloVe) or of a StaticEmbedding folder. A file may be packed "
        "with gzip. The method static uses them. Empty: the input embeddings of the model.",
        default="",
        refers_to="word vectors",
    )
    protocols: str = ours(
        "Protocols",
        "Names separated by commas. random may divide pairs that share a sentence; components keeps them "
        "together; sources leaves out one source at a time. With random, the encoder may be tested on "
        "sentences that it has seen.",
        default="random,components,sources",
        essential=True,
        several=tuple(Protocol),
    )
    # Each pair is scored once, by the model of the fold that tests it.
    folds: int = setting(
        "Folds",
        "Number of folds of random and components.",
        default=5,
        bounds=(2, 20),
        source="STR paper, section 6",
    )
    split: str = setting(
        "Split", "Only pairs of this split are used. Empty: every pair.", default="", offered="split"
    )
    leaks: str = leaks_setting()
    seeds: int = ours(
        "Seeds of training",
        "Number of trainings, each with another seed. The method fine-tuned is trained so often on each fold. With 1, "
        "intervals leave out the noise of training. With more, figures are means over the seeds and intervals are over "
        f"pairs and seeds; with fewer than {SEEDS_TO_JUDGE}, the noise of training is not known well, and the "
        "intervals are wide.",
        default=1,
        bounds=(1, SEEDS_MAX),
        essential=True,
    )
    epochs: str = ours(
        "Epochs to choose from",
        "Numbers to try, separated by commas. Each fold chooses one of them on an inner split of its "
        "training folds.",
        default="2,4",
    )
    # The tested fold has no part in the choice: it would flatter the figure.
    inner_share: float = ours(
        "Inner validation share",
        "The share of the training folds on which the number of epochs is chosen.",
        default=0.1,
        bounds=(0.01, 0.5),
    )
    learning_rate: float = ours(
        "Learning rate", "Peak learning rate of AdamW.", default=2e-5, bounds=(1e-8, 0.1)
    )
    batch_size: int = ours(
        "Batch size", "Number of examples in one training step.", default=16, bounds=(1, 4096), unit="pairs"
    )
    warmup: float = warmup_setting(default=0.1, source="docs/guide/how-to/train-and-compare.md")
    max_length: int = ours(
        "Longest input",
        "Longer sentences are cut off. The limit of the model holds too.",
        default=128,
        bounds=(4, 8192),
        unit="tokens",
    )
    bootstrap: int = resamples_setting()
    precision: str = precision_setting()
    device: str = device_setting()
    snapshot: int = snapshot_setting()
    generated_pairs: Inclusion = generated_pairs_setting()
    seed: int = seed_setting(bounds=(0, SEEDS[1] - SEEDS_MAX))

    def __post_init__(self) -> None:
        check_resamples(self.bootstrap)
        if len(set(self.epochs_tried)) != len(names_listed(self.epochs)):
            raise _wrong("epochs", self.epochs, "whole numbers from 1 to 100, each once")
        needing = [method for method in self.chosen if method.needs_model]
        if Method.STATIC in self.chosen and not self.vectors:
            needing.append(Method.STATIC)
        if needing and not self.model:
            raise PlanError(
                "The method “%(method)s” needs a model; choose one for “%(model)s”, or leave the method out of "
                "“%(methods)s”.",
                method=needing[0].value,
                model=SettingName("model"),
                methods=SettingName("methods"),
            )
        if not self.protocols_chosen:
            raise _wrong("protocols", self.protocols, ", ".join(Protocol))

    @property
    def chosen(self) -> tuple[Method, ...]:
        """In the order in which they were named. Raises PlanError for a name that is unknown or comes twice."""
        names = names_listed(self.methods) or [
            method for method in Method if method is Method.DICE or (method.needs_model and self.model)
        ]
        if set(names) - set(Method):
            raise _wrong("methods", self.methods, ", ".join(Method))
        return tuple(Method(name) for name in names)

    @property
    def protocols_chosen(self) -> tuple[Protocol, ...]:
        """As `chosen`."""
        names = names_listed(self.protocols)
        if set(names) - set(Protocol):
            raise _wrong("protocols", self.protocols, ", ".join(Protocol))
        return tuple(Protocol(name) for name in names)

    @property
    def epochs_tried(self) -> tuple[int, ...]:
        """Raises PlanError."""
        names = names_listed(self.epochs)
        if not names or any(not name.isdigit() or not 1 <= int(name) <= 100 for name in names):
            raise _wrong("epochs", self.epochs, "whole numbers from 1 to 100, each once")
        return tuple(sorted(map(int, names)))  # rising: of equal figures the shortest training comes first

    @property
    def all_seeds(self) -> range:
        """Of trainings."""
        return range(self.seed, self.seed + self.seeds)

    def training(self, epochs: int, seed: int) -> EncoderPlan:
        """The plan of one training."""
        return EncoderPlan(
            dataset=self.dataset,
            model=self.model,
            scores=self.score_set,
            generated_pairs=self.generated_pairs,
            split=self.split,
            warmup=self.warmup,
            max_length=self.max_length,
            pooling=Pooling.MEAN,  # the STR paper's encoders, too, are pooled by the mean
            precision=self.precision,
            device=self.device,
            epochs=epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            seed=seed,
        )


def _wrong(setting_name: str, value: str, known: str) -> PlanError:
    return PlanError(
        "“%(setting)s” is “%(value)s”; give names from %(known)s, with commas between."
        if setting_name != "epochs"
        else "“%(setting)s” is “%(value)s”; give %(known)s, with commas between.",
        setting=SettingName(setting_name),
        value=value,
        known=known,
    )
