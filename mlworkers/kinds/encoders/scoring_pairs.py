"""A model's score of a dataset's pairs, published as a score set of kind model."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from curation.files.progress import Report
from curation.foundation.errors import UserError
from curation.models import ScoreSet, Snapshot
from curation.statistics.correlation import Scores
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.publishing import scores_to_publish
from mlworkers.pipelines.snapshots import snapshot_taken, table_of
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.crossing import cross_scores
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.encoders.rows import Column, PairTable
from mlworkers.science.encoders.saving import seen_by
from mlworkers.science.encoders.scoring_plan import PairScoringPlan
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.cross_encoder import is_cross_encoder, load_cross_encoder
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.sources import SCORERS

PAIRS_IN_SHARD = 2_000
_Blocks = Callable[[slice, Report], Scores]
Scorer = Callable[[list[str], list[str], Report], Scores]


def score_pairs(plan: PairScoringPlan, job: Job) -> Outcome:
    """Give every pair of a split the score of a model, and publish a score set of kind model.

    An encoder gives cosines, -1..1; a cross-encoder its own score, 0..1, as the mean of both orders of the sentences.
    """
    dataset = job.dataset_of(plan.dataset)
    # The model first: a name that leads nowhere leaves no snapshot behind.
    folder = folder_of_model(plan.model, kind="encoder", also=SCORERS, report=job.report)
    snapshot = snapshot_taken(job, dataset, plan.snapshot)
    numbers, first, second = pairs_of_split(table_of(snapshot), plan.split)
    values = scores_in_shards(job, folder, plan.device, first.tolist(), second.tolist())
    crossed = is_cross_encoder(folder)
    about = facts_of_scoring(plan, folder, snapshot, first.tolist(), second.tolist())
    name = _("run %(run)s: model") % {"run": job.run_id}
    publish = scores_to_publish(
        job,
        dataset,
        name=name,
        kind=ScoreSet.Kind.MODEL,
        low=0.0 if crossed else -1.0,
        high=1.0,
        method=way_of_scoring(folder),
        parameters=about,
        scores=(
            (pair, value, None, None) for pair, value in zip(numbers.tolist(), values.tolist(), strict=True)
        ),
    )
    words = {"pairs": intcomma(values.size), "score_set": name}
    message = _("%(pairs)s pairs scored, as “%(score_set)s”") % words
    result = {
        "pairs": int(values.size),
        "mean": float(values.mean()),
        "sd": float(values.std()),
        "smallest": float(values.min()),
        "largest": float(values.max()),
        **about,
    }
    return Outcome(message, result, publish=publish)


def facts_of_scoring(
    plan: PairScoringPlan, folder: Path, snapshot: Snapshot, first: Sequence[str], second: Sequence[str]
) -> dict[str, Any]:
    """What the parameters of the published scores say about the model, and about the n pairs with these sentences."""
    seen = seen_by(folder)
    return {
        "model": plan.model,
        "model_sha256": content_of(folder)[0],
        "snapshot": snapshot.number,
        "split": plan.split,
        # Its scores of these pairs are not an independent opinion of them.
        "pairs_with_training_sentences": sum(
            a in seen or b in seen for a, b in zip(first, second, strict=True)
        ),
    }


def way_of_scoring(folder: Path) -> str:
    """How the model in a folder scores a pair, as pages say it."""
    crossed = is_cross_encoder(folder)
    return _("cross-encoder, mean of both orders") if crossed else _("cosine of an encoder")


def pairs_of_split(
    table: PairTable, split: str, *, among: NDArray[np.bool_] | None = None
) -> tuple[Column, Column, Column]:
    """Numbers and texts of the pairs of a split ("": of any), those with one first sentence together, so that a shard
    encodes it once. among: only those of the n pairs that are marked, (n,). Raises UserError where the split has none.
    """
    marked = np.ones(len(table), dtype=bool) if among is None else among
    chosen = np.flatnonzero(marked & (table.column("split") == split) if split else marked)
    if not chosen.size:
        sentence = _(
            "The dataset has no pair of the split “%(split)s”; choose another split, or leave it empty."
        )
        raise UserError(sentence, split=split)
    together = chosen[np.argsort(table.column("a_id")[chosen], kind="stable")]
    numbers, first, second = (table.column(name)[together] for name in ("pair", "sentence1", "sentence2"))
    return numbers, first, second


def scores_in_shards(
    job: Job, folder: Path, device: str, first: Sequence[str], second: Sequence[str]
) -> Scores:
    """The score that the model in a folder gives each of n pairs, (n,), in shards that any worker of the run may do."""
    scorer = cache(lambda: scorer_of(folder, device))  # loaded where a shard has to be done

    def score(block: slice, report: Report) -> Scores:
        return scorer()(list(first[block]), list(second[block]), report)

    return blocks_in_shards(job, "scores", len(first), score, message=_("Scoring pairs"))


def blocks_in_shards(job: Job, stage: str, pairs: int, score: _Blocks, *, message: str) -> Scores:
    """What `score` gives each of n pairs, (n,), in shards that any worker of the run may do."""
    starts = range(0, pairs, PAIRS_IN_SHARD)
    blocks = [slice(start, min(start + PAIRS_IN_SHARD, pairs)) for start in starts]

    def write(number: int, path: Path, report: Report) -> None:
        array_write(path, score(blocks[number], report))

    sizes = [block.stop - block.start for block in blocks]
    paths = job.shards.all(stage, sizes, write, message=message)
    return np.concatenate([array_read(path) for path in paths])


def scorer_of(folder: Path, device: str) -> Scorer:
    """What scores n pairs by the model in a folder, loaded once."""
    compute = choose_compute(device)
    if is_cross_encoder(folder):
        model = load_cross_encoder(folder, compute)
        return lambda first, second, report: cross_scores(model, first, second, report=report)
    encoder = load_encoder(folder, compute)

    def cosines(first: list[str], second: list[str], report: Report) -> Scores:
        def in_pairs(done: int, total: int, message: str) -> None:
            """Encoding counts sentences; the run counts pairs."""
            report(len(first) * done // max(total, 1), len(first), message)

        return pair_cosines(encoder, first, second, compute, report=in_pairs).values

    return cosines
