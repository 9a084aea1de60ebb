"""Experiments that train several encoders under the same conditions."""

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.kind import Measured, Page, machine_kind
from mlworkers.science.encoders.contrastive.plan import AugmentationPlan
from mlworkers.science.encoders.plan import ComparisonPlan
from mlworkers.science.encoders.pre_fine_tuning.plan import PreFineTuningPlan
from mlworkers.science.encoders.search_plan import SearchPlan
from mlworkers.science.paraphrasing.corpora_plan import CorporaPlan

KINDS = (
    machine_kind(
        name="compare_weightings",
        group="evaluate",
        fits=("scored", "p_d"),
        label=_("Compare weightings"),
        description=_(
            "Trains an encoder for each weighting and seed, and compares them on human or reference scores."
        ),
        plan=ComparisonPlan,
        unit=_("steps"),
        pipeline="weightings.compare_weightings",
        published="published.compared",
        measured=Measured("test_dataset", "test_score_set", "test_snapshot"),
        presets="presets.weightings",
        room="estimates.weightings_room",
        trained="estimates.weights",
        work="estimates.weightings",
        amount_in_words="estimates.weightings_in_words",
        page=Page(
            address="compare",
            name="comparison",
            report="comparison_report.comparison_report",
            file="comparison",
            see=_("See the table of the comparison"),
            models=_("Encoders"),
            proposed="comparison_report.first_trained",
        ),
    ),
    machine_kind(
        name="compare_augmentations",
        group="evaluate",
        label=_("Compare paraphrases"),
        description=_(
            "Trains encoders by contrast with paraphrased copies of each variant and size, and without, "
            "and compares them."
        ),
        plan=AugmentationPlan,
        unit=_("steps"),
        pipeline="comparing_augmentations.compare_augmentations",
        work="estimates.augmentations",
        amount=_("%(work)s examples, each counted once for every row, copy, epoch and seed."),
        page=Page(
            address="compare/paraphrases",
            name="augmentations",
            report="augmentations.augmentations_report",
            file="paraphrases",
            see=_("See what the paraphrases add"),
            models=_("Encoders"),
        ),
    ),
    machine_kind(
        name="compare_pre_fine_tuning",
        group="evaluate",
        label=_("Compare pre-fine-tuning"),
        description=_(
            "Trains models on inference with paraphrased copies of each variant, and without (STILTs), and "
            "compares them on tasks. Each is fine-tuned on the tasks with several seeds."
        ),
        plan=PreFineTuningPlan,
        unit=_("steps"),
        pipeline="comparing_pre_fine_tuning.compare_pre_fine_tuning",
        work="estimates.pre_fine_tuning",
        amount=_(
            "%(work)s rows of inference and of tasks in datasets, each counted once for every epoch, copy and seed. "
            "Rows of tasks in files are not counted."
        ),
        page=Page(
            address="compare/pre-fine-tuning",
            name="pre_fine_tuning",
            report="pre_fine_tuning.pre_fine_tuning_report",
            file="pre-fine-tuning",
            see=_("See what pre-fine-tuning adds"),
            models=_("Models"),
        ),
    ),
    machine_kind(
        name="search_settings",
        group="train",
        label=_("Search settings"),
        description=_(
            "Trains encoders with different settings, and chooses the best by dev pairs. Only the chosen "
            "one is evaluated on the test pairs."
        ),
        plan=SearchPlan,
        unit=_("steps"),
        pipeline="searching.search_settings",
        measured=Measured("test_dataset", "test_score_set", "test_snapshot"),
        next_steps="next_steps.searched",
        room="estimates.search_room",
        trained="estimates.weights",
        work="estimates.search",
        amount_in_words="estimates.search_in_words",
    ),
    machine_kind(
        name="profile_corpora",
        group="paraphrases",
        label=_("Profile paraphrase corpora"),
        description=_("Measures wording in common (BLEU), vocabulary and perplexity in groups of pairs."),
        plan=CorporaPlan,
        unit=_("sentences"),
        pipeline="profiling_corpora.profile_corpora",
        work="estimates.corpora",
        amount=_("%(work)s pairs to measure, and their sentences."),
        page=Page(
            address="corpora",
            name="corpora",
            report="corpora.corpora_report",
            file="corpora",
            see=_("See the table of the groups"),
        ),
    ),
)
