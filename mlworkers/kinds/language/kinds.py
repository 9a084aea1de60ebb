"""The wording of pairs, and what makes pairs related."""

from django.utils.translation import gettext_lazy as _

from mlworkers.plans.kind import Kind, Page, machine_kind
from mlworkers.science.linguistics.plan import LinguisticPlan
from mlworkers.science.linguistics.relatedness.plan import RelatednessPlan

KINDS = (
    Kind(
        name="analyse_language",
        group="check",
        label=_("Analyse language"),
        description=_(
            "Compares the wording of human and generated pairs, and of pairs with high and low p_D. It "
            "measures words in common (BLEU, Jaccard), variety (Distinct-n) and frequencies (Zipf)."
        ),
        plan=LinguisticPlan,
        unit=_("pairs"),
        needs="curate",
        long=True,
        pipeline="linguistics.analyse_language",
        page=Page(
            address="language",
            name="language",
            report="language.language_report",
            file="language",
            see=_("See the tables of the analysis"),
        ),
    ),
    machine_kind(
        name="analyse_relatedness",
        group="evaluate",
        fits=("scored",),
        label=_("Analyse relatedness"),
        description=_(
            "Correlates scores with words in common, word vectors, parts of speech, subjects and objects."
        ),
        plan=RelatednessPlan,
        unit=_("sentences"),
        pipeline="analysing_relatedness.analyse_relatedness",
        work="estimates.relatedness",
        amount=_("%(work)s pairs to analyse."),
        page=Page(
            address="relatedness",
            name="relatedness",
            report="relatedness.relatedness_report",
            file="relatedness",
            see=_("See what makes these pairs related"),
        ),
    ),
)
