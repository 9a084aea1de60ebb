"""Every setting of a linguistic analysis."""

from dataclasses import dataclass

from curation.pairs.inclusion import Inclusion
from mlworkers.plans.fields import SEEDS, dataset_setting, generated_pairs_setting, setting


@dataclass(frozen=True)
class LinguisticPlan:
    """Every number that shapes a linguistic analysis."""

    dataset: str = dataset_setting()
    snapshot: int = setting(
        "Snapshot", "0 takes a new one.", default=0, bounds=(0, None), refers_to="snapshot"
    )
    generated_pairs: Inclusion = generated_pairs_setting()
    split: str = setting(
        "Split", "Only pairs of this split; empty for every split.", default="", offered="split"
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
        "The share of the generated pairs with the highest p_D, and with the lowest, that are compared.",
        default=0.1,
        bounds=(0.001, 0.5),
        essential=True,
    )
    seed: int = setting("Seed", "Seed of the blocks and of the draws of sentences.", default=42, bounds=SEEDS)
