"""Every setting of a scoring of pairs by a model."""

from dataclasses import dataclass

from mlworkers.plans.fields import dataset_setting, device_setting, setting, snapshot_setting
from mlworkers.science.pretrained.sources import SCORERS


@dataclass(frozen=True)
class PairScoringPlan:
    """A model's own score of every pair, as a score set of kind model."""

    dataset: str = dataset_setting()
    model: str = setting(
        "Model",
        "An encoder, whose cosine is the score, or a cross-encoder. The score of a cross-encoder is taken "
        "in both orders of the sentences and averaged. Give packaged:all-MiniLM-L6-v2, run:ID, a folder or "
        "a hub id.",
        refers_to="model",
        kinds=SCORERS,
    )
    split: str = setting(
        "Split", "Only pairs of this split are used. Empty: every pair.", default="", offered="split"
    )
    device: str = device_setting()
    snapshot: int = snapshot_setting()
