"""Every setting of a balanced selection of labelled pairs."""

from collections.abc import Mapping
from dataclasses import dataclass

from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    dataset_setting,
    seed_setting,
    setting,
    snapshot_setting,
)
from mlworkers.science.paraphrasing.candidates_plan import written_by_setting

TRAIN, DEV, TEST = "train", "dev", "test"
_PAPER = "ConPGS paper, section 3.3"


@dataclass(frozen=True)
class SelectionPlan:
    """Equally many pairs of every cell of tags, divided by their source sentences. The bounds of the tags are those of
    the run that made the labels.
    """

    dataset: str = dataset_setting()
    similarity: str = setting(
        "Similarity",
        "The scores of meaning that “Label paraphrases” published.",
        refers_to="score set",
        kinds=("model",),
    )
    bleu: str = setting(
        "BLEU",
        "The scores of wording that “Label paraphrases” published.",
        refers_to="score set",
        kinds=("model",),
    )
    split: str = setting(
        "Split",
        "Only pairs of this split are used. Pairs with a near copy of a sentence of a held-out split are "
        "left out. Empty: every pair.",
        default="train",
        offered="split",
    )
    written_by: int = written_by_setting()
    # The paper's 5 million training pairs are 5,000,000 / 54 = 92,593 of a unit.
    train_pairs: int = setting(
        "Training pairs of a cell",
        "Most training pairs of each cell. BLEU0_5, which is twice as wide, gets twice as many. A cell "
        "that has fewer gives all that it has.",
        default=1000,
        bounds=(1, 1_000_000),
        essential=True,
    )
    # 6 · (7 + 2) = 54 units of 50 pairs: 2,700, the paper's dev and test sets.
    dev_pairs: int = setting(
        "Dev pairs of a cell",
        "Most dev pairs of each cell. BLEU0_5 gets twice as many. They choose the learning rate and end "
        "the training.",
        default=50,
        bounds=(1, 1_000_000),
        source=_PAPER,
        essential=True,
    )
    test_pairs: int = setting(
        "Test pairs of a cell",
        "Most test pairs of each cell. BLEU0_5 gets twice as many. Their sources profile the paraphraser.",
        default=50,
        bounds=(1, 1_000_000),
        source=_PAPER,
        essential=True,
    )
    seed: int = seed_setting()
    snapshot: int = snapshot_setting()

    def __post_init__(self) -> None:
        if self.similarity == self.bleu:
            raise PlanError(
                "“%(one)s” and “%(other)s” are the same score set; choose the two labels of a run.",
                one=SettingName("similarity"),
                other=SettingName("bleu"),
            )

    @property
    def per_unit(self) -> Mapping[str, int]:
        # Of a unit; BLEU0_5 is two.
        return {TRAIN: self.train_pairs, DEV: self.dev_pairs, TEST: self.test_pairs}
