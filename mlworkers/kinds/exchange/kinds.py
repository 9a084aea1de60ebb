"""Imports and exports of files."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from curation.files.tables import FORMATS
from curation.pairs.inclusion import Inclusion
from mlworkers.plans.fields import generated_pairs_setting, setting
from mlworkers.plans.kind import Kind

DATASET: dict[str, Any] = {
    "label": _("Dataset"),
    "help": _("The dataset's short name."),
    "refers_to": "dataset",
}


@dataclass(frozen=True)
class ImportPlan:
    dataset: str = setting(**DATASET)
    batch: int = setting(
        _("Uploaded file"),
        _("The number of an uploaded file."),
        refers_to="batch",
        low=1,
    )


@dataclass(frozen=True)
class SentencesPlan:
    dataset: str = setting(**DATASET)
    batch: int = setting(
        _("Uploaded file"),
        _("The number of an uploaded file of sentences."),
        refers_to="batch",
        kinds=("sentences",),
        low=1,
    )


@dataclass(frozen=True)
class ExportPlan:
    dataset: str = setting(**DATASET)
    format: str = setting(
        _("Format"),
        _("The kind of file."),
        default="csv",
        choices=FORMATS,
        essential=True,
    )
    score_set: str = setting(
        _("Score set"),
        _("Only the scores of this set; empty for every set."),
        default="",
        refers_to="score set",
    )
    generated_pairs: Inclusion = generated_pairs_setting()
    scored_only: bool = setting(
        _("Scored pairs only"),
        _("Leaves out pairs without a score."),
        default=False,
    )
    standard_errors: bool = setting(
        _("Standard errors"),
        _("Adds a column with the standard error of each score that has one."),
        default=False,
    )
    plain: bool = setting(
        _("Pairs and scores only"),
        _("Leaves out the origin of pairs, and the method and counts of scores."),
        default=False,
    )
    spreadsheet: bool = setting(
        _("For a spreadsheet"),
        _("Puts an apostrophe before text that a spreadsheet would run as a formula (CSV and TSV)."),
        default=False,
    )


KINDS = (
    Kind(
        name="check_import",
        label=_("Check an import"),
        description=_("Checks the import of an uploaded file and writes nothing."),
        plan=ImportPlan,
        unit=_("rows"),
        needs="curate",
        pipeline="pairs.check_import",
        next_steps="next_steps.checked",
    ),
    Kind(
        name="import_pairs",
        label=_("Import pairs"),
        description=_("Imports the pairs and scores of an uploaded file."),
        plan=ImportPlan,
        unit=_("rows"),
        writes=True,
        needs="curate",
        # the upload is deleted once its pairs are in
        repeatable=False,
        pipeline="pairs.import_pairs",
        next_steps="next_steps.imported",
    ),
    Kind(
        name="import_sentences",
        label=_("Import sentences"),
        description=_("Adds the sentences of an uploaded file as single sentences."),
        plan=SentencesPlan,
        unit=_("sentences"),
        writes=True,
        needs="curate",
        # the upload is deleted once its sentences are in
        repeatable=False,
        pipeline="pairs.import_sentences",
        next_steps="next_steps.sentences_imported",
    ),
    Kind(
        name="export_dataset",
        label=_("Export dataset"),
        description=_("Writes the pairs and scores of a dataset to a file."),
        plan=ExportPlan,
        unit=_("pairs"),
        needs="read",
        pipeline="pairs.export_dataset",
        next_steps="next_steps.exported",
    ),
)
