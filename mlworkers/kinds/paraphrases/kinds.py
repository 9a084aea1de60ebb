"""Paraphrases with requested similarity and BLEU: translating, labelling, selecting, training, writing."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.fields import setting
from mlworkers.plans.kind import Kind, Page, machine_kind
from mlworkers.science.paraphrasing.labeller_plan import LabellerPlan
from mlworkers.science.paraphrasing.paraphraser_plan import ParaphraserPlan
from mlworkers.science.paraphrasing.plan import LabellingPlan
from mlworkers.science.paraphrasing.round_trip_plan import RoundTripPlan
from mlworkers.science.paraphrasing.selection_plan import SelectionPlan
from mlworkers.science.paraphrasing.writing_plan import WritingPlan


@dataclass(frozen=True)
class TrialPlan:
    """A sentence that somebody tries a paraphraser with."""

    source: str = setting(_("Sentence"), _("Any sentence of two words or more."))
    similarity: str = setting(_("Similarity"), _("A tag such as SIM95."))
    bleu: str = setting(_("BLEU"), _("A tag such as BLEU20."))
    model: str = setting(_("Paraphraser"), _("The paraphraser. Give run:ID of one that was trained here."))
    labeller: str = setting(
        _("Scorer"),
        _(
            "The model that measures similarity. Give run:ID of a scorer or an encoder, or a packaged "
            "encoder."
        ),
    )


KINDS = (
    machine_kind(
        name="translate_round_trip",
        group="paraphrases",
        label=_("Translate there and back"),
        description=_(
            "Translates human sentences into another language and back, as candidates for paraphrases. It "
            "uses several settings of sampling, or beam search (round-trip translation)."
        ),
        plan=RoundTripPlan,
        unit=_("candidates"),
        writes=True,
        pipeline="translating.translate_round_trip",
        next_steps="next_steps.translated",
        work="estimates.round_trip",
        amount=_("%(work)s sentences to translate, there and back with each combination."),
    ),
    machine_kind(
        name="label_paraphrases",
        group="paraphrases",
        label=_("Label paraphrases"),
        description=_(
            "Publishes how similar the sentences of each pair are in meaning and in wording, from 0 to "
            "100. An encoder or a cross-encoder measures the meaning, BLEU the wording. A page shows how "
            "the pairs spread over both."
        ),
        plan=LabellingPlan,
        unit=_("pairs"),
        writes=True,
        pipeline="labelling.label_paraphrases",
        next_steps="next_steps.labelled",
        work="estimates.labelling",
        amount=_("%(work)s pairs to label."),
    ),
    Kind(
        name="select_paraphrases",
        group="paraphrases",
        label=_("Select paraphrases"),
        description=_(
            "Chooses equally many labelled pairs of every cell of similarity and BLEU, for training, dev "
            "and test. Pairs of one source sentence stay together, and the result says which cells have "
            "too few."
        ),
        plan=SelectionPlan,
        unit=_("pairs"),
        needs="curate",
        pipeline="selecting.select_paraphrases",
        page=Page(
            address="selections",
            name="selection",
            report="paraphrase_selections.selection_report",
            file="",
            see=_("See what each cell got"),
        ),
    ),
    machine_kind(
        name="train_labeller",
        group="paraphrases",
        label=_("Train a scorer"),
        description=_(
            "Trains cross-encoders on scored pairs, and keeps the best on dev pairs. Each has another "
            "seed. “Label paraphrases” measures similarity with it."
        ),
        plan=LabellerPlan,
        unit=_("steps"),
        pipeline="labeller_training.train_labeller",
        next_steps="next_steps.labeller_trained",
    ),
    machine_kind(
        name="train_paraphraser",
        group="paraphrases",
        label=_("Train a paraphraser"),
        description=_(
            "Trains an encoder-decoder to write paraphrases with a chosen similarity in meaning and in "
            "wording."
        ),
        plan=ParaphraserPlan,
        unit=_("steps"),
        pipeline="paraphraser_training.train_paraphraser",
        next_steps="next_steps.paraphraser_trained",
    ),
    machine_kind(
        name="write_paraphrases",
        group="paraphrases",
        label=_("Write paraphrases"),
        description=_(
            "Writes paraphrases of human sentences at chosen tags, measures them, and adds the usable ones."
        ),
        plan=WritingPlan,
        unit=_("paraphrases"),
        writes=True,
        pipeline="writing_paraphrases.write_paraphrases",
        next_steps="next_steps.written",
        page=Page(
            address="requested",
            name="requested",
            report="requested.requested_report",
            file="requested",
            see=_("See how they meet the requested tags"),
        ),
    ),
    Kind(
        name="try_paraphraser",
        label=_("Try a paraphraser"),
        description=_("Writes paraphrases of one sentence and measures their labels."),
        plan=TrialPlan,
        unit=_("paraphrases"),
        needs="read",
        queue="playground",
        listed=False,
        pipeline="trying.try_paraphraser",
        next_steps="next_steps.tried",
    ),
)
