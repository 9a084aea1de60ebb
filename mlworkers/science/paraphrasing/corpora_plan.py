"""Every setting of profiling corpora of pairs: wording in common, vocabulary and perplexity."""

from dataclasses import dataclass

from mlworkers.plans.fields import (
    PlanError,
    SettingName,
    dataset_setting,
    device_setting,
    seed_setting,
    setting,
    snapshot_setting,
)
from mlworkers.plans.rows import rows_setting
from mlworkers.science.encoders.contrastive.variants import VARIANT_ROWS, Variant, variants_listed
from mlworkers.science.encoders.plan import check_resamples, resamples_setting

_PAPER = "ConPGS paper, table 3"


@dataclass(frozen=True)
class CorporaPlan:
    """What the second sentences of a dataset's pairs are like, for each group of pairs (ConPGS, table 3)."""

    dataset: str = dataset_setting()
    groups: str = rows_setting(
        "Groups of pairs",
        "Each gets a row of the result.",
        rows=VARIANT_ROWS,
        default="all",
        source=_PAPER,
        essential=True,
    )
    split: str = setting(
        "Split", "Only pairs of this split are used. Empty: every pair.", default="", offered="split"
    )
    similarity: str = setting(
        "Similarity",
        "The scores by which tags choose pairs. “Label paraphrases” publishes them. Empty: a tag is the "
        "name of a subset.",
        default="",
        refers_to="score set",
        kinds=("model",),
    )
    bleu: str = setting(
        "BLEU",
        "The scores by which tags choose pairs. “Label paraphrases” publishes them. Empty: a tag is the "
        "name of a subset.",
        default="",
        refers_to="score set",
        kinds=("model",),
    )
    # The paper has GPT-2 (section 5.5).
    model: str = setting(
        "Language model",
        "A causal language model such as gpt2, for perplexity. Give run:ID, a folder or a hub id. Empty: "
        "no perplexity.",
        default="",
        refers_to="model",
        kinds=("generator",),
        source=_PAPER,
    )
    comparison: int = setting(
        "Comparison of paraphrases",
        "A run “Compare paraphrases” whose scores are shown beside its variants. Without its original "
        "examples and with the size 1, they are those of the paper's table.",
        default=0,
        bounds=(0, None),
        refers_to="run",
        kinds=("compare_augmentations",),
    )
    bootstrap: int = resamples_setting()
    snapshot: int = snapshot_setting()
    device: str = device_setting()
    seed: int = seed_setting(default=1234)

    def __post_init__(self) -> None:
        check_resamples(self.bootstrap)
        _groups = self.all_groups
        if bool(self.similarity) != bool(self.bleu):
            raise PlanError(
                "Tags need both “%(similarity)s” and “%(bleu)s”; give both, or neither.",
                similarity=SettingName("similarity"),
                bleu=SettingName("bleu"),
            )

    @property
    def all_groups(self) -> tuple[Variant, ...]:
        """Raises PlanError where there is none, or one comes twice."""
        return variants_listed(self.groups, setting="groups")
