"""The sentences of a dataset as vectors in a folder, so that the nearest to any sentence can be found."""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from curation.files.progress import Report
from curation.files.writing import folder_replacing
from curation.foundation.errors import UserError, errors_shown
from curation.models import Dataset, Pair, Sentence
from mlworkers.kinds.encoders.sentence_search import INDEX
from mlworkers.pipelines.models import folder_of_model
from mlworkers.runs.jobs import Job, NewArtifact, Outcome
from mlworkers.runs.storage import content_of
from mlworkers.science.encoders.arrays import array_read, array_write
from mlworkers.science.encoders.encoding import EncoderError, Vectors, encode
from mlworkers.science.encoders.index_plan import SentenceIndexPlan
from mlworkers.science.encoders.sentence_index import index_write
from mlworkers.science.pretrained.compute import choose_compute
from mlworkers.science.pretrained.encoder import load_encoder


def index_sentences(plan: SentenceIndexPlan, job: Job) -> Outcome:
    """Encode every sentence of the dataset and keep the vectors as an index, which finds neighbours.

    Shards of vectors are kept between attempts. Raises UserError where the encoder changed since the run began, and
    for a dataset without sentences.
    """
    dataset = job.dataset_of(plan.dataset)
    model = folder_of_model(plan.model, kind="encoder", report=job.report)
    digest = content_of(model)[0]
    drawn = job.drawn_once("sentences.json", lambda: {"numbers": _numbers(dataset), "model_sha256": digest})
    if drawn["model_sha256"] != digest:
        raise UserError(_("The encoder has changed since the run began. Start another run."))
    numbers = drawn["numbers"]
    if not numbers:
        raise UserError(_("The dataset has no sentence yet; import pairs or sentences first."))
    paths = _encoded_in_shards(plan, job, model, numbers)
    folder = job.folder / INDEX
    with errors_shown(EncoderError), folder_replacing(folder) as beside:
        width = array_read(paths[0]).shape[1]
        blocks: Iterator[Vectors] = map(array_read, paths)
        facts = index_write(
            beside,
            np.array(numbers, dtype=np.int64),
            blocks,
            dimensions=width,
            number_format=plan.number_format,
        )
    card = {
        "sentences": facts.sentences,
        "dimensions": facts.dimensions,
        "number_format": facts.number_format,
        "model": plan.model,
        "model_sha256": digest,
        "last": numbers[-1],
    }
    message = _("%(sentences)s sentences indexed as vectors of %(width)s numbers") % {
        "sentences": intcomma(facts.sentences),
        "width": facts.dimensions,
    }
    return Outcome(message, card, [NewArtifact(INDEX, folder, card)])


def _numbers(dataset: Dataset) -> list[int]:
    """Of the sentences that stand in an active pair or in the pool, in rising order."""
    pairs = Pair.objects.filter(dataset=dataset, status=Pair.Status.ACTIVE)
    first, second = (Exists(pairs.filter(**{side: OuterRef("pk")})) for side in ("a", "b"))
    found = dataset.sentences.filter(Q(first) | Q(second) | Q(pooled__isnull=False))
    return list(found.order_by("pk").values_list("pk", flat=True))


def _encoded_in_shards(plan: SentenceIndexPlan, job: Job, model: Path, numbers: list[int]) -> list[Path]:
    """The vectors of each shard's sentences, (b, d), as any worker of the run may encode them."""
    compute = choose_compute(plan.device)
    encoder = cache(partial(load_encoder, model, compute))  # loaded where a shard has to be done
    parts = [
        numbers[start : start + plan.shard_sentences]
        for start in range(0, len(numbers), plan.shard_sentences)
    ]

    def write(number: int, path: Path, report: Report) -> None:
        texts = dict(Sentence.objects.filter(pk__in=parts[number]).values_list("pk", "text"))
        if len(texts) < len(parts[number]):
            raise UserError(
                _("The sentences of the dataset have changed since the run began. Start another run.")
            )
        with errors_shown(EncoderError):
            array_write(
                path, encode(encoder(), [texts[each] for each in parts[number]], compute, report=report)
            )

    sizes = [len(part) for part in parts]
    return job.shards.all("vectors", sizes, write, message=_("Encoding sentences"))
