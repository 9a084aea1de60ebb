"""README.md of a published folder: the metadata that a hub reads, and what a reader must know, from the data."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import yaml

from curation.files.publishing.authorship import authorship
from curation.files.publishing.facts import (
    UNASSIGNED,
    Collection,
    Configuration,
    Contents,
    Publication,
    Scores,
)
from curation.files.publishing.licences import LICENCE_NOT_STATED, licence_identifier, licence_known
from curation.files.publishing.prose import markdown_address, markdown_paragraphs, markdown_text
from curation.files.tables import Column
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
_HOLDS = {
    "scored": "pairs with a score: who made the pair and wrote its sentences, the score, its standard error and number "
    "of judgements, its method, and who judged (`judged_by`)",
    "unscored": "the other pairs of the snapshot, which have no score of this set",
    "other_scores": "the scores of every other score set, by the `id` of the pair",
    "tuples": "the pairs that were shown together, by their `id`, and how many judgements each tuple requires",
    "judgements": "every judgement, also those that do not count (`status`): the pairs in the order of the screen, the "
    "best and the worst, and the annotator's code, which is another in each campaign",
}


def readme(publication: Publication, contents: Contents) -> str:
    """The text with its YAML metadata, as the Hugging Face hub and `datasets` read it."""
    front = yaml.safe_dump(_metadata(publication, contents), sort_keys=False, allow_unicode=True, width=110)
    parts = [
        f"# {markdown_text(publication.name)}",
        _warning(publication),
        markdown_paragraphs(publication.description) or "No description.",
        _facts(publication, contents),
        _files(publication, contents),
        _splits(contents),
        _scores(publication),
        *map(_collection, publication.collections),
        _written(publication, contents),
    ]
    return f"---\n{front}---\n\n" + "\n\n".join(part.strip() for part in parts if part) + "\n"


def size_class(pairs: int) -> str:
    """The hub's class for a number of pairs."""
    return next((name for most, name in _SIZES if pairs < most), _LARGEST)


def _metadata(publication: Publication, contents: Contents) -> dict[str, Any]:
    licence = licence_known(publication.licence).hub
    named = {} if licence != "other" else {"license_name": licence_identifier(publication.licence)}
    # The hub has names for crowds and experts, and nothing here says which of them the people were.
    creators = {SIMULATED: ["machine-generated"], BOTH: ["machine-generated", "other"]}
    made = creators.get(publication.main.judged_by)
    annotators = {"annotations_creators": made} if made else {}
    base, _hyphen, region = publication.language.partition("-")
    tagged = {"language_bcp47": [publication.language]} if region else {}
    return {
        "pretty_name": publication.name,
        "language": [base.lower()],
        **tagged,
        "license": licence,
        **named,
        **annotators,
        "language_creators": ["found", *(["machine-generated"] if contents.machine else [])],
        "multilinguality": ["monolingual"],
        "size_categories": [size_class(contents.pairs)],
        "source_datasets": ["original"],
        "task_categories": ["sentence-similarity"],
        "task_ids": ["semantic-similarity-scoring"],
        "tags": ["simulated-annotators"] if publication.simulated else [],
        "configs": [_config(configuration) for configuration in contents.configurations],
        "dataset_info": [_info(configuration) for configuration in contents.configurations],
    }


def _config(configuration: Configuration) -> dict[str, Any]:
    files = [{"split": split, "path": path} for split, (path, _rows) in configuration.files.items()]
    default = {"default": True} if configuration.name == "scored" else {}
    return {"config_name": configuration.name, **default, "data_files": files}


def _info(configuration: Configuration) -> dict[str, Any]:
    features = [{"name": column.name, "dtype": _dtype(column)} for column in configuration.columns]
    return {"config_name": configuration.name, "features": features}


def _dtype(column: Column) -> str:
    return _TYPES[column.kind]


def _warning(publication: Publication) -> str:
    marked = [scores for scores in publication.scores if scores.simulated]
    if not marked:
        return ""
    names = ", ".join(f"“{markdown_text(scores.name)}”" for scores in marked)
    return (
        f"> **Simulated annotators.** Judgements behind these scores were given by a program that simulates "
        f"annotators, not by people: {names}. The column `judged_by` marks every one of these scores."
    )


def _facts(publication: Publication, contents: Contents) -> str:
    scored = contents.scored
    splits = ", ".join(f"{split} {rows:,}" for split, (_path, rows) in scored.files.items())
    facts = {
        "Pairs with a score": f"{scored.rows:,} of {contents.pairs:,} ({splits})",
        "Score": f"{publication.main.low:g} to {publication.main.high:g}, {_kind(publication.main)}",
        "Language": markdown_text(publication.language or "not stated"),
        "Licence": markdown_text(publication.licence or LICENCE_NOT_STATED),
        "Source": markdown_address(publication.address or "not stated"),
        "Version": f"snapshot {publication.snapshot} of {publication.taken}, SHA-256 `{publication.sha256}`",
        "Software": publication.software,
    }
    return listed(f"{name}: {value}" for name, value in facts.items())


def _files(publication: Publication, contents: Contents) -> str:
    rows = "\n".join(
        f"| `{each.name}` | {each.rows:,} | {_HOLDS[each.name]} |" for each in contents.configurations
    )
    return f"""## Files

| configuration | rows | holds |
|---|---:|---|
{rows}

```python
from datasets import load_dataset

scored = load_dataset("{publication.slug}", "scored")  # the path of this folder, or its name on the hub
```

`manifest.json` has the SHA-256 of each file, and `CITATION.cff` says how to cite the data. `croissant.json` describes
the files for machines, `DATA_STATEMENT.md` says where the data come from, and `mteb_task.py` is a task for MTEB.
`METHODS.md` is a methods section about the data; `methods.tex` with `references.bib` is the same for LaTeX."""


def _splits(contents: Contents) -> str:
    """What splits share; "" where there is one split alone."""
    pairs = (each.files for each in contents.configurations if each.name in ("scored", "unscored"))
    if len({split for files in pairs for split in files} - {UNASSIGNED}) < 2:
        return ""
    if not contents.leaks:
        return "## Splits\n\nNo split shares a sentence with another."
    return (
        "## Splits\n\n**Splits share sentences.** An encoder that is trained on one of them has seen sentences of the "
        "other, so its figures on the other may be too high. Say which pairs you left out.\n\n"
        + listed(markdown_text(str(leak)) for leak in contents.leaks)
    )


def _scores(publication: Publication) -> str:
    rows = "\n".join(
        f"| {markdown_text(each.name)} | {each.kind} | {each.low:g} to {each.high:g} | "
        f"{markdown_text(each.method) or '–'} | {each.count:,} | "
        f"{_number(each.judgements)} | {each.judged_by or '–'} |"
        for each in publication.scores
    )
    reliable = [
        markdown_text(sentence) for each in publication.scores if (sentence := reliability_stated(each))
    ]
    main = markdown_text(publication.main.name)
    return f"""## Scores

`scored` has the scores of “{main}”. A score without a standard error or judgements has empty cells.

| score set | kind | scale | method | pairs | judgements | judged by |
|---|---|---|---|---:|---:|---|
{rows}

{listed(reliable) or "No score set has a split-half reliability."}"""


def reliability_stated(scores: Scores) -> str:
    """Its split-half reliability with everything that a reader needs to compare it; "" where there is none."""
    figures = scores.reliability
    if not figures:
        return ""
    return (
        f"“{scores.name}”: split-half reliability {_figure(figures['spearman_mean'])} (Spearman, mean of "
        f"{figures['trials']:,} random halves, standard deviation {_figure(figures['spearman_sd'])}"
        f"{_interval(figures)}), {_figure(figures['spearman_brown'])} for all judgements by the Spearman-Brown "
        f"formula; Pearson {_figure(figures['pearson_mean'])}. Split by {figures['split']}: "
        f"{figures['judgements']:,} judgements of {figures['tuples']:,} tuples."
    )


def _interval(figures: Mapping[str, Any]) -> str:
    if figures.get("spearman_low") is None:
        return ""
    return f", 95 % interval {_figure(figures['spearman_low'])} to {_figure(figures['spearman_high'])}"


def _collection(campaign: Collection) -> str:
    asked = (
        "The judgements were imported from a file."
        if campaign.imported
        else f"Question: “{markdown_text(campaign.question)}”"
    )
    dates = "–" if campaign.began is None else f"{campaign.began} to {campaign.ended}"
    facts = {
        "Method": f"Best-Worst Scaling with tuples of {campaign.tuple_size} pairs",
        "Pairs": f"{campaign.pairs:,}",
        "Tuples": f"{campaign.tuples:,}; each pair is in {campaign.tuples_per_item:.3g} of them on average",
        "Judgements per tuple": f"{campaign.judgements_per_tuple}",
        "Judgements": f"{campaign.judgements:,} count, {campaign.extra:,} were extra, {campaign.excluded:,} excluded",
        "Annotators": annotators_stated(campaign, escaped=markdown_text),
        **_checks(campaign),
        "Collected": dates,
    }
    return f"## How “{markdown_text(campaign.name)}” was judged\n\n{asked}\n\n" + listed(
        f"{name}: {value}" for name, value in facts.items()
    )


def _checks(campaign: Collection) -> dict[str, str]:
    if not campaign.gold_tuples or campaign.imported:
        return {}
    share = f"{campaign.gold_threshold:.0%}"
    return {"Gold tuples": f"{campaign.gold_tuples:,}; below {share} right answers an annotator was stopped"}


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


def _written(publication: Publication, contents: Contents) -> str:
    generated = contents.origins.get("generated", 0)
    return authorship(
        chosen=publication.chosen or UNNAMED.value,
        people=contents.pairs - generated,
        kept=generated - contents.unreviewed,
        unreviewed=contents.unreviewed,
    )


def _kind(scores: Scores) -> str:
    kind = f"{scores.kind} scores" + (f", {markdown_text(scores.method)}" if scores.method else "")
    return f"{kind}, judged by {scores.judged_by}" if scores.judged_by else kind


def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _figure(value: float) -> str:
    return f"{value:.3f}"


def listed(lines: Iterable[str]) -> str:
    """A Markdown list."""
    return "\n".join(f"* {line}" for line in lines)
