"""Every setting of harvesting pairs of a corpus's sentences. Needs neither torch nor Django."""

from dataclasses import dataclass

from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    dataset_setting,
    seed_setting,
    setting,
)
from mlworkers.science.contexts.plan import OURS, corpus_setting

MOST_PAIRS = 1_000_000
TRAIN, DEV, TEST = "harvested-train", "harvested-dev", "harvested-test"  # splits of a dataset


@dataclass(frozen=True)
class HarvestPlan:
    """Pairs of sentences of a corpus, which are scored by contexts and from which a surrogate learns."""

    dataset: str = dataset_setting()
    corpus: int = corpus_setting(
        "The run “Index a corpus” whose text is used. Its sentences are put together to pairs."
    )
    pairs: int = setting(
        "Pairs",
        "Number of pairs, fewer if the corpus has no more. A third are neighbours in the text, a third "
        "have wording in common, and a third are drawn at random, so that their similarities cover the "
        "scale.",
        default=5_000,
        bounds=(3, MOST_PAIRS),
        unit="pairs",
        source="Ours. The paper has 100,000,000 pairs, and does not say how they were chosen",
        essential=True,
    )
    shortest: int = setting(
        "Fewest words of a sentence",
        "Fewest words of a sentence. Shorter ones are left out.",
        default=5,
        bounds=(1, 1000),
        source=OURS,
    )
    longest: int = setting(
        "Most words of a sentence",
        "Most words of a sentence. Longer ones are left out.",
        default=25,
        bounds=(1, 1000),
        source=OURS,
    )
    # The paper divides its 100 million pairs into 98, 1 and 1 %.
    dev_share: float = setting(
        "Share of dev pairs",
        f"This share of the pairs gets the split {DEV}. No sentence is in two splits.",
        default=0.01,
        bounds=(0.0, 0.4),
        source="Sun et al. 2022, section 3.4",
    )
    test_share: float = setting(
        "Share of test pairs",
        f"This share of the pairs gets the split {TEST}, and the rest {TRAIN}.",
        default=0.01,
        bounds=(0.0, 0.4),
        source="Sun et al. 2022, section 3.4",
    )
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        if self.shortest > self.longest:
            raise PlanError(
                "“%(shortest)s” is larger than “%(longest)s”, so no sentence fits; change one of them.",
                shortest=SettingName("shortest"),
                longest=SettingName("longest"),
            )
