"""Every setting of scoring pairs by contexts."""

from dataclasses import dataclass
from enum import StrEnum

from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
    snapshot_setting,
)
from mlworkers.science.contexts.diversity import BELOW, WITHOUT
from mlworkers.science.contexts.plan import OURS, corpus_setting, window_setting
from mlworkers.science.contexts.similarity import FEWEST_CONTEXTS, Weights
from mlworkers.science.encoders.plan import names_listed

RAW, CENTRED = "contexts-raw", "contexts-centred"  # labels of both score sets, in their parameters
_PAPER = "Sun et al. 2022, section 3.3"


class Choice(StrEnum):
    """Where the contexts of a sentence come from."""

    FITTING = "fitting"  # 78.47 in the paper (Spearman on STSb; sections 3.3 and 5.4)
    RANDOM = "random"  # 34.45 in the paper
    TRAJECTORIES = "trajectories"  # Liu et al. 2024, arXiv:2310.18348


@dataclass(frozen=True)
class ContextScoresPlan:
    """Both similarities of every pair by contexts, as two score sets of kind model."""

    dataset: str = dataset_setting()
    model: str = setting(
        "Model",
        "The language model that says how well a sentence fits. Give run:ID of “Train a model for "
        "contexts”, a folder or a hub id. An encoder-decoder with a mask token, such as "
        "facebook/bart-base, fills gaps. A causal model such as gpt2 reads from left to right; λ3 counts "
        "nothing then.",
        refers_to="model",
        kinds=("context_model", "generator"),
    )
    corpus: int = corpus_setting(
        "The run “Index a corpus” whose text is used. Its places are the contexts. Trajectories use none, "
        "whatever is chosen here.",
        may_be_none=True,
    )
    discriminator: str = setting(
        "Discriminative model",
        "The run of “Train a discriminative model” that ranks places, as run:ID. It ranks them before the "
        "language model looks at the best of them, and gives the term of λ1. Empty: places are ranked by "
        "words in common, and λ1 counts nothing.",
        default="",
        refers_to="model",
        kinds=("discriminative_model",),
        source=_PAPER,
    )
    split: str = setting(
        "Split",
        "Only pairs of this split are used, or of several splits with commas between. Empty: every pair.",
        default="",
        offered="splits",
    )
    most_pairs: int = setting(
        "Most pairs",
        "Most pairs, drawn at random; 0 means all.",
        default=200,
        bounds=(0, 10_000_000),
        source=OURS,
        essential=True,
    )
    # Table 7 of the paper: 66.25 with 20 contexts, 73.93 with 100, 78.47 with 500 and 78.56 with 1,000.
    # The vectors of a pair have twice as many entries; the paper's have 1,000 at most.
    contexts: int = setting(
        "Contexts of a sentence",
        "Most contexts of each sentence of a pair. The pair is compared by those of both.",
        default=20,
        bounds=(FEWEST_CONTEXTS, 5000),
        unit="contexts",
        source="Ours. The paper has 500",
        essential=True,
    )
    # Before contexts are chosen, each sentence costs candidates · contexts questions to the language model.
    candidates: int = setting(
        "Candidates of a context",
        "Number of places that the language model looks at for each context. The best ranked ones are taken.",
        default=5,
        bounds=(1, 1000),
        source=OURS,
        essential=True,
    )
    chunks: int = setting(
        "Chunks",
        "Most chunks of the corpus that TF-IDF of bigrams finds for each sentence. Places are taken from "
        "the most similar ones, until there are as many as “Ranked places” and “Candidates of a context” "
        "ask for.",
        default=20_000,
        bounds=(1, 1_000_000),
        source=_PAPER,
    )
    ranked: int = setting(
        "Ranked places",
        "Most places that the discriminative model ranks for each sentence. The paper ranks all places of "
        "its 20,000 chunks.",
        default=200,
        bounds=(1, 1_000_000),
        unit="places",
        source=OURS,
    )
    choice: Choice = setting(
        "Choice of contexts",
        "fitting: places found by the wording and ranked by the model. random: places of the whole corpus, "
        "an ablation. trajectories: continuations of a causal model, without a corpus. They are those of "
        "Liu et al. (2024), and only λ4 counts.",
        default=Choice.FITTING,
        source=_PAPER,
    )
    # 76.32 in the paper without it, 78.47 with it (section 5.4).
    diverse: bool = setting(
        "Different contexts",
        "No two contexts of a sentence are alike. They are of different chunks, and the words of the "
        "sentences before their places have a Jaccard index below 0.5. Off is an ablation of the paper.",
        default=True,
        source=_PAPER,
    )
    # The entry of a context is a mean over its tokens, so a longer one does not weigh more.
    trajectory_tokens: int = setting(
        "Length of a trajectory",
        "Most tokens of a continuation that serves as a context.",
        default=20,
        bounds=(4, 512),
        unit="tokens",
        source="Liu et al. 2024",
    )
    left: int = window_setting("Sentences before")
    right: int = window_setting("Sentences after")
    # With b of them a context costs 2 + b questions, and the error of the mean falls with 1 / √b.
    background: int = setting(
        "Background sentences",
        "Number of sentences that are scored in every context. They are of the corpus or, with "
        "trajectories, of the dataset. What they get on average is subtracted for the centred similarity.",
        default=10,
        bounds=(1, 1000),
        unit="sentences",
        source=OURS,
    )
    # Eq. 3. Only the ratios of λ1 to λ4 matter: cosine and correlation do not change with a common factor.
    weight_discriminative: float = setting(
        "λ1",
        "Weight of the log-probability of the discriminative model.",
        default=0.25,
        bounds=(0, 1),
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
    dev_split: str = setting(
        "Dev split of the weights",
        "The split that chooses the weights λ, and gets no score. See “Dev scores”. Empty: the weights are "
        "as above.",
        default="",
        offered="split",
    )
    dev_scores: str = setting(
        "Dev scores",
        "The scores of the dev pairs. Of all weights in steps of 0.1 whose sum is 1, and of equal ones, those are "
        "taken whose centred similarities agree best with these scores (Spearman). Dev pairs that share a sentence "
        "with a scored pair are left out.",
        default="",
        refers_to="score set",
        kinds=("reference", "human"),
    )
    part_tokens: int = setting(
        "Longest part",
        "Most tokens of a sentence, and of its context on each side. Longer contexts are cut at their far "
        "ends; pairs with a longer sentence get no score.",
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
        "Resamples",
        "Number of resamples for the intervals. They are of each pair's contexts.",
        default=1000,
        bounds=(10, 100_000),
    )
    device: str = device_setting()
    snapshot: int = snapshot_setting()
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        if self.choice is Choice.TRAJECTORIES:
            # The form begins with a corpus, before anybody can say that there is to be none.
            object.__setattr__(self, "corpus", 0)
            for name in ("discriminator", "dev_split"):
                if getattr(self, name):
                    raise PlanError(
                        "Trajectories come from the language model alone; leave “%(setting)s” empty.",
                        setting=SettingName(name),
                    )
        elif not self.corpus:
            raise PlanError(
                "“%(setting)s” is empty; choose the corpus whose places are the contexts.",
                setting=SettingName("corpus"),
            )
        elif not self.weights.vector.any():
            raise PlanError(
                "“%(setting)s” and all other weights that count are 0; give at least one of them a weight.",
                setting=SettingName("weight_sentence"),
            )
        if bool(self.dev_split) != bool(self.dev_scores):
            raise PlanError(
                "“%(split)s” and “%(scores)s” belong together; give both or none.",
                split=SettingName("dev_split"),
                scores=SettingName("dev_scores"),
            )
        if self.dev_split and (not self.splits or self.dev_split in self.splits):
            raise PlanError(
                "The pairs by which weights are chosen must not be scored; give “%(setting)s” another split than "
                "“%(dev)s”.",
                setting=SettingName("split"),
                dev=self.dev_split,
            )
        _ = self.splits

    @property
    def splits(self) -> tuple[str, ...]:
        """Whose pairs are scored; none for all. Raises PlanError for one that comes twice."""
        return names_listed(self.split)

    @property
    def weights(self) -> Weights:
        """λ1 is 0 where no discriminative model is named, and only λ4 counts with trajectories."""
        if self.choice is Choice.TRAJECTORIES:
            return Weights(0.0, 0.0, 0.0, 1.0)  # log p(continuation | sentence) per token
        # Without the model its term is NaN.
        discriminative = self.weight_discriminative if self.discriminator else 0.0
        return Weights(discriminative, self.weight_sentence, self.weight_left, self.weight_right)

    @property
    def below(self) -> float:
        """The bound of Jaccard's index between two contexts of a sentence."""
        return BELOW if self.diverse else WITHOUT
