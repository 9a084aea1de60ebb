"""README.md of a published folder: the metadata that a hub reads, and what a reader must know, from the data."""

from collections.abc import Callable
from typing import Any

import yaml

from curation.files.publishing.authorship import authorship
from curation.files.publishing.facts import UNASSIGNED, Collection, Contents, Publication, Scores
from curation.files.publishing.licences import LICENCE_NOT_STATED, licence_identifier, licence_known
from curation.files.publishing.prose import markdown_text
from curation.files.publishing.templates import template_text
from curation.pairs.inclusion import UNNAMED
from curation.pairs.judged_by import BOTH, SIMULATED

# The hub's classes of size: each holds fewer pairs than its number.
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
_LARGEST = "10M<n<100M"
_TYPES = {"text": "string", "number": "float64", "integer": "int64"}


def readme(publication: Publication, contents: Contents) -> str:
    """The text with its YAML metadata, as the Hugging Face hub and `datasets` read it."""
    pairs = (each.files for each in contents.configurations if each.name in ("scored", "unscored"))
    generated = contents.origins.get("generated", 0)
    written = authorship(
        chosen=publication.chosen or UNNAMED.value,
        people=contents.pairs - generated,
        kept=generated - contents.unreviewed,
        unreviewed=contents.unreviewed,
    )
    return template_text(
        "readme.md.jinja",
        publication=publication,
        contents=contents,
        metadata=_metadata(publication, contents),
        divided=len({split for files in pairs for split in files} - {UNASSIGNED}) > 1,
        written=written,
        reliability_stated=reliability_stated,
        annotators_stated=annotators_stated,
        markdown_text=markdown_text,
        LICENCE_NOT_STATED=LICENCE_NOT_STATED,
    )


def size_class(pairs: int) -> str:
    """The hub's class for a number of pairs."""
    return next((name for most, name in _SIZES if pairs < most), _LARGEST)


def _metadata(publication: Publication, contents: Contents) -> str:
    licence = licence_known(publication.licence).hub
    # The hub has names for crowds and experts, and nothing here says which of them the people were.
    creators = {SIMULATED: ["machine-generated"], BOTH: ["machine-generated", "other"]}
    made = creators.get(publication.main.judged_by)
    base, _hyphen, region = publication.language.partition("-")
    metadata: dict[str, Any] = {
        "pretty_name": publication.name,
        "language": [base.lower()],
        **({"language_bcp47": [publication.language]} if region else {}),
        "license": licence,
        **({"license_name": licence_identifier(publication.licence)} if licence == "other" else {}),
        **({"annotations_creators": made} if made else {}),
        "language_creators": ["found", *(["machine-generated"] if contents.machine else [])],
        "multilinguality": ["monolingual"],
        "size_categories": [size_class(contents.pairs)],
        "source_datasets": ["original"],
        "task_categories": ["sentence-similarity"],
        "task_ids": ["semantic-similarity-scoring"],
        "tags": ["simulated-annotators"] if publication.simulated else [],
        "configs": [
            {
                "config_name": each.name,
                **({"default": True} if each.name == "scored" else {}),
                "data_files": [{"split": split, "path": path} for split, (path, _) in each.files.items()],
            }
            for each in contents.configurations
        ],
        "dataset_info": [
            {
                "config_name": each.name,
                "features": [{"name": column.name, "dtype": _TYPES[column.kind]} for column in each.columns],
            }
            for each in contents.configurations
        ],
    }
    return yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True, width=110)


def reliability_stated(scores: Scores) -> str:
    """Its split-half reliability with everything that a reader needs to compare it; "" where there is none."""
    figures = scores.reliability
    if not figures:
        return ""
    interval = ""
    if figures.get("spearman_low") is not None:
        interval = f", 95 % interval {figures['spearman_low']:.3f} to {figures['spearman_high']:.3f}"
    return (
        f"“{scores.name}”: split-half reliability {figures['spearman_mean']:.3f} (Spearman, mean of "
        f"{figures['trials']:,} random halves, standard deviation {figures['spearman_sd']:.3f}{interval}), "
        f"{figures['spearman_brown']:.3f} for all judgements by the Spearman-Brown formula; Pearson "
        f"{figures['pearson_mean']:.3f}. Split by {figures['split']}: {figures['judgements']:,} judgements of "
        f"{figures['tuples']:,} tuples."
    )


def annotators_stated(campaign: Collection, *, escaped: Callable[[str], str] = str) -> str:
    """How many, how many of them are programs, and how many do not count. escaped: makes a reason text in Markdown."""
    if campaign.annotators is None:
        return "not known"
    simulated = (
        f", of whom {campaign.simulated:,} are **simulated by a program**" if campaign.simulated else ""
    )
    reasons = ", ".join(f"{escaped(reason)} {count:,}" for reason, count in campaign.exclusions.items())
    because = f" ({reasons})" if reasons else ""
    excluded = f"the judgements of {campaign.excluded_annotators:,} do not count{because}"
    return f"{campaign.annotators:,}{simulated}; {excluded}"
