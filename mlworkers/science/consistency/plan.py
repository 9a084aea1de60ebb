"""Every setting of a scoring of label consistency."""

from dataclasses import dataclass
from functools import partial

from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
    snapshot_setting,
)

ours = partial(setting, source="docs/guide/explain/human-likeness.md")


@dataclass(frozen=True)
class ConsistencyPlan:
    """Every number that shapes p_y."""

    dataset: str = dataset_setting()
    scores: str = setting(
        "Target similarities",
        "The score set with the target similarity of the generated pairs. Each of its pairs gets a p_y.",
        refers_to="score set",
        kinds=("target",),
    )
    human_scores: str = setting(
        "Human scores",
        "Human or reference scores of other pairs, from which the classifiers learn. Empty: they learn "
        "from the target similarities themselves, which may be wrong, and p_y is marked as circular.",
        default="",
        refers_to="score set",
        kinds=("reference", "human"),
        within="human_dataset",
        preselected=True,
    )
    human_dataset: str = setting(
        "Dataset of the human scores",
        "The dataset of the human scores. Empty: the dataset above.",
        default="",
        refers_to="dataset",
    )
    human_split: str = setting(
        "Split of the human scores",
        "The split of the human scores. Pairs with a near copy of a sentence of another split are left out.",
        default="train",
        offered="split",
    )
    model: str = setting(
        "Model",
        "An encoder, or a cross-encoder, from whose score the classifiers learn. The score of an encoder "
        "is its cosine. The model is not trained, and it must not have been trained on sentences of the "
        "pairs that are scored.",
        default="packaged:all-MiniLM-L6-v2",
        refers_to="model",
        kinds=("encoder",),
    )
    folds: int = ours(
        "Folds",
        "Number of parts, each scored by a classifier that learned from the others. A pair's classifier "
        "was trained without the pair, its sentences and their near copies.",
        default=5,
        bounds=(3, 20),
    )
    # Smoothing makes 0.1 of the label 0; sampled partners keep the unsmoothed 0 (RISE's released code).
    merged: float = ours(
        "Width of a label",
        "Target similarities that differ by no more than this are one label. A generation writes pairs of 0.1 and "
        "draws partners of 0, which hardly differ. Human scores count for the nearest label.",
        default=0.15,
        bounds=(0.0, 0.5),
    )
    # A wrong label is any other one with the same chance.
    planted: float = ours(
        "Share of planted errors",
        "Share of the pairs that get a wrong label, to measure how well p_y finds it. The published p_y is "
        "not affected.",
        default=0.2,
        bounds=(0.01, 0.5),
    )
    snapshot: int = snapshot_setting()
    device: str = device_setting()
    seed: int = seed_setting()

    def __post_init__(self) -> None:
        if self.human_dataset not in ("", self.dataset) and not self.human_scores:
            raise PlanError(
                "“%(dataset)s” names a dataset, but “%(scores)s” is empty; choose a score set of that dataset, or "
                "leave both empty.",
                dataset=SettingName("human_dataset"),
                scores=SettingName("human_scores"),
            )
