"""A sentence that somebody tries a paraphraser with: answered at once, by models that stay loaded."""

from dataclasses import dataclass

import numpy as np
from django.utils.translation import ngettext

from curation.files.progress import silent
from curation.pairs.text import near_copy_key, normalise
from mlworkers.kinds.encoders.scoring_pairs import scorer_of
from mlworkers.kinds.paraphrases.kinds import TrialPlan
from mlworkers.pipelines.models import folder_of_model
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.science.paraphrasing.decoding import Request, paraphrases_decoded
from mlworkers.science.paraphrasing.measured import Similarity, measure, miss, tags_named
from mlworkers.science.paraphrasing.paraphraser import Paraphraser, Target, load_paraphraser
from mlworkers.science.paraphrasing.writing_plan import Decoding
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.sources import SCORERS

SHOWN = 5  # paraphrases of a sentence, as many as beams


@dataclass(frozen=True)
class LoadedModels:
    """A paraphraser and what measures similarity, in the worker's memory. key: of both folders."""

    key: tuple[tuple[str, int], ...]
    paraphraser: Paraphraser
    similarity: Similarity


_kept: list[LoadedModels] = []  # one at most: a worker's memory is for its runs


def try_paraphraser(plan: TrialPlan, job: Job) -> Outcome:
    """The likeliest paraphrases of the sentence at the tags, each with its measured similarity and BLEU."""
    paraphraser = folder_of_model(plan.model, kind="paraphraser")
    labeller = folder_of_model(plan.labeller, kind="encoder", also=SCORERS)
    key = tuple((str(folder), folder.stat().st_mtime_ns) for folder in (paraphraser, labeller))
    if not _kept or _kept[0].key != key:
        _kept.clear()  # before the next are loaded: both may not fit
        score = scorer_of(labeller, "cpu")  # a training on the GPU keeps all of its memory
        writer = load_paraphraser(paraphraser, choose_compute("cpu"))
        _kept.append(LoadedModels(key, writer, lambda first, second: score(first, second, silent)))
    [loaded] = _kept
    source, target = normalise(plan.source), Target(plan.similarity, plan.bleu)
    decoding = Decoding(beams=SHOWN, candidates=SHOWN)
    [texts] = paraphrases_decoded(loaded.paraphraser, [Request(source, target)], decoding, report=job.report)
    labels = measure([source] * len(texts), texts, loaded.similarity)
    tags = tags_named(loaded.paraphraser.bounds)
    rows = []
    for text, similarity, bleu in zip(texts, labels.similarity.tolist(), labels.bleu.tolist(), strict=True):
        misses = miss(tags[target.similarity], similarity), miss(tags[target.lexical], bleu)
        rows.append(
            {
                "text": text,
                "similarity": None if np.isnan(similarity) else similarity,
                "bleu": None if np.isnan(bleu) else bleu,
                "in_cell": not any(misses),
                "copy": near_copy_key(text) == near_copy_key(source),
            }
        )
    message = ngettext("%(count)s paraphrase", "%(count)s paraphrases", len(rows)) % {"count": len(rows)}
    return Outcome(message, {"paraphrases": rows})
