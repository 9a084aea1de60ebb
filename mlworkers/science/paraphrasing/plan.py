"""Every setting of labelling pairs by how similar their sentences are in meaning and in wording."""

from dataclasses import dataclass

from mlworkers.plans.fields import setting
from mlworkers.science.encoders.scoring_plan import PairScoringPlan
from mlworkers.science.paraphrasing.candidates_plan import written_by_setting
from mlworkers.science.paraphrasing.tags import TOP, TagBounds

_PAPER = "ConPGS paper, section 3.1"
_DEFAULTS = TagBounds()


@dataclass(frozen=True)
class LabellingPlan(PairScoringPlan):
    """The similarity that a model gives every pair, and its BLEU, as two score sets of kind model; and the bounds of
    the tags by which their pages count the pairs.
    """

    written_by: int = written_by_setting()
    # The paper: similarity above 70 and BLEU of at most 45, in steps of 5: 6 and 8 tags.
    sim_above: int = setting(
        "Similarity above",
        "The tags of similarity begin above this value and end at 100.",
        default=_DEFAULTS.sim_above,
        bounds=(0, TOP - 1),
        source=_PAPER,
    )
    sim_width: int = setting(
        "Width of a similarity tag",
        "Width of a tag of similarity. The widths must fill the range exactly.",
        default=_DEFAULTS.sim_width,
        bounds=(1, TOP),
        source=_PAPER,
    )
    # Two steps in one, because few candidates have a BLEU below 10 (note 4 of the paper).
    bleu_first: int = setting(
        "End of the first BLEU tag",
        "The first tag covers BLEU from 0 to this value.",
        default=_DEFAULTS.bleu_first,
        bounds=(1, TOP),
        source=_PAPER,
    )
    bleu_width: int = setting(
        "Width of a BLEU tag",
        "Width of each tag of BLEU but the first. The width of the first must be a multiple of it.",
        default=_DEFAULTS.bleu_width,
        bounds=(1, TOP),
        source=_PAPER,
    )
    bleu_most: int = setting(
        "BLEU at most",
        "The last tag of BLEU ends here.",
        default=_DEFAULTS.bleu_most,
        bounds=(1, TOP),
        source=_PAPER,
    )

    def __post_init__(self) -> None:
        _fit = self.tag_bounds

    @property
    def tag_bounds(self) -> TagBounds:
        """Raises PlanError where the widths do not fit."""
        return TagBounds(**{name: getattr(self, name) for name in _DEFAULTS.as_dict()})
