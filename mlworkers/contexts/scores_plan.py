"""Every setting of scoring pairs by contexts."""

from dataclasses import dataclass
from enum import StrEnum

from mlworkers.contexts.diversity import BELOW, WITHOUT
from mlworkers.contexts.plan import OURS, corpus_setting, window_setting
from mlworkers.contexts.similarity import FEWEST_CONTEXTS, Weights
from mlworkers.encoders.plan import snapshot_setting
from mlworkers.plan_fields import SEEDS, PlanError, SettingName, dataset_setting, device_setting, setting

RAW, CENTRED = "contexts-raw", "contexts-centred"  # labels of both score sets, in their parameters
_PAPER = "Sun et al. 2022, section 3.3"


class Choice(StrEnum):
    """Where the contexts of a sentence come from."""

    FITTING = "fitting"
    RANDOM = "random"


@dataclass(frozen=True)
class ContextScoresPlan:
    """Both similarities of every pair by contexts, as two score sets of kind model."""

    dataset: str = dataset_setting()
    corpus: int = corpus_setting("The run “Index a corpus” whose places are the contexts.")
    model: str = setting(
        "Model",
        "The language model that says how well a sentence fits: run:ID of “Train a model for contexts”, a folder or a "
        "hub id. An encoder-decoder with a mask token, such as facebook/bart-base, fills gaps. A causal model such as "
        "gpt2 reads from left to right; λ3 counts nothing then.",
        refers_to="model",
        kinds=("context_model", "generator"),
    )
    split: str = setting("Split", "Only pairs of this split are scored. Empty: every pair.", default="")
    most_pairs: int = setting(
        "Most pairs",
        "So many pairs are drawn at random. 0 means all.",
        default=200,
        bounds=(0, 10_000_000),
        source=OURS,
        essential=True,
    )
    contexts: int = setting(
        "Contexts of a sentence",
        "How many contexts each sentence of a pair gives, at most; the pair is compared by those of both.",
        default=20,
        bounds=(FEWEST_CONTEXTS, 5000),
        unit="contexts",
        source="Ours. The paper has 500",
        essential=True,
    )
    candidates: int = setting(
        "Candidates of a context",
        "The model looks at so many times as many places as contexts are asked for, the most similar in wording first.",
        default=5,
        bounds=(1, 1000),
        source=OURS,
        essential=True,
    )
    chunks: int = setting(
        "Chunks",
        "How many chunks of the corpus are found for each sentence by TF-IDF of bigrams.",
        default=20_000,
        bounds=(1, 1_000_000),
        source=_PAPER,
    )
    choice: Choice = setting(
        "Choice of contexts",
        "fitting: places that are found by the wording of the sentence, the best by the model first. random: places "
        "drawn from the whole corpus, an ablation of the paper.",
        default=Choice.FITTING,
        source=_PAPER,
    )
    diverse: bool = setting(
        "Different contexts",
        "No two contexts of a sentence are from one chunk, and the words of the sentences before their places have a "
        "Jaccard index below 0.5. Off is an ablation of the paper.",
        default=True,
        source=_PAPER,
    )
    left: int = window_setting("Sentences before")
    right: int = window_setting("Sentences after")
    background: int = setting(
        "Background sentences",
        "So many sentences of the corpus are scored in every context. What they get on average is subtracted for the "
        "centred similarity.",
        default=10,
        bounds=(1, 1000),
        unit="sentences",
        source=OURS,
    )
    weight_sentence: float = setting(
        "λ2",
        "Weight of the sentence's own probability in the context.",
        default=0.25,
        bounds=(0, 1),
        source=OURS,
    )
    weight_left: float = setting(
        "λ3",
        "Weight of the probability of what is before the sentence.",
        default=0.25,
        bounds=(0, 1),
        source=OURS,
    )
    weight_right: float = setting(
        "λ4",
        "Weight of the probability of what is after the sentence.",
        default=0.25,
        bounds=(0, 1),
        source=OURS,
    )
    part_tokens: int = setting(
        "Longest part",
        "The most tokens of a sentence, of what is before it and of what is after it. Longer contexts are cut at their "
        "far ends; pairs with a longer sentence get no score.",
        default=64,
        bounds=(8, 2048),
        unit="tokens",
        source=OURS,
    )
    shard_pairs: int = setting(
        "Pairs of a shard",
        "Number of pairs in one shard. Several workers can share the shards of a run.",
        default=10,
        bounds=(1, 1000),
    )
    resamples: int = setting(
        "Resamples", "Resamples of each pair's contexts for its interval.", default=1000, bounds=(10, 100_000)
    )
    device: str = device_setting()
    snapshot: int = snapshot_setting()
    seed: int = setting(
        "Seed",
        "Seed of the pairs, of background sentences and of the intervals.",
        default=42,
        bounds=SEEDS,
    )

    def __post_init__(self) -> None:
        if not any((self.weight_sentence, self.weight_left, self.weight_right)):
            raise PlanError(
                "“%(setting)s” and the weights of both sides are 0; give at least one of them a weight.",
                setting=SettingName("weight_sentence"),
            )

    @property
    def weights(self) -> Weights:
        """λ1 is 0: no discriminative model is used."""
        return Weights(0.0, self.weight_sentence, self.weight_left, self.weight_right)

    @property
    def below(self) -> float:
        """The bound of Jaccard's index between two contexts of a sentence."""
        return BELOW if self.diverse else WITHOUT
