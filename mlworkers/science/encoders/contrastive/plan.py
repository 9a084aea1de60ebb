"""Every number that shapes a contrastive training, and a comparison of many with paraphrased copies."""

from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial

from curation.pairs.inclusion import Inclusion
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
from mlworkers.plans.rows import rows_setting
from mlworkers.science.encoders.contrastive.variants import (
    ORIGINAL,
    VARIANT_ROWS,
    Variant,
    variant_read,
    variants_listed,
)
from mlworkers.science.encoders.plan import (
    SEEDS_MAX,
    SEEDS_TO_JUDGE,
    base_model_setting,
    check_resamples,
    dev_dataset_setting,
    first_seed_setting,
    names_listed,
    resamples_setting,
    suites_setting,
    test_dataset_setting,
    test_scores_setting,
    test_split_setting,
)
from mlworkers.science.training.plan import LoopPlan

SIMCSE = "SimCSE's released settings"
CONPGS = "ConPGS paper, section 5"
GUIDE = "docs/guide/how-to/contrastive-training.md"
from_simcse = partial(setting, source=SIMCSE)
ours = partial(setting, source=GUIDE)
LARGEST_SIZE = 20
paraphrase_dataset_setting = partial(
    setting,
    "Dataset of paraphrases",
    "The dataset whose pairs are sentences and their paraphrases. Empty: the dataset above.",
    default="",
    refers_to="dataset",
)
paraphrase_split_setting = partial(
    setting,
    "Split of paraphrases",
    "Only pairs of this split are paraphrases. Empty: every pair.",
    default="",
    offered="split",
)
similarity_setting = partial(
    setting,
    "Similarity of paraphrases",
    "The scores by which tags such as SIM95 choose paraphrases. “Label paraphrases” publishes them. Empty: "
    "a tag is the name of a subset.",
    default="",
    refers_to="score set",
    kinds=("model",),
    within="paraphrase_dataset",
)
bleu_setting = partial(
    setting,
    "BLEU of paraphrases",
    "The scores by which tags such as BLEU20 choose paraphrases. “Label paraphrases” publishes them. "
    "Empty: a tag is the name of a subset.",
    default="",
    refers_to="score set",
    kinds=("model",),
    within="paraphrase_dataset",
)
entailment_setting = partial(ours, "Subset of entailments", default="entailment")
contradiction_setting = partial(ours, "Subset of contradictions", default="contradiction")
neutral_setting = partial(ours, "Subset of neutral pairs", default="neutral")
copies_setting = partial(
    setting,
    "Copies",
    "Number of paraphrased copies of each example, the best paraphrases first.",
    default=1,
    bounds=(1, LARGEST_SIZE),
    essential=True,
)
complete_setting = partial(
    ours,
    "Only examples that every variant can copy",
    "All rows of a share begin with the same examples, so that equal sizes are equal. These are the "
    "examples of which each variant has enough paraphrases. Off: a variant that lacks paraphrases has "
    "fewer copies, and the page says so.",
    default=True,
)


class Material(StrEnum):
    """What examples are made from."""

    SENTENCES = "sentences"  # (x, x): dropout makes two vectors of it
    PAIRS = "pairs"  # (x, x⁺)
    TRIPLETS = "triplets"  # (x, x⁺, x⁻)


class Objective(StrEnum):
    """The loss of a batch."""

    CONTRAST = "contrast"  # SimCSE, equations 1 and 5
    TRIPLET = "triplet"  # max(0, |a - p| - |a - n| + margin)
    SOFTMAX = "softmax"  # -log softmax(W [u, v, |u - v|])[class]


class Pooler(StrEnum):
    """How the vector of a sentence is made, in training and afterwards."""

    SIMCSE = "as SimCSE"
    CLS_MLP = "cls and MLP"  # tanh(W h_1 + b)
    CLS_MLP_IN_TRAINING = "cls, MLP in training only"  # h_1 afterwards
    CLS = "cls"  # h_1
    MEAN = "mean"  # Σ_t h_t / T
    OWN = "as the model"


@dataclass(frozen=True)
class SharedContrast:
    """What one contrastive training and a comparison of many have in common."""

    dataset: str = dataset_setting()
    model: str = base_model_setting()
    material: Material = setting(
        "Examples are",
        "sentences: each human sentence is its own positive. pairs: the second sentence is the positive of "
        "the first. triplets: a premise, its entailment and, as a hard negative, its contradiction. "
        "Dropout makes two vectors of a sentence.",
        default=Material.SENTENCES,
        source=SIMCSE,
        essential=True,
    )
    split: str = setting(
        "Training split",
        "Only pairs of this split are used. Examples with a near copy of a sentence of another split are "
        "left out.",
        default="train",
        offered="split",
    )
    subsets: str = setting(
        "Subsets of pairs",
        "For pairs: only those of these subsets, separated by commas. Empty: all.",
        default="",
    )
    pool: bool = ours(
        "Single sentences",
        "Adds the dataset's single sentences to the sentences.",
        default=False,
    )
    entailment: str = entailment_setting(
        "The subset of pairs whose second sentence follows from the first. Triplets and softmax use it. "
        "Import the label column of an NLI file as the subset.",
    )
    neutral: str = neutral_setting("The subset of pairs that are neither. Softmax uses it.")
    contradiction: str = contradiction_setting(
        "The subset of pairs whose second sentence contradicts the first. Triplets and softmax use it.",
    )
    paraphrase_dataset: str = paraphrase_dataset_setting()
    paraphrase_split: str = paraphrase_split_setting()
    similarity: str = similarity_setting()
    bleu: str = bleu_setting()
    keep_originals: bool = setting(
        "Keep the original examples",
        "Yes: paraphrased copies are added to the original examples. No: paraphrased copies alone; of sentences, the "
        "paraphrase then is the positive instead of dropout.",
        default=True,
        source=CONPGS,
        essential=True,
    )
    objective: Objective = setting(
        "Loss",
        "contrast: an anchor is nearer to its positive than to all others of its batch. triplet: nearer "
        "than to its hard negative, by a margin (triplets only). softmax: a classifier of entailment, "
        "neutral and contradiction on [u, v, |u − v|] (pairs only).",
        default=Objective.CONTRAST,
        source=SIMCSE,
    )
    # At 0.05 the logits lie in -20..20.
    temperature: float = from_simcse(
        "Temperature (τ)", "Cosines are divided by it.", default=0.05, bounds=(0.001, 10.0)
    )
    # β in the logit: exp(c/τ + β) = e^β · exp(c/τ).
    hard_negative_weight: float = from_simcse(
        "Weight of hard negatives",
        "Added to the logit of an anchor's own hard negative. 0 is the weight 1, and log 2 = 0.69 counts "
        "it twice.",
        default=0.0,
        bounds=(-10.0, 10.0),
    )
    # In Euclidean distances of vectors of any length.
    # Sentence-BERT has 1 (Reimers and Gurevych 2019, section 3); 5 is the default of its library.
    margin: float = setting(
        "Margin",
        "By how much more distant the negative must be, in the loss triplet.",
        default=5.0,
        bounds=(0.0, 1000.0),
        source="sentence-transformers, TripletLoss",
    )
    # SimCSE's two cases differ only in whether the MLP is dropped after training.
    pooler: Pooler = setting(
        "Pooler",
        "cls: the vector of the first token. MLP: a layer with tanh behind it. as SimCSE is, for sentences, cls with "
        "an MLP in training only; for pairs and triplets, cls and MLP, which the encoder keeps. as the model keeps "
        "what the base model does.",
        default=Pooler.SIMCSE,
        source=SIMCSE,
    )
    epochs: int = setting(
        "Epochs",
        "Number of times that each example is used. SimCSE: 1 for sentences, 3 for triplets.",
        default=1,
        bounds=(1, 100),
        unit="epochs",
        source=SIMCSE,
        essential=True,
    )
    # An anchor has b - 1 negatives, and 2b - 1 where each example has a hard one.
    batch_size: int = from_simcse(
        "Batch size",
        "Number of examples in one training step. SimCSE: 64 for sentences, 512 for triplets. Examples that share a "
        "sentence, or the source of one, are never in one batch.",
        default=64,
        bounds=(2, 65_536),
        unit="examples",
    )
    # Gao et al. 2021: one more forward pass without gradients (`training.whole_batches`).
    cached: int = ours(
        "Examples in the memory",
        "Number of examples whose gradients are computed at once; 0: the whole batch. A smaller number "
        "needs less memory, takes about a third longer and gives the same gradients.",
        default=0,
        bounds=(0, 65_536),
        unit="examples",
    )
    learning_rate: float = from_simcse(
        "Learning rate",
        "Peak learning rate of AdamW. SimCSE: 3e-5 for sentences, 5e-5 for triplets.",
        default=3e-5,
        bounds=(1e-8, 0.1),
    )
    warmup: float = warmup_setting(default=0.0, source=SIMCSE)
    # Self-attention costs grow with the square of it.
    max_length: int = from_simcse(
        "Longest input",
        "Longer sentences are cut off in training. The trained encoder keeps the limit of its base model.",
        default=32,
        bounds=(4, 8192),
        unit="tokens",
    )
    weight_decay: float = weight_decay_setting(default=0.0, source=SIMCSE)
    clip: float = clip_setting(source=SIMCSE)
    dev_scores: str = setting(
        "Dev scores",
        "Human or reference scores of the dev pairs, which choose the weights that are kept. Empty: the "
        "last weights are kept.",
        default="",
        refers_to="score set",
        kinds=("reference", "human"),
        within="dev_dataset",
    )
    dev_dataset: str = dev_dataset_setting()
    dev_split: str = setting(
        "Dev split", "Only pairs of this split are dev pairs.", default="dev", offered="split"
    )
    evaluate_every: int = from_simcse(
        "Steps between evaluations",
        "Number of steps between evaluations on the dev pairs. The last step is evaluated too. The weights "
        "with the highest Spearman correlation are kept.",
        default=125,
        bounds=(1, 1_000_000),
        unit="steps",
    )
    snapshot: int = snapshot_setting()
    generated_pairs: Inclusion = generated_pairs_setting()
    precision: str = precision_setting()
    device: str = device_setting()
    devices: str = devices_setting()

    @property
    def pooling(self) -> Pooler:
        """The pooler that SimCSE has for the material, where it is not named."""
        if self.pooler is not Pooler.SIMCSE:
            return self.pooler
        return Pooler.CLS_MLP_IN_TRAINING if self.material is Material.SENTENCES else Pooler.CLS_MLP

    def check(self) -> None:
        """Raises PlanError for settings that do not go together."""
        check_devices(self.device, self.devices)
        needs = {Objective.TRIPLET: Material.TRIPLETS, Objective.SOFTMAX: Material.PAIRS}.get(self.objective)
        if needs is not None and self.material is not needs:
            raise PlanError(
                "The loss “%(loss)s” needs %(needs)s; “%(setting)s” is %(material)s.",
                loss=self.objective.value,
                needs=needs.value,
                setting=SettingName("material"),
                material=self.material.value,
            )
        if bool(self.similarity) != bool(self.bleu):
            raise PlanError(
                "Tags need both “%(similarity)s” and “%(bleu)s”; give both, or neither.",
                similarity=SettingName("similarity"),
                bleu=SettingName("bleu"),
            )


@dataclass(frozen=True)
class ContrastPlan(SharedContrast):
    """One encoder, trained by contrast."""

    paraphrases: str = setting(
        "Paraphrases",
        "Paraphrases that are used: tags such as SIM95 BLEU20, subsets, or all; + mixes several. Empty: no "
        "copies.",
        default="",
        source=CONPGS,
        essential=True,
    )
    copies: int = copies_setting(source=CONPGS)
    share: float = ours(
        "Share of the examples",
        "Share of the original examples that is used. The first ones are, as in the paper's half of the "
        "corpus.",
        default=1.0,
        bounds=(0.001, 1.0),
    )
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        self.check()
        if self.paraphrases.strip():
            variant_read(self.paraphrases)
        elif not self.keep_originals:
            raise PlanError(
                "Without paraphrases and without the original examples there is nothing to learn; name "
                "“%(paraphrases)s”, or set “%(originals)s” to yes.",
                paraphrases=SettingName("paraphrases"),
                originals=SettingName("keep_originals"),
            )

    @property
    def variant(self) -> Variant | None:
        return variant_read(self.paraphrases) if self.paraphrases.strip() else None

    def loop(self) -> LoopPlan:
        return LoopPlan(
            learning_rate=self.learning_rate, weight_decay=self.weight_decay, clip=self.clip, seed=self.seed
        )


@dataclass(frozen=True)
class Arm:
    """What one row of a comparison is trained on. size: the examples over the original ones; 1 for these alone.
    variant: the name of its paraphrases, or ORIGINAL.
    """

    share: float
    variant: str
    size: int

    @property
    def label(self) -> str:
        """Its name among those of a comparison."""
        of = "" if self.share == 1 else f" ({self.share:g} of the examples)"
        return f"{self.variant}{'' if self.variant == ORIGINAL else f' ×{self.size}'}{of}"


@dataclass(frozen=True)
class AugmentationPlan(SharedContrast):
    """Encoders trained with paraphrased copies of each variant and size, and without, on the same examples; all are
    evaluated on the same test pairs (ConPGS, table 2 and figure 4).
    """

    test_score_set: str = test_scores_setting()
    # Mixed lexical tags did worse than one tag in most cases of the paper (section 5.4).
    variants: str = rows_setting(
        "Variants",
        "Copies that are compared, such as SIM95 BLEU20. SIM95 BLEU0_5 + SIM95 BLEU20 mixes two.",
        rows=VARIANT_ROWS,
        default="all",
        source=CONPGS,
        essential=True,
    )
    # A size counts the originals: n times as many examples, and n times as many steps an epoch.
    # The paper's best sizes are 2 with half of the corpus and 5 with all of it (section 5.4).
    sizes: str = setting(
        "Sizes",
        "Sizes of the augmented corpus over the original one: 2 adds one copy of each example. With 5 it "
        "is four copies. Without the original examples, 1 is one copy. Separate several by commas.",
        default="2",
        source="ConPGS paper, figure 4",
        essential=True,
    )
    shares: str = setting(
        "Shares of the examples",
        "Shares of the original examples from which curves start, such as 1,0.5. 1 is all, 0.5 the first "
        "half.",
        default="1",
        source="ConPGS paper, figure 4",
    )
    complete: bool = complete_setting()
    seeds: int = setting(
        "Seeds",
        "Number of trainings, each with another seed. Each row is trained so often. With fewer than 5, the "
        "noise of training is not known well enough to test a difference.",
        default=SEEDS_TO_JUDGE,
        bounds=(1, SEEDS_MAX),
        source=CONPGS,
        essential=True,
    )
    first_seed: int = first_seed_setting()
    test_dataset: str = test_dataset_setting()
    test_split: str = test_split_setting()
    suites: str = suites_setting()
    keep_encoders: bool = ours(
        "Keep the encoders",
        "Keeps every trained encoder on the models page. A run with many rows and seeds then needs much "
        "disk.",
        default=False,
    )
    bootstrap: int = resamples_setting()

    def __post_init__(self) -> None:
        self.check()
        check_resamples(self.bootstrap)
        if "sick-e" in self.suite_names:
            raise PlanError(
                "SICK-E needs a trained probe, which a comparison does not have; evaluate it by itself, or leave it "
                "out of “%(setting)s”.",
                setting=SettingName("suites"),
            )
        _arms = self.arms

    @property
    def suite_names(self) -> tuple[str, ...]:
        """Raises PlanError for a name that comes twice."""
        return names_listed(self.suites)

    @property
    def all_variants(self) -> tuple[Variant, ...]:
        """Raises PlanError where there is none, or one is not a variant."""
        return variants_listed(self.variants)

    @property
    def all_seeds(self) -> range:
        return range(self.first_seed, self.first_seed + self.seeds)

    @property
    def all_sizes(self) -> tuple[int, ...]:
        """Raises PlanError for what is not a size."""
        least = 2 if self.keep_originals else 1
        sizes = tuple(_number(name, "sizes", whole=True) for name in names_listed(self.sizes))
        for size in sizes:
            if not least <= size <= LARGEST_SIZE:
                raise PlanError(
                    "“%(setting)s” has %(size)d; give whole numbers from %(least)d to %(most)d.",
                    setting=SettingName("sizes"),
                    size=size,
                    least=least,
                    most=LARGEST_SIZE,
                )
        return tuple(sorted(int(size) for size in sizes))

    @property
    def all_shares(self) -> tuple[float, ...]:
        """Raises PlanError for what is not a share."""
        shares = tuple(_number(name, "shares") for name in names_listed(self.shares))
        for share in shares:
            if not 0 < share <= 1:
                raise PlanError(
                    "“%(setting)s” has %(share)g; give numbers above 0, up to 1.",
                    setting=SettingName("shares"),
                    share=share,
                )
        return tuple(sorted(shares, reverse=True))  # a smaller share is the beginning of a larger one

    @property
    def arms(self) -> tuple[Arm, ...]:
        """The rows: of each share the original examples first. Raises PlanError where a setting has no value."""
        for name, values in (("sizes", self.all_sizes), ("shares", self.all_shares)):
            if not values:
                raise PlanError("“%(setting)s” is empty; give a number.", setting=SettingName(name))
        return tuple(
            arm
            # shares · (1 + variants · sizes) rows, each trained with every seed.
            for share in self.all_shares
            for arm in (
                Arm(share, ORIGINAL, 1),
                *(Arm(share, one.name, size) for one in self.all_variants for size in self.all_sizes),
            )
        )

    def copies_of(self, arm: Arm) -> int:
        """How many copies of each example a row has."""
        if arm.variant == ORIGINAL:
            return 0
        return arm.size - 1 if self.keep_originals else arm.size  # size counts the originals

    def training(self, arm: Arm, seed: int) -> ContrastPlan:
        """The plan of one of the trainings."""
        shared = {one.name: getattr(self, one.name) for one in fields(SharedContrast)}
        if arm.variant == ORIGINAL:
            shared["keep_originals"] = True
        paraphrases = "" if arm.variant == ORIGINAL else arm.variant
        return ContrastPlan(
            **shared, paraphrases=paraphrases, copies=max(self.copies_of(arm), 1), share=arm.share, seed=seed
        )


def _number(text: str, name: str, *, whole: bool = False) -> float:
    try:
        return int(text) if whole else float(text)
    except ValueError:
        raise PlanError(
            "“%(setting)s” has “%(text)s”, which is not %(kind)s.",
            setting=SettingName(name),
            text=text,
            kind="a whole number" if whole else "a number",
        ) from None
