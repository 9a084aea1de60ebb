"""Two sentences that somebody tries a model with: answered at once, by an encoder that stays loaded."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from sentence_transformers import SentenceTransformer

from curation.foundation.errors import UserError
from curation.models import Pair
from curation.statistics.correlation import Scores
from mlworkers.kinds.encoders.kinds import RelatePlan
from mlworkers.models import Artifact
from mlworkers.pipelines.models import folder_of_artifact, folder_of_model
from mlworkers.runs.jobs import Job, Outcome
from mlworkers.science.encoders.encoding import pair_cosines
from mlworkers.science.pretrained.compute import Compute, choose_compute
from mlworkers.science.pretrained.encoder import load_encoder
from mlworkers.science.pretrained.sources import ENCODER

PAIRS_COMPARED_WITH = 200  # a second's work for a small encoder on one core


@dataclass(frozen=True)
class LoadedEncoder:
    """An encoder that stays in the worker's memory, and its sorted cosines of a dataset's pairs once somebody asked."""

    key: tuple[str, int]
    encoder: SentenceTransformer
    compute: Compute
    known: dict[int, Scores]


_kept: list[LoadedEncoder] = []  # one at most: a worker's memory is for its runs


def relate_sentences(plan: RelatePlan, job: Job) -> Outcome:
    """The cosine of the two sentences, and the share of the dataset's test pairs that this encoder finds less alike."""
    if plan.artifact:
        encoder = Artifact.objects.filter(pk=plan.artifact, kind="encoder").first()
        if encoder is None:
            sentence = _("There is no encoder number %(number)s; choose one on the models page.")
            raise UserError(sentence, number=plan.artifact)
        folder = folder_of_artifact(encoder)
    else:
        folder = folder_of_model(ENCODER, kind="encoder")
    loaded = encoder_kept(folder)
    cosine = float(pair_cosines(loaded.encoder, [plan.first], [plan.second], loaded.compute).values[0])
    result: dict[str, Any] = {"cosine": cosine}
    # The cosines of the first test pairs that people wrote, in rising order; none where the dataset has none.
    dataset, compared = job.dataset, np.empty(0)
    if dataset is not None:
        if dataset.pk not in loaded.known:
            pairs = dataset.pairs.filter(
                split="test", status=Pair.Status.ACTIVE, origin=Pair.Origin.IMPORTED
            ).order_by("pk")
            texts = list(pairs.values_list("a__text", "b__text")[:PAIRS_COMPARED_WITH])
            first, second = ([pair[side] for pair in texts] for side in (0, 1))
            cosines = np.empty(0)
            if texts:
                cosines = pair_cosines(loaded.encoder, first, second, loaded.compute).values
            loaded.known.clear()
            loaded.known[dataset.pk] = np.sort(cosines)
        compared = loaded.known[dataset.pk]
    if compared.size:
        below = int(np.searchsorted(compared, cosine))
        result |= {"pairs": int(compared.size), "below": below}
    return Outcome(_("Cosine %(cosine).2f") % {"cosine": cosine}, result)


def encoder_kept(folder: Path) -> LoadedEncoder:
    """The encoder in a folder: the one that is loaded already, or in its place."""
    key = (str(folder), folder.stat().st_mtime_ns)
    if not _kept or _kept[0].key != key:
        _kept.clear()  # before the next is loaded: two may not fit
        compute = choose_compute("cpu")  # a training on the GPU keeps all of its memory
        _kept.append(LoadedEncoder(key, load_encoder(folder, compute), compute, {}))
    return _kept[0]
