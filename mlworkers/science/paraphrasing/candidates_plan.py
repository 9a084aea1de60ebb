"""Which pairs may be paraphrases: the setting that labelling and selecting have in common."""

from functools import partial

from mlworkers.plans.fields import WRITING, setting

SAME_MEANING = "1"  # the label that asks for a paraphrase
written_by_setting = partial(
    setting,
    "Pairs of a run",
    "Only pairs that this run wrote. Of a run “Generate pairs” these are the pairs of the label 1, "
    "because its other instructions ask for another meaning. None: every pair of the dataset, whoever wrote it.",
    default=0,
    refers_to="run",
    kinds=WRITING,
    bounds=(0, None),
)
