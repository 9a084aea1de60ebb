"""Every setting of a linguistic analysis."""

from dataclasses import dataclass

from curation.pairs.inclusion import Inclusion
from mlworkers.plans.fields import (
    dataset_setting,
    generated_pairs_setting,
    seed_setting,
    setting,
    snapshot_setting,
)


@dataclass(frozen=True)
class LinguisticPlan:
    """Every number that shapes a linguistic analysis."""

    dataset: str = dataset_setting()
    snapshot: int = snapshot_setting()
    generated_pairs: Inclusion = generated_pairs_setting()
    split: str = setting(
        "Split", "Only pairs of this split are used. Empty: every pair.", default="", offered="split"
    )
    realism: str = setting(
        "p_D",
        "The score set with p_D of the machine-written sentences. Without one, the analysis compares human and "
        "generated pairs, and has no highest and lowest part.",
        default="",
        refers_to="score set",
        kinds=("realism",),
    )
    targets: str = setting(
        "Target similarity",
        "The score set with the target similarity of the generated pairs. With it, each target is also analysed by "
        "itself: pairs of low p_D have low targets more often than others, and therefore fewer words in common.",
        default="",
        refers_to="score set",
        kinds=("target",),
    )
    share: float = setting(
        "Share",
        "Share of the generated pairs with the highest, and with the lowest, p_D. These two parts are "
        "compared.",
        default=0.1,
        bounds=(0.001, 0.5),
        essential=True,
    )
    seed: int = seed_setting()
