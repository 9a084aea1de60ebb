"""A language model that writes partners of sentences, and a small one to train for it."""

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.kind import machine_kind
from mlworkers.science.synthesis.plan import BootstrapPlan, GenerationPlan

KINDS = (
    machine_kind(
        name="bootstrap_generator",
        group="write",
        fits=("scored", "no generator"),
        label=_("Train a generator"),
        description=_("Trains a small language model on scored pairs, for machines without a large one."),
        plan=BootstrapPlan,
        unit=_("steps"),
        pipeline="generating.bootstrap_generator",
        next_steps="next_steps.generator_trained",
        seen="seen.generator_trained",
        room="estimates.training_room",
        trained="estimates.weights",
        most_seconds="estimates.training_seconds",
        work="estimates.training",
        amount=_("%(work)s training steps, or fewer if the time limit ends the training."),
    ),
    machine_kind(
        name="preview_generation",
        label=_("Preview generation"),
        description=_(
            "Writes about ten rows of “Generate pairs”, and estimates its time. Nothing is added to the "
            "dataset."
        ),
        plan=GenerationPlan,
        unit=_("rows"),
        pipeline="previewing.preview_generation",
        next_steps="next_steps.previewed",
        below="mlworkers/_preview.html",
        work="estimates.generation",
    ),
    machine_kind(
        name="generate_pairs",
        group="write",
        fits=("pairs", "generator", "no generated"),
        label=_("Generate pairs"),
        description=_("Lets a language model write partners of a target similarity for human sentences."),
        plan=GenerationPlan,
        unit=_("rows"),
        writes=True,
        preview="preview_generation",
        pipeline="generating.generate_pairs",
        next_steps="next_steps.generated",
        seen="seen.generated",
        ended="answers.answers_save",
        work="estimates.generation",
        amount_in_words="estimates.generation_in_words",
    ),
)
