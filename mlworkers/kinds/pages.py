"""The pages of results: which kind of run has which page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from curation.results.reports import Report
from mlworkers.kinds.comparisons.augmentations import augmentations_report
from mlworkers.kinds.comparisons.comparison_report import comparison_report, first_trained
from mlworkers.kinds.comparisons.corpora import corpora_report
from mlworkers.kinds.comparisons.pre_fine_tuning import pre_fine_tuning_report
from mlworkers.kinds.contexts.context_curves import context_curves_report
from mlworkers.kinds.encoders.cross_validation_report import best_method, cross_validation_report
from mlworkers.kinds.language.language import language_report
from mlworkers.kinds.language.relatedness import relatedness_report
from mlworkers.kinds.paraphrases.paraphrase_selections import selection_report
from mlworkers.kinds.paraphrases.requested import requested_report
from mlworkers.kinds.reader import Reader
from mlworkers.models import Run


@dataclass(frozen=True)
class Page:
    """The page of a kind's results.

    kind: of runs.
    address: its address before the run's number.
    name: of its URL; with "_csv", of its file's.
    report: what it shows.
    see: the link to it on the run's page.
    models: the heading of the models that the run kept.
    proposed: the encoder or method whose largest errors are shown unless another is asked for.
    file: the name of its file before the run's number, "" where it has none.
    """

    kind: str
    address: str
    name: str
    report: Callable[[Run, Reader], Report]
    file: str
    see: Any
    models: Any = ""
    proposed: Callable[[Run], str] = lambda _run: ""


_PAGES = (
    Page(
        "compare_weightings",
        "compare",
        "comparison",
        comparison_report,
        "comparison",
        _("See the table of the comparison"),
        models=_("Encoders"),
        proposed=first_trained,
    ),
    Page(
        "compare_augmentations",
        "compare/paraphrases",
        "augmentations",
        augmentations_report,
        "paraphrases",
        _("See what the paraphrases add"),
        models=_("Encoders"),
    ),
    Page(
        "compare_pre_fine_tuning",
        "compare/pre-fine-tuning",
        "pre_fine_tuning",
        pre_fine_tuning_report,
        "pre-fine-tuning",
        _("See what pre-fine-tuning adds"),
        models=_("Models"),
    ),
    Page(
        "cross_validate_encoder",
        "cross-validation",
        "cross_validation",
        cross_validation_report,
        "cross-validation",
        _("See how well each method does"),
        proposed=best_method,
    ),
    Page(
        "analyse_language",
        "language",
        "language",
        language_report,
        "language",
        _("See the tables of the analysis"),
    ),
    Page(
        "analyse_relatedness",
        "relatedness",
        "relatedness",
        relatedness_report,
        "relatedness",
        _("See what makes these pairs related"),
    ),
    Page(
        "measure_context_curves",
        "context-curves",
        "context_curves",
        context_curves_report,
        "context-curves",
        _("See the curves"),
    ),
    Page(
        "profile_corpora", "corpora", "corpora", corpora_report, "corpora", _("See the table of the groups")
    ),
    Page("select_paraphrases", "selections", "selection", selection_report, "", _("See what each cell got")),
    Page(
        "write_paraphrases",
        "requested",
        "requested",
        requested_report,
        "requested",
        _("See how they meet the requested tags"),
    ),
)
PAGES = {page.kind: page for page in _PAGES}
