"""Pairs of a pool's sentences, composed by the similarity that an encoder gives them."""

import hashlib
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext as _

from curation.datasets.composing import Labels, composition_preview, composition_store
from curation.files.progress import Report
from curation.files.tables import Column, write_table
from curation.foundation.errors import UserError
from curation.pairs.sampling.bands import Vectors
from curation.pairs.text import WORDS_RULE
from mlworkers.pipelines.models import folder_of_model
from mlworkers.pipelines.snapshots import started_by
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.bands_plan import BandsPlan
from mlworkers.science.encoders.encoding import encode, unit_vectors
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder

SENTENCES_IN_SHARD = 5_000


def compose_by_similarity(plan: BandsPlan, job: Job) -> Outcome:
    """Put sentences of the pool together as pairs, so many of each band of an encoder's similarity.

    With `plan.preview` it writes some of the pairs to a file and adds none. Raises UserError where the pool has changed
    since the run began, because vectors belong to the sentences as they were, and where no pair can be made.
    """
    dataset = job.dataset_of(plan.dataset)
    folder = folder_of_model(plan.model, kind="encoder", report=job.report)

    def vectors(texts: Sequence[str]) -> Vectors:
        # The shards of an earlier attempt are of the sentences as they were then.
        digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
        if job.drawn_once("sentences.json", lambda: {"sha256": digest})["sha256"] != digest:
            raise UserError(_("The single sentences have changed since the run began. Start another run."))
        return vectors_in_shards(job, folder, plan.device, texts)

    preview = composition_preview(dataset, plan.settings, Labels(), vectors=vectors, report=job.report)
    drawn = preview.drawn
    if not len(drawn.dice):
        raise UserError(_("No two single sentences have a similarity in these bands, so nothing was added."))
    about = {"model": plan.model, "model_sha256": content_of(folder)[0]}

    def publish() -> dict[str, str]:
        kept = about | {"run": job.run_id}
        composition_store(
            dataset=dataset, settings=plan.settings, preview=preview, by=started_by(job), about=kept
        )
        return {}

    result = {
        "pairs": len(drawn.dice),
        "missing": drawn.sample.missing,
        "usable_sentences": drawn.usable,
        "mean_dice": float(drawn.dice.mean()),
        "words_rule": WORDS_RULE,
        "bands": [{"band": one.name, "asked": one.asked, "pairs": one.drawn} for one in drawn.sample.strata],
        **about,
    }
    words = {"pairs": intcomma(len(drawn.dice)), "bands": len(drawn.sample.strata)}
    message = _("%(pairs)s pairs added, of %(bands)s bands of similarity")
    if plan.preview:
        message = _("%(pairs)s pairs would be added, of %(bands)s bands of similarity; nothing is added")
    message %= words
    if drawn.sample.missing:
        message += _("; %(missing)s fewer than asked for") % {"missing": intcomma(drawn.sample.missing)}
    if plan.preview:
        # Some of the pairs that would be added, from the lowest to the highest word overlap, as CSV.
        path = job.folder / "preview.csv"
        columns = [Column("sentence1"), Column("sentence2"), Column("dice", "number")]
        write_table(path, "csv", columns, ([one.a, one.b, f"{one.dice:.4f}"] for one in preview.examples))
        return Outcome(message, result, [NewArtifact("preview", path)])
    return Outcome(message, result, publish=publish)


def vectors_in_shards(job: Job, folder: Path, device: str, texts: Sequence[str]) -> Vectors:
    """Of n sentences the vectors of length 1, (n, d), in shards that any worker of the run may do.

    Raises EncoderError where the encoder gives no usable vector.
    """
    compute = choose_compute(device)
    encoder = cache(partial(load_encoder, folder, compute))  # loaded where a shard has to be done
    starts = range(0, len(texts), SENTENCES_IN_SHARD)
    blocks = [slice(start, min(start + SENTENCES_IN_SHARD, len(texts))) for start in starts]

    def write(number: int, path: Path, report: Report) -> None:
        array_write(path, encode(encoder(), texts[blocks[number]], compute, report=report))

    sizes = [block.stop - block.start for block in blocks]
    paths = job.shards.all("vectors", sizes, write, message=_("Encoding sentences"))
    return unit_vectors(np.concatenate([array_read(path) for path in paths]))
