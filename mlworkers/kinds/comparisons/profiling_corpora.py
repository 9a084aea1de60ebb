"""What groups of a dataset's pairs are like in wording, as a table (ConPGS, table 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from curation.files.progress import Report
from curation.foundation.errors import UserError
from curation.results.estimates import Estimate
from curation.statistics.correlation import Scores
from mlworkers.kinds.encoders.contrast_data import tags_of
from mlworkers.kinds.encoders.scoring_pairs import blocks_in_shards, pairs_of_split
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.encoders.contrastive.variants import VariantError, variant_places
from mlworkers.science.paraphrasing.corpora import (
    mean_estimated,
    perplexity_by_sentence,
    perplexity_by_token,
    vocabulary_at,
    vocabulary_of,
)
from mlworkers.science.paraphrasing.corpora_plan import CorporaPlan
from mlworkers.science.paraphrasing.lexical import bleu_scores, bleu_signature
from mlworkers.science.paraphrasing.perplexity import Surprise, surprise_of
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.synthesis.generator import load_generator

FIRST = "first sentences"  # the row of what the pairs of all groups begin with
_FEWEST_SENTENCES = 2


@dataclass(frozen=True)
class _Group:
    """sentences: its distinct ones. pairs: their places among all pairs, (n,); None of the first sentences."""

    name: str
    sentences: Sequence[str]
    pairs: np.ndarray | None = None


def profile_corpora(plan: CorporaPlan, job: Job) -> Outcome:
    dataset = job.dataset_of(plan.dataset)
    # The model first: a name that leads nowhere leaves no snapshot behind.
    model = folder_of_model(plan.model, kind="generator", report=job.report) if plan.model else None
    snapshot = snapshot_taken(job, dataset, plan.snapshot)
    table = table_of(snapshot)
    numbers, first, second = pairs_of_split(table, plan.split)
    order = np.argsort(table.column("pair"), kind="stable")
    rows = order[np.searchsorted(table.column("pair")[order], numbers)]
    subsets = table.column("subset").astype(str)[rows].tolist()
    tags = tags_of(plan.similarity, plan.bleu, dataset, table, rows) if plan.similarity else None
    groups = []
    for group in plan.all_groups:
        try:
            places = np.unique(np.concatenate(variant_places(group, subsets, tags)))
        except VariantError as error:
            raise UserError("%(problem)s", problem=str(error)) from error
        groups.append(_Group(group.name, list(dict.fromkeys(second[places].tolist())), places))
    used = np.unique(np.concatenate([group.pairs for group in groups if group.pairs is not None]))
    groups.append(_Group(FIRST, list(dict.fromkeys(first[used].tolist()))))

    def score(block: slice, report: Report) -> Scores:
        chosen = used[block]
        return bleu_scores(first[chosen].tolist(), second[chosen].tolist(), report=report)

    bleu = np.full(len(numbers), np.nan)
    bleu[used] = blocks_in_shards(job, "bleu", len(used), score, message=_("Computing BLEU"))
    sentences = list(dict.fromkeys(text for group in groups for text in group.sentences))
    place = {text: number for number, text in enumerate(sentences)}
    surprise = _surprise(plan, job, model, sentences) if model else None
    size = min(len(group.sentences) for group in groups) // 2
    if size < _FEWEST_SENTENCES:
        smallest = min(groups, key=lambda group: len(group.sentences))
        raise UserError(
            _("“%(name)s” has too few sentences for a profile, %(sentences)s; name a larger group."),
            name=smallest.name,
            sentences=len(smallest.sentences),
        )
    figures = [
        _figures(plan, group, bleu, surprise, np.array([place[text] for text in group.sentences]), size=size)
        for group in groups
    ]
    words = {"groups": len(plan.all_groups), "pairs": intcomma(len(used))}
    message = ngettext(
        "%(groups)s group of %(pairs)s pairs measured",
        "%(groups)s groups of %(pairs)s pairs measured",
        len(groups) - 1,
    )
    result = {
        "groups": figures,
        "pairs": len(used),
        "sentences_at_equal_size": size,
        "bleu_signature": bleu_signature(),
        "snapshot": snapshot.number,
        **({"model_sha256": content_of(model)[0]} if model else {}),
    }
    return Outcome(message % words, result)


def _surprise(plan: CorporaPlan, job: Job, folder: Path, sentences: Sequence[str]) -> Surprise:
    generator = cache(
        lambda: load_generator(folder, choose_compute(plan.device))
    )  # where a shard has to be done

    def measure(block: slice, report: Report) -> Scores:
        return np.stack(surprise_of(generator(), sentences[block], report=report), axis=1)

    both = blocks_in_shards(job, "surprise", len(sentences), measure, message=_("Measuring perplexity"))
    return Surprise(both[:, 0], both[:, 1])


def _figures(
    plan: CorporaPlan,
    group: _Group,
    bleu: Scores,
    surprise: Surprise | None,
    places: np.ndarray,
    *,
    size: int,
) -> dict[str, Any]:
    drawn = {"resamples": plan.bootstrap, "seed": plan.seed}
    vocabulary = vocabulary_of(group.sentences)
    told: dict[str, Any] = {
        "group": group.name,
        "pairs": None if group.pairs is None else len(group.pairs),
        "sentences": len(group.sentences),
        "vocabulary": vocabulary.distinct,
        **_told("vocabulary_at_equal_size", vocabulary_at(vocabulary, size, seed=plan.seed)),
    }
    if group.pairs is not None:
        told |= _told("bleu", mean_estimated(bleu[group.pairs], **drawn))
    if surprise is not None:
        nats, tokens = surprise.nats[places], surprise.tokens[places]
        known = tokens > 0
        told |= _told("perplexity_by_token", perplexity_by_token(nats[known], tokens[known], **drawn))
        told |= _told("perplexity_by_sentence", perplexity_by_sentence(nats[known], tokens[known], **drawn))
        told["without_perplexity"] = int((~known).sum())
    return told


def _told(name: str, one: Estimate) -> dict[str, float | None]:
    return {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
