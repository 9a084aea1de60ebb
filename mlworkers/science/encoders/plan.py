"""Every number that shapes an encoder's training, its evaluation, and a comparison of weightings."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial

from curation.pairs.inclusion import Inclusion
from curation.pairs.leaks import Leaks
from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    check_devices,
    clip_setting,
    dataset_setting,
    device_setting,
    devices_setting,
    generated_pairs_setting,
    precision_setting,
    seed_setting,
    setting,
    snapshot_setting,
    warmup_setting,
    weight_decay_setting,
)
from mlworkers.plans.rows import Column, RowSyntax, rows_setting
from mlworkers.science.training.plan import LoopPlan
from mlworkers.science.training.schedule import ShuffledEpochs

FITTED = 0.0  # as a temperature: the one with which p_D was published
TRAINED_ON = ("target", "reference", "human", "model")  # kinds of score set
ADAM_EPSILON = 1e-6  # RISE's released code
SEEDS_MAX = 20
SEEDS_TO_JUDGE = 5  # below, the noise of training is known to a factor of two or three at best
FEWEST_RESAMPLES = 100  # the tails of fewer hold next to nothing


class Signal(StrEnum):
    """What is known of a pair that a weight can be made from."""

    REALISM = "realism"  # p_D
    CONSISTENCY = "consistency"  # p_y
    VERDICTS = "verdicts"
    ERRORS = "errors"  # standard errors of the scores that are trained on


SCORED_SIGNALS = (Signal.REALISM, Signal.CONSISTENCY)  # those that a score set holds
SYMBOLS = {Signal.REALISM: "p_D", Signal.CONSISTENCY: "p_y"}
# Odds: p_D below 0.048 or above 0.952 is clipped.
RATIO_BOUNDS = (0.05, 20.0)  # of p_D / (1 - p_D), before it is divided by its mean


class Weighting(StrEnum):
    """The weight of a generated pair. random and constant are controls: their weights do not depend on the pair. Each
    shuffle is the control of one other weighting: the same weights, each on another pair.
    """

    PLAIN = "plain"  # w = 1
    REALISM = "realism"  # w = p_D (RISE, equation 1)
    CONSISTENCY = "consistency"  # w = p_y
    PRODUCT = "product"  # w = p_D · p_y
    FILTER = "filter"  # w = 0 for the lowest p_D, 1 for others (RISE, section 5)
    FILTER_CONSISTENCY = "filter-consistency"  # the same by p_y
    RATIO = "ratio"  # w = p_D / (1 - p_D), clipped, over its mean
    RANK = "rank"  # w = (rank of p_D within its label - 1/2) / pairs of the label
    VERDICTS = "verdicts"  # w = 1 for kept, 0 for rejected, `unjudged_weight` for others
    PRECISION = "precision"  # w = σ² / (σ² + s²), s the standard error of the score
    RANDOM = "random"  # w ~ U(0, 1) (RISE, section 5)
    SHUFFLE = "shuffle"  # of realism; it was the first
    SHUFFLE_CONSISTENCY = "shuffle-consistency"
    SHUFFLE_PRODUCT = "shuffle-product"
    SHUFFLE_FILTER = "shuffle-filter"
    SHUFFLE_FILTER_CONSISTENCY = "shuffle-filter-consistency"
    SHUFFLE_RATIO = "shuffle-ratio"
    SHUFFLE_RANK = "shuffle-rank"
    SHUFFLE_VERDICTS = "shuffle-verdicts"
    SHUFFLE_PRECISION = "shuffle-precision"
    CONSTANT = "constant"  # w = 1/2

    @property
    def controlled(self) -> "Weighting | None":
        """Of a shuffle, the weighting whose weights it shuffles."""
        return _CONTROLLED.get(self)

    @property
    def control(self) -> "Weighting | None":
        """The shuffle of these weights; None where they do not depend on the pair."""
        return _CONTROLS.get(self)

    @property
    def signals(self) -> tuple[Signal, ...]:
        """What the weights are made from."""
        return _SIGNALS.get(self.controlled or self, ())

    @property
    def uses_size_of_realism(self) -> bool:
        """Whether another temperature of p_D gives other weights: not where its order alone matters."""
        # a temperature keeps the order.
        by_order = self.filters or (self.controlled or self) is Weighting.RANK
        return Signal.REALISM in self.signals and not by_order

    @property
    def filters(self) -> bool:
        """Whether some pairs are dropped, and the others have the weight 1."""
        return (self.controlled or self) in (Weighting.FILTER, Weighting.FILTER_CONSISTENCY)


_SIGNALS = {
    Weighting.REALISM: (Signal.REALISM,),
    Weighting.CONSISTENCY: (Signal.CONSISTENCY,),
    Weighting.PRODUCT: (Signal.REALISM, Signal.CONSISTENCY),
    Weighting.FILTER: (Signal.REALISM,),
    Weighting.FILTER_CONSISTENCY: (Signal.CONSISTENCY,),
    Weighting.RATIO: (Signal.REALISM,),
    Weighting.RANK: (Signal.REALISM,),
    Weighting.VERDICTS: (Signal.VERDICTS,),
    Weighting.PRECISION: (Signal.ERRORS,),
}
_CONTROLS = {
    each: Weighting("shuffle" if each is Weighting.REALISM else f"shuffle-{each}") for each in _SIGNALS
}
_CONTROLLED = {control: each for each, control in _CONTROLS.items()}


def signals_of(weightings: Iterable[Weighting]) -> tuple[Signal, ...]:
    """What any of them needs, each once."""
    return tuple(dict.fromkeys(signal for weighting in weightings for signal in weighting.signals))


class Unscored(StrEnum):
    """What becomes of a training pair without p_D or p_y, where a weighting needs it."""

    AS_HUMAN = "as human"  # p = 1 where a person wrote or edited the second sentence
    LEAVE_OUT = "leave out"
    REFUSE = "refuse"


class Normalise(StrEnum):
    """Whether weights are brought to a mean of 1: not at all, over all rows, or within each batch."""

    NONE = "none"  # w_i / B, as RISE
    MEAN1 = "mean1"  # w_i / w̄ / B, with the mean w̄ of all rows
    BATCH = "batch"  # w_i / Σ w of the batch


class Pooling(StrEnum):
    """How the vectors of tokens become the vector of a sentence."""

    OWN = "as the model"
    MEAN = "mean"  # Σ_t h_t / T of T token vectors
    CLS = "cls"  # h_1
    MAX = "max"  # max_t h_t, coordinate by coordinate


class Loss(StrEnum):
    """What a batch of pairs is trained by: the cosine's error, or the order of the pairs."""

    COSINE = "cosine"  # (cos - y)²
    COSENT = "cosent"  # log(1 + Σ exp(λ (s_j - s_i))) over y_i > y_j, s the cosine
    ANGLE = "angle"  # the same, s the angle similarity


RISE_TABLE = "RISE, table 9"
RISE_CODE = "RISE's released code"
RISE_WEIGHTINGS = "RISE, sections 4 and 5"
from_table = partial(setting, source=RISE_TABLE)
from_code = partial(setting, source=RISE_CODE)
OURS = "docs/guide/how-to/train-and-compare.md"
ours = partial(setting, source=OURS)
realism_setting = partial(
    setting,
    "Human-likeness (p_D)",
    "The score set with p_D of each generated sentence. The weightings realism, product, filter, ratio and rank need "
    "one, and so do their shuffles.",
    default="",
    refers_to="score set",
    kinds=("realism",),
    essential=True,
)
suites_setting = partial(
    setting,
    "Published test suites",
    "Names separated by commas: stsb, sts12 to sts16, sick-r, sick-e, mrpc, qqp, paws, snli. The files of "
    "each are looked for in its folder in SUITES_FOLDER. Empty: none.",
    default="",
    refers_to="suites",
)
base_model_setting = partial(
    setting,
    "Base model",
    "The model that is trained further. Give packaged:all-MiniLM-L6-v2, run:ID, a folder or a hub id.",
    refers_to="model",
    kinds=("encoder",),
)
first_seed_setting = partial(
    setting,
    "First seed",
    "The first seed; the others are the numbers that follow.",
    default=42,
    bounds=(0, 2**31 - 1 - SEEDS_MAX),
)
dev_dataset_setting = partial(
    setting,
    "Dev dataset",
    "The dataset of the dev pairs. Empty: the dataset above.",
    default="",
    refers_to="dataset",
)
test_scores_setting = partial(
    setting,
    "Test scores",
    "Human or reference scores of the test pairs.",
    kw_only=True,
    refers_to="score set",
    kinds=("reference", "human"),
    within="test_dataset",
)
test_dataset_setting = partial(
    setting,
    "Test dataset",
    "The dataset of the test pairs. Empty: the dataset above.",
    default="",
    refers_to="dataset",
)
test_split_setting = partial(
    setting,
    "Test split",
    "Only pairs of this split are used. Empty: every pair.",
    default="test",
    offered="split",
)
resamples_setting = partial(
    ours,
    "Resamples",
    "Number of bootstrap resamples for intervals: 100 or more, or 0 for none. The interval of a difference "
    "between weightings needs no resamples.",
    # 2.5 % of 1,000 are 25 resamples beyond each end of the interval.
    default=1000,
    bounds=(0, 100_000),
)
leaks_setting = partial(
    setting,
    "Leaks",
    "refuse stops the run if test pairs share a sentence with a split that was trained on. allow gives "
    "figures with and without them. Published test suites are always measured, with a warning.",
    default=Leaks.REFUSE.value,
    choices=tuple(choice.value for choice in Leaks),
    source="docs/guide/explain/leaks.md",
)


@dataclass(frozen=True)
class SharedTraining:
    """What is trained on, and how, but for the settings that a search varies."""

    dataset: str = dataset_setting()
    model: str = base_model_setting()
    scores: str = setting(
        "Training scores",
        "The training scores: human or reference scores, target similarities, or those of a model. "
        "Similarities from contexts are those of a model. An encoder that is trained on these is a student "
        "encoder.",
        refers_to="score set",
        kinds=TRAINED_ON,
    )
    realism: str = realism_setting()
    consistency: str = setting(
        "Label consistency (p_y)",
        "The score set with p_y of each generated pair. The weightings consistency, product and filter-consistency "
        "need one, and so do their shuffles.",
        default="",
        refers_to="score set",
        kinds=("consistency",),
    )
    snapshot: int = snapshot_setting()
    generated_pairs: Inclusion = generated_pairs_setting()
    split: str = setting(
        "Training split",
        "Only pairs of this split are used. Pairs with a near copy of a sentence of another split are left "
        "out.",
        default="train",
        offered="split",
    )
    unscored: str = ours(
        "Pairs without p_D or p_y",
        "as human counts missing p_D and p_y as 1, leave out drops such pairs, refuse stops the run. "
        "Nobody estimates them for sentences that a person wrote, or that a curator edited in review. “as "
        "human” refuses machine sentences that were not scored. “leave out” takes the pairs out of every "
        "weighting alike.",
        default=Unscored.AS_HUMAN.value,
        choices=tuple(choice.value for choice in Unscored),
    )
    warmup: float = warmup_setting(default=0.1, source=RISE_CODE)
    max_length: int = from_code(
        "Longest input",
        "Longer sentences are cut off. The limit of the model holds too.",
        default=128,
        bounds=(4, 8192),
        unit="tokens",
    )
    pooling: Pooling = setting(
        "Pooling",
        "How token vectors become one: mean, cls (first token), max (largest number of each place), or as "
        "the model. The trained encoder keeps the pooling.",
        default=Pooling.OWN,
        source="docs/guide/how-to/train-and-compare.md",
    )
    weight_decay: float = weight_decay_setting(default=0.01, source=RISE_CODE)
    clip: float = clip_setting(source=RISE_CODE)
    loss: Loss = setting(
        "Loss",
        "cosine makes cosines equal to scores (mean squared error). cosent and angle only order pairs as "
        "their scores do, by cosines or by AnglE's angle similarity. They compare the pairs of a batch.",
        default=Loss.COSINE,
        source="RISE, equation 3",
    )
    # λ = 20 = 1 / 0.05: exp(λ · difference) of cosines, which lie in -1..1, stays within e^±40.
    loss_scale: float = setting(
        "Scale of a ranking loss",
        "The losses cosent and angle multiply similarities by this number. The loss cosine does not use it.",
        default=20.0,
        bounds=(0.01, 1000.0),
        source="sentence-transformers, CoSENTLoss",
    )
    # With none a mean weight below 1 shrinks loss and gradient; AdamW's step hardly depends on their size.
    normalise: Normalise = setting(
        "Normalise weights",
        "none leaves the weights as they are; mean1 divides them by their mean over the training pairs, "
        "batch by their mean in each batch. Weights of ratio always have the mean 1.",
        default=Normalise.NONE,
        source=RISE_CODE,
    )
    # int(share · n) pairs, rounded down; ties go by the pairs' numbers.
    filter_share: float = setting(
        "Share to filter",
        "Share of pairs that filter and filter-consistency drop. These are the pairs with the lowest p_D, "
        "and with the lowest p_y.",
        default=0.1,
        bounds=(0.0, 0.95),
        source="RISE, section 5",
    )
    # Halfway between a rejected pair's 0 and a kept one's 1.
    unjudged_weight: float = ours(
        "Weight without a decision",
        "Weight of generated pairs without a decision, in the weighting verdicts. Kept and edited pairs "
        "and those that people made have 1; rejected pairs are in no snapshot.",
        default=0.5,
        bounds=(0.0, 1.0),
    )
    # By Spearman's correlation, unweighted, so that all weightings are judged alike.
    validation_share: float = ours(
        "Validation share",
        "This share of the training pairs is not trained on. The weights that agree best with the scores of "
        "these validation pairs are kept. 0 keeps the last weights.",
        default=0.0,
        bounds=(0.0, 0.5),
    )
    # Three times within an epoch and once at its end.
    looks: int = from_code(
        "Evaluations per epoch",
        "How often the encoder is evaluated on the validation pairs.",
        default=4,
        bounds=(1, 100),
    )
    precision: str = precision_setting()
    device: str = device_setting()
    devices: str = devices_setting()


@dataclass(frozen=True)
class TrainingPlan(SharedTraining):
    """What is trained on, and how: the settings that one encoder and a comparison of many have in common."""

    epochs: int = from_table(
        "Epochs",
        "Number of times that each example is used.",
        default=3,
        bounds=(1, 100),
        unit="epochs",
        essential=True,
    )
    # A ranking loss compares the pairs of a batch: b (b - 1) / 2 twos.
    batch_size: int = from_table(
        "Batch size", "Number of examples in one training step.", default=32, bounds=(1, 4096), unit="pairs"
    )
    # Up in a line over the warm-up, then down to 0.
    learning_rate: float = from_table(
        "Learning rate", "Peak learning rate of AdamW.", default=2e-5, bounds=(1e-8, 0.1)
    )
    # σ(logit(p_D) · published temperature / this one).
    temperature: float = ours(
        "Temperature of p_D (τ)",
        "Temperature of p_D before pairs are weighed; 0 leaves p_D as it was published. Below 1, p_D is "
        "nearer to 0 and 1 than the logits of its classifier say. It was published with a fitted "
        "temperature, unless its run chose another. The weightings filter and rank use the order of p_D "
        "only, which no temperature changes.",
        default=FITTED,
        bounds=(0.0, 50.0),
    )


@dataclass(frozen=True)
class EncoderPlan(TrainingPlan):
    """One encoder, trained on scored pairs."""

    # L = 1/B · Σ_i w_i (cos_i - y_i)²: each weighting is a choice of w (`encoders.losses`).
    weighting: Weighting = setting(
        "Weighting",
        "plain gives every pair the weight 1, realism its p_D, consistency its p_y, product both "
        "multiplied, ratio p_D / (1 − p_D), clipped, rank the rank of p_D within a target similarity; "
        "verdicts goes by the review, precision by the standard errors of the scores. filter drops the "
        "pairs of lowest p_D, filter-consistency those of "
        "lowest p_y. random, constant, shuffle and shuffle- before another name are controls.",
        default=Weighting.PLAIN,
        source=RISE_WEIGHTINGS,
        essential=True,
    )
    seed: int = seed_setting()
    leaks: str = ours(
        "Leaks",
        "refuse stops the run if training pairs share a sentence with another split, and one of the two "
        "was drawn or set here. allow leaves these pairs out. Pairs that share a sentence with another "
        "split of an imported file are always left out, with a warning.",
        default=Leaks.REFUSE.value,
        choices=tuple(choice.value for choice in Leaks),
    )

    def schedule(self, rows: int) -> ShuffledEpochs:
        """When so many pairs are learned."""
        return ShuffledEpochs(
            rows,
            batch_size=self.batch_size,
            epochs=self.epochs,
            warmup=self.warmup,
            seed=self.seed,
            evaluations=self.looks,
        )

    def loop(self) -> LoopPlan:
        return LoopPlan(
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            clip=self.clip,
            epsilon=ADAM_EPSILON,
            seed=self.seed,
        )

    def __post_init__(self) -> None:
        check_signals(self, [Weighting(self.weighting)])
        check_devices(self.device, self.devices)


@dataclass(frozen=True)
class EvaluationPlan:
    """An encoder's cosines against the scores that people gave a dataset's pairs."""

    dataset: str = dataset_setting()
    model: str = setting(
        "Model",
        "The encoder that is evaluated. Give packaged:all-MiniLM-L6-v2, run:ID, a folder or a hub id.",
        refers_to="model",
        kinds=("encoder",),
    )
    score_set: str = setting(
        "Score set",
        "Human or reference scores. May be empty if test suites are named: then no pair of the dataset is "
        "used.",
        default="",
        refers_to="score set",
        kinds=("reference", "human"),
        preselected=True,
    )
    split: str = setting(
        "Split",
        "Only pairs of this split are used. Empty: every pair.",
        default="test",
        offered="split",
    )
    suites: str = suites_setting()
    leaks: str = leaks_setting()
    bootstrap: int = resamples_setting()
    precision: str = ours(
        "Precision",
        "int8 encodes faster on a processor and changes the correlation a little. Cite figures of float32.",
        default="float32",
        choices=("float32", "int8"),
    )
    device: str = device_setting()
    snapshot: int = snapshot_setting()
    generated_pairs: Inclusion = generated_pairs_setting()
    seed: int = seed_setting(default=1234)

    def __post_init__(self) -> None:
        check_resamples(self.bootstrap)
        if not names_listed(self.suites) and not self.score_set:
            raise PlanError(
                "Neither “%(scores)s” nor “%(suites)s” is given, so there is nothing to evaluate on; give either.",
                scores=SettingName("score_set"),
                suites=SettingName("suites"),
            )

    @property
    def suite_names(self) -> tuple[str, ...]:
        """Raises PlanError for a name that comes twice."""
        return names_listed(self.suites)


@dataclass(frozen=True)
class Source:
    """A dataset that encoders of a comparison are trained on: its score set, and those of p_D and p_y or nothing."""

    dataset: str
    scores: str
    realism: str = ""
    consistency: str = ""


SOURCE_ROWS = RowSyntax(
    (
        Column("dataset", "Dataset", required=True, offered="other dataset"),
        Column("scores", "Training scores", required=True, offered="score set", kinds=TRAINED_ON),
        Column("realism", "p_D", offered="score set", kinds=("realism",)),
        Column("consistency", "p_y", offered="score set", kinds=("consistency",)),
    ),
    "dataset | training scores | p_D | p_y",
)
DOMAIN_ROWS = RowSyntax(
    (
        Column("dataset", "Dataset", required=True, offered="dataset"),
        Column("suite", "Suite", required=True, offered="suite"),
    ),
    "dataset=suite",
    between_cells="=",
    between_rows=",",
)
BASELINES = ("static", "cls", "mean")


@dataclass(frozen=True)
class ComparisonPlan(TrainingPlan):
    """The baseline model and an encoder of each weighting and seed, all trained on the same pairs in the same order and
    evaluated on the same test pairs.
    """

    realism: str = realism_setting(preselected=True)  # the default weightings need it
    test_score_set: str = test_scores_setting()
    weightings: str = setting(
        "Weightings",
        "The weightings, plain among them, because the others are compared with it. Separate several by "
        "commas: plain, realism, consistency, product, filter, filter-consistency, ratio, rank, verdicts, precision, "
        "random.",
        default="plain,realism,filter,random",
        source=RISE_WEIGHTINGS,
        essential=True,
        several=tuple(Weighting),
    )
    controls: bool = ours(
        "Controls",
        "Adds constant, and a shuffle of each weighting that depends on the pair. Without its shuffle, a "
        "comparison cannot show that a weight says something about its pair.",
        default=True,
        essential=True,
    )
    # Seeds are a sample too: the interval of a difference is over pairs and seeds (`differences`).
    seeds: int = ours(
        "Seeds",
        "Number of trainings, each with another seed. RISE trains each weighting 5 times. With fewer than "
        "5, the noise of training is not known well enough to test a difference.",
        default=SEEDS_TO_JUDGE,
        bounds=(1, SEEDS_MAX),
        essential=True,
    )
    first_seed: int = first_seed_setting()
    test_dataset: str = test_dataset_setting()
    test_split: str = test_split_setting()
    suites: str = suites_setting()
    sources: str = rows_setting(
        "Further source datasets",
        "Further datasets to train on. Each weighting and seed is also trained on them, for a table as RISE's table 3. "
        "p_D and p_y may be left out where no weighting needs them.",
        rows=SOURCE_ROWS,
        default="",
        refers_to="sources",
    )
    in_domain: str = rows_setting(
        "Suites of a source",
        "Suites with sentences of the same corpus as a dataset. All other suites are marked as out of domain.",
        rows=DOMAIN_ROWS,
        default="",
        source=OURS,
    )
    baselines: str = ours(
        "Baseline rows",
        "Rows without training: static (mean input embeddings), cls or mean (the base model with that "
        "pooling), run:ID or packaged:NAME. Separate several by commas.",
        default="",
        refers_to="baselines",
        several=("static", "cls", "mean"),
        several_models=True,
    )
    leaks: str = leaks_setting()
    bootstrap: int = resamples_setting()

    def __post_init__(self) -> None:
        # What can be wrong with the settings that make it a table: raises PlanError.
        names = self.suite_names
        for row, source in enumerate(self.all_sources):  # row 0 is the dataset of the run
            lacking = [
                (weighting, signal)
                for weighting in self.chosen
                for signal in weighting.signals
                if signal in SCORED_SIGNALS and not getattr(source, signal.value)
            ]
            if lacking and source.dataset != self.dataset:
                raise PlanError(
                    "The weighting “%(weighting)s” needs %(symbol)s; row %(row)d of “%(setting)s” names none for "
                    "“%(dataset)s”.",
                    row=row,
                    weighting=lacking[0][0],
                    symbol=SYMBOLS[lacking[0][1]],
                    setting=SettingName("sources"),
                    dataset=source.dataset,
                )
        twice = [one.dataset for one in self.all_sources]
        if len(set(twice)) < len(twice):
            raise PlanError(
                "“%(setting)s” names a dataset twice; name each dataset once, and not the one above.",
                setting=SettingName("sources"),
            )
        if "sick-e" in names:
            raise PlanError(
                "SICK-E needs a trained probe, which a comparison does not have; evaluate it by itself, or leave it "
                "out of “%(setting)s”.",
                setting=SettingName("suites"),
            )
        known = {"dataset": twice, "suite": names}
        for row, cells in enumerate(DOMAIN_ROWS.read(self.in_domain, "in_domain"), start=1):
            for column, cell in zip(DOMAIN_ROWS.columns, cells, strict=True):
                if cell not in known[column.name]:
                    raise PlanError(
                        "Row %(row)d of “%(setting)s” has “%(value)s” as “%(column)s”, which this comparison does not "
                        "name.",
                        row=row,
                        setting=SettingName("in_domain"),
                        value=cell,
                        column=column.label,
                    )
        names_listed(self.baselines)
        if Weighting.PLAIN not in self.chosen:
            raise PlanError(
                "“%(setting)s” is “%(value)s”, which lacks plain, with which the others are compared; add it.",
                setting=SettingName("weightings"),
                value=self.weightings,
            )
        check_signals(self, self.chosen)
        check_devices(self.device, self.devices)
        check_resamples(self.bootstrap)

    @property
    def chosen(self) -> tuple[Weighting, ...]:
        """The weightings, in the order in which they were named, and the controls. Raises PlanError."""
        names = [name.strip() for name in self.weightings.split(",") if name.strip()]
        unknown = [name for name in names if name not in list(Weighting)]
        if unknown:
            raise PlanError(
                "There is no weighting “%(name)s”; choose from %(known)s.",
                name=unknown[0],
                known=", ".join(Weighting),
            )
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise PlanError("“%(name)s” is named twice; name each weighting once.", name=twice[0])
        named = [Weighting(name) for name in names]
        if not self.controls:
            return tuple(named)
        shuffles = [each.control for each in named if each.control is not None]
        # constant shows what smaller weights do, a shuffle what the distribution of the weights does.
        return tuple(dict.fromkeys([*named, *shuffles, Weighting.CONSTANT]))

    @property
    def suite_names(self) -> tuple[str, ...]:
        """Raises PlanError for a name that comes twice."""
        return names_listed(self.suites)

    @property
    def all_sources(self) -> tuple[Source, ...]:
        """What encoders are trained on: the dataset of the run, then the further ones. Raises PlanError."""
        return Source(self.dataset, self.scores, self.realism, self.consistency), *sources_listed(
            self.sources
        )

    @property
    def domains(self) -> frozenset[tuple[str, str]]:
        """Dataset and suite of the same corpus."""
        return frozenset((dataset, suite) for dataset, suite in DOMAIN_ROWS.read(self.in_domain, "in_domain"))

    @property
    def baseline_names(self) -> tuple[str, ...]:
        return names_listed(self.baselines)

    @property
    def trainings(self) -> int:
        """How many encoders are trained: sources x weightings x seeds."""
        return len(self.all_sources) * len(self.chosen) * self.seeds  # the cost of a comparison

    @property
    def all_seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.seeds)

    def encoder(self, weighting: Weighting, seed: int, source: Source | None = None) -> EncoderPlan:
        """The plan of one of the encoders. source: None for the dataset of the run."""
        shared = {setting.name: getattr(self, setting.name) for setting in fields(TrainingPlan)}
        if source is not None and source.dataset != self.dataset:
            of_source = {"dataset": source.dataset, "scores": source.scores, "realism": source.realism}
            shared |= {**of_source, "consistency": source.consistency, "snapshot": 0}
        return EncoderPlan(weighting=weighting, seed=seed, **shared)


def sources_listed(text: str) -> tuple[Source, ...]:
    """The further datasets that a text names. Raises PlanError for what it cannot be."""
    return tuple(Source(*cells) for cells in SOURCE_ROWS.read(text, "sources"))


def names_listed(text: str) -> tuple[str, ...]:
    """The names between commas. Raises PlanError for one that comes twice."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise PlanError("“%(name)s” is named twice; name it once.", name=twice[0])
    return names


def check_signals(plan: SharedTraining, weightings: Iterable[Weighting]) -> None:
    """Raises PlanError for the first weighting whose score set is not named."""
    for weighting in weightings:
        for signal in weighting.signals:
            if signal in SCORED_SIGNALS and not getattr(plan, signal.value):
                raise PlanError(
                    "The weighting “%(weighting)s” needs %(symbol)s; choose a score set for “%(setting)s”, or a "
                    "weighting such as plain, random or constant.",
                    weighting=weighting,
                    symbol=SYMBOLS[signal],
                    setting=SettingName(signal.value),
                )


def check_resamples(number: int) -> None:
    """Raises PlanError for so few that an interval would mean nothing."""
    if number != 0 and number < FEWEST_RESAMPLES:
        raise PlanError(
            "%(number)d resamples are too few; give at least %(least)d, or 0 for no interval.",
            number=number,
            least=FEWEST_RESAMPLES,
        )
