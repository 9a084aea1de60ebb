"""Every setting of the curves of similarity from contexts. Needs neither torch nor Django."""

from dataclasses import dataclass

from mlworkers.plans.fields import (
    SEEDS,
    PlanError,
    SettingName,
    check_width,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
    snapshot_setting,
    width_setting,
)
from mlworkers.science.contexts.model_plan import ContextModelPlan
from mlworkers.science.contexts.plan import (
    OURS,
    corpus_setting,
    places_setting,
    vocabulary_setting,
    window_setting,
)
from mlworkers.science.contexts.scores_plan import ContextScoresPlan
from mlworkers.science.contexts.similarity import FEWEST_CONTEXTS
from mlworkers.science.encoders.plan import (
    SEEDS_MAX,
    EncoderPlan,
    base_model_setting,
    names_listed,
    resamples_setting,
    test_split_setting,
)

MOST_POINTS = 12  # of a curve
_PAPER = "Sun et al. 2022, tables 6 to 8"


@dataclass(frozen=True)
class ContextCurvesPlan:
    """How agreement with people depends on the size of the corpus, the number of contexts, and the number of pairs that
    a surrogate learns from.
    """

    dataset: str = dataset_setting()
    corpus: int = corpus_setting("The run “Index a corpus” whose text is used. Each size takes a part of it.")
    score_set: str = setting(
        "Score set",
        "Human or reference scores, with which similarities are compared.",
        refers_to="score set",
        kinds=("human", "reference"),
    )
    split: str = test_split_setting()
    most_pairs: int = setting(
        "Most pairs",
        "Most pairs, drawn at random; 0 means all. They are for the curves of the corpus and of contexts.",
        default=100,
        bounds=(0, 1_000_000),
        source=OURS,
        essential=True,
    )
    # Table 6: 49.41 with 10 million tokens, 76.17 with a billion and 78.47 with 100 billion.
    sizes: str = setting(
        "Sizes of the corpus",
        "Sizes in sentences, separated by commas; 0 is the whole corpus. For each, whole documents are "
        "drawn, a model learns from them alone, and contexts come from them alone.",
        default="10000, 50000, 0",
        source=_PAPER,
        essential=True,
    )
    contexts: str = setting(
        "Contexts of a sentence",
        "Numbers to try, separated by commas. They are compared on the largest corpus; the last one is "
        "taken for other sizes.",
        default="5, 10, 20",
        source=_PAPER,
        essential=True,
    )
    learned: str = setting(
        "Similarities to learn",
        "Centred similarities of harvested pairs, from which student encoders learn. Empty: no curve of "
        "student encoders.",
        default="",
        refers_to="score set",
        kinds=("model",),
    )
    learned_split: str = setting(
        "Split to learn",
        "Student encoders learn from pairs of this split.",
        default="harvested-train",
        offered="split",
    )
    # Table 8: 74.02 with 100,000 pairs, 76.11, 76.92, and 77.32 with 100 million.
    surrogate_pairs: str = setting(
        "Pairs of a student encoder",
        "Numbers of training pairs, the smallest first. Separate several by commas. Each larger one has "
        "the pairs of the smaller ones too.",
        default="500, 1000, 2000",
        source=_PAPER,
        essential=True,
    )
    model: str = base_model_setting(default="packaged:all-MiniLM-L6-v2")
    seeds: int = setting(
        "Seeds",
        "Number of trainings, each with another seed. A student encoder of each size is trained so often. "
        "Intervals are over pairs; the mean of the seeds is given.",
        default=1,
        bounds=(1, SEEDS_MAX),
        source=OURS,
    )
    epochs: int = setting(
        "Epochs of a student encoder",
        "Number of times that each example is used.",
        default=3,
        bounds=(1, 100),
        source=OURS,
    )
    batch_size: int = setting(
        "Batch size of a student encoder",
        "Number of examples in one training step.",
        default=32,
        bounds=(1, 4096),
        unit="pairs",
        source=OURS,
    )
    # A surrogate learns by (cos - similarity)², as in the paper.
    learning_rate: float = setting(
        "Learning rate of a student encoder",
        "Peak learning rate of AdamW. The paper has 1e-4, which is high for a pretrained encoder.",
        default=2e-5,
        bounds=(1e-8, 0.1),
        source=OURS,
    )
    steps: int = setting(
        "Steps of a model for contexts",
        "Training steps of the model of each size.",
        default=1000,
        bounds=(1, 1_000_000),
        source=OURS,
        essential=True,
    )
    places: int = places_setting("Each gives three examples.")
    layers: int = setting(
        "Layers",
        "Number of layers of each model's encoder and decoder.",
        default=1,
        bounds=(1, 48),
        source=OURS,
    )
    width: int = width_setting(default=128, source=OURS)
    vocabulary: int = vocabulary_setting(default=2048)
    part_tokens: int = setting(
        "Longest part",
        "Most tokens of a sentence, and of its context on each side. Pairs with a longer sentence get no "
        "score.",
        default=48,
        bounds=(8, 2048),
        unit="tokens",
        source=OURS,
    )
    left: int = window_setting("Sentences before")
    right: int = window_setting("Sentences after")
    candidates: int = setting(
        "Candidates of a context",
        "Number of places that the language model looks at for each context.",
        default=2,
        bounds=(1, 1000),
        source=OURS,
    )
    # Fewer than when pairs are scored for themselves: every point of a curve scores all pairs again.
    background: int = setting(
        "Background sentences",
        "Number of sentences that are scored in every context. Their mean is subtracted.",
        default=6,
        bounds=(1, 1000),
        unit="sentences",
        source=OURS,
    )
    shard_pairs: int = setting(
        "Pairs of a shard",
        "Number of pairs in one shard. Several workers can share the shards of a run.",
        default=10,
        bounds=(1, 1000),
    )
    bootstrap: int = resamples_setting()
    device: str = device_setting()
    snapshot: int = snapshot_setting()
    seed: int = seed_setting(bounds=(0, SEEDS[1] - SEEDS_MAX))

    def __post_init__(self) -> None:
        check_width(self.width)
        if not self.bootstrap:
            raise PlanError(
                "“%(setting)s” is 0, and curves have intervals; give 100 or more.",
                setting=SettingName("bootstrap"),
            )
        _ = self.all_sizes, self.all_contexts, self.all_pairs

    @property
    def all_sizes(self) -> tuple[int, ...]:
        """In sentences, ascending, 0 for the whole corpus at the end. Raises PlanError."""
        found = _numbers("sizes", self.sizes, least=10, whole=True)
        return tuple(sorted(found, key=lambda size: size or float("inf")))  # 0, the whole corpus, comes last

    @property
    def all_contexts(self) -> tuple[int, ...]:
        """As they were named. Raises PlanError."""
        return _numbers("contexts", self.contexts, least=FEWEST_CONTEXTS)

    @property
    def all_pairs(self) -> tuple[int, ...]:
        """Ascending. Raises PlanError."""
        # Two pairs: the least with a correlation.
        return tuple(sorted(_numbers("surrogate_pairs", self.surrogate_pairs, least=2)))

    @property
    def language_model(self) -> ContextModelPlan:
        """The plan of the model of each size."""
        return ContextModelPlan(
            dataset=self.dataset, corpus=self.corpus, steps=self.steps, places=self.places, left=self.left,
            right=self.right, layers=self.layers, width=self.width, vocabulary=self.vocabulary,
            part_tokens=self.part_tokens, device=self.device, seed=self.seed,
        )  # fmt: skip

    def scores(self, contexts: int) -> ContextScoresPlan:
        """The plan by which pairs are scored with so many contexts of a sentence."""
        return ContextScoresPlan(
            dataset=self.dataset, model="trained here", corpus=self.corpus, contexts=contexts,
            candidates=self.candidates, left=self.left, right=self.right, background=self.background,
            part_tokens=self.part_tokens, shard_pairs=self.shard_pairs, resamples=10, device=self.device,
            seed=self.seed,
        )  # fmt: skip

    def surrogate(self, seed: int) -> EncoderPlan:
        """The plan of a surrogate."""
        return EncoderPlan(
            dataset=self.dataset, model=self.model, scores=self.learned, split=self.learned_split,
            epochs=self.epochs, batch_size=self.batch_size, learning_rate=self.learning_rate,
            device=self.device, seed=seed,
        )  # fmt: skip


def _numbers(name: str, text: str, *, least: int, whole: bool = False) -> tuple[int, ...]:
    """The numbers of a list, each once and not below `least`. whole: whether 0 may be among them. Raises PlanError."""
    parts = names_listed(text)
    # isdigit alone is true of “²” too, which int() refuses.
    known = all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts)
    numbers = tuple(dict.fromkeys(int(part) for part in parts)) if known else ()
    allowed = all(number >= least or (whole and number == 0) for number in numbers)
    if not numbers or not allowed or len(numbers) != len(parts) or len(numbers) > MOST_POINTS:
        raise PlanError(
            "“%(setting)s” is “%(value)s”; give 1 to %(most)d whole numbers of %(least)d or more%(zero)s, each once, "
            "with commas between.",
            setting=SettingName(name),
            value=text,
            most=MOST_POINTS,
            least=least,
            zero=", or 0 for all" if whole else "",
        )
    return numbers
